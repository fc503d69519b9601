"""Databases over the API: items, cells and keys, what blocks have to do with them, and how refusals read."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import RawAnswer, dispatch
from kernel.siyuan.kernel import Call
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.views.world import AV, ITEMS, OTHER, Databases, key_id


# --- items -----------------------------------------------------------------------------------------------------------
async def test_items_stand_in_the_order_they_are_added_in(av: Databases) -> None:
    await av.add("one", "two", "three")
    assert await av.rows() == ["one", "two", "three"]
    assert await av.rows(page=2, pageSize=2) == ["three"]
    assert await av.rows(query="T") == ["two", "three"]
    found = await av.kernel.call("av/getAttributeViewPrimaryKeyValues", id=AV, keyword="TW")
    assert [value["block"]["content"] for value in found["rows"]["values"]] == ["two"]


async def test_an_item_is_put_behind_the_one_that_is_named(av: Databases) -> None:
    await av.add("one", "two")
    source = {"itemID": ITEMS[2], "isDetached": True, "content": "between"}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source], previousID=ITEMS[0])
    assert await av.rows() == ["one", "between", "two"]
    await av.operate("sortAttrViewRow", id=ITEMS[2], previousID="")
    assert await av.rows() == ["between", "one", "two"]


async def test_a_bound_block_names_its_item_and_is_released_with_it(av: Databases) -> None:
    block = av.texts[0]
    source = {"itemID": ITEMS[0], "isDetached": False, "id": block}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, blockID=av.block, srcs=[source])
    attributes = await av.kernel.call("attr/getBlockAttrs", id=block)
    assert attributes["custom-avs"] == AV
    assert "Untitled" in attributes["av-names"]
    assert await av.rows() == ["first text"]
    assert await av.kernel.call("av/getAttributeViewItemIDsByBoundIDs", avID=AV, blockIDs=[block]) == {block: ITEMS[0]}
    await av.kernel.call("block/updateBlock", id=block, dataType="markdown", data=f'new\n{{: custom-avs="{AV}"}}')
    assert await av.rows() == ["new"]
    await av.kernel.call("attr/setBlockAttrs", id=block, attrs={"name": "named", "icon": "1f600"})
    assert await av.rows() == ["named"]
    panel = await av.kernel.call("av/getAttributeViewKeys", id=block)
    assert [one["avID"] for one in panel] == [AV]
    await av.kernel.call("av/removeAttributeViewBlocks", avID=AV, srcIDs=[ITEMS[0]])
    assert "custom-avs" not in await av.kernel.call("attr/getBlockAttrs", id=block)
    assert await av.rows() == []
    assert any(path.endswith(f"{AV}.json") for path, _ in av.kernel.workspace.files.walk("history"))


async def test_a_block_that_is_there_already_is_not_added_twice(av: Databases) -> None:
    for item in ITEMS[:2]:
        source = {"itemID": item, "isDetached": False, "id": av.texts[0]}
        await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source])
    assert await av.rows() == ["first text"]
    assert [frame["msg"] for frame in av.kernel.frames if frame["cmd"] == "msg"] == [
        "This block has already been added to the database [Untitled]"
    ]


async def test_the_item_of_a_deleted_block_goes_with_it(av: Databases) -> None:
    source = {"itemID": ITEMS[0], "isDetached": False, "id": av.texts[0]}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source])
    await av.kernel.call("block/deleteBlock", id=av.texts[0])
    assert await av.rows() == []


async def test_blocks_are_released_when_the_last_block_that_shows_the_database_goes(av: Databases) -> None:
    source = {"itemID": ITEMS[0], "isDetached": False, "id": av.texts[0]}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source])
    await av.kernel.call("block/deleteBlock", id=av.block)
    assert "custom-avs" not in await av.kernel.call("attr/getBlockAttrs", id=av.texts[0])
    assert (await av.kernel.call("av/getMirrorDatabaseBlocks", avID=AV))["refDefs"] == []


async def test_an_item_is_given_another_block_or_none(av: Databases) -> None:
    first, second = av.texts
    source = {"itemID": ITEMS[0], "isDetached": False, "id": first}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source])
    done = await av.operate("replaceAttrViewBlock", previousID=ITEMS[0], nextID=second)
    assert done["retData"] == {"targetItemID": ITEMS[0], "duplicate": False}
    assert await av.rows() == ["second text"]
    assert "custom-avs" not in await av.kernel.call("attr/getBlockAttrs", id=first)
    await av.kernel.call("av/batchReplaceAttributeViewBlocks", avID=AV, isDetached=True, oldNew=[{ITEMS[0]: second}])
    assert (await av.kernel.call("av/getAttributeViewBoundBlockIDsByItemIDs", avID=AV, itemIDs=ITEMS[:1])) == {
        ITEMS[0]: ""
    }


async def test_a_text_given_to_a_bound_item_is_kept_at_its_block(av: Databases) -> None:
    block = av.texts[0]
    source = {"itemID": ITEMS[0], "isDetached": False, "id": block}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source])
    primary = next(one for one in (await av.show())["view"]["columns"] if one["type"] == "block")["id"]

    async def put(**value: Any) -> None:
        await av.kernel.call("av/setAttributeViewBlockAttr", avID=AV, keyID=primary, itemID=ITEMS[0], value=value)

    await put(block={"id": block, "content": "fixed"}, isDetached=False)
    assert (await av.kernel.call("attr/getBlockAttrs", id=block))[f"custom-sy-av-s-text-{AV}"] == "fixed"
    assert await av.rows() == ["fixed"]
    await put(block={"id": block, "content": ""})
    assert await av.rows() == ["first text"]
    await put(block={"id": av.texts[1], "content": "second text"})
    assert "custom-avs" not in await av.kernel.call("attr/getBlockAttrs", id=block)
    await put(block={"id": av.texts[1], "content": "free"}, isDetached=True)
    assert "custom-avs" not in await av.kernel.call("attr/getBlockAttrs", id=av.texts[1])
    assert await av.rows() == ["free"]


async def test_items_are_appended_with_values_and_copied(av: Databases) -> None:
    await av.key("select")
    primary = (await av.stored())["keyValues"][0]["key"]["id"]
    row = [
        {"keyID": primary, "block": {"content": "appended"}},
        {"keyID": key_id("select"), "mSelect": [{"content": "red", "color": "3"}]},
    ]
    await av.kernel.call("av/appendAttributeViewDetachedBlocksWithValues", avID=AV, blocksValues=[row])
    assert await av.rows() == ["appended"]
    item = (await av.show())["view"]["rows"][0]["id"]
    await av.operate("duplicateAttrViewRow", srcIDs=[item], previousID=item, id=ITEMS[0])
    assert await av.rows() == ["appended", "appended"]
    options = [one["key"].get("options") for one in (await av.stored())["keyValues"]]
    assert [{"name": "red", "color": "3", "desc": ""}] in options
    refusal = await av.kernel.refusal(
        "av/appendAttributeViewDetachedBlocksWithValues", avID=AV, blocksValues=[[{"keyID": "x"}]]
    )
    assert refusal == "key [x] not found"


# --- cells -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "given", "stored"),
    [
        ("text", {"text": {"content": "t"}}, {"text": {"content": "t"}}),
        ("url", {"url": {"content": "u"}}, {"url": {"content": "u"}}),
        ("checkbox", {"checkbox": {"checked": True}}, {"checkbox": {"checked": True}}),
        (
            "number",
            {"number": {"content": 2.5, "isNotEmpty": True}},
            {"number": {"content": 2.5, "isNotEmpty": True, "format": "", "formattedContent": "2.5"}},
        ),
        (
            "number",
            {"number": {"content": 2.5}},
            {"number": {"content": 0, "isNotEmpty": False, "format": "", "formattedContent": ""}},
        ),
        (
            "mSelect",
            {"mSelect": [{"content": "a", "color": "1"}, {"content": ""}]},
            {"mSelect": [{"content": "a", "color": "1"}]},
        ),
        (
            "mAsset",
            {"mAsset": [{"type": "image", "name": "n", "content": "assets/a.png"}]},
            {"mAsset": [{"type": "image", "name": "n", "content": "assets/a.png"}]},
        ),
    ],
)
async def test_a_cell_takes_what_fits_its_type(
    av: Databases, kind: str, given: dict[str, Any], stored: dict[str, Any]
) -> None:
    await av.key(kind)
    await av.add("one")
    value = await av.put(kind, ITEMS[0], given)
    assert {name: value[name] for name in stored} == stored
    column = next(one for one in (await av.stored())["keyValues"] if one["key"]["id"] == key_id(kind))
    assert column["values"] == [value]
    assert value["updatedAt"] == value["createdAt"] + 1000, "an edit is never at the time of the creation"


async def test_what_fits_no_cell_is_refused_in_the_kernels_words(av: Databases) -> None:
    await av.key("number")
    await av.add("one")
    words = "json: cannot unmarshal string into Go struct field ValueNumber.number.content of type float64"
    ask = {"avID": AV, "keyID": key_id("number"), "itemID": ITEMS[0], "value": {"number": {"content": "7"}}}
    assert await av.kernel.refusal("av/setAttributeViewBlockAttr", **ask) == words
    assert await av.kernel.call("av/setAttributeViewBlockAttr", avID=AV, keyID="x", value={}) is None
    row = {"avID": AV, "keyID": key_id("number"), "rowID": ITEMS[0], "value": {}}
    assert "parameter [rowID] is deprecated" in await av.kernel.refusal("av/setAttributeViewBlockAttr", **row)
    cells = [{"keyID": key_id("number"), "rowID": ITEMS[0], "value": {}}]
    assert "[rowID] is deprecated" in await av.kernel.refusal(
        "av/batchSetAttributeViewBlockAttrs", avID=AV, values=cells
    )
    cells = [{"keyID": key_id("number"), "itemID": ITEMS[0], "value": {"number": {"content": 1, "isNotEmpty": True}}}]
    await av.kernel.call("av/batchSetAttributeViewBlockAttrs", avID=AV, values=cells)


# --- keys ------------------------------------------------------------------------------------------------------------
async def test_keys_are_placed_named_retyped_copied_and_removed(av: Databases) -> None:
    for kind in ("text", "number"):
        await av.key(kind)
    await av.key("date", previous=key_id("text"))
    names = [one["name"] for one in (await av.show())["view"]["columns"]]
    assert names == ["number", "text", "date", "Primary Key", "Select"]
    await av.operate("updateAttrViewCol", id=key_id("text"), name=" Renamed ", type="number")
    await av.operate("duplicateAttrViewKey", keyID=key_id("text"), nextID=key_id("copy"))
    assert [(await av.field(key_id(kind)))["name"] for kind in ("text", "copy")] == ["Renamed", "Renamed (1)"]
    await av.kernel.call("av/sortAttributeViewViewKey", avID=AV, keyID=key_id("copy"), previousKeyID="")
    await av.kernel.call("av/sortAttributeViewKey", avID=AV, keyID=key_id("copy"), previousKeyID=key_id("number"))
    stored = await av.stored()
    assert stored["keyIDs"].index(key_id("copy")) == stored["keyIDs"].index(key_id("number")) + 1
    assert (await av.show())["view"]["columns"][0]["id"] == key_id("copy")
    await av.kernel.call("av/removeAttributeViewKey", avID=AV, keyID=key_id("text"))
    assert key_id("text") not in [one["key"]["id"] for one in (await av.stored())["keyValues"]]
    remove = "av/removeAttributeViewKey"
    assert await av.kernel.refusal(remove, avID=AV, keyID="x") == "key not found"
    primary = (await av.stored())["keyValues"][0]["key"]["id"]
    assert await av.kernel.refusal(remove, avID=AV, keyID=primary) == "cannot remove primary key field"
    found = await av.kernel.call("av/getAttributeViewKeysByID", avID=AV, keyIDs=[primary])
    assert [one["type"] for one in found] == ["block"]
    assert len(await av.kernel.call("av/getAttributeViewKeysByAvID", avID=AV)) == 5


async def test_the_primary_key_keeps_its_type_and_the_windows_hear_of_the_refusal(av: Databases) -> None:
    primary = (await av.stored())["keyValues"][0]["key"]["id"]
    await av.operate("updateAttrViewCol", id=primary, name="x", type="text")
    assert (await av.stored())["keyValues"][0]["key"]["type"] == "block"
    assert "Operation failed, please try again later" in [frame["msg"] for frame in av.kernel.frames]


async def test_options_follow_into_the_values_that_have_them(av: Databases) -> None:
    await av.key("mSelect")
    await av.add("one")
    await av.put(
        "mSelect", ITEMS[0], {"mSelect": [{"content": "red", "color": "1"}, {"content": "blue", "color": "2"}]}
    )
    selects = key_id("mSelect")
    await av.operate("updateAttrViewColOptions", id=selects, data=[{"name": "blue", "color": "9"}, {"name": "red"}])
    assert [one["name"] for one in (await av.field(selects))["options"]] == ["blue", "red"]
    change = {"oldName": "red", "newName": "green", "newDesc": "d", "newColor": "4"}
    await av.operate("updateAttrViewColOption", id=selects, data=change)
    await av.operate("removeAttrViewColOption", id=selects, data="blue")
    await av.operate("setAttrViewColOptionDesc", id=selects, data={"name": "green", "desc": "said"})
    assert (await av.field(selects))["options"] == [{"name": "green", "color": "4", "desc": "said"}]
    column = next(one for one in (await av.stored())["keyValues"] if one["key"]["id"] == selects)
    assert column["values"][0]["mSelect"] == [{"content": "green", "color": "4"}]


# --- which there are -------------------------------------------------------------------------------------------------
async def test_a_database_is_found_by_its_name_copied_and_cleaned_away(av: Databases) -> None:
    await av.operate("setAttrViewName", id=AV, data=" Plans\nof mine ")
    results = (await av.kernel.call("av/searchAttributeView", keyword="plans"))["results"]
    assert [(one["avName"], one["hPath"]) for one in results] == [("Plans of mine", "Notes/Base")]
    assert (await av.kernel.call("av/searchAttributeView", keyword="", excludes=[AV, OTHER]))["results"] == []
    copied = await av.kernel.call("av/duplicateAttributeViewBlock", avID=AV)
    assert (await av.stored(copied["avID"]))["name"] == "Plans of mine (Duplicated 2026-03-01 09:00:00)"
    assert [one["item"] for one in await av.kernel.call("av/getUnusedAttributeViews")] == [copied["avID"]]
    gone = await av.kernel.call("av/removeUnusedAttributeViews")
    assert [path.endswith(f"{copied['avID']}.json") for path in gone["paths"]] == [True]
    assert (await av.kernel.call("av/getAttributeView", id=copied["avID"])) == {"av": None}
    assert await av.kernel.call("av/removeUnusedAttributeView", id=AV) == {"id": AV}
    assert await av.kernel.refusal("av/duplicateAttributeViewBlock", avID=AV) == "view not found"


async def test_what_a_database_says_is_listed_and_exported(av: Databases) -> None:
    await av.key("number")
    await av.key("url")
    await av.add("row | one")
    await av.put("number", ITEMS[0], {"number": {"content": 3, "isNotEmpty": True}})
    await av.put("url", ITEMS[0], {"url": {"content": "https://a.b"}})
    listed = (await av.kernel.call("block/getChildBlocks", id=av.document))[0]["content"]
    assert listed == "Table Primary Key row | one Select number 3 url https://a.b"
    shown = await av.kernel.call("export/exportMdContent", id=av.document, yfm=False)
    assert "|[https://a.b](https://a.b)|3|row \\| one||" in shown["content"]


async def test_a_view_is_exported_as_csv_with_the_assets_it_names(av: Databases) -> None:
    await av.key("mAsset")
    await av.key("lineNumber")
    await av.add("one", "two")
    av.kernel.workspace.files.write("data/assets/a.png", b"picture")
    assets = [{"type": "image", "name": "n", "content": "assets/a.png"}, {"type": "file", "name": "", "content": "x"}]
    await av.put("mAsset", ITEMS[0], {"mAsset": assets})
    answer = await av.kernel.call("export/exportAttributeView", id=AV, blockID=av.block)
    assert answer == {"zip": "/export/csv/Untitled.db.zip"}
    packed = av.kernel.workspace.files.read("temp/export/csv/Untitled.db.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.read("assets/a.png") == b"picture"
        lines = archive.read("Untitled.csv").decode("utf-8-sig").splitlines()
    assert lines == ["lineNumber,mAsset,Primary Key,Select", "1,![n](assets/a.png) [](x),one,", "2,,two,"]
    missing = await av.kernel.answer("export/exportAttributeView", id=AV, blockID="20200101000000-zzzzzzz")
    assert (missing.code, missing.msg) == (1, "tree not found")


async def test_the_names_of_databases_are_drawn_at_the_side_of_bound_blocks(av: Databases) -> None:
    block = av.texts[0]
    await av.operate("setAttrViewName", id=AV, data="A <b> C")
    source = {"itemID": ITEMS[0], "isDetached": False, "id": block}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source])
    shown = await av.kernel.call("filetree/getDoc", id=av.document, mode=0, size=102400)
    assert 'class="popover__block">A &lt;b&gt; C</span></div>' in shown["content"]
    assert "A &lt;b&gt; C" in (await av.kernel.call("attr/getBlockAttrs", id=block))["av-names"]
    await av.kernel.call("attr/setBlockAttrs", id=block, attrs={"memo": "said"})
    assert "av-names" not in await av.kernel.call("attr/getBlockAttrs", id=block), "not until they are drawn again"
    kramdown = await av.kernel.call("block/getBlockKramdown", id=block)
    assert "av-names" not in kramdown["kramdown"]


async def test_a_database_block_that_comes_in_shows_the_current_view_and_binds_again(av: Databases) -> None:
    source = {"itemID": ITEMS[0], "isDetached": False, "id": av.texts[0]}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source])
    await av.kernel.call("block/deleteBlock", id=av.block)
    assert "custom-avs" not in await av.kernel.call("attr/getBlockAttrs", id=av.texts[0])
    data = f'<div data-type="NodeAttributeView" data-av-id="{AV}" data-av-type="table"></div>'
    done = await av.kernel.call("block/insertBlock", previousID=av.other, dataType="markdown", data=data)
    fresh = done[0]["doOperations"][0]["id"]
    assert (await av.kernel.call("av/getMirrorDatabaseBlocks", avID=AV))["refDefs"] == [{"refID": fresh, "defIDs": []}]
    assert (await av.kernel.call("attr/getBlockAttrs", id=av.texts[0]))["custom-avs"] == AV
    view = (await av.stored())["viewID"]
    assert (await av.kernel.call("attr/getBlockAttrs", id=fresh))["custom-sy-av-view"] == view


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("path", "arguments", "message"),
    [
        ("renderAttributeView", {"id": "bad"}, "invalid id"),
        (
            "renderAttributeView",
            {"id": "20200101000000-zzzzzzz", "createIfNotExist": False},
            "attribute view not found",
        ),
        ("addAttributeViewKey", {"avID": "bad"}, "invalid attribute view id"),
        ("changeAttrViewLayout", {"avID": "20200101000000-zzzzzzz", "layoutType": "table"}, "view not found"),
        (
            "setAttrViewSorts",
            {"avID": AV, "data": [5]},
            "json: cannot unmarshal number into Go value of type av.ViewSort",
        ),
        ("setDatabaseBlockView", {"avID": AV, "id": "x", "viewID": "x"}, "view not found"),
        ("renderHistoryAttributeView", {"id": AV, "created": "1"}, "attribute view not found"),
        ("createAttributeViewItem", {"avID": AV, "blockID": "x"}, "block not found"),
        ("searchAttributeViewNonRelationKey", {}, "[/api/av/searchAttributeViewNonRelationKey] is deprecated"),
    ],
)
async def test_refusals_read_as_the_kernels(av: Databases, path: str, arguments: dict[str, Any], message: str) -> None:
    texts = ("blockID", "keyID", "keyName", "keyType", "keyIcon", "previousKeyID")
    given = dict.fromkeys(texts, "") | arguments
    assert (await av.kernel.refusal(f"av/{path}", **given)).startswith(message)


@pytest.mark.parametrize(
    "path", ["renderAttributeView", "setAttrViewFilters", "setAttrViewGroup", "changeAttrViewLayout"]
)
async def test_some_calls_answer_nothing_where_arguments_are_missing(kernel: MemoryKernel, path: str) -> None:
    answer = await dispatch(Call(kernel.kernel, f"/api/av/{path}", Arguments({})))
    assert isinstance(answer, RawAnswer)
    assert (answer.status, answer.body) == (200, b"")


async def test_a_file_of_a_newer_kernel_is_left_alone(av: Databases) -> None:
    path = f"data/storage/av/{AV}.json"
    av.kernel.workspace.files.write(path, b'{"spec": 99, "id": "x"}')
    assert (await av.kernel.refusal("av/renderAttributeView", id=AV)).startswith("Cannot open database view")
    av.kernel.workspace.files.write(path, b"not json")
    assert await av.kernel.call("av/getAttributeView", id=AV) == {"av": None}
    av.kernel.workspace.files.write(path, b'{"spec": "five"}')
    assert "cannot unmarshal string" in await av.kernel.refusal("av/renderAttributeView", id=AV)


async def test_databases_outlive_the_kernel(av: Databases) -> None:
    await av.add("one")
    again = av.kernel.restarted()
    view = (await again.call("av/renderAttributeView", id=AV))["view"]
    assert [row["id"] for row in view["rows"]] == ITEMS[:1]
