"""Tool ``av``, reading: databases as stored and as rendered, their columns, rows and places."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from kernel.errors import ToolError
from kernel.host.base import HostError
from kernel.safety.intent import Outcome
from kernel.tools import av_relations, av_rows, av_views
from kernel.tools.av_base import carrier, database, on_database, primary_values, transact
from kernel.tools.av_values import compact
from kernel.tools.context import Arguments, Handling, Refresh, ToolContext, Written, protyle
from kernel.tools.limits import AV_RENDER_PAGE_SIZE_DEFAULT, AV_SEARCH_SCANNED_MAX
from kernel.tools.permissions import Level

_NO_MATCH_WARNING: Final = "No database matches: names and primary texts are searched, and the host's index may lag."
_ROWS_HINT: Final = "table holds the rows in short; av.get gives them as they are stored."


async def get(context: ToolContext, arguments: Arguments) -> Any:
    found = await database(context, arguments["avID"])
    rows: dict[str, dict[str, Any]] = {}
    for value in primary_values(found):
        row = rows.setdefault(str(value.get("blockID")), {"rowID": value.get("blockID")})
        if source := (value.get("block") or {}).get("id"):
            row["sourceBlockID"] = source
        row.setdefault("valueIDs", []).append(value.get("id"))
    payload: dict[str, Any] = {"id": arguments["avID"], "av": found}
    return {**payload, "resolvedRows": list(rows.values())} if rows else payload


async def render(context: ToolContext, arguments: Arguments) -> Any:
    if arguments.get("createIfNotExist"):
        return await _create(context, arguments)
    return await _rendered(context, arguments["avID"], arguments.get("blockID"), arguments)


async def _rendered(
    context: ToolContext, av_id: str, block_id: str | None, arguments: Arguments, *, creates: bool = False
) -> dict[str, Any]:
    data = dict(
        await context.call(
            "/api/av/renderAttributeView",
            id=av_id,
            blockID=block_id,
            viewID=arguments.get("viewID"),
            page=arguments.get("page", 1),
            pageSize=arguments.get("pageSize", AV_RENDER_PAGE_SIZE_DEFAULT),
            query=arguments.get("query"),
            groupPaging=arguments.get("groupPaging"),
            createIfNotExist=creates,
        )
        or {}
    )
    view = dict(data.get("view") or {})
    total = int(view.get("rowCount") or view.get("cardCount") or 0)
    size = int(arguments.get("pageSize", AV_RENDER_PAGE_SIZE_DEFAULT))
    size = max(total, 1) if size < 1 else size
    page, pages = int(arguments.get("page", 1)), max(1, math.ceil(total / size))
    head = {"total": total, "page": page, "pageSize": size, "pageCount": pages, "hasNextPage": page < pages}
    table = _table(view)
    if table is None:
        return {**head, **data, "avID": av_id, "rowFormat": "raw", "rawRowsIncluded": True}
    data["view"] = {name: value for name, value in view.items() if name != "rows"}
    payload = {**head, **data, "avID": av_id, "table": table, "rowFormat": "compact_table", "rawRowsIncluded": False}
    return {**payload, "rawRowsHint": _ROWS_HINT} if table["rows"] else payload


def _table(view: Mapping[str, Any]) -> dict[str, Any] | None:
    """A table view's rows in short; None for views that are no table."""
    columns = view.get("columns")
    if not isinstance(columns, list):
        return None
    ids = [column.get("id") for column in columns]
    rows = [
        {
            "id": row.get("id"),
            "cells": {
                key_id: compact(cell.get("value"))
                for key_id, cell in zip(ids, row.get("cells") or [], strict=False)
                if key_id
            },
        }
        for row in view.get("rows") or []
    ]
    short = [{name: column.get(name) for name in ("id", "name", "type")} for column in columns]
    return {"columns": short, "rows": rows, "rowCount": view.get("rowCount") or 0}


