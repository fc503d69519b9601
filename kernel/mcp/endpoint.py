"""The MCP endpoint: one URL, both eras, three verbs. Awaits; what is allowed is decided in ``classify``.

    POST ── heads ── jsonrpc.parse ── classify ──┬─ modern_service    (2026-07-28)
                                                 └─ handshake_service (2024-11-05 … 2025-11-25)
    GET, DELETE ─────────────────────────────────── handshake_service (the modern era has neither)

Host, Origin, credentials and body size have been judged before (``kernel.http``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import trio

from kernel.clock import Clock
from kernel.ids import IdSource
from kernel.mcp.answers import method_not_allowed, refusal
from kernel.mcp.calls import TaskStore, ToolCalls
from kernel.mcp.capabilities import Offer
from kernel.mcp.classify import Dropped, HeaderParameters, ModernRequest, check_transport, classify
from kernel.mcp.dispatch import Dispatch
from kernel.mcp.elicitation import Confirmations
from kernel.mcp.handshake_service import HandshakeService
from kernel.mcp.heads import SESSION_HEADER, Head, read_head
from kernel.mcp.jsonrpc import Batch, Message, ProtocolError, parse
from kernel.mcp.limits import PARSE_INLINE_BYTES_MAX, STREAMS_MAX, TASK_AFTER_S
from kernel.mcp.modern_era import MODERN_METHODS
from kernel.mcp.modern_service import ModernService
from kernel.mcp.official_tasks import OfficialTasks
from kernel.mcp.parts import Parts
from kernel.mcp.patience import Patience
from kernel.mcp.principals import principal_of
from kernel.mcp.sessions import SessionTable
from kernel.mcp.subscriptions import StreamPlaces, Subscriptions
from kernel.mcp.versions import is_handshake
from kernel.tools.service import ToolService
from kernel.wire import Answer, Exchange, Request, Response
from scheduler.scheduler import Scheduler

_ENTROPY_BYTES: Final = 32

RunInThread = Callable[[Callable[[bytes], Any], bytes], Awaitable[Any]]
"""``trio.to_thread.run_sync``, or its inline double in simulation."""


class MCPEndpoint:
    """Serves the plugin's MCP route. Start ``run`` in a long-lived nursery beside the server."""

    def __init__(
        self,
        service: ToolService,
        scheduler: Scheduler,
        clock: Clock,
        ids: IdSource,
        *,
        offer: Offer | None = None,
        tasks: TaskStore | None = None,
        cancels_on_disconnect: bool = True,
        identify: Callable[[Request], str] = principal_of,
        sessions: SessionTable | None = None,
        header_parameters: HeaderParameters | None = None,
        prompt_version: Callable[[], str] | None = None,
        task_after_s: float = TASK_AFTER_S,
        run_in_thread: RunInThread = trio.to_thread.run_sync,
    ) -> None:
        self.sessions = SessionTable() if sessions is None else sessions
        self.confirmations = Confirmations(ids.entropy(_ENTROPY_BYTES))
        self.subscriptions = Subscriptions(
            clock, self.sessions, StreamPlaces(), StreamPlaces(per_principal_max=STREAMS_MAX)
        )
        self._identify = identify
        self._header_parameters = header_parameters or {}
        self._run_in_thread = run_in_thread
        self._patience = Patience()
        self.tasks = OfficialTasks(service, scheduler, clock, ids)
        parts = Parts(
            service=service,
            clock=clock,
            ids=ids,
            offer=offer or Offer(),
            calls=ToolCalls(service, scheduler, self.confirmations, clock, ids, tasks),
            dispatch=Dispatch(service),
            sessions=self.sessions,
            subscriptions=self.subscriptions,
            patience=self._patience,
            tasks=self.tasks,
            task_after_s=task_after_s,
            cancels_on_disconnect=cancels_on_disconnect,
            prompt_version=prompt_version,
        )
        self._modern = ModernService(parts)
        self._handshake = HandshakeService(parts, scheduler)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Watch over what waits, until cancelled."""
        task_status.started()
        await self._patience.run()

    def announce(self) -> None:
        """The tool list or its configuration may have changed: streams look now. Synchronous."""
        self.subscriptions.announce()

    def close(self) -> None:
        """End all notification and listen streams (shutdown). Calls are the scheduler's: they may still be drained."""
        self.subscriptions.close()

    def statistics(self) -> dict[str, int]:
        """Counts for /health."""
        return {
            **self.sessions.statistics(),
            "notificationStreams": len(self.subscriptions.notifications),
            "listenStreams": len(self.subscriptions.listeners),
            "pendingConfirmations": len(self.confirmations),
        }

    async def handle(self, exchange: Exchange) -> Answer:
        """Answer one HTTP request."""
        method = exchange.request.method
        try:
            if method == "POST":
                return await self._post(exchange)
            if method in ("GET", "DELETE"):
                return self._get_or_delete(exchange)
            return method_not_allowed("GET, POST, DELETE")
        except ProtocolError as error:
            return refusal(error)

    async def _post(self, exchange: Exchange) -> Answer:
        request = exchange.request
        head = read_head(request.headers)
        check_transport(head)
        body = request.body
        message: Message | Batch
        if len(body) <= PARSE_INLINE_BYTES_MAX:
            message = parse(body)
        else:
            message = await self._run_in_thread(parse, body)
        kind = classify(head, message, MODERN_METHODS, self._header_parameters)
        if isinstance(kind, Dropped):
            return Response(202)
        principal = self._identify(request)
        if isinstance(kind, ModernRequest):
            return await self._modern.serve(exchange, head, kind, principal)
        return await self._handshake.serve(exchange, head, kind, principal)

    def _get_or_delete(self, exchange: Exchange) -> Answer:
        request = exchange.request
        head: Head = read_head(request.headers)
        if not is_handshake(head.version):
            return method_not_allowed("POST")
        principal = self._identify(request)
        if request.method == "DELETE":
            return self._handshake.delete(request.headers.get(SESSION_HEADER), principal)
        return self._handshake.open_stream(exchange, head, principal)
