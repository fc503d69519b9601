"""Stands between a client and a kernel, byte by byte, and tells a listener of every piece. Shell; holds no rules.

What the kernel does to a connection (end, reset, silence) the client gets as it is, and the other way round.
"""

from __future__ import annotations

import itertools
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import trio

from kernel.lab.recording import Piece, Side

_RECEIVE_BYTES: Final = 65_536
_LINGER_OFF: Final = struct.pack("ii", 1, 0)


class Tap:
    """A listener on a free port of this machine. ``url`` is what the client is given."""

    def __init__(self, target: tuple[str, int], take: Callable[[Piece], None], port: int = 0) -> None:
        self.target = target
        self._take = take
        self._numbers = itertools.count(1)
        self._start_s = trio.current_time()
        self._listener = trio.socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    async def open(self) -> None:
        """Bind and listen. Raises OSError."""
        await self._listener.bind(("127.0.0.1", self._port))
        self._listener.listen(128)

    async def serve(self) -> None:
        """Forward connections until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                client, _ = await self._listener.accept()
                nursery.start_soon(self._connection, client)

    def close(self) -> None:
        self._listener.close()

    async def _connection(self, client: trio.socket.SocketType) -> None:
        number = next(self._numbers)
        self._tell(number, "client", "open")
        with client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with trio.socket.socket() as kernel:
                try:
                    await kernel.connect(self.target)
                except OSError:
                    # Nobody listens (the kernel is dead): to the client that is a reset.
                    self._tell(number, "kernel", "reset")
                    _reset(client)
                    return
                kernel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._forward, number, "client", client, kernel, nursery.cancel_scope)
                    nursery.start_soon(self._forward, number, "kernel", kernel, client, nursery.cancel_scope)

    async def _forward(
        self,
        number: int,
        side: Side,
        source: trio.socket.SocketType,
        sink: trio.socket.SocketType,
        scope: trio.CancelScope,
    ) -> None:
        while True:
            try:
                data = await source.recv(_RECEIVE_BYTES)
            except OSError:
                self._tell(number, side, "reset")
                _reset(sink)
                scope.cancel()
                return
            if not data:
                self._tell(number, side, "end")
                if side == "kernel":
                    # A server that closes is done with the connection, whatever the client still says.
                    scope.cancel()
                else:
                    _end_sending(sink)
                return
            self._tell(number, side, "data", data)
            try:
                await _send_all(sink, data)
            except OSError:
                # The other direction hears of it too, and says what kind of an end it was.
                return

    def _tell(self, number: int, side: Side, kind: str, data: bytes = b"") -> None:
        at_s = trio.current_time() - self._start_s
        self._take(Piece(number, at_s, side, kind, data))  # type: ignore[arg-type]


@asynccontextmanager
async def open_tap(target: tuple[str, int], take: Callable[[Piece], None], port: int = 0) -> AsyncIterator[Tap]:
    """A tap that serves for the length of the block."""
    tap = Tap(target, take, port)
    try:
        await tap.open()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tap.serve)
            yield tap
            nursery.cancel_scope.cancel()
    finally:
        tap.close()


async def _send_all(sink: trio.socket.SocketType, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[await sink.send(view) :]


def _end_sending(sink: trio.socket.SocketType) -> None:
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


def _reset(sink: trio.socket.SocketType) -> None:
    try:
        sink.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_OFF)
    except OSError:
        return
