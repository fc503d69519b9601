"""The fault points at the edges of HTTP: where they stand, what a fault does there, and that control routes are spared."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from kernel.clock import ManualClock
from kernel.faults.calls import CallFacts
from kernel.faults.plan import FaultPlan, Rule
from kernel.faults.points import HTTP_POINTS
from kernel.faults.trigger import Trigger
from kernel.http.router import Router
from kernel.http.server import Server
from kernel.wire import Answer, Exchange, Response, Route, StreamResponse, StreamWriter
from tests.http.conftest import World

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Handler:
    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, exchange: Exchange) -> Answer:
        self.calls += 1
        return Response(200, (), b"ok")


@asynccontextmanager
async def served(handler: Handler, *rules: Rule, is_control: bool = False) -> AsyncIterator[tuple[World, Trigger]]:
    trigger = Trigger(FaultPlan.of(rules))
    route = Route("/*", frozenset({"GET", "POST"}), handler, 1000, has_fault_points=not is_control)
    async with trio.open_nursery() as nursery:
        server = Server(Router([route]).resolve, clock=ManualClock(), trigger=trigger)
        await nursery.start(server.serve)
        yield World(nursery, server), trigger
        nursery.cancel_scope.cancel()


async def test_every_request_passes_the_points_in_order() -> None:
    passed: list[str] = []
    handler = Handler()
    rules = [Rule(point, "delay", times=None) for point in HTTP_POINTS]
    async with served(handler, *rules) as (world, trigger):
        visit = trigger.visit

        async def recorded(point: str, call: CallFacts | None = None) -> tuple[Rule, ...]:
            passed.append(point.removeprefix("http."))
            return await visit(point, call)

        trigger.visit = recorded  # type: ignore[method-assign]
        client = world.connect()
        for _ in range(2):
            await client.send(GET)
            assert (await client.answer())[0] == 200
        await client.stream.send_eof()
        assert await client.is_closed()
        await wait_all_tasks_blocked()
    each = ["head", "request.read", "answer.before", "answer.after"]
    assert passed == ["accepted", *each, *each, "closing"]


@pytest.mark.parametrize("do", ["fail", "drop"])
async def test_a_connection_that_fails_when_it_is_taken_is_closed(do: str) -> None:
    handler = Handler()
    async with served(handler, Rule("http.accepted", do)) as (world, _):  # type: ignore[arg-type]
        assert await world.connect().is_closed()
        client = world.connect()
        await client.send(GET)
        assert (await client.answer())[0] == 200
    assert handler.calls == 1


@pytest.mark.parametrize(
    ("point", "status", "calls"),
    [("http.request.read", None, 0), ("http.request.read", 503, 0), ("http.answer.before", 418, 1)],
)
async def test_a_failed_request_is_answered_with_the_planned_status(point: str, status: int | None, calls: int) -> None:
    handler = Handler()
    async with served(handler, Rule(point, "fail", status=status, message="planned")) as (world, _):
        client = world.connect()
        await client.send(GET)
        got, _, body = await client.answer()
        assert (got, body) == (status or 500, b"planned\n")
        assert await client.is_closed()
    assert handler.calls == calls


@pytest.mark.parametrize(("point", "calls"), [("http.request.read", 0), ("http.answer.before", 1)])
async def test_a_dropped_request_ends_its_connection_unanswered(point: str, calls: int) -> None:
    handler = Handler()
    async with served(handler, Rule(point, "drop")) as (world, _):
        client = world.connect()
        await client.send(GET)
        assert await client.raw() == b""
    assert handler.calls == calls


@pytest.mark.parametrize("do", ["fail", "drop"])
async def test_behind_the_answer_only_the_connection_can_fail(do: str) -> None:
    async with served(Handler(), Rule("http.answer.after", do)) as (world, _):  # type: ignore[arg-type]
        client = world.connect()
        await client.send(GET)
        assert (await client.answer())[0] == 200
        assert await client.is_closed()


async def test_a_held_answer_waits_for_its_release() -> None:
    async with served(Handler(), Rule("http.answer.before", "hold", name="h")) as (world, trigger):
        client = world.connect()
        await client.send(GET)
        await trigger.wait_held("h")
        assert trigger.release("h") == 1
        assert (await client.answer())[0] == 200


async def test_routes_that_control_the_plan_are_spared() -> None:
    handler = Handler()
    rules = [Rule(point, "drop", times=None) for point in HTTP_POINTS[1:]]
    async with served(handler, *rules, is_control=True) as (world, _):
        client = world.connect()
        await client.send(GET)
        assert (await client.answer())[0] == 200
    assert handler.calls == 1


POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"


class Streaming(Handler):
    """Answers three frames of an event stream."""

    async def __call__(self, exchange: Exchange) -> Answer:
        self.calls += 1

        async def produce(writer: StreamWriter) -> None:
            await writer.send(b"data:1\n\ndata:2\n\n")
            await writer.send(b"data:3\n\n")

        return StreamResponse(200, (("Content-Type", "text/event-stream"), ("Content-Length", "24")), produce)


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        (Rule("http.stream.frame", "drop", nth=2), b"data:1\n\ndata:3\n\n"),
        (Rule("http.stream.frame", "truncate", nth=2), b"data:1\n\ndata"),
        (Rule("http.stream.frame", "truncate", nth=3, bytes=1), b"data:1\n\ndata:2\n\nd"),
        (Rule("http.stream.frame", "cut", nth=2), b"data:1\n\n"),
        (Rule("http.stream.frame", "cut", nth=3, how="fin"), b"data:1\n\ndata:2\n\n"),
        (Rule("http.answer.before", "truncate", bytes=10), b"data:1\n\nda"),
    ],
)
async def test_each_frame_of_a_stream_is_a_point(rule: Rule, body: bytes) -> None:
    async with served(Streaming(), rule) as (world, _):
        client = world.connect()
        await client.send(GET)
        assert (await client.raw()).partition(b"\r\n\r\n")[2] == body


async def test_a_frame_may_be_delivered_twice() -> None:
    class Short(Streaming):
        async def __call__(self, exchange: Exchange) -> Answer:
            answer = await super().__call__(exchange)
            assert isinstance(answer, StreamResponse)
            return StreamResponse(answer.status, answer.headers[:1], answer.produce)

    async with served(Short(), Rule("http.stream.frame", "duplicate", nth=2)) as (world, _):
        client = world.connect()
        await client.send(GET)
        assert (await client.answer())[2] == b"data:1\n\ndata:2\n\ndata:2\n\ndata:3\n\n"


@pytest.mark.parametrize(("size_bytes", "rest"), [(20, b"HTTP/1.1 200 OK\r\nDat"), (0, b"")])
async def test_an_answer_may_be_cut_short(size_bytes: int, rest: bytes) -> None:
    async with served(Handler(), Rule("http.answer.before", "truncate", bytes=size_bytes)) as (world, _):
        client = world.connect()
        await client.send(GET)
        assert await client.raw() == rest


async def test_no_truncation_lets_a_whole_answer_out() -> None:
    async with served(Handler(), Rule("http.answer.before", "truncate", bytes=10**6)) as (world, _):
        client = world.connect()
        await client.send(GET)
        assert (await client.raw()).endswith(b"\r\n\r\no")


async def test_a_request_may_be_delivered_twice() -> None:
    handler = Handler()
    async with served(handler, Rule("http.request.read", "duplicate")) as (world, _):
        client = world.connect()
        await client.send(GET)
        assert (await client.answer())[0] == 200
        await wait_all_tasks_blocked()
    assert handler.calls == 2


async def test_each_wait_for_the_body_is_a_point() -> None:
    async with served(Handler(), Rule("http.body", "hold", name="b", nth=2)) as (world, trigger):
        client = world.connect()
        await client.send(POST + b"ab")
        await trigger.wait_held("b")
        await client.send(b"cd")
        trigger.release("b")
        assert (await client.answer("POST"))[0] == 200


@pytest.mark.parametrize("point", ["http.head", "http.body"])
@pytest.mark.parametrize(("how", "do"), [("fin", "cut"), ("rst", "cut"), ("rst", "drop")])
async def test_a_connection_may_end_before_its_request_is_read(point: str, do: str, how: str) -> None:
    handler = Handler()
    async with served(handler, Rule(point, do, how=how)) as (world, _):  # type: ignore[arg-type]
        client = world.connect()
        await client.send(POST + b"ab")
        await client.stream.send_eof()
        assert await client.raw() == b""
    assert handler.calls == 0


async def test_rules_at_the_edge_know_whose_call_it_is() -> None:
    handler = Handler()
    body = b'{"method":"tools/call","params":{"name":"fs","arguments":{"action":"ls"}}}'
    rule = Rule("http.request.read", "fail", status=503, tool="fs", action="ls", session=2, retry_after_s=7)
    async with served(handler, rule) as (world, _):
        statuses = []
        for session in ("a", "b", "a"):
            client = world.connect()
            head = f"POST / HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\nContent-Length: {len(body)}\r\n\r\n"
            await client.send(head.encode() + body)
            status, headers, _ = await client.answer("POST")
            statuses.append((status, headers.get("retry-after")))
    assert statuses == [(200, None), (503, "7"), (200, None)]
