"""What a new item holds from the start, so that the filter and the group let it be seen."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from kernel.workspace.views.moments import unix_ms
from tests.workspace.views.world import (
    AV,
    ITEMS,
    Databases,
    assets,
    chosen,
    date,
    filled,
    filter_by,
    grouped,
    key_id,
    number,
    said,
    text,
    ticked,
)

FOURTH = "20240101000000-item004"
DAY = timedelta(days=1)
SOON_MS = 60_000
TODAY = {"count": 1, "unit": 0, "direction": 0}
LAST_WEEK = {"count": 7, "unit": 0, "direction": -1}
NEXT_WEEK = {"count": 7, "unit": 0, "direction": 1}
SPAN = {"method": 1, "range": {"numStart": 0, "numEnd": 20, "numStep": 10}}


def condition(
    column: str, operator: str, kind: str, value: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    return {"column": column, "operator": operator, "value": {"type": kind, **(value or {})}, **more}


async def presets(av: Databases, *conditions: dict[str, Any], **place: str) -> dict[str, Any]:
    """Key → what an item is given."""
    if conditions:
        root = {"combination": "and", "filters": list(conditions)}
        await av.kernel.call("av/setAttrViewFilters", avID=AV, blockID=av.block, data=[root])
    answer = await av.kernel.call("av/getAttributeViewAddingBlockDefaultValues", avID=AV, **place)
    return dict(answer["values"] or {})


async def set_template(av: Databases, column: str, template: str) -> None:
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data=template)


def is_about_now(av: Databases, value: dict[str, Any]) -> bool:
    return abs(value["date"]["content"] - av.kernel.clock.wall_ms()) < SOON_MS


def midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


# --- from the filter -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "operator", "value", "given"),
    [
        ("text", "=", text("a"), "a"),
        ("text", "Contains", text("a"), "a"),
        ("text", "!=", text("a"), ""),
        ("text", "Does not contains", text("a"), ""),
        ("text", "Is empty", text("a"), ""),
        ("text", "Is not empty", text("a"), "nothing"),
        ("text", "=", text(""), "nothing"),
        ("url", "=", text("u", "url"), "u"),
        ("mSelect", "=", chosen("a", "b"), ["a"]),
        ("select", "Contains", chosen("a"), ["a"]),
        ("select", "=", {"mSelect": []}, "nothing"),
        ("select", "Is empty", chosen("a"), None),
        ("select", "Is not empty", {}, "nothing"),
        ("select", "!=", chosen("a"), "nothing"),
        ("checkbox", "Is true", ticked(False), True),
        ("checkbox", "Is false", ticked(), False),
        ("checkbox", "=", ticked(), True),
        ("mAsset", "Contains", assets("a"), "nothing"),
        ("template", "=", text("a", "template"), "nothing"),
        ("created", "=", {"created": {"content": 1, "isNotEmpty": True}}, "nothing"),
    ],
)
async def test_the_first_item_is_given_what_a_condition_asks_for(
    av: Databases, kind: str, operator: str, value: dict[str, Any], given: Any
) -> None:
    column = await av.key(kind)
    found = await presets(av, condition(column, operator, kind, value))
    assert (said(found[column]) if column in found else "nothing") == given


@pytest.mark.parametrize(
    ("operator", "content"),
    [("=", 5), (">", 6), (">=", 5), ("<", 4), ("<=", 5), ("Is not empty", 0), ("Is empty", None), ("!=", None)],
)
async def test_numbers_are_given_on_the_right_side(av: Databases, operator: str, content: float | None) -> None:
    column = await av.key("number")
    value = (await presets(av, condition(column, operator, "number", number(5))))[column]["number"]
    assert (value["content"], value["isNotEmpty"]) == (content or 0, content is not None)


@pytest.mark.parametrize(
    ("operator", "more", "wanted"),
    [
        ("=", {}, lambda noon, now: noon),
        (">=", {}, lambda noon, now: noon),
        ("<", {}, lambda noon, now: noon - DAY),
        (">", {}, lambda noon, now: noon + 3 * DAY),
        ("!=", {}, lambda noon, now: noon),
        ("Is between", {}, lambda noon, now: noon),
        ("Is not empty", {}, lambda noon, now: now),
        ("=", {"relativeDate": TODAY}, lambda noon, now: midnight(now)),
        ("<", {"relativeDate": TODAY}, lambda noon, now: midnight(now) - DAY),
        ("Is between", {"relativeDate": LAST_WEEK, "relativeDate2": NEXT_WEEK}, lambda noon, now: now),
        ("Is between", {"relativeDate": NEXT_WEEK, "relativeDate2": TODAY}, lambda noon, now: now),
    ],
)
async def test_dates_are_given_on_the_right_side(
    av: Databases, operator: str, more: dict[str, Any], wanted: Any
) -> None:
    now = av.kernel.clock.local()
    noon = now.replace(hour=12, minute=0, second=0, microsecond=0) + 5 * DAY
    column = await av.key("date")
    value = date(noon)
    value["date"] |= {"content2": unix_ms(noon + 2 * DAY), "isNotEmpty2": True}
    given = (await presets(av, condition(column, operator, "date", value, **more)))[column]["date"]
    assert abs(given["content"] - unix_ms(wanted(noon, now))) < SOON_MS
    assert given["isNotEmpty"]


async def test_a_relative_date_needs_no_day_and_an_empty_one_is_none(av: Databases) -> None:
    column = await av.key("date")
    given = await presets(av, condition(column, "=", "date", relativeDate=TODAY))
    assert given[column]["date"]["content"] == unix_ms(midnight(av.kernel.clock.local()))
    given = await presets(av, condition(column, "Is empty", "date"))
    assert (given[column]["date"]["content"], given[column]["date"]["isNotEmpty"]) == (0, False)


async def test_dates_that_are_filled_with_the_present_are_so_in_spite_of_the_filter(av: Databases) -> None:
    column = await av.key("date")
    await av.operate("setAttrViewColDateFillCreated", id=column, data=True)
    given = await presets(av, condition(column, "=", "date", date(av.kernel.clock.local() - 9 * DAY)))
    assert is_about_now(av, given[column])


async def test_a_condition_without_a_value_asks_for_nothing(av: Databases) -> None:
    column = await filled(av, "text", text("a"))
    assert await presets(av, {"column": column, "operator": "=", "relativeDate": TODAY}) == {}


async def test_options_that_are_known_stand_for_any(av: Databases) -> None:
    column = await filled(av, "mSelect", chosen("red"), chosen("blue"))
    only = condition("gone", "=", "text", text("a"))
    given = await presets(av, only, condition(column, "Is not empty", "mSelect"))
    assert said(given[column]) == ["red"]
    given = await presets(av, condition(column, "=", "mSelect", {"mSelect": []}, relativeDate=TODAY))
    assert said(given[column]) == [""]
    assert given[column]["mSelect"][0]["color"] == "1"
    given = await presets(av, condition(column, "Contains", "mSelect", {"mSelect": []}, relativeDate=TODAY))
    assert said(given[column]) is None


async def test_the_text_of_an_item_is_not_given_away_before_it_is_there(av: Databases) -> None:
    primary = await av.primary()
    wanted = {"block": {"content": "fresh", "id": "x"}}
    given = (await presets(av, condition(primary, "=", "block", wanted)))[primary]
    assert given["block"]["content"] == ""
    assert "id" not in given["block"]
    await av.add("mine")
    assert await av.rows() == ["fresh"], "a detached item takes the text that the filter wants"


# --- from the neighbour ------------------------------------------------------------------------------------------------
async def test_where_no_value_can_be_told_the_neighbours_is_taken(av: Databases) -> None:
    column = await filled(av, "text", text("a"), text("b"))
    asks = condition(column, "Is not empty", "text", text(""))
    assert said((await presets(av, asks))[column]) == "a"
    assert said((await presets(av, asks, previousID=ITEMS[1]))[column]) == "b"
    assert await presets(av, asks, previousID=FOURTH) == {}


async def test_assets_are_the_neighbours_and_end_it_all(av: Databases) -> None:
    files = await filled(av, "mAsset", assets("a.pdf"))
    column = await av.key("text")
    asks = condition(files, "Contains", "mAsset", assets("a.pdf"))
    given = await presets(av, asks, condition(column, "Does not contains", "text", text("x")))
    assert {key: said(value) for key, value in given.items()} == {files: ["assets/a.pdf"]}


@pytest.mark.parametrize(
    ("template", "given"),
    [
        ("x", {"template": "x"}),
        (".action{.number}", {"number": "5"}),
        (".action{(print .text) | print .number}", {"number": "5", "text": "a"}),
        ('.action{index . "text"}', {"text": "a"}),
        (".action{if .number}y.action{end}", {"template": "y"}),
        ("", {}),
        (".action{", {}),
    ],
)
async def test_of_a_template_the_cells_that_it_names_are_the_neighbours(
    av: Databases, template: str, given: dict[str, Any]
) -> None:
    await filled(av, "number", number(5))
    await av.key("text")
    await av.put("text", ITEMS[0], text("a"))
    column = await av.key("template")
    await set_template(av, column, template)
    found = await presets(av, condition(column, "!=", "template", text("z", "template")))
    assert {value["type"]: said(value) for value in found.values()} == given


async def test_of_a_rollup_at_home_that_another_gathers_the_neighbours_value_is_taken(av: Databases) -> None:
    await filled(av, "number", number(5))
    await av.operate("updateAttrViewColRelation", id=AV, keyID=await av.key("relation"), isTwoWay=False, format="R")
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:1]}})
    for kind, target in (("rollup", "number"), ("mAsset", "rollup")):
        column = await av.key(kind)
        await av.operate("updateAttrViewCol", id=column, name=kind, type="rollup")
        place = {"parentID": key_id("relation"), "keyID": key_id(target), "data": {"calc": {"operator": ""}}}
        await av.operate("updateAttrViewColRollup", id=column, **place)
    wanted = {"rollup": {"contents": [{"type": "number", **number(5)}]}}
    found = await presets(av, condition(key_id("rollup"), "=", "rollup", wanted))
    assert {key: said(value) for key, value in found.items()} == {key_id("rollup"): ["5"]}
    assert await presets(av, condition(key_id("mAsset"), "Is not empty", "rollup", wanted)) == {}


async def test_dates_show_their_time_as_the_neighbours_do(av: Databases) -> None:
    noon = av.kernel.clock.local().replace(hour=12)
    column = await filled(av, "date", {"date": {**date(noon)["date"], "isNotTime": True}})
    given = await presets(av, condition(column, "=", "date", date(noon)))
    assert given[column]["date"]["isNotTime"] is True


# --- from the group ----------------------------------------------------------------------------------------------------
async def group_ids(av: Databases) -> dict[str, str]:
    return {group["name"]: group["id"] for group in (await av.show())["view"]["groups"]}


@pytest.mark.parametrize(
    ("kind", "values", "names"),
    [
        ("select", [chosen("a"), chosen("b")], {"a": ["a"], "b": ["b"], "Field [select] is empty": None}),
        ("mSelect", [chosen("a", "b")], {"a": ["a"], "b": ["b"], "Field [mSelect] is empty": None}),
        ("text", [text("a")], {"a": "a", "Field [text] is empty": ""}),
        ("checkbox", [ticked()], {"√": True}),
    ],
)
async def test_an_item_is_like_the_first_of_its_group(
    av: Databases, kind: str, values: list[Any], names: dict[str, Any]
) -> None:
    column = await filled(av, kind, *values)
    await grouped(av, column)
    groups = await group_ids(av)
    assert {name: said((await presets(av, groupID=groups[name]))[column]) for name in names} == names


@pytest.mark.parametrize(
    ("kind", "value", "rule", "group", "given"),
    [
        ("select", chosen("a"), {}, "a", ["a"]),
        ("mSelect", chosen("a"), {}, "a", ["a"]),
        ("text", text("a"), {}, "a", "a"),
        ("email", text("a", "email"), {}, "a", "a"),
        ("number", number(7), {}, "7.000000", 7),
        ("number", number(2.5), {}, "2.500000", 2.5),
        ("number", number(15), SPAN, "10 - 20", 10),
        ("number", number(99), SPAN, "Out of range", 0),
        ("checkbox", ticked(), {}, "√", True),
        ("date", {}, {"method": 3}, "Field [date] is empty", ""),
    ],
)
async def test_a_group_without_items_gives_what_names_it(
    av: Databases, kind: str, value: dict[str, Any], rule: dict[str, Any], group: str, given: Any
) -> None:
    """The group has an item, which the filter hides."""
    column = await filled(av, kind, *([value] if value else []))
    other = await av.key("url")
    await grouped(av, column, **rule)
    groups = await group_ids(av)
    found = await presets(av, condition(other, "=", "url", text("nobody", "url")), groupID=groups[group])
    assert said(found[other]) == "nobody"
    if kind == "number":
        assert (found[column]["number"]["content"], found[column]["number"]["isNotEmpty"]) == (given, True)
    else:
        assert said(found[column]) == given


async def test_texts_of_a_group_that_the_filter_speaks_of_are_the_filters(av: Databases) -> None:
    column = await filled(av, "text", text("a"))
    await grouped(av, column)
    groups = await group_ids(av)
    asks = condition(column, "=", "text", text("x"))
    assert said((await presets(av, asks, groupID=groups["a"]))[column]) == "x"
    asks = condition(column, "Contains", "text", text("a"))
    assert said((await presets(av, asks, groupID=groups["a"]))[column]) == "a"


async def test_groups_by_a_template_give_the_cells_that_it_names(av: Databases) -> None:
    numbers = await filled(av, "number", number(5))
    column = await av.key("template")
    await set_template(av, column, "n.action{.number}")
    await grouped(av, column)
    groups = await group_ids(av)
    given = await presets(av, groupID=groups["n5"])
    assert {key: said(value) for key, value in given.items()} == {numbers: "5"}


async def test_a_group_by_a_key_that_is_not_shown_gives_nothing(av: Databases) -> None:
    column = await filled(av, "text", text("a"))
    await grouped(av, column)
    groups = await group_ids(av)
    av.rewrite(lambda data: data["views"][0]["table"].update(columns=data["views"][0]["table"]["columns"][1:]))
    assert await presets(av, groupID=groups["a"]) == {}


async def test_the_option_of_the_group_joins_the_one_of_the_filter(av: Databases) -> None:
    column = await filled(av, "mSelect", chosen("a"), chosen("b"))
    await grouped(av, column)
    groups = await group_ids(av)
    asks = condition(column, "Contains", "mSelect", chosen("a"))
    assert said((await presets(av, asks, groupID=groups["b"]))[column]) == ["a", "b"]
    assert said((await presets(av, asks, groupID=groups["a"]))[column]) == ["a"]
    await av.put("mSelect", ITEMS[1], chosen("b", "a"))
    groups = await group_ids(av)
    asks = condition(column, "=", "mSelect", chosen("a"))
    assert said((await presets(av, asks, groupID=groups["b"]))[column]) == ["b", "a"]


async def test_one_option_of_two_is_the_groups(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"), chosen("b"))
    await grouped(av, column)
    groups = await group_ids(av)
    asks = condition(column, "Contains", "select", chosen("a"))
    assert said((await presets(av, asks, groupID=groups["b"]))[column]) == ["b"]


async def test_dates_of_a_group_are_the_present_where_the_key_says_so(av: Databases) -> None:
    day = av.kernel.clock.local() - 9 * DAY
    column = await filled(av, "date", date(day))
    await av.operate("setAttrViewColDateFillCreated", id=column, data=True)
    await grouped(av, column, method=3)
    groups = await group_ids(av)
    assert is_about_now(av, (await presets(av, groupID=groups[f"{day:%Y-%m-%d}"]))[column])
    asks = condition(column, "Is not empty", "date")
    assert is_about_now(av, (await presets(av, asks, groupID=groups[f"{day:%Y-%m-%d}"]))[column])


async def test_a_view_without_filter_and_groups_gives_nothing(av: Databases) -> None:
    await av.add("one")
    assert await presets(av) == {}
    await filter_by(av)
    assert await presets(av) == {}
    assert await presets(av, groupID="gone") == {}
