"""/api/av, showing views: now, as they were, and after a change of layout, filter, order or group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.api.av.guard import guarded, silent
from kernel.siyuan.api.filetree import optional
from kernel.siyuan.arguments import ApiError
from kernel.workspace.documents import Refusal
from kernel.workspace.snapshots import content_of, snapshot_of
from kernel.workspace.views import layouts
from kernel.workspace.views.binding import set_at_once
from kernel.workspace.views.database import Database, ViewError
from kernel.workspace.views.filtering import filter_items
from kernel.workspace.views.rendering import around, render
from kernel.workspace.views.rollups import sources_of
from kernel.workspace.views.showing import Question, answer, show, shown_view
from kernel.workspace.views.sorting import sort_items
from kernel.workspace.views.store import SpecTooNew, decoded, load, path_of, tell_reload

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

TOO_NEW: Final = (
    "Cannot open database view created by a newer version. Please upgrade to the latest version and try again"
)


def _question(call: Call, **more: Any) -> Question:
    return Question(
        block_id=optional(call, "blockID", str, ""),
        view_id=optional(call, "viewID", str, ""),
        page=int(optional(call, "page", (int, float), 1)),
        page_size=int(optional(call, "pageSize", (int, float), -1)),
        query=optional(call, "query", str, ""),
        group_paging=optional(call, "groupPaging", dict, {}),
        **more,
    )


def render_attribute_view(call: Call) -> Any:
    database_id = call.arguments.raw_str("id")
    question = _question(
        call,
        creates=optional(call, "createIfNotExist", bool, True),
        ignores_rows=optional(call, "ignoreRows", bool, False),
        target_item=optional(call, "targetItemID", str, ""),
        target_group=optional(call, "targetGroupID", str, ""),
    )
    return _shown(call, database_id, question)


def _shown(call: Call, database_id: str, question: Question) -> Any:
    try:
        return show(call.kernel.workspace, database_id, question)
    except SpecTooNew as error:
        raise ApiError(TOO_NEW) from error


def render_history(call: Call) -> Any:
    """A view as history holds its database; from another time than any kept, as it is now."""
    workspace = call.kernel.workspace
    database_id, created = call.arguments.raw_str("id"), call.arguments.raw_str("created")
    question = _question(call)
    if not is_node_id(database_id):
        raise Refusal("invalid id")
    if not re.fullmatch(r"[+-]?\d+", created):
        raise Refusal(f'parse created [{created}] failed: strconv.ParseInt: parsing "{created}": invalid syntax')
    moment = around(workspace).moment
    stamp = f"{moment.local(int(created) * 1000):%Y-%m-%d-%H%M%S}"
    kept_at = workspace.files.list("history") if workspace.files.is_dir("history") else []
    folders = [entry.name for entry in kept_at if entry.name.startswith(stamp)]
    if not folders:
        raise ViewError("attribute view not found")
    kept = f"history/{folders[0]}/storage/av/{database_id}.json"
    path = kept if workspace.files.exists(kept) else path_of(database_id)
    if not workspace.files.exists(path):
        raise ViewError("attribute view not found")
    return _answer(call, decoded(workspace, workspace.files.read(path)), question)


def render_snapshot(call: Call) -> Any:
    """The first view as a snapshot of the data folder holds its database."""
    workspace = call.kernel.workspace
    snapshot_id, database_id = call.arguments.raw_str("snapshot"), call.arguments.raw_str("id")
    if not is_node_id(database_id):
        raise Refusal("invalid id")
    path = path_of(database_id).removeprefix("data")
    file = next((one for one in snapshot_of(workspace, snapshot_id).files if one.path == path), None)
    if file is None:
        raise ViewError("attribute view not found")
    return _answer(call, decoded(workspace, content_of(workspace, file)), Question(""))


def _answer(call: Call, database: Database, question: Question) -> Any:
    workspace = call.kernel.workspace
    return answer(workspace, database, shown_view(around(workspace), database, question))


def change_layout(call: Call) -> Any:
    workspace = call.kernel.workspace
    block_id, database_id, layout = (call.arguments.raw_str(name) for name in ("blockID", "avID", "layoutType"))
    layouts.change_layout(workspace, set_at_once(workspace), block_id, database_id, layout)
    return _shown(call, database_id, Question(block_id))


def set_group(call: Call) -> Any:
    database_id, block_id = call.arguments.raw_str("avID"), call.arguments.raw_str("blockID")
    layouts.set_group(call.kernel.workspace, database_id, block_id, call.arguments.raw_object("group"))
    return _shown(call, database_id, Question(block_id))


def set_filters(call: Call) -> Any:
    database_id, block_id = call.arguments.raw_str("avID"), call.arguments.raw_str("blockID")
    layouts.set_filters(call.kernel.workspace, database_id, block_id, call.arguments.raw_list("data"))
    tell_reload(call.kernel.workspace, database_id)


def set_sorts(call: Call) -> Any:
    database_id, block_id = call.arguments.raw_str("avID"), call.arguments.raw_str("blockID")
    layouts.set_sorts(call.kernel.workspace, database_id, block_id, call.arguments.raw_list("data"))
    tell_reload(call.kernel.workspace, database_id)


def set_block_view(call: Call) -> Any:
    workspace = call.kernel.workspace
    block_id, view_id, database_id = (call.arguments.raw_str(name) for name in ("id", "viewID", "avID"))
    layouts.set_block_view(workspace, set_at_once(workspace), block_id, database_id, view_id)


def get_images(call: Call) -> Any:
    """The pictures in the shown fields of a table."""
    workspace = call.kernel.workspace
    database_id = call.arguments.raw_str("id")
    view_id, query = optional(call, "viewID", str, ""), optional(call, "query", str, "")
    database = load(workspace, database_id)
    view = database.current_view(view_id)
    place = around(workspace)
    shown = render(place, database, view, query)
    filter_items(place, database, shown, sources_of(place, database))
    sort_items(database, shown, place.moment)
    found = [
        asset["content"]
        for item in shown.items
        for value, one in zip(item.values, shown.fields, strict=True)
        if not one.place["hidden"] and value["type"] == "mAsset"
        for asset in value["mAsset"] or ()
        if asset["type"] == "image"
    ]
    return found or None


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/av/renderAttributeView": silent(render_attribute_view),
    "/api/av/renderHistoryAttributeView": guarded(render_history),
    "/api/av/renderSnapshotAttributeView": guarded(render_snapshot),
    "/api/av/changeAttrViewLayout": silent(change_layout),
    "/api/av/setAttrViewGroup": silent(set_group),
    "/api/av/setAttrViewFilters": silent(set_filters),
    "/api/av/setAttrViewSorts": silent(set_sorts),
    "/api/av/setDatabaseBlockView": guarded(set_block_view),
    "/api/av/getCurrentAttrViewImages": guarded(get_images),
}
