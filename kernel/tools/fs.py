"""Tool ``fs``: notes as files. Paths are found in ``fs_paths``; writing is in ``fs_writes``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kernel.host.base import HostError
from kernel.tools import fs_virtual, fs_writes
from kernel.tools.block_texts import shown_in_window
from kernel.tools.context import Arguments, Handling, ToolContext
from kernel.tools.doc_tree import TreeWalk, name_of
from kernel.tools.document_reads import databases
from kernel.tools.failures import from_host, refusal
from kernel.tools.fs_paths import resolve
from kernel.tools.fs_search import search
from kernel.tools.windows import fidelity, window


async def ls(context: ToolContext, arguments: Arguments) -> Any:
    place = await resolve(context, arguments["path"])
    if place.kind == "virtual":
        raise refusal(f"{place.path} is a file, not a folder.", "invalid_path", hint="Read it with fs.read.")
    if place.kind == "root":
        return {"path": "/", "items": [*fs_virtual.LISTED, *_notebook_items(context, await context.notebooks())]}
    data = await context.call(
        "/api/filetree/listDocsByPath",
        notebook=place.notebook,
        path=place.stored,
        maxListCount=0,
        ignoreMaxListHint=True,
    )
    items = [
        {"name": name_of(row), "path": f"{place.path}/{name_of(row)}", "children": row.get("subFileCount") or 0}
        for row in (data or {}).get("files") or []
    ]
    return {"path": place.path, "items": items}


def _notebook_items(context: ToolContext, notebooks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"name": row["name"], "path": f"/{row['name']}", "children": row.get("subFileCount") or 0}
        for row in notebooks
        if context.readable(row["id"])
    ]


async def tree(context: ToolContext, arguments: Arguments) -> Any:
    place, depth = await resolve(context, arguments["path"]), arguments["maxDepth"]
    if place.kind == "virtual":
        return {"path": place.path, "tree": [], "virtual": True, "maxDepth": depth}
    if place.kind == "document":
        walk = TreeWalk(context, place.notebook, depth, _node)
        nodes = await walk.below(place.stored, place.path)
        return {"path": place.path, "tree": nodes, "maxDepth": depth}
    if place.kind == "notebook":
        walk = TreeWalk(context, place.notebook, depth, _node)
        nodes = await walk.below("/", place.path)
        return {"path": place.path, "tree": nodes, "maxDepth": depth, **_completeness([walk])}
    return await _whole_tree(context, depth)


async def _whole_tree(context: ToolContext, depth: int) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = [{**item, "children": []} for item in fs_virtual.LISTED]
    walks = []
    for notebook in await context.notebooks():
        if not context.readable(notebook["id"]):
            continue
        shown = f"/{notebook['name']}"
        walk = TreeWalk(context, notebook["id"], depth, _node)
        walks.append(walk)
        try:
            children = [] if notebook.get("closed") else await walk.below("/", shown)
        except HostError as error:
            told = from_host(error)
            children = []
            walk.errors.append(
                {"type": told.kind.type, "name": notebook["name"], "path": shown, "message": told.message}
            )
        nodes.append({"name": notebook["name"], "path": shown, "children": children})
    return {"path": "/", "tree": nodes, "maxDepth": depth, **_completeness(walks)}


def _node(row: Mapping[str, Any], children: Any, shown_path: str) -> dict[str, Any]:
    name = name_of(row)
    return {"name": name, "path": f"{shown_path.rstrip('/')}/{name}", "children": children}


def _completeness(walks: list[TreeWalk]) -> dict[str, Any]:
    errors = [error for walk in walks for error in walk.errors]
    return {
        "partial": bool(errors),
        "errors": errors,
        "topLevelDocumentCount": sum(walk.top_count for walk in walks),
        "failedTopLevelDocumentCount": sum(walk.failed_top_count for walk in walks),
    }


async def read(context: ToolContext, arguments: Arguments) -> Any:
    place = await resolve(context, arguments["path"])
    if place.kind == "virtual":
        return fs_virtual.read(context, place.path, arguments)
    if place.kind != "document":
        raise refusal(f"{place.path} is a folder, not a document.", "invalid_path", hint="List it with fs.ls.")
    blocks = await context.call("/api/block/getChildBlocks", id=place.id) or []
    again = {"action": "read", "path": place.path}
    blocks = await shown_in_window(context, blocks, arguments)
    return {
        "path": place.path,
        **window(blocks, arguments, again),
        **await databases(context, blocks),
        **fidelity(blocks),
    }


HANDLERS: Final[dict[str, Handling]] = {
    "fs.ls": Handling(ls),
    "fs.tree": Handling(tree),
    "fs.read": Handling(read),
    "fs.search": Handling(search),
    **fs_writes.HANDLERS,
}
