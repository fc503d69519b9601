"""Keys of a database: placing, copying, retyping, ordering and removing them; their options."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views.columns import change_option, remove_key, set_options, update_key
from kernel.workspace.views.database import ViewError
from kernel.workspace.views.moments import Broken
from tests.workspace.views.world import (
    AV,
    ITEMS,
    OTHER,
    Databases,
    cell,
    chosen,
    filled,
    grouped,
    key_id,
    number,
    related,
    roll_up,
    said,
)


async def names(av: Databases, database: str = AV) -> list[str]:
    """The names of the keys, in the order of the file."""
    return [one["key"]["name"] for one in (await av.stored(database))["keyValues"]]


async def fields(av: Databases) -> list[str]:
    view = (await av.show())["view"]
    return [one["name"] for one in view.get("columns") or view["fields"]]


# --- adding and copying ----------------------------------------------------------------------------------------------
async def test_a_key_of_no_type_is_not_added(av: Databases) -> None:
    await av.key("odd")
    assert await names(av) == ["Primary Key", "Select"]


async def test_a_field_is_first_in_tables_and_last_in_cards(av: Databases) -> None:
    await av.key("text")
    assert await fields(av) == ["text", "Primary Key", "Select"]
    await av.operate("addAttrViewView", id=ITEMS[0], layout="gallery")
    await av.key("number")
    assert await fields(av) == ["text", "Primary Key", "Select", "number"]
    await av.key("url", previous=key_id("text"))
    await av.key("email", previous="gone")
    assert await fields(av) == ["text", "url", "Primary Key", "Select", "number", "email"]


async def test_an_operation_adds_a_key_with_an_icon_or_without(av: Databases) -> None:
    for kind, icon in (("text", "1f600"), ("number", None)):
        await av.operate("addAttrViewCol", id=key_id(kind), name=kind, type=kind, data=icon, previousID="")
    keys = {one["key"]["name"]: one["key"]["icon"] for one in (await av.stored())["keyValues"]}
    assert (keys["text"], keys["number"]) == ("1f600", "")
    refusal = av.refusal("addAttrViewCol", id=key_id("url"), name="u", type="url", data=5)
    assert refusal is not None
    assert "url" not in await names(av)


async def test_primary_keys_and_relations_are_not_copied(av: Databases) -> None:
    await related(av)
    before = await names(av)
    for key in (await av.primary(), key_id("relation"), "gone"):
        await av.operate("duplicateAttrViewKey", keyID=key, nextID=key_id("copy"))
    assert await names(av) == before


async def test_a_copy_is_placed_in_the_views_that_show_the_original(av: Databases) -> None:
    await av.key("text")
    first = (await av.show())["viewID"]
    await av.operate("addAttrViewView", id=ITEMS[0], layout="table")
    av.rewrite(lambda data: data["views"][1]["table"].update(columns=data["views"][1]["table"]["columns"][1:]))
    await av.operate("duplicateAttrViewKey", keyID=key_id("text"), nextID=key_id("copy"))
    assert await fields(av) == ["Primary Key", "Select"]
    await av.operate("setAttrViewBlockView", id=first)
    assert await fields(av) == ["text", "text (1)", "Primary Key", "Select"]


# --- types -----------------------------------------------------------------------------------------------------------
async def test_values_keep_what_they_hold_when_their_key_has_another_type(av: Databases) -> None:
    column = await filled(av, "number", number(5))
    await grouped(av, column)
    await av.operate("updateAttrViewCol", id=column, name="Text", type="text")
    value = (await av.values(column))[ITEMS[0]]
    assert (value["type"], value["number"]["content"]) == ("text", 5)
    view = (await av.show())["view"]
    assert view["group"] is None
    await av.operate("updateAttrViewCol", id=column, name="Same", type="text")
    await av.operate("updateAttrViewCol", id=column, name="Odd", type="odd")
    assert (await av.field(column))["name"] == "Same"


async def test_primary_keys_stay_primary_and_no_other_becomes_one(av: Databases) -> None:
    await av.key("text")
    workspace, primary = av.kernel.workspace, await av.primary()
    with pytest.raises(ViewError, match="cannot change type of primary key field"):
        update_key(workspace, AV, primary, "x", "text")
    with pytest.raises(ViewError, match="cannot change field type to primary key"):
        update_key(workspace, AV, key_id("text"), "x", "block")


async def test_a_rollup_elsewhere_of_a_key_with_another_type_holds_nothing_any_more(av: Databases) -> None:
    await related(av, is_two_way=False)
    await av.key("rollup")
    await roll_up(av, key_id("number"), "Sum")
    assert said(await cell(av, ITEMS[0], key_id("rollup"))) == ["7"]

    def store(data: dict[str, Any]) -> None:
        value = {"keyID": key_id("rollup"), "type": "rollup", "id": ITEMS[2]}
        column = next(one for one in data["keyValues"] if one["key"]["id"] == key_id("rollup"))
        column["values"] = [
            {**value, "blockID": ITEMS[0], "rollup": {"contents": [{"type": "number", **number(7)}]}},
            {**value, "blockID": ITEMS[1]},
        ]

    av.rewrite(store)
    await av.operate("updateAttrViewCol", avID=OTHER, id=key_id("number"), name="number", type="text")
    key = next(one["key"] for one in (await av.stored())["keyValues"] if one["key"]["id"] == key_id("rollup"))
    assert key["rollup"]["calc"]["operator"] == ""
    assert (await av.values(key_id("rollup")))[ITEMS[0]]["rollup"]["contents"] is None
    await av.key("text", database=OTHER)
    await roll_up(av, key_id("text"), "Count all")
    remove_key(av.kernel.workspace, OTHER, key_id("number"), removes_back=False)
    key = next(one["key"] for one in (await av.stored())["keyValues"] if one["key"]["id"] == key_id("rollup"))
    assert key["rollup"]["calc"]["operator"] == "Count all", "a rollup of another key stays"
    av.kernel.workspace.files.remove(f"data/storage/av/{AV}.json")
    remove_key(av.kernel.workspace, OTHER, key_id("text"), removes_back=False)
    assert await names(av, OTHER) == ["Primary Key", "Select"]


async def test_a_rollup_elsewhere_of_a_key_that_is_removed_keeps_its_calculation(av: Databases) -> None:
    await related(av, is_two_way=False)
    await av.key("rollup")
    await roll_up(av, key_id("number"), "Sum")
    await av.operate("removeAttrViewCol", avID=OTHER, id=key_id("number"), removeDest=False)
    key = next(one["key"] for one in (await av.stored())["keyValues"] if one["key"]["id"] == key_id("rollup"))
    assert key["rollup"]["calc"]["operator"] == "Sum"
    assert said(await cell(av, ITEMS[0], key_id("rollup"))) == []


# --- removing relations ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("removes_back", [True, False])
async def test_the_other_side_of_a_relation_goes_too_or_stays_alone(av: Databases, removes_back: bool) -> None:
    await related(av)
    arguments = {"avID": AV, "keyID": key_id("relation"), "removeRelationDest": removes_back}
    await av.kernel.call("av/removeAttributeViewKey", **arguments)
    assert ("Back" in await names(av, OTHER)) is not removes_back
    if not removes_back:
        keys = [one["key"] for one in (await av.stored(OTHER))["keyValues"]]
        back = next(key for key in keys if key["name"] == "Back")
        assert back["relation"] == {"avID": AV, "isTwoWay": False, "backKeyID": ""}


async def test_a_relation_with_its_own_database_is_parted_within_it(av: Databases) -> None:
    await av.add("one")
    way = {"isTwoWay": True, "backRelationKeyID": key_id("back"), "name": "Back", "format": "Forth"}
    await av.operate("updateAttrViewColRelation", id=AV, keyID=await av.key("relation"), **way)
    await av.operate("removeAttrViewCol", id=key_id("relation"), removeDest=False)
    keys = [one["key"] for one in (await av.stored())["keyValues"]]
    assert [key["name"] for key in keys] == ["Primary Key", "Select", "Back"]
    assert keys[-1]["relation"]["isTwoWay"] is False


async def test_the_other_side_is_left_alone_where_it_is_gone_or_leads_elsewhere(av: Databases) -> None:
    await related(av)

    def lead_away(data: dict[str, Any]) -> None:
        for column in data["keyValues"]:
            if column["key"]["id"] == key_id("back"):
                column["key"]["relation"]["isTwoWay"] = False

    av.rewrite(lead_away, OTHER)
    await av.operate("removeAttrViewCol", id=key_id("relation"), removeDest=True)
    assert "Back" not in await names(av, OTHER)


async def test_a_relation_to_a_database_that_is_gone_is_removed_alone(av: Databases) -> None:
    await related(av)
    av.kernel.workspace.files.remove(f"data/storage/av/{OTHER}.json")
    await av.operate("removeAttrViewCol", id=key_id("relation"), removeDest=True)
    assert "Relation" not in await names(av)


async def test_of_two_relations_to_a_database_one_keeps_it_referred_to(av: Databases) -> None:
    await related(av)
    for kind, back in (("text", "backtwo"),):
        await av.key(kind)
        await av.operate("updateAttrViewCol", id=key_id(kind), name="Second", type="relation")
        way = {"isTwoWay": True, "backRelationKeyID": key_id(back), "name": "Back two", "format": "Second"}
        await av.operate("updateAttrViewColRelation", id=OTHER, keyID=key_id(kind), **way)
    await av.kernel.call(
        "av/setAttributeViewBlockAttr",
        avID=AV,
        keyID=key_id("text"),
        itemID=ITEMS[0],
        value={"relation": {"blockIDs": ITEMS[:1]}},
    )
    await av.operate("removeAttrViewCol", id=key_id("relation"), removeDest=True)
    links = await av.kernel.call("av/getAttributeViewBacklinks", avID=OTHER, itemID=ITEMS[0])
    assert [one["title"] for one in links["items"]] == ["one"]


# --- order -----------------------------------------------------------------------------------------------------------
async def test_keys_and_fields_stay_where_they_are_when_nothing_can_be_moved(av: Databases) -> None:
    await av.key("text")
    shown, order = await fields(av), (await av.stored())["keyIDs"]
    for action in ("sortAttrViewKey", "sortAttrViewCol"):
        await av.operate(action, id=key_id("text"), previousID=key_id("text"))
        await av.operate(action, id="gone", previousID="")
    assert await fields(av) == shown
    assert (await av.stored())["keyIDs"] == order
    primary = await av.primary()
    for action in ("sortAttrViewKey", "sortAttrViewCol"):
        await av.operate(action, id=primary, previousID="")
    assert await fields(av) == ["Primary Key", "text", "Select"]
    assert (await av.stored())["keyIDs"][0] == primary
    await av.operate("sortAttrViewKey", id=primary, previousID=key_id("text"))
    assert (await av.stored())["keyIDs"][-1] == primary


# --- options -----------------------------------------------------------------------------------------------------------
async def options(av: Databases, column: str) -> list[tuple[str, str, str]]:
    return [(one["name"], one["color"], one["desc"]) for one in (await av.field(column)).get("options", ())]


async def test_options_are_added_coloured_and_ordered(av: Databases) -> None:
    column = await filled(av, "mSelect", chosen("a"))
    await av.operate(
        "updateAttrViewColOptions", id=column, data=[{"name": "b", "color": "5"}, {"name": "a", "color": "7"}]
    )
    assert await options(av, column) == [("a", "7", ""), ("b", "5", "")]
    await av.operate(
        "updateAttrViewColOptions", id=column, data=[{"name": "b", "color": "5", "desc": "d"}, {"name": "a"}]
    )
    assert await options(av, column) == [("b", "5", "d"), ("a", "", "")]
    for nothing in ([], [{"name": ""}], None):
        await av.operate("updateAttrViewColOptions", id=column, data=nothing)
    await av.operate("updateAttrViewColOptions", id="gone", data=[{"name": "z"}])
    assert len(await options(av, column)) == 2
    with pytest.raises(ViewError, match="cannot unmarshal"):
        set_options(av.kernel.workspace, AV, column, "b")


async def test_an_option_goes_from_the_values_that_have_it(av: Databases) -> None:
    column = await filled(av, "mSelect", chosen("a", "b"), chosen("b"))
    await av.put("mSelect", ITEMS[2], {"mSelect": None})
    await av.operate("removeAttrViewColOption", id=column, data="a")
    assert [said(value) for value in (await av.values(column)).values()] == [["b"], ["b"], None]
    assert av.refusal("removeAttrViewColOption", id=column, data=5) is not None
    assert await options(av, column) == [("b", "2", "")]


@pytest.mark.parametrize(
    ("change", "kept", "values"),
    [
        ({"oldName": "a", "newName": "c", "newColor": "9"}, [("c", "9", "d"), ("b", "2", "")], [["c", "b"], ["b"]]),
        ({"oldName": "a", "newName": "a", "newColor": "9"}, [("a", "9", "d"), ("b", "2", "")], [["a", "b"], ["b"]]),
        ({"oldName": "a", "newName": "b", "newColor": "9"}, [("a", "1", ""), ("b", "2", "")], [["b"], ["b"]]),
        ({"oldName": "z", "newName": "y", "newColor": "9"}, [("a", "1", ""), ("b", "2", "")], [["a", "b"], ["b"]]),
    ],
)
async def test_an_option_is_renamed_wherever_it_stands(
    av: Databases, change: dict[str, str], kept: list[Any], values: list[list[str]]
) -> None:
    column = await filled(av, "mSelect", chosen("a", "b"), chosen("b"))
    await av.put("mSelect", ITEMS[1], {"mSelect": [{"content": "b", "color": "2"}]})
    await av.operate("updateAttrViewColOption", id=column, data={"newDesc": "d", **change})
    assert await options(av, column) == kept
    assert [said(value) for value in (await av.values(column)).values()] == values


@pytest.mark.parametrize(
    "given", ["a", {"oldName": "a"}, {"oldName": "a", "newName": 5, "newDesc": "", "newColor": ""}]
)
async def test_a_change_of_an_option_of_another_form_is_no_change(av: Databases, given: Any) -> None:
    column = await filled(av, "mSelect", chosen("a"))
    with pytest.raises(Broken):
        change_option(av.kernel.workspace, AV, column, given)
    assert await options(av, column) == [("a", "1", "")]
    assert said((await av.values(column))[ITEMS[0]]) == ["a"]
