"""Tools ``history`` and ``repo``: earlier versions of documents, and snapshots of all data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.arguments import Arguments, EmptyAnswer
from kernel.siyuan.dispatch import RawAnswer, UnknownRoute, dispatch
from kernel.siyuan.kernel import Call
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action
from kernel.siyuan.native_mcp.tools.documents import reload_tree
from kernel.workspace.names import tree_id

if TYPE_CHECKING:
    from kernel.siyuan.native_mcp.base import Action

BY_CONTENT: Final = 1
# What the endpoint puts before the reason; the tool has words of its own.
_SNAPSHOT_FAILED: Final = "Failed to create data snapshot: "
_DOT_FILE: Final = "Content-Disposition"


# --- history ---------------------------------------------------------------------------------------------------
async def _history(call: ToolCall, query: str, head: str, nothing: str) -> str:
    page = call.number("page", 1)
    where: dict[str, Any] = {
        "query": query,
        "notebook": call.text("notebook"),
        "op": call.text("op") or "all",
        "type": call.number("type", BY_CONTENT),
    }
    found = await call.data("/api/history/searchHistory", **where, page=page)
    stamps = (found or {}).get("histories") or []
    if not stamps:
        return nothing
    lines = [f"{head} ({found['totalCount']} total, page {page}/{found['pageCount']}):\n\n"]
    for stamp in stamps:
        items = (await call.data("/api/history/getHistoryItems", **where, created=str(stamp)))["items"] or []
        lines.append(f"--- {stamp} ({len(items)} items) ---\n")
        lines += [f"  - [{one['op']}] {one['title']} (path: {one['path']})\n" for one in items]
    return "".join(lines)


async def history_list(call: ToolCall) -> str:
    return await _history(call, call.text("query"), "History", "no history found")


async def history_search(call: ToolCall) -> str:
    query = call.needed("query")
    return await _history(call, query, f"Search '{query}'", f"no history found for '{query}'")


async def history_get(call: ToolCall) -> str:
    found = await call.data(
        "/api/history/getDocHistoryContent", "get history failed: ", historyPath=call.needed("path")
    )
    content = (found or {}).get("content")
    if not content:
        raise ToolFailed("no content")
    return str(content)


async def history_rollback(call: ToolCall) -> str:
    path = call.needed("path")
    await call.data("/api/history/rollbackDocHistory", "rollback failed: ", historyPath=path)
    root_id = call.workspace.blocks.root_of(tree_id(path))
    if root_id:
        await call.run(lambda one: one.kernel.workspace.emit("reload", root_id, to=("protyle",)))
    await reload_tree(call)
    return f"history rolled back: {path}"


async def history_clear(call: ToolCall) -> str:
    await call.data("/api/history/clearWorkspaceHistory", "clear history failed: ")
    return "all history cleared"


# --- repo ------------------------------------------------------------------------------------------------------
def _snapshot_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"- {one['id']} (memo: {one['memo']})\n" for one in rows)


async def repo_list(call: ToolCall) -> str:
    page = max(call.number("page", 1), 1)
    if call.flag("tag"):
        found = await call.data("/api/repo/getRepoTagSnapshots", "get tagged snapshots failed: ")
        rows = (found or {}).get("snapshots") or []
        return f"Tagged snapshots ({len(rows)}):\n\n{_snapshot_lines(rows)}" if rows else "no tagged snapshots found"
    found = await call.data("/api/repo/getRepoSnapshots", "get snapshots failed: ", page=page)
    rows = (found or {}).get("snapshots") or []
    if not rows:
        return "no snapshots found"
    head = f"Snapshots (page {page}/{found['pageCount']}, {found['totalCount']} total):"
    return f"{head}\n\n{_snapshot_lines(rows)}"


async def repo_create(call: ToolCall) -> str:
    """The id is that of the newest snapshot: none is made where nothing has changed."""
    answer = await call.api("/api/repo/createSnapshot", memo=call.text("memo"))
    if answer.code != 0:
        raise ToolFailed(f"create snapshot failed: {answer.msg.removeprefix(_SNAPSHOT_FAILED)}")
    found = await call.data("/api/repo/getRepoSnapshots", page=1)
    rows = (found or {}).get("snapshots") or []
    return f"snapshot created: {rows[0]['id'] if rows else ''}"


async def repo_tag(call: ToolCall) -> str:
    snapshot, name = call.all_needed("id", "name")
    answer = await call.api("/api/repo/tagSnapshot", id=snapshot, name=name)
    if answer.code != 0:
        raise ToolFailed(f"tag snapshot failed: {answer.msg.removeprefix(_SNAPSHOT_FAILED)}")
    return f"tagged snapshot {snapshot} with '{name}'"


async def repo_untag(call: ToolCall) -> str:
    name = call.needed("name")
    await call.data("/api/repo/removeRepoTagSnapshot", "remove tag failed: ", tag=name)
    return f"tag removed: {name}"


async def repo_checkout(call: ToolCall) -> str:
    """Whether it worked is not said."""
    snapshot = call.needed("id")
    await call.api("/api/repo/checkoutRepo", id=snapshot)
    await reload_tree(call)
    await call.api("/api/system/reloadUI")
    return f"checkout to snapshot: {snapshot}"


async def repo_diff(call: ToolCall) -> str:
    left, right = call.all_needed("left", "right")
    found = await call.data("/api/repo/diffRepoSnapshots", "diff failed: ", left=left, right=right)
    parts = [("Adds", "addsLeft"), ("\nUpdates", "updatesLeft"), ("\nRemoves", "removesRight")]
    shown = "".join(f"{title} ({len(found[key])}):\n{_file_lines(found[key])}" for title, key in parts if found[key])
    return f"Diff between {left} and {right}:\n\n{shown or 'no differences found'}"


def _file_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"- [{one['fileID']}] {one['title']} ({one['path']})\n" for one in rows)


async def repo_search(call: ToolCall) -> str:
    keyword = call.needed("keyword")
    page = max(call.number("page", 1), 1)
    found = await call.data("/api/repo/searchRepoFile", "search repo failed: ", keyword=keyword, page=page)
    rows = (found or {}).get("files") or []
    if not rows:
        return "no files found"
    head = f"Files matching '{keyword}' (page {page}/{found['pageCount']}, {found['totalCount']} total):"
    return f"{head}\n\n{_file_lines(rows)}"


async def repo_purge(call: ToolCall) -> str:
    """Without a key the kernel's purge breaks down: no answer at all."""
    if not call.workspace.conf.section("repo").get("key"):
        raise EmptyAnswer
    await call.data("/api/repo/purgeRepo", "purge failed: ")
    return "old snapshots purged"


