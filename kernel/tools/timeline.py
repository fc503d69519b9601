"""Tool ``timeline``: named points of history. They are tagged snapshots of the whole workspace's repository.

A document's points stand in its own attribute too; the tag is the truth, the attribute a list of names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from kernel.json_text import read_json
from kernel.safety.intent import Outcome
from kernel.tools.context import Arguments, Handling, ToolContext, Written, on_block, protyle
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level
from kernel.tools.timeline_diff import Change, blocks_of, changes, statistics
from kernel.tools.timeline_recent import compare_recent

PREFIX: Final = "sisyphustimeline"
ATTRIBUTE: Final = "custom-sisyphus-timeline"
_TAG: Final = re.compile(rf"{PREFIX}_(global|\d{{14}}-[0-9a-z]{{7}})_(.*)", re.DOTALL)
COMPARE_MEMO: Final = "compare"


async def list_nodes(context: ToolContext, arguments: Arguments) -> Any:
    scope, document = arguments["scope"], arguments.get("documentId")
    nodes: list[dict[str, Any]] = []
    tagged = await _tagged(context)
    if scope in ("global", "all"):
        nodes += [_node(row) for row in tagged.values() if _scope_of(row["tag"]) == "global"]
    if scope in ("document", "all") and document:
        nodes += [node for node in await _indexed(context, document) if node.get("tag") in tagged]
    nodes.sort(key=lambda node: -int(node.get("created") or 0))
    page, size = arguments["page"], arguments["pageSize"]
    pages = math.ceil(len(nodes) / size)
    return {
        "nodes": nodes[(page - 1) * size : page * size],
        "page": page,
        "pageSize": size,
        "total": len(nodes),
        "pageCount": pages,
        "hasMore": page < pages,
    }


async def _tagged(context: ToolContext) -> dict[str, dict[str, Any]]:
    """Our tagged snapshots by tag."""
    data = await context.call("/api/repo/getRepoTagSnapshots")
    rows = (data or {}).get("snapshots") or []
    return {str(row["tag"]): row for row in rows if _TAG.fullmatch(str(row.get("tag")))}


def _scope_of(tag: str) -> str:
    match = _TAG.fullmatch(tag)
    return "global" if match is None or match[1] == "global" else "document"


def _node(row: dict[str, Any]) -> dict[str, Any]:
    match = _TAG.fullmatch(str(row["tag"]))
    name = match[2] if match is not None else str(row["tag"])
    return {
        "name": name,
        "created": row.get("created"),
        "snapshotId": row.get("id"),
        "tag": row["tag"],
        "scope": _scope_of(str(row["tag"])),
    }


async def _indexed(context: ToolContext, document: str) -> list[dict[str, Any]]:
    """The points that a document names in its attribute."""
    attributes = await context.call("/api/attr/getBlockAttrs", id=document) or {}
    try:
        stored = read_json(attributes.get(ATTRIBUTE) or "[]")
    except ValueError:
        return []
    return [node for node in stored if isinstance(node, dict)] if isinstance(stored, list) else []


async def create_node(context: ToolContext, arguments: Arguments) -> Written:
    name, scope, document = arguments["name"], arguments["scope"], arguments.get("documentId")
    snapshot = await _snapshot(context, name)
    owner = document if scope == "document" else "global"
    plain = re.sub(r"[^\w-]+", "", name)
    tag = f"{PREFIX}_{owner}_{plain}"
    if tag in await _tagged(context):
        tag += context.clock.local().strftime("%Y%m%d%H%M%S")
    await context.call("/api/repo/tagSnapshot", id=snapshot, name=tag)
    created = context.clock.wall_ms()
    node = {"name": name, "created": created, "snapshotId": snapshot, "tag": tag, "scope": scope}
    payload: dict[str, Any] = {"node": node}
    if scope != "document":
        return Written(payload, changed=True)
    payload["documentId"] = document
    await _store(context, str(document), [*await _indexed(context, str(document)), node])
    return Written(payload, protyle(str(document)), changed=True)


def create_confirms(context: ToolContext, arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """The new point's tag is in the repository on its snapshot, and its document names it."""

    async def confirm(outcome: Outcome) -> bool:
        node = outcome.payload["node"]
        row = (await _tagged(context)).get(node["tag"])
        if row is None or row.get("id") != node["snapshotId"]:
            return False
        if arguments["scope"] != "document":
            return True
        return node in await _indexed(context, str(arguments["documentId"]))

    return confirm


async def _snapshot(context: ToolContext, memo: str) -> str:
    """Keep the present state; without a change the newest snapshot is the present state."""
    await context.call("/api/repo/createSnapshot", memo=memo)
    data = await context.call("/api/repo/getRepoSnapshots", page=1)
    snapshots = (data or {}).get("snapshots") or []
    if not snapshots:
        raise refusal("The repository holds no snapshot.", "not_found")
    return str(snapshots[0]["id"])


async def _store(context: ToolContext, document: str, nodes: Sequence[dict[str, Any]]) -> None:
    text = json.dumps(list(nodes), ensure_ascii=False, separators=(",", ":")) if nodes else ""
    await context.call("/api/attr/setBlockAttrs", id=document, attrs={ATTRIBUTE: text})


async def compare_node(context: ToolContext, arguments: Arguments) -> Any:
    document, tag = arguments["documentId"], arguments["tag"]
    node, rows, current, _ = await _compared(context, document, tag)
    shown = rows if arguments["includeUnchanged"] else [row for row in rows if row.status != "unchanged"]
    page, size = arguments["page"], arguments["pageSize"]
    pages = math.ceil(len(shown) / size)
    counts = statistics(rows)
    return {
        "node": node,
        "documentId": document,
        "currentSnapshotId": current,
        "noChanges": counts["changedBlocks"] == 0,
        "stats": counts,
        "changes": [row.as_json() for row in shown[(page - 1) * size : page * size]],
        "page": page,
        "pageSize": size,
        "total": len(shown),
        "pageCount": pages,
        "hasMore": page < pages,
    }


