"""Tool ``search``: full text, meaning, SQL, assets, and replacing text. References are in ``search_refs``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kernel.errors import ToolError
from kernel.tools import search_refs
from kernel.tools.context import Arguments, Handling, ToolContext, Written, on_block
from kernel.tools.failures import refusal
from kernel.tools.limits import SEARCH_PAGE_SIZE_DEFAULT, SEARCH_PAGE_SIZE_MAX, SHOWN_HITS_MAX
from kernel.tools.permissions import Level
from kernel.tools.registry.search import ASSET_SORTS, METHODS, SORTS, TYPE_SHORTCODES
from kernel.tools.results import filtered_out
from kernel.tools.sql_guard import NotOneSelect, checked_select

_MARK: Final = re.compile(r"</?mark>")
_MORE_HINT: Final = "More hits than shown: turn pages, or narrow the query."
_SEMANTIC_HINT: Final = "Search by meaning may send the query to the configured model."
# What findReplace replaces when a caller does not say: the host itself would replace nothing (kernel-facts 20).
_REPLACED_TYPES: Final = {"text": True}


async def fulltext(context: ToolContext, arguments: Arguments) -> Any:
    page = max(1, int(arguments["page"]))
    size = min(max(1, int(arguments["pageSize"])), SEARCH_PAGE_SIZE_MAX)
    method, sort, resolved = _method_and_sort(arguments, SORTS)
    parent = arguments.get("parentId")
    narrows = bool(parent) or arguments.get("hasTags") is True
    data = await context.call(
        "/api/search/fullTextSearchBlock",
        query=arguments["query"],
        method=method,
        types=_types(arguments),
        paths=arguments.get("paths"),
        groupBy=arguments.get("groupBy"),
        orderBy=sort,
        page=page,
        pageSize=min(size * 3, SEARCH_PAGE_SIZE_MAX) if narrows else size,
    )
    found = [block for block in (data or {}).get("blocks") or [] if isinstance(block, dict)]
    readable = [block for block in found if context.readable(str(block.get("box")))]
    kept = await _narrowed(context, readable, arguments)
    removed = len(found) - len(readable)
    total = len(kept) if removed or narrows else int((data or {}).get("matchedBlockCount") or 0)
    shown = [await _hit(context, block) for block in kept[: min(size, SHOWN_HITS_MAX)]]
    payload: dict[str, Any] = {
        "data": shown,
        "total": total,
        "page": page,
        "pageSize": size,
        "pageCount": math.ceil(total / size) if not removed else max(1, math.ceil(total / size)),
        "hasNextPage": page * size < total,
        "docMode": bool((data or {}).get("docMode")),
    }
    if removed:
        payload |= {"filteredOutBlockCount": removed, **filtered_out(removed)}
    if narrows:
        payload |= {"paginationMode": "post_filtered_window", **({"parentIdFilter": parent} if parent else {})}
    if resolved:
        payload["resolvedArgs"] = resolved
    return {**payload, **_shown(len(shown), min(len(kept), size))}


def _method_and_sort(arguments: Arguments, sorts: Mapping[str, int]) -> tuple[int, int | None, dict[str, Any]]:
    """The host's numbers for the words of a call, and which words were used. The order is the host's where none is asked."""
    resolved: dict[str, Any] = {}
    method = int(arguments.get("method") or 0)
    if name := arguments.get("methodName"):
        method = METHODS[name]
        resolved |= {"method": method, "methodName": name}
    sort = int(arguments["orderBy"]) if "orderBy" in arguments else None
    if name := arguments.get("sortBy"):
        sort = sorts[name]
        resolved |= {"orderBy": sort, "sortBy": name}
    return method, sort, resolved


def _types(arguments: Arguments) -> dict[str, bool] | None:
    """The block types to look at; None leaves it to the host.

    Raises:
        ToolError: a short code that is none.
    """
    types = dict(arguments.get("types") or {})
    for code in arguments.get("typeShortcodes") or []:
        if code not in TYPE_SHORTCODES:
            raise ToolError(
                "invalid_arguments",
                f"{code!r} is no type short code.",
                hint="Short codes: " + ", ".join(TYPE_SHORTCODES),
            )
        types[TYPE_SHORTCODES[code]] = True
    return types or None


async def _narrowed(
    context: ToolContext, blocks: Sequence[dict[str, Any]], arguments: Arguments
) -> list[dict[str, Any]]:
    kept = list(blocks)
    if arguments.get("hasTags") is True:
        kept = [block for block in kept if block.get("tag")]
    if parent := arguments.get("parentId"):
        root = await context.root_of(parent)
        if root == parent:
            kept = [block for block in kept if block.get("rootID") == parent]
        else:
            below = await search_refs.descendants(context, parent)
            kept = [block for block in kept if block.get("id") in below]
    return kept


async def _hit(context: ToolContext, block: Mapping[str, Any]) -> dict[str, Any]:
    """A block as search shows it, its marks taken out of the text."""
    return {
        **block,
        "notebookName": await context.notebook_name(str(block.get("box"))),
        "plainContent": plain(block),
    }


def plain(block: Mapping[str, Any]) -> str:
    """The words of a hit."""
    return _MARK.sub("", str(block.get("content") or ""))


def _shown(count: int, available: int) -> dict[str, Any]:
    if count >= available:
        return {"truncated": False}
    return {"truncated": True, "showing": count, "hint": _MORE_HINT}


async def semantic(context: ToolContext, arguments: Arguments) -> Any:
    page, size = arguments["page"], arguments["pageSize"]
    data = await context.call(
        "/api/search/semanticSearchBlock",
        query=arguments["query"],
        paths=arguments.get("paths"),
        types=_types(arguments),
        subTypes=arguments.get("subTypes"),
        page=page,
        pageSize=size,
    )
    found = [block for block in (data or {}).get("blocks") or [] if isinstance(block, dict)]
    readable = [block for block in found if context.readable(str(block.get("box")))]
    total = int((data or {}).get("matchedBlockCount") or 0)
    removed = len(found) - len(readable)
    return {
        "data": [await _hit(context, block) for block in readable],
        "total": None if removed else total,
        "page": page,
        "pageSize": size,
        "pageCount": math.ceil(total / size),
        "hasNextPage": page * size < total,
        "dataEgress": True,
        "externalCost": True,
        "hint": _SEMANTIC_HINT,
        **filtered_out(removed),
    }


async def query_sql(context: ToolContext, arguments: Arguments) -> Any:
    """SQL sees every notebook, so every notebook must be readable; rows are then handed over whole."""
    hidden = context.permissions.unreadable(str(row["id"]) for row in await context.notebooks())
    if hidden:
        raise refusal(
            f"SQL reads all notebooks, and {len(hidden)} of them may not be read.",
            "permission_denied",
            hint="Use fulltext: it leaves out what may not be read.",
        )
    try:
        statement = checked_select(arguments["stmt"])
    except NotOneSelect as error:
        raise refusal(str(error), "invalid_arguments", hint="Give one SELECT.") from error
    rows = await context.sql(statement)
    rows_max = arguments["maxRows"]
    shown = rows[:rows_max]
    payload: dict[str, Any] = {"data": shown, "total": len(rows), "truncated": len(rows) > rows_max}
    if len(rows) > rows_max:
        payload["hint"] = f"{len(shown)} rows are shown: raise maxRows, or add LIMIT and OFFSET."
    unattributed = sum("box" not in row for row in rows)
    if unattributed:
        payload |= {"unattributedRowsIncluded": unattributed, "permissionScope": "all_notebooks_readable"}
    return payload


async def find_replace(context: ToolContext, arguments: Arguments) -> Written:
    method, sort, resolved = _method_and_sort(arguments, SORTS)
    ids: list[str] = arguments["ids"]
    await context.call(
        "/api/search/findReplace",
        k=arguments["k"],
        r=arguments["r"],
        ids=ids,
        paths=arguments.get("paths"),
        types=arguments.get("types"),
        method=method,
        orderBy=sort,
        groupBy=arguments.get("groupBy"),
        replaceTypes=arguments.get("replaceTypes") or _REPLACED_TYPES,
    )
    payload: dict[str, Any] = {"success": True, "replaced": True, "ids": ids, "k": arguments["k"], "r": arguments["r"]}
    if arguments.get("paths"):
        payload["paths"] = arguments["paths"]
    if resolved:
        payload["resolvedArgs"] = resolved
    return Written(payload)


async def search_assets(context: ToolContext, arguments: Arguments) -> Any:
    query = arguments.get("query")
    k = arguments.get("k") if query is None else query
    rows = await context.call("/api/search/searchAsset", k=k, exts=arguments.get("exts")) or []
    return rows if query is None else {"data": rows, "resolvedArgs": {"query": query}}


async def fulltext_asset_content(context: ToolContext, arguments: Arguments) -> Any:
    if asset := arguments.get("assetId"):
        return await context.call(
            "/api/search/getAssetContent",
            id=asset,
            query=arguments.get("query") or "",
            queryMethod=int(arguments.get("queryMethod") or 0),
        )
    method, sort, resolved = _method_and_sort(arguments, ASSET_SORTS)
    data = await context.call(
        "/api/search/fullTextSearchAssetContent",
        query=arguments["query"],
        types=arguments.get("types"),
        method=method,
        orderBy=sort,
        page=arguments["page"],
        pageSize=arguments.get("pageSize", SEARCH_PAGE_SIZE_DEFAULT),
    )
    rows = (data or {}).get("assetContents") or []
    payload = {**dict(data or {}), "assetContents": rows, "data": rows, "total": len(rows), "truncated": False}
    return {**payload, "resolvedArgs": resolved} if resolved else payload


HANDLERS: Final[dict[str, Handling]] = {
    "search.fulltext": Handling(fulltext),
    "search.semantic": Handling(semantic),
    "search.query_sql": Handling(query_sql),
    "search.find_replace": Handling(find_replace, on_block(Level.WRITE, "ids")),
    "search.search_assets": Handling(search_assets),
    "search.fulltext_asset_content": Handling(fulltext_asset_content),
    **search_refs.HANDLERS,
}
