"""H05, to the end: the example that help gives, with the ids and names of things that are there, does what it says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kernel.tools.registry import ACTIONS
from tests.tools.notes import Notes, open_notes

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
DECK = "20230218211946-2kw8jgx"
# What is not there in this world: a repository key, the kernel's own endpoint. These say so.
REFUSED = {
    "timeline.list_nodes": "data repo key",
    "extension.list": "no way to the official endpoint",
    "extension.diagnose_plugin_mcp": "no way to the official endpoint",
}
UPLOAD = "file.upload_asset"  # its bytes come over HTTP: tests/cases/test_uploads.py


class Shop:
    """Makes what an example needs, new for each call."""

    def __init__(self, notes: Notes) -> None:
        self.notes, self.count, self.box = notes, 0, ""

    async def notebook(self) -> str:
        self.count += 1
        return await self.notes.memory.notebook(f"N{self.count}")

    async def document(self, text: str = "old text of the #project#\n\n## Part\n\nmore") -> str:
        self.box = self.box or await self.notebook()
        self.count += 1
        return await self.notes.memory.document(self.box, f"/D{self.count}", text)

    async def block(self, index: int = 0) -> str:
        return (await self.notes.memory.children(await self.document()))[index]

    async def child(self) -> tuple[str, str]:
        """A document and its only child."""
        parent = await self.document()
        path = await self.notes.memory.call("filetree/getHPathByID", id=parent)
        return parent, await self.notes.memory.document(self.box, f"{path}/Child", "x")

    async def path(self) -> str:
        document = await self.document()
        box = (await self.notes.memory.call("notebook/getNotebookConf", notebook=self.box))["name"]
        return f"/{box}{await self.notes.memory.call('filetree/getHPathByID', id=document)}"

    async def file(self, path: str, content: bytes) -> str:
        await self.notes.host.write_file(path, content)
        return path

    async def database(self, **columns: str) -> dict[str, Any]:
        """A database with a row and these columns: ids by name."""
        call = self.notes.call
        made = await call("av", "render", createIfNotExist=True, blockID=await self.block())
        found: dict[str, Any] = {"avID": made["avID"], "blockID": made["blockID"]}
        rows = (await call("av", "add_rows", avID=found["avID"], primaryKeyTexts=["row"]))["rows"]
        found |= {"row": rows[0]["rowID"], "view": (await call("av", "get", avID=found["avID"]))["av"]["viewID"]}
        for name, kind in columns.items():
            found[name] = (await call("av", "add_column", avID=found["avID"], keyName=name, keyType=kind))["keyID"]
        return found

    async def point(self, scope: str, document: str = "") -> str:
        """A kept point of history."""
        place = {"documentId": document} if document else {}
        made = await self.notes.call("timeline", "create_node", name=f"P{self.count}", scope=scope, **place)
        return str(made["node"]["tag"])


Things = Callable[[Shop], Awaitable[dict[str, Any]]]


async def nothing(shop: Shop) -> dict[str, Any]:
    return {}


def of(**makers: Callable[[Shop], Awaitable[Any]]) -> Things:
    async def make(shop: Shop) -> dict[str, Any]:
        return {name: await maker(shop) for name, maker in makers.items()}

    return make


def shown(*names: str, **columns: str) -> Things:
    """What a change of a database's view names."""

    async def make(shop: Shop) -> dict[str, Any]:
        found = await shop.database(**columns)
        every = {"viewID": found["view"], "rowID": found["row"], "itemID": found["row"], **found}
        return {name: every[name] for name in names}

    return make


async def heading(shop: Shop) -> str:
    return await shop.block(1)


async def asset(shop: Shop) -> dict[str, Any]:
    await shop.file("/data/assets/picture.png", PNG)
    return {}


async def template(shop: Shop) -> dict[str, Any]:
    await shop.file("/data/templates/weekly.md", b"text")
    return {}


async def fresh_template(shop: Shop) -> dict[str, Any]:
    return {"path": f"t{shop.count}-{shop.notes.is_strict}.md"}


async def shown_image(shop: Shop) -> dict[str, Any]:
    await asset(shop)
    return {"id": await shop.document("![a](assets/picture.png)")}


