"""The tap: bytes, ends and resets go through as they are, and each is told."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from kernel.lab.recording import Piece
from kernel.lab.tap import open_tap

pytestmark = pytest.mark.wire
PATIENCE_S = 60.0


@asynccontextmanager
async def tapped(serve: Callable[[trio.SocketStream], Any]) -> AsyncIterator[tuple[trio.SocketStream, list[Piece]]]:
    """A client's stream through a tap to a server of one connection."""
    told: list[Piece] = []
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
            nursery.start_soon(trio.serve_listeners, serve, [listener])
            target = listener.socket.getsockname()
            async with open_tap((target[0], target[1]), told.append) as tap:
                host, _, port = tap.url.removeprefix("http://").partition(":")
                async with await trio.open_tcp_stream(host, int(port)) as client:
                    yield client, told
            nursery.cancel_scope.cancel()


def kinds(told: list[Piece]) -> list[tuple[str, str, bytes]]:
    return [(piece.side, piece.kind, piece.data) for piece in told]


async def test_an_exchange_goes_through_and_is_told() -> None:
    async def serve(stream: trio.SocketStream) -> None:
        assert await stream.receive_some() == b"ask"
        await stream.send_all(b"answer")
        await stream.aclose()

    async with tapped(serve) as (client, told):
        await client.send_all(b"ask")
        assert [piece async for piece in client] == [b"answer"]
    assert kinds(told)[:4] == [
        ("client", "open", b""),
        ("client", "data", b"ask"),
        ("kernel", "data", b"answer"),
        ("kernel", "end", b""),
    ]


async def test_a_reset_of_the_kernel_is_a_reset_for_the_client() -> None:
    async def serve(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await trio.aclose_forcefully(stream)

    async with tapped(serve) as (client, told):
        await client.send_all(b"ask")
        with pytest.raises(trio.BrokenResourceError):
            await client.receive_some()
    assert ("kernel", "reset", b"") in kinds(told)


async def test_a_client_that_leaves_is_told_to_the_kernel() -> None:
    gone = trio.Event()

    async def serve(stream: trio.SocketStream) -> None:
        async for _ in stream:
            pass
        gone.set()

    async with tapped(serve) as (client, told):
        await client.send_all(b"ask")
        await client.aclose()
        await gone.wait()
        assert ("client", "end", b"") in kinds(told)


async def test_a_kernel_that_is_not_there_is_a_reset() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        target = free.getsockname()
    told: list[Piece] = []
    with trio.fail_after(PATIENCE_S):
        async with open_tap(target, told.append) as tap:
            port = int(tap.url.rpartition(":")[2])
            async with await trio.open_tcp_stream("127.0.0.1", port) as client:
                with pytest.raises(trio.BrokenResourceError):
                    await client.receive_some()
    assert kinds(told) == [("client", "open", b""), ("kernel", "reset", b"")]