async def _create(context: ToolContext, arguments: Arguments) -> Written:
    """A database that is there is only shown; a new one gets its block behind ``blockID`` and then its rows."""
    av_id = arguments.get("avID")
    if av_id and (await context.call("/api/av/getAttributeView", id=av_id) or {}).get("av"):
        shown = await _rendered(context, av_id, None, arguments)
        return Written({**shown, "generatedAvID": False}, changed=False)
    anchor = arguments["blockID"]
    root = await context.root_of(anchor)
    ids = context.reserved or reserve_ids(context, arguments)
    generated = not av_id
    av_id, block_id = ids["avID"], ids["blockID"]
    dom = database_dom(block_id, av_id)
    place = {"parentID": anchor} if anchor == root else {"previousID": anchor}
    await transact(context, {"action": "insert", "id": block_id, "data": dom, **place})
    context.stages.append("inserted")
    payload = await _rendered(context, av_id, block_id, arguments, creates=True)
    context.stages.append("rendered")
    registered = await _is_registered(context, av_id, block_id)
    payload |= {
        "generatedAvID": generated,
        "materialized": True,
        "blockID": block_id,
        "parentID": anchor,
        "databaseBlockRegistrationVerified": registered,
    }
    receipt = {"avID": av_id, "blockID": block_id, "generatedAvID": generated, "materialized": True}
    refresh = (Refresh("reloadAttributeView", av_id), *protyle(root))
    return Written(payload, refresh, changed=True, replay=receipt)


def reserve_ids(context: ToolContext, arguments: Arguments) -> dict[str, str]:
    """The ids of a new database (the given one, if it is) and of the block that will show it."""
    local = context.clock.local()
    given = arguments.get("avID")
    return {"avID": given or context.ids.node_id(local), "blockID": context.ids.node_id(local)}


