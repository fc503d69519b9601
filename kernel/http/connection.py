"""One connection, one task: read a head, find its route, read the body, run the handler, write the answer, again.

Nothing is spawned per request, and no cancel scope is entered: the one scope belongs to the connection. Waits that
have a bound set ``deadline``; the server's sweeper compares all of them with the clock once a second and expires the
late ones by cancelling their scope. While a handler runs there is no deadline here: what it may take is its own rule.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager
from http import HTTPStatus
from math import inf
from typing import TYPE_CHECKING, Final

import msgspec
import trio

from kernel.faults.calls import NOBODY, CallFacts, facts_of_request
from kernel.faults.plan import Rule
from kernel.faults.points import (
    HTTP_ACCEPTED,
    HTTP_ANSWERED,
    HTTP_ANSWERING,
    HTTP_BODY,
    HTTP_CLOSING,
    HTTP_HEAD,
    HTTP_READ,
)
from kernel.faults.trigger import AnswerDropped, ConnectionCut, FaultInjected, Trigger, deeds
from kernel.http import reply
from kernel.http.bodies import BodyReader
from kernel.http.exchange import Head, Malformed, Wire
from kernel.http.faulty import FaultyWriter, SecondDelivery, cut_at, injected, is_event_stream, shuffled_answer
from kernel.http.limits import (
    LINGER_BYTES_MAX,
    LINGER_S_MAX,
    PIPELINED_PER_TURN_MAX,
    RETRY_AFTER_S,
    WEBSOCKET_CLOSE_S_MAX,
)
from kernel.http.services import BodiesFull, Services
from kernel.http.streaming import AnswerWriter
from kernel.http.transport import Transport
from kernel.http.watch import DisconnectWatch
from kernel.wire import (
    Answer,
    BodyTooLarge,
    ClientGone,
    Request,
    Response,
    Route,
    StreamResponse,
    StreamWriter,
    WebSocketResponse,
)

if TYPE_CHECKING:
    from kernel.http.websocket import ServerSocket

_log: Final = logging.getLogger("kernel.http")
_FAILED: Final = reply.plain(500, "The server failed on this request; its log says how.", closes=True)
_TOO_SLOW: Final = reply.plain(408, "The request took too long to arrive.", closes=True)
_FULL: Final = reply.plain(
    503, "Too many request bodies at once.", headers=(("Retry-After", str(RETRY_AFTER_S)),), closes=True
)


class Connection:
    """The server's side of one byte stream."""

    def __init__(self, transport: Transport, services: Services) -> None:
        self._transport = transport
        self._services = services
        self._trigger: Trigger = services.trigger
        self._wire = Wire(services.heads)
        self._watch = DisconnectWatch(transport, self._wire, services.nursery)
        self._body = BodyReader(self, self._wire, services)
        self._pipelined = 0
        self._has_answered = False  # the bytes of this exchange's answer have begun to go out
        self._is_ruined = False
        self._has_points = False  # this exchange passes fault points
        self._awaits_body = False  # and so does each piece of its body
        self._call = NOBODY  # what they may ask of it
        self.scope = trio.CancelScope()
        self.deadline = inf  # trio time; inf while nothing is waited for that has a bound
        self.is_expired = False
        self.is_idle = True  # between two requests, or a WebSocket: may be closed without harm
        self._socket: ServerSocket | None = None
        self._ended = trio.Event()

    async def run(self) -> None:
        """Serve until either side ends it. Never raises but for a cancel from outside."""
        try:
            with self.scope:
                if await self._is_accepted():
                    await self._serve()
                if self._has_points:
                    await self._pass_closing()
            if self.is_expired and self._awaits_request():
                with trio.move_on_after(LINGER_S_MAX):
                    await self._send_last(_TOO_SLOW)
        finally:
            self._ended.set()
            await self._transport.aclose()

    async def dismiss(self) -> None:
        """End an idle connection: a WebSocket is told so and has a moment to answer, anything else is just closed."""
        if self._socket is not None:
            with trio.move_on_after(WEBSOCKET_CLOSE_S_MAX):
                await self._socket.going_away()
                await self._ended.wait()
        self.scope.cancel()

    def expire(self) -> None:
        """The sweeper's call: the deadline has passed."""
        self.is_expired = True
        self.scope.cancel()

    def give_way(self) -> None:
        """Others need the memory that this reader's answer takes (``OwedAnswers``)."""
        self.scope.cancel()

    async def _is_accepted(self) -> bool:
        if not self._trigger.watches_http:
            return True
        try:
            await self._pass(HTTP_ACCEPTED)
        except (FaultInjected, AnswerDropped):
            return False
        return True

    async def _serve(self) -> None:
        try:
            while (head := await self._next_head()) is not None:
                self.is_idle = False
                if (turnstile := self._services.turnstile).is_full():
                    await turnstile.enter()
                if not await self._exchange(head):
                    return
                self.is_idle = True
        except Malformed as error:
            await self._refuse(_malformed(error))
        except ClientGone:
            return

    def _awaits_request(self) -> bool:
        has_begun = self._wire.buffered_bytes > 0 or not self._wire.is_body_complete
        return has_begun and not self._has_answered

    # --- reading ---------------------------------------------------------------------------------------------
    async def _next_head(self) -> Head | None:
        self._has_answered = False
        wire, services = self._wire, self._services
        has_begun = False
        if wire.buffered_bytes:
            if (head := wire.next_head()) is not None:
                self._pipelined += 1
                if self._pipelined % PIPELINED_PER_TURN_MAX == 0:
                    # A direct send is no checkpoint: without this a pipelining client would keep the loop to itself.
                    await trio.lowlevel.checkpoint()
                return head
            has_begun = wire.buffered_bytes > 0  # an empty line before a request is no beginning of it
        limits = services.limits
        self.deadline = services.now() + (limits.head_s_max if has_begun else limits.idle_s_max)
        while not wire.is_eof:
            if self._watch.reader is not None:
                await self._watch.ended()
            wire.feed(await self._transport.receive())
            if (head := wire.next_head()) is not None:
                self.deadline = inf
                return head
            if not has_begun:
                has_begun = True
                self.deadline = services.now() + limits.head_s_max
        return None

    async def receive(self) -> bytes:
        """The next bytes of the peer, after the watcher has let go of the stream."""
        if self._watch.reader is not None:
            await self._watch.ended()
        if self._awaits_body:
            await self._pass(HTTP_BODY)
        return await self._transport.receive()

    # --- one exchange ----------------------------------------------------------------------------------------
    async def _exchange(self, head: Head) -> bool:
        """Answer one request. True if the connection can take another."""
        body = self._body
        body.begin(head)
        try:
            try:
                plan = self._services.resolve(head)
            except Exception:
                _log.exception("%s %s found no route", head.method, head.path)
                plan = _FAILED
            answer = await self._run_route(head, plan) if isinstance(plan, Route) else plan
            self._awaits_body = False
            if body.held_bytes and isinstance(answer, Response):
                body.release()  # nobody looks at it any more, however long the answer takes to send
            if not self._trigger.watches_http or (isinstance(plan, Route) and not plan.has_fault_points):
                return await self._write(head, answer)
            return await self._write_at_fault_points(head, answer)
        except AnswerDropped as fault:
            self._awaits_body = False
            if isinstance(fault, ConnectionCut) and fault.how == "fin":
                await self._linger()
            return False
        finally:
            if body.held_bytes:
                body.release()

    async def _run_route(self, head: Head, route: Route) -> Answer:
        try:
            body = b""
            self._has_points = self._trigger.watches_http and route.has_fault_points
            if self._has_points:
                await self._pass_head(head)
            if route.streams_body:
                self._body.check(route.body_bytes_max)
            elif head.has_body:
                arrived = self._body.arrived(route.body_bytes_max)
                body = await self._body.whole(route.body_bytes_max) if arrived is None else arrived
            request = Request(head.method, head.target, head.path, head.query, head.headers, body, self._transport.peer)
            if self._has_points:
                await self._pass_read(route, request)
            return await route.handler(ServerExchange(request, self._body, self._watch, route.body_bytes_max))
        except BodyTooLarge as error:
            return reply.plain(413, f"The body may have {error.limit_bytes} bytes.", closes=True)
        except BodiesFull:
            return _FULL
        except FaultInjected as fault:
            return injected(fault)
        except (ClientGone, Malformed, AnswerDropped):
            raise
        except Exception as error:
            if is_only_gone(error):
                raise ClientGone from None
            _log.exception("%s %s failed", head.method, head.path)
            return _FAILED

    # --- writing ---------------------------------------------------------------------------------------------
    async def _write_at_fault_points(self, head: Head, answer: Answer) -> bool:
        try:
            struck = deeds(await self._pass(HTTP_ANSWERING))
        except FaultInjected as fault:
            answer, struck = injected(fault), {}
        if (rule := struck.get("shuffle_attributes")) is not None:
            answer = shuffled_answer(answer, f"{rule.seed}/{self._trigger.trace.count}")
        if (rule := struck.get("truncate")) is not None:
            return await self._write_part(head, answer, rule)
        keeps = await self._write(head, self._with_frame_points(answer))
        try:
            await self._pass(HTTP_ANSWERED)
        except FaultInjected:
            return False  # it is out: only the connection can still fail
        return keeps

    async def _write_part(self, head: Head, answer: Answer, rule: Rule) -> bool:
        """The beginning of the answer, and the end of the connection."""
        if not isinstance(answer, Response):
            await self._write(head, self._with_frame_points(answer, left_bytes=rule.bytes or 0))
            return False
        wall_s = self._services.clock.wall_ms() // 1000
        self._has_answered = True
        data = reply.whole(answer, wall_s=wall_s, is_head=head.method == "HEAD", closes=False)
        await self.send(data[: cut_at(rule, len(data))])
        await self._linger()
        return False

    def _with_frame_points(self, answer: Answer, *, left_bytes: int | None = None) -> Answer:
        if not isinstance(answer, StreamResponse):
            return answer
        call, is_events, produce = self._call, is_event_stream(answer), answer.produce

        async def faulty(writer: StreamWriter) -> None:
            await produce(FaultyWriter(writer, self._trigger, call, is_events=is_events, left_bytes=left_bytes))

        return StreamResponse(answer.status, answer.headers, faulty)

    async def _pass_head(self, head: Head) -> None:
        self._call = CallFacts(session=head.headers.get("mcp-session-id"))
        await self._pass(HTTP_HEAD)
        if head.has_body:
            await self._pass(HTTP_BODY)
            self._awaits_body = True

    async def _pass_read(self, route: Route, request: Request) -> None:
        self._call = facts_of_request(request.body, self._call.session)
        if "duplicate" in deeds(await self._pass(HTTP_READ)):
            self._services.nursery.start_soon(_deliver_again, route, request)

    async def _pass_closing(self) -> None:
        try:
            await self._pass(HTTP_CLOSING)
        except (FaultInjected, AnswerDropped):
            return

    async def _pass(self, point: str) -> tuple[Rule, ...]:
        try:
            return await self._trigger.visit(point, self._call)
        except ConnectionCut as cut:
            if cut.how == "rst":
                self._transport.reset_on_close()
            raise

    async def _write(self, head: Head, answer: Answer) -> bool:
        if isinstance(answer, WebSocketResponse):
            return await self._upgrade(head, answer)
        services, wire = self._services, self._wire
        keeps = not (isinstance(answer, Response) and answer.closes) and not services.draining.is_set()
        if not wire.is_body_complete:
            keeps = keeps and await self._body.skip()
        keeps = keeps and wire.keeps_alive
        wall_s = services.clock.wall_ms() // 1000
        self._has_answered = True
        try:
            if isinstance(answer, StreamResponse):
                return await self._write_stream(head, answer, wall_s, keeps)
            data, body = reply.parts(answer, wall_s=wall_s, is_head=head.method == "HEAD", closes=not keeps)
        except reply.HeaderInvalid:
            _log.exception("%s %s answered what cannot be sent", head.method, head.path)
            data, body, keeps = reply.whole(_FAILED, wall_s=wall_s, is_head=False, closes=True), b"", False
        await self.send(data)
        if body:
            await self.send(body)
        if not keeps:
            await self._linger()
        return keeps

    async def send(self, data: bytes) -> None:
        """Send all; the peer must take some of it every ``send_stall_s_max``."""
        if self._is_ruined:
            raise ClientGone
        # Until it is all out: a send that failed or was cancelled half way leaves nothing that could be continued.
        self._is_ruined = True
        sent = self._transport.send_now(data)
        if sent < len(data):
            await self._send_slowly(data, sent)
        self._is_ruined = False

    async def _send_slowly(self, data: bytes, sent: int) -> None:
        owed = self._services.owed
        owed.take(self, len(data))  # all of it stays in memory until the last byte is out
        try:
            await self._transport.send(memoryview(data)[sent:], self._progressed)
            self.deadline = inf
        finally:
            owed.give_back(self)

    def _progressed(self) -> None:
        self.deadline = self._services.now() + self._services.limits.send_stall_s_max

    async def _write_stream(self, head: Head, answer: StreamResponse, wall_s: int, keeps: bool) -> bool:
        length = reply.declared_length(answer.headers)
        keeps = keeps and (head.is_http11 or length is not None)
        writer = AnswerWriter(self, length, is_chunked=head.is_http11 and length is None, is_head=head.method == "HEAD")
        first = reply.stream_head(
            answer.status, answer.headers, wall_s=wall_s, is_chunked=writer.is_chunked, closes=not keeps
        )
        await self.send(first)
        try:
            await answer.produce(writer)
            await writer.end()
        except (ClientGone, Malformed):
            raise ClientGone from None
        except ConnectionCut as cut:
            if cut.how == "rst":
                self._transport.reset_on_close()
            raise
        except Exception as error:
            if is_only_gone(error):
                return False
            # The status is out: only a cut can tell the client that the answer is not whole.
            _log.exception("%s %s failed while answering", head.method, head.path)
            return False
        return keeps and writer.is_whole

    async def _upgrade(self, head: Head, answer: WebSocketResponse) -> bool:
        # The frames come in with the first socket: most servers never see one.
        from kernel.http.websocket import ServerSocket, UpgradeRefused

        try:
            socket, first = ServerSocket.accept(
                self, head, answer.headers, self._services.limits.websocket_message_bytes_max
            )
        except UpgradeRefused as error:
            return await self._write(head, error.answer)
        await self.send(first)
        socket.take(self._wire.take_rest())
        # It may go on for ever: a server that ends does not wait for it.
        self._socket, self.is_idle = socket, True
        try:
            await answer.serve(socket)
        except ClientGone:
            return False
        except Exception as error:
            if is_only_gone(error):
                return False
            _log.exception("the WebSocket at %s failed", head.path)
            await socket.aclose(1011)
            return False
        await socket.aclose()
        return False

    # --- the end ---------------------------------------------------------------------------------------------
    async def _refuse(self, answer: Response) -> None:
        if not self._has_answered:
            await self._send_last(answer)
            await self._linger()

    async def _send_last(self, answer: Response) -> None:
        wall_s = self._services.clock.wall_ms() // 1000
        self._has_answered = True
        try:
            await self.send(reply.whole(answer, wall_s=wall_s, is_head=False, closes=True))
        except ClientGone:
            return

    async def _linger(self) -> None:
        """Read on a little: closing on unread bytes resets the stream, and the answer would be lost with it."""
        await self._transport.end_sending()
        if self._wire.is_eof:
            return
        left_bytes = LINGER_BYTES_MAX
        with trio.move_on_after(LINGER_S_MAX):
            while left_bytes > 0 and (data := await self.receive()):
                left_bytes -= len(data)


