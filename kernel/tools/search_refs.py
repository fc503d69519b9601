"""References: backlinks and mentions, blocks to refer to, references whose target is gone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kernel.tools.context import Arguments, Handling, ToolContext, on_block
from kernel.tools.permissions import Level
from kernel.tools.results import filtered_out

_MARK: Final = re.compile(r"</?mark>")
_FALLBACK_WARNING: Final = "The host gave no backlink documents: these were found in the index, which may lag."
_ROWS_MAX: Final = 1000
_MENTIONS_MAX: Final = 200
_HIT_COLUMNS: Final = "b.id, b.type, b.subtype, b.hpath, b.path, b.box, b.root_id, b.content"


async def get_backlinks(context: ToolContext, arguments: Arguments) -> Any:
    """Blocks that refer to a block, and blocks that only say what it says; both from the index."""
    block_id, mode = arguments["id"], arguments["mode"]
    links = await _links(context, block_id, arguments) if mode != "mentions" else []
    mentions = await _mentions(context, block_id, arguments) if mode != "links" else []
    shown = [[row for row in rows if context.readable(str(row.get("box")))] for rows in (links, mentions)]
    return {
        "backlinks": shown[0],
        "backmentions": shown[1],
        "fallbackUsed": True,
        "sourcePayloadMissing": True,
        "fallbackQuery": "sql",
        "resultConfidence": "fallback",
        "mode": mode,
        "warning": _FALLBACK_WARNING,
        **filtered_out(len(links) + len(mentions) - sum(map(len, shown))),
    }


async def _mentions(context: ToolContext, block_id: str, arguments: Arguments) -> list[dict[str, Any]]:
    """The blocks whose text holds the block's own text (its name, where it has none)."""
    found = await context.sql(f"SELECT content, name FROM blocks WHERE id = {_quoted(block_id)} LIMIT 1")
    texts = [str(row.get(name) or "").strip() for row in found for name in ("content", "name")]
    label = next(filter(None, texts), None)
    if label is None:
        return []
    where = [f"b.id != {_quoted(block_id)}", f"instr(b.content, {_quoted(label)}) > 0"]
    if root := arguments.get("refTreeID"):
        where.append(f"b.root_id = {_quoted(root)}")
    if keyword := (arguments.get("keyword") or "").strip():
        where.append(f"instr(b.content, {_quoted(keyword)}) > 0")
    rows = await context.sql(
        f"SELECT {_HIT_COLUMNS} FROM blocks b WHERE {' AND '.join(where)} ORDER BY b.updated DESC LIMIT {_MENTIONS_MAX}"
    )
    return [_row_hit(row) for row in rows]


async def _links(context: ToolContext, block_id: str, arguments: Arguments) -> list[dict[str, Any]]:
    where = [f"r.def_block_id = {_quoted(block_id)}"]
    if root := arguments.get("refTreeID"):
        where.append(f"b.root_id = {_quoted(root)}")
    if keyword := arguments.get("keyword"):
        escaped = keyword.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        where.append(f"b.content LIKE {_quoted('%' + escaped + '%')} ESCAPE '\\'")
    rows = await context.sql(
        f"SELECT {_HIT_COLUMNS} FROM refs r JOIN blocks b ON b.id = r.block_id "
        f"WHERE {' AND '.join(where)} ORDER BY b.updated DESC LIMIT {_ROWS_MAX}"
    )
    # A block that refers to the target twice is one backlink.
    return [_row_hit(row) for row in {str(row.get("id")): row for row in rows}.values()]


def _row_hit(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the index as search shows a block."""
    return {
        "id": row.get("id"),
        "type": row.get("type"),
        "hPath": row.get("hpath"),
        "path": row.get("path"),
        "box": row.get("box"),
        "rootID": row.get("root_id"),
        "plainContent": row.get("content") or "",
    }


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


async def descendants(context: ToolContext, block_id: str) -> set[str]:
    """A block and everything below it, from the live tree."""
    found = {block_id}
    waiting = [block_id]
    while waiting:
        for child in await context.call("/api/block/getChildBlocks", id=waiting.pop()) or []:
            if child["id"] not in found:
                found.add(child["id"])
                context.progress.found("Looked through the blocks")
                if child.get("type") in ("l", "i", "b", "s", "h", "callout"):
                    waiting.append(child["id"])
    return found


async def search_refs(context: ToolContext, arguments: Arguments) -> Any:
    data = await context.call(
        "/api/search/searchRefBlock",
        id=arguments["id"],
        rootID=arguments.get("rootID") or "",
        k=arguments.get("k") or "",
        beforeLen=arguments["beforeLen"],
        isSquareBrackets=bool(arguments.get("isSquareBrackets")),
        isDatabase=bool(arguments.get("isDatabase")),
        reqId=arguments.get("reqId"),
    )
    return _listed(context, dict(data or {}))


async def list_invalid_refs(context: ToolContext, arguments: Arguments) -> Any:
    data = dict(
        await context.call("/api/search/listInvalidBlockRefs", page=arguments["page"], pageSize=arguments["pageSize"])
        or {}
    )
    for name in ("matchedBlockCount", "matchedRootCount"):
        data.pop(name, None)
    return _listed(context, data)


def _listed(context: ToolContext, data: dict[str, Any]) -> dict[str, Any]:
    """The host's blocks that may be read, under their own name and as ``data``."""
    blocks: Sequence[dict[str, Any]] = data.get("blocks") or []
    readable = [block for block in blocks if context.readable(str(block.get("box")))]
    hits = [{**block, "plainContent": _MARK.sub("", str(block.get("content") or ""))} for block in readable]
    count = len(blocks) - len(readable)
    removed = {"filteredOutBlockCount": count, **filtered_out(count)} if count else {}
    return {**data, "blocks": hits, "data": hits, "total": len(hits), "truncated": False, **removed}


HANDLERS: Final[dict[str, Handling]] = {
    "search.get_backlinks": Handling(get_backlinks, on_block(Level.READ, "id")),
    "search.search_refs": Handling(search_refs, on_block(Level.READ, "id")),
    "search.list_invalid_refs": Handling(list_invalid_refs),
}
