"""Reading the body of the current request: bounded in bytes by its route, in time by a least rate, in all by a budget."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from math import inf
from typing import Protocol

import trio

from kernel.http.exchange import Head, Malformed, Wire
from kernel.http.reply import CONTINUE
from kernel.http.services import Services
from kernel.wire import BodyTooLarge, ClientGone


class BodySource(Protocol):
    """The connection, as its body reader sees it."""

    deadline: float

    async def receive(self) -> bytes: ...

    async def send(self, data: bytes) -> None: ...


class BodyReader:
    """One per connection; ``begin`` starts each request, ``release`` ends it."""

    def __init__(self, source: BodySource, wire: Wire, services: Services) -> None:
        self._source = source
        self._wire = wire
        self._budget = services.budget
        self._limits = services.limits
        self._head: Head | None = None
        self.held_bytes = 0
        self._received_bytes = 0
        self._waited_s = 0.0
        self._must_continue = False
        self._size_bytes = 0
        self._bytes_max: float = inf

    def begin(self, head: Head) -> None:
        self._head = head
        self._size_bytes = 0
        self._bytes_max = inf
        self._must_continue = head.expects_continue
        self._received_bytes = 0
        self._waited_s = 0.0

    def release(self) -> None:
        """Give the held bytes back to the budget. The handler is done with them."""
        if self.held_bytes:
            self._budget.release(self.held_bytes)
            self.held_bytes = 0

    def check(self, bytes_max: int) -> None:
        """Refuse by the declared length, before one byte is read. Raises BodyTooLarge."""
        assert self._head is not None, "begin comes first"
        if self._head.content_length > bytes_max:
            raise BodyTooLarge(bytes_max)
        self._bytes_max = bytes_max

    def arrived(self, bytes_max: int) -> bytes | None:
        """The whole body, if it came together with its head; None where ``whole`` has to wait for it, or to refuse it.

        Raises:
            BodiesFull.
        """
        head = self._head
        assert head is not None, "begin comes first"
        if head.content_length > bytes_max or self._must_continue:
            return None
        body = self._wire.whole_body()
        if body is not None:
            self._budget.hold(len(body))
            self.held_bytes = len(body)
        return body

    async def whole(self, bytes_max: int) -> bytes:
        """The whole body.

        Raises:
            BodyTooLarge, BodiesFull, ClientGone, Malformed.
        """
        self.check(bytes_max)
        assert self._head is not None
        declared_bytes = self._head.content_length
        self._hold(declared_bytes)
        piece = await self._next_piece()
        if self._wire.is_body_complete:
            return piece
        pieces = []
        while piece:
            if self._size_bytes > self.held_bytes:
                self._hold(self._size_bytes - self.held_bytes)
            pieces.append(piece)
            piece = await self._next_piece()
        return b"".join(pieces)

    async def pieces(self, bytes_max: int) -> AsyncGenerator[bytes, None]:
        """The body piece by piece, counted as it comes. Raises BodyTooLarge, ClientGone."""
        self.check(bytes_max)
        while piece := await self._next_piece():
            yield piece

    async def skip(self) -> bool:
        """Read over a short body that nobody wanted. False where closing the connection is the better way."""
        assert self._head is not None
        is_short = self._head.content_length <= self._limits.skipped_body_bytes_max
        if self._head.is_chunked or not is_short or self._must_continue:
            return False
        while await self._next_piece():
            pass
        return True

    def _hold(self, size_bytes: int) -> None:
        self._budget.hold(size_bytes)
        self.held_bytes += size_bytes

    async def _next_piece(self) -> bytes:
        if self._must_continue:
            self._must_continue = False
            await self._source.send(CONTINUE)
        try:
            while (piece := self._wire.next_piece()) is None:
                self._check_size(self._wire.announced_bytes)
                await self._receive()
        except Malformed:
            if self._wire.is_eof:
                raise ClientGone from None
            raise
        self._size_bytes += len(piece)
        self._check_size(self._wire.announced_bytes)
        return piece

    def _check_size(self, announced_bytes: int) -> None:
        """What is announced counts as if it were here: nobody waits for a chunk that is too long."""
        if self._size_bytes + announced_bytes > self._bytes_max:
            raise BodyTooLarge(int(self._bytes_max))

    async def _receive(self) -> None:
        """Wait for more. Only waiting counts against the sender, not what the handler does between the pieces."""
        started = trio.current_time()
        earned_s = self._received_bytes / self._limits.body_bytes_per_s_min
        self._source.deadline = started + self._limits.body_grace_s_max + earned_s - self._waited_s
        data = await self._source.receive()
        self._source.deadline = inf
        self._waited_s += trio.current_time() - started
        self._received_bytes += len(data)
        self._wire.feed(data)
