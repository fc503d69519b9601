"""The notes that the sweeps over tool actions work on, and one valid call for every action of the registry."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import trio
from trio.testing import MockClock

from kernel.app import App
from kernel.host.base import HostError
from kernel.ids import SeededIds
from kernel.sim.clock import VirtualClock
from kernel.sim.disk import Image, SimulatedDisk
from kernel.sim.life import inline_threads, open_life
from kernel.sim.notes import settings, unwatched
from kernel.tools.configuration import PERMISSIONS_FILE, TOOLS_FILE
from kernel.tools.statistics import STATS_FILE
from scheduler.testing import controlled_order
from tests.tools.test_promises import ACTIONS, example

AV = "20260301100000-databse"
OTHER_AV = "20260301100000-databsf"
TEMPLATE = {
    "id": "20260301100000-templat",
    "name": "Fresh",
    "icon": "",
    "targetType": "detached",
    "contentTemplatePath": "",
}
POINT = "sisyphustimeline_global_first"
DECK = "20230218211946-2kw8jgx"
# The smallest picture there is.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db0"
    "0000000049454e44ae426082"
)
PICTURE = "assets/used-20260301100000-assetaa.png"
UNUSED_PICTURE = "assets/unused-20260301100000-assetbb.png"
EDIT = {"edit": {"old": "Alpha", "new": "Omega"}}
SETTINGS = settings()


@dataclass(frozen=True)
class Base:
    """A disk with notes on it, and the call that each action is swept with."""

    image: Image
    calls: Mapping[str, dict[str, Any]]


@functools.lru_cache(maxsize=1)
def base() -> Base:
    made: list[Base] = []

    async def make() -> None:
        made.append(await _make())

    with inline_threads(), controlled_order(random.Random(1)):
        trio.run(make, clock=MockClock(autojump_threshold=0))
    return made[0]


async def _make() -> Base:
    import json

    clock = VirtualClock()
    disk = SimulatedDisk(wall_ms=clock.wall_ms)
    async with open_life(disk, clock, SeededIds(5), make_host=unwatched) as app:
        ids = await _write_notes(app)
        await app.host.write_file(STATS_FILE, json.dumps({"totalCalls": 20, "balance": 20}).encode())
        await app.host.write_file(TOOLS_FILE, json.dumps(SETTINGS).encode())
        await app.host.write_file(PERMISSIONS_FILE, json.dumps({ids["box"]: "rwd", ids["spare"]: "rwd"}).encode())
        calls = _calls(ids)
    return Base(disk.after_kill(), calls)


async def _write_notes(app: App) -> dict[str, Any]:
    call = app.host.call

    async def document(box: str, path: str, markdown: str) -> str:
        made = await call("/api/filetree/createDocWithMd", {"notebook": box, "path": path, "markdown": markdown})
        return str(made)

    async def children(of: str) -> list[str]:
        return [child["id"] for child in await call("/api/block/getChildBlocks", {"id": of})]

    box = (await call("/api/notebook/createNotebook", {"name": "Box"}))["notebook"]["id"]
    spare = (await call("/api/notebook/createNotebook", {"name": "Spare"}))["notebook"]["id"]
    await _write_files(app)
    other = await document(box, "/Other", "Target text\n\nSecond text")
    target, second = await children(other)
    texts = [
        "Alpha text #old#",
        "Beta text",
        "## Part",
        f"See (({target} 'there'))",
        f"![p]({PICTURE})",
    ]
    plan = await document(box, "/Plan", "\n\n".join(texts))
    alpha, beta, part, *_ = await children(plan)
    under = await document(box, "/Plan/Under", "Below")
    shown = f'<div data-type="NodeAttributeView" data-av-id="{AV}" data-av-type="table"></div>'
    table = await document(box, "/Base", shown)
    (database,) = await children(table)
    view = (await call("/api/av/renderAttributeView", {"id": AV, "blockID": database}))["viewID"]
    row = "20260301100000-itemaaa"
    sources = [{"itemID": row, "isDetached": True, "content": "Row"}]
    await call("/api/av/addAttributeViewBlocks", {"avID": AV, "blockID": database, "srcs": sources})
    column = "20260301100000-columna"
    linking, rolling = "20260301100000-columnl", "20260301100000-columnr"
    for key_id, name, kind in ((rolling, "Sum", "rollup"), (linking, "Link", "relation"), (column, "Note", "text")):
        key = {"avID": AV, "keyID": key_id, "keyName": name, "keyType": kind, "keyIcon": "", "previousKeyID": ""}
        await call("/api/av/addAttributeViewKey", key)
    shown = shown.replace(AV, OTHER_AV)
    (other_database,) = await children(await document(box, "/Other base", shown))
    await call("/api/av/renderAttributeView", {"id": OTHER_AV, "blockID": other_database})
    related = "20260301100000-itembbb"
    sources = [{"itemID": related, "isDetached": True, "content": "Related"}]
    await call("/api/av/addAttributeViewBlocks", {"avID": OTHER_AV, "blockID": other_database, "srcs": sources})
    relation = {"action": "updateAttrViewColRelation", "avID": AV, "keyID": linking, "id": OTHER_AV, "isTwoWay": False}
    given = {"action": "setAttrViewNewItemTemplates", "avID": AV, "data": {"templates": [TEMPLATE]}}
    operations = [{**relation, "format": "Link", "name": ""}, given]
    transactions = [{"doOperations": operations, "undoOperations": []}]
    await call("/api/transactions", {"transactions": transactions, "reqId": 1, "app": "a", "session": "s"})
    keys = [row["key"] for row in (await call("/api/av/getAttributeView", {"id": AV}))["av"]["keyValues"]]
    choosing = next(key["id"] for key in keys if key["type"] == "select")
    other_primary = (await call("/api/av/getAttributeView", {"id": OTHER_AV}))["av"]["keyValues"][0]["key"]["id"]
    await call("/api/riff/addRiffCards", {"deckID": DECK, "blockIDs": [beta]})
    cards = await call("/api/riff/getRiffDueCards", {"deckID": DECK})
    await _snapshot(app)
    await call("/api/block/updateBlock", {"id": alpha, "dataType": "markdown", "data": "Alpha text again #old#"})
    also_under = await document(box, "/Plan/Also under", "Below too")
    found: dict[str, Any] = {name: value for name, value in locals().items() if isinstance(value, str)}
    found["columns"] = [key["id"] for key in keys]
    found["card"] = cards["cards"][0]["cardID"] if cards["cards"] else beta
    return found


async def _write_files(app: App) -> None:
    await app.host.write_file(f"/data/{PICTURE}", PNG)
    await app.host.write_file(f"/data/{UNUSED_PICTURE}", PNG)
    await app.host.write_file("/data/templates/plain.md", b"A template")


async def _snapshot(app: App) -> None:
    try:
        await app.host.call("/api/repo/initRepoKey", {})
        await app.host.call("/api/repo/createSnapshot", {"memo": "first"})
        snapshots = await app.host.call("/api/repo/getRepoSnapshots", {"page": 1})
        first = snapshots["snapshots"][0]["id"]
        await app.host.call("/api/repo/tagSnapshot", {"id": first, "name": POINT})
    except HostError:  # then the calls about a point in time are refused, which is a way through them too
        return


def _calls(ids: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Every action's call: the one that help shows, with names and ids that are there."""
    by_name = {
        "id": ids["plan"],
        "notebook": ids["box"],
        "notebookID": ids["box"],
        "documentId": ids["plan"],
        "documentIDs": [ids["plan"]],
        "avID": AV,
        "blockID": ids["database"],
        "viewID": ids["view"],
        "keyID": ids["column"],
        "deckID": DECK,
        "blockIDs": [ids["alpha"]],
        "parentID": ids["plan"],
        "headingID": ids["part"],
        "ids": [ids["alpha"]],
        "query": "text",
    }
    special = _special(ids)
    calls = {}
    for action in ACTIONS.values():
        shown = {name: by_name.get(name, value) for name, value in example(action).items() if name != "action"}
        calls[action.key] = {**shown, **special.get(action.key, {})}
    return calls