def create_confirms(context: ToolContext, arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """The new database is stored, and the block that shows it is there. One that was there before was only shown."""

    async def confirm(outcome: Outcome) -> bool:
        payload = outcome.payload
        if not payload.get("materialized"):
            return True
        stored = await context.call("/api/av/getAttributeView", id=payload["avID"]) or {}
        return bool(stored.get("av")) and bool(await context.call("/api/block/checkBlockExist", id=payload["blockID"]))

    return confirm


def database_dom(block_id: str, av_id: str) -> str:
    """The block that shows a database, as the editor writes it."""
    return (
        f'<div class="av" data-node-id="{block_id}" data-av-id="{av_id}" data-type="NodeAttributeView" '
        'data-av-type="table"></div>'
    )


async def _is_registered(context: ToolContext, av_id: str, block_id: str) -> bool:
    data = await context.call("/api/av/getMirrorDatabaseBlocks", avID=av_id)
    return any(row.get("refID") == block_id for row in (data or {}).get("refDefs") or [])


async def _guard_render(context: ToolContext, arguments: Arguments) -> None:
    """Showing needs the database; making one needs a block to put it behind."""
    if not arguments.get("createIfNotExist"):
        if not arguments.get("avID"):
            raise ToolError("invalid_arguments", "Name the database as avID.", hint="av.search finds databases.")
        await on_database(Level.READ)(context, arguments)
        return
    if not arguments.get("blockID"):
        raise ToolError(
            "invalid_arguments", "A new database needs blockID: the block it comes behind.", hint="Name a block."
        )
    await context.require_block(arguments["blockID"], Level.WRITE)


async def get_keys(context: ToolContext, arguments: Arguments) -> Any:
    found = await database(context, arguments["avID"])
    keys = [key_values["key"] for key_values in found.get("keyValues") or [] if key_values.get("key")]
    return {"avID": arguments["avID"], "keys": keys}


async def get_filter_sort(context: ToolContext, arguments: Arguments) -> Any:
    shown = await carrier(context, arguments["avID"], arguments.get("blockID"))
    data = await context.call("/api/av/getAttributeViewFilterSort", id=arguments["avID"], blockID=shown.block)
    named = {"blockID": arguments["blockID"]} if arguments.get("blockID") else {}
    return {"avID": arguments["avID"], **named, **dict(data or {})}


async def search(context: ToolContext, arguments: Arguments) -> Any:
    """By name, as the host searches; and by the rows' primary texts, which it does not look at."""
    keyword, excludes = arguments["keyword"], arguments.get("excludes") or []
    named = await _host_results(context, keyword, excludes)
    results = [{**row, "id": row["avID"], "renderArgs": {"id": row["avID"]}} for row in named]
    known = {row["avID"] for row in named}
    if keyword:
        others = (await _host_results(context, "", excludes))[:AV_SEARCH_SCANNED_MAX]
        for row in context.progress.steps(others, "Looked into database"):
            if row["avID"] not in known and (hit := await _primary_hit(context, row["avID"], keyword)) is not None:
                results.append(hit)
    kept, unresolved, hidden = await _visible(context, results)
    payload: dict[str, Any] = {
        "keyword": keyword,
        "searchScope": {"kernel": "attribute_view_name_or_kernel_candidates", "fallback": "primary_key_values"},
        "results": kept,
        "unresolvedResults": unresolved,
        "rawResultCount": len(results),
        "filteredOutCount": hidden + len(unresolved),
        "unresolvedCount": len(unresolved),
        "permissionFilteredOutCount": hidden,
    }
    if results and not kept:
        payload["emptyReason"] = "filtered"
    if keyword.strip() and not kept:
        payload["warning"] = _NO_MATCH_WARNING
    return payload


async def _host_results(context: ToolContext, keyword: str, excludes: list[str]) -> list[dict[str, Any]]:
    data = await context.call("/api/av/searchAttributeView", keyword=keyword, excludes=excludes)
    return [row for row in (data or {}).get("results") or [] if row.get("avID")]


async def _primary_hit(context: ToolContext, av_id: str, keyword: str) -> dict[str, Any] | None:
    data = await context.call(
        "/api/av/getAttributeViewPrimaryKeyValues", id=av_id, keyword=keyword, page=1, pageSize=16
    )
    rows = dict((data or {}).get("rows") or {})
    values = rows.get("values") or []
    if not values:
        return None
    blocks = list((data or {}).get("blockIDs") or [])
    return {
        "avID": av_id,
        "avName": (data or {}).get("name") or "",
        "blockID": blocks[0] if blocks else "",
        "blockIDs": blocks,
        "rows": rows,
        "matchedRowCount": len(values),
        "matchSource": "primary_key",
        "id": av_id,
        "renderArgs": {"id": av_id},
    }


async def _visible(
    context: ToolContext, results: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Those in notebooks that may be read; those whose place is unknown; how many may not be read."""
    kept, unresolved, hidden = [], [], 0
    for row in context.progress.steps(results, "Looked up"):
        try:
            notebook = await context.notebook_of(str(row.get("blockID") or ""))
        except (HostError, ToolError):
            unresolved.append({"avID": row["avID"], "reason": "av_owner_missing"})
            continue
        if context.readable(notebook):
            kept.append(row)
        else:
            hidden += 1
    return kept, unresolved, hidden


async def get_primary_key_values(context: ToolContext, arguments: Arguments) -> Any:
    data = await context.call(
        "/api/av/getAttributeViewPrimaryKeyValues",
        id=arguments["avID"],
        keyword=arguments.get("keyword") or "",
        page=arguments["page"],
        pageSize=arguments["pageSize"],
    )
    rows = [
        {
            "rowID": value.get("blockID"),
            "content": (value.get("block") or {}).get("content"),
            **({"sourceBlockID": value["block"]["id"]} if (value.get("block") or {}).get("id") else {}),
        }
        for value in ((data or {}).get("rows") or {}).get("values") or []
    ]
    return {
        "avID": arguments["avID"],
        "name": (data or {}).get("name"),
        "blockIDs": (data or {}).get("blockIDs") or [],
        "rows": rows,
    }


_READ: Final = on_database(Level.READ)

HANDLERS: Final[dict[str, Handling]] = {
    "av.get": Handling(get, _READ),
    "av.render": Handling(render, _guard_render, confirms=create_confirms, reserves=reserve_ids),
    "av.get_attribute_view_keys": Handling(get_keys, _READ),
    "av.get_attribute_view_filter_sort": Handling(get_filter_sort, _READ),
    "av.search": Handling(search),
    "av.get_primary_key_values": Handling(get_primary_key_values, _READ),
    **av_rows.HANDLERS,
    **av_views.HANDLERS,
    **av_relations.HANDLERS,
}
