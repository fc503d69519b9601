"""Reading documents: lookup, children, tree, search by title, text, outline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import trio

from kernel.host.base import HostApiError
from kernel.tools.block_texts import shown_in_window
from kernel.tools.context import Arguments, Handling, ToolContext, on_block, on_notebook
from kernel.tools.doc_tree import TreeWalk, name_of
from kernel.tools.limits import INDEXING_WAITS_S
from kernel.tools.notebook import child_document
from kernel.tools.permissions import Level
from kernel.tools.results import filtered_out
from kernel.tools.windows import window

_DEPTH_HINT: Final = "Raise maxDepth, or ask for a deeper path, to see more."


async def lookup(context: ToolContext, arguments: Arguments) -> Any:
    include = arguments.get("include") or []
    if block_id := arguments.get("id"):
        place = await context.call("/api/filetree/getPathByID", id=block_id)
        notebook, path = str(place["notebook"]), place["path"]
        human = await _hpath_of(context, block_id)
        ids: dict[str, Any] = {"id": block_id}
    elif stored := arguments.get("path"):
        notebook, path = arguments["notebook"], stored
        human = await context.call("/api/filetree/getHPathByPath", notebook=notebook, path=stored)
        ids = {"id": stored.rsplit("/", 1)[-1].removesuffix(".sy")} if "id" in include else {}
    else:
        notebook, human = arguments["notebook"], arguments["hpath"]
        found = await context.call("/api/filetree/getIDsByHPath", notebook=notebook, path=human) or []
        ids = {"id": found[0]} if "id" in include and found else {}
        if "ids" in include:
            ids["ids"] = found
        path = (await context.call("/api/filetree/getPathByID", id=found[0]))["path"] if found else None
    # ``docInfo`` may be asked for and adds nothing: a document's facts are block.docs_info's to tell.
    return {
        "humanPath": {"notebookName": await context.notebook_name(notebook), "hPath": human},
        "idPath": {**ids, "notebook": notebook, **({"path": path} if path else {})},
    }


async def _hpath_of(context: ToolContext, block_id: str) -> Any:
    """The host may still be indexing a document it already knows the place of: look again, briefly."""
    for wait_s in (*INDEXING_WAITS_S, None):
        try:
            return await context.call("/api/filetree/getHPathByID", id=block_id)
        except HostApiError:
            if wait_s is None:
                raise
        await trio.sleep(wait_s)
    raise AssertionError("the last try returns or raises")


async def get_child_blocks(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call("/api/block/getChildBlocks", id=arguments["id"]) or []


async def get_child_docs(context: ToolContext, arguments: Arguments) -> Any:
    place = await context.call("/api/filetree/getPathByID", id=arguments["id"])
    data = await context.call("/api/filetree/listDocsByPath", notebook=place["notebook"], path=place["path"])
    return [child_document(place["notebook"], row) for row in (data or {}).get("files") or []]


async def list_tree(context: ToolContext, arguments: Arguments) -> Any:
    notebook, path, depth = arguments["notebook"], arguments["path"] or "/", int(arguments["maxDepth"])
    walk = TreeWalk(context, notebook, depth, _tree_node)
    tree = await walk.below(path, path)
    if path == "/":
        # Only the first level of a notebook says of a document that it has nothing below.
        tree = [node if "childCount" in node else {**node, "children": node.get("children", [])} for node in tree]
    payload: dict[str, Any] = {"tree": tree, "maxDepth": depth, "depthHint": _DEPTH_HINT}
    if path == "/":
        payload |= {
            "box": notebook,
            "partial": bool(walk.errors),
            "errors": walk.errors,
            "topLevelDocumentCount": walk.top_count,
            "failedTopLevelDocumentCount": walk.failed_top_count,
        }
    return payload


def _tree_node(row: Mapping[str, Any], children: Any, shown_path: str) -> dict[str, Any]:
    node = {"id": row.get("id"), "name": name_of(row)}
    if row.get("icon"):
        node["icon"] = row["icon"]
    if isinstance(children, int):
        return {**node, "childCount": children, "childrenTruncated": True}
    return {**node, "children": children} if children else node


async def search_docs(context: ToolContext, arguments: Arguments) -> Any:
    """The host searches all notebooks; those it names stay if they are the asked one and may be read."""
    rows: list[dict[str, Any]] = (
        await context.call("/api/filetree/searchDocs", k=arguments["query"], flashcard=False, excludeIDs=[]) or []
    )
    notebook, path = arguments["notebook"], arguments.get("path")
    if any(known.get("id") == notebook for known in await context.notebooks()):
        rows = [row for row in rows if row.get("box") == notebook]
    readable = [row for row in rows if context.readable(str(row.get("box")))]
    removed = filtered_out(len(rows) - len(readable))
    removed.pop("permissionSummary", None)
    if not path:
        return {"docs": readable, **removed}
    folder = path.removesuffix(".sy").rstrip("/") + "/"
    inside = [row for row in readable if row.get("path") == path or str(row.get("path")).startswith(folder)]
    payload: dict[str, Any] = {"docs": inside, "path": path, "pathApplied": True, **removed}
    if len(inside) < len(readable):
        payload["pathFilteredOutCount"] = len(readable) - len(inside)
    return payload


async def get_doc(context: ToolContext, arguments: Arguments) -> Any:
    block_id = arguments["id"]
    notebook = await context.notebook_of(block_id)
    head = {
        "id": block_id,
        "mode": arguments["mode"],
        "notebook": notebook,
        "notebookName": await context.notebook_name(notebook),
    }
    if arguments["mode"] == "html":
        data = await context.call("/api/filetree/getDoc", id=block_id, mode=0, size=arguments.get("size"))
        return {**head, **dict(data or {})}
    head["hPath"] = await context.call("/api/filetree/getHPathByID", id=block_id)
    blocks = await context.call("/api/block/getChildBlocks", id=block_id) or []
    blocks = await shown_in_window(context, blocks, arguments)
    again = {"action": "get_doc", "id": block_id, "mode": "markdown"}
    return {**head, **window(blocks, arguments, again)}


async def databases(context: ToolContext, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """Which databases a text shows, and with which tool they are read; nothing when there are none."""
    found = []
    for block in blocks:
        if block.get("type") != "av":
            continue
        text = str(block.get("markdown") or "")
        start = text.find('data-av-id="')
        av_id = text[start + 12 :].split('"', 1)[0] if start >= 0 else ""
        found.append({"blockID": block.get("id"), "avID": av_id})
    if not found:
        return {}
    from kernel.tools.block import av_tool_hint

    return {
        "attributeViews": found,
        "warning": "Databases are shown only as a place: their rows are read with tool av.",
        "avToolHint": av_tool_hint(),
    }


async def get_outline(context: ToolContext, arguments: Arguments) -> Any:
    block_id, preview = arguments["id"], arguments["preview"]
    outline = await context.call("/api/outline/getDocOutline", id=block_id, preview=preview) or []
    return {
        "id": block_id,
        "notebook": await context.notebook_of(block_id),
        "preview": preview,
        "headingCount": _headings(outline),
        "outline": outline,
    }


def _headings(rows: list[dict[str, Any]]) -> int:
    """All headings of an outline, whatever level."""
    count, waiting = 0, list(rows)
    while waiting:
        row = waiting.pop()
        count += 1
        waiting.extend(row.get("blocks") or [])
        waiting.extend(row.get("children") or [])
    return count


async def _guard_lookup(context: ToolContext, arguments: Arguments) -> None:
    if arguments.get("id"):
        await context.require_block(arguments["id"], Level.READ)
    else:
        await context.require(arguments["notebook"], Level.READ)


_READ: Final = on_block(Level.READ, "id")

HANDLERS: Final[dict[str, Handling]] = {
    "document.lookup": Handling(lookup, _guard_lookup),
    "document.get_child_blocks": Handling(get_child_blocks, _READ),
    "document.get_child_docs": Handling(get_child_docs, _READ),
    "document.list_tree": Handling(list_tree, on_notebook(Level.READ, "notebook")),
    "document.search_docs": Handling(search_docs, on_notebook(Level.READ, "notebook")),
    "document.get_doc": Handling(get_doc, _READ),
    "document.get_outline": Handling(get_outline, _READ),
}
