"""The plugin's own routes and their short alias (decision 1): /mcp and /health, behind the kernel's authentication.

Composition only: what a route answers is decided in the layers below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kernel.limits import CONTROL_BODY_BYTES_MAX, PLUGIN_MCP_BODY_BYTES_MAX
from kernel.wire import Answer, Exchange, Handler, Request, Response, Route, json_response

if TYPE_CHECKING:
    from kernel.mcp.endpoint import MCPEndpoint
    from scheduler import Scheduler

LONG_PREFIX: Final = "/plugin/private/siyuan-plugins-mcp-sisyphus"
SHORT_PREFIX: Final = "/sisyphus"
MCP_METHODS: Final = frozenset({"POST", "GET", "DELETE"})

# None lets the request pass; a Response is the refusal.
Authorize = Callable[[Request], Response | None]
Summary = Callable[[], dict[str, Any]]


def plugin_routes(endpoint: MCPEndpoint, health: Summary, authorize: Authorize) -> Iterator[Route]:
    """Every plugin route under both prefixes."""
    for prefix in (LONG_PREFIX, SHORT_PREFIX):
        yield Route(
            f"{prefix}/mcp",
            MCP_METHODS,
            _authorized(endpoint.handle, authorize),
            PLUGIN_MCP_BODY_BYTES_MAX,
            surface="plugin",
        )
        yield Route(
            f"{prefix}/health",
            frozenset({"GET"}),
            _authorized(_health_handler(health), authorize),
            CONTROL_BODY_BYTES_MAX,
            surface="plugin",
        )


def health_summary(scheduler: Scheduler, endpoint: MCPEndpoint) -> dict[str, Any]:
    """Counts only: no request ids, no task ids, no credentials, no contents (R276-R280)."""
    lanes = scheduler.statistics()
    streams = endpoint.statistics()
    return {
        "ok": lanes.is_open,
        "queue": {
            "inFlight": lanes.in_flight,
            "preparing": lanes.preparing,
            "readsRunning": lanes.reads.running,
            "exclusiveRunning": lanes.mutations.running,
            "queued": lanes.queued,
            "readsQueued": lanes.reads.queued,
            "exclusiveQueued": lanes.mutations.queued,
            "committing": lanes.committing,
            "cancelledRunning": lanes.cancelled_holding_slots,
            "overrunRunning": lanes.overrun_holding_slots,
            "capacity": lanes.capacity,
            "refused": lanes.refused_total,
        },
        "events": streams,
    }


def _health_handler(health: Summary) -> Handler:
    async def handle(exchange: Exchange) -> Answer:
        return json_response(200, msgspec.json.encode(health()), (("Cache-Control", "no-store"),))

    return handle


def _authorized(handler: Handler, authorize: Authorize) -> Handler:
    async def handle(exchange: Exchange) -> Answer:
        refusal = authorize(exchange.request)
        return refusal if refusal is not None else await handler(exchange)

    return handle
