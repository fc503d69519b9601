"""The cells of a database, value by value, where no call of the surface leads: other types, odd contents."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kernel.workspace.views.calc import calculate
from kernel.workspace.views.database import Database
from kernel.workspace.views.filter_tree import check_depth, rename_option
from kernel.workspace.views.filtering import filter_items
from kernel.workspace.views.format import CALC, DATABASE, FILTER, VALUE, VIEW, made, new_field, new_view
from kernel.workspace.views.moments import Moment, unix_ms
from kernel.workspace.views.rendered import Field, Item, Rendered
from kernel.workspace.views.rendering import Around
from kernel.workspace.views.rollups import gather
from kernel.workspace.views.sorting import compare_values, sort_items
from kernel.workspace.views.upgrade import upgrade
from kernel.workspace.views.values import (
    content_of,
    date_content,
    default_value,
    empty_content,
    fill_missing,
    is_empty,
    last_bound,
    new_value,
    text_of,
    time_content,
)
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.views.world import ITEMS, chosen, number, text

NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)
MOMENT = Moment(unix_ms(NOW), UTC, lambda: "20260304153000-aaaaaaa")


def value(kind: str, **content: Any) -> dict[str, Any]:
    return new_value(kind, **content)


def rolled(*values: dict[str, Any] | None) -> dict[str, Any]:
    return value("rollup", rollup={"contents": list(values)})


# --- contents --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("held", "kind", "content"),
    [
        (value("text", **text("a")), "", {"content": "a"}),
        (value("select", **chosen("a")), "mSelect", [{"content": "a", "color": "1"}]),
        (value("lineNumber"), "", None),
        (rolled(value("number", **number(5))), "number", {"content": 5, "isNotEmpty": True}),
        (rolled(), "number", None),
        (value("rollup"), "number", None),
    ],
)
def test_what_a_value_holds_for_a_type(held: dict[str, Any], kind: str, content: Any) -> None:
    assert content_of(held, kind) == content


def test_a_value_of_no_type_that_is_known_says_nothing_and_counts_as_full() -> None:
    odd = {**value("odd"), "odd": {"content": "x"}}
    assert text_of(odd, MOMENT) == ""
    assert text_of(None, MOMENT) == ""
    assert is_empty(None)
    assert not is_empty(value("lineNumber"))
    assert not is_empty(odd)
    assert empty_content("lineNumber") is None
    fill_missing(odd, "lineNumber")
    assert odd["type"] == "lineNumber"


def test_a_primary_value_that_holds_nothing_was_made_when_its_id_says() -> None:
    made_value = default_value("20260304153000-aaaaaaa", "k", ITEMS[0], "block", MOMENT)
    assert (made_value["block"]["created"], made_value["block"]["updated"]) == (MOMENT.now_ms, MOMENT.now_ms)


def test_two_times_are_shown_with_an_arrow_or_as_how_far_they_are_apart() -> None:
    later = unix_ms(NOW + timedelta(days=2))
    date = {"content": MOMENT.now_ms, "content2": later, "hasEndDate": True, "isNotTime": False}
    assert date_content(date, MOMENT)["formattedContent"] == "2026-03-04 15:30 → 2026-03-06 15:30"
    assert date_content({**date, "isNotTime": True}, MOMENT)["formattedContent"] == "2026-03-04 → 2026-03-06"
    shown = time_content(MOMENT.now_ms, MOMENT, second=later)
    assert shown["formattedContent"] == "2026-03-04 15:30 → 2026-03-06 15:30"
    assert time_content(MOMENT.now_ms, MOMENT, second=later, is_duration=True)["formattedContent"] == "2 days"


@pytest.mark.parametrize(("contents", "bound"), [([5], 5), ([5, 3, 4], 3), ([5, 7, 6], 7), ([5, 3, 9], 9), ([5, 5], 5)])
def test_a_range_looks_like_the_time_that_widened_it_last(contents: list[int], bound: int) -> None:
    assert last_bound([{"content": one} for one in contents])["content"] == bound


# --- shown views made by hand ------------------------------------------------------------------------------------------
def shown(kind: str, *values: dict[str, Any], **view: Any) -> Rendered:
    """A table of one field of a type."""
    key = {"id": "k", "type": kind, "name": kind, "options": None, "numberFormat": ""}
    fields = [Field(key, new_field("table", "k"), None)]
    items = [Item(ITEMS[at], [one], [""]) for at, one in enumerate(values)]
    return Rendered({**new_view("table", "v", "l"), **view}, fields, items)


def passing(kind: str, held: dict[str, Any], **condition: Any) -> bool:
    """Whether a condition lets a value pass."""
    workspace = MemoryKernel().workspace
    view = shown(kind, held, filters=[made(FILTER, column="k", **condition)])
    filter_items(Around(workspace, MOMENT), Database(made(DATABASE)), view)
    return bool(view.items)


TODAY = {"count": 1, "unit": 0, "direction": 0}
BLOCK = value("block", block={"content": "left"})


@pytest.mark.parametrize(
    ("held", "condition", "passes"),
    [
        (value("lineNumber"), {"operator": "=", "value": value("lineNumber")}, False),
        (rolled(), {"operator": "=", "value": rolled()}, False),
        (value("rollup", rollup={"contents": None}), {"operator": "=", "value": value("rollup")}, False),
        (value("text", **text("a")), {"operator": "Is empty", "quantifier": "All", "value": value("text")}, False),
        (
            value("relation", relation={"blockIDs": None, "contents": [BLOCK]}),
            {"operator": "=", "value": value("relation")},
            False,
        ),
        (value("mAsset", mAsset=[]), {"operator": "=", "value": None, "relativeDate": TODAY}, False),
        (value("text", **text("a")), {"operator": "=", "value": None, "relativeDate": TODAY}, False),
    ],
)
def test_conditions_that_compare_what_cannot_be_compared_let_nothing_pass(
    held: dict[str, Any], condition: dict[str, Any], passes: bool
) -> None:
    assert passing(held["type"], held, **condition) is passes


def test_a_node_that_is_none_lets_nothing_pass_and_no_filter_everything() -> None:
    workspace = MemoryKernel().workspace
    for filters, count in (([None], 0), (None, 1), ([], 1)):
        view = shown("text", value("text", **text("a")), filters=filters)
        filter_items(Around(workspace, MOMENT), Database(made(DATABASE)), view)
        assert len(view.items) == count


def test_a_rollup_without_a_rule_fits_no_condition() -> None:
    key = {"id": "k", "type": "rollup", "name": "r", "rollup": None}
    database = Database(made(DATABASE, keyValues=[{"key": key, "values": []}]))
    held = {**rolled(value("text", **text("a"))), "keyID": "k"}
    view = shown("rollup", held, filters=[made(FILTER, column="k", operator="=", value=rolled(value("text")))])
    filter_items(Around(MemoryKernel().workspace, MOMENT), database, view)
    assert view.items == []


def test_a_rollup_without_a_rule_gathers_nothing() -> None:
    workspace = MemoryKernel().workspace
    key = {"id": "k", "type": "rollup", "rollup": None}
    assert gather(Around(workspace, MOMENT), Database(made(DATABASE)), key, ITEMS[0], rolled(), None) is None


def test_values_of_other_types_have_no_order() -> None:
    assert compare_values(value("lineNumber"), value("lineNumber"), {}, MOMENT) == 0
    first, second = rolled(value("number")), rolled(value("number"))
    assert compare_values(first, second, {}, MOMENT) == 0
    red, blue = value("mSelect", **chosen("red")), value("mSelect", **chosen("blue"))
    assert compare_values(red, blue, {}, MOMENT) > 0, "options that the key does not know are sorted by name"


def test_items_that_nobody_has_filled_stay_behind_in_the_order_they_were_made() -> None:
    later = MOMENT.now_ms + 1
    blank = value("text", text={"content": ""}, createdAt=MOMENT.now_ms, updatedAt=MOMENT.now_ms)
    filled = value("text", text={"content": "a"}, createdAt=later, updatedAt=later)
    view = shown("text", blank, filled, sorts=[{"column": "k", "order": "ASC"}, {"column": "gone", "order": "ASC"}])
    sort_items(Database(made(DATABASE)), view, MOMENT)
    assert [item.id for item in view.items] == [ITEMS[1], ITEMS[0]]


def test_a_calculation_without_a_result_leaves_none() -> None:
    view = shown("text", value("text", **text("a")))
    view.fields[0].calc = made(CALC, operator="Is empty")
    calculate(Database(made(DATABASE)), view, MOMENT)
    assert view.fields[0].calc["result"] is None


def test_a_rollup_entry_of_a_relation_counts_by_its_items() -> None:
    related = value("relation", relation={"blockIDs": ["x"], "contents": [BLOCK, BLOCK]})
    view = shown("rollup", rolled(related))
    view.fields[0].calc = made(CALC, operator="Count unique values")
    calculate(Database(made(DATABASE)), view, MOMENT)
    assert view.fields[0].calc["result"]["number"]["content"] == 1


# --- filters and old files -------------------------------------------------------------------------------------------
def test_conditions_are_no_groups_however_deep_and_only_named_options_are_renamed() -> None:
    check_depth([made(FILTER, combination="and", filters=[made(FILTER, column="k")])])
    both = value("mSelect", **chosen("a", "b"))
    view = made(VIEW, filters=[made(FILTER, column="k", value=both)])
    rename_option(view, "k", "b", "c", "9")
    assert [one["content"] for one in both["mSelect"]] == ["a", "c"]


@pytest.mark.parametrize("spec", [1, 2, 3, 4])
def test_a_database_of_an_older_spec_is_brought_to_the_current_one(spec: int) -> None:
    root = made(FILTER, combination="or", filters=[made(FILTER, column="k")])
    gallery = {**new_view("gallery", "g", "l"), "itemIds": ["kept"], "filters": [root], "pageSize": 0}
    odd = made(VIEW, id="o", type="odd", pageSize=0)
    database = Database(made(DATABASE, spec=spec, keyValues=[], views=[gallery, odd]))
    upgrade(database)
    assert database.data["spec"] == 5
    assert gallery["itemIds"] == ["kept"]
    assert odd["filters"][0]["combination"] == "and"
    assert [gallery["pageSize"], odd["pageSize"]] == ([50, 50] if spec < 2 else [0, 0])
    assert made(VALUE)["type"] == ""
