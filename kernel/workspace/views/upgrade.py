"""[core] Databases of older kernels: brought to spec 5 when they are read, written so when they are saved next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.workspace.views.database import values_in
from kernel.workspace.views.format import CURRENT_SPEC, DEFAULT_PAGE_SIZE, FILTER, TIME_RULE, Json, made

if TYPE_CHECKING:
    from kernel.workspace.views.database import Database

_FORMER_ORDER = {"table": "rowIds", "gallery": "cardIds"}


def is_group(node: Json | None) -> bool:
    """Whether a node of a filter holds others."""
    return node is not None and bool(node["combination"] or node["filters"])


def upgrade(database: Database) -> None:
    """Bring a database to the current spec, in memory."""
    spec = database.data["spec"]
    if spec < 1:
        _mark_numbers(database)
    if spec < 2:
        _lift_rules(database)
    if spec < 3:
        _lift_order(database)
    if spec < 4:
        _name_time_rules(database)
    if spec < CURRENT_SPEC:
        for view in database.views():
            _root_filters(view)
        database.data["spec"] = CURRENT_SPEC


def _mark_numbers(database: Database) -> None:
    """Spec 1: a number other than 0 is not empty; primary values know when they were made."""
    for column in database.columns():
        for value in values_in(column):
            number, block = value["number"], value["block"]
            if number is not None and number["content"]:
                number["isNotEmpty"] = True
            if block is not None:
                block["created"] = block["created"] or value["createdAt"]
                block["updated"] = block["updated"] or block["created"]


def _lift_rules(database: Database) -> None:
    """Spec 2: filters, sorts and page size belong to the view, no more to its table."""
    keys = {key["id"] for key in database.all_keys()}
    for view in database.views():
        table = view["table"]
        if table is not None:
            view["filters"] = view["filters"] or table["filters"]
            view["sorts"] = view["sorts"] or table["sorts"]
            view["pageSize"] = table["pageSize"] if table["pageSize"] > 0 else view["pageSize"]
            table["showIcon"] = True
        if view["pageSize"] < 1:
            view["pageSize"] = DEFAULT_PAGE_SIZE
        view["filters"] = [one for one in view["filters"] or () if one is not None and one["column"] in keys]
        view["sorts"] = [one for one in view["sorts"] or () if one is not None and one["column"] in keys]


def _lift_order(database: Database) -> None:
    """Spec 3: the order of the items belongs to the view."""
    for view in database.views():
        former = _FORMER_ORDER.get(view["type"])
        if not view["itemIds"] and former and view[view["type"]] is not None:
            view["itemIds"] = view[view["type"]][former]


def _name_time_rules(database: Database) -> None:
    """Spec 4: creation and change times say whether they show the time of day."""
    for key in database.all_keys():
        if key["type"] in ("created", "updated") and key[key["type"]] is None:
            key[key["type"]] = made(TIME_RULE, includeTime=True)


def _root_filters(view: Json) -> None:
    """Spec 5: filters are a tree with one root."""
    filters = [node for node in view["filters"] or () if node is not None]
    if len(filters) == 1 and is_group(filters[0]):
        return
    view["filters"] = [made(FILTER, combination="and", filters=filters)]
