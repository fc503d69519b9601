"""Noticing that the client went away while its request is being worked on. The reader runs only while asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio

from kernel.http.exchange import Wire
from kernel.http.limits import HEAD_BYTES_MAX
from kernel.http.transport import Transport
from kernel.wire import ClientGone


class DisconnectWatch:
    """One per connection. Bytes that arrive while it reads are the next request and go to the wire."""

    def __init__(self, transport: Transport, wire: Wire, nursery: trio.Nursery) -> None:
        self._transport = transport
        self._wire = wire
        self._nursery = nursery
        # The last reader, until it has let go of the stream: while there is one the connection may not receive.
        self.reader: _Reader | None = None

    async def ended(self) -> None:
        """Wait until the last reader has let go of the stream."""
        if self.reader is not None:
            await self.reader.ended.wait()

    @contextmanager
    def watching(self, gone: Callable[[], None]) -> Iterator[None]:
        """Call ``gone`` once, synchronously, when the client closes or resets inside the block."""
        if not self._wire.is_body_complete:
            raise RuntimeError("the body has not been read: its bytes cannot be told from a disconnect")
        if self.reader is not None and not self.reader.is_over:
            raise RuntimeError("this exchange is watched already")
        if self._wire.is_eof:
            # The end came together with the request: there will be no other sign of it.
            gone()
            yield
            return
        previous, reader = self.reader, _Reader(gone)
        self.reader = reader
        self._nursery.start_soon(self._read, reader, previous)
        try:
            yield
        finally:
            reader.is_over = True
            reader.scope.cancel()

    async def _read(self, reader: _Reader, previous: _Reader | None) -> None:
        try:
            with reader.scope:
                if previous is not None:
                    await previous.ended.wait()
                # Over before its first step: the socket may be closed by now, and Trio cannot wait for a closed one.
                while not reader.is_over and self._wire.buffered_bytes <= HEAD_BYTES_MAX:
                    # No checkpoint between the receive and the feed: a cancel loses no byte.
                    data = await self._transport.receive()
                    self._wire.feed(data)
                    if not data:
                        reader.tell()
                        return
        except ClientGone:
            reader.tell()
        finally:
            reader.ended.set()
            if self.reader is reader:
                self.reader = None


class _Reader:
    __slots__ = ("_gone", "ended", "is_over", "scope")

    def __init__(self, gone: Callable[[], None]) -> None:
        self._gone = gone
        self.scope = trio.CancelScope()
        self.ended = trio.Event()
        self.is_over = False

    def tell(self) -> None:
        if not self.is_over:
            self._gone()
