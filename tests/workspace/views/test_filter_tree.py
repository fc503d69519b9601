"""Filters as trees: brought under one root, kept from growing too deep, pruned when keys and options go."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.views.database import Database, ViewError
from kernel.workspace.views.filter_tree import (
    NESTING_MAX,
    as_root,
    check_depth,
    conditions,
    drop_conditions,
    drop_option,
    pruned,
    rename_option,
)
from kernel.workspace.views.format import DATABASE, FILTER, VALUE, VIEW, empty_root, made
from kernel.workspace.views.upgrade import upgrade


def condition(column: str, **fields: Any) -> dict[str, Any]:
    return made(FILTER, column=column, operator="=", **fields)


def group(*children: dict[str, Any], combination: str = "and") -> dict[str, Any]:
    return made(FILTER, combination=combination, filters=list(children))


def test_flat_conditions_get_a_root_and_a_root_stays() -> None:
    flat = [condition("a"), condition("b")]
    assert [one["column"] for one in as_root(flat)[0]["filters"]] == ["a", "b"]
    root = group(condition("a"))
    assert as_root([root]) == [root]


def test_every_condition_is_found_however_deep() -> None:
    assert [one["column"] for one in conditions([group(condition("a"), group(condition("b")), None)])] == ["a", "b"]


def test_groups_may_be_nested_so_deep_and_no_deeper() -> None:
    tree = condition("a")
    for _ in range(NESTING_MAX + 1):
        tree = group(tree)
    check_depth([tree])
    with pytest.raises(ViewError, match="nesting depth"):
        check_depth([group(tree)])


def test_pruning_drops_conditions_and_the_groups_they_leave_empty() -> None:
    view = made(VIEW, filters=[group(condition("a"), group(condition("b")))])
    assert drop_conditions(view, lambda node: node["column"] == "a")
    assert [one["column"] for one in view["filters"][0]["filters"]] == ["a"]
    assert drop_conditions(view, lambda node: False)
    assert view["filters"] == [empty_root()], "a root stays"
    assert not drop_conditions(view, lambda node: False), "an empty root is no change"


def test_nodes_that_are_none_are_pruned_and_do_not_count() -> None:
    assert pruned([None, condition("a")], lambda node: True) == ([condition("a")], False)


def test_options_that_are_renamed_or_removed_change_the_conditions_that_name_them() -> None:
    chosen = made(VALUE, type="select", mSelect=[{"content": "red", "color": "1"}])
    view = made(VIEW, filters=[group(condition("k", value=chosen), condition("other"))])
    rename_option(view, "k", "red", "blue", "2")
    assert chosen["mSelect"] == [{"content": "blue", "color": "2"}]
    drop_option(view, "k", "blue")
    assert [one["column"] for one in conditions(view["filters"])] == ["other"]


def test_a_database_of_spec_0_is_brought_to_spec_5() -> None:
    table = {"spec": 0, "id": "t", "showIcon": False, "filters": [condition("k"), condition("gone")]}
    view = made(VIEW, type="table", table={**table, "sorts": None, "pageSize": 10, "rowIds": ["i"], "columns": []})
    number = made(VALUE, type="number", number={"content": 3, "isNotEmpty": False})
    block = made(VALUE, createdAt=5, block={"created": 0, "updated": 0})
    columns = [
        {"key": {"id": "k", "type": "number"}, "values": [number]},
        {"key": {"id": "c", "type": "created", "created": None}, "values": [block]},
    ]
    database = Database(made(DATABASE, keyValues=columns, views=[view]))
    upgrade(database)
    assert database.data["spec"] == 5
    assert number["number"]["isNotEmpty"]
    assert block["block"] == {"created": 5, "updated": 5}
    assert view["pageSize"] == 10
    assert view["itemIds"] == ["i"]
    assert [one["column"] for one in view["filters"][0]["filters"]] == ["k"]
    assert columns[1]["key"]["created"] == {"includeTime": True}  # type: ignore[index]
