"""Server-sent events: frames, and streams that a publisher feeds without ever waiting for a reader.

An event is framed once and the same bytes go to every stream. A stream owes its reader a bounded backlog; a reader that
falls behind is cut off (its client connects again), so a publisher, and with it a lane, never waits for anyone.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import trio

from kernel.http.limits import SSE_BACKLOG_BYTES_MAX, SSE_BACKLOG_EVENTS_MAX, SSE_KEEP_ALIVE_S
from kernel.wire import EVENT_STREAM, ClientGone, StreamResponse, StreamWriter

KEEP_ALIVE: Final = b": keep-alive\n\n"
HEADERS: Final = (
    ("Content-Type", EVENT_STREAM),
    ("Cache-Control", "no-cache, no-transform"),
    ("X-Accel-Buffering", "no"),
)


def frame_event(data: str, *, event: str | None = None, id: str | None = None, retry_ms: int | None = None) -> bytes:
    """One event as bytes; each line of ``data`` gets its own field. ``event`` and ``id`` must be single lines."""
    lines = []
    for name, value in (("id", id), ("event", event), ("retry", retry_ms)):
        if value is not None:
            if isinstance(value, str) and ("\n" in value or "\r" in value or "\0" in value):
                raise ValueError(f"{name} of an event must be one line")
            lines.append(f"{name}:{value}\n")
    text = data.replace("\r\n", "\n").replace("\r", "\n")
    lines.extend(f"data:{line}\n" for line in text.split("\n"))
    lines.append("\n")
    return "".join(lines).encode("utf-8", "surrogatepass")


class EventStream:
    """One reader's stream. ``publish`` and ``end`` are synchronous; ``produce`` runs as the answer's producer."""

    def __init__(
        self,
        *,
        events_max: int = SSE_BACKLOG_EVENTS_MAX,
        bytes_max: int = SSE_BACKLOG_BYTES_MAX,
        keep_alive_s: float = SSE_KEEP_ALIVE_S,
    ) -> None:
        self._events_max = events_max
        self._bytes_max = bytes_max
        self._keep_alive_s = keep_alive_s
        self._backlog: deque[bytes] = deque()
        self._backlog_bytes = 0
        self._arrived = trio.Event()
        self._scope = trio.CancelScope()
        self.is_cut = False  # the reader fell behind
        self._is_ended = False

    @property
    def is_open(self) -> bool:
        return not (self.is_cut or self._is_ended)

    def publish(self, frame: bytes) -> None:
        """Queue one framed event. Past the backlog's bound the stream is cut; on a closed stream nothing happens."""
        if not self.is_open:
            return
        if len(self._backlog) >= self._events_max or self._backlog_bytes + len(frame) > self._bytes_max:
            self._cut()
            return
        self._backlog.append(frame)
        self._backlog_bytes += len(frame)
        self._arrived.set()

    def end(self) -> None:
        """Let the answer end once the backlog is out."""
        self._is_ended = True
        self._arrived.set()

    def response(self, headers: tuple[tuple[str, str], ...] = ()) -> StreamResponse:
        """The answer that sends this stream."""
        return StreamResponse(200, (*HEADERS, *headers), self.produce)

    async def produce(self, writer: StreamWriter) -> None:
        """Send what is published until ``end``; a comment where nothing is. Raises ClientGone once cut."""
        with self._scope:
            while await self._send_next(writer):
                pass
        if self.is_cut:
            raise ClientGone("the reader fell behind")

    async def _send_next(self, writer: StreamWriter) -> bool:
        if self._backlog:
            # All that waits goes out in one piece: a busy stream costs one send per turn, not one per event.
            frames, self._backlog = self._backlog, deque()
            self._backlog_bytes = 0
            await writer.send(b"".join(frames))
            return True
        if self._is_ended:
            return False
        self._arrived = trio.Event()
        with trio.move_on_after(self._keep_alive_s) as silence:
            await self._arrived.wait()
        if silence.cancelled_caught:
            await writer.send(KEEP_ALIVE)
        return True

    def _cut(self) -> None:
        self.is_cut = True
        self._backlog.clear()
        self._backlog_bytes = 0
        self._scope.cancel()


class Fanout:
    """Many streams that get the same events, in the order they joined."""

    def __init__(self) -> None:
        self._streams: dict[EventStream, None] = {}

    def __len__(self) -> int:
        return len(self._streams)

    def add(self, stream: EventStream) -> None:
        self._streams[stream] = None

    def remove(self, stream: EventStream) -> None:
        self._streams.pop(stream, None)

    def publish(self, frame: bytes) -> int:
        """Queue ``frame`` everywhere; how many streams took it. Streams that were cut are forgotten."""
        for stream in list(self._streams):
            stream.publish(frame)
            if not stream.is_open:
                del self._streams[stream]
        return len(self._streams)

    def end(self) -> None:
        """End all streams (shutdown)."""
        for stream in self._streams:
            stream.end()
        self._streams.clear()
