"""Rows, columns and cells of databases. Each change is one transaction, and is looked for afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from kernel.errors import ToolError
from kernel.safety.intent import Outcome
from kernel.tools.av_base import (
    carrier,
    change,
    database,
    key_of,
    on_database,
    pending,
    refresh_of,
    row_ids,
    row_of_source,
    shows,
    transact,
    value_of,
)
from kernel.tools.av_guards import column_with_options, removable_column
from kernel.tools.av_values import essence, host_value, key_type_of
from kernel.tools.context import Arguments, Handling, ToolContext, Written, both, on_block
from kernel.tools.failures import refusal
from kernel.tools.permissions import Level


async def add_rows(context: ToolContext, arguments: Arguments) -> Written:
    av_id = arguments["avID"]
    shown = await carrier(context, av_id, arguments.get("blockID"))
    blocks: list[str] = arguments.get("blockIDs") or []
    texts: list[str] = arguments.get("primaryKeyTexts") or []
    local = context.clock.local()
    detached = [(text, context.ids.node_id(local)) for text in texts]
    sources = [{"itemID": context.ids.node_id(local), "id": block_id, "isDetached": False} for block_id in blocks]
    sources += [{"itemID": row, "id": row, "isDetached": True, "content": text} for text, row in detached]
    operation = {
        "action": "insertAttrViewBlock",
        "avID": av_id,
        "blockID": shown.block,
        "srcs": sources,
        "ignoreDefaultFill": bool(arguments.get("ignoreDefaultFill")),
    }
    operation |= {name: arguments[name] for name in ("viewID", "groupID", "previousID") if arguments.get(name)}
    before = await database(context, av_id) if blocks else {}
    bound = {block for block in blocks if row_of_source(before, block) is not None}
    added = len({*blocks} - bound) + len(texts)
    if added:
        await change(context, shown, operation)

    def all_there(found: dict[str, Any]) -> bool:
        rows = row_ids(found)
        return all(row in rows for _, row in detached) and all(row_of_source(found, block) for block in blocks)

    found = await shows(context, av_id, all_there)
    if found is None:
        raise await _rows_missing(context, av_id, blocks, detached)
    rows: list[dict[str, Any]] = [{"blockID": block, "rowID": row_of_source(found, block)} for block in blocks]
    rows += [{"primaryKeyText": text, "rowID": row} for text, row in detached]
    payload: dict[str, Any] = {"success": True, "action": "add_rows", "avID": av_id}
    if blocks:
        payload["blockIDs"] = blocks
    if texts:
        payload["primaryKeyTexts"] = texts
    return Written({**payload, "rows": rows, "added": added}, refresh_of(shown) if added else (), changed=added > 0)


def rows_confirm(context: ToolContext, arguments: Arguments) -> Callable[[Outcome], Awaitable[bool]]:
    """Every row that the answer names is in the stored database."""

    async def confirm(outcome: Outcome) -> bool:
        there = row_ids(await database(context, arguments["avID"]))
        rows = outcome.payload["rows"]
        return bool(rows) and all(row["rowID"] in there for row in rows)

    return confirm


async def _guard_sources(context: ToolContext, arguments: Arguments) -> None:
    """The blocks of new rows may be read. Without strict mode an unknown one is left to the host, and to the read-back."""
    blocks: list[str] = arguments.get("blockIDs") or []
    if not context.configuration.is_strict:
        blocks = [block for block in blocks if await context.call("/api/block/checkBlockExist", id=block)]
    await on_block(Level.READ, "blockIDs")(context, {"blockIDs": blocks})


async def _rows_missing(
    context: ToolContext, av_id: str, blocks: Sequence[str], detached: Sequence[tuple[str, str]]
) -> ToolError:
    """``detached``: the texts of new rows, each with the id that its row was to have."""
    found = await database(context, av_id)
    unresolved = [block for block in blocks if row_of_source(found, block) is None]
    there = row_ids(found)
    absent = [(text, row) for text, row in detached if row not in there]
    rows = [{"blockID": block, "status": "missing"} for block in unresolved]
    rows += [{"primaryKeyText": text, "rowID": row, "status": "missing"} for text, row in absent]
    facts: dict[str, Any] = {"rows": rows}
    if blocks:
        facts["unresolvedBlockIDs"] = unresolved
    if detached:
        facts["unresolvedRowIDs"] = [row for _, row in absent]
    error = pending("add_rows", av_id, "The new rows do not show in the database.", **facts)
    error.details |= {"reason": "row_id_sync_timeout", "avID": av_id, **facts}
    if blocks:
        error.details["blockIDs"] = list(blocks)
    if detached:
        error.details["primaryKeyTexts"] = [text for text, _ in detached]
    return error


async def remove_rows(context: ToolContext, arguments: Arguments) -> Written:
    av_id, rows = arguments["avID"], list(dict.fromkeys(arguments["srcIDs"]))
    shown = await carrier(context, av_id, arguments.get("blockID"))
    await change(context, shown, {"action": "removeAttrViewBlock", "avID": av_id, "srcIDs": rows})
    if await shows(context, av_id, lambda found: not row_ids(found) & set(rows)) is None:
        raise pending("remove_rows", av_id, "The rows still show in the database.", srcIDs=rows)
    verification = {"status": "verified", "method": "av-row-absence-readback", "rowIDs": rows}
    payload = {
        "success": True,
        "action": "remove_rows",
        "avID": av_id,
        "srcIDs": arguments["srcIDs"],
        "removed": len(rows),
        "verification": verification,
    }
    return Written(payload, refresh_of(shown), changed=True)


async def _guard_rows(context: ToolContext, arguments: Arguments) -> None:
    """Every row is there: removing one that is not would seem a success."""
    await _WRITE(context, arguments)
    found = await database(context, arguments["avID"])
    wanted = arguments.get("srcIDs") or arguments.get("sourceRowIDs") or []
    missing = [row for row in wanted if row not in row_ids(found)]
    if missing:
        raise refusal(f"There are no rows {', '.join(missing)}.", "not_found", reason="row_not_found", rowIDs=missing)


async def add_column(context: ToolContext, arguments: Arguments) -> Written:
    av_id = arguments["avID"]
    shown = await carrier(context, av_id, arguments.get("blockID"))
    key_id = arguments.get("keyID") or context.ids.node_id(context.clock.local())
    operation = {
        "action": "addAttrViewCol",
        "avID": av_id,
        "id": key_id,
        "name": arguments["keyName"],
        "type": arguments["keyType"],
        "data": arguments.get("keyIcon") or "",
        "previousID": arguments.get("previousKeyID") or "",
    }
    await change(context, shown, operation)
    if await shows(context, av_id, lambda found: key_of(found, key_id) is not None) is None:
        raise pending("add_column", av_id, "The new column does not show in the database.", keyID=key_id)
    payload = {
        "success": True,
        "action": "add_column",
        "avID": av_id,
        "keyID": key_id,
        "keyName": arguments["keyName"],
        "keyType": arguments["keyType"],
    }
    return Written(payload, refresh_of(shown), changed=True)


async def remove_column(context: ToolContext, arguments: Arguments) -> Written:
    av_id, key_id, dest = arguments["avID"], arguments["keyID"], arguments["removeRelationDest"]
    shown = await carrier(context, av_id, arguments.get("blockID"))
    await change(context, shown, {"action": "removeAttrViewCol", "avID": av_id, "id": key_id, "removeDest": dest})
    if await shows(context, av_id, lambda found: key_of(found, key_id) is None) is None:
        raise pending("remove_column", av_id, "The column still shows in the database.", keyID=key_id)
    payload = {
        "success": True,
        "action": "remove_column",
        "avID": av_id,
        "keyID": key_id,
        "removeRelationDest": dest,
    }
    return Written(payload, refresh_of(shown))


async def set_cells(context: ToolContext, arguments: Arguments) -> Written:
    av_id = arguments["avID"]
    shown = await carrier(context, av_id, arguments.get("blockID"))
    cells: list[Mapping[str, Any]] = arguments.get("cells") or [arguments]
    values = [(cell, host_value(cell)) for cell in cells]
    operations = [
        {
            "action": "updateAttrViewCell",
            "avID": av_id,
            "keyID": cell["columnID"],
            "rowID": cell["rowID"],
            "id": context.ids.node_id(context.clock.local()),
            "data": value,
        }
        for cell, value in values
    ]
    await change(context, shown, *operations)
    # Of several values for one cell the last one counts.
    wanted = {(cell["rowID"], cell["columnID"]): essence(value) for cell, value in values}
    found = await shows(
        context, av_id, lambda now: all(essence(value_of(now, *place)) == value for place, value in wanted.items())
    )
    checked = _checked(found or await database(context, av_id), wanted)
    if found is None:
        raise pending("set_cells", av_id, "Not every cell shows its new value.", cells=checked)
    verification = {"status": "verified", "method": "av-cell-value-readback", "cells": checked}
    payload: dict[str, Any] = {"success": True, "action": "set_cells", "avID": av_id}
    if "cells" in arguments:
        payload["updated"] = len(cells)
    else:
        payload |= {name: arguments[name] for name in ("rowID", "columnID", "valueType")}
    return Written({**payload, "verification": verification}, refresh_of(shown))


def _checked(found: Mapping[str, Any], wanted: Mapping[tuple[str, str], Any]) -> list[dict[str, Any]]:
    rows = []
    for (row, column), value in wanted.items():
        observed = essence(value_of(found, row, column))
        verdict = {"expected": value, "observed": observed, "verified": observed == value}
        rows.append({"rowID": row, "columnID": column, **verdict})
    return rows


async def _guard_cells(context: ToolContext, arguments: Arguments) -> None:
    """Rows are there; for a strict write columns too, and take such a value: the host would store it under any id."""
    await _WRITE(context, arguments)
    found = await database(context, arguments["avID"])
    rows = row_ids(found)
    for cell in arguments.get("cells") or [arguments]:
        if cell["rowID"] not in rows:
            raise _wrong_row(arguments["avID"], found, cell["rowID"])
        if not context.configuration.is_strict:
            continue
        key = key_of(found, cell["columnID"])
        if key is None:
            raise _wrong_cell("column_not_found", f"There is no column {cell['columnID']}.", arguments["avID"], cell)
        if key.get("type") != key_type_of(cell["valueType"]):
            words = f"Column {key.get('name')!r} is of type {key.get('type')}, not {cell['valueType']}."
            raise _wrong_cell("value_type_mismatch", words, arguments["avID"], cell)


def _wrong_row(av_id: str, found: Mapping[str, Any], row_id: str) -> ToolError:
    suggested = row_of_source(found, row_id)
    if suggested is None:
        return ToolError(
            "validation_error",
            f"{row_id} is no row of this database.",
            reason="row_id_not_canonical",
            avID=av_id,
            rowID=row_id,
            hint="Take row ids from av.render.",
        )
    return ToolError(
        "validation_error",
        f"{row_id} is the block that a row is bound to; its row is {suggested}.",
        reason="row_id_required",
        avID=av_id,
        rowID=row_id,
        detectedSourceBlockID=row_id,
        suggestedRowID=suggested,
        hint="Use suggestedRowID.",
    )


def _wrong_cell(reason: str, message: str, av_id: str, cell: Mapping[str, Any]) -> ToolError:
    place = {"rowID": cell["rowID"], "columnID": cell["columnID"]}
    return ToolError(
        "validation_error",
        message,
        reason=reason,
        avID=av_id,
        **place,
        hint='av(action="get_attribute_view_keys") lists the columns.',
    )


async def set_column_options(context: ToolContext, arguments: Arguments) -> Written:
    """The host only adds and changes: what is left out is removed first, from the cells that have it, too."""
    av_id, key_id, options = arguments["avID"], arguments["keyID"], arguments["options"]
    shown = await carrier(context, av_id, arguments.get("blockID"))
    rows = [{"name": one["name"], "color": one.get("color", ""), "desc": one.get("desc", "")} for one in options]
    names = [row["name"] for row in rows]
    stored_before = (key_of(await database(context, av_id), key_id) or {}).get("options") or []
    before = [str(option.get("name")) for option in stored_before]
    place = {"avID": av_id, "id": key_id}
    operations: list[dict[str, Any]] = [
        {"action": "removeAttrViewColOption", **place, "data": name} for name in before if name not in names
    ]
    if rows:
        # Options that are new come last, whatever the order asked for; the second time none is.
        repeats = 1 if set(names) <= set(before) else 2
        operations += [{"action": "updateAttrViewColOptions", **place, "data": rows}] * repeats
    if operations:
        await change(context, shown, *operations)

    def as_asked(found: dict[str, Any]) -> bool:
        stored = (key_of(found, key_id) or {}).get("options") or []
        return [option.get("name") for option in stored] == names

    if await shows(context, av_id, as_asked) is None:
        raise pending("set_column_options", av_id, "The options do not show as asked.", keyID=key_id)
    payload = {"success": True, "action": "set_column_options", "avID": av_id, "keyID": key_id, "options": rows}
    return Written(payload, refresh_of(shown))


async def duplicate_rows(context: ToolContext, arguments: Arguments) -> Written:
    av_id, sources = arguments["avID"], arguments["sourceRowIDs"]
    shown = await carrier(context, av_id, arguments.get("blockID"))
    local = context.clock.local()
    copies = [context.ids.node_id(local) for _ in sources]
    operations, previous = [], arguments.get("previousID") or ""
    for source, copy in zip(sources, copies, strict=True):
        operations.append(
            {
                "action": "duplicateAttrViewRow",
                "avID": av_id,
                "id": copy,
                "srcIDs": [source],
                "previousID": previous or source,
            }
        )
        previous = previous and copy
    await change(context, shown, *operations)
    if await shows(context, av_id, lambda found: set(copies) <= row_ids(found)) is None:
        raise pending("duplicate_rows", av_id, "The copies do not show in the database.", rowIDs=copies)
    rows = [{"sourceRowID": source, "rowID": copy} for source, copy in zip(sources, copies, strict=True)]
    payload = {"success": True, "action": "duplicate_rows", "avID": av_id, "rows": rows, "added": len(rows)}
    return Written(payload, refresh_of(shown), changed=True)


async def rename(context: ToolContext, arguments: Arguments) -> Written:
    av_id, name = arguments["avID"], arguments["name"]
    shown = await carrier(context, av_id, arguments.get("blockID"))
    await change(context, shown, {"action": "setAttrViewName", "id": av_id, "data": name})
    if await shows(context, av_id, lambda found: found.get("name") == name) is None:
        raise pending("rename", av_id, "The database does not show its new name.", name=name)
    payload = {"success": True, "action": "rename", "avID": av_id, "name": name}
    return Written(payload, refresh_of(shown))


async def duplicate(context: ToolContext, arguments: Arguments) -> Written:
    from kernel.tools.av import database_dom

    av_id, previous = arguments["avID"], arguments.get("previousID")
    shown = await carrier(context, av_id, arguments.get("blockID"))
    data = await context.call("/api/av/duplicateAttributeViewBlock", avID=av_id) or {}
    new_av, new_block = data.get("avID"), data.get("blockID")
    if not new_av or not new_block:
        raise refusal("The host named no copy.", "api_error", reason="duplicate_identifiers_missing")
    anchor = previous or shown.block
    place = {"previousID": anchor}
    await transact(context, {"action": "insert", "id": new_block, "data": database_dom(new_block, new_av), **place})
    semantics = "siyuan_duplicate_mirror_with_override" if previous else "siyuan_duplicate_mirror"
    payload = {
        "success": True,
        "avID": new_av,
        "blockID": new_block,
        "action": "duplicate",
        "sourceAvID": av_id,
        "prepared": True,
        "materialized": True,
        "insertedAfter": anchor,
        "semantics": semantics,
    }
    return Written(payload, changed=True)


def duplicate_confirms(context: ToolContext, arguments: Arguments) -> Any:
    """The block that shows the copy is there."""

    async def confirm(outcome: Any) -> bool:
        return bool(await context.call("/api/block/checkBlockExist", id=str(outcome.payload.get("blockID"))))

    return confirm


_WRITE: Final = on_database(Level.WRITE)

HANDLERS: Final[dict[str, Handling]] = {
    "av.add_rows": Handling(add_rows, both(_WRITE, _guard_sources), confirms=rows_confirm),
    "av.remove_rows": Handling(remove_rows, _guard_rows),
    "av.add_column": Handling(add_column, _WRITE),
    "av.remove_column": Handling(remove_column, removable_column),
    "av.set_cells": Handling(set_cells, _guard_cells),
    "av.set_column_options": Handling(set_column_options, column_with_options),
    "av.duplicate_rows": Handling(duplicate_rows, _guard_rows, confirms=rows_confirm),
    "av.rename": Handling(rename, _WRITE),
    "av.duplicate": Handling(
        duplicate, both(_WRITE, on_block(Level.WRITE, "previousID")), confirms=duplicate_confirms, creates=True
    ),
}
