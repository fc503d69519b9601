"""Groups of a view: which there are, and what stands in each."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kernel.workspace.views.grouping import regroup, regroup_all
from kernel.workspace.views.moments import Broken
from kernel.workspace.views.rendering import around
from kernel.workspace.views.store import load
from tests.workspace.views.world import (
    AV,
    ITEMS,
    Databases,
    by_group,
    chosen,
    date,
    filled,
    filter_by,
    grouped,
    key_id,
    number,
    related,
    text,
)


@pytest.mark.parametrize(
    ("days", "name"),
    [
        (-40, ""),
        (-20, "Last 30 days"),
        (-3, "Last 7 days"),
        (-1, "Yesterday"),
        (0, "Today"),
        (1, "Tomorrow"),
        (4, "Next 7 days"),
        (20, "Next 30 days"),
        (40, ""),
    ],
)
async def test_days_around_today_have_names(av: Databases, days: int, name: str) -> None:
    noon = av.kernel.clock.local().replace(hour=12)
    day = noon + timedelta(days=days)
    column = await filled(av, "date", date(day))
    assert next(iter(await grouped(av, column, method=2))) == (name or f"{day:%Y-%m}")


async def test_items_are_grouped_by_what_they_are_related_to(av: Databases) -> None:
    await related(av)
    view = await av.kernel.call(
        "av/setAttrViewGroup", avID=AV, blockID=av.block, group={"field": key_id("relation"), "method": 0, "order": 0}
    )
    groups = view["view"]["groups"]
    assert [[row["id"] for row in group["rows"]] for group in groups] == [ITEMS[:1], ITEMS[:1], ITEMS[1:2]]
    values = [(group["groupValue"].get("relation") or {}).get("contents") for group in groups]
    assert [value and value[0]["block"]["content"] for value in values] == ["left", "right", None]


async def test_a_relation_to_its_own_database_groups_by_its_own_items(av: Databases) -> None:
    await av.add("one", "two")
    await av.operate("updateAttrViewColRelation", id=AV, keyID=await av.key("relation"), isTwoWay=False, format="R")
    await av.put("relation", ITEMS[0], {"relation": {"blockIDs": ITEMS[1:2]}})
    groups = list((await grouped(av, key_id("relation"))).values())
    assert groups == [["1"], ["2"]]


async def test_steps_of_nothing_lead_to_no_range(av: Databases) -> None:
    """The real kernel never comes back from such a rule."""
    column = await filled(av, "number", number(5), number(15))
    groups = await grouped(av, column, method=1, range={"numStart": 0, "numEnd": 20, "numStep": 0})
    assert next(iter(groups.values())) == ["1", "2"]
    assert next(iter(groups)) == ""


async def test_a_method_that_is_none_puts_all_values_together(av: Databases) -> None:
    column = await filled(av, "text", text("b"), text("a"))
    groups = await grouped(av, column, method=9)
    assert list(groups.values()) == [["1", "2"], ["3"]]
    assert list((await grouped(av, column, method=0, order=2)).values()) == [["1"], ["2"], ["3"]]


async def test_texts_have_no_time_to_be_grouped_by(av: Databases) -> None:
    column = await filled(av, "text", text("b"))
    assert next(iter(await grouped(av, column, method=3))) == "0001-01-01"


@pytest.mark.parametrize("rule", [{"method": 1}, {"field": ""}, {"field": "gone"}])
async def test_a_rule_that_lacks_what_it_needs_makes_no_groups(av: Databases, rule: dict[str, Any]) -> None:
    column = await filled(av, "number", number(5))
    await grouped(av, column)
    workspace = av.kernel.workspace
    database = load(workspace, AV)
    view = database.views()[0]
    view["group"].update(rule)
    regroup(around(workspace), database, view)
    assert not view["groups"] or rule == {"field": ""}


async def test_a_number_that_holds_nothing_breaks_the_ranges(av: Databases) -> None:
    column = await filled(av, "number", number(5), number(6))
    await grouped(av, column, method=1, range={"numStart": 0, "numEnd": 20, "numStep": 10})
    workspace = av.kernel.workspace
    database = load(workspace, AV)
    key = database.key(column)
    assert key is not None
    key["type"] = "text"
    with pytest.raises(Broken, match="without number"):
        regroup_all(around(workspace), database)


async def test_options_order_groups_only_where_there_are_options(av: Databases) -> None:
    column = await filled(av, "text", text("b"), text("a"))
    groups = await grouped(av, column, order=3)
    assert list(groups.values()) == [["2"], ["1"], ["3"]]


# --- empty ones ------------------------------------------------------------------------------------------------------
async def test_groups_that_are_empty_are_hidden_and_shown_again(av: Databases) -> None:
    column = await filled(av, "select", chosen("a"), chosen("b"))
    await filter_by(av, {"column": column, "operator": "=", "value": {"type": "select", **chosen("a")}})
    await grouped(av, column)
    hidden = await av.kernel.call(
        "av/setAttrViewGroup", avID=AV, blockID=av.block, group={"field": column, "hideEmpty": True, "order": 3}
    )
    assert [group["groupHidden"] for group in hidden["view"]["groups"]] == [0, 1, 1]
    shown = await av.kernel.call("av/setAttrViewGroup", avID=AV, blockID=av.block, group={"field": column, "order": 3})
    assert [group["groupHidden"] for group in shown["view"]["groups"]] == [0, 0, 0]
    assert by_group(shown["view"])["a"] == ["1"]
