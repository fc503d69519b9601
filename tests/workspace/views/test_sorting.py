"""The order of a view's items by its sort rules, type by type."""

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
    key_id,
    number,
    relate,
    roll_up,
    sort_by,
    text,
    ticked,
)


@pytest.mark.parametrize(
    ("kind", "values", "ascending", "descending"),
    [
        ("text", [text("b10"), text("b9")], ["one", "two", "three"], ["two", "one", "three"]),
        ("text", [text("b"), text("b")], ["one", "two", "three"], ["one", "two", "three"]),
        ("email", [text("b", "email"), text("a", "email")], ["two", "one", "three"], ["one", "two", "three"]),
        ("phone", [text("2", "phone"), text("10", "phone")], ["two", "one", "three"], ["one", "two", "three"]),
        ("mAsset", [assets("b"), assets("a")], ["two", "one", "three"], ["one", "two", "three"]),
        ("checkbox", [ticked(), ticked(False)], ["two", "three", "one"], ["one", "two", "three"]),
        ("mSelect", [chosen("b", "c"), chosen("b", "a")], ["one", "two", "three"], ["two", "one", "three"]),
        ("mSelect", [chosen("b", "c"), chosen("b")], ["one", "two", "three"], ["one", "two", "three"]),
        ("lineNumber", [], ["one", "two", "three"], ["one", "two", "three"]),
    ],
)
async def test_items_are_sorted_by_a_key(
    av: Databases, kind: str, values: list[Any], ascending: list[str], descending: list[str]
) -> None:
    column = await filled(av, kind, *values)
    assert await sort_by(av, (column, "ASC")) == ascending
    assert await sort_by(av, (column, "DESC")) == descending


async def test_dates_without_a_time_are_sorted_by_their_day(av: Databases) -> None:
    noon = av.kernel.clock.local().replace(hour=12, minute=0)
    first, second = date(noon), date(noon - timedelta(hours=3))
    column = await filled(av, "date", first, second)
    assert await sort_by(av, (column, "ASC")) == ["two", "one", "three"]
    for item, value in zip(ITEMS, (first, second), strict=False):
        await av.put("date", item, {"date": {**value["date"], "isNotTime": True}})
    assert await sort_by(av, (column, "ASC")) == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("template", "order"),
    [
        (".action{.number} apples", ["two", "one", "three"]),
        (".action{if lt .number 10.0}b.action{else}a.action{end}", ["one", "three", "two"]),
    ],
)
async def test_templates_are_sorted_by_the_numbers_in_them_else_as_texts(
    av: Databases, template: str, order: list[str]
) -> None:
    await filled(av, "number", number(10), number(9), number(11))
    column = await av.key("template")
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data=template)
    assert await sort_by(av, (column, "ASC")) == order


async def test_a_second_rule_decides_where_the_first_does_not(av: Databases) -> None:
    first = await filled(av, "text", text("same"), text("same"), text("same"))
    second = await av.key("number")
    for item, content in zip(ITEMS, (2, 3, 1), strict=True):
        await av.put("number", item, number(content))
    assert await sort_by(av, (first, "ASC"), (second, "DESC")) == ["two", "one", "three"]
    assert await sort_by(av, ("gone", "ASC"), (second, "ASC")) == ["three", "one", "two"]


async def test_the_empty_are_last_in_either_order_and_the_next_rule_decides_among_them(av: Databases) -> None:
    first = await filled(av, "text", text("a"))
    second = await av.key("number")
    for item, content in zip(ITEMS, (1, 3, 2), strict=True):
        await av.put("number", item, number(content))
    assert await sort_by(av, (first, "ASC"), (second, "ASC")) == ["one", "three", "two"]
    assert await sort_by(av, (first, "DESC"), (second, "ASC")) == ["one", "three", "two"]


@pytest.mark.parametrize(
    ("kind", "values", "order"),
    [
        ("number", [number(10), number(9)], ["two", "one"]),
        ("text", [text("b"), text("a")], ["two", "one"]),
    ],
)
async def test_relations_and_rollups_are_sorted_by_what_they_lead_to(
    av: Databases, kind: str, values: list[Any], order: list[str]
) -> None:
    await av.add("one", "two")
    await av.add("a left", "b right", database=OTHER)
    await av.key(kind, database=OTHER)
    for item, value in zip(ITEMS, values, strict=False):
        await av.put(kind, item, value, database=OTHER)
    await relate(av)
    for item in ITEMS[:2]:
        await av.put("relation", item, {"relation": {"blockIDs": [item]}})
    await av.key("rollup")
    await roll_up(av, key_id(kind))
    assert await sort_by(av, (key_id("rollup"), "ASC")) == order
    assert await sort_by(av, (key_id("relation"), "ASC")) == ["one", "two"]


async def test_items_are_sorted_by_their_own_text(av: Databases) -> None:
    await av.add("b", "a")
    assert await sort_by(av, (await av.primary(), "ASC")) == ["a", "b"]
