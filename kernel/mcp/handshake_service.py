"""Serves the handshake era: initialize, sessions, single messages and 2025-03-26 batches. Awaits."""

from __future__ import annotations

from functools import partial
from typing import Any

import trio

from kernel.mcp.answers import ACCEPTED, EVENT_HEADERS, answer
from kernel.mcp.calls import Call
from kernel.mcp.capabilities import has_apps
from kernel.mcp.channel import PostChannel
from kernel.mcp.classify import HandshakeMessage
from kernel.mcp.dispatch import run_handler
from kernel.mcp.handshake_era import (
    HANDSHAKE_METHODS,
    SUBSCRIPTION_METHODS,
    HandshakeOperation,
    Initialize,
    Ping,
    SetLevel,
    Subscribe,
    check_batch,
    read_initialize,
    session_missing,
    session_not_found,
    sessionless_revision,
)
from kernel.mcp.heads import SESSION_HEADER, Head
from kernel.mcp.jsonrpc import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    SERVER_BUSY,
    Batch,
    Notification,
    ProtocolError,
    Reply,
    Request,
    encode,
    result_message,
)
from kernel.mcp.limits import SESSIONS_FULL_RETRY_S, STREAM_RETRY_S
from kernel.mcp.modern_era import client_name, read_progress_token, read_task_id
from kernel.mcp.params import CallTool
from kernel.mcp.parts import Parts
from kernel.mcp.results import HandshakeDress
from kernel.mcp.sessions import Session, SessionsFull
from kernel.mcp.waiting import await_answer
from kernel.tools.service import Caller
from kernel.wire import Answer, Exchange, Response, StreamResponse, StreamWriter
from scheduler.scheduler import Scheduler


