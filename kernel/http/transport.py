"""How bytes move: a socket with a direct fast path, or any Trio stream (memory pipes in simulation).

The connection sees only ``Transport``. Errors of the peer all become ``ClientGone``.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Protocol

import trio

from kernel.http.limits import RECEIVE_BYTES_MAX
from kernel.wire import ClientGone


class Transport(Protocol):
    """One byte stream to one peer. ``peer`` is its address."""

    peer: str

    async def receive(self) -> bytes:
        """What has arrived, at least one byte; ``b""`` at the end. Always a checkpoint. Raises ClientGone."""
        ...

    def send_now(self, data: bytes | memoryview) -> int:
        """Send what is taken without waiting; how many bytes that were. Raises ClientGone."""
        ...

    async def send(self, data: bytes | memoryview, progressed: Callable[[], None]) -> None:
        """Send all of it, waiting for room; ``progressed`` runs whenever the peer took a part.

        After ClientGone or a cancel the stream is ruined.
        """
        ...

    async def end_sending(self) -> None:
        """Tell the peer that nothing more comes; it may still send. Never raises but for a cancel."""
        ...

    async def aclose(self) -> None:
        """Give everything back at once, also in a cancelled task."""
        ...

    def reset_on_close(self) -> None:
        """Let the close be a reset (RST) instead of an orderly end, where the transport knows the difference."""
        ...


class SocketTransport:
    """A connected non-blocking socket. Sends at once if there is room: no checkpoint, no task switch."""

    def __init__(self, sock: socket.socket, peer: str) -> None:
        self._socket = sock
        self.peer = peer

    async def receive(self) -> bytes:
        while True:
            try:
                await trio.lowlevel.wait_readable(self._socket)
                return self._socket.recv(RECEIVE_BYTES_MAX)
            except BlockingIOError:  # pragma: no cover - a spurious wake-up
                continue
            except (OSError, trio.ClosedResourceError) as error:
                raise ClientGone from error

    async def send(self, data: bytes | memoryview, progressed: Callable[[], None]) -> None:
        rest = memoryview(data)
        progressed()
        while rest:
            try:
                await trio.lowlevel.wait_writable(self._socket)
            except (OSError, trio.ClosedResourceError) as error:
                raise ClientGone from error
            sent = self.send_now(rest)
            if sent:
                rest = rest[sent:]
                progressed()

    def send_now(self, data: bytes | memoryview) -> int:
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise ClientGone from error

    async def end_sending(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return

    async def aclose(self) -> None:
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()

    def reset_on_close(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class StreamTransport:
    """Any Trio stream that can be half-closed, for example one end of ``trio.testing.memory_stream_pair()``."""

    def __init__(self, stream: trio.abc.HalfCloseableStream, peer: str = "127.0.0.1") -> None:
        self._stream = stream
        self.peer = peer

    async def receive(self) -> bytes:
        try:
            return bytes(await self._stream.receive_some(RECEIVE_BYTES_MAX))
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise ClientGone from error

    def send_now(self, data: bytes | memoryview) -> int:
        return 0  # a Trio stream only sends in its own time

    async def send(self, data: bytes | memoryview, progressed: Callable[[], None]) -> None:
        progressed()
        try:
            await self._stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise ClientGone from error

    async def end_sending(self) -> None:
        try:
            await self._stream.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    def reset_on_close(self) -> None:
        """A stream in memory has only one kind of end."""
