"""What databases tell of their state before and after is short, out of the pool that credentials come from (R55)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from kernel.canonical import digest
from tests.tools.notes import Notes, open_notes

SHORT = re.compile(r"[0-9a-f]{4,8}")


async def _database(notes: Notes, title: str, row: str) -> tuple[str, str, str]:
    """A database with one row: its id, the block that shows it, the row's id."""
    box = await notes.memory.notebook(title)
    document = await notes.memory.document(box, f"/{title}", "here")
    place = (await notes.memory.call("block/getChildBlocks", id=document))[0]["id"]
    made = await notes.call("av", "render", blockID=place, createIfNotExist=True)
    added = await notes.call("av", "add_rows", avID=made["avID"], primaryKeyTexts=[row])
    return made["avID"], made["blockID"], added["rows"][0]["rowID"]


async def _column(notes: Notes, database: str, name: str, kind: str) -> str:
    return str((await notes.call("av", "add_column", avID=database, keyName=name, keyType=kind))["keyID"])


async def test_templates_relations_and_rollups_tell_short_digests(tmp_path: Path) -> None:
    async with open_notes(tmp_path, strict=True) as notes:
        ours, block, row = await _database(notes, "Ours", "a")
        theirs, other_block, other_row = await _database(notes, "Theirs", "b")
        relation, rollup = await _column(notes, ours, "Other", "relation"), await _column(notes, ours, "Sum", "rollup")
        number = await _column(notes, theirs, "Count", "number")
        place: dict[str, Any] = {"avID": ours, "blockID": block}
        answers = [
            await notes.call(
                "av",
                "configure_two_way_relation",
                **place,
                keyID=relation,
                destinationAvID=theirs,
                destinationBlockID=other_block,
                backRelationKeyID="20260101000000-backkey",
                sourceName="Other",
                destinationName="Back",
                confirm=True,
            ),
            await notes.call(
                "av", "set_relation", **place, itemID=row, keyID=relation, relatedItemIDs=[other_row], confirm=True
            ),
            await notes.call(
                "av",
                "configure_rollup",
                **place,
                keyID=rollup,
                relationKeyID=relation,
                destinationKeyID=number,
                calc={"operator": "Sum"},
                confirm=True,
            ),
            await notes.call(
                "av",
                "set_new_item_templates",
                **place,
                templates=[
                    {
                        "id": "20260101000000-templat",
                        "name": "New",
                        "targetType": "detached",
                    }
                ],
                defaultTemplateID="20260101000000-templat",
                confirm=True,
            ),
        ]
        coordinator = notes.tools.parts.coordinator
        assert coordinator is not None
        for answer in answers:
            for name in ("beforeDigest", "afterDigest"):
                assert SHORT.fullmatch(answer[name]), (answer["action"], answer[name])
            assert answer["beforeDigest"] != answer["afterDigest"], answer["action"]
        now = (await notes.host.call("/api/av/getAttributeView", {"id": ours}))["av"]
        assert answers[-1]["afterDigest"] == coordinator.shorten(digest(now))
