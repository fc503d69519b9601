"""/api/storage: documents opened, looked at and closed of late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.storage import listed
from kernel.siyuan.notes_index import settled_index
from kernel.siyuan.stored_json import store
from kernel.workspace.conf_shapes import record
from kernel.workspace.go_struct import ListOf

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

PATH: Final = "data/storage/recent-doc.json"
_DOCUMENT: Final = record(
    "model.RecentDoc",
    "text: rootID icon title\nint64: viewedAt closedAt openAt",
    omitted_when_zero="icon title viewedAt closedAt openAt",
)
_DOCUMENTS: Final = ListOf(_DOCUMENT, is_optional=True)
# By what getRecentDocs sorts; anything else is viewedAt.
_TIMES: Final = ("viewedAt", "closedAt", "openAt")


async def get_recent_docs(call: Call) -> Any:
    """Newest first by the time asked for; documents that are gone are forgotten."""
    sort_by = call.arguments.optional_str("sortBy")
    workspace = call.kernel.workspace
    known = listed(call, PATH, _DOCUMENTS)
    there = _merged(call, known)
    if there != known:
        _store(call, there)
    if sort_by == "updated":
        return await _last_changed(call)
    if not workspace.conf.is_box_doc_enabled:
        there = [one for one in there if workspace.notebooks.get(one["rootID"]) is None]
    time = sort_by if sort_by in _TIMES else "viewedAt"
    shown = sorted((one for one in there if one[time] > 0), key=lambda one: -one[time])
    return [_written(one) for one in shown]


def update_open_time(call: Call) -> Any:
    _touch(call, openAt=_now(call), viewedAt=_now(call), closedAt=0)


def update_view_time(call: Call) -> Any:
    _touch(call, viewedAt=_now(call), closedAt=0)


def update_close_time(call: Call) -> Any:
    root_id = call.arguments.optional_str("rootID")
    if root_id:
        _close(call, [root_id])


def batch_update_close_time(call: Call) -> Any:
    given = call.arguments.optional_list("rootIDs") or []
    root_ids = [one for one in given if isinstance(one, str) and one]
    if root_ids:
        _close(call, root_ids)


def _touch(call: Call, **times: int) -> None:
    root_id = call.arguments.optional_str("rootID")
    if not root_id:
        return
    documents = listed(call, PATH, _DOCUMENTS)
    found = next((one for one in documents if one["rootID"] == root_id), None)
    if found is None:
        documents.insert(0, _new(root_id) | times)
    else:
        found.update(times)
    _store(call, documents)


def _close(call: Call, root_ids: list[str]) -> None:
    documents = listed(call, PATH, _DOCUMENTS)
    known = {one["rootID"]: one for one in documents}
    is_changed = False
    for root_id in dict.fromkeys(root_ids):
        found = known.get(root_id)
        if found is None:
            entry = call.kernel.workspace.blocks.entry_of(root_id)
            if entry is None:
                continue
            found = _new(entry.id)
            documents.insert(0, found)
        found["closedAt"] = _now(call)
        is_changed = True
    if is_changed:
        _store(call, documents)


def _merged(call: Call, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that are still there, by their root, with the titles and icons they have now."""
    merged: dict[str, dict[str, Any]] = {}
    for one in documents:
        entry = call.kernel.workspace.blocks.entry_of(one["rootID"])
        if entry is None:
            continue
        first = merged.get(entry.id)
        if first is None:
            icon = entry.properties.get("icon", "") or one["icon"]
            merged[entry.id] = {**one, "rootID": entry.id, "title": entry.title, "icon": icon}
        else:
            first.update({time: max(first[time], one[time]) for time in _TIMES})
    return list(merged.values())


async def _last_changed(call: Call) -> list[dict[str, Any]]:
    workspace = call.kernel.workspace
    count = int(workspace.conf.file_tree["recentDocsMaxListCount"])
    shows_all = workspace.conf.is_box_doc_enabled
    index = await settled_index(call.kernel)
    statement = "SELECT id FROM blocks WHERE type = 'd' ORDER BY updated DESC"
    shown: list[dict[str, Any]] = []
    for (root_id,) in index.connection.execute(statement):
        entry = workspace.blocks.documents.get(str(root_id))
        if entry is None or len(shown) == count:
            continue
        if shows_all or workspace.notebooks.get(entry.id) is None:
            shown.append(_written(_new(entry.id) | {"title": entry.title, "icon": entry.properties.get("icon", "")}))
    return shown


def _new(root_id: str) -> dict[str, Any]:
    return {"rootID": root_id, "icon": "", "title": "", "viewedAt": 0, "closedAt": 0, "openAt": 0}


def _written(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value or name == "rootID"}


def _store(call: Call, documents: list[dict[str, Any]]) -> None:
    """Keep as many of the newest of each kind as the settings say."""
    count = int(call.kernel.workspace.conf.file_tree["recentDocsMaxListCount"])
    first = list({one["rootID"]: one for one in reversed(documents)}.values())[::-1]
    if len(first) > count:
        kept: dict[str, dict[str, Any]] = {}
        for time in ("viewedAt", "openAt", "closedAt"):
            newest = sorted((one for one in first if one[time] > 0), key=lambda one: -one[time])
            for one in newest[:count]:
                kept.setdefault(one["rootID"], one)
        first = list(kept.values())
    store(call.kernel.workspace.files, PATH, _DOCUMENTS, first)


def _now(call: Call) -> int:
    return call.kernel.clock.wall_ms() // 1000


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/storage/getRecentDocs": get_recent_docs,
    "/api/storage/updateRecentDocOpenTime": update_open_time,
    "/api/storage/updateRecentDocViewTime": update_view_time,
    "/api/storage/updateRecentDocCloseTime": update_close_time,
    "/api/storage/batchUpdateRecentDocCloseTime": batch_update_close_time,
}
