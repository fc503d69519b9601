"""Clients that take their time: every wait has a bound, and what it ends in."""

from __future__ import annotations

import trio
from trio.testing import MockClock, lockstep_stream_pair, wait_all_tasks_blocked

from kernel.clock import ManualClock
from kernel.http.limits import SWEEP_PERIOD_S
from kernel.http.router import Router
from kernel.http.server import Limits, Server
from kernel.http.services import OwedAnswers
from kernel.wire import Answer, Exchange, Response, Route, StreamResponse, StreamWriter
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


async def test_answers_that_nobody_takes_are_bounded_and_the_longest_waiting_gives_way(nursery: trio.Nursery) -> None:
    async def big(exchange: Exchange) -> Answer:
        return Response(200, (), b"x" * 100_000)

    owed_bytes_max = 250_000
    routes = Router([Route("/*", ANY, big, 0)])
    server = Server(routes.resolve, clock=ManualClock(), limits=Limits(answers_owed_bytes_max=owed_bytes_max))
    await nursery.start(server.serve)
    clients = []
    for _ in range(4):
        near, far = lockstep_stream_pair()
        nursery.start_soon(server.serve_stream, far)
        clients.append(near)
        await near.send_all(GET)
        head = await near.receive_some(1000)  # the body is what is owed
        assert head.startswith(b"HTTP/1.1 200 ")
        await wait_all_tasks_blocked()
    assert server.statistics().connections == 2
    for given_up in clients[:2]:
        await taken(given_up, 1_000_000)  # to its end: the connection is closed
    for served in clients[2:]:
        assert await taken(served, 100_000) == 100_000
        await served.send_all(GET)
        assert (await served.receive_some(1000)).startswith(b"HTTP/1.1 200 ")
    nursery.cancel_scope.cancel()


async def taken(client: trio.abc.ReceiveStream, size_bytes: int) -> int:
    """How many bytes come before that many, or the end."""
    count = 0
    try:
        while count < size_bytes and (data := await client.receive_some(65_536)):
            count += len(data)
    except trio.BrokenResourceError:
        return count
    return count


def test_one_reader_alone_may_owe_more_than_the_bound() -> None:
    class Reader:
        has_given_way = False

        def give_way(self) -> None:
            self.has_given_way = True

    owed = OwedAnswers(100)
    readers = [Reader() for _ in range(3)]
    owed.take(readers[0], 100)
    owed.take(readers[1], 0)
    assert not readers[0].has_given_way
    owed.take(readers[2], 101)
    assert [one.has_given_way for one in readers] == [True, True, False]
    assert owed.owed_bytes == 101
    owed.give_back(readers[0])
    owed.give_back(readers[2])
    assert owed.owed_bytes == 0
