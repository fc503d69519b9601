"""What all database actions share: the stored database, the block that shows it, and one write of operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import trio

from kernel.errors import ToolError
from kernel.host.base import HostError
from kernel.tools.context import Arguments, Guard, Refresh, ToolContext, protyle
from kernel.tools.failures import not_found
from kernel.tools.limits import AV_SHOWS_AFTER_WAITS_S
from kernel.tools.permissions import Level


@dataclass(frozen=True, slots=True)
class Carrier:
    """The block that shows a database, and where it is."""

    block: str
    notebook: str
    root: str


async def database(context: ToolContext, av_id: str) -> dict[str, Any]:
    """The database as it is stored.

    Raises:
        ToolError: av_not_found.
    """
    data = await context.call("/api/av/getAttributeView", id=av_id)
    found = (data or {}).get("av")
    if not found:
        raise not_found(f"There is no database {av_id}.", "av_not_found", hint='av(action="search") finds databases.')
    return dict(found)


async def carrier(context: ToolContext, av_id: str, block_id: str | None = None) -> Carrier:
    """The block that shows the database: the named one, or the first the host knows.

    Raises:
        ToolError: av_not_found, av_owner_missing, av_owner_stale.
    """
    key = f"av:{av_id}:{block_id or ''}"
    if key in context.memo:
        found: Carrier = context.memo[key]
        return found
    for candidate in [block_id] if block_id else await _candidates(context, av_id):
        if (shown := await _carrier_at(context, av_id, candidate)) is not None:
            context.memo[key] = shown
            return shown
        if block_id:
            await database(context, av_id)
            raise ToolError(
                "av_owner_stale", f"Block {block_id} does not show database {av_id}.", hint="Leave blockID out."
            )
    await database(context, av_id)
    raise ToolError(
        "av_owner_missing", f"No block shows database {av_id}.", hint="Name the block that shows it as blockID."
    )


async def _candidates(context: ToolContext, av_id: str) -> list[str]:
    data = await context.call("/api/av/getMirrorDatabaseBlocks", avID=av_id)
    return [str(row["refID"]) for row in (data or {}).get("refDefs") or [] if row.get("refID")]


async def _carrier_at(context: ToolContext, av_id: str, block_id: str) -> Carrier | None:
    """The block, if its own DOM proves that it shows the database."""
    try:
        data = await context.call("/api/block/getBlockDOM", id=block_id)
        dom = str((data or {}).get("dom") or "")
        if f'data-av-id="{av_id}"' not in dom:
            return None
        return Carrier(block_id, await context.notebook_of(block_id), await context.root_of(block_id))
    except (HostError, ToolError):
        return None


def on_database(level: Level) -> Guard:
    """The notebook of the block that shows the database allows ``level`` (reads and writes alike need it)."""

    async def guard(context: ToolContext, arguments: Arguments) -> None:
        shown = await carrier(context, arguments["avID"], arguments.get("blockID"))
        await context.require(shown.notebook, level)

    return guard


async def change(context: ToolContext, shown: Carrier, *operations: Mapping[str, Any]) -> None:
    """Send operations in one transaction, and mark the block that shows the database as changed."""
    stamp = context.clock.local().strftime("%Y%m%d%H%M%S")
    marked = {"action": "doUpdateUpdated", "id": shown.block, "data": stamp}
    await transact(context, *operations, marked)


async def transact(context: ToolContext, *operations: Mapping[str, Any]) -> None:
    await context.call(
        "/api/transactions",
        transactions=[{"doOperations": [dict(operation) for operation in operations], "undoOperations": []}],
        reqId=context.clock.wall_ms(),
        app="sisyphus",
        session="sisyphus",
    )


async def shows(context: ToolContext, av_id: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """The database once ``holds`` is true of it; None if it does not come true. The host works transactions off later."""
    for wait_s in AV_SHOWS_AFTER_WAITS_S:
        if wait_s:
            await trio.sleep(wait_s)
        found = await database(context, av_id)
        if holds(found):
            return found
    return None


def refresh_of(shown: Carrier) -> tuple[Refresh, ...]:
    return protyle(shown.root)


# --- looking into a stored database ---


def primary_values(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The primary values, one per row: each names its row (``blockID``) and, if bound, its source (``block.id``)."""
    for key_values in found.get("keyValues") or []:
        if (key_values.get("key") or {}).get("type") == "block":
            return list(key_values.get("values") or [])
    return []


def row_ids(found: Mapping[str, Any]) -> set[str]:
    return {str(value.get("blockID")) for value in primary_values(found)}


def row_of_source(found: Mapping[str, Any], block_id: str) -> str | None:
    """The row that is bound to a block."""
    for value in primary_values(found):
        if (value.get("block") or {}).get("id") == block_id:
            return str(value.get("blockID"))
    return None


def key_of(found: Mapping[str, Any], key_id: str) -> dict[str, Any] | None:
    for key_values in found.get("keyValues") or []:
        if (key_values.get("key") or {}).get("id") == key_id:
            return dict(key_values["key"])
    return None


def value_of(found: Mapping[str, Any], row_id: str, key_id: str) -> dict[str, Any] | None:
    for key_values in found.get("keyValues") or []:
        if (key_values.get("key") or {}).get("id") == key_id:
            return next((value for value in key_values.get("values") or [] if value.get("blockID") == row_id), None)
    return None


def view_of(found: Mapping[str, Any], view_id: str) -> dict[str, Any] | None:
    return next((view for view in found.get("views") or [] if view.get("id") == view_id), None)


PENDING: Final[Mapping[str, Any]] = {
    "success": False,
    "writeAttempted": True,
    "writeExecuted": True,
    "retryAllowed": False,
    "transactionState": "pending_verification",
}


def pending(action: str, av_id: str, message: str, **facts: Any) -> ToolError:
    """The host took the write, and its effect does not show: to be checked, not repeated."""
    waiting = {"status": "pending_verification", "action": action, "avID": av_id, **facts}
    return ToolError(
        "pending_verification",
        message,
        outer={**PENDING, "pendingVerification": waiting},
        type="api_error",
        hint="Read the database again before doing anything else.",
    )
