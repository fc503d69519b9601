"""Without strict mode the host's own answer is told, as the predecessor was recorded; a strict write asks first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kernel.tools.timeline_diff import blocks_of, changes
from tests.tools.notes import Notes, open_notes

UNKNOWN = "20200101000000-abcdefg"


@pytest.fixture(params=[False, True], ids=["loose", "strict"])
def strict(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def document(notes: Notes) -> str:
    box = (await notes.call("notebook", "create", name="Nb"))["id"]
    made = await notes.call("document", "create", notebook=box, path="/D", markdown="one\n\ntwo")
    return str(made["id"])


async def database(notes: Notes) -> tuple[str, str, str]:
    """A database with a text column and a row: their three ids."""
    await document(notes)
    anchor = (await notes.call("fs", "read", path="/Nb/D", includeBlockIds=True))["blockRefs"][0]["id"]
    av = (await notes.call("av", "render", blockID=anchor, createIfNotExist=True))["avID"]
    column = (await notes.call("av", "add_column", avID=av, keyName="Text", keyType="text"))["keyID"]
    row = (await notes.call("av", "add_rows", avID=av, primaryKeyTexts=["r1"]))["rows"][0]["rowID"]
    return str(av), str(column), str(row)


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("rename_asset", {"oldPath": "assets/none.txt", "newName": "x"}),
        ("delete_asset", {"path": "assets/none.txt", "confirm": True}),
    ],
)
async def test_an_asset_that_is_not_there_is_the_hosts_to_judge(
    tmp_path: Path, strict: bool, action: str, arguments: dict[str, Any]
) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        if strict:
            assert (await notes.refused("file", action, **arguments))["code"] == "not_found"
        else:
            assert (await notes.call("file", action, **arguments))["success"] is True
        outside = {name: value.replace("assets/", "conf/") for name, value in arguments.items() if "Path" in name}
        if outside:
            error = await notes.refused("file", action, **{**arguments, **outside})
            assert error["code"] == "path_not_in_workspace", "in either mode"


async def test_a_cell_of_an_unknown_column_is_written_and_then_missed(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        av, _, row = await database(notes)
        cell = {"avID": av, "rowID": row, "columnID": UNKNOWN, "valueType": "text", "text": "x"}
        if strict:
            assert (await notes.refused("av", "set_cells", **cell))["reason"] == "column_not_found"
            return
        told = (await notes.raw("av", {"action": "set_cells", **cell})).structured or {}
        assert (told["success"], told["writeExecuted"], told["retryAllowed"]) == (False, True, False)
        assert [cell["verified"] for cell in told["pendingVerification"]["cells"]] == [False]


async def test_rows_that_do_not_show_are_named_by_their_texts_and_ids(tmp_path: Path) -> None:
    async with open_notes(tmp_path, strict=False) as notes:
        av, _, _ = await database(notes)
        told = await notes.refused("av", "add_rows", avID=av, primaryKeyTexts=["q"], viewID=UNKNOWN)
        (row,) = told["rows"]
        assert (row["primaryKeyText"], row["status"], told["primaryKeyTexts"]) == ("q", "missing", ["q"])
        assert told["unresolvedRowIDs"] == [row["rowID"]]
        assert "unresolvedBlockIDs" not in told


async def test_a_row_of_an_unknown_block_is_waited_for_in_vain(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        av, _, _ = await database(notes)
        error = await notes.refused("av", "add_rows", avID=av, blockIDs=[UNKNOWN])
        if not strict:
            assert error["reason"] == "row_id_sync_timeout"
            assert error["blockIDs"] == error["unresolvedBlockIDs"] == [UNKNOWN]
        shown = await notes.call("av", "render", avID=av)
        assert shown["total"] == 1


async def test_a_block_without_a_place_goes_nowhere(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        await document(notes)
        block = {"dataType": "markdown", "data": "x"}
        if strict:
            assert (await notes.refused("block", "insert", **block))["fields"][0]["path"] == "previousID"
        else:
            assert "id" not in await notes.call("block", "insert", **block)
        assert (await notes.call("fs", "read", path="/Nb/D"))["content"] == "one\n\ntwo"


async def test_a_name_that_several_documents_have_gets_one_more_or_is_refused(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        box = (await notes.call("notebook", "create", name="Nb"))["id"]
        for _ in range(2):
            await notes.call("document", "create", notebook=box, path="/Same")
        note = {"path": "/Nb/Same", "markdown": "x"}
        assert (await notes.refused("fs", "write", **note, overwrite=True))["type"] == "ambiguous_path"
        if strict:
            assert (await notes.refused("fs", "write", **note))["type"] == "ambiguous_path"
        else:
            assert (await notes.call("fs", "write", **note))["created"] is True
        assert len((await notes.call("fs", "ls", path="/Nb"))["items"]) == (2 if strict else 3)


async def test_cards_of_unknown_blocks_are_told_apart_after_the_write_or_before(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        error = await notes.refused("flashcard", "create_card", deckID="", blockIDs=[UNKNOWN])
        assert error["code"] == ("block_not_found" if strict else "readback_mismatch")
        removal = {"deckID": "", "blockIDs": [await document(notes)], "confirm": True}
        if strict:
            assert (await notes.refused("flashcard", "remove_card", **removal))["code"] == "not_found"
        else:
            assert (await notes.call("flashcard", "remove_card", **removal))["effectiveDeckID"]


async def test_a_strict_review_takes_one_of_the_four_ratings(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        made = await document(notes)
        await notes.call("flashcard", "create_card", deckID="", blockIDs=[made])
        card = (await notes.call("flashcard", "list_cards", scope="all", filter="due"))["cards"][0]
        asked = {"deckID": card["deckID"], "cardID": card["cardID"], "rating": 9}
        if strict:
            assert (await notes.refused("flashcard", "review_card", **asked))["code"] == "invalid_arguments"
        else:
            assert (await notes.call("flashcard", "review_card", **asked))["rating"] == 9
        told = await notes.call("flashcard", "review_card", **{**asked, "rating": 3})
        assert told["rating"] == 3


async def test_a_database_is_renamed(tmp_path: Path, strict: bool) -> None:
    async with open_notes(tmp_path, strict=strict) as notes:
        av, _, _ = await database(notes)
        told = await notes.call("av", "rename", avID=av, name="Base")
        assert (told["success"], told["name"]) == (True, "Base")
        assert (await notes.call("av", "render", avID=av))["name"] == "Base"
        unknown = await notes.refused("av", "rename", avID=UNKNOWN, name="x")
        assert unknown["code"] == "av_not_found"


async def test_a_document_is_compared_with_the_hosts_own_history(tmp_path: Path) -> None:
    async with open_notes(tmp_path) as notes:
        made = await document(notes)
        told = await notes.call("timeline", "compare_recent", documentId=made)
        assert (told["baseline"], told["noChanges"], told["reason"]) == (None, True, "no_history")
        await notes.memory.call("history/createDocHistory", id=made)
        told = await notes.call("timeline", "compare_recent", documentId=made)
        assert (told["noChanges"], told["reason"], told["changes"]) == (True, "no_changes", [])
        first = (await notes.call("fs", "read", path="/Nb/D", includeBlockIds=True))["blockRefs"][0]["id"]
        await notes.call("block", "update", id=first, dataType="markdown", data="one changed")
        told = await notes.call("timeline", "compare_recent", documentId=made)
        assert told["baseline"]["path"].endswith(f"/{made}.sy")
        assert (told["noChanges"], told["changeKinds"], told["stats"]["changedBlocks"]) == (False, ["modified"], 1)
        [change] = told["changes"]
        assert (change["old"]["markdown"], change["current"]["markdown"]) == ("one", "one changed")
        assert "rollbackable" not in change


def test_a_shuffled_or_locked_block_is_no_change() -> None:
    live = '<div data-node-id="a" data-type="NodeList" custom-a="1" memo="m"><div draggable="true">item</div></div>'
    kept = '<div data-node-id="a" data-type="NodeList" memo="m" custom-a="1"><div draggable="false">item</div></div>'
    other = live.replace("item", "other")
    assert [row.status for row in changes(blocks_of(kept), blocks_of(live))] == ["unchanged"]
    assert [row.status for row in changes(blocks_of(kept), blocks_of(other))] == ["modified"]
