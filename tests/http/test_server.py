"""The server as a whole: real sockets, its bound on connections, and an orderly end."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from kernel.clock import ManualClock, SystemClock
from kernel.http.router import Router
from kernel.http.server import Limits, Server, open_listener, serve_http
from kernel.wire import Answer, Exchange, Response, Route
from tests.http.conftest import World

Start = Callable[..., Awaitable[World]]
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
ANY = frozenset({"GET", "POST"})
# Until a watcher must have been told: only a server that never tells it lets this pass.
TOLD_S_MAX = 30


@asynccontextmanager
async def listening(*routes: Route, limits: Limits | None = None) -> AsyncIterator[tuple[Server, int]]:
    listener = open_listener("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with trio.open_nursery() as nursery:
        server = await nursery.start(
            lambda task_status: serve_http(
                [listener], Router(routes).resolve, clock=SystemClock(), limits=limits, task_status=task_status
            )
        )
        yield server, port
        server.close_now()


async def test_a_real_client_is_served_over_a_real_socket(echo_route: Route) -> None:
    async with listening(echo_route) as (server, port), httpx.AsyncClient() as client:
        for _ in range(3):
            answer = await client.post(f"http://127.0.0.1:{port}/x", content=b"abc")
            assert (answer.status_code, answer.content) == (200, b"POST /x abc")
        assert server.statistics().connections == 1


async def test_a_large_answer_to_a_slow_reader_arrives_whole() -> None:
    async def handle(exchange: Exchange) -> Answer:
        return Response(200, (), b"x" * 8_000_000)

    async with listening(Route("/", ANY, handle, 0)) as (_, port):
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.send_all(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        size = 0
        while data := await stream.receive_some(100_000):
            size += len(data)
        assert size > 8_000_000
        await stream.aclose()


async def test_a_reset_while_the_answer_is_sent_leaves_nothing_behind() -> None:
    async def handle(exchange: Exchange) -> Answer:
        return Response(200, (), b"x" * 8_000_000)

    async with listening(Route("/", ANY, handle, 0)) as (server, port):
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.send_all(GET)
        await stream.receive_some(1000)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await stream.aclose()
        while server.statistics().connections:
            await trio.lowlevel.checkpoint()
        assert server.statistics().held_body_bytes == 0


async def test_a_reset_while_a_request_runs_is_told_to_its_watcher() -> None:
    gone = trio.Event()

    async def handle(exchange: Exchange) -> Answer:
        with exchange.watch_disconnect(gone.set):
            await gone.wait()
        return Response(200)

    async with listening(Route("/", ANY, handle, 0)) as (_, port):
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.send_all(GET)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await stream.aclose()
        with trio.move_on_after(TOLD_S_MAX):
            await gone.wait()
        assert gone.is_set()


async def test_a_watched_connection_goes_on_after_its_answer() -> None:
    async def handle(exchange: Exchange) -> Answer:
        with exchange.watch_disconnect(lambda: None):
            await trio.lowlevel.checkpoint()
        return Response(200, (), b"ok")

    async with listening(Route("/", ANY, handle, 0)) as (server, port), httpx.AsyncClient() as client:
        for _ in range(20):
            assert (await client.get(f"http://127.0.0.1:{port}/")).content == b"ok"
        assert server.statistics().connections == 1


async def test_one_connection_too_many_is_told_so(echo_route: Route) -> None:
    async with listening(echo_route, limits=Limits(connections_max=2)) as (server, port):
        streams = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(2)]
        for stream in streams:
            await stream.send_all(GET)
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
        async with await trio.open_tcp_stream("127.0.0.1", port) as extra:
            refusal = b"".join([data async for data in extra])
        assert refusal.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1\r\n" in refusal
        await streams[0].aclose()
        while server.statistics().connections == 2:
            await trio.lowlevel.checkpoint()
        async with await trio.open_tcp_stream("127.0.0.1", port) as next_one:
            await next_one.send_all(GET)
            assert (await next_one.receive_some()).startswith(b"HTTP/1.1 200")
        await streams[1].aclose()


def test_a_taken_port_is_an_error() -> None:
    with open_listener("127.0.0.1", 0) as listener, pytest.raises(OSError, match="in use"):
        open_listener("127.0.0.1", listener.getsockname()[1])


# --- the end ---------------------------------------------------------------------------------------------------------
async def test_a_drain_lets_running_exchanges_end_and_closes_idle_connections(
    start: Start, autojump_clock: MockClock
) -> None:
    async def slow(exchange: Exchange) -> Answer:
        await trio.sleep(5)
        return Response(200, (), b"done")

    world = await start(Route("/", ANY, slow, 0))
    idle, busy = world.connect(), world.connect()
    await busy.send(GET + GET)
    await wait_all_tasks_blocked()
    started = trio.current_time()
    world.nursery.start_soon(world.server.drain, 60)
    assert await idle.raw() == b""
    assert trio.current_time() == started
    status, headers, body = await busy.answer()
    assert (status, headers["connection"], body) == (200, "close", b"done")
    assert await busy.is_closed()
    assert trio.current_time() - started == pytest.approx(5 + 1, abs=1)


async def test_a_drain_cuts_what_runs_past_its_deadline(autojump_clock: MockClock) -> None:
    cancelled = trio.Event()

    async def forever(exchange: Exchange) -> Answer:
        try:
            await trio.sleep_forever()
        finally:
            cancelled.set()
        raise AssertionError

    async with trio.open_nursery() as nursery:
        server = Server(Router([Route("/", ANY, forever, 0)]).resolve, clock=ManualClock())
        await nursery.start(server.serve)
        world = World(nursery, server)
        client = world.connect()
        await client.send(GET)
        await wait_all_tasks_blocked()
        started = trio.current_time()
        await server.drain(7)
        assert trio.current_time() - started == pytest.approx(7)
        assert await client.raw() == b""
        assert cancelled.is_set()


async def test_draining_is_an_event_that_long_streams_can_wait_for(start: Start, autojump_clock: MockClock) -> None:
    world = await start()
    assert not world.server.draining.is_set()
    await world.server.drain(0)
    assert world.server.draining.is_set()
    assert world.server.statistics().is_draining


def test_a_server_that_was_never_started_says_so() -> None:
    with pytest.raises(RuntimeError, match="not been started"):
        Server(Router().resolve, clock=ManualClock()).statistics()


async def test_a_fault_in_a_connection_is_logged_and_the_server_goes_on(
    start: Start, echo_route: Route, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = await start(echo_route)
    with monkeypatch.context() as patch:
        patch.setattr("kernel.http.connection.Connection._serve", lambda self: 1 / 0)
        assert await world.connect().raw() == b""
        await wait_all_tasks_blocked()
    assert "a connection failed" in caplog.text
    client = world.connect()
    await client.send(GET)
    assert (await client.answer())[0] == 200


async def test_without_file_descriptors_accepting_waits_and_goes_on(
    echo_route: Route, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("kernel.http.server.SWEEP_PERIOD_S", 0.01)
    refusals = [OSError(24, "Too many open files"), OSError(103, "aborted")]

    class Flaky(socket.socket):
        def accept(self) -> object:
            if refusals:
                raise refusals.pop(0)
            return super().accept()

    plain = open_listener("127.0.0.1", 0)
    listener = Flaky(plain.family, plain.type, plain.proto, plain.detach())
    listener.setblocking(False)
    async with trio.open_nursery() as nursery:
        server = Server(Router([echo_route]).resolve, clock=SystemClock())
        await nursery.start(server.serve, [listener])
        async with await trio.open_tcp_stream("127.0.0.1", listener.getsockname()[1]) as stream:
            await stream.send_all(GET)
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
        server.close_now()
    assert refusals == []
    assert "Too many open files" in caplog.text


async def test_an_ipv6_loopback_is_served_too(echo_route: Route) -> None:
    try:
        listener = open_listener("::1", 0)
    except OSError:
        pytest.skip("no IPv6 here")
    async with trio.open_nursery() as nursery:
        server = Server(Router([echo_route]).resolve, clock=SystemClock())
        await nursery.start(server.serve, [listener])
        async with await trio.open_tcp_stream("::1", listener.getsockname()[1]) as stream:
            await stream.send_all(GET.replace(b"localhost", b"[::1]:80"))
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
        server.close_now()
