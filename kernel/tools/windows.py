"""A window over a document's Markdown: whole blocks, bounded by count, tokens and bytes. Does no I/O.

The blocks are the document's direct children as the host lists them, each with its text (``editable``); a container is
one block.
The first block of a window is always given, even above the budget.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kernel.tools.editable import ZERO_WIDTH, fenced
from kernel.tools.limits import (
    CHARS_PER_TOKEN,
    WINDOW_BLOCKS_DEFAULT,
    WINDOW_CONTENT_BYTES_MAX,
    WINDOW_TOKENS_DEFAULT,
)

TOKEN_MODE: Final = "approx_context_v1"
# Block types that Markdown cannot carry faithfully.
COMPLEX_TYPES: Final = frozenset({"s", "av", "iframe", "widget", "query_embed", "html", "video", "audio"})
RECOMMENDED_READS: Final = ("file.export_md", "block.dom")
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s+(.+?)(?:\s+#+)?\s*$")
_NEXT_HINT: Final = "Call again with the arguments of nextWindow to read on."
_COMPLEX_WARNING: Final = "Some blocks are shown as Markdown only in part: read them by the recommended actions."


def clean(markdown: str) -> str:
    """Markdown without the editor's zero-width characters."""
    return markdown.translate(ZERO_WIDTH)


def tokens_of(text: str) -> int:
    """About how many tokens a text takes: a quarter of its UTF-16 length, as its clients count."""
    return math.ceil(len(text.encode("utf-16-le", "surrogatepass")) / 2 / CHARS_PER_TOKEN)


def span(arguments: Mapping[str, Any]) -> tuple[int, int]:
    """The first block that a call asks for, and how many at most."""
    return int(arguments.get("blockStart", 0)), int(arguments.get("blockLimit", WINDOW_BLOCKS_DEFAULT))


def window(
    blocks: Sequence[Mapping[str, Any]], arguments: Mapping[str, Any], again: Mapping[str, Any]
) -> dict[str, Any]:
    """The window that ``arguments`` ask for. ``again``: what a call for the next one says besides the window."""
    start, limit = span(arguments)
    budget = int(arguments.get("tokenBudget", WINDOW_TOKENS_DEFAULT))
    shows_ids = bool(arguments.get("includeBlockIds"))
    content, count = _filled(blocks[start : start + limit], budget)
    has_next = start + count < len(blocks) and count > 0
    payload: dict[str, Any] = {
        "content": content,
        "outline": _outline(blocks, shows_ids),
        "blockStart": start,
        "blockLimit": limit,
        "returnedBlocks": count,
        "totalBlocks": len(blocks),
        "tokenBudget": budget,
        "estimatedTokens": tokens_of(content),
        "tokenMode": TOKEN_MODE,
        "truncated": has_next,
        "hasNextWindow": has_next,
    }
    if tokens_of(content) > budget:
        payload["budgetExceeded"] = True
    if shows_ids:
        payload["blockRefs"] = [_block_ref(start + i, block) for i, block in enumerate(blocks[start : start + count])]
    if has_next:
        next_window = {**again, "blockStart": start + count, "blockLimit": limit, "tokenBudget": budget}
        payload["nextWindow"] = {**next_window, **({"includeBlockIds": True} if shows_ids else {})}
        payload["nextWindowHint"] = _NEXT_HINT
    return payload


def fidelity(blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a reader should know about blocks that Markdown shows only in part; nothing when there are none."""
    complex_types = list(dict.fromkeys(str(b.get("type")) for b in blocks if b.get("type") in COMPLEX_TYPES))
    if not complex_types:
        return {}
    return {
        "nonFidelityWarning": _COMPLEX_WARNING,
        "complexBlockTypes": complex_types,
        "recommendedReads": list(RECOMMENDED_READS),
    }


def _filled(blocks: Sequence[Mapping[str, Any]], budget: int) -> tuple[str, int]:
    """As many blocks as fit, at least one."""
    content = ""
    for count, block in enumerate(blocks):
        longer = joined(content, str(block.get("markdown") or ""))
        size = len(longer.encode("utf-8", "surrogatepass"))
        if count and (tokens_of(longer) > budget or size > WINDOW_CONTENT_BYTES_MAX):
            return content, count
        content = longer
    return content, len(blocks)


def joined(before: str, after: str) -> str:
    """Two pieces of Markdown with a blank line between; an empty piece leaves no trace."""
    return f"{before}\n\n{after}" if before and after else before or after


def _outline(blocks: Sequence[Mapping[str, Any]], shows_ids: bool) -> list[dict[str, Any]]:
    rows = []
    for index, block in enumerate(blocks):
        if block.get("type") != "h":
            continue
        row = _heading(index, str(block.get("markdown") or "").split("\n", 1)[0])
        if row is not None:
            rows.append({**row, "id": block.get("id")} if shows_ids else row)
    return rows


def _heading(index: int, line: str) -> dict[str, Any] | None:
    """A heading as an outline shows it; None for a line that is none."""
    found = _HEADING.match(line)
    return {"blockIndex": index, "level": len(found[1]), "title": found[2].strip()} if found else None


def headings(text: str) -> list[dict[str, Any]]:
    """The outline of a text that is no document: all of it is one block."""
    found = [_heading(0, line) for line, is_fenced in fenced(text) if not is_fenced]
    return [row for row in found if row is not None]


def _block_ref(index: int, block: Mapping[str, Any]) -> dict[str, Any]:
    return {"blockIndex": index, "id": block.get("id"), "type": block.get("type")}
