"""What a view calculates below its fields, type by type."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.workspace.views.world import (
    ITEMS,
    OTHER,
    Databases,
    assets,
    calculated,
    chosen,
    date,
    filled,
    grouped,
    key_id,
    number,
    relate,
    roll_up,
    text,
    ticked,
)

COUNTS = {"Count all": "3", "Count values": "2", "Count unique values": "1", "Count empty": "1"}
SHARES = {"Count not empty": "2", "Percent empty": "33.33%", "Percent not empty": "66.67%"}


@pytest.mark.parametrize(
    ("kind", "values", "results"),
    [
        ("text", [text("a"), text("a")], {**COUNTS, **SHARES, "Sum": None, "Is empty": None}),
        ("url", [text("a", "url"), text("a", "url")], {**COUNTS, "Percent unique values": "33.33%", "": None}),
        ("select", [chosen("x"), chosen("x")], {**COUNTS, **SHARES}),
        ("mSelect", [chosen("x", "y"), chosen("x")], {**SHARES, "Count values": "3", "Count unique values": "2"}),
        ("mAsset", [assets("a", "b"), assets("a")], {"Count values": "3", "Count unique values": "2"}),
        ("checkbox", [ticked(), ticked(False)], {"Count all": "3", "Percent unchecked": "66.67%", "Sum": None}),
        ("number", [], {"Count all": "3", "Sum": "0", "Average": None, "Range": None}),
        ("number", [number(1), number(2)], {"Checked": None, "Range": "1"}),
        ("lineNumber", [], {"Count all": None}),
        ("date", [], {"Count values": "0", "Earliest": None, "Latest": None}),
        ("created", [], {"Count values": "3", "Earliest": "2024-01-01 00:00", "Count unique values": "1"}),
    ],
)
async def test_cells_are_counted_and_summed(
    av: Databases, kind: str, values: list[Any], results: dict[str, str | None]
) -> None:
    column = await filled(av, kind, *values)
    assert await calculated(av, column, *results) == results


async def test_a_view_without_items_has_no_shares_and_a_sum_of_nothing(av: Databases) -> None:
    column = await av.key("number")
    results = {"Count all": "0", "Percent empty": None, "Percent unique values": None, "Sum": "0", "Max": None}
    assert await calculated(av, column, *results) == results
    box = await av.key("checkbox")
    assert await calculated(av, box, "Percent checked", "Checked") == {"Percent checked": None, "Checked": "0"}


async def test_creation_times_show_the_day_alone_where_the_key_says_so(av: Databases) -> None:
    column = await filled(av, "created")
    await av.operate("setAttrViewCreatedIncludeTime", id=column, data=False)
    assert await calculated(av, column, "Latest", "Sum") == {"Latest": "2024-01-01", "Sum": None}


async def test_dates_are_as_far_apart_as_the_calendar_says(av: Databases) -> None:
    now = av.kernel.clock.local().replace(hour=12, day=10)
    column = await filled(av, "date", date(now), date(now - timedelta(days=2)), date(now + timedelta(days=3)))
    assert await calculated(av, column, "Range", "Count values") == {"Range": "5 days", "Count values": "3"}


async def test_numbers_in_templates_are_summed(av: Databases) -> None:
    column = await filled(av, "template")
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data="5 apples")
    results = {"Sum": "15", "Average": "5", "Count values": "3", "Count unique values": "1", "Count empty": "0"}
    assert await calculated(av, column, *results) == results
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data="none")
    assert await calculated(av, column, "Sum") == {"Sum": "0"}
    await av.operate("updateAttrViewColTemplate", type="template", id=column, data="")
    results = {"Sum": "0", "Average": None, "Count empty": "3"}
    assert await calculated(av, column, *results) == results


async def test_relations_are_counted_by_the_items_they_name(av: Databases) -> None:
    await av.add("one", "two", "three")
    await av.add("left", "right", database=OTHER)
    await relate(av)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    await av.put("relation", ITEMS[1], {"relation": {"blockIDs": ITEMS[:1]}})
    results = {"Count values": "3", "Count unique values": "2", "Count empty": "1", "Percent not empty": "66.67%"}
    assert await calculated(av, key_id("relation"), *results) == results


@pytest.mark.parametrize(
    ("kind", "values", "results"),
    [
        (
            "number",
            [number(3), number(4)],
            {"Sum": "10", "Median": "3", "Count unique values": "2", "Count empty": "1"},
        ),
        ("text", [text("a"), text("2")], {"Sum": "2", "Min": "0", "Max": "2", "Count unique values": "2"}),
        ("mSelect", [chosen("x", "y"), chosen("x")], {"Count unique values": "2", "Count values": "3"}),
        ("mAsset", [assets("x"), assets("x", "y")], {"Count unique values": "2"}),
    ],
)
async def test_what_is_rolled_up_is_counted_and_summed(
    av: Databases, kind: str, values: list[Any], results: dict[str, str]
) -> None:
    await av.add("one", "two", "three")
    await av.add("left", "right", database=OTHER)
    await av.key(kind, database=OTHER)
    for item, value in zip(ITEMS, values, strict=False):
        await av.put(kind, item, value, database=OTHER)
    await relate(av)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    await av.put("relation", ITEMS[1], {"relation": {"blockIDs": ITEMS[:1]}})
    await av.key("rollup")
    await roll_up(av, key_id(kind))
    assert await calculated(av, key_id("rollup"), *results) == results


async def test_relations_that_are_rolled_up_count_by_what_they_say(av: Databases) -> None:
    await av.add("one", "two")
    await av.add("left", "right", database=OTHER)
    await relate(av, is_two_way=True)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[:2]}})
    await av.key("rollup")
    await roll_up(av, key_id("back"))
    assert await calculated(av, key_id("rollup"), "Count unique values") == {"Count unique values": "1"}


# --- of groups -------------------------------------------------------------------------------------------------------
async def group_calc(av: Databases, **rule: Any) -> Any:
    """What a view that is given a calculation for its groups makes of it."""
    av.rewrite(lambda data: data["views"][0].update(groupCalc=rule))
    told = (await av.show())["view"]["groupCalc"]
    return told["calc"] and told["calc"]["result"] and told["calc"]["result"]["number"]["formattedContent"]


async def test_groups_have_a_calculation_of_their_own(av: Databases) -> None:
    column = await filled(av, "number", number(1), number(2))
    await grouped(av, column)
    assert await group_calc(av, field=column, calc={"operator": "Sum"}) == "3"
    assert (await av.field(column))["calc"] is None
    assert await group_calc(av, field=column, calc=None) is None
    assert await group_calc(av, field=key_id("gone"), calc={"operator": "Sum"}) is None
    await calculated(av, column, "Max")
    assert await group_calc(av, field=column, calc={"operator": "Sum"}) == "2", "the field's own calculation counts"


async def test_groups_calculate_nothing_by_a_field_that_is_not_shown(av: Databases) -> None:
    column = await filled(av, "number", number(1))
    av.rewrite(lambda data: data["views"][0]["table"].update(columns=data["views"][0]["table"]["columns"][1:]))
    assert await group_calc(av, field=column, calc={"operator": "Sum"}) is None
