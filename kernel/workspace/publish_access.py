"""[core] Who may see what is published: ``data/.siyuan/publishAccess.json``. Kept for SiYuan; nothing is published here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

PATH: Final = f"{DATA}/.siyuan/publishAccess.json"


def entry(block_id: str, *, visible: bool = True, password: str = "", disable: bool = False) -> dict[str, Any]:
    """What is noted of one document or notebook; the default is what holds without a note."""
    return {"id": block_id, "visible": visible, "password": password, "disable": disable}


def noted(workspace: Workspace) -> list[dict[str, Any]]:
    """Every note. A file that cannot be read counts as none, and is left as it is until something is noted."""
    if not workspace.files.exists(PATH):
        return []
    try:
        found = read_json(workspace.files.read(PATH))
    except ValueError:
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def access_of(workspace: Workspace, ids: list[str]) -> list[dict[str, Any]]:
    """The notes on these ids, in their order."""
    known = {str(one.get("id", "")): one for one in reversed(noted(workspace))}
    return [known.get(block_id) or entry(block_id) for block_id in ids]


def note_access(workspace: Workspace, access: dict[str, Any]) -> None:
    """Note what holds for one id from now on; notes on what no longer exists go, if every notebook is open."""
    notes = [one for one in noted(workspace) if one.get("id") != access["id"]]
    if access != entry(access["id"]):
        notes.append(access)
    boxes = workspace.notebooks.listed(0)
    if not any(box.is_closed for box in boxes):
        own = {box.id for box in boxes}
        notes = [one for one in notes if one.get("id") in own or workspace.block_exists(str(one.get("id")))]
    workspace.files.write(PATH, json.dumps(notes, ensure_ascii=False).encode())
