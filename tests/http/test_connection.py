"""One connection from the outside: what a client sees for good, broken and impolite requests."""

from __future__ import annotations

import logging

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from kernel.http.limits import LINGER_S_MAX
from kernel.http.server import Limits
from kernel.wire import Answer, Exchange, Response, Route, StreamResponse, StreamWriter
from tests.http.conftest import echo
from tests.http.requests import ANY, GET, Start, chunked, post


async def test_requests_on_one_connection_are_answered_in_order(start: Start, echo_route: Route) -> None:
    client = (await start(echo_route)).connect()
    await client.send(post(b"one") + chunked(b"tw", b"o") + GET)
    assert (await client.answer())[2] == b"POST / one"
    assert (await client.answer())[2] == b"POST / two"
    status, headers, body = await client.answer()
    assert (status, body) == (200, b"GET / ")
    assert headers["content-length"] == "6"
    assert headers["date"] == "Sun, 01 Mar 2026 09:00:00 GMT"


async def test_a_request_may_arrive_byte_by_byte(start: Start, echo_route: Route, autojump_clock: MockClock) -> None:
    client = (await start(echo_route)).connect()
    for byte in post(b"abc") + chunked(b"d", b"ef"):
        await client.send(bytes([byte]))
        await trio.sleep(0.01)
    assert (await client.answer())[2] == b"POST / abc"
    assert (await client.answer())[2] == b"POST / def"


async def test_head_gets_the_length_and_no_body(start: Start, echo_route: Route) -> None:
    client = (await start(echo_route)).connect()
    await client.send(GET.replace(b"GET", b"HEAD") + GET)
    status, headers, body = await client.answer("HEAD")
    assert (status, headers["content-length"], body) == (200, "7", b"")
    assert (await client.answer())[2] == b"GET / "


