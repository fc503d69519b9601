"""/api/av, reading: databases, their keys and items, and which there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.av.guard import guarded
from kernel.siyuan.api.filetree import checked_id, optional
from kernel.siyuan.api.messages import show_message
from kernel.siyuan.arguments import ApiError
from kernel.workspace.durations import file_size
from kernel.workspace.go_struct import written
from kernel.workspace.views import catalog
from kernel.workspace.views.database import is_grouped
from kernel.workspace.views.format import FILTERS, KEY, SORTS, VALUE, Json
from kernel.workspace.views.grouping import group_by_id
from kernel.workspace.views.presets import preset_values
from kernel.workspace.views.rendering import around
from kernel.workspace.views.showing import block_view
from kernel.workspace.views.store import find, mirrors

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

DEPRECATED: Final = (
    "[/api/av/searchAttributeViewNonRelationKey] is deprecated, "
    "visit [https://github.com/siyuan-note/siyuan/issues/15727] for details"
)
UNUSED_CLEANED_MS: Final = 7000


def get_attribute_view(call: Call) -> Any:
    database = find(call.kernel.workspace, call.arguments.raw_str("id"))
    return {"av": None if database is None else catalog.database_json(database)}


def get_primary_key_values(call: Call) -> Any:
    database_id = call.arguments.raw_str("id")
    page = int(optional(call, "page", (int, float), 1))
    page_size = int(optional(call, "pageSize", (int, float), -1))
    keyword = optional(call, "keyword", str, "")
    return catalog.primary_values(call.kernel.workspace, database_id, keyword, page, page_size)


def get_filter_sort(call: Call) -> Any:
    workspace = call.kernel.workspace
    database_id, block_id = call.arguments.raw_str("id"), call.arguments.raw_str("blockID")
    database = find(workspace, database_id)
    if database is None or not database.views():
        return {"filters": None, "sorts": None}
    view = block_view(workspace, database, block_id)
    return {"filters": written(FILTERS, view["filters"] or []), "sorts": written(SORTS, view["sorts"] or [])}


def get_mirror_blocks(call: Call) -> Any:
    found = mirrors(call.kernel.workspace, call.arguments.raw_str("avID"))
    return {"refDefs": [{"refID": block_id, "defIDs": []} for block_id in found]}


def _text(call: Call, name: str) -> str:
    """An argument that counts only if it is a text."""
    value = call.arguments.get(name)
    return value if isinstance(value, str) else ""


def get_keys(call: Call) -> Any:
    workspace = call.kernel.workspace
    database_id, item_id, value_id = (_text(call, name) for name in ("avID", "itemID", "valueID"))
    if database_id and (item_id or value_id):
        return catalog.item_keys(workspace, database_id, item_id, value_id)
    return catalog.block_keys(workspace, _text(call, "id"))


def get_backlinks(call: Call) -> Any:
    block_id, database_id, item_id, value_id = (_text(call, name) for name in ("id", "avID", "itemID", "valueID"))
    return catalog.backlinks(call.kernel.workspace, block_id, database_id, item_id, value_id)


def _keys(call: Call, database_id: str) -> list[Json]:
    database = find(call.kernel.workspace, database_id)
    return [] if database is None else list(database.all_keys())


def get_keys_of_database(call: Call) -> Any:
    return [written(KEY, key) for key in _keys(call, call.arguments.raw_str("avID"))]


def get_keys_by_id(call: Call) -> Any:
    database_id, wanted = call.arguments.raw_str("avID"), call.arguments.raw_str_list("keyIDs")
    return [written(KEY, key) for key in _keys(call, database_id) if not wanted or key["id"] in wanted]


def search_relation_keys(call: Call) -> Any:
    database_id, keyword = call.arguments.raw_str("avID"), call.arguments.raw_str("keyword").lower()
    found = [key for key in _keys(call, database_id) if key["type"] == "relation" and key["relation"] is not None]
    return {"keys": [written(KEY, key) for key in found if keyword in key["name"].lower()]}


def search_rollup_targets(call: Call) -> Any:
    database_id, keyword = call.arguments.raw_str("avID"), call.arguments.raw_str("keyword").lower()
    found = [key for key in _keys(call, database_id) if key["type"] not in ("rollup", "lineNumber")]
    return {"keys": [written(KEY, key) for key in found if keyword in key["name"].lower()]}


def search_non_relation_keys(call: Call) -> Any:
    raise ApiError(DEPRECATED)


def search(call: Call) -> Any:
    keyword = call.arguments.raw_str("keyword")
    optional(call, "avID", str, "")
    optional(call, "blockID", str, "")
    excluded = call.arguments.raw_str_list("excludes") if call.arguments.get("excludes") is not None else []
    return {"results": catalog.search(call.kernel.workspace, keyword, excluded)}


def get_item_ids(call: Call) -> Any:
    database_id, block_ids = call.arguments.raw_str("avID"), call.arguments.raw_str_list("blockIDs")
    return catalog.item_ids(call.kernel.workspace, database_id, block_ids)


def get_block_ids(call: Call) -> Any:
    database_id, item_ids = call.arguments.raw_str("avID"), call.arguments.raw_str_list("itemIDs")
    return catalog.block_ids(call.kernel.workspace, database_id, item_ids)


def get_presets(call: Call) -> Any:
    """What an item would be given at a place; of its text nothing, for it would flash up."""
    workspace = call.kernel.workspace
    database_id = call.arguments.raw_str("avID")
    view_id, group_id, previous_id, item_id = (
        optional(call, name, str, "") for name in ("viewID", "groupID", "previousID", "addingBlockID")
    )
    database = find(workspace, database_id)
    if database is None or not database.views():
        return {"values": None}
    view = database.current_view(view_id)
    group = group_by_id(view, group_id) if group_id else view
    if group is None or not (view["filters"] or is_grouped(view)):
        return {"values": None}
    values = preset_values(around(workspace), database, view, group, previous_id, item_id, is_new=True)
    for value in values.values():
        if value["block"] is not None:
            value["block"]["content"] = ""
    return {"values": {key_id: written(VALUE, value) for key_id, value in values.items()} or None}


def get_unused(call: Call) -> Any:
    found = catalog.unused(call.kernel.workspace)
    if len(found) > catalog.UNUSED_LISTED_MAX:
        listed = catalog.UNUSED_LISTED_MAX
        text = f"There are [{len(found)}] unreferenced databases in total, only [{listed}] are listed here"
        show_message(call, text, 5000)
    return found[: catalog.UNUSED_LISTED_MAX]


def remove_unused(call: Call) -> Any:
    database_id = checked_id(call, "id")
    catalog.remove_unused(call.kernel.workspace, [database_id])
    return {"id": database_id}


def remove_all_unused(call: Call) -> Any:
    workspace = call.kernel.workspace
    gone = catalog.remove_unused(workspace, [one["item"] for one in catalog.unused(workspace)])
    freed = file_size(sum(size for _, size in gone))
    text = f"Cleanup of unreferenced databases completed, [{len(gone)}] files removed, [{freed}] of disk space freed"
    show_message(call, text, UNUSED_CLEANED_MS)
    return {"paths": [path for path, _ in gone]}


HANDLERS: Final[dict[str, ApiHandler]] = {
    f"/api/av/{name}": guarded(handler)
    for name, handler in {
        "getAttributeView": get_attribute_view,
        "getAttributeViewPrimaryKeyValues": get_primary_key_values,
        "getAttributeViewFilterSort": get_filter_sort,
        "getMirrorDatabaseBlocks": get_mirror_blocks,
        "getAttributeViewKeys": get_keys,
        "getAttributeViewBacklinks": get_backlinks,
        "getAttributeViewKeysByAvID": get_keys_of_database,
        "getAttributeViewKeysByID": get_keys_by_id,
        "searchAttributeViewRelationKey": search_relation_keys,
        "searchAttributeViewRollupDestKeys": search_rollup_targets,
        "searchAttributeViewNonRelationKey": search_non_relation_keys,
        "searchAttributeView": search,
        "getAttributeViewItemIDsByBoundIDs": get_item_ids,
        "getAttributeViewBoundBlockIDsByItemIDs": get_block_ids,
        "getAttributeViewAddingBlockDefaultValues": get_presets,
        "getUnusedAttributeViews": get_unused,
        "removeUnusedAttributeView": remove_unused,
        "removeUnusedAttributeViews": remove_all_unused,
    }.items()
}
