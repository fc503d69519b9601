"""file.export_markdown_snapshot: many documents as Markdown, page by page, each page with hashes that bind it.

A cursor is good as long as the scope asked for and the documents found are the same: both digests stand in it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, Final

from kernel.canonical import digest
from kernel.errors import ToolError
from kernel.host.base import HostError
from kernel.json_text import read_json
from kernel.tools.context import Arguments, Handling, ToolContext, on_notebook
from kernel.tools.doc_tree import TreeWalk
from kernel.tools.failures import from_host, refusal
from kernel.tools.permissions import Level

KIND: Final = "siyuan-markdown-snapshot-page"
SCHEMA_VERSION: Final = "1.0.0"


async def export_markdown_snapshot(context: ToolContext, arguments: Arguments) -> Any:
    notebook, limit = arguments["notebookID"], arguments["limit"]
    listed: list[str] | None = arguments.get("documentIDs")
    roots: list[str] | None = arguments.get("roots")
    scope: dict[str, Any] = {"notebookID": notebook, **({"documentIDs": listed} if listed else {"roots": roots})}
    scope_hash = digest(scope)
    ids, errors = (list(dict.fromkeys(listed)), []) if listed else await _inventory(context, notebook, roots or [])
    inventory_hash = digest(ids)
    offset = _offset(arguments.get("cursor"), scope_hash, inventory_hash)
    wanted = context.progress.steps(ids[offset : offset + limit], "Exported document")
    documents = [await _document(context, notebook, block_id) for block_id in wanted]
    failed = [document for document in documents if document.get("errors")]
    has_next = offset + limit < len(ids)
    page: dict[str, Any] = {"offset": offset, "limit": limit, "total": len(ids), "hasNext": has_next}
    if has_next:
        page["nextCursor"] = _cursor(offset + limit, scope_hash, inventory_hash)
    return {
        "kind": KIND,
        "schemaVersion": SCHEMA_VERSION,
        "status": "partial" if errors or failed else "complete",
        "source": {
            "notebookID": notebook,
            "inventorySurface": "documentIDs" if listed else "document.list_tree",
            "exportSurface": "file.export_md",
            **({"documentIDs": listed} if listed else {"roots": roots}),
        },
        "scope": {**scope, "scopeHash": scope_hash},
        "page": page,
        "inventoryHash": inventory_hash,
        "documents": documents,
        "conflicts": _conflicts(documents),
        "errors": errors,
    }


async def _inventory(
    context: ToolContext, notebook: str, roots: Sequence[str]
) -> tuple[list[str], list[dict[str, Any]]]:
    """The roots (ids, or storage paths) with everything below them, in tree order."""
    ids: dict[str, None] = {}
    errors = []
    for root in roots:
        block_id = root.rsplit("/", 1)[-1].removesuffix(".sy")
        try:
            path = "/"
            if block_id:
                path = str((await context.call("/api/filetree/getPathByID", id=block_id))["path"])
                ids[block_id] = None
            walk = TreeWalk(context, notebook, 1 << 20, lambda row, below, _: {"id": row.get("id"), "below": below})
            waiting = list(reversed(await walk.below(path, path)))
        except HostError as error:
            errors.append({"code": "enumeration_failed", "message": from_host(error).message, "path": root})
            continue
        while waiting:
            node = waiting.pop()
            ids[str(node["id"])] = None
            waiting.extend(reversed(node["below"]))
        errors += [{"code": "enumeration_failed", "message": e["message"], "path": e["path"]} for e in walk.errors]
    return list(ids), errors


async def _document(context: ToolContext, notebook: str, block_id: str) -> dict[str, Any]:
    try:
        if await context.require_block(block_id, Level.READ) != notebook:
            return _failed(block_id, "permission_denied", "The document is in another notebook.")
        place = await context.call("/api/filetree/getPathByID", id=block_id)
        info = await context.call("/api/block/getDocInfo", id=block_id)
    except ToolError as error:
        return _failed(block_id, "permission_denied", error.message)
    except HostError as error:
        return _failed(block_id, "document_metadata_unavailable", from_host(error).message)
    try:
        data = await context.call("/api/export/exportMdContent", id=block_id)
    except HostError as error:
        return _failed(block_id, "export_failed", from_host(error).message)
    content, human = str(data.get("content") or ""), str(data.get("hPath") or "")
    metadata = {"title": info.get("name"), "icon": info.get("icon"), "attributes": info.get("ial")}
    return {
        "id": block_id,
        "title": info.get("name"),
        "hPath": human,
        "storagePath": place["path"],
        "metadata": metadata,
        "metadataHash": digest(metadata),
        "relativePath": human.removeprefix("/") + ".md",
        "content": content,
        "contentHash": digest(content),
    }


def _failed(block_id: str, code: str, message: str) -> dict[str, Any]:
    return {"id": block_id, "errors": [{"code": code, "message": message, "documentID": block_id}]}


def _conflicts(documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Documents that would be saved under the same name."""
    by_path: dict[str, list[str]] = {}
    for document in documents:
        if path := document.get("relativePath"):
            by_path.setdefault(path.casefold(), []).append(document["id"])
    return [{"relativePath": path, "documentIDs": ids} for path, ids in by_path.items() if len(ids) > 1]


def _cursor(offset: int, scope_hash: str, inventory_hash: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([offset, scope_hash, inventory_hash]).encode()).decode()


def _offset(cursor: str | None, scope_hash: str, inventory_hash: str) -> int:
    if cursor is None:
        return 0
    try:
        offset, scope, inventory = read_json(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError) as error:
        raise refusal("The cursor is not one of ours: restart from the first page.", "invalid_arguments") from error
    if (scope, inventory) != (scope_hash, inventory_hash) or not isinstance(offset, int) or offset < 0:
        raise refusal("The documents changed: restart from the first page.", "state_changed")
    return offset


HANDLERS: Final[dict[str, Handling]] = {
    "file.export_markdown_snapshot": Handling(export_markdown_snapshot, on_notebook(Level.READ, "notebookID")),
}
