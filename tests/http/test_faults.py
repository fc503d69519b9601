"""The fault points at the edges of HTTP: where they stand, what a fault does there, and that control routes are spared."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from kernel.clock import ManualClock
from kernel.faults.plan import FaultPlan, Rule
from kernel.faults.points import HTTP_POINTS
from kernel.faults.trigger import Trigger
from kernel.http.router import Router
from kernel.http.server import Server
from kernel.wire import Answer, Exchange, Response, Route
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
    route = Route("/*", frozenset({"GET"}), handler, 0)
    if is_control:
        route = replace(route, has_fault_points=False)
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

        async def recorded(point: str) -> None:
            passed.append(point.removeprefix("http."))
            await visit(point)

        trigger.visit = recorded  # type: ignore[method-assign]
        client = world.connect()
        for _ in range(2):
            await client.send(GET)
            assert (await client.answer())[0] == 200
        await wait_all_tasks_blocked()
    each = ["request.read", "answer.before", "answer.after"]
    assert passed == ["accepted", *each, *each]


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
