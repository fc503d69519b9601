"""Clients that take their time: every wait has a bound, and what it ends in."""

from __future__ import annotations

import trio
from trio.testing import MockClock, lockstep_stream_pair

from kernel.http.limits import SWEEP_PERIOD_S
from kernel.http.server import Limits
from kernel.wire import Answer, Exchange, Route, StreamResponse, StreamWriter
from tests.http.conftest import echo
from tests.http.requests import ANY, GET, Start, chunked


async def elapsed_until_closed(client: object) -> tuple[float, bytes]:
    started = trio.current_time()
    raw = await client.raw()  # type: ignore[attr-defined]
    return trio.current_time() - started, raw


async def test_a_silent_connection_is_closed_without_a_word(
    start: Start, echo_route: Route, autojump_clock: MockClock
) -> None:
    client = (await start(echo_route, limits=Limits(idle_s_max=20))).connect()
    elapsed_s, raw = await elapsed_until_closed(client)
    assert 20 <= elapsed_s <= 20 + 2 * SWEEP_PERIOD_S
    assert raw == b""


async def test_an_idle_connection_is_closed_some_time_after_its_last_answer(
    start: Start, echo_route: Route, autojump_clock: MockClock
) -> None:
    client = (await start(echo_route, limits=Limits(idle_s_max=20))).connect()
    await client.send(GET)
    await client.answer()
    elapsed_s, raw = await elapsed_until_closed(client)
    assert 20 <= elapsed_s <= 20 + 2 * SWEEP_PERIOD_S
    assert raw == b""


async def test_a_head_that_creeps_in_is_cut_at_its_deadline(
    start: Start, echo_route: Route, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    client = (await start(echo_route, limits=Limits(head_s_max=10))).connect()

    async def creep() -> None:
        for byte in GET:
            try:
                await client.send(bytes([byte]))
            except trio.BrokenResourceError:
                return
            await trio.sleep(1)

    nursery.start_soon(creep)
    elapsed_s, raw = await elapsed_until_closed(client)
    assert 10 <= elapsed_s <= 10 + 2 * SWEEP_PERIOD_S
    assert raw.startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_creeps_in_is_cut_at_its_deadline_whatever_it_sends(
    start: Start, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    limits = Limits(body_grace_s_max=10, body_bytes_per_s_min=100)
    client = (await start(Route("/*", ANY, echo, 10_000), limits=limits)).connect()
    await client.send(chunked(ends=False))

    async def creep() -> None:
        while True:
            try:
                await client.send(b"1\r\nx\r\n")
            except trio.BrokenResourceError:
                return
            await trio.sleep(1)

    nursery.start_soon(creep)
    elapsed_s, raw = await elapsed_until_closed(client)
    assert 10 <= elapsed_s <= 12 + 2 * SWEEP_PERIOD_S  # six bytes a second earn a little more time
    assert raw.startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_keeps_the_least_rate_may_take_its_time(start: Start, autojump_clock: MockClock) -> None:
    limits = Limits(body_grace_s_max=10, body_bytes_per_s_min=100)
    client = (await start(Route("/*", ANY, echo, 10_000), limits=limits)).connect()
    await client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n")
    for _ in range(50):
        await client.send(b"x" * 100)
        await trio.sleep(1)
    assert (await client.answer())[0] == 200


async def test_a_client_that_takes_nothing_is_aborted(start: Start, autojump_clock: MockClock) -> None:
    ended = trio.Event()

    async def pour(writer: StreamWriter) -> None:
        try:
            while True:
                await writer.send(b"x" * 1000)
        finally:
            ended.set()

    async def handle(exchange: Exchange) -> Answer:
        return StreamResponse(200, (), pour)

    world = await start(Route("/*", ANY, handle, 0), limits=Limits(send_stall_s_max=30))
    ours, theirs = lockstep_stream_pair()
    world.nursery.start_soon(world.server.serve_stream, theirs)
    await ours.send_all(GET)
    await ours.receive_some(100)
    started = trio.current_time()
    await ended.wait()
    assert 30 <= trio.current_time() - started <= 30 + 3 * SWEEP_PERIOD_S