async def order_of_documents(shop: Shop) -> dict[str, Any]:
    parent, child = await shop.child()
    return {"parentID": parent, "orderedIDs": [child]}


async def order_of_paths(shop: Shop) -> dict[str, Any]:
    box = await shop.notebook()
    name = (await shop.notes.memory.call("notebook/getNotebookConf", notebook=box))["name"]
    await shop.notes.memory.document(box, "/Document", "x")
    return {"path": f"/{name}", "orderedPaths": [f"/{name}/Document"]}


async def move_of_paths(shop: Shop) -> dict[str, Any]:
    path = await shop.path()
    return {"from": path, "to": f"{path}-moved"}


async def new_path(shop: Shop) -> dict[str, Any]:
    return {"path": f"{await shop.path()}/New"}


async def referring(shop: Shop) -> dict[str, Any]:
    source = await shop.block()
    await shop.document(f"see (({source} 'it'))")
    return {"fromID": source, "toID": await shop.block()}


async def named_cell(shop: Shop) -> dict[str, Any]:
    found = await shop.database(text="text")
    return {"avID": found["avID"], "rowID": found["row"], "columnID": found["text"]}


async def options_of(shop: Shop) -> dict[str, Any]:
    found = await shop.database(kind="select")
    return {"avID": found["avID"], "keyID": found["kind"]}


def of_view(**more: Callable[[dict[str, Any]], Any]) -> Things:
    async def make(shop: Shop) -> dict[str, Any]:
        found = await shop.database(text="text")
        keys = (await shop.notes.call("av", "get_attribute_view_keys", avID=found["avID"]))["keys"]
        found["keys"] = [key["id"] for key in keys]
        place = {"avID": found["avID"], "blockID": found["blockID"], "viewID": found["view"]}
        return {**place, **{name: value(found) for name, value in more.items()}}

    return make


async def templated(shop: Shop) -> dict[str, Any]:
    found = await shop.database()
    carrier = {"avID": found["avID"], "blockID": found["blockID"]}
    one = {"id": "20260101120002-abcdefg", "name": "T", "targetType": "detached"}
    await shop.notes.call("av", "set_new_item_templates", **carrier, templates=[one], defaultTemplateID=one["id"])
    return {**carrier, "templateID": one["id"]}


async def related(shop: Shop) -> dict[str, Any]:
    one, two = await shop.database(rel="relation", roll="rollup"), await shop.database(number="number")
    carrier = {"avID": one["avID"], "blockID": one["blockID"]}
    way = {"destinationAvID": two["avID"], "sourceName": "a", "destinationName": "b"}
    way["backRelationKeyID"] = f"20260101120000-backb{shop.count:02d}"
    return {"one": one, "two": two, "carrier": carrier, "way": way}


async def two_way(shop: Shop) -> dict[str, Any]:
    made = await related(shop)
    return {**made["carrier"], **made["way"], "keyID": made["one"]["rel"]}


async def connected(shop: Shop) -> dict[str, Any]:
    made = await related(shop)
    await shop.notes.call(
        "av", "configure_two_way_relation", **made["carrier"], **made["way"], keyID=made["one"]["rel"]
    )
    return made


async def relation(shop: Shop) -> dict[str, Any]:
    made = await connected(shop)
    rows = {"itemID": made["one"]["row"], "relatedItemIDs": [made["two"]["row"]]}
    return {**made["carrier"], "keyID": made["one"]["rel"], **rows}


async def rollup(shop: Shop) -> dict[str, Any]:
    made = await connected(shop)
    keys = {"keyID": made["one"]["roll"], "relationKeyID": made["one"]["rel"]}
    return {**made["carrier"], **keys, "destinationKeyID": made["two"]["number"]}


async def card(shop: Shop) -> dict[str, Any]:
    block = await shop.block()
    await shop.notes.call("flashcard", "create_card", deckID=DECK, blockIDs=[block])
    cards = (await shop.notes.memory.call("riff/getRiffCardsByBlockIDs", blockIDs=[block]))["blocks"]
    return {"deckID": DECK, "cardID": cards[0]["riffCardID"]}


async def carded(shop: Shop) -> dict[str, Any]:
    block = await shop.block()
    await shop.notes.call("flashcard", "create_card", deckID=DECK, blockIDs=[block])
    return {"deckID": DECK, "blockIDs": [block]}