class ServerExchange(msgspec.Struct, frozen=True, eq=False):
    """One request being answered (``kernel.wire.Exchange``)."""

    request: Request
    _body: BodyReader
    _watch: DisconnectWatch
    _body_bytes_max: int

    def chunks(self) -> AsyncGenerator[bytes, None]:
        return self._body.pieces(self._body_bytes_max)

    def watch_disconnect(self, gone: Callable[[], None]) -> AbstractContextManager[None]:
        return self._watch.watching(gone)


def is_only_gone(error: Exception) -> bool:
    """Whether a handler's failure, possibly out of its nurseries, says nothing but that the client left."""
    if isinstance(error, ExceptionGroup):
        return all(is_only_gone(inner) for inner in error.exceptions)
    return isinstance(error, ClientGone)


async def _deliver_again(route: Route, request: Request) -> None:
    """The second delivery of one request; what it is answered goes nowhere."""
    try:
        await route.handler(SecondDelivery(request))
    except Exception as error:
        if not is_only_gone(error):
            _log.warning("the second delivery of %s %s failed", request.method, request.path, exc_info=error)


def _malformed(error: Malformed) -> Response:
    """A bare ``400 Bad Request`` and, behind it, what was wrong with the bytes."""
    words = f"{error.status} {HTTPStatus(error.status).phrase}" + (f": {error.text}" if error.text else "")
    return Response(error.status, (("Content-Type", reply.TEXT),), words.encode("utf-8", "replace"), closes=True)