async def repo_file_get(call: ToolCall) -> str:
    """The endpoint answers with the file itself; its path comes from opening it."""
    file_id = call.needed("id")
    try:
        answer = await dispatch(Call(call.kernel, "/api/repo/getRepoFile", Arguments({"id": file_id})))
    except UnknownRoute:
        raise ToolFailed("/api/repo/getRepoFile is not emulated") from None
    if not isinstance(answer, RawAnswer):
        raise ToolFailed(f"get repo file failed: {answer.msg}")
    headers = {name.lower(): value for name, value in answer.headers}
    path = headers.get(_DOT_FILE.lower(), "").partition("filename=")[2].strip('"')
    text = answer.body.decode("utf-8", "replace")
    return f"Path: {path}\nSize: {len(answer.body)}\n---\n{text}"


async def repo_file_rollback(call: ToolCall) -> str:
    file_id = call.needed("id")
    await call.data("/api/repo/rollbackRepoSnapshotFile", "rollback repo file failed: ", id=file_id)
    return f"file rolled back: {file_id}"


async def repo_file_open(call: ToolCall) -> str:
    found = await call.data("/api/repo/openRepoSnapshotFile", "open repo file failed: ", id=call.needed("id"))
    return f"Title: {found['title']}\n---\n{found['content']}"


async def repo_file_export(call: ToolCall) -> str:
    found = await call.data("/api/repo/exportRepoFile", "export repo file failed: ", id=call.needed("id"))
    return f"exported to: {found.get('path') or found.get('file') or found.get('zip', '')}"


_HISTORY: Final[dict[str, Action]] = {
    "list": history_list,
    "search": history_search,
    "get": history_get,
    "rollback": history_rollback,
    "clear": history_clear,
}
_REPO: Final[dict[str, Action]] = {
    "list": repo_list,
    "create": repo_create,
    "tag": repo_tag,
    "untag": repo_untag,
    "checkout": repo_checkout,
    "diff": repo_diff,
    "search": repo_search,
    "purge": repo_purge,
    "file_get": repo_file_get,
    "file_rollback": repo_file_rollback,
    "file_open": repo_file_open,
    "file_export": repo_file_export,
}
TOOLS: Final[dict[str, Action]] = {"history": by_action(_HISTORY), "repo": by_action(_REPO)}
