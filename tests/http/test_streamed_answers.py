"""Answers that are made while they are sent."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock, lockstep_stream_pair

from kernel.wire import Answer, ClientGone, Exchange, Route, StreamResponse, StreamWriter
from tests.http.requests import ANY, GET, Start


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
