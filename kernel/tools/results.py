"""From a handler's payload to a tool result: the text slimmed, the structure complete. Does no I/O.

Reads answer the same slimmed value as text and as structure. Writes keep their whole structure and slim only the text.
Slimming drops bookkeeping, never content that was asked for: rows of SQL and databases pass whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from kernel.tools.service import ToolResult

# What the text of a successful write keeps.
_WRITE_KEYS: Final = frozenset(
    [
        "success",
        "id",
        "ids",
        "title",
        "name",
        "path",
        "paths",
        "notebook",
        "count",
        "warning",
        "created",
        "overwritten",
        "changed",
        "editsApplied",
        "replacements",
        "skippedComplexBlocks",
        "recommendedTools",
        "folded",
        "fromID",
        "toID",
        "fromIDs",
        "toIDs",
        "from",
        "to",
        "updated",
        "partial",
        "reason",
        "permission",
        "oldLabel",
        "newLabel",
        "label",
        "avID",
        "keyID",
        "columnID",
        "rowID",
        "blockID",
        "srcIDs",
        "removed",
        "templateID",
        "itemID",
        "viewID",
        "partialFailure",
    ]
)
# Bookkeeping at the top of any other payload.
_TOP_NOISE: Final = frozenset(
    {"uiRefresh", "iconHint", "action", "materialized", "parentID", "previousID", "nextID", "dataType", "resolvedArgs"}
    | {"showing", "paginationMode"}
)
# Bookkeeping inside lists.
_ITEM_NOISE: Final = frozenset(
    [
        "box",
        "icon",
        "sort",
        "sortMode",
        "content",
        "markdown",
        "fcontent",
        "rootID",
        "ial",
        "newFlashcardCount",
        "dueFlashcardCount",
        "flashcardCount",
    ]
)
# What databases hold is what was asked for; only icons are bookkeeping there.
_DATABASE_NOISE: Final = frozenset({"icon"})
_HIT_KEYS: Final = ("id", "type", "subtype", "hPath", "path", "notebookName")
_HIT_TEXTS: Final = ("plainContent", "excerpt", "content")
# Under this key a payload carries a foreign tool's whole result.
FOREIGN_KEY: Final = "_foreign"
# Under this key a payload carries an MCP image, which becomes a content item of its own.
IMAGE_KEY: Final = "_image"
# Actions whose payload is handed over as it is: the texts of documents are what was asked for, not bookkeeping.
WHOLE: Final = frozenset(
    {
        "extension",
        "timeline",
        "system.conf",
        "search.query_sql",
        "file.export_markdown_snapshot",
        "file.extract_doc",
    }
)


_encode: Final = msgspec.json.Encoder().encode


def text_of(value: Any) -> str:
    """The text form of a payload: a plain text stays one, all else is compact JSON."""
    if isinstance(value, str):
        return value
    try:
        return _encode(value).decode()
    except (TypeError, ValueError, OverflowError):
        # Lone surrogates and keys that are no text: rare, and the slower encoder takes them.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def structured_of(value: Any) -> dict[str, Any]:
    """Structured content is always an object."""
    return value if isinstance(value, dict) else {"value": value}


def success(payload: Any, *, key: str, is_write: bool, slims: bool = True) -> ToolResult:
    """The result of ``tool.action`` (``key``)."""
    tool = key.split(".", 1)[0]
    slimmed = payload
    if slims and key not in WHOLE and tool not in WHOLE:
        slimmed = slim(payload, noise=_DATABASE_NOISE if tool == "av" else _ITEM_NOISE)
    images = []
    if isinstance(slimmed, dict) and IMAGE_KEY in slimmed:
        slimmed = dict(slimmed)
        images.append(slimmed.pop(IMAGE_KEY))
    content = [{"type": "text", "text": text_of(slimmed)}, *images]
    return ToolResult(content, structured_of(payload if is_write else slimmed))


def foreign(payload: Mapping[str, Any]) -> ToolResult:
    """A foreign tool's own result, untouched but for the mark that nothing is guaranteed (R62, R108). The tool has run:
    what is no content item costs the others nothing."""
    result = payload[FOREIGN_KEY]
    content = result.get("content")
    structured = result.get("structuredContent")
    own = structured if isinstance(structured, dict) else {"value": text_of(content)}
    return ToolResult(
        [item for item in content if isinstance(item, dict)] if isinstance(content, list) else [],
        {**own, "safety": payload.get("safety")},
        is_error=result.get("isError") is True,
    )


def failure(payload: dict[str, Any], *, text: str | None = None) -> ToolResult:
    """A result with isError. ``text`` replaces the JSON where older clients expect a sentence."""
    return ToolResult([{"type": "text", "text": text or text_of(payload)}], payload, is_error=True)


def slim(payload: Any, *, noise: frozenset[str] = _ITEM_NOISE) -> Any:
    """A payload without bookkeeping; ``noise`` are the keys that items of lists lose."""
    if isinstance(payload, list):
        return [_slim_item(item, noise) for item in payload]
    if not isinstance(payload, dict):
        return payload
    if payload.get("success") is True:
        kept = {key: value for key, value in payload.items() if key in _WRITE_KEYS}
        safety = payload.get("safety")
        # A strict caller needs its receipt even if it only reads the text.
        if isinstance(safety, dict) and safety.get("writeSafetyMode") == "strict":
            kept["safety"] = safety
        return kept
    return {key: _slim_nested(value, noise) for key, value in payload.items() if key not in _TOP_NOISE}


def _slim_nested(value: Any, noise: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_slim_item(item, noise) for item in value]
    if isinstance(value, dict):
        return {key: _slim_nested(item, noise) for key, item in value.items()}
    return value


def _slim_item(item: Any, noise: frozenset[str]) -> Any:
    if not isinstance(item, dict):
        return _slim_nested(item, noise)
    if noise is not _DATABASE_NOISE and is_hit(item):
        hit = {key: item[key] for key in _HIT_KEYS if key in item}
        text = next((key for key in _HIT_TEXTS if key in item), None)
        return hit if text is None else {**hit, text: item[text]}
    return {key: _slim_nested(value, noise) for key, value in item.items() if key not in noise}


def is_hit(item: Mapping[str, Any]) -> bool:
    """Whether a list item is a block as search shows it."""
    return "hPath" in item and "type" in item and any(key in item for key in _HIT_TEXTS)


def page_of(items: Sequence[Any], page: int, page_size: int, *, clamps: bool = True, **extra: Any) -> dict[str, Any]:
    """One page of a list: ``{data, total, page, pageSize, pageCount, hasNextPage}``; past the end is the last page."""
    pages = max(1, math.ceil(len(items) / page_size))
    shown = min(page, pages) if clamps else page
    start = (shown - 1) * page_size
    return {
        "data": list(items[start : start + page_size]),
        "total": len(items),
        "page": shown,
        "pageSize": page_size,
        "pageCount": pages,
        "hasNextPage": shown < pages,
        **extra,
    }


def filtered_out(count: int) -> dict[str, Any]:
    """What a result says when permissions removed something from it; nothing when they did not."""
    if not count:
        return {}
    return {
        "partial": True,
        "filteredOutCount": count,
        "reason": "permission_filtered",
        "permissionSummary": {
            "filteredOutCount": count,
            "reason": "permission_filtered",
            "suggestion": "Ask the owner for read access to the notebooks that hold the rest.",
        },
    }
