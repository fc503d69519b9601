"""Streams that tell of a changed tool list: the handshake GET stream (R254-R265) and ``subscriptions/listen``.

Both are the same loop: look every 5 seconds (or when told that something changed), send one notification if the digest
of the surface differs, comments otherwise. A stream holds at most one notification: what it sends is "changed since you
last heard", so a burst costs two of them and the last change is never lost. No history, no replay.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import trio

from kernel.clock import Clock
from kernel.mcp.channel import send
from kernel.mcp.jsonrpc import SSE_KEEP_ALIVE, RequestId, notification_message, result_message, sse_event
from kernel.mcp.limits import (
    KEEP_ALIVE_S,
    STREAM_LIFE_S,
    STREAMS_MAX,
    STREAMS_PER_PRINCIPAL_MAX,
    SURFACE_BURST_S,
    SURFACE_CHECK_S,
)
from kernel.mcp.modern_era import META_SUBSCRIPTION, Listen
from kernel.mcp.sessions import Session, SessionTable
from kernel.wire import Exchange, StreamWriter

logger: Final = logging.getLogger(__name__)

TOOLS_CHANGED: Final = "notifications/tools/list_changed"
PROMPTS_CHANGED: Final = "notifications/prompts/list_changed"

Look = Callable[[], Awaitable[dict[str, str]]]
"""Which notification stands for which digest, right now: method → digest."""


@dataclass(frozen=True, slots=True)
class Listening:
    """One listen request: whose it is, what it wants, and the result that ends it (dressed)."""

    request_id: RequestId
    principal: str
    wanted: Listen
    final: dict[str, Any]

    @property
    def meta(self) -> dict[str, Any]:
        """What marks every message of the stream."""
        return {META_SUBSCRIPTION: self.request_id}


class StreamPlaces:
    """How many streams are open, in all and per principal."""

    def __init__(self, streams_max: int = STREAMS_MAX, per_principal_max: int = STREAMS_PER_PRINCIPAL_MAX) -> None:
        self.streams_max = streams_max
        self.per_principal_max = per_principal_max
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._open.total()

    def has_room(self, principal: str) -> bool:
        return self._open.total() < self.streams_max and self._open[principal] < self.per_principal_max

    def take(self, principal: str) -> bool:
        if not self.has_room(principal):
            return False
        self._open[principal] += 1
        return True

    def give_back(self, principal: str) -> None:
        self._open[principal] -= 1
        if not self._open[principal]:
            del self._open[principal]


class _Stream:
    """One open stream: how to wake it, and whether it is to end."""

    def __init__(self) -> None:
        self.is_closing = False
        self.storm = 0  # notifications to send although nothing changed
        self._woken = trio.Event()

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self.is_closing = True
        self._woken.set()

    async def sleep(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._woken.wait()
        self._woken = trio.Event()


class Subscriptions:
    """All streams of the endpoint."""

    def __init__(
        self, clock: Clock, sessions: SessionTable, notifications: StreamPlaces, listeners: StreamPlaces
    ) -> None:
        self._clock = clock
        self._sessions = sessions
        self.notifications = notifications
        self.listeners = listeners
        self._streams: list[_Stream] = []
        self._is_closed = False

    def announce(self) -> None:
        """Something may have changed: look now instead of at the next interval."""
        for stream in self._streams:
            stream.wake()

    def storm(self, count: int) -> None:
        """Send ``count`` notifications on every open stream, change or not (a fault)."""
        for stream in self._streams:
            stream.storm += count
            stream.wake()

    def close(self) -> None:
        """End every stream in its own good manner; later ones end at once."""
        self._is_closed = True
        for stream in self._streams:
            stream.close()

    async def serve_session(self, exchange: Exchange, session: Session, look: Look, writer: StreamWriter) -> None:
        """A handshake GET stream: one notification at once, then on change, for at most ten minutes (R256-R261)."""
        if session.is_ended:
            return
        async with self._open_stream(exchange, self.notifications, session.principal) as stream:
            if stream is None:
                return
            self._sessions.hold(session)
            session.on_end.append(stream.close)
            try:
                seen = await _attempt(look)
                if seen is None:
                    return
                await send(writer, sse_event(notification_message(TOOLS_CHANGED)))
                await self._follow(stream, look, seen, writer, None, STREAM_LIFE_S)
            finally:
                if not session.is_ended:
                    session.on_end.remove(stream.close)
                self._sessions.release(session, now=self._clock.now())

    async def serve_listen(self, exchange: Exchange, listen: Listening, look: Look, writer: StreamWriter) -> None:
        """A listen stream: the acknowledgement first, then what was asked for, until the client or the server goes."""
        async with self._open_stream(exchange, self.listeners, listen.principal) as stream:
            if stream is None:
                return
            # Looked at before the acknowledgement: a change while it is written is not lost.
            seen = await _attempt(look) or {}
            await send(writer, sse_event(_acknowledgement(listen, seen)))
            await self._follow(stream, look, seen, writer, {"_meta": listen.meta}, None)
            await send(writer, sse_event(result_message(listen.request_id, listen.final)))

    @asynccontextmanager
    async def _open_stream(
        self, exchange: Exchange, places: StreamPlaces, principal: str
    ) -> AsyncIterator[_Stream | None]:
        if self._is_closed or not places.take(principal):
            yield None
            return
        stream = _Stream()
        self._streams.append(stream)
        try:
            # Without the watch only the next write would tell, and a client that reconnects would find no place.
            with exchange.watch_disconnect(stream.close):
                yield stream
        finally:
            self._streams.remove(stream)
            places.give_back(principal)

    async def _follow(
        self,
        stream: _Stream,
        look: Look,
        seen: dict[str, str],
        writer: StreamWriter,
        params: dict[str, Any] | None,
        life_s: float | None,
    ) -> None:
        opened_s = sent_s = self._clock.now()
        while True:
            await stream.sleep(SURFACE_CHECK_S)
            now = self._clock.now()
            if stream.is_closing or (life_s is not None and now - opened_s >= life_s):
                return
            for _ in range(stream.storm):
                stream.storm -= 1
                await send(writer, sse_event(notification_message(TOOLS_CHANGED, params)))
            found = await _attempt(look)
            if found is None:
                # The configuration cannot be read: the client connects anew and lists again (R261).
                return
            changed = [method for method, digest in found.items() if seen.get(method) != digest]
            for method in changed:
                await send(writer, sse_event(notification_message(method, params)))
            if changed:
                seen, sent_s = found, now
                # A burst of changes is one change: the next look comes after it.
                await trio.sleep(SURFACE_BURST_S)
                stream.wake()
            elif now - sent_s >= KEEP_ALIVE_S:
                await send(writer, SSE_KEEP_ALIVE)
                sent_s = now


async def _attempt(look: Look) -> dict[str, str] | None:
    try:
        return await look()
    except Exception as error:
        logger.warning("a notification stream ends: the configuration cannot be read", exc_info=error)
        return None


def _acknowledgement(listen: Listening, honoured: dict[str, str]) -> dict[str, Any]:
    notifications: dict[str, Any] = {}
    if listen.wanted.wants_tools:
        notifications["toolsListChanged"] = True
    if listen.wanted.wants_prompts and PROMPTS_CHANGED in honoured:
        notifications["promptsListChanged"] = True
    return notification_message(
        "notifications/subscriptions/acknowledged", {"_meta": listen.meta, "notifications": notifications}
    )
