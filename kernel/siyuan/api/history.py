"""/api/history: kept versions of documents, assets and notebooks (siyuan-api A10; kernel-facts 24)."""

from __future__ import annotations

import posixpath
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.siyuan.arguments import ApiError
from kernel.workspace.boxes import box_json, open_box
from kernel.workspace.highlights import highlight, keywords_of, with_marked_code
from kernel.workspace.history import (
    HistoryQuery,
    Kept,
    clear_history,
    inside_history,
    keep_document,
    kept_files,
    kept_tree,
    removed_notebooks,
    restore_document,
    restore_files,
)
from kernel.workspace.intake import dom_of_blocks
from kernel.workspace.notebooks import DATA
from kernel.workspace.tree import Tree
from kernel.workspace.workspace import loaded_document

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call

_PAGE_SIZE: Final = 32
_LOCKED: Final = {f'{name}="true"': f'{name}="false"' for name in ("contenteditable", "draggable")}


def _query(call: Call) -> HistoryQuery:
    arguments = call.arguments
    # In the kernel's order: the first that is wrong is named.
    box, text, operation = (arguments.optional_str(name) for name in ("notebook", "query", "op"))
    return HistoryQuery(text=text, kind=int(arguments.optional_number("type", 0)), operation=operation, box=box)


def search_history(call: Call) -> Any:
    """The moments at which something was kept, 32 a page."""
    query = _query(call)
    page = int(call.arguments.optional_number("page", 1))
    moments = list(dict.fromkeys(one.created for one in kept_files(call.kernel.workspace, query)))
    shown = moments[max(page - 1, 0) * _PAGE_SIZE : max(page, 1) * _PAGE_SIZE]
    return {
        "histories": [str(moment) for moment in shown],
        "pageCount": -(-len(moments) // _PAGE_SIZE),
        "totalCount": len(moments),
    }


def get_history_items(call: Call) -> Any:
    """What was kept at one moment."""
    created = call.arguments.required_str("created")
    query = _query(call)
    if not created.isdecimal():
        return {"items": []}
    return {"items": [_item(one) for one in kept_files(call.kernel.workspace, query, int(created))]}


def _item(kept: Kept) -> dict[str, str]:
    return {"title": kept.title, "path": f"/{kept.path}", "op": kept.operation, "notebook": kept.box}


def get_doc_history_content(call: Call) -> Any:
    """A kept document as DOM that cannot be edited; empty for anything else."""
    path = call.arguments.required_str("historyPath")
    keyword = call.arguments.optional_str("k")
    highlights = call.arguments.optional_bool("highlight", True)
    where = posixpath.normpath(f"{call.kernel.workspace.files.absolute('').rstrip('/')}/{path}")
    if not where.startswith(call.kernel.workspace.files.absolute("").rstrip("/")):
        raise ApiError(f"Path [{where}] is not in workspace")
    root = kept_tree(call.kernel.workspace, path)
    if root is None:
        return {"id": "", "rootID": "", "content": "", "isLargeDoc": False}
    if highlights and keyword:
        document = loaded_document(Tree(root, box="", path=""))
        words = keywords_of(document, keyword)
        if words:
            highlight(root.children, words, root.id, root.id)
    content = with_marked_code(dom_of_blocks(root.children, first_index=1))
    for editable, locked in _LOCKED.items():
        content = content.replace(editable, locked)
    return {"id": root.id, "rootID": root.id, "content": content, "isLargeDoc": False}


def create_doc_history(call: Call) -> Any:
    keep_document(call.kernel.workspace, call.arguments.required_str("id"))


def rollback_doc_history(call: Call) -> Any:
    restore_document(call.kernel.workspace, call.arguments.required_str("historyPath"))


def rollback_files(call: Call) -> Any:
    """An asset or a database as it was."""
    restore_files(call.kernel.workspace, call.arguments.required_str("historyPath"))


def get_notebook_history(call: Call) -> Any:
    """Removed notebooks by the moment they were removed."""
    workspace = call.kernel.workspace
    zone = call.kernel.clock.local().tzinfo or UTC
    grouped: dict[int, list[dict[str, str]]] = {}
    for at, box, path in removed_notebooks(workspace):
        try:
            name = str(read_json(workspace.files.read(f"{path}/.siyuan/conf.json"))["name"])
        except (OSError, ValueError, KeyError, TypeError):
            name = box
        grouped.setdefault(at, []).append({"title": name, "path": f"/{path}", "op": "delete", "notebook": box})
    return {
        "histories": [
            {"hCreated": f"{datetime.fromtimestamp(at, tz=zone):%Y-%m-%d %H:%M:%S}", "items": items}
            for at, items in grouped.items()
        ]
    }


def rollback_notebook_history(call: Call) -> Any:
    """A removed notebook as it was, opened."""
    path = call.arguments.required_str("historyPath")
    workspace = call.kernel.workspace
    inner = inside_history(path)
    known = {place: box for _, box, place in removed_notebooks(workspace)}
    if inner not in known:
        raise ApiError(f"history path [{path}] not exist")
    box = known[inner]
    workspace.files.copy(inner, f"{DATA}/{box}")
    workspace.notebooks.forget()
    open_box(workspace, box)
    workspace.scan(box)
    workspace.emit("mount", {"box": box_json(workspace, workspace.box(box)), "existed": False})


def clear_workspace_history(call: Call) -> Any:
    clear_history(call.kernel.workspace)


def reindex_history(call: Call) -> Any:
    """Nothing is to be done: kept versions are found where they lie."""


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/history/searchHistory": search_history,
    "/api/history/getHistoryItems": get_history_items,
    "/api/history/getDocHistoryContent": get_doc_history_content,
    "/api/history/createDocHistory": create_doc_history,
    "/api/history/rollbackDocHistory": rollback_doc_history,
    "/api/history/rollbackAssetsHistory": rollback_files,
    "/api/history/rollbackAttributeViewHistory": rollback_files,
    "/api/history/getNotebookHistory": get_notebook_history,
    "/api/history/rollbackNotebookHistory": rollback_notebook_history,
    "/api/history/clearWorkspaceHistory": clear_workspace_history,
    "/api/history/reindexHistory": reindex_history,
}
