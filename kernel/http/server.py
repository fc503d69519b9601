"""The server: listeners in, connections out, and an orderly end. ``kernel.app`` gives it a resolver."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Final

import trio

from kernel.clock import Clock
from kernel.faults.trigger import NO_FAULTS, Trigger
from kernel.http import reply
from kernel.http.connection import Connection
from kernel.http.limits import RETRY_AFTER_S, SWEEP_PERIOD_S
from kernel.http.router import Resolver
from kernel.http.services import BodyBudget, Limits, OwedAnswers, Services
from kernel.http.transport import SocketTransport, StreamTransport, Transport
from kernel.http.turnstile import Turnstile
from kernel.wire import ClientGone

_log: Final = logging.getLogger("kernel.http")
_ACCEPTS_PER_TURN_MAX: Final = 64
_BACKLOG: Final = 512
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_CROWDED: Final = reply.plain(
    503, "Too many connections at once.", headers=(("Retry-After", str(RETRY_AFTER_S)),), closes=True
)


@dataclass(frozen=True, slots=True)
class ServerStatistics:
    connections: int
    idle_connections: int
    held_body_bytes: int
    memoised_heads: int
    is_draining: bool


def open_listener(host: str, port: int) -> socket.socket:
    """A bound, listening, non-blocking socket (IPv4 or IPv6 by the form of ``host``). Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


class Server:
    """Serves until ``drain`` or a cancel.

    ``resolve`` is called synchronously with each request head and must not block. ``is_full``: whether a call that comes
    now would only be refused; then requests are let in a few at a time (``kernel.http.turnstile``).
    """

    def __init__(
        self,
        resolve: Resolver,
        *,
        clock: Clock,
        limits: Limits | None = None,
        trigger: Trigger = NO_FAULTS,
        is_full: Callable[[], bool] = lambda: False,
    ) -> None:
        self._resolve = resolve
        self._trigger = trigger
        self._clock = clock
        self._limits = limits or Limits()
        self._turnstile = Turnstile(is_full)
        self._connections: set[Connection] = set()
        self._services: Services | None = None
        self._accepting = trio.CancelScope()
        self._arrived = trio.Event()
        self._emptied = trio.Event()

    @property
    def draining(self) -> trio.Event:
        """Set when ``drain`` begins: streams that could go on for ever should end themselves."""
        return self._running.draining

    def statistics(self) -> ServerStatistics:
        services = self._running
        return ServerStatistics(
            connections=len(self._connections),
            idle_connections=sum(connection.is_idle for connection in self._connections),
            held_body_bytes=services.budget.held_bytes,
            memoised_heads=len(services.heads),
            is_draining=services.draining.is_set(),
        )

    async def serve(
        self,
        listeners: Iterable[socket.socket] = (),
        *,
        task_status: trio.TaskStatus[Server] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Accept from ``listeners`` (non-blocking, closed at the end) until drained or cancelled."""
        async with trio.open_nursery() as nursery:
            budget = BodyBudget(self._limits.bodies_bytes_max)
            now = trio.lowlevel.current_clock().current_time
            owed = OwedAnswers(self._limits.answers_owed_bytes_max)
            self._services = Services(
                self._resolve, self._clock, nursery, self._limits, budget, now, self._turnstile, owed, self._trigger
            )
            nursery.start_soon(self._sweep)
            nursery.start_soon(self._turnstile.run)
            for listener in listeners:
                nursery.start_soon(self._accept, listener)
            task_status.started(self)

    async def serve_stream(self, stream: trio.abc.HalfCloseableStream, peer: str = "127.0.0.1") -> None:
        """Serve one stream, for example an end of a memory pair, while ``serve`` runs; returns at its end."""
        await self._serve_transport(StreamTransport(stream, peer))

    async def drain(self, deadline_s: float) -> None:
        """Stop accepting, close idle connections, let running exchanges end for ``deadline_s``; then close all.

        ``serve`` returns after it. Calling it again, or cancelling it, is for the impatient: ``close_now``.
        """
        services = self._running
        services.draining.set()
        self._accepting.cancel()
        for connection in list(self._connections):
            if connection.is_idle:
                services.nursery.start_soon(connection.dismiss)
        with trio.move_on_after(deadline_s):
            if self._connections:
                self._emptied = trio.Event()
                await self._emptied.wait()
        self.close_now()

    def close_now(self) -> None:
        """End ``serve`` at once, cancelling what still runs."""
        for connection in list(self._connections):
            connection.scope.cancel()  # those of serve_stream run in their caller's nursery
        self._running.nursery.cancel_scope.cancel()

    # --- inside ----------------------------------------------------------------------------------------------
    @property
    def _running(self) -> Services:
        if self._services is None:
            raise RuntimeError("the server has not been started")
        return self._services

    async def _accept(self, listener: socket.socket) -> None:
        try:
            with self._accepting:
                while True:
                    await trio.lowlevel.wait_readable(listener)
                    await self._accept_some(listener)
        finally:
            trio.lowlevel.notify_closing(listener)
            listener.close()

    async def _accept_some(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPTS_PER_TURN_MAX):
            try:
                sock, address = listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    _log.warning("cannot accept: %s", error)
                    await trio.sleep(SWEEP_PERIOD_S)
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._running.nursery.start_soon(self._serve_transport, SocketTransport(sock, str(address[0])))

    async def _serve_transport(self, transport: Transport) -> None:
        services = self._running
        if len(self._connections) >= self._limits.connections_max:
            await refuse(transport, self._clock)
            return
        connection = Connection(transport, services)
        self._connections.add(connection)
        self._arrived.set()
        try:
            await connection.run()
        except Exception:
            # A fault of ours: it costs this connection, not the server.
            _log.exception("a connection failed")
        finally:
            self._connections.discard(connection)
            if not self._connections:
                self._emptied.set()

    async def _sweep(self) -> None:
        """Expire what is late. Sleeps while there is no connection, so that a virtual clock is not kept busy."""
        while True:
            if not self._connections:
                self._arrived = trio.Event()
                await self._arrived.wait()
            await trio.sleep(SWEEP_PERIOD_S)
            now = trio.current_time()
            for connection in list(self._connections):
                if connection.deadline <= now:
                    connection.deadline = inf
                    connection.expire()


async def refuse(transport: Transport, clock: Clock) -> None:
    """Turn away a connection too many. Cheap: no task is kept, at most one short send."""
    try:
        data = reply.whole(_CROWDED, wall_s=clock.wall_ms() // 1000, is_head=False, closes=True)
        transport.send_now(data)
    except ClientGone:
        return
    finally:
        await transport.aclose()


async def serve_http(
    listeners: Iterable[socket.socket],
    resolve: Resolver,
    *,
    clock: Clock,
    limits: Limits | None = None,
    task_status: trio.TaskStatus[Server] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``resolve`` on ``listeners``; ``nursery.start`` gives the Server, to drain it."""
    await Server(resolve, clock=clock, limits=limits).serve(listeners, task_status=task_status)


__all__ = ["Limits", "Server", "ServerStatistics", "open_listener", "serve_http"]
