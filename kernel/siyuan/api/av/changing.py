"""/api/av, changing: items, cells and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.av.guard import guarded
from kernel.siyuan.api.filetree import optional
from kernel.siyuan.arguments import ApiError, Panic
from kernel.workspace.go_struct import written
from kernel.workspace.views import catalog, columns, items
from kernel.workspace.views.binding import set_at_once
from kernel.workspace.views.cells import set_cell
from kernel.workspace.views.format import VALUE
from kernel.workspace.views.rendering import around
from kernel.workspace.views.store import load, save, tell_reload

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

ROW_ID_DEPRECATED: Final = (
    "[%s] parameter [rowID] is deprecated, visit [https://github.com/siyuan-note/siyuan/issues/15727] for details"
)


# --- items -----------------------------------------------------------------------------------------------------------
def add_items(call: Call) -> Any:
    workspace = call.kernel.workspace
    database_id = call.arguments.raw_str("avID")
    block_id, view_id, group_id, previous_id = (
        optional(call, name, str, "") for name in ("blockID", "viewID", "groupID", "previousID")
    )
    sources = call.arguments.raw_list("srcs")
    if not all(isinstance(source, dict) for source in sources):
        raise Panic("srcs")
    where = items.Where(block_id, view_id, group_id, previous_id, optional(call, "ignoreDefaultFill", bool, False))
    items.add_items(workspace, set_at_once(workspace), database_id, sources, where)
    tell_reload(workspace, database_id)


def remove_items(call: Call) -> Any:
    workspace = call.kernel.workspace
    database_id, item_ids = call.arguments.raw_str("avID"), call.arguments.raw_str_list("srcIDs")
    items.remove_items(workspace, set_at_once(workspace), database_id, item_ids)
    tell_reload(workspace, database_id)


def append_with_values(call: Call) -> Any:
    database_id = call.arguments.raw_str("avID")
    rows = call.arguments.raw_list("blocksValues")
    if not all(isinstance(row, list) for row in rows):
        raise Panic("blocksValues")
    read = [[items.read_value(given) for given in row] for row in rows]
    items.append_with_values(call.kernel.workspace, database_id, read)


def replace_blocks(call: Call) -> Any:
    workspace = call.kernel.workspace
    database_id, is_detached = call.arguments.raw_str("avID"), call.arguments.raw_bool("isDetached")
    pairs: list[tuple[str, str]] = []
    for given in call.arguments.raw_list("oldNew"):
        if not isinstance(given, dict) or not all(isinstance(one, str) for one in given.values()):
            raise Panic("oldNew")
        pairs += given.items()
    database = load(workspace, database_id)
    place, put = around(workspace), set_at_once(workspace)
    for old_id, new_id in pairs:
        items.replace_block(place, database, put, old_id, new_id, is_detached=is_detached)
    save(workspace, database)
    tell_reload(workspace, database_id)


def duplicate_database(call: Call) -> Any:
    database_id, block_id = catalog.duplicate(call.kernel.workspace, call.arguments.raw_str("avID"))
    return {"avID": database_id, "blockID": block_id}


# --- cells -----------------------------------------------------------------------------------------------------------
def _item_id(given: dict[str, Any], path: str) -> str:
    """The item whose cell is meant; it need not be said. Raises ApiError for the former name of the argument."""
    if "itemID" in given:
        if not isinstance(given["itemID"], str):
            raise Panic("itemID")
        return given["itemID"]
    if "rowID" in given:
        raise ApiError(ROW_ID_DEPRECATED % path)
    return ""


def set_value(call: Call) -> Any:
    workspace = call.kernel.workspace
    database_id, key_id = call.arguments.raw_str("avID"), call.arguments.raw_str("keyID")
    item_id = _item_id(call.arguments.values, call.path)
    given = call.arguments.get("value")
    if given is None:
        raise Panic("value")
    database = load(workspace, database_id)
    value = set_cell(around(workspace), database, key_id, item_id, given, set_at_once(workspace))
    tell_reload(workspace, database_id)
    return {"value": written(VALUE, value)}


def set_values(call: Call) -> Any:
    workspace = call.kernel.workspace
    database_id, given = call.arguments.raw_str("avID"), call.arguments.raw_list("values")
    database = load(workspace, database_id)
    place, put = around(workspace), set_at_once(workspace)
    for one in given:
        if not isinstance(one, dict) or not isinstance(one.get("keyID"), str):
            raise Panic("values")
        set_cell(place, database, one["keyID"], _item_id(one, call.path), one.get("value"), put)
    tell_reload(workspace, database_id)


# --- keys ------------------------------------------------------------------------------------------------------------
def add_key(call: Call) -> Any:
    names = ("avID", "keyID", "keyName", "keyType", "keyIcon", "previousKeyID")
    database_id, *rest = [call.arguments.raw_str(name) for name in names]
    columns.add_key(call.kernel.workspace, database_id, *rest)
    tell_reload(call.kernel.workspace, database_id)


def remove_key(call: Call) -> Any:
    database_id, key_id = call.arguments.raw_str("avID"), call.arguments.raw_str("keyID")
    removes_back = optional(call, "removeRelationDest", bool, False)
    columns.remove_key(call.kernel.workspace, database_id, key_id, removes_back=removes_back)
    tell_reload(call.kernel.workspace, database_id)


def sort_key(call: Call) -> Any:
    database_id, key_id, previous_id = (call.arguments.raw_str(name) for name in ("avID", "keyID", "previousKeyID"))
    columns.sort_key(call.kernel.workspace, database_id, key_id, previous_id)
    tell_reload(call.kernel.workspace, database_id)


def sort_field(call: Call) -> Any:
    """Order the fields of a view; the kernel takes ``viewID`` for that of a block."""
    database_id = call.arguments.raw_str("avID")
    view_id = optional(call, "viewID", str, "")
    key_id, previous_id = call.arguments.raw_str("keyID"), call.arguments.raw_str("previousKeyID")
    columns.sort_field(call.kernel.workspace, database_id, view_id, key_id, previous_id)
    tell_reload(call.kernel.workspace, database_id)


HANDLERS: Final[dict[str, ApiHandler]] = {
    f"/api/av/{name}": guarded(handler)
    for name, handler in {
        "addAttributeViewBlocks": add_items,
        "removeAttributeViewBlocks": remove_items,
        "appendAttributeViewDetachedBlocksWithValues": append_with_values,
        "batchReplaceAttributeViewBlocks": replace_blocks,
        "duplicateAttributeViewBlock": duplicate_database,
        "setAttributeViewBlockAttr": set_value,
        "batchSetAttributeViewBlockAttrs": set_values,
        "addAttributeViewKey": add_key,
        "removeAttributeViewKey": remove_key,
        "sortAttributeViewKey": sort_key,
        "sortAttributeViewViewKey": sort_field,
    }.items()
}