class HandshakeService:
    """The 2024-11-05 … 2025-11-25 side of the endpoint."""

    def __init__(self, parts: Parts, scheduler: Scheduler) -> None:
        self._parts = parts
        self._scheduler = scheduler
        self._dress = HandshakeDress()
        self._methods = dict(HANDSHAKE_METHODS)
        if parts.offer.has_resource_subscriptions:
            self._methods.update(SUBSCRIPTION_METHODS)

    async def serve(self, exchange: Exchange, head: Head, incoming: HandshakeMessage, principal: str) -> Answer:
        """Answer one POST. Raises ProtocolError for what is wrong with the session, the envelope or a batch."""
        message = incoming.message
        session_id = exchange.request.headers.get(SESSION_HEADER)
        if isinstance(message, Request) and message.method == "initialize":
            return await self._initialize(head, message, session_id, principal)
        session = None if session_id is None else self._find(session_id, principal)
        if isinstance(message, Batch):
            revision = session.revision if session is not None else sessionless_revision(incoming.header_version)
            check_batch(message, revision, has_session=session is not None)
            return await self._serve_batch(head, message, session, principal)
        if isinstance(message, Request):
            return await self._serve_request(exchange, head, message, session, principal)
        self._take(message, session)
        return ACCEPTED

    def delete(self, session_id: str | None, principal: str) -> Response:
        """End a session: its streams close, its calls are cancelled (mcp-requirements 5.2)."""
        if session_id is None:
            raise session_missing()
        self._parts.sessions.end(self._find(session_id, principal))
        return Response(200)

    def open_stream(self, exchange: Exchange, head: Head, principal: str) -> StreamResponse:
        """The GET stream of a session (R254-R265). ``Last-Event-ID`` is ignored: nothing is replayed."""
        session_id = exchange.request.headers.get(SESSION_HEADER)
        if session_id is None:
            raise session_missing()
        session = self._find(session_id, principal)
        if not head.takes_events:
            raise ProtocolError(INVALID_REQUEST, "Not Acceptable: accept text/event-stream", status=406)
        subscriptions = self._parts.subscriptions
        if not subscriptions.notifications.has_room(principal):
            message = (
                f"Too many notification streams: at most {subscriptions.notifications.per_principal_max} per "
                f"credential and {subscriptions.notifications.streams_max} in all"
            )
            retry = (("Retry-After", str(STREAM_RETRY_S)),)
            raise ProtocolError(INVALID_REQUEST, message, status=429, headers=retry)
        look = partial(self._parts.surface, self._caller(session, principal, None))

        async def produce(writer: StreamWriter) -> None:
            await subscriptions.serve_session(exchange, session, look, writer)

        return StreamResponse(200, EVENT_HEADERS, produce)

    # --- sessions ---

    def _find(self, session_id: str, principal: str) -> Session:
        session = self._parts.sessions.find(session_id, principal, now=self._parts.clock.now())
        if session is None:
            raise session_not_found()
        return session

    async def _initialize(self, head: Head, request: Request, session_id: str | None, principal: str) -> Response:
        parts = self._parts
        now = parts.clock.now()
        if session_id is not None and parts.sessions.find(session_id, principal, now=now) is not None:
            raise ProtocolError(INVALID_REQUEST, "Invalid Request: this session is initialized", request_id=request.id)
        try:
            asked = read_initialize(request.params)
        except ProtocolError as error:
            error.request_id = request.id
            return answer(head, encode(error.object()))
        applicant = _applicant(asked, principal)
        instructions = await parts.instructions(applicant)
        extensions = await parts.extensions(applicant)
        try:
            session = parts.sessions.open(
                parts.ids.token(), principal, asked.revision, asked.client_info, asked.capabilities, now=now
            )
        except SessionsFull:
            retry = (("Retry-After", str(SESSIONS_FULL_RETRY_S)),)
            raise ProtocolError(SERVER_BUSY, "All sessions are in use", request_id=request.id, headers=retry) from None
        session.on_end.append(lambda: self._close(session))
        result = parts.offer.initialized(asked.revision.name, instructions, extensions)
        return answer(head, encode(result_message(request.id, result)), headers=(("Mcp-Session-Id", session.id),))

    def _close(self, session: Session) -> None:
        self._scheduler.close_session(session.id)

    # --- messages without an answer ---

    def _take(self, message: Notification | Reply, session: Session | None) -> None:
        if session is None:
            return
        if isinstance(message, Reply):
            receive = session.awaiting.pop(message.id, None)
            if receive is not None:
                receive(message)
        elif message.method == "notifications/cancelled":
            # Unknown, finished and malformed ones are ignored: the lookup takes any JSON value.
            self._scheduler.cancel(session.id, (message.params or {}).get("requestId"))

    # --- requests ---

    async def _serve_request(
        self, exchange: Exchange, head: Head, request: Request, session: Session | None, principal: str
    ) -> Answer:
        call, operation = self._read(request, session, principal, takes_events=head.takes_events)
        if isinstance(operation, CallTool):
            return await self._call_tool(exchange, head, call, operation)
        if operation is not None:
            await self._run(call, operation)
        return _answered(head, call)

    async def _call_tool(self, exchange: Exchange, head: Head, call: Call, operation: CallTool) -> Answer:
        self._hold(call)
        ticket = await self._parts.calls.start(call, operation)
        if ticket is None:
            return _answered(head, call)
        # A disconnect is no cancel in this era, so nobody watches for it.
        return await await_answer(exchange, head, call, self._parts.patience, None)

    def _hold(self, call: Call) -> None:
        """The session is busy until the call is answered, whoever is still there to hear it."""
        session, sessions = call.session, self._parts.sessions
        if session is not None:
            sessions.hold(session)
            call.channel.on_finish = lambda: sessions.release(session, now=self._parts.clock.now())

    async def _serve_batch(self, head: Head, batch: Batch, session: Session | None, principal: str) -> Response:
        answers: list[bytes] = []
        async with trio.open_nursery() as nursery:
            for entry in batch.entries:
                if isinstance(entry, ProtocolError):
                    answers.append(encode(entry.object()))
                elif isinstance(entry, Request):
                    nursery.start_soon(self._serve_entry, entry, session, principal, answers)
                else:
                    self._take(entry, session)
        if not answers:
            return ACCEPTED
        return answer(head, b"[" + b",".join(answers) + b"]")

    async def _serve_entry(
        self, request: Request, session: Session | None, principal: str, answers: list[bytes]
    ) -> None:
        call, operation = self._read(request, session, principal, takes_events=False)
        if isinstance(operation, CallTool):
            self._hold(call)
            await self._parts.calls.start(call, operation)
            while call.channel.answer is None:
                await call.channel.wait()
        elif operation is not None:
            await self._run(call, operation)
        assert call.channel.answer is not None, "every entry is answered"
        answers.append(call.channel.answer)

    def _read(
        self, request: Request, session: Session | None, principal: str, *, takes_events: bool
    ) -> tuple[Call, HandshakeOperation | None]:
        """The call and its operation; None if the parameters were at fault and the call has been answered."""
        params = request.params or {}
        meta = params.get("_meta")
        fault: ProtocolError | None = None
        progress_token = task_id = operation = None
        try:
            if request.method not in self._methods:
                raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
            if isinstance(meta, dict):
                progress_token, task_id = read_progress_token(meta), read_task_id(meta)
            operation = self._methods[request.method](params)
        except ProtocolError as error:
            fault = error
        channel = PostChannel(
            takes_events=takes_events and isinstance(operation, CallTool),
            capabilities={} if session is None else session.capabilities,
            progress_token=progress_token,
            has_progress_message=session is None or session.revision.has_progress_message,
            log_level=None if session is None else session.log_level,
            session=session,
        )
        call = Call(
            request.id,
            request.method,
            self._caller(session, principal, channel),
            channel,
            self._dress,
            None if session is None else session.client_info,
            session,
            task_id,
            outlives_client=True,
        )
        if fault is not None:
            call.fail(fault)
        return call, operation

    async def _run(self, call: Call, operation: HandshakeOperation) -> None:
        if isinstance(operation, Ping | SetLevel | Subscribe):
            await run_handler(call, self._serve_own, operation)
        else:
            await self._parts.dispatch.run(call, operation)

    async def _serve_own(self, operation: Any, call: Call) -> dict[str, Any]:
        session = call.session
        if session is not None:
            if isinstance(operation, SetLevel):
                session.log_level = operation.level
            elif isinstance(operation, Subscribe):
                change = session.subscriptions.add if operation.is_wanted else session.subscriptions.discard
                change(operation.uri)
        return {}

    def _caller(self, session: Session | None, principal: str, channel: PostChannel | None) -> Caller:
        if session is None:
            return Caller("handshake", principal, channel=channel)
        return Caller(
            "handshake",
            principal,
            client_name(session.client_info),
            session.id,
            has_apps=has_apps(session.capabilities),
            channel=channel,
        )


def _answered(head: Head, call: Call) -> Response:
    assert call.channel.answer is not None, "the call has been answered"
    return answer(head, call.channel.answer, call.channel.status)


def _applicant(asked: Initialize, principal: str) -> Caller:
    return Caller("handshake", principal, client_name(asked.client_info), has_apps=has_apps(asked.capabilities))
