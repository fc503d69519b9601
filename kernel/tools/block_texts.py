"""The texts of blocks as an agent reads and edits them, fetched from the host in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kernel.tools.context import ToolContext
from kernel.tools.editable import editable
from kernel.tools.windows import span

Block = Mapping[str, Any]


async def with_texts(context: ToolContext, blocks: Iterable[Block]) -> list[dict[str, Any]]:
    """Rows of getChildBlocks with ``markdown`` as it is stored: references keep the anchors that their writer gave them."""
    rows = [dict(block) for block in blocks]
    found: Mapping[str, Any] = {}
    if rows:
        ids = [str(row.get("id")) for row in rows]
        found = await context.call("/api/block/getBlockKramdowns", ids=ids, mode="md") or {}
    return [
        {**row, "markdown": editable(str(found.get(str(row.get("id"))) or ""), str(row.get("type")))} for row in rows
    ]


async def shown_in_window(
    context: ToolContext, blocks: Sequence[Block], arguments: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """All blocks of a document, with the texts of those that a window may show and of its headings."""
    start, limit = span(arguments)
    wanted = [block for i, block in enumerate(blocks) if start <= i < start + limit or block.get("type") == "h"]
    texts = {row["id"]: row for row in await with_texts(context, wanted)}
    return [texts.get(block.get("id")) or dict(block) for block in blocks]
