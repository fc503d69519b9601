"""Adding items, copying and removing them, and exchanging the blocks they stand for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kernel.workspace.views.binding import set_at_once
from kernel.workspace.views.database import ViewError
from kernel.workspace.views.items import Where, add_items, append_with_values, duplicate_item, read_value
from kernel.workspace.views.moments import Broken
from tests.workspace.views.world import (
    AV,
    ITEMS,
    OTHER,
    Databases,
    by_group,
    cell,
    chosen,
    date,
    filled,
    filter_by,
    grouped,
    key_id,
    number,
    related,
    said,
    text,
)

FOURTH = "20240101000000-item004"


def detached(item: str = FOURTH, **more: Any) -> dict[str, Any]:
    return {"itemID": item, "isDetached": True, "content": "four", **more}


async def add(av: Databases, *sources: dict[str, Any], **place: Any) -> None:
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=list(sources), **place)


# --- adding ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "source",
    [
        {},
        {"isDetached": "no"},
        {"isDetached": True, "content": 5},
        {"isDetached": True, "itemID": 5},
        {"isDetached": False},
    ],
)
async def test_a_source_of_another_form_adds_nothing(av: Databases, source: dict[str, Any]) -> None:
    workspace = av.kernel.workspace
    with pytest.raises(Broken):
        add_items(workspace, set_at_once(workspace), AV, [source], Where())
    assert await av.rows() == []


async def test_a_source_that_names_no_block_is_left_out(av: Databases) -> None:
    await add(av, {"isDetached": False, "id": "bad", "itemID": ITEMS[0]}, detached())
    assert await av.rows() == ["four"]
    await add(av, {"isDetached": True, "itemID": "", "content": None})
    assert sorted(await av.rows()) == ["", "four"]


async def test_items_go_into_the_view_that_is_named(av: Databases) -> None:
    first = (await av.show())["viewID"]
    column = await filled(av, "text")
    await filter_by(av, {"column": column, "operator": "=", "value": {"type": "text", **text("mine")}})
    await av.operate("addAttrViewView", id=ITEMS[1], layout="table")
    await add(av, detached(), blockID=av.block)
    assert (await av.values(column)).get(FOURTH) is None
    await add(av, detached("20240101000000-item005"), blockID=av.block, viewID=first)
    assert said((await av.values(column))["20240101000000-item005"]) == "mine"
    unknown = {"avID": AV, "srcs": [detached("20240101000000-item006")], "viewID": "gone"}
    assert await av.kernel.refusal("av/addAttributeViewBlocks", **unknown) == "view not found"


async def test_what_the_filter_wants_may_be_left_aside(av: Databases) -> None:
    column = await filled(av, "text")
    await filter_by(av, {"column": column, "operator": "=", "value": {"type": "text", **text("mine")}})
    await add(av, detached(), ignoreDefaultFill=True)
    assert FOURTH not in await av.values(column)
    assert await av.rows() == []


async def test_a_group_that_is_not_there_takes_no_item(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"))
    await grouped(av, column)
    workspace = av.kernel.workspace
    with pytest.raises(Broken, match="no group"):
        add_items(workspace, set_at_once(workspace), AV, [detached()], Where(group_id="gone"))


async def test_a_database_without_a_primary_key_takes_no_item(av: Databases) -> None:
    workspace = av.kernel.workspace
    av.rewrite(lambda data: data.update(keyValues=[one for one in data["keyValues"] if one["key"]["type"] != "block"]))
    with pytest.raises(Broken, match="without a primary key"):
        add_items(workspace, set_at_once(workspace), AV, [detached()], Where())


async def test_dates_of_a_new_item_are_filled_with_the_present(av: Databases) -> None:
    column = await av.key("date")
    await av.operate("setAttrViewColDateFillCreated", id=column, data=True)
    await filter_by(
        av,
        {
            "column": column,
            "operator": "=",
            "value": {"type": "date", **date(av.kernel.clock.local() - timedelta(days=3))},
        },
    )
    await add(av, detached())
    value = (await av.values(column))[FOURTH]["date"]
    assert abs(value["content"] - av.kernel.clock.wall_ms()) < 60_000
    assert value["isNotTime"] is False
    await filter_by(av)
    await add(av, detached("20240101000000-item005"))
    value = (await av.values(column))["20240101000000-item005"]
    assert abs(value["date"]["content"] - av.kernel.clock.wall_ms()) < 60_000
    assert (value["date"]["isNotTime"], value["date"]["isNotEmpty"]) == (True, True)


async def test_dates_are_filled_with_the_present_even_where_the_filter_is_left_aside(av: Databases) -> None:
    column = await av.key("date")
    await av.operate("setAttrViewColDateFillCreated", id=column, data=True)
    await add(av, detached(), ignoreDefaultFill=True)
    value = (await av.values(column))[FOURTH]
    assert abs(value["date"]["content"] - av.kernel.clock.wall_ms()) < 60_000
    assert value["isDetached"]


async def test_items_that_are_related_to_each_other_go_one_by_one(av: Databases) -> None:
    await av.add("one", "two")
    await av.operate("updateAttrViewColRelation", id=AV, keyID=await av.key("relation"), isTwoWay=False, format="R")
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[1:2]}})
    await av.kernel.call("av/removeAttributeViewBlocks", avID=AV, srcIDs=ITEMS[:1])
    assert await av.rows() == ["two"]


async def test_an_empty_choice_takes_the_option_that_names_the_group(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"))
    other = await av.key("mSelect")
    await av.put("mSelect", ITEMS[0], chosen("a"))
    await grouped(av, column)
    group = (await av.show())["view"]["groups"][0]["id"]
    await filter_by_nothing(av, other)
    await add(av, detached(), blockID=av.block, groupID=group)
    assert said((await av.values(other))[FOURTH]) == ["a"]
    await av.operate("removeAttrViewColOption", id=other, data="a")
    await filter_by_nothing(av, other)
    await add(av, detached("20240101000000-item005"), blockID=av.block, groupID=group)
    assert not said((await av.values(other)).get("20240101000000-item005"))


async def filter_by_nothing(av: Databases, column: str) -> None:
    root = {"combination": "and", "filters": [{"column": column, "operator": "Is empty", "value": {"type": "mSelect"}}]}
    await av.kernel.call("av/setAttrViewFilters", avID=AV, blockID=av.block, data=[root])


async def test_a_relation_that_a_new_item_takes_over_is_known_on_both_sides(av: Databases) -> None:
    await related(av)
    wanted = {"type": "relation", "relation": {"blockIDs": ["x"]}}
    root = {
        "combination": "and",
        "filters": [{"column": key_id("relation"), "operator": "Is not empty", "value": wanted}],
    }
    await av.kernel.call("av/setAttrViewFilters", avID=AV, blockID=av.block, data=[root])
    await add(av, detached(), blockID=av.block)
    assert (await av.values(key_id("relation")))[FOURTH]["relation"]["blockIDs"] == ITEMS[:2]
    assert FOURTH in (await av.values(key_id("back"), OTHER))[ITEMS[0]]["relation"]["blockIDs"]


async def test_a_bound_item_keeps_the_text_of_its_block_whatever_the_filter_wants(av: Databases) -> None:
    primary = await av.primary()
    wanted = {"type": "block", "block": {"content": "fresh"}}
    await filter_by(av, {"column": primary, "operator": "=", "value": wanted})
    await av.bind(ITEMS[0], av.texts[0])
    await filter_by(av)
    assert await av.rows() == ["first text"]


async def test_rolled_up_cells_are_never_taken_over(av: Databases) -> None:
    await filled(av, "number", number(5))
    await av.operate("updateAttrViewColRelation", id=AV, keyID=await av.key("relation"), isTwoWay=False, format="R")
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:1]}})
    for kind, target in (("rollup", "number"), ("url", "rollup")):
        column = await av.key(kind)
        await av.operate("updateAttrViewCol", id=column, name=kind, type="rollup")
        place = {"parentID": key_id("relation"), "keyID": key_id(target), "data": {"calc": {"operator": ""}}}
        await av.operate("updateAttrViewColRollup", id=column, **place)
    wanted = {"type": "rollup", "rollup": {"contents": [{"type": "number", **number(5)}]}}
    assert await filter_by(av, {"column": key_id("rollup"), "operator": "=", "value": wanted}) == ["one"]
    await add(av, detached(), blockID=av.block)
    assert FOURTH not in await av.values(key_id("rollup"))


# --- with values, and copies -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("rows", [[[]], [["primary"]]])
async def test_items_without_what_an_item_needs_are_not_appended(av: Databases, rows: list[list[Any]]) -> None:
    primary = await av.primary()
    given = [[read_value({"keyID": primary}) for _ in row] for row in rows]
    with pytest.raises(Broken):
        append_with_values(av.kernel.workspace, AV, given)
    assert await av.rows() == []


async def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(ViewError, match="cannot unmarshal"):
        read_value({"keyID": 5})


async def test_an_item_is_copied_with_its_cells_and_relations(av: Databases) -> None:
    await related(av)
    for kind, value in (("number", number(5)), ("select", chosen("a")), ("created", {})):
        await av.key(kind)
        if value:
            await av.put(kind, ITEMS[0], value)
    await av.show()
    touched = duplicate_item(av.kernel.workspace, AV, ITEMS[0], ITEMS[0], FOURTH)
    assert touched == [OTHER]
    assert await av.rows() == ["one", "one", "two"]
    assert said(await cell(av, FOURTH, key_id("number"))) == "5"
    assert said((await av.values(key_id("select")))[FOURTH]) == ["a"]
    assert (await av.values(key_id("back"), OTHER))[ITEMS[0]]["relation"]["blockIDs"] == [ITEMS[0], FOURTH]
    with pytest.raises(ViewError, match=r"source row \[gone\] not found"):
        duplicate_item(av.kernel.workspace, AV, "gone", "", FOURTH)


async def test_a_copy_of_a_relation_at_home_touches_no_other_database(av: Databases) -> None:
    await av.add("one", "two")
    way = {"isTwoWay": True, "backRelationKeyID": key_id("back"), "name": "Back", "format": "Forth"}
    await av.operate("updateAttrViewColRelation", id=AV, keyID=await av.key("relation"), **way)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[1:2]}})
    assert duplicate_item(av.kernel.workspace, AV, ITEMS[0], "", FOURTH) == []
    assert said(await cell(av, ITEMS[1], key_id("back"))) == [ITEMS[0], FOURTH]
    refusal = av.refusal("duplicateAttrViewRow", srcIDs=[], previousID="")
    assert refusal is not None
    assert "source row id is empty" in refusal


# --- removing --------------------------------------------------------------------------------------------------------
async def test_relations_and_templates_elsewhere_forget_items_that_go(av: Databases) -> None:
    await related(av)
    value = {"type": "relation", "relation": {"blockIDs": ITEMS[:1]}}
    template = {
        "id": ITEMS[2],
        "name": "T",
        "targetType": "detached",
        "fieldValues": {key_id("relation"): {"mode": "static", "value": value}},
    }
    await av.operate("setAttrViewNewItemTemplates", data={"templates": [template], "defaultTemplateID": ""})
    await av.kernel.call("av/removeAttributeViewBlocks", avID=OTHER, srcIDs=ITEMS[:1])
    assert "fieldValues" not in (await av.stored())["newItemTemplates"][0]
    contents = (await cell(av, ITEMS[0], key_id("relation")))["relation"]["contents"]
    assert [one["block"]["content"] for one in contents] == ["right"]
    await av.kernel.call("av/removeAttributeViewBlocks", avID=AV, srcIDs=ITEMS[:1])
    assert ITEMS[0] not in await av.values(key_id("relation"))


async def test_items_go_although_their_block_or_the_block_that_shows_them_is_gone(av: Databases) -> None:
    await av.bind(ITEMS[0], av.texts[0])

    def lead_nowhere(data: dict[str, Any]) -> None:
        data["keyValues"][0]["values"][0]["block"]["id"] = "20200101000000-zzzzzzz"

    av.rewrite(lead_nowhere)
    await av.operate("removeAttrViewBlock", srcIDs=ITEMS[:1])
    assert await av.values(await av.primary()) == {}


# --- exchanging the block --------------------------------------------------------------------------------------------
async def test_a_block_that_stands_for_another_item_already_stays_with_it(av: Databases) -> None:
    first, second = av.texts
    await av.bind(ITEMS[0], first)
    await av.bind(ITEMS[1], second)
    done = await av.operate("replaceAttrViewBlock", previousID=ITEMS[0], nextID=second)
    assert done["retData"] == {"targetItemID": ITEMS[1], "duplicate": True}
    done = await av.operate("replaceAttrViewBlock", previousID=ITEMS[0], nextID=first)
    assert done["retData"] == {"targetItemID": ITEMS[0], "duplicate": False}
    assert sorted(await av.rows()) == ["first text", "second text"]


async def test_a_detached_item_is_given_a_block_or_one_that_is_gone(av: Databases) -> None:
    await av.add("one", "two")
    await av.operate("replaceAttrViewBlock", previousID=ITEMS[1], nextID=av.texts[0])
    assert await av.rows() == ["one", "first text"]
    await av.operate("replaceAttrViewBlock", previousID=ITEMS[0], nextID="20200101000000-zzzzzzz")
    value = (await av.values(await av.primary()))[ITEMS[0]]
    assert value["block"]["id"] == "20200101000000-zzzzzzz"
    assert value["block"]["content"] == ""


# --- moving ----------------------------------------------------------------------------------------------------------
async def test_items_are_moved_within_a_group_and_across_groups(av: Databases) -> None:
    column = await filled(av, "mSelect", chosen("a"), chosen("a"), chosen("b"))
    await grouped(av, column)
    groups = {group["name"]: group["id"] for group in (await av.show())["view"]["groups"]}
    await av.operate("sortAttrViewRow", id=ITEMS[0], previousID=ITEMS[0])
    await av.operate("sortAttrViewRow", id=ITEMS[1], previousID="", groupID=groups["a"], targetGroupID=groups["a"])
    assert by_group((await av.show())["view"])["a"] == ["2", "1"]
    await av.operate(
        "sortAttrViewRow", id=ITEMS[1], previousID=ITEMS[2], groupID=groups["a"], targetGroupID=groups["b"]
    )
    assert by_group((await av.show())["view"])["b"] == ["3", "2"]
    assert said((await av.values(column))[ITEMS[1]]) == ["b"]
    await av.operate("sortAttrViewRow", id=ITEMS[1], previousID="", groupID="gone", targetGroupID=groups["a"])
    await av.operate("sortAttrViewRow", id=ITEMS[1], previousID="", groupID=groups["b"], targetGroupID="gone")
    assert by_group((await av.show())["view"])["a"] == ["1"]


async def test_an_item_that_moves_to_another_group_joins_the_option_to_those_it_has(av: Databases) -> None:
    column = await filled(av, "mSelect", chosen("a", "c"), chosen("b"))
    await grouped(av, column)
    groups = {group["name"]: group["id"] for group in (await av.show())["view"]["groups"]}
    await av.operate("sortAttrViewRow", id=ITEMS[0], previousID="", groupID=groups["a"], targetGroupID=groups["b"])
    assert sorted(said((await av.values(column))[ITEMS[0]])) == ["b", "c"]
    await av.operate("sortAttrViewRow", id=ITEMS[0], previousID="", groupID=groups["b"], targetGroupID=groups["c"])
    assert sorted(said((await av.values(column))[ITEMS[0]])) == ["b", "c"]


async def test_texts_and_boxes_follow_the_group_they_are_moved_to(av: Databases) -> None:
    column = await filled(av, "text", text("a"), text("b"))
    await grouped(av, column)
    groups = {group["name"]: group["id"] for group in (await av.show())["view"]["groups"]}
    await av.operate("sortAttrViewRow", id=ITEMS[0], previousID="", groupID=groups["a"], targetGroupID=groups["b"])
    assert said((await av.values(column))[ITEMS[0]]) == "b"


async def test_groups_by_what_is_calculated_let_no_item_go(av: Databases) -> None:
    column = await filled(av, "template")
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data="x")
    shown = await grouped(av, column)
    groups = {group["name"]: group["id"] for group in (await av.show())["view"]["groups"]}
    await av.operate("sortAttrViewRow", id=ITEMS[0], previousID="", groupID=groups["x"], targetGroupID="gone")
    assert by_group((await av.show())["view"]) == shown
