"""One connection from the outside: what a client sees for good, slow, broken and impolite requests."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock, lockstep_stream_pair, wait_all_tasks_blocked

from kernel.http.limits import LINGER_S_MAX, SWEEP_PERIOD_S
from kernel.http.server import Limits
from kernel.wire import Answer, ClientGone, Exchange, Response, Route, StreamResponse, StreamWriter
from tests.http.conftest import World, echo

Start = Callable[..., Awaitable[World]]
ANY = frozenset({"GET", "POST", "HEAD"})
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def post(body: bytes, *headers: str, path: str = "/") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def chunked(*chunks: bytes, ends: bool = True) -> bytes:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + (b"0\r\n\r\n" if ends else b"")


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


# --- slow clients ----------------------------------------------------------------------------------------------------
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
    with trio.fail_after(30 + 3 * SWEEP_PERIOD_S):
        await ended.wait()


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


# --- streamed answers ------------------------------------------------------------------------------------------------
def streaming(*pieces: bytes, headers: tuple[tuple[str, str], ...] = ()) -> Route:
    async def produce(writer: StreamWriter) -> None:
        for piece in pieces:
            await writer.send(piece)

    async def handle(exchange: Exchange) -> Answer:
        return StreamResponse(200, headers, produce)

    return Route("/*", ANY, handle, 0)


async def test_a_streamed_answer_is_chunked_and_the_connection_goes_on(start: Start) -> None:
    client = (await start(streaming(b"ab", b"", b"c"))).connect()
    await client.send(GET + GET)
    for _ in range(2):
        status, headers, body = await client.answer()
        assert (status, headers["transfer-encoding"], body) == (200, "chunked", b"abc")


async def test_a_streamed_answer_of_known_length_is_not_chunked(start: Start) -> None:
    client = (await start(streaming(b"ab", b"c", headers=(("Content-Length", "3"),)))).connect()
    await client.send(GET + GET)
    for _ in range(2):
        _, headers, body = await client.answer()
        assert ("transfer-encoding" in headers, body) == (False, b"abc")


@pytest.mark.parametrize("pieces", [(b"ab",), (b"ab", b"cd")])
async def test_a_promised_length_that_is_not_kept_ends_the_connection(
    start: Start, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture, pieces: tuple[bytes, ...]
) -> None:
    client = (await start(streaming(*pieces, headers=(("Content-Length", "3"),)))).connect()
    await client.send(GET + GET)
    raw = await client.raw()
    assert raw.count(b"HTTP/1.1 200") == 1
    assert raw.endswith(b"\r\n\r\nab")


async def test_an_old_client_gets_a_streamed_answer_until_the_close(start: Start, autojump_clock: MockClock) -> None:
    client = (await start(streaming(b"ab", b"c"))).connect()
    await client.send(b"GET / HTTP/1.0\r\n\r\n")
    raw = await client.raw()
    assert b"chunked" not in raw
    assert raw.endswith(b"\r\n\r\nabc")


async def test_head_of_a_streamed_answer_sends_no_piece(start: Start) -> None:
    client = (await start(streaming(b"ab"))).connect()
    await client.send(GET.replace(b"GET", b"HEAD") + GET)
    assert (await client.answer("HEAD"))[2] == b""
    assert (await client.answer())[2] == b"ab"


async def test_after_a_cancelled_send_no_byte_follows(start: Start, autojump_clock: MockClock) -> None:
    outcome: list[type[BaseException]] = []

    async def produce(writer: StreamWriter) -> None:
        with trio.move_on_after(5):
            await writer.send(b"x" * 100)
        try:
            await writer.send(b"y")
        except ClientGone:
            outcome.append(ClientGone)
            raise

    async def handle(exchange: Exchange) -> Answer:
        return StreamResponse(200, (), produce)

    world = await start(Route("/*", ANY, handle, 0))
    ours, theirs = lockstep_stream_pair()
    world.nursery.start_soon(world.server.serve_stream, theirs)
    await ours.send_all(GET)
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += await ours.receive_some(1)
    await trio.sleep(6)
    assert outcome == [ClientGone]
    assert b"y" not in await ours.receive_some()


# --- streamed bodies -------------------------------------------------------------------------------------------------
def counting(seen: list[bytes], bound: int = 100) -> Route:
    async def handle(exchange: Exchange) -> Answer:
        async for piece in exchange.chunks():
            seen.append(piece)
        return Response(200, (), b"%d" % sum(map(len, seen)))

    return Route("/*", ANY, handle, bound, streams_body=True)


@pytest.mark.parametrize("data", [post(b"x" * 100), chunked(b"x" * 60, b"y" * 40)])
async def test_a_streamed_body_arrives_in_pieces(start: Start, data: bytes) -> None:
    client = (await start(counting([]))).connect()
    await client.send(data + GET)
    assert (await client.answer())[2] == b"100"
    assert (await client.answer())[0] == 200


@pytest.mark.parametrize("data", [post(b"x" * 101), chunked(b"x" * 60, b"y" * 41)])
async def test_a_streamed_body_is_bounded_while_it_arrives(
    start: Start, autojump_clock: MockClock, data: bytes
) -> None:
    client = (await start(counting([]))).connect()
    await client.send(data)
    assert (await client.answer())[0] == 413
    assert await client.is_closed()


async def test_a_client_gone_in_the_middle_of_its_body_is_told_to_the_handler(start: Start) -> None:
    told: list[str] = []

    async def handle(exchange: Exchange) -> Answer:
        try:
            async for _ in exchange.chunks():
                pass
        except ClientGone:
            told.append("gone")
            raise
        raise AssertionError("the body was never whole")

    client = (await start(Route("/*", ANY, handle, 100, streams_body=True))).connect()
    await client.send(post(b"abc")[:-1])
    await client.stream.send_eof()
    assert await client.raw() == b""
    assert told == ["gone"]


async def test_a_body_that_its_handler_left_unread_does_not_become_a_request(
    start: Start, autojump_clock: MockClock
) -> None:
    async def ignore(exchange: Exchange) -> Answer:
        return Response(200, (), b"ok")

    world = await start(Route("/*", ANY, ignore, 1000, streams_body=True))
    client = world.connect()
    await client.send(post(GET) + GET)
    assert (await client.answer())[2] == b"ok"
    assert (await client.answer())[2] == b"ok"
    other = world.connect()
    await other.send(chunked(GET, ends=False))
    raw = await other.raw()
    assert raw.count(b"HTTP/1.1 200") == 1


# --- watching the client ---------------------------------------------------------------------------------------------
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
