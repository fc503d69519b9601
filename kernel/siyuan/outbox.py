"""What a WebSocket still has to be sent: publishers put and never wait, one task per socket sends.

A socket whose peer falls behind is cut off: memory stays bounded, and nobody who publishes waits for a reader.
"""

from __future__ import annotations

from collections import deque

import trio

from kernel.siyuan.limits import OUTBOX_BYTES_MAX, OUTBOX_MESSAGES_MAX
from kernel.wire import ClientGone, WebSocket


class Outbox:
    """The queue of one socket. ``put`` and ``end`` are synchronous."""

    def __init__(self, *, messages_max: int = OUTBOX_MESSAGES_MAX, bytes_max: int = OUTBOX_BYTES_MAX) -> None:
        self._messages_max = messages_max
        self._bytes_max = bytes_max
        self._waiting: deque[str | bytes] = deque()
        self._waiting_bytes = 0
        self._arrived = trio.Event()
        self._scope = trio.CancelScope()
        self._goodbye: tuple[int, str] | None = None
        self.is_cut = False

    def put(self, message: str | bytes) -> None:
        """Queue one message; past the bound the socket is cut, and after that nothing happens."""
        if self.is_cut or self._goodbye is not None:
            return
        if len(self._waiting) >= self._messages_max or self._waiting_bytes + len(message) > self._bytes_max:
            self.is_cut = True
            self._waiting.clear()
            self._scope.cancel()
            return
        self._waiting.append(message)
        self._waiting_bytes += len(message)
        self._arrived.set()

    def end(self, code: int, reason: str) -> None:
        """Close the socket once everything before is out."""
        self._goodbye = (code, reason)
        self._arrived.set()

    async def send_to(self, socket: WebSocket) -> None:
        """Send until ``end`` or the peer goes. Raises ClientGone."""
        with self._scope:
            while True:
                if self._waiting:
                    message = self._waiting.popleft()
                    self._waiting_bytes -= len(message)
                    await socket.send(message)
                elif self._goodbye is not None:
                    await socket.aclose(*self._goodbye)
                    break
                else:
                    self._arrived = trio.Event()
                    await self._arrived.wait()
        raise ClientGone("the peer fell behind" if self.is_cut else "closed")
