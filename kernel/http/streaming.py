"""The sending side of a streamed answer: chunked where the client knows it, else by length or until the close."""

from __future__ import annotations

from typing import Protocol

from kernel.http.reply import LAST_CHUNK, chunk


class ByteSink(Protocol):
    async def send(self, data: bytes) -> None: ...


class AnswerWriter:
    """``kernel.wire.StreamWriter`` over one connection. Counts what a promised length still owes."""

    def __init__(self, sink: ByteSink, length: int | None, *, is_chunked: bool, is_head: bool) -> None:
        self._sink = sink
        self._owed_bytes = length
        self._is_head = is_head
        self.is_chunked = is_chunked

    @property
    def is_whole(self) -> bool:
        """Whether all that was promised has been sent, so that the connection can go on."""
        return self._is_head or self.is_chunked or self._owed_bytes == 0

    async def send(self, data: bytes) -> None:
        """Write one piece. Raises ClientGone; ValueError past a promised Content-Length."""
        if not data or self._is_head:
            return
        if self._owed_bytes is not None:
            if len(data) > self._owed_bytes:
                raise ValueError("the answer is longer than its Content-Length")
            self._owed_bytes -= len(data)
        await self._sink.send(chunk(data) if self.is_chunked else data)

    async def end(self) -> None:
        if self.is_chunked and not self._is_head:
            await self._sink.send(LAST_CHUNK)
