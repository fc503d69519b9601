"""[core] Moving items by hand: within a view, within a group, or from one group to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernel.workspace.views.database import Database
from kernel.workspace.views.format import Json
from kernel.workspace.views.grouping import group_by_id, group_key, group_value, regroup_all
from kernel.workspace.views.items import fill_presets
from kernel.workspace.views.rendering import Around, around
from kernel.workspace.views.showing import block_view
from kernel.workspace.views.store import load, save
from kernel.workspace.views.values import touch

if TYPE_CHECKING:
    from kernel.workspace.operations import Operation
    from kernel.workspace.workspace import Workspace

# Values of these types are worked out: no move can change them.
_FIXED: Final = ("template", "created", "updated")


def sort_item(workspace: Workspace, operation: Operation) -> None:
    """Put an item behind another; first without one. Raises ViewError."""
    item_id, previous_id = operation.id, operation["previousID"]
    if item_id == previous_id:
        return
    place = around(workspace)
    database = load(workspace, operation["avID"])
    view = block_view(workspace, database, operation["blockID"])
    group_id, target_id = operation["groupID"], operation["targetGroupID"]
    if view["group"] is None or not group_id:
        view["itemIds"] = _moved(view["itemIds"], item_id, previous_id)
    elif (group := group_by_id(view, group_id)) is not None:
        if group_id == target_id:
            group["groupItemIds"] = _moved(group["groupItemIds"], item_id, previous_id)
        elif not _move_across(place, database, view, group, operation):
            return
    save(workspace, database)


def _moved(ids: list[str] | None, item_id: str, previous_id: str) -> list[str]:
    rest = [one for one in ids or () if one != item_id]
    at = rest.index(previous_id) + 1 if previous_id in rest else 0
    return [*rest[:at], item_id, *rest[at:]]


def _move_across(place: Around, database: Database, view: Json, group: Json, operation: Operation) -> bool:
    """Move an item to another group: it gets that group's value. False where no move can do that."""
    key = group_key(database, view)
    if key is None or key["type"] in _FIXED:
        return False
    item_id, previous_id = operation.id, operation["previousID"]
    group["groupItemIds"] = [one for one in group["groupItemIds"] or () if one != item_id]
    target = group_by_id(view, operation["targetGroupID"])
    if target is not None and item_id not in (target["groupItemIds"] or ()):
        fill_presets(place, database, view, target, previous_id, item_id, is_new=False)
        value = database.value(key["id"], item_id)
        if value is not None:
            left = group_value(group, place.moment)
            if value["mSelect"] is not None:
                value["mSelect"] = [one for one in value["mSelect"] if one["content"] != left]
            touch(value, place.moment.now_ms)
            item = database.item(item_id)
            if item is not None:
                item["block"]["updated"] = place.moment.now_ms
                touch(item, place.moment.now_ms)
        target["groupItemIds"] = _moved(target["groupItemIds"], item_id, previous_id)
    regroup_all(place, database)
    return True
