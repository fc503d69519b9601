"""Relations, rollups, layouts and the small settings of databases over the API."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views.binding import set_at_once
from kernel.workspace.views.layouts import change_layout
from tests.workspace.views.world import AV, ITEMS, OTHER, Databases, cell, filled, filter_by, key_id, number, related

GONE = "20200101000000-zzzzzzz"


# --- relations -----------------------------------------------------------------------------------------------------------
async def test_a_two_way_relation_is_kept_on_both_sides(av: Databases) -> None:
    await related(av)
    contents = (await cell(av, ITEMS[0], key_id("relation")))["relation"]["contents"]
    assert [one["block"]["content"] for one in contents] == ["left", "right"]
    back = await cell(av, ITEMS[1], key_id("back"), OTHER)
    assert back["relation"]["blockIDs"] == ITEMS[:1]
    links = await av.kernel.call("av/getAttributeViewBacklinks", avID=OTHER, itemID=ITEMS[0])
    assert [(one["title"], one["databasePath"]) for one in links["items"]] == [("one", "/Base")]
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:1]}})
    assert (await cell(av, ITEMS[1], key_id("back"), OTHER))["relation"]["blockIDs"] == []
    keys = await av.kernel.call("av/searchAttributeViewRelationKey", avID=AV, keyword="rel")
    assert [one["name"] for one in keys["keys"]] == ["Relation"]
    await av.kernel.call("av/removeAttributeViewKey", avID=AV, keyID=key_id("relation"), removeRelationDest=True)
    assert key_id("back") not in [one["key"]["id"] for one in (await av.stored(OTHER))["keyValues"]]
    assert (await av.kernel.call("av/getAttributeViewBacklinks", avID=OTHER, itemID=ITEMS[0]))["total"] == 0


@pytest.mark.parametrize(
    ("operator", "said"),
    [("", "3, 4"), ("Sum", "7"), ("Average", "3.5"), ("Count all", "2"), ("Range", "1"), ("Percent empty", "0%")],
)
async def test_rollups_gather_what_items_are_related_to(av: Databases, operator: str, said: str) -> None:
    await related(av, is_two_way=False)
    await av.key("rollup")
    target = {"parentID": key_id("relation"), "keyID": key_id("number"), "data": {"calc": {"operator": operator}}}
    await av.operate("updateAttrViewColRollup", id=key_id("rollup"), **target)
    contents = (await cell(av, ITEMS[0], key_id("rollup")))["rollup"]["contents"]
    assert ", ".join(one["number"]["formattedContent"] for one in contents) == said
    condition = {
        "column": key_id("rollup"),
        "operator": ">",
        "value": {"type": "rollup", "rollup": {"contents": [{"type": "number", **number(0)}]}},
    }
    passing = await filter_by(av, condition)
    assert "two" not in passing


# --- layouts and views -----------------------------------------------------------------------------------------------------
async def test_a_view_is_shown_as_cards_as_a_board_and_as_a_table_again(av: Databases) -> None:
    source = {"itemID": ITEMS[0], "isDetached": False, "id": av.texts[0]}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, blockID=av.block, srcs=[source])

    async def change(layout: str) -> dict[str, Any]:
        answer = await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType=layout)
        return dict(answer["view"])

    cards = await change("gallery")
    assert (cards["name"], [card["id"] for card in cards["cards"]]) == ("Card", ITEMS[:1])
    assert "first text" in cards["cards"][0]["coverContent"]
    board = await change("kanban")
    assert [group["name"] for group in board["groups"]] == ["Field [Select] is empty"]
    assert [card["id"] for card in board["groups"][0]["cards"]] == ITEMS[:1]
    assert (await change("table"))["name"] == "Table"
    shown = await av.kernel.call("block/getBlockKramdown", id=av.block)
    assert 'data-av-type="table"' in shown["kramdown"]


@pytest.mark.parametrize("layout", ["table", "gallery", "kanban"])
async def test_views_are_added_copied_named_sorted_and_removed(av: Databases, layout: str) -> None:
    await av.add("one")
    first = (await av.show())["viewID"]
    await av.operate("addAttrViewView", id=ITEMS[1], layout=layout)
    await av.operate("setAttrViewViewName", id=ITEMS[1], data=" Mine ")
    assert (await av.show())["viewType"] == layout
    await av.operate("duplicateAttrViewView", previousID=ITEMS[1], id=ITEMS[2])
    assert [one["name"] for one in (await av.show())["views"]][1:] == ["Mine", "Mine (1)"]
    await av.operate("sortAttrViewView", id=ITEMS[2], previousID="")
    assert [one["id"] for one in (await av.show())["views"]] == [ITEMS[2], first, ITEMS[1]]
    done = await av.operate("removeAttrViewView")
    assert done["retData"] == "table"
    assert (await av.show())["viewID"] == ITEMS[2] or (await av.show())["viewID"] == first
    await av.operate("setAttrViewBlockView", id=ITEMS[1])
    assert (await av.show())["viewID"] == ITEMS[1]


async def test_small_settings_of_views_and_fields(av: Databases) -> None:
    column = await filled(av, "number", number(1234))
    settings = {
        "setAttrViewColWidth": "300px",
        "setAttrViewColAlign": "right",
        "setAttrViewColPin": True,
        "setAttrViewColHidden": True,
        "setAttrViewColWrap": True,
        "setAttrViewColIcon": "1f600",
        "setAttrViewColDesc": "said",
    }
    for action, data in settings.items():
        await av.operate(action, id=column, data=data)
    await av.operate("updateAttrViewColNumberFormat", id=column, type="number", format="USD")
    shown = await av.field(column)
    names = ("width", "align", "pin", "hidden", "wrap", "icon", "desc", "numberFormat")
    assert [shown[name] for name in names] == ["300px", "right", True, True, True, "1f600", "said", "USD"]
    assert (await cell(av, ITEMS[0], column))["number"]["formattedContent"] == "$1,234.00"
    for action, data in (
        ("setAttrViewPageSize", 2),
        ("setAttrViewWrapField", True),
        ("setAttrViewShowIcon", False),
        ("hideAttrViewName", True),
    ):
        await av.operate(action, data=data)
    view = (await av.show())["view"]
    assert (view["pageSize"], view["wrapField"], view["showIcon"], view["hideAttrViewName"]) == (2, True, False, True)
    assert len(view["rows"]) == 2


async def test_times_show_when_items_were_made_and_changed(av: Databases) -> None:
    await av.add("one")
    for kind in ("created", "updated", "date"):
        await av.key(kind)
    assert (await cell(av, ITEMS[0], key_id("created")))["created"]["formattedContent"] == "2024-01-01 00:00"
    assert (await cell(av, ITEMS[0], key_id("updated")))["updated"]["formattedContent"] == "2026-03-01 09:00"
    await av.operate("setAttrViewCreatedIncludeTime", id=key_id("created"), data=False)
    assert (await cell(av, ITEMS[0], key_id("created")))["created"]["formattedContent"] == "2024-01-01"
    await av.operate("setAttrViewColDateFillCreated", id=key_id("date"), data=True)
    await av.operate("setAttrViewColDateFillSpecificTime", id=key_id("date"), data=True)
    source = {"itemID": ITEMS[1], "isDetached": True, "content": "two"}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source])
    assert (await cell(av, ITEMS[1], key_id("date")))["date"]["content"] == av.kernel.clock.wall_ms()


# --- what is not there -----------------------------------------------------------------------------------------------
async def test_a_layout_that_the_view_has_already_changes_nothing(av: Databases) -> None:
    before = (await av.stored())["views"]
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="table")
    assert (await av.stored())["views"] == before


async def test_every_block_that_shows_the_view_follows_its_layout(av: Databases) -> None:
    view = (await av.show())["viewID"]
    data = f'<div data-type="NodeAttributeView" data-av-id="{AV}" data-av-type="table"></div>'
    done = await av.kernel.call("block/insertBlock", previousID=av.other, dataType="markdown", data=data)
    second = done[0]["doOperations"][0]["id"]
    await av.operate("setAttrViewBlockView", id=view)
    await av.operate("setAttrViewBlockView", id=view, blockID=second)
    await av.operate("setAttrViewViewName", id=view, data="Mine")
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="gallery")
    for block in (av.block, second):
        kramdown = (await av.kernel.call("block/getBlockKramdown", id=block))["kramdown"]
        assert 'data-av-type="gallery"' in kramdown
    assert (await av.show())["view"]["name"] == "Mine", "a name of one's own stays"
    await av.operate("addAttrViewView", id=ITEMS[0], layout="table", blockID=second)
    await av.kernel.call("av/changeAttrViewLayout", avID=AV, blockID=av.block, layoutType="kanban")
    assert (await av.kernel.call("attr/getBlockAttrs", id=second))["custom-sy-av-view"] == ITEMS[0]
    await av.operate("removeAttrViewView", blockID=second)
    assert (await av.kernel.call("attr/getBlockAttrs", id=second))["custom-sy-av-view"] == view


async def test_a_view_of_no_layout_is_kept_as_it_is_called(av: Databases) -> None:
    workspace = av.kernel.workspace
    change_layout(workspace, set_at_once(workspace), av.block, AV, "odd")
    assert (await av.stored())["views"][0]["type"] == "odd"


async def test_views_are_not_added_or_copied_without_what_they_need(av: Databases) -> None:
    await av.operate("addAttrViewView", id=ITEMS[0], layout="", blockID=GONE)
    assert len((await av.stored())["views"]) == 1
    assert av.refusal("duplicateAttrViewView", previousID="gone", id=ITEMS[0]) is not None
    view = (await av.show())["viewID"]
    assert av.refusal("duplicateAttrViewView", previousID=view, id=ITEMS[0], blockID=GONE) is not None
    await av.operate("sortAttrViewView", id=view, previousID=view)
    await av.operate("setAttrViewBlockView", id=view)
    await av.operate("setAttrViewBlockView", id=view)
    av.rewrite(lambda data: data.update(views=[]))
    await av.operate("addAttrViewView", id=ITEMS[0], layout="table")
    assert not (await av.stored())["views"]
