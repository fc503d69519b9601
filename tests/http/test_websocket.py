"""WebSockets over memory pipes against wsproto's own client side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from kernel.http.limits import WEBSOCKET_CLOSE_S_MAX
from kernel.http.server import Limits
from kernel.wire import Answer, ClientGone, Exchange, Route, WebSocket, WebSocketResponse
from tests.http.conftest import Peer, World

Start = Callable[..., Awaitable[World]]


def serving(serve: Callable[[WebSocket], Awaitable[None]]) -> Route:
    async def handle(exchange: Exchange) -> Answer:
        return WebSocketResponse(serve, (("X-A", "b"),))

    return Route("/ws", frozenset({"GET", "POST"}), handle, 0)


async def echo(socket: WebSocket) -> None:
    while True:
        await socket.send(await socket.receive())


async def test_messages_go_both_ways_and_the_close_is_answered(start: Start, autojump_clock: MockClock) -> None:
    peer = Peer((await start(serving(echo))).connect())
    accepted = await peer.open()
    assert (b"x-a", b"b") in accepted.extra_headers
    await peer.send(TextMessage("héllo"))
    text = await peer.event()
    assert isinstance(text, TextMessage)
    assert text.data == "héllo"
    await peer.send(BytesMessage(b"\0\1"))
    data = await peer.event()
    assert isinstance(data, BytesMessage)
    assert bytes(data.data) == b"\0\1"
    await peer.send(Ping(b"p"))
    assert isinstance(await peer.event(), Pong)
    await peer.send(CloseConnection(1000))
    closed = await peer.event()
    assert isinstance(closed, CloseConnection)
    assert closed.code == 1000
    assert await peer.client.is_closed()


async def test_a_message_in_fragments_is_one_message(start: Start) -> None:
    got: list[str | bytes] = []

    async def serve(socket: WebSocket) -> None:
        got.append(await socket.receive())
        got.append(await socket.receive())

    peer = Peer((await start(serving(serve))).connect())
    await peer.open(
        TextMessage("a", message_finished=False), Ping(), TextMessage("b", message_finished=True), BytesMessage(b"c")
    )
    while not isinstance(await peer.event(), CloseConnection):
        pass
    assert got == ["ab", b"c"]


@pytest.mark.parametrize("size", [10, 11])
async def test_a_message_may_be_as_long_as_the_bound(start: Start, autojump_clock: MockClock, size: int) -> None:
    world = await start(serving(echo), limits=Limits(websocket_message_bytes_max=10))
    peer = Peer(world.connect())
    await peer.open()
    await peer.send(BytesMessage(b"x" * (size - 5), message_finished=False))
    await peer.send(BytesMessage(b"x" * 5))
    event = await peer.event()
    if size == 10:
        assert isinstance(event, BytesMessage)
    else:
        assert isinstance(event, CloseConnection)
        assert event.code == 1009


async def test_the_end_of_serve_is_a_good_bye(start: Start, autojump_clock: MockClock) -> None:
    async def serve(socket: WebSocket) -> None:
        await socket.send("bye")

    peer = Peer((await start(serving(serve))).connect())
    await peer.open()
    assert isinstance(await peer.event(), TextMessage)
    closed = await peer.event()
    assert isinstance(closed, CloseConnection)
    assert closed.code == 1000
    await peer.send(closed.response())
    assert await peer.client.is_closed()


async def test_a_close_may_carry_any_code_and_words(start: Start, autojump_clock: MockClock) -> None:
    async def serve(socket: WebSocket) -> None:
        await socket.aclose(0x2020, "unauthenticated")
        await socket.aclose()

    peer = Peer((await start(serving(serve))).connect())
    await peer.open()
    raw = await peer.client.raw()
    assert raw.endswith(b"\x88\x11  unauthenticated")


async def test_a_peer_that_vanishes_ends_the_receive(start: Start) -> None:
    ended = trio.Event()

    async def serve(socket: WebSocket) -> None:
        try:
            await socket.receive()
        except ClientGone:
            ended.set()
            with pytest.raises(ClientGone):
                await socket.send("x")
            raise

    peer = Peer((await start(serving(serve))).connect())
    await peer.open()
    await peer.client.aclose()
    await ended.wait()


async def test_closing_beside_a_receiving_task_lets_that_task_see_it(start: Start) -> None:
    ended = trio.Event()

    async def serve(socket: WebSocket) -> None:
        async def read() -> None:
            with pytest.raises(ClientGone):
                await socket.receive()
            ended.set()

        async with trio.open_nursery() as inner:
            inner.start_soon(read)
            await wait_all_tasks_blocked()
            await socket.aclose(1001)

    peer = Peer((await start(serving(serve))).connect())
    await peer.open()
    closed = await peer.event()
    assert isinstance(closed, CloseConnection)
    await peer.send(closed.response())
    await ended.wait()


async def test_broken_frames_end_the_connection(start: Start, autojump_clock: MockClock) -> None:
    peer = Peer((await start(serving(echo))).connect())
    await peer.open()
    await peer.client.send(b"\xff\xff\xff\xff\xff")
    closed = await peer.event()
    assert isinstance(closed, CloseConnection)
    assert closed.code == 1002


async def test_a_failing_server_says_so(
    start: Start, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def serve(socket: WebSocket) -> None:
        raise LookupError

    peer = Peer((await start(serving(serve))).connect())
    await peer.open()
    closed = await peer.event()
    assert isinstance(closed, CloseConnection)
    assert closed.code == 1011
    assert "LookupError" in caplog.text


@pytest.mark.parametrize(
    "head",
    [
        "GET /ws HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    ],
)
async def test_what_is_no_handshake_is_refused(start: Start, head: str) -> None:
    client = (await start(serving(echo))).connect()
    await client.send(head.encode())
    status, headers, _ = await client.answer()
    assert (status, headers["sec-websocket-version"]) == (400, "13")


async def test_a_drain_says_good_bye_to_open_sockets_and_hardly_waits(start: Start, autojump_clock: MockClock) -> None:
    world = await start(serving(echo))
    polite, silent = Peer(world.connect()), Peer(world.connect())
    await polite.open()
    await silent.open()
    started = trio.current_time()
    world.nursery.start_soon(world.server.drain, 60)
    closed = await polite.event()
    assert isinstance(closed, CloseConnection)
    assert closed.code == 1001
    await polite.send(closed.response())
    assert await polite.client.is_closed()
    assert trio.current_time() == started
    await silent.client.raw()
    assert trio.current_time() - started == pytest.approx(WEBSOCKET_CLOSE_S_MAX)
