"""Probes of notebooks: entry, configuration, documents, permission."""

from __future__ import annotations

from typing import Final

from kernel.safety.digest import seen_part
from kernel.safety.intent import Observation
from kernel.safety.probes.reading import MISSING, Arguments, Reading, State, json_object
from kernel.safety.targets import observation

PERMISSIONS_FILE: Final = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/notebookPermissions"


async def notebook(reading: Reading, arguments: Arguments) -> Observation:
    """notebook.rename, set_conf, set_icon, set_open_state: its entry and its configuration."""
    return observation(arguments, await _notebook(reading, str(arguments["notebook"])))


async def notebook_with_documents(reading: Reading, arguments: Arguments) -> Observation:
    """notebook.remove: the notebook and all its documents. A closed one shows none."""
    name = str(arguments["notebook"])
    state = await _notebook(reading, name)
    if state != MISSING and not state["closed"]:
        state["documents"] = await reading.subtree(name, "/")
    return observation(arguments, state)


async def notebook_permission(reading: Reading, arguments: Arguments) -> Observation:
    """notebook.set_permission: the notebook and its line in the permissions file."""
    name = str(arguments["notebook"])
    content = await reading.file_content(PERMISSIONS_FILE)
    permissions = json_object(content, "the permissions file")
    return observation(arguments, {"notebook": await _notebook(reading, name), "permission": permissions.get(name)})


async def _notebook(reading: Reading, name: str) -> State:
    entry = next((entry for entry in await reading.notebooks() if entry.get("id") == name), None)
    if entry is None:
        return dict(MISSING)
    conf = await reading.call("/api/notebook/getNotebookConf", notebook=name)
    # ``sort`` and the counts belong to the neighbours and the documents.
    kept = {field: entry.get(field) for field in ("id", "name", "icon", "closed", "sortMode")}
    return {**kept, "conf": seen_part(conf.get("conf") if isinstance(conf, dict) else conf)}
