"""``timeline.compare_recent``: a document beside the newest copy that the host's own history keeps of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from kernel.tools.context import Arguments, ToolContext
from kernel.tools.timeline_diff import Change, blocks_of, changes, statistics

# The host's search of its history by the id of a document.
_BY_DOCUMENT: Final = 3
_STATISTICS: Final = ("addedLines", "removedLines", "changedBlocks")


async def compare_recent(context: ToolContext, arguments: Arguments) -> Any:
    document = arguments["documentId"]
    info = await context.block_info(document)
    moments = await _moments(context, document)
    baseline, rows = None, []
    for moment in moments:
        if (baseline := await _kept(context, document, moment)) is not None:
            rows = await _changes(context, document, baseline["path"])
            break
    shown = [row for row in rows if row.status != "unchanged"]
    payload: dict[str, Any] = {
        "source": "recent_history",
        "documentId": document,
        "baseline": baseline,
        "current": {"updated": info.get("updated") or "", "title": info.get("rootTitle"), "path": info.get("path")},
        "scannedCandidates": len(moments),
        "noChanges": not shown,
    }
    if not shown:
        payload["reason"] = "no_history" if baseline is None else "no_changes"
    counts = statistics(rows)
    payload["changeKinds"] = sorted({row.status for row in shown})
    payload["stats"] = {name: counts[name] for name in _STATISTICS}
    return {**payload, **_page(shown, arguments["page"], arguments["pageSize"])}


async def _moments(context: ToolContext, document: str) -> list[str]:
    """When something of the document was kept, the newest first (the first page of the host's list)."""
    data = await context.call(
        "/api/history/searchHistory", query=document, type=_BY_DOCUMENT, op="all", notebook="%", page=1
    )
    return [str(moment) for moment in (data or {}).get("histories") or []]


async def _kept(context: ToolContext, document: str, moment: str) -> dict[str, Any] | None:
    data = await context.call(
        "/api/history/getHistoryItems", query=document, type=_BY_DOCUMENT, op="all", notebook="%", created=moment
    )
    for item in (data or {}).get("items") or []:
        if str(item.get("path")).endswith(f"/{document}.sy"):
            return {"created": moment, "title": item.get("title"), "path": item["path"], "op": item.get("op")}
    return None


async def _changes(context: ToolContext, document: str, kept_path: str) -> list[Change]:
    old = await context.call("/api/history/getDocHistoryContent", historyPath=kept_path, highlight=False) or {}
    new = await context.call("/api/block/getBlockDOM", id=document) or {}
    return changes(blocks_of(str(old.get("content") or "")), blocks_of(str(new.get("dom") or "")))


def _page(rows: Sequence[Change], page: int, size: int) -> dict[str, Any]:
    pages = math.ceil(len(rows) / size)
    # These are compared only: rollback_block goes back to named points.
    listed = [row.as_json() for row in rows[(page - 1) * size : page * size]]
    for row in listed:
        del row["rollbackable"]
    position = {"page": page, "pageSize": size, "total": len(rows), "pageCount": pages, "hasMore": page < pages}
    return {"changes": listed, **position}