async def to_deck(shop: Shop) -> dict[str, Any]:
    return {"deckID": DECK if shop.count else "", "blockIDs": [await shop.block()]}


async def point_of_document(shop: Shop) -> dict[str, Any]:
    await repository(shop)
    document = await shop.document()
    tag = await shop.point("document", document)
    block = (await shop.notes.memory.children(document))[0]
    await shop.notes.memory.call("block/updateBlock", id=block, dataType="markdown", data="changed")
    return {"documentId": document, "tag": tag}


async def change_of_document(shop: Shop) -> dict[str, Any]:
    found = await point_of_document(shop)
    told = await shop.notes.call("timeline", "compare_node", **found)
    return {**found, "changeKey": told["changes"][0]["changeKey"]}


async def point_of_all(shop: Shop) -> dict[str, Any]:
    await repository(shop)
    return {"tag": await shop.point("global")}


async def repository(shop: Shop) -> dict[str, Any]:
    await shop.notes.memory.answer("repo/initRepoKeyFromPassphrase", **{"pass": "x"})
    return {}


async def new_place(shop: Shop) -> dict[str, Any]:
    return {"notebook": await shop.notebook()}


async def in_box(shop: Shop) -> dict[str, Any]:
    document = await shop.document()
    return {"notebook": shop.box, "parentId": document}


async def snapshot(shop: Shop) -> dict[str, Any]:
    document = await shop.document()
    return {"notebookID": shop.box, "documentIDs": [document]}


async def rendered(shop: Shop) -> dict[str, Any]:
    await template(shop)
    return {"id": await shop.document()}


async def tagged(shop: Shop) -> dict[str, Any]:
    await shop.document()
    return {}


DOCUMENT: Things = of(id=Shop.document)
BLOCK: Things = of(id=Shop.block)
IDS = {"ids": lambda shop: listed(shop.block())}


async def built_in(shop: Shop) -> str:
    return DECK


async def earned(shop: Shop) -> dict[str, Any]:
    for _ in range(3):
        await shop.notes.call("system", "get_version")
    return {}


async def listed(one: Awaitable[str]) -> list[str]:
    return [await one]


