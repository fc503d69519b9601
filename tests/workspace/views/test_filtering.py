"""Which items a view's filter lets through, where the types have rules of their own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.workspace.views.world import (
    ITEMS,
    OTHER,
    Databases,
    assets,
    chosen,
    date,
    filled,
    filter_by,
    key_id,
    number,
    relate,
    roll_up,
    text,
)

ALL = ["one", "two", "three"]


def condition(column: str, operator: str, kind: str, value: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"column": column, "operator": operator, "value": {"type": kind, **value}, **more}


@pytest.mark.parametrize(
    ("operator", "wanted", "passing"),
    [
        ("=", "5 apples", ["one"]),
        ("!=", "5 apples", ["two", "three"]),
        (">", "5 apples", ["two"]),
        (">=", "5 apples", ["one", "two"]),
        ("<", "5 apples", ["three"]),
        ("<=", "5 apples", ["one", "three"]),
        ("Contains", "9", ["two"]),
        ("Starts with", "5", ["one"]),
        ("", "5", []),
        ("=", "", ALL),
    ],
)
async def test_templates_are_compared_as_texts(av: Databases, operator: str, wanted: str, passing: list[str]) -> None:
    await filled(av, "number", number(5), number(9))
    column = await av.key("template")
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data=".action{.number} apples")
    assert await filter_by(av, condition(column, operator, "template", text(wanted, "template"))) == passing


@pytest.mark.parametrize(("operator", "passing"), [(">", []), ("<=", []), ("Contains", ["one"]), ("=", [])])
async def test_texts_have_no_order(av: Databases, operator: str, passing: list[str]) -> None:
    column = await filled(av, "text", text("alpha"))
    assert await filter_by(av, condition(column, operator, "text", text("alp"))) == passing


async def test_case_counts_where_the_search_settings_say_so(av: Databases) -> None:
    column = await filled(av, "text", text("Alpha"), text("alpha"))
    alpha = condition(column, "=", "text", text("alpha"))
    assert await filter_by(av, alpha) == ["one", "two"]
    search = (await av.kernel.call("system/getConf"))["conf"]["search"]
    await av.kernel.call("setting/setSearch", **{**search, "caseSensitive": True})
    found = await av.rows()
    await av.kernel.call("setting/setSearch", **{**search, "caseSensitive": False})
    assert found == ["two"]


@pytest.mark.parametrize(
    ("operator", "names", "passing"),
    [("=", (), ALL), ("Contains", ("red",), ["one"]), (">", ("red",), []), ("Does not contains", ("red",), ["two"])],
)
async def test_options_are_compared_by_name(
    av: Databases, operator: str, names: tuple[str, ...], passing: list[str]
) -> None:
    column = await filled(av, "mSelect", chosen("red"), chosen("blue"), chosen("green"))
    found = await filter_by(av, condition(column, operator, "mSelect", chosen(*names)))
    assert [one for one in found if one != "three" or passing == ALL] == passing


@pytest.mark.parametrize(
    ("operator", "wanted", "passing"),
    [
        ("Contains", {"mAsset": []}, ALL),
        ("Contains", {"mAsset": [{"type": "file", "name": "", "content": "a.pdf"}]}, ["one"]),
        ("Contains", {}, ALL),
        ("Contains", {"mAsset": [{"type": "", "name": "", "content": "odd"}]}, []),
        ("Is empty", {}, []),
    ],
)
async def test_assets_are_compared_by_name_and_place(
    av: Databases, operator: str, wanted: dict[str, Any], passing: list[str]
) -> None:
    column = await filled(av, "mAsset", assets("a.pdf"), assets("b.png", kind="image"), assets("odd", kind=""))
    assert await filter_by(av, condition(column, operator, "mAsset", wanted)) == passing


@pytest.mark.parametrize(
    ("operator", "days", "passing"),
    [("=", 0, ["one"]), (">", -1, ["one"]), ("<", 0, ["two"]), ("Is between", -9, ["one", "two"])],
)
async def test_dates_are_compared_with_a_day(av: Databases, operator: str, days: int, passing: list[str]) -> None:
    noon = av.kernel.clock.local().replace(hour=12)
    column = await filled(av, "date", date(noon), date(noon - timedelta(days=3)))
    wanted = date(noon + timedelta(days=days))
    wanted["date"] |= {"content2": date(noon)["date"]["content"], "isNotEmpty2": True}
    assert await filter_by(av, condition(column, operator, "date", wanted)) == passing


async def test_creation_times_are_compared_whether_a_time_is_said_or_not(av: Databases) -> None:
    now = av.kernel.clock.local()
    column = await filled(av, "created")
    today = {"count": 1, "unit": 0, "direction": 0}
    created = {"created": date(now)["date"]}
    assert await filter_by(av, condition(column, "<", "created", created)) == ALL
    assert await filter_by(av, condition(column, ">", "created", created)) == []
    assert await filter_by(av, condition(column, "<", "created", {}, relativeDate=today)) == ALL
    assert await filter_by(av, {"column": column, "operator": "=", "relativeDate": today}) == []
    assert await filter_by(av, condition(column, "=", "created", {})) == ALL


async def test_relative_dates_may_name_two_spans(av: Databases) -> None:
    noon = av.kernel.clock.local().replace(hour=12)
    column = await filled(av, "date", date(noon - timedelta(days=1)), date(noon - timedelta(days=9)))
    before = {"count": 3, "unit": 0, "direction": -1}
    after = {"count": 3, "unit": 0, "direction": 1}
    empty = {"type": "date", "date": {"content": 0}}
    rule = {"column": column, "operator": "Is between", "value": empty, "relativeDate": before}
    assert await filter_by(av, {**rule, "relativeDate2": after}) == ["one"]


# --- relations and rollups ---------------------------------------------------------------------------------------------
async def related_items(av: Databases, kind: str, *values: Any) -> None:
    """Item one is related to left and right, two to right, three to none; some of those have a value."""
    await av.add("one", "two", "three")
    await av.add("left", "right", database=OTHER)
    await av.key(kind, database=OTHER)
    for item, value in zip(ITEMS, values, strict=False):
        await av.put(kind, item, value, database=OTHER)
    await relate(av)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    await av.put("relation", ITEMS[1], {"relation": {"blockIDs": ITEMS[1:2]}})
    await av.key("rollup")
    await roll_up(av, key_id(kind))


@pytest.mark.parametrize(
    ("operator", "names", "passing"),
    [
        ("Contains", ["left"], ["one"]),
        ("Does not contains", ["left"], ["two", "three"]),
        ("=", ["right"], ["one", "two"]),
        ("Contains", [], ALL),
        ("Is empty", [], ["three"]),
        ("Is not empty", [], ["one", "two"]),
    ],
)
async def test_relations_are_compared_by_the_items_they_name(
    av: Databases, operator: str, names: list[str], passing: list[str]
) -> None:
    await related_items(av, "text")
    wanted = {"relation": {"blockIDs": names}}
    assert await filter_by(av, condition(key_id("relation"), operator, "relation", wanted)) == passing


@pytest.mark.parametrize(
    ("quantifier", "operator", "wanted", "passing"),
    [
        ("", ">", [{"type": "number", **number(3)}], ["one", "two"]),
        ("All", ">", [{"type": "number", **number(3)}], ["two", "three"]),
        ("None", ">", [{"type": "number", **number(3)}], ["three"]),
        ("", ">", [], ALL),
        ("", ">", [{"type": "number"}], ALL),
        ("Any", "Is empty", [], ["three"]),
        ("All", "Is not empty", [], ["one", "two"]),
        ("Any", "Is not empty", [], ["one", "two"]),
        ("All", "Is empty", [], ["three"]),
        ("None", "Is empty", [], ["one", "two"]),
        ("None", "Is not empty", [], ["three"]),
    ],
)
async def test_rollups_are_compared_entry_by_entry(
    av: Databases, quantifier: str, operator: str, wanted: list[Any], passing: list[str]
) -> None:
    await related_items(av, "number", number(3), number(4))
    value = {"rollup": {"contents": wanted}}
    found = await filter_by(av, condition(key_id("rollup"), operator, "rollup", value, quantifier=quantifier))
    assert found == passing


@pytest.mark.parametrize(
    ("quantifier", "operator", "passing"),
    [
        ("Any", "Is empty", ["one", "three"]),
        ("All", "Is empty", ["three"]),
        ("All", "Is not empty", ["two"]),
        ("None", "Is empty", ["one", "two"]),
    ],
)
async def test_entries_that_a_rollup_lacks_count_as_empty(
    av: Databases, quantifier: str, operator: str, passing: list[str]
) -> None:
    await related_items(av, "number")
    await av.put("number", ITEMS[1], number(4), database=OTHER)
    value: dict[str, Any] = {"rollup": {"contents": []}}
    found = await filter_by(av, condition(key_id("rollup"), operator, "rollup", value, quantifier=quantifier))
    assert found == passing


async def test_dates_in_rollups_are_compared_with_relative_ones(av: Databases) -> None:
    noon = av.kernel.clock.local().replace(hour=12)
    await related_items(av, "date", date(noon), date(noon - timedelta(days=3)))
    today = {"count": 1, "unit": 0, "direction": 0}
    wanted = {"rollup": {"contents": [{"type": "date"}]}}
    assert await filter_by(av, condition(key_id("rollup"), "=", "rollup", wanted, relativeDate=today)) == ["one"]


async def test_a_condition_on_a_key_that_is_not_shown_lets_nothing_pass(av: Databases) -> None:
    await filled(av, "text", text("a"))
    assert await filter_by(av, condition("gone", "=", "text", text("a"))) == ALL


async def test_a_number_that_is_not_said_lets_everything_pass(av: Databases) -> None:
    column = await filled(av, "number", number(1))
    value = {"number": {"content": 0, "isNotEmpty": False}}
    assert await filter_by(av, condition(column, "=", "number", value)) == ALL


@pytest.mark.parametrize(("name", "passing"), [("one", ["one"]), ("nobody", [])])
async def test_relations_in_rollups_are_compared_by_the_first_item_they_name(
    av: Databases, name: str, passing: list[str]
) -> None:
    await av.add("one")
    await av.add("left", database=OTHER)
    await relate(av, is_two_way=True)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:1]}})
    await av.key("rollup")
    await roll_up(av, key_id("back"))
    wanted = {"rollup": {"contents": [{"type": "relation", "relation": {"blockIDs": [name]}}]}}
    assert await filter_by(av, condition(key_id("rollup"), "Contains", "rollup", wanted)) == passing
