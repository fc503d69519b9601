"""Bodies that their handler takes piece by piece."""

from __future__ import annotations

import pytest
from trio.testing import MockClock

from kernel.wire import Answer, ClientGone, Exchange, Response, Route
from tests.http.conftest import echo
from tests.http.requests import ANY, GET, Start, chunked, post


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


@pytest.mark.parametrize("size", ["65", "ffffffffffff"])
@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_chunk_that_announces_too_much_is_refused_before_it_arrives(
    start: Start, size: str, is_streamed: bool
) -> None:
    route = counting([]) if is_streamed else Route("/*", ANY, echo, 100)
    client = (await start(route)).connect()
    await client.send(chunked(ends=False) + f"{size}\r\n".encode())
    assert (await client.answer())[0] == 413
