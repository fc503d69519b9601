"""Large files on their way out: read, and packed if asked for, piece by piece in a thread. Memory does not grow with them."""

from __future__ import annotations

import os
import posixpath
import zlib
from collections.abc import AsyncIterator
from typing import IO, Final

import trio

from kernel.http.gzip import ENCODING, GZIP_WINDOW, VARY
from kernel.siyuan.dispatch import RawAnswer
from kernel.siyuan.file_answers import FileContent, FilePlan, plan
from kernel.siyuan.limits import STREAM_PIECE_BYTES
from kernel.siyuan.media_types import SNIFFED_BYTES
from kernel.wire import Answer, Request, Response, StreamResponse, StreamWriter

_LENGTH: Final = "Content-Length"


async def large_file(request: Request, path: str, extra: tuple[tuple[str, str], ...]) -> Answer:
    """200, 206, 304, 412 or 416 for one file. Raises FileNotFoundError."""
    file = await trio.to_thread.run_sync(_beginning, path)
    planned = plan(request.method, request.headers, file, extra)
    return planned if isinstance(planned, Response) else _streamed(path, planned, has_body=request.method != "HEAD")


async def whole_file(path: str, status: int, headers: tuple[tuple[str, str], ...]) -> Answer:
    """A file without conditions or ranges. Raises FileNotFoundError."""
    found = await trio.to_thread.run_sync(os.stat, path)
    return _streamed(path, FilePlan(status, headers, ((0, found.st_size),)))


async def body_of(answer: RawAnswer) -> bytes:
    """The body of an answer that is wanted in one piece."""
    return await trio.Path(answer.file).read_bytes() if answer.file else answer.body


def is_file(answer: StreamResponse) -> bool:
    """Whether its length is known: only files' is."""
    return any(name == _LENGTH for name, _ in answer.headers)


def packed(answer: StreamResponse) -> StreamResponse:
    """The same answer in gzip; how long it becomes nobody knows beforehand."""
    headers = tuple(pair for pair in answer.headers if pair[0] != _LENGTH)

    async def produce(writer: StreamWriter) -> None:
        packing = _Packing(writer)
        await answer.produce(packing)
        await packing.end()

    return StreamResponse(answer.status, (*headers, ENCODING, VARY), produce)


class _Packing:
    """A StreamWriter that packs what it is given on the way to another."""

    def __init__(self, writer: StreamWriter) -> None:
        self._writer = writer
        self._packer = zlib.compressobj(wbits=GZIP_WINDOW)

    async def send(self, data: bytes) -> None:
        if piece := await trio.to_thread.run_sync(self._packer.compress, data):
            await self._writer.send(piece)

    async def end(self) -> None:
        await self._writer.send(await trio.to_thread.run_sync(self._packer.flush))


def _beginning(path: str) -> FileContent:
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        return FileContent(posixpath.basename(path), file.read(SNIFFED_BYTES), found.st_mtime, found.st_size)


def _streamed(path: str, planned: FilePlan, *, has_body: bool = True) -> StreamResponse:
    async def produce(writer: StreamWriter) -> None:
        if not has_body:
            return
        file = await trio.to_thread.run_sync(open, path, "rb")
        try:
            for part in planned.parts:
                if isinstance(part, bytes):
                    await writer.send(part)
                    continue
                async for piece in _pieces(file, *part):
                    await writer.send(piece)
        finally:
            file.close()

    return StreamResponse(planned.status, (*planned.headers, (_LENGTH, str(planned.length))), produce)


async def _pieces(file: IO[bytes], start: int, length: int) -> AsyncIterator[bytes]:
    """A part of the file. Raises EOFError where the file has become shorter meanwhile."""
    file.seek(start)
    while length:
        piece = await trio.to_thread.run_sync(file.read, min(length, STREAM_PIECE_BYTES))
        if not piece:
            raise EOFError("the file became shorter while it was sent")
        length -= len(piece)
        yield piece
