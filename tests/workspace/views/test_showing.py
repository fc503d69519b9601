"""Views of databases over the API: filters, sorts, groups, calculations, relations, layouts, what is looked for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kernel.workspace.views.moments import unix_ms
from tests.workspace.views.world import (
    AV,
    ITEMS,
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
)

DAY = timedelta(days=1)


# --- filters -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("operator", "wanted", "passing"),
    [
        ("=", 2, ["two"]),
        ("!=", 2, ["one", "three"]),
        (">", 1, ["two"]),
        (">=", 1, ["one", "two"]),
        ("<", 2, ["one", "three"]),
        ("<=", 1, ["one", "three"]),
        ("Is empty", None, ["three"]),
        ("Is not empty", None, ["one", "two"]),
        ("Contains", 1, []),
    ],
)
async def test_numbers_are_filtered(av: Databases, operator: str, wanted: float | None, passing: list[str]) -> None:
    column = await filled(av, "number", number(1), number(2))
    value = {"type": "number", "number": {"content": wanted or 0, "isNotEmpty": wanted is not None}}
    assert await filter_by(av, {"column": column, "operator": operator, "value": value}) == passing


@pytest.mark.parametrize(
    ("operator", "wanted", "passing"),
    [
        ("=", "ALPHA", ["one"]),
        ("!=", "alpha", ["two", "three"]),
        ("Contains", "PH", ["one"]),
        ("Does not contains", "ph", ["two", "three"]),
        ("Starts with", "be", ["two"]),
        ("Ends with", "ta", ["two"]),
        ("=", " ", ["one", "two", "three"]),
        ("Is empty", "", ["three"]),
        ("no operator", "x", []),
    ],
)
async def test_texts_are_filtered_whatever_their_case(
    av: Databases, operator: str, wanted: str, passing: list[str]
) -> None:
    column = await filled(av, "text", {"text": {"content": "alpha"}}, {"text": {"content": "beta"}})
    value = {"type": "text", "text": {"content": wanted}}
    assert await filter_by(av, {"column": column, "operator": operator, "value": value}) == passing


@pytest.mark.parametrize(
    ("operator", "passing"),
    [("=", ["one"]), ("Contains", ["one"]), ("!=", ["two", "three"]), ("Does not contains", ["two", "three"])],
)
async def test_options_are_filtered(av: Databases, operator: str, passing: list[str]) -> None:
    column = await filled(av, "mSelect", chosen("red", "blue"), chosen("green"))
    condition = {"column": column, "operator": operator, "value": {"type": "mSelect", **chosen("blue")}}
    assert await filter_by(av, condition) == passing


@pytest.mark.parametrize(
    ("operator", "passing"),
    [("Is true", ["one"]), ("Is false", ["two", "three"]), ("=", ["one"]), ("!=", ["two", "three"]), (">", [])],
)
async def test_boxes_are_filtered(av: Databases, operator: str, passing: list[str]) -> None:
    column = await filled(av, "checkbox", {"checkbox": {"checked": True}}, {"checkbox": {"checked": False}})
    value = {"type": "checkbox", "checkbox": {"checked": operator != "Is false"}}
    assert await filter_by(av, {"column": column, "operator": operator, "value": value}) == passing


async def test_dates_are_filtered_by_days_and_by_today(av: Databases) -> None:
    now = av.kernel.clock.local()
    column = await filled(av, "date", date(now), date(now - 3 * DAY))
    today = {"count": 1, "unit": 0, "direction": 0}
    empty = {"type": "date", "date": {"content": 0}}
    assert await filter_by(av, {"column": column, "operator": "=", "value": empty, "relativeDate": today}) == ["one"]
    before = {"type": "date", "date": {"content": unix_ms(now - DAY), "isNotEmpty": True}}
    assert await filter_by(av, {"column": column, "operator": "<", "value": before}) == ["two"]
    assert await filter_by(av, {"column": column, "operator": "<", "value": empty}) == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("quantifier", "operator", "passing"),
    [
        ("", "Contains", ["one"]),
        ("All", "Contains", ["three"]),
        ("None", "Contains", ["two", "three"]),
        ("Any", "Is empty", ["three"]),
        ("All", "Is not empty", ["one", "two"]),
        ("None", "Is empty", ["one", "two"]),
        ("None", "Is not empty", ["three"]),
    ],
)
async def test_assets_are_filtered_by_how_many_fit(
    av: Databases, quantifier: str, operator: str, passing: list[str]
) -> None:
    def asset(name: str) -> dict[str, Any]:
        return {"type": "file", "name": name, "content": f"assets/{name}"}

    column = await filled(av, "mAsset", {"mAsset": [asset("a.pdf"), asset("b.txt")]}, {"mAsset": [asset("c.txt")]})
    value = {"type": "mAsset", "mAsset": [{"type": "file", "name": "", "content": "pdf"}]}
    condition = {"column": column, "quantifier": quantifier, "operator": operator, "value": value}
    assert await filter_by(av, condition) == passing


async def test_groups_of_conditions_are_joined_by_and_or_or(av: Databases) -> None:
    column = await filled(av, "number", number(1), number(2), number(3))
    conditions = [
        {"column": column, "operator": "=", "value": {"type": "number", "number": {"content": one, "isNotEmpty": True}}}
        for one in (1, 3)
    ]
    assert await filter_by(av, *conditions, combination="or") == ["one", "three"]
    assert await filter_by(av, *conditions) == []
    assert await filter_by(av, combination="or") == ["one", "two", "three"], "an empty root is mended"
    unsaid = {"column": column, "operator": "="}
    other = {"column": column, "operator": "=", "value": {"type": "text", "text": {"content": "x"}}}
    assert await filter_by(av, unsaid, other) == ["one", "two", "three"], "unsaid, or of a former type"
    assert (await av.kernel.call("av/getAttributeViewFilterSort", id=AV, blockID=av.block))["filters"][0]["filters"]
    deep: dict[str, Any] = conditions[0]
    for _ in range(5):
        deep = {"combination": "and", "filters": [deep]}
    too_deep = {"avID": AV, "blockID": av.block, "data": [deep]}
    assert "nesting depth" in await av.kernel.refusal("av/setAttrViewFilters", **too_deep)


async def test_a_filter_gives_new_items_what_it_wants(av: Databases) -> None:
    column = await filled(av, "number", number(1), number(2))
    wanted = {"type": "number", "number": {"content": 5, "isNotEmpty": True}}
    assert await filter_by(av, {"column": column, "operator": ">", "value": wanted}) == []
    values = (await av.kernel.call("av/getAttributeViewAddingBlockDefaultValues", avID=AV))["values"]
    assert values[column]["number"]["content"] == 6
    made = await av.kernel.call("av/createAttributeViewItem", avID=AV, blockID=av.block)
    assert made["isDetached"]
    assert [row["id"] for row in (await av.show())["view"]["rows"]] == [made["itemID"]]


# --- sorts -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", [number(2), number(1), number(3)]),
        ("text", [{"text": {"content": one}} for one in ("m", "b", "z")]),
        ("url", [{"url": {"content": one}} for one in ("m", "b", "z")]),
        ("mAsset", [{"mAsset": [{"type": "file", "name": "", "content": one}]} for one in ("m", "b", "z")]),
    ],
)
async def test_items_are_sorted_both_ways_and_those_without_a_value_last(
    av: Databases, kind: str, values: list[Any]
) -> None:
    column = await filled(av, kind, *values)
    fourth = {"itemID": "20240101000000-item004", "isDetached": True, "content": "four"}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[fourth])

    async def sort(order: str) -> list[str]:
        rule = [{"column": column, "order": order}]
        await av.kernel.call("av/setAttrViewSorts", avID=AV, blockID=av.block, data=rule)
        return await av.rows()

    assert await sort("ASC") == ["two", "one", "three", "four"]
    assert await sort("DESC") == ["three", "one", "two", "four"]


async def test_options_are_sorted_in_the_order_of_the_key(av: Databases) -> None:
    column = await filled(av, "select", chosen("z"), chosen("a"), chosen("m"))
    await av.kernel.call("av/setAttrViewSorts", avID=AV, blockID=av.block, data=[{"column": column, "order": "ASC"}])
    assert await av.rows() == ["one", "two", "three"]


# --- calculations --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("operator", "result"),
    [
        ("Count all", "3"),
        ("Count values", "2"),
        ("Count unique values", "2"),
        ("Count empty", "1"),
        ("Count not empty", "2"),
        ("Percent empty", "33.33%"),
        ("Percent not empty", "66.67%"),
        ("Percent unique values", "66.67%"),
        ("Sum", "7"),
        ("Average", "3.5"),
        ("Median", "3.5"),
        ("Min", "2"),
        ("Max", "5"),
        ("Range", "3"),
    ],
)
async def test_numbers_are_calculated(av: Databases, operator: str, result: str) -> None:
    column = await filled(av, "number", number(2), number(5))
    await av.operate("setAttrViewColCalc", id=column, data={"operator": operator})
    assert (await av.field(column))["calc"]["result"]["number"]["formattedContent"] == result


async def test_boxes_options_and_dates_are_calculated(av: Databases) -> None:
    now = av.kernel.clock.local()
    box = await filled(av, "checkbox", {"checkbox": {"checked": True}})
    options, when = await av.key("mSelect"), await av.key("date")
    await av.put("mSelect", ITEMS[0], chosen("a", "b"))
    for item, day in ((ITEMS[0], now), (ITEMS[1], now - 2 * DAY)):
        await av.put("date", item, date(day))

    async def result(column: str, operator: str) -> dict[str, Any]:
        await av.operate("setAttrViewColCalc", id=column, data={"operator": operator})
        return dict((await av.field(column))["calc"]["result"])

    assert (await result(box, "Checked"))["number"]["content"] == 1
    assert (await result(box, "Unchecked"))["number"]["content"] == 2
    assert (await result(box, "Percent checked"))["number"]["formattedContent"] == "33.33%"
    assert (await result(options, "Count values"))["number"]["content"] == 2
    assert (await result(when, "Earliest"))["date"]["content"] == unix_ms(now - 2 * DAY)
    assert (await result(when, "Latest"))["date"]["content"] == unix_ms(now)
    assert (await result(when, "Range"))["date"]["formattedContent"] == "2 days"


# --- groups --------------------------------------------------------------------------------------------------------------
async def test_items_are_grouped_by_their_options_in_the_order_of_the_key(av: Databases) -> None:
    column = await filled(av, "select", chosen("z"), chosen("a"))
    assert await grouped(av, column) == {"z": ["1"], "a": ["2"], "Field [select] is empty": ["3"]}
    view = (await av.show())["view"]
    assert (view["rows"], view["rowCount"]) == ([], 3)
    source = {"itemID": "20240101000000-item004", "isDetached": True, "content": "four"}
    await av.kernel.call("av/addAttributeViewBlocks", avID=AV, srcs=[source], groupID=view["groups"][1]["id"])
    assert by_group((await av.show())["view"])["a"] == ["4", "2"]
    moved = {"id": ITEMS[0], "groupID": view["groups"][0]["id"], "targetGroupID": view["groups"][1]["id"]}
    await av.operate("sortAttrViewRow", **moved)
    assert by_group((await av.show())["view"])["a"] == ["1", "4", "2"]
    await av.operate("removeAttrViewGroup")
    assert "groups" not in (await av.show())["view"]


async def test_items_are_grouped_by_ranges_of_numbers(av: Databases) -> None:
    column = await filled(av, "number", number(5), number(15), number(99))
    span = {"numStart": 0, "numEnd": 20, "numStep": 10}
    groups = await grouped(av, column, method=1, range=span)
    assert groups == {"0 - 10": ["1"], "10 - 20": ["2"], "Out of range": ["3"], "Field [number] is empty": []}


@pytest.mark.parametrize(
    ("method", "names"),
    [
        (2, ["2026-01", "Yesterday", "Today", "Field [date] is empty"]),
        (3, ["2026-01-01", "2026-02-28", "2026-03-01", "Field [date] is empty"]),
        (4, ["2026-W01", "2026-W09", "Field [date] is empty"]),
        (5, ["2026-01", "2026-02", "2026-03", "Field [date] is empty"]),
        (6, ["2026", "Field [date] is empty"]),
    ],
)
async def test_items_are_grouped_by_dates(av: Databases, method: int, names: list[str]) -> None:
    now = av.kernel.clock.local()
    column = await filled(av, "date", date(now), date(now - DAY), date(now.replace(month=1)))
    assert list(await grouped(av, column, method=method)) == names
    assert list(await grouped(av, column, method=method, order=1)) == [*reversed(names[:-1]), names[-1]]


async def test_items_are_grouped_by_boxes_ticked_ones_first(av: Databases) -> None:
    column = await filled(av, "checkbox", {"checkbox": {"checked": True}}, {"checkbox": {"checked": False}})
    groups = await grouped(av, column)
    assert list(groups.values()) == [["1"], ["2", "3"]]


async def test_groups_are_folded_hidden_sorted_and_stay_so(av: Databases) -> None:
    column = await filled(av, "text", {"text": {"content": "b"}}, {"text": {"content": "a"}})
    await grouped(av, column, hideEmpty=True)
    groups = (await av.show())["view"]["groups"]
    assert [one["name"] for one in groups] == ["a", "b", "Field [text] is empty"]
    await av.operate("foldAttrViewGroup", id=groups[0]["id"], data=True)
    await av.operate("hideAttrViewGroup", id=groups[1]["id"], data=2)
    await av.operate("sortAttrViewGroup", id=groups[1]["id"], previousID="")
    again = (await av.show())["view"]["groups"]
    assert [(one["name"], one["groupFolded"], one["groupHidden"]) for one in again][:2] == [
        ("b", False, 2),
        ("a", True, 0),
    ]
    await av.operate("hideAttrViewAllGroups", data=False)
    assert {one["groupHidden"] for one in (await av.show())["view"]["groups"]} == {0}


# --- what is looked for ------------------------------------------------------------------------------------------------------
async def test_an_item_that_is_looked_for_is_shown_with_its_place(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"), chosen("b"))
    found = (await av.show(targetItemID=ITEMS[1], pageSize=1))["target"]
    assert found == {"status": "visible", "itemID": ITEMS[1], "index": 1, "offset": 0, "pageSize": 50}
    assert (await av.show(targetItemID="20200101000000-zzzzzzz"))["target"]["status"] == "itemNotFound"
    assert (await av.show(targetItemID=ITEMS[1], viewID="x"))["target"]["status"] == "viewNotFound"
    await grouped(av, column)
    target = await av.show(targetItemID=ITEMS[1])
    assert target["target"]["groupID"] == target["view"]["groups"][1]["id"]
    condition = {"column": column, "operator": "=", "value": {"type": "select", **chosen("a")}}
    await filter_by(av, condition)
    assert (await av.show(targetItemID=ITEMS[1]))["target"]["status"] == "filtered"


async def test_pictures_in_shown_fields_are_listed(av: Databases) -> None:
    picture = {"type": "image", "name": "", "content": "assets/a.png"}
    await filled(av, "mAsset", {"mAsset": [picture, {**picture, "type": "file"}]})
    assert await av.kernel.call("av/getCurrentAttrViewImages", id=AV) == ["assets/a.png"]


async def test_templates_for_new_items_give_them_values(av: Databases) -> None:
    await av.key("number")
    await av.key("date")
    template = {
        "id": ITEMS[2],
        "name": " T ",
        "targetType": "detached",
        "primaryKeyTemplate": "fresh",
        "fieldValues": {
            key_id("number"): {"mode": "static", "value": {"type": "number", **number(7)}},
            key_id("date"): {"mode": "currentTime"},
        },
    }
    await av.operate("setAttrViewNewItemTemplates", data={"templates": [template], "defaultTemplateID": ITEMS[2]})
    assert (await av.show())["defaultTemplateID"] == ITEMS[2]
    made = await av.kernel.call("av/createAttributeViewItem", avID=AV, blockID=av.block, templateID=ITEMS[2])
    assert made["content"] == "fresh"
    assert (await cell(av, made["itemID"], key_id("number")))["number"]["content"] == 7
    assert (await cell(av, made["itemID"], key_id("date")))["date"]["content"] == av.kernel.clock.wall_ms()
    unknown = {"avID": AV, "blockID": av.block, "templateID": ITEMS[0]}
    assert "not found" in await av.kernel.refusal("av/createAttributeViewItem", **unknown)