MAKERS: dict[str, Things] = {
    **dict.fromkeys("fs.ls fs.tree fs.read fs.replace fs.rm fs.search".split(), of(path=Shop.path)),
    "fs.write": new_path,
    "fs.mv": move_of_paths,
    "fs.reorder": order_of_paths,
    **{
        key: new_place
        for key, action in ACTIONS.items()
        if action.tool == "notebook" and any(one.name == "notebook" and one.is_required for one in action.arguments)
    },
    "document.create": new_place,
    "document.list_tree": new_place,
    "document.search_docs": new_place,
    "document.create_daily_note": new_place,
    "block.add_to_daily_note": new_place,
    "document.ensure_link_targets": in_box,
    "document.move": of(fromIDs=lambda shop: listed(shop.document()), toID=Shop.document),
    "document.reorder": order_of_documents,
    "document.heading_to_doc": of(headingID=heading, targetNotebook=Shop.notebook),
    "document.doc_to_heading": of(srcID=Shop.document, targetID=heading),
    "block.insert": of(previousID=Shop.block),
    "block.prepend": of(parentID=Shop.document),
    "block.append": of(parentID=Shop.document),
    "block.move": of(id=Shop.block, previousID=Shop.block),
    "block.set_fold_state": of(id=heading),
    "block.batch_kramdown": of(**IDS),
    "block.word_count": of(**IDS),
    "block.docs_info": DOCUMENT,
    "block.transfer_references": referring,
    "block.recent_updated": nothing,
    **dict.fromkeys(
        "av.get av.render av.get_attribute_view_keys av.get_attribute_view_filter_sort av.add_column av.rename "
        "av.duplicate av.get_primary_key_values".split(),
        shown("avID"),
    ),
    "av.add_rows": of(avID=lambda shop: field(shop.database(), "avID"), blockIDs=lambda shop: listed(shop.block())),
    "av.remove_rows": lambda shop: rows_of(shop, "srcIDs"),
    "av.duplicate_rows": lambda shop: rows_of(shop, "sourceRowIDs"),
    "av.remove_column": options_of,
    "av.set_column_options": options_of,
    "av.set_cells": named_cell,
    "av.add_view": of_view(viewID=lambda found: "20260101120002-abcdefg"),
    "av.set_filters": of_view(filters=lambda found: [{"column": found["text"], "operator": "Is not empty"}]),
    "av.set_sorts": of_view(sorts=lambda found: [{"column": found["text"], "order": "ASC"}]),
    "av.set_group": of_view(group=lambda found: {"field": found["text"], "method": 0, "order": 0, "hideEmpty": False}),
    "av.set_column_visibility": of_view(keyID=lambda found: found["text"]),
    "av.set_column_order": of_view(keyIDs=lambda found: found["keys"]),
    "av.set_new_item_templates": shown("avID", "blockID"),
    "av.create_from_template": templated,
    "av.configure_two_way_relation": two_way,
    "av.configure_rollup": rollup,
    "av.set_relation": relation,
    **dict.fromkeys("file.read_template file.update_template file.delete_template".split(), template),
    "file.create_template": fresh_template,
    "file.save_doc_as_template": DOCUMENT,
    "file.render": rendered,
    "file.export_markdown_snapshot": snapshot,
    "file.audit_image_refs": shown_image,
    "file.read_image": shown_image,
    **dict.fromkeys("file.export_resources file.get_image_ocr_text file.rename_asset file.delete_asset".split(), asset),
    "search.find_replace": of(**IDS),
    "tag.rename": tagged,
    "tag.remove": tagged,
    "timeline.create_node": repository,
    "timeline.compare_node": point_of_document,
    "timeline.compare_recent": of(documentId=Shop.document),
    "timeline.delete_node": point_of_all,
    "timeline.rollback_document": point_of_document,
    "timeline.rollback_block": change_of_document,
    "flashcard.get_cards": of(deckID=built_in),
    "mascot.buy": earned,
    "flashcard.review_card": card,
    "flashcard.create_card": to_deck,
    "flashcard.remove_card": carded,
}


async def field(made: Awaitable[dict[str, Any]], name: str) -> Any:
    return (await made)[name]


async def rows_of(shop: Shop, name: str) -> dict[str, Any]:
    found = await shop.database()
    return {"avID": found["avID"], name: [found["row"]]}


def maker_of(name: str) -> Things:
    """The maker of an action's things; by the argument alone where that says enough."""
    if name in MAKERS:
        return MAKERS[name]
    tool = ACTIONS[name].tool
    if ACTIONS[name].argument("id") is None or tool == "av":
        return nothing
    return BLOCK if tool in ("block", "search") else DOCUMENT


@pytest.mark.parametrize("key", [key for key in ACTIONS if key != UPLOAD])
async def test_the_example_of_every_action_does_what_it_says(tmp_path: Path, key: str) -> None:
    """In strict mode, where more is refused."""
    action = ACTIONS[key]
    async with open_notes(tmp_path, strict=action.policy.can_mutate) as notes:
        shown_call = (await notes.raw(action.tool, {"action": "help", "topic": action.name})).structured or {}
        things = await maker_of(key)(Shop(notes))
        call = {**shown_call["example"], **things}
        # What is put in stands in the example already: nobody has to guess it.
        assert set(call) == set(shown_call["example"])
        told = await answer(notes, action.tool, call, is_strict=action.policy.resolve(call).is_mutation)
        error = told.get("error")
        if key in REFUSED:
            assert REFUSED[key] in (error if isinstance(error, str) else error["message"])
        else:
            assert error is None, (call, error)


async def answer(notes: Notes, tool: str, call: dict[str, Any], *, is_strict: bool) -> dict[str, Any]:
    """The call, confirmed, and preflighted as its help says."""
    asked = {**call, "confirm": True}
    if is_strict:
        checked = (await notes.raw(tool, {**asked, "validateOnly": True})).structured or {}
        if checked.get("validateOnly") is not True:
            return checked
        field_name = checked.get("preconditionField")
        asked |= {"requestId": checked["requestId"], **({field_name: checked[field_name]} if field_name else {})}
    return (await notes.raw(tool, asked)).structured or {}