def _special(ids: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What an action's call has of its own, by action; what it shares with others is left out."""
    return {
        **_of_paths(ids),
        **_of_documents(ids),
        **_of_blocks(ids),
        **_of_databases(ids),
        **_of_files(ids),
        **_of_the_rest(ids),
    }


def _of_paths(ids: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "fs.ls": {"path": "/Box"},
        "fs.tree": {"path": "/Box"},
        "fs.read": {"path": "/Box/Plan"},
        "fs.write": {"path": "/Box/New", "markdown": "New"},
        "fs.replace": {"path": "/Box/Plan", **EDIT},
        "fs.rm": {"path": "/Box/Other"},
        "fs.mv": {"from": "/Box/Other", "to": "/Box/Plan/Other"},
        "fs.reorder": {"path": "/Box", "orderedPaths": ["/Box/Other", "/Box/Other base", "/Box/Base", "/Box/Plan"]},
        "fs.search": {"path": "/Box"},
    }


def _of_documents(ids: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "notebook.create": {"name": "New"},
        "notebook.set_open_state": {"notebook": ids["spare"], "opened": False},
        "notebook.remove": {"notebook": ids["spare"]},
        "notebook.rename": {"name": "Renamed"},
        "notebook.set_conf": {"conf": {"dailyNoteSavePath": "/Days/{{now}}"}},
        "document.create": {"path": "/New", "markdown": "New"},
        "document.ensure_link_targets": {"parentId": ids["plan"], "targets": [{"key": "t", "title": "Target"}]},
        "document.rename": {"title": "Renamed"},
        "document.remove": {"id": ids["other"]},
        "document.move": {"fromIDs": [ids["other"]], "toID": ids["plan"]},
        "document.reorder": {"parentID": ids["plan"], "orderedIDs": [ids["also_under"], ids["under"]]},
        "document.set_attr": {"attrs": {"icon": "1f600"}},
        "document.list_tree": {"path": "/"},
        "document.heading_to_doc": {"targetNotebook": ids["box"], "targetPath": "/"},
        "document.doc_to_heading": {"srcID": ids["other"], "targetID": ids["part"]},
    }


def _of_blocks(ids: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "block.insert": {"previousID": ids["alpha"]},
        "block.update": {"id": ids["alpha"], "data": "Changed"},
        "block.replace": {"id": ids["alpha"], **EDIT},
        "block.delete": {"id": ids["beta"]},
        "block.move": {"id": ids["beta"], "previousID": ids["part"]},
        "block.set_fold_state": {"id": ids["part"]},
        "block.get_kramdown": {"id": ids["alpha"]},
        "block.transfer_references": {"fromID": ids["target"], "toID": ids["second"]},
        "block.set_attrs": {"id": ids["alpha"], "attrs": {"custom-a": "b"}},
    }


def _of_databases(ids: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "av.render": {"avID": AV, "blockID": ids["database"]},
        "av.get": {"avID": AV},
        "av.search": {"keyword": "a"},
        "av.remove_rows": {"srcIDs": [ids["row"]]},
        "av.add_rows": {"blockIDs": [ids["beta"]]},
        "av.add_column": {"keyName": "More"},
        "av.set_cells": {"rowID": ids["row"], "columnID": ids["column"], "valueType": "text", "text": "x"},
        "av.duplicate_rows": {"sourceRowIDs": [ids["row"]]},
        "av.add_view": {"viewID": "20260301100000-viewnew", "layout": "table", "name": "V"},
        "av.set_filters": {
            "filters": [{"column": ids["column"], "operator": "=", "value": {"type": "text", "text": {"content": "x"}}}]
        },
        "av.set_sorts": {"sorts": [{"column": ids["column"], "order": "ASC"}]},
        "av.set_group": {"group": {"field": ids["column"], "method": 0, "order": 0, "hideEmpty": True}},
        "av.set_column_options": {"keyID": ids["choosing"]},
        "av.set_column_order": {"keyIDs": ids["columns"][::-1]},
        "av.configure_two_way_relation": {
            "keyID": ids["linking"],
            "destinationAvID": OTHER_AV,
            "backRelationKeyID": "20260301100000-columnb",
        },
        "av.create_from_template": {"templateID": TEMPLATE["id"]},
        "av.configure_rollup": {
            "keyID": ids["rolling"],
            "relationKeyID": ids["linking"],
            "destinationKeyID": ids["other_primary"],
        },
        "av.set_relation": {"itemID": ids["row"], "keyID": ids["linking"], "relatedItemIDs": [ids["related"]]},
    }


def _of_files(ids: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "file.read_template": {"path": "plain.md"},
        "file.create_template": {"path": "new.md", "markdown": "x"},
        "file.update_template": {"path": "plain.md", "markdown": "x"},
        "file.delete_template": {"path": "plain.md"},
        "file.save_doc_as_template": {"name": "saved"},
        "file.render": {"path": "plain.md"},
        "file.export_resources": {"paths": [f"/data/{PICTURE}"]},
        "file.audit_image_refs": {"expectedRefs": [PICTURE]},
        "file.read_image": {"path": PICTURE},
        "file.get_image_ocr_text": {"path": PICTURE},
        "file.rename_asset": {"oldPath": PICTURE, "newName": "renamed"},
        "file.delete_asset": {"path": UNUSED_PICTURE},
    }


def _of_the_rest(ids: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        "search.find_replace": {"k": "Beta", "r": "Gamma", "ids": [ids["beta"]]},
        "search.get_backlinks": {"id": ids["other"]},
        "search.search_refs": {"id": ids["other"]},
        "tag.rename": {"oldLabel": "old", "newLabel": "new"},
        "tag.remove": {"label": "old"},
        "timeline.create_node": {"name": "second"},
        "timeline.compare_node": {"tag": POINT},
        "timeline.delete_node": {"tag": POINT},
        "timeline.rollback_document": {"tag": POINT},
        "timeline.rollback_block": {"tag": POINT, "changeKey": f"modified:{ids['alpha']}:{ids['alpha']}"},
        "flashcard.review_card": {"cardID": ids["card"]},
        "flashcard.create_card": {"blockIDs": [ids["alpha"]]},
        "flashcard.remove_card": {"blockIDs": [ids["beta"]]},
        "mascot.buy": {"item_id": "milk"},
        "feedback.submit": {"description": "Well done"},
        "system.notify": {"msg": "Hello"},
    }