async def _compared(
    context: ToolContext, document: str, tag: str
) -> tuple[dict[str, Any], list[Change], str, str | None]:
    """The node, all blocks of both states, the present snapshot, and the old file's id (None: nothing changed)."""
    row = await _node_of(context, tag)
    with context.aside():
        current = await _snapshot(context, COMPARE_MEMO)
    diff = await context.call("/api/repo/diffRepoSnapshots", left=row["id"], right=current) or {}
    old_file = _file_of(diff.get("updatesLeft"), document) or _file_of(diff.get("removesRight"), document)
    new_file = _file_of(diff.get("updatesRight"), document)
    if old_file is None:
        return _node(row), [], current, None
    old = blocks_of(await _content(context, old_file))
    new = blocks_of(await _content(context, new_file)) if new_file else []
    return _node(row), changes(old, new), current, old_file


async def _node_of(context: ToolContext, tag: str) -> dict[str, Any]:
    row = (await _tagged(context)).get(tag)
    if row is None:
        raise refusal(f"There is no point of history {tag!r}.", "not_found", hint="List them with list_nodes.")
    return row


def _file_of(rows: Any, document: str) -> str | None:
    for row in rows or []:
        if str(row.get("path")).endswith(f"/{document}.sy"):
            return str(row["fileID"])
    return None


async def _content(context: ToolContext, file_id: str) -> str:
    data = await context.call("/api/repo/openRepoSnapshotFile", id=file_id)
    return str((data or {}).get("content") or "")


async def delete_node(context: ToolContext, arguments: Arguments) -> Written:
    tag, document = arguments["tag"], arguments.get("documentId")
    row = await _node_of(context, tag)
    await context.call("/api/repo/removeRepoTagSnapshot", tag=tag)
    payload = {
        "success": True,
        "tag": tag,
        "snapshotId": row["id"],
        "scope": _scope_of(tag),
        "snapshotRetained": True,
    }
    if not document:
        return Written(payload)
    await _store(context, document, [node for node in await _indexed(context, document) if node.get("tag") != tag])
    return Written(payload, protyle(document))


async def _guard_delete(context: ToolContext, arguments: Arguments) -> None:
    tag, document = arguments["tag"], arguments.get("documentId")
    match = _TAG.fullmatch(tag)
    if match is None:
        raise refusal(f"{tag!r} is no point of history.", "not_found", hint="List them with list_nodes.")
    if match[1] != "global" and match[1] != document:
        raise refusal("A document's point of history needs its documentId.", "invalid_arguments")
    if document:
        await context.require_block(document, Level.DELETE)


async def rollback_document(context: ToolContext, arguments: Arguments) -> Written:
    document, tag = arguments["documentId"], arguments["tag"]
    _, _, _, old_file = await _compared(context, document, tag)
    payload: dict[str, Any] = {"success": True, "documentId": document, "tag": tag}
    if old_file is None:
        return Written({**payload, "changed": False}, changed=False)
    await context.call("/api/repo/rollbackRepoSnapshotFile", id=old_file)
    return Written({**payload, "snapshotFileId": old_file}, protyle(document))


async def rollback_block(context: ToolContext, arguments: Arguments) -> Written:
    """The old DOM goes back as it was; nothing is translated on the way."""
    document, tag, key = arguments["documentId"], arguments["tag"], arguments["changeKey"]
    _, rows, _, _ = await _compared(context, document, tag)
    change = next((row for row in rows if row.key == key and row.status != "unchanged"), None)
    if change is None:
        raise refusal(f"There is no change {key!r} (any more).", "not_found", hint="Compare again.")
    if change.old is None and change.current is not None:
        await context.call("/api/block/deleteBlock", id=change.current.id)
    elif change.old is not None and change.current is not None:
        await context.call("/api/block/updateBlock", id=change.old.id, dataType="dom", data=change.old.editable)
    elif change.old is not None:
        await context.call(
            "/api/block/insertBlock", dataType="dom", data=change.old.editable, **_place(rows, change, document)
        )
    payload = {"success": True, "documentId": document, "tag": tag, "changeKey": key, "status": change.status}
    return Written(payload, protyle(document), changed=True)


def _place(rows: Sequence[Change], change: Change, document: str) -> dict[str, str]:
    """Where a removed block goes back to: behind the nearest block before it that is still there."""
    before = [row.current for row in rows[: rows.index(change)] if row.current is not None]
    return {"previousID": before[-1].id} if before else {"parentID": document}


async def _guard_list(context: ToolContext, arguments: Arguments) -> None:
    if arguments.get("documentId"):
        await context.require_block(arguments["documentId"], Level.READ)


async def _guard_create(context: ToolContext, arguments: Arguments) -> None:
    if arguments["scope"] == "document":
        await context.require_block(arguments["documentId"], Level.WRITE)


HANDLERS: Final[dict[str, Handling]] = {
    "timeline.list_nodes": Handling(list_nodes, _guard_list),
    "timeline.create_node": Handling(create_node, _guard_create, confirms=create_confirms),
    "timeline.compare_node": Handling(compare_node, on_block(Level.READ, "documentId")),
    "timeline.compare_recent": Handling(compare_recent, on_block(Level.READ, "documentId")),
    "timeline.delete_node": Handling(delete_node, _guard_delete),
    "timeline.rollback_document": Handling(rollback_document, on_block(Level.DELETE, "documentId")),
    "timeline.rollback_block": Handling(rollback_block, on_block(Level.DELETE, "documentId")),
}
