"""Streams that are closed by whoever reads them, also when he stops early: an open one would hold its connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def closing_stream(stream: AsyncIterator[bytes]) -> AsyncIterator[AsyncIterator[bytes]]:
    """``async with closing_stream(host.stream_static(path)) as pieces:`` closes the generator at the block's end."""
    try:
        yield stream
    finally:
        aclose = getattr(stream, "aclose", None)
        if aclose is not None:
            await aclose()
