"""A write to what is not there is refused by its preflight: no id, no host write, never a ``no_change`` (R73, R91)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernel.endpoints import is_write
from kernel.host.embedded import EmbeddedHost
from kernel.tools.registry import ACTIONS
from kernel.tools.registry.examples import ID, example
from tests.tools.notes import Notes, open_notes

# Additions that name nothing that must be there, and the one that takes whatever there is.
WITHOUT_TARGET = {
    "notebook.create",
    "file.create_template",
    "timeline.create_node",
    "file.remove_unused_assets",
}
MORE = {
    "av.render": {"createIfNotExist": True, "blockID": ID},
    "document.ensure_link_targets": {"mode": "create", "notebook": "NB"},
    "document.create": {"notebook": ID},
    "file.rename_asset": {"oldPath": "assets/none.png"},
    "file.delete_asset": {"path": "/data/assets/none.png"},
    "fs.write": {"path": "/None/Document"},
    "timeline.delete_node": {"tag": "no such point"},
    "mascot.buy": {"item_id": "no such thing"},
}
# Without strict mode the host's own answer to these is told, whatever it makes of them.
LEFT_TO_THE_HOST = {"file.rename_asset", "file.delete_asset", "flashcard.create_card", "flashcard.remove_card"}
# Refusals by other names that say the same.
WORDS = {"upload_source_expired": "file.upload_asset"}
# Further ways to name a target.
FORMS: list[tuple[str, dict[str, Any]]] = [
    ("document.rename", {"notebook": "NB", "path": f"/{ID}.sy", "title": "x"}),
    ("document.rename", {"notebook": ID, "path": f"/{ID}.sy", "title": "x"}),
    ("document.remove", {"ids": [ID]}),
    ("document.remove", {"notebook": "NB", "path": f"/{ID}.sy"}),
    ("document.remove", {"paths": [f"/{ID}.sy"]}),
    ("document.move", {"fromPaths": [f"/{ID}.sy"], "toNotebook": "NB", "toPath": "/"}),
    ("document.move", {"fromIDs": ["D"], "toID": ID}),
    ("document.ensure_link_targets", {"notebook": ID, "parentId": ID, "mode": "create", "targets": [{"key": "k"}]}),
    ("document.heading_to_doc", {"headingID": "H", "targetNotebook": ID, "targetPath": "/"}),
    ("document.doc_to_heading", {"srcID": "D", "targetID": ID, "after": True}),
    ("block.update", {"items": [{"id": "D", "dataType": "markdown", "data": "x"}, {"id": ID, "dataType": "markdown", "data": "x"}]}),
    ("block.move", {"ids": [ID], "parentID": "D"}),
    ("block.move", {"id": "H", "previousID": ID}),
    ("block.insert", {"blocks": [{"parentID": ID, "dataType": "markdown", "data": "x"}]}),
    ("block.transfer_references", {"fromID": "H", "toID": ID}),
    ("timeline.create_node", {"name": "x", "scope": "document", "documentId": ID}),
    ("fs.rm", {"path": "/Nb/None"}),
    ("fs.mv", {"from": "/Nb/None", "to": "/Nb/Other"}),
    ("fs.replace", {"path": "/Nb/None", "edit": {"old": "a", "new": "b"}}),
    ("fs.write", {"path": "/Nb/None/Below", "markdown": "x"}),
    ("file.save_doc_as_template", {"id": ID, "name": "t", "overwrite": True}),
]  # fmt: skip


async def prepared(notes: Notes) -> dict[str, str]:
    notebook = await notes.memory.notebook("Nb")
    document = await notes.memory.document(notebook, "/Doc", "# Part\n\ntext")
    children = await notes.host.call("/api/block/getChildBlocks", {"id": document})
    return {"NB": notebook, "D": document, "H": children[0]["id"]}


def named(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: named(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [named(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def says_not_there(key: str, code: str) -> bool:
    return code == "not_found" or code.endswith("_not_found") or code == "invalid_path" or WORDS.get(code) == key


def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    writes: list[str] = []
    original = EmbeddedHost.call

    async def call(host: EmbeddedHost, path: str, arguments: Any = None) -> Any:
        writes.extend([path] * is_write(path))
        return await original(host, path, arguments)

    monkeypatch.setattr(EmbeddedHost, "call", call)
    return writes


@pytest.mark.parametrize("is_strict", [True, False])
async def test_every_write_to_a_target_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_strict: bool
) -> None:
    """All actions of the table: a preflight in strict mode, without it the write itself, but for those left to the host."""
    async with open_notes(tmp_path, strict=is_strict) as notes:
        names = await prepared(notes)
        writes = watched(monkeypatch)
        asked = 0
        for key, action in ACTIONS.items():
            arguments = named({**example(action), **MORE.get(key, {})}, names)
            if not action.policy.resolve(arguments).is_mutation or key in WITHOUT_TARGET:
                continue
            if not is_strict and key in LEFT_TO_THE_HOST:
                continue
            asked += 1
            more = {"validateOnly": True} if is_strict else {"confirm": True}
            result = await notes.raw(action.tool, {**arguments, **more})
            told = result.structured or {}
            assert result.is_error, (key, told)
            assert says_not_there(key, told["error"]["code"]), (key, told["error"])
            assert "requestId" not in told, key
        assert asked > 60
        assert writes == []


@pytest.mark.parametrize(("key", "arguments"), FORMS)
async def test_every_way_to_name_it_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, arguments: dict[str, Any]
) -> None:
    async with open_notes(tmp_path, strict=True) as notes:
        names = await prepared(notes)
        writes = watched(monkeypatch)
        tool, action = key.split(".")
        error = await notes.refused(tool, action, **named(arguments, names))
        assert says_not_there(key, error["code"]), error
        assert writes == []


async def test_what_is_there_is_still_found_by_these_guards(tmp_path: Path) -> None:
    """An asset under a name with a space, a template, a tag below the named one, a card of a block that is gone."""
    async with open_notes(tmp_path, strict=True) as notes:
        names = await prepared(notes)
        await notes.host.write_file("/data/assets/a b.png", b"x")
        for path in ("assets/a b.png", "/assets/a%20b.png", "/data/assets/a b.png"):
            assert "requestId" in (await preflight(notes, "file", "delete_asset", path=path))
        await notes.host.write_file("/data/templates/t.md", b"x")
        assert "requestId" in (await preflight(notes, "file", "delete_template", path="t.md"))
        await notes.call("block", "append", parentID=names["D"], dataType="markdown", data="#outer/inner#")
        assert "requestId" in (await preflight(notes, "tag", "remove", label="outer"))
        assert "requestId" in (await preflight(notes, "tag", "rename", oldLabel="#outer/inner#", newLabel="x"))
        await notes.call("flashcard", "create_card", deckID="", blockIDs=[names["H"]])
        assert "requestId" in (await preflight(notes, "flashcard", "remove_card", deckID="", blockIDs=[names["H"]]))


async def preflight(notes: Notes, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
    result = await notes.raw(tool, {"action": action, **arguments, "validateOnly": True})
    return result.structured or {}
