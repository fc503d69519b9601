"""The plugin's own routes and their short alias (decision 1), behind the kernel's authentication.

Composition only: what a route answers is decided in the layers below.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kernel import __version__
from kernel.host.limits import IMAGE_BYTES_EXTRA
from kernel.limits import CONTROL_BODY_BYTES_MAX, MIB, PLUGIN_MCP_BODY_BYTES_MAX
from kernel.tasks.control import TaskControl
from kernel.tasks.route import TaskRoute
from kernel.tools.configuration import KernelOptions
from kernel.uploads.limits import JSON_BODY_BYTES_MAX
from kernel.uploads.routes import Uploads
from kernel.wire import Answer, Exchange, Handler, Request, Response, Route, json_response

if TYPE_CHECKING:
    from kernel.clock import Clock
    from kernel.mcp.endpoint import MCPEndpoint
    from scheduler import Scheduler

PLUGIN: Final = "siyuan-plugins-mcp-sisyphus"
LONG_PREFIX: Final = f"/plugin/private/{PLUGIN}"
SHORT_PREFIX: Final = "/sisyphus"
MCP_METHODS: Final = frozenset({"POST", "GET", "DELETE"})
_POST: Final = frozenset({"POST"})
_GET: Final = frozenset({"GET"})
_TASK_CONTROL: Final = {"version": "2", "path": "/tasks", "meta": "io.siyuan.sisyphus/taskId"}

_DISABLED: Final = json_response(
    503,
    msgspec.json.encode(
        {
            "error": "kernel_coordinator_disabled",
            "message": "The endpoint is switched off: set kernelEndpointEnabled in mcpHttpSettings to true.",
        }
    ),
)

# None lets the request pass; a Response is the refusal.
Authorize = Callable[[Request], Response | None]


@dataclass(frozen=True, slots=True)
class PluginParts:
    """What stands behind the plugin's routes. ``options``: the kernel options in force now."""

    endpoint: MCPEndpoint
    scheduler: Scheduler
    tasks: TaskControl
    task_route: TaskRoute
    uploads: Uploads
    options: Callable[[], Awaitable[KernelOptions]]
    clock: Clock
    # Why the write ledger cannot be used now; "" while it can.
    ledger_trouble: Callable[[], str] = lambda: ""


def plugin_routes(parts: PluginParts, authorize: Authorize, *, is_enabled: Callable[[], bool]) -> Iterator[Route]:
    """Every plugin route under both prefixes. ``is_enabled``: whether the owner has the endpoint switched on now."""
    uploads = parts.uploads
    routes: tuple[tuple[str, frozenset[str], Handler, int, bool], ...] = (
        ("mcp", MCP_METHODS, parts.endpoint.handle, PLUGIN_MCP_BODY_BYTES_MAX, False),
        ("tasks", _POST, parts.task_route.handle, CONTROL_BODY_BYTES_MAX, False),
        ("health", _GET, _health_handler(parts), CONTROL_BODY_BYTES_MAX, False),
        ("transfer/upload", _POST, uploads.upload, JSON_BODY_BYTES_MAX, True),
        ("transfer/lookup", _POST, uploads.lookup, CONTROL_BODY_BYTES_MAX, False),
    )
    for prefix in (LONG_PREFIX, SHORT_PREFIX):
        for name, methods, handler, body_bytes_max, streams in routes:
            yield Route(
                f"{prefix}/{name}",
                methods,
                guarded(handler, authorize, is_enabled),
                body_bytes_max,
                streams_body=streams,
                surface="plugin",
            )


async def health_summary(parts: PluginParts) -> dict[str, Any]:
    """Counts and settings only: no request ids, no task ids, no credentials, no contents (R276-R280)."""
    options = await parts.options()
    return {
        "ok": parts.scheduler.statistics().is_open,
        "plugin": PLUGIN,
        "version": __version__,
        "queue": _queue(parts.scheduler),
        "writeLedger": _ledger(parts.ledger_trouble()),
        "uploadsInFlight": parts.uploads.in_flight,
        "uploads": parts.uploads.statistics(),
        "events": parts.endpoint.statistics(),
        "taskResults": parts.tasks.statistics(now=parts.clock.now()),
        "readBudget": {
            "maxRequests": options.read_requests_max,
            "maxBytes": options.read_mib_max * MIB,
            "imageExtraBytes": IMAGE_BYTES_EXTRA,
            "timeoutMs": options.read_timeout_ms,
            "hostAbort": False,
        },
        "kernelOptions": options.as_json(),
        "taskControl": _TASK_CONTROL,
    }


def _queue(scheduler: Scheduler) -> dict[str, Any]:
    lanes = scheduler.statistics()
    return {
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
        "readConcurrency": lanes.reads.slots,
        "capacity": lanes.capacity,
        "refused": lanes.refused_total,
    }


def _ledger(trouble: str) -> dict[str, Any]:
    return {"available": False, "message": trouble} if trouble else {"available": True}


def _health_handler(parts: PluginParts) -> Handler:
    async def handle(exchange: Exchange) -> Answer:
        summary = await health_summary(parts)
        return json_response(200, msgspec.json.encode(summary), (("Cache-Control", "no-store"),))

    return handle


def guarded(handler: Handler, authorize: Authorize, is_enabled: Callable[[], bool]) -> Handler:
    """The handler behind the kernel's credential and the owner's switch."""

    def handle(exchange: Exchange) -> Awaitable[Answer]:
        refusal = authorize(exchange.request)
        if refusal is not None:
            return _at_once(refusal)
        return handler(exchange) if is_enabled() else _at_once(_DISABLED)

    return handle


async def _at_once(answer: Answer) -> Answer:
    return answer
