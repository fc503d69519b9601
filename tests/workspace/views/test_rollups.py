"""What rollups gather from the database that a relation leads to, and what they make of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.workspace.views.world import (
    AV,
    ITEMS,
    OTHER,
    Databases,
    assets,
    cell,
    chosen,
    date,
    key_id,
    number,
    relate,
    roll_up,
    said,
    text,
    ticked,
)

ROLLUP = key_id("rollup")
ALL_OF_NOTHING = {"Count all": ["0"], "Percent empty": [], "Sum": ["0"], "Max": [], "Range": [], "Checked": ["0"]}


async def gathering(av: Databases, kind: str, *values: Any) -> None:
    """Item one is related to three items of the other database, of which the first ones have a value."""
    await av.add("one", "two")
    await av.add("left", "right", "middle", database=OTHER)
    await av.key(kind, database=OTHER)
    for item, value in zip(ITEMS, values, strict=False):
        await av.put(kind, item, value, database=OTHER)
    await relate(av)
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS}})
    await av.key("rollup")


async def gathered(av: Databases, target: str, *operators: str, item: str = ITEMS[0]) -> dict[str, Any]:
    found = {}
    for operator in operators:
        await roll_up(av, target, operator)
        found[operator] = said(await cell(av, item, ROLLUP))
    return found


@pytest.mark.parametrize(
    ("kind", "values", "results"),
    [
        (
            "number",
            [number(3), number(4), number(3)],
            {
                "": ["3", "4", "3"],
                "Count all": ["3"],
                "Count unique values": ["2"],
                "Count empty": ["0"],
                "Count not empty": ["3"],
                "Percent not empty": ["100%"],
                "Percent unique values": ["66.67%"],
                "Unique values": ["3", "4"],
                "Sum": ["10"],
                "Average": ["3.33333"],
                "Median": ["3"],
                "Min": ["3"],
                "Max": ["4"],
                "Range": ["1"],
                "Earliest": ["3", "4", "3"],
                "No such": ["3", "4", "3"],
            },
        ),
        ("number", [number(3)], {"Range": ["3"], "Average": ["3"]}),
        (
            "text",
            [text("a"), text("2"), text("a")],
            {"Sum": ["2"], "Range": ["2"], "Unique values": ["a", "2"], "Latest": ["a", "2", "a"]},
        ),
        ("text", [text("a"), text("")], {"Count empty": ["1"], "Percent empty": ["50%"], "Count values": ["2"]}),
        (
            "mSelect",
            [chosen("x", "y"), chosen("y", "z"), chosen("z")],
            {"Unique values": [["x", "y"], ["z"]], "Count unique values": ["3"]},
        ),
        ("mAsset", [assets("x", "y"), assets("y")], {"Unique values": [["assets/x", "assets/y"]]}),
        (
            "checkbox",
            [ticked(), ticked(False)],
            {
                "Checked": ["1"],
                "Unchecked": ["2"],
                "Percent checked": ["33"],
                "Percent unchecked": ["66"],
                "": [True, False, False],
            },
        ),
    ],
)
async def test_a_rollup_gathers_and_calculates(
    av: Databases, kind: str, values: list[Any], results: dict[str, Any]
) -> None:
    await gathering(av, kind, *values)
    assert await gathered(av, key_id(kind), *results) == results


async def test_a_rollup_of_nothing_has_what_can_be_said_of_nothing(av: Databases) -> None:
    await gathering(av, "number")
    assert await gathered(av, key_id("number"), *ALL_OF_NOTHING) == ALL_OF_NOTHING
    assert await gathered(av, key_id("number"), "Count all", item=ITEMS[1]) == {"Count all": ["0"]}


async def test_dates_are_picked_and_set_apart(av: Databases) -> None:
    day = av.kernel.clock.local().replace(hour=8, minute=30, day=10)
    days = [{**date(day + timedelta(days=after))} for after in (0, 2, -3)]
    await gathering(av, "date", *days)
    shown = {after: f"{day + timedelta(days=after):%Y-%m-%d %H:%M}" for after in (-3, 2)}
    results = {"Earliest": [shown[-3]], "Latest": [shown[2]], "Range": ["5 days"]}
    assert await gathered(av, key_id("date"), *results) == results


async def test_dates_that_hold_none_are_gathered_as_they_are(av: Databases) -> None:
    empty = {"date": {"content": 0, "isNotEmpty": False}}
    await gathering(av, "date", empty, empty)
    assert await gathered(av, key_id("date"), "Earliest", "Range") == {"Earliest": ["", ""], "Range": ["", ""]}


async def test_creation_times_are_gathered_as_the_other_view_shows_them(av: Databases) -> None:
    await gathering(av, "created")
    results = {"Earliest": ["2024-01-01 00:00"], "Count unique values": ["1"]}
    assert await gathered(av, key_id("created"), *results) == results


async def test_templates_are_gathered_as_the_other_view_shows_them(av: Databases) -> None:
    await gathering(av, "template")
    await av.kernel.call(
        "transactions",
        transactions=[
            {
                "doOperations": [
                    {
                        "action": "updateAttrViewColTemplate",
                        "avID": OTHER,
                        "id": key_id("template"),
                        "type": "template",
                        "data": "7 up",
                    }
                ],
                "undoOperations": [],
            }
        ],
        reqId=1,
        app="a",
        session="s",
    )
    results = {"": ["7 up"] * 3, "Sum": ["21"], "Range": ["0"]}
    assert await gathered(av, key_id("template"), *results) == results


async def test_relations_are_gathered_with_the_items_they_name(av: Databases) -> None:
    await av.add("one", "two")
    await av.add("left", "right", database=OTHER)
    await relate(av, is_two_way=True)
    for item in ITEMS[:2]:
        await av.put("relation", item, {"relation": {"blockIDs": ITEMS[:2]}})
    await av.key("rollup")
    results = {"Count all": ["4"], "Count values": ["2"], "Unique values": [ITEMS[:2]]}
    assert await gathered(av, key_id("back"), *results) == results


@pytest.mark.parametrize("lost", ["relation", "database", "key"])
async def test_a_rollup_that_leads_nowhere_shows_nothing(av: Databases, lost: str) -> None:
    await gathering(av, "number", number(3))
    await roll_up(av, key_id("number") if lost != "key" else "gone")
    if lost == "relation":
        await av.kernel.call("av/removeAttributeViewKey", avID=AV, keyID=key_id("relation"))
    if lost == "database":
        av.kernel.workspace.files.remove(f"data/storage/av/{OTHER}.json")
    assert said(await cell(av, ITEMS[0], ROLLUP)) == []


async def test_a_rollup_without_a_calculation_gathers_alone(av: Databases) -> None:
    await gathering(av, "number", number(3), number(4))
    await roll_up(av, key_id("number"))

    def change(data: dict[str, Any]) -> None:
        for column in data["keyValues"]:
            if column["key"]["id"] == ROLLUP:
                column["key"]["rollup"]["calc"] = None

    av.rewrite(change)
    assert said(await cell(av, ITEMS[0], ROLLUP)) == ["3", "4"]


async def test_values_that_hold_nothing_for_the_type_of_their_key_are_not_gathered(av: Databases) -> None:
    await gathering(av, "number", number(3))
    await av.operate("updateAttrViewCol", avID=OTHER, id=key_id("number"), name="n", type="text")
    await roll_up(av, key_id("number"))
    assert said(await cell(av, ITEMS[0], ROLLUP)) == []
