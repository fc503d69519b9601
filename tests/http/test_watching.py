"""Noticing, while a request runs, that its client has left."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from kernel.clock import ManualClock
from kernel.http.router import Router
from kernel.http.server import Server, open_listener
from kernel.wire import Answer, ClientGone, Exchange, Response, Route, StreamResponse, StreamWriter
from tests.http.requests import ANY, GET, Start, post


def watching(gone: trio.Event, released: trio.Event) -> Route:
    async def handle(exchange: Exchange) -> Answer:
        with exchange.watch_disconnect(gone.set):
            await released.wait()
        return Response(200, (), b"done")

    return Route("/*", ANY, handle, 100)


async def test_a_client_that_leaves_is_noticed_while_its_request_runs(start: Start) -> None:
    gone, released = trio.Event(), trio.Event()
    client = (await start(watching(gone, released))).connect()
    await client.send(GET)
    await wait_all_tasks_blocked()
    assert not gone.is_set()
    await client.aclose()
    await gone.wait()
    released.set()


async def test_bytes_that_arrive_meanwhile_are_the_next_request(start: Start) -> None:
    gone, released = trio.Event(), trio.Event()
    client = (await start(watching(gone, released))).connect()
    await client.send(GET)
    await wait_all_tasks_blocked()
    await client.send(post(b"abc")[:30])
    await wait_all_tasks_blocked()
    released.set()
    assert (await client.answer())[2] == b"done"
    await client.send(post(b"abc")[30:])
    assert (await client.answer())[2] == b"done"
    assert not gone.is_set()


async def test_an_end_that_came_with_the_request_is_told_at_once(start: Start) -> None:
    gone, released = trio.Event(), trio.Event()
    client = (await start(watching(gone, released))).connect()
    await client.send(GET[:-2])
    await wait_all_tasks_blocked()
    await client.send(b"\r\n")
    await client.stream.send_eof()
    await gone.wait()
    released.set()
    assert (await client.answer())[2] == b"done"


async def test_after_the_block_nobody_is_told(start: Start) -> None:
    gone, released = trio.Event(), trio.Event()
    released.set()
    client = (await start(watching(gone, released))).connect()
    for _ in range(3):
        await client.send(GET)
        assert (await client.answer())[2] == b"done"
    await client.aclose()
    await wait_all_tasks_blocked()
    assert not gone.is_set()


async def test_a_flood_behind_a_running_request_is_bounded(start: Start) -> None:
    gone, released = trio.Event(), trio.Event()
    world = await start(watching(gone, released))
    client = world.connect()
    await client.send(GET)
    for _ in range(20):
        await client.send(b"x" * 10_000)
        await wait_all_tasks_blocked()
    released.set()
    assert (await client.answer())[2] == b"done"


async def test_watching_an_unread_body_is_a_fault_of_the_handler(
    start: Start, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def handle(exchange: Exchange) -> Answer:
        with exchange.watch_disconnect(lambda: None):
            raise AssertionError("not reached")

    client = (await start(Route("/*", ANY, handle, 100, streams_body=True))).connect()
    await client.send(post(b"abc"))
    assert (await client.answer())[0] == 500


async def test_a_handler_whose_client_left_ends_quietly(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    async def produce(writer: StreamWriter) -> None:
        async with trio.open_nursery() as inner:
            inner.start_soon(writer.send, b"x")
            raise ClientGone

    async def handle(exchange: Exchange) -> Answer:
        return StreamResponse(200, (), produce)

    client = (await start(Route("/*", ANY, handle, 100))).connect()
    await client.send(GET)
    await client.raw()
    assert caplog.text == ""


async def test_an_exchange_is_watched_once_at_a_time(
    start: Start, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def handle(exchange: Exchange) -> Answer:
        with exchange.watch_disconnect(lambda: None), exchange.watch_disconnect(lambda: None):
            raise AssertionError("not reached")

    client = (await start(Route("/*", ANY, handle, 100))).connect()
    await client.send(GET)
    assert (await client.answer())[0] == 500
    assert "watched already" in caplog.text


async def test_a_request_and_its_end_in_one_piece_is_a_client_that_left(start: Start) -> None:
    """Half-closed clients get their answer all the same."""
    told: list[str] = []

    async def handle(exchange: Exchange) -> Answer:
        await wait_all_tasks_blocked()
        with exchange.watch_disconnect(lambda: told.append("gone")):
            await wait_all_tasks_blocked()
        with exchange.watch_disconnect(lambda: told.append("still gone")):
            pass
        return Response(200, (), b"done")

    client = (await start(Route("/*", ANY, handle, 100))).connect()
    await client.send(GET)
    await client.stream.send_eof()
    assert (await client.answer())[2] == b"done"
    assert told == ["gone", "still gone"]
    assert await client.is_closed()


async def test_an_answer_that_fails_before_the_watch_begins_costs_only_its_connection() -> None:
    """The watch's task takes its first step when the socket is closed already; Trio cannot wait for a closed one."""

    async def handle(exchange: Exchange) -> Answer:
        async def produce(writer: StreamWriter) -> None:
            with exchange.watch_disconnect(lambda: None):
                raise ClientGone

        return StreamResponse(200, (), produce)

    listener = open_listener("127.0.0.1", 0)
    address = listener.getsockname()
    async with trio.open_nursery() as nursery:
        routes = Router([Route("/*", frozenset({"GET"}), handle, 0)])
        server = Server(routes.resolve, clock=ManualClock())
        nursery.start_soon(server.serve, [listener])
        for _ in range(2):
            async with await trio.open_tcp_stream(*address) as client:
                await client.send_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert b"200 OK" in b"".join([piece async for piece in client])
        nursery.cancel_scope.cancel()
