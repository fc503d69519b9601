"""Probes of the tool fs: readable paths, resolved to documents that exist now."""

from __future__ import annotations

from typing import Any, Final

from kernel.safety.intent import Observation
from kernel.safety.probes.documents import head_with_subtree, order, whole
from kernel.safety.probes.reading import Arguments, Reading, State, json_object, texts
from kernel.safety.targets import observation

TOOLS_FILE: Final = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/mcpToolsConfig"
# Paths of fs that are the plugin's own texts.
_VIRTUAL: Final = {"/AGENTS.md": "agentSiyuanMemoryText", "/USER_RULES.md": "userRulesText"}


async def path_documents(reading: Reading, arguments: Arguments) -> Observation:
    """fs.write with overwrite, fs.replace: the document at a readable path, or the plugin's own text."""
    path = _plain(arguments["path"])
    if path in _VIRTUAL:
        return observation(arguments, await _virtual_text(reading, _VIRTUAL[path]))
    return observation(arguments, await reading.blocks(await _ids_at(reading, path)))


async def path_subtrees(reading: Reading, arguments: Arguments) -> Observation:
    """fs.rm: the document at a readable path with everything below it."""
    path = _plain(arguments["path"])
    if path in _VIRTUAL:
        return observation(arguments, await _virtual_text(reading, _VIRTUAL[path]))
    return observation(arguments, await whole(reading, await _ids_at(reading, path)))


async def path_moves(reading: Reading, arguments: Arguments) -> Observation:
    """fs.mv: the document, what lies below it, what is at the destination, and the destination's folder."""
    source, destination = _plain(arguments["from"]), _plain(arguments["to"])
    state: State = {"sources": {}, "there": [], "beside": {}}
    for name in await _ids_at(reading, source):
        state["sources"][name] = await head_with_subtree(reading, name)
    state["there"] = await _ids_at(reading, destination)
    folder = destination.rpartition("/")[0]
    notebook = _notebook_named(await reading.notebooks(), folder.strip("/"))
    if notebook is not None:
        state["beside"][notebook] = [child["id"] for child in await reading.children(notebook, "/")]
    for parent in await _ids_at(reading, folder):
        place = await reading.place(parent)
        children = await reading.children(str(place["notebook"]), str(place["path"]))
        state["beside"][parent] = [child["id"] for child in children]
    return observation(arguments, state)


async def path_order(reading: Reading, arguments: Arguments) -> Observation:
    """fs.reorder: the structure of R75 under a readable path."""
    path = _plain(arguments["path"])
    notebook = _notebook_named(await reading.notebooks(), path.strip("/"))
    if notebook is not None:
        return observation(arguments, await order(reading, notebook, "/", None))
    state = {}
    for name in await _ids_at(reading, path):
        place = await reading.place(name)
        state[name] = await order(reading, str(place["notebook"]), str(place["path"]), name)
    return observation(arguments, state)


def _plain(path: Any) -> str:
    parts = [part for part in str(path).strip().split("/") if part]
    return "/" + "/".join(parts)


def _notebook_named(notebooks: list[State], name: str) -> str | None:
    return next((str(entry["id"]) for entry in notebooks if entry.get("name") == name), None)


async def _ids_at(reading: Reading, path: str) -> list[str]:
    """The documents at a readable path that exist now: a stale index must not keep a removed one alive (R72)."""
    first, _, rest = path.strip("/").partition("/")
    notebooks = await reading.notebooks()
    named = _notebook_named(notebooks, first)
    candidates: list[str] = []
    if named is not None:
        if rest:
            candidates = texts(await reading.call("/api/filetree/getIDsByHPath", notebook=named, path="/" + rest))
    else:
        for entry in notebooks:
            if not entry.get("closed"):
                found = await reading.call("/api/filetree/getIDsByHPath", notebook=entry["id"], path=path)
                candidates += texts(found)
    exist = await reading.exist(candidates)
    return sorted(name for name, exists in exist.items() if exists)


async def _virtual_text(reading: Reading, name: str) -> State:
    content = await reading.file_content(TOOLS_FILE)
    return {"text": json_object(content, "the plugin's configuration").get(name)}