@pytest.mark.parametrize("tail", [b" HTTP/1.0\r\n\r\n", b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"])
async def test_connections_that_end_are_closed_after_the_answer(
    start: Start, echo_route: Route, autojump_clock: MockClock, tail: bytes
) -> None:
    client = (await start(echo_route)).connect()
    await client.send(b"GET /" + tail)
    status, headers, _ = await client.answer()
    assert (status, headers["connection"]) == (200, "close")
    assert await client.is_closed()


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 40_000, 431),
        (chunked(b"abc").replace(b"3\r\n", b"q\r\n"), 400),
        (b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
        (post(b"x" * 101), 413),
        (chunked(b"x" * 60, b"y" * 41), 413),
        (post(b"x", "Expect: gold"), 417),
    ],
)
async def test_bad_requests_get_their_status_and_a_close(
    start: Start, echo_route: Route, autojump_clock: MockClock, data: bytes, status: int
) -> None:
    client = (await start(echo_route)).connect()
    await client.send(data + b"GET /second HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = await client.answer()
    assert (answer[0], answer[1]["connection"]) == (status, "close")
    assert b"Traceback" not in answer[2]
    assert await client.is_closed()


@pytest.mark.parametrize("data", [post(b"x" * 100), chunked(b"x" * 60, b"y" * 40)])
async def test_a_body_may_be_as_long_as_its_route_allows(start: Start, echo_route: Route, data: bytes) -> None:
    client = (await start(echo_route)).connect()
    await client.send(data)
    assert (await client.answer())[0] == 200


async def test_a_declared_length_over_the_bound_is_refused_before_a_byte_of_it(
    start: Start, echo_route: Route, autojump_clock: MockClock
) -> None:
    client = (await start(echo_route)).connect()
    await client.send(
        b"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 314572800\r\n\r\n"
    )
    assert (await client.raw()).startswith(b"HTTP/1.1 413 ")


async def test_a_client_that_expects_continue_is_told_to(start: Start, echo_route: Route) -> None:
    client = (await start(echo_route)).connect()
    await client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
    assert await client.stream.receive_some() == b"HTTP/1.1 100 Continue\r\n\r\n"
    await client.send(b"abc")
    assert (await client.answer())[2] == b"POST / abc"


async def test_a_refused_expectation_never_hears_continue_and_its_body_is_no_request(
    start: Start, echo_route: Route, autojump_clock: MockClock
) -> None:
    client = (await start(echo_route)).connect()
    await client.send(b"POST / HTTP/1.1\r\nHost: evil.test\r\nExpect: 100-continue\r\nContent-Length: 37\r\n\r\n" + GET)
    raw = await client.raw()
    assert raw.startswith(b"HTTP/1.1 421 ")
    assert raw.count(b"HTTP/1.1") == 1


async def test_an_unwanted_short_body_is_read_over_and_the_connection_goes_on(start: Start, echo_route: Route) -> None:
    route = Route("/known", ANY, echo, 100)
    client = (await start(route)).connect()
    await client.send(post(b"x" * 50, path="/unknown") + post(b"y", path="/known"))
    status, headers, body = await client.answer()
    assert (status, headers["content-type"], body) == (404, "text/plain", b"404 page not found")
    assert (await client.answer())[2] == b"POST /known y"


@pytest.mark.parametrize("size", [10, 11])
async def test_an_unwanted_body_past_the_skip_bound_ends_the_connection(
    start: Start, autojump_clock: MockClock, size: int
) -> None:
    client = (await start(limits=Limits(skipped_body_bytes_max=10))).connect()
    await client.send(post(b"x" * size))
    _, headers, _ = await client.answer()
    assert ("connection" in headers) == (size > 10)


async def test_all_bodies_together_are_bounded_and_given_back(start: Start, autojump_clock: MockClock) -> None:
    world = await start(Route("/*", ANY, echo, 100), limits=Limits(bodies_bytes_max=100))
    slow = world.connect()
    await slow.send(post(b"x" * 60)[:-1])
    await wait_all_tasks_blocked()
    assert world.server.statistics().held_body_bytes == 60
    refused = world.connect()
    await refused.send(post(b"y" * 41))
    status, headers, _ = await refused.answer()
    assert (status, headers["retry-after"], headers["connection"]) == (503, "1", "close")
    creeping = world.connect()
    await creeping.send(chunked(b"y" * 40, b"z"))
    assert (await creeping.answer())[0] == 503
    fits = world.connect()
    await fits.send(post(b"y" * 40))
    assert (await fits.answer())[0] == 200
    await slow.send(b"x")
    assert (await slow.answer())[0] == 200
    await wait_all_tasks_blocked()
    assert world.server.statistics().held_body_bytes == 0


# --- handlers that fail ----------------------------------------------------------------------------------------------
async def test_a_failing_handler_is_a_500_and_a_log_line(
    start: Start, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(exchange: Exchange) -> Answer:
        raise LookupError("secret")

    client = (await start(Route("/*", ANY, fail, 0))).connect()
    with caplog.at_level(logging.ERROR, "kernel.http"):
        await client.send(GET)
        raw = await client.raw()
    assert raw.startswith(b"HTTP/1.1 500 ")
    assert b"secret" not in raw
    assert "secret" in caplog.text


async def test_a_header_that_would_break_the_framing_is_never_sent(
    start: Start, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def inject(exchange: Exchange) -> Answer:
        return Response(200, (("X", "a\r\nSet-Cookie: b"),))

    client = (await start(Route("/*", ANY, inject, 0))).connect()
    await client.send(GET)
    raw = await client.raw()
    assert raw.startswith(b"HTTP/1.1 500 ")
    assert b"Set-Cookie" not in raw


async def test_a_stream_that_fails_half_way_is_cut_not_ended(
    start: Start, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async def produce(writer: StreamWriter) -> None:
        await writer.send(b"part")
        raise LookupError

    async def handle(exchange: Exchange) -> Answer:
        return StreamResponse(200, (), produce)

    client = (await start(Route("/*", ANY, handle, 0))).connect()
    await client.send(GET)
    raw = await client.raw()
    assert b"4\r\npart\r\n" in raw
    assert not raw.endswith(b"0\r\n\r\n")


async def test_pipelined_requests_leave_turns_to_others(start: Start, echo_route: Route) -> None:
    world = await start(echo_route)
    client = world.connect()
    await client.send(GET * 100)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await trio.lowlevel.checkpoint()
            turns += 1

    async with trio.open_nursery() as inner:
        inner.start_soon(count)
        for _ in range(100):
            assert (await client.answer())[0] == 200
        inner.cancel_scope.cancel()
    assert turns >= 100 // 16


def test_the_linger_is_shorter_than_a_client_would_wait() -> None:
    assert LINGER_S_MAX <= 5


async def test_a_failing_resolver_costs_one_answer_not_the_server(
    start: Start, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(head: object) -> Answer:
        raise LookupError("secret")

    world = await start(otherwise=fail)
    for _ in range(2):
        client = world.connect()
        await client.send(GET)
        raw = await client.raw()
        assert raw.startswith(b"HTTP/1.1 500 ")
        assert b"secret" not in raw


async def test_a_client_that_leaves_before_its_body_or_answer_leaves_nothing_behind(start: Start) -> None:
    world = await start(Route("/*", ANY, echo, 100))
    for data in (b"", GET[:10], post(b"abc")[:-1], GET):
        client = world.connect()
        if data:
            await client.send(data)
        await client.aclose()
    await wait_all_tasks_blocked()
    statistics = world.server.statistics()
    assert (statistics.connections, statistics.held_body_bytes) == (0, 0)
