"""The /tasks route on a running scheduler: cancels without a checkpoint, and what may happen while it looks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from outcome import Outcome

from kernel.clock import ManualClock
from kernel.tasks.control import TaskControl
from kernel.tasks.limits import RESULT_TTL_S
from kernel.tasks.route import TaskRoute
from kernel.wire import Headers, Request, Response
from scheduler import Lane, Scheduler, Ticket, open_scheduler

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
BODY = b'{"content":[]}'


class Asked:
    def __init__(self, body: bytes, owner: str) -> None:
        self.request = Request("POST", "/tasks", "/tasks", "", Headers([("owner", owner)]), body)


class World:
    """A scheduler, the tasks, and a surface that can be changed or made to wait."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.clock = ManualClock()
        self.scheduler = scheduler
        self.tasks = TaskControl()
        self.surface = "v1"
        self.looks: list[str] = []
        self.while_looking: Any = None
        self.release = trio.Event()
        self.route = TaskRoute(self.tasks, scheduler, self.clock, identify=_owner, surface=self._look)

    async def _look(self, principal: str) -> str:
        self.looks.append(principal)
        if self.while_looking is not None:
            self.while_looking()
        return self.surface

    async def ask(self, operation: str, *, owner: str = "me", task_id: str = UUID) -> dict[str, Any]:
        body = json.dumps({"taskId": task_id, "operation": operation}).encode()
        answer = await self.route.handle(Asked(body, owner))  # type: ignore[arg-type]
        assert isinstance(answer, Response)
        assert answer.status == 200
        return dict(json.loads(answer.body))

    def begin(self, lane: Lane = Lane.READ, *, commits: bool = False) -> Ticket:
        """A call under the task id, submitted to a lane; it ends when it is released."""
        ticket = self.scheduler.admit(task_id=f"me/{UUID}")
        assert self.tasks.begin("me", UUID, ticket, now=self.clock.now())

        async def work(ticket: Ticket) -> None:
            if commits:
                ticket.enter_commit()
            await self.release.wait()

        def ended(outcome: Outcome[None]) -> None:
            self.tasks.end("me", UUID, BODY, "v1", now=self.clock.now())

        self.scheduler.submit(ticket, lane, work, on_answer=ended)
        return ticket

    def finish(self) -> None:
        assert self.tasks.begin("me", UUID, Ticket(1), now=self.clock.now())
        self.tasks.end("me", UUID, BODY, "v1", now=self.clock.now())


def _owner(request: Request) -> str:
    return request.headers.get("owner") or ""


@asynccontextmanager
async def opened() -> AsyncIterator[World]:
    async with open_scheduler() as scheduler:
        world = World(scheduler)
        yield world
        world.release.set()


async def test_a_running_call_is_told_without_looking_at_the_surface() -> None:
    async with opened() as world:
        world.begin()
        assert (await world.ask("status"))["state"] == "running"
        assert (await world.ask("result"))["resultAvailable"] is False
        assert world.looks == []
        assert (await world.ask("status", owner="you"))["found"] is False


async def test_an_accepted_cancel_ends_the_task_at_once() -> None:
    async with opened() as world:
        ticket = world.begin()
        await trio.testing.wait_all_tasks_blocked()
        told = await world.ask("cancel")
        assert (told["accepted"], told["cancelRequested"], told["state"]) == (True, True, "done")
        assert ticket.is_cancelled
        assert (await world.ask("cancel"))["accepted"] is False


async def test_a_commit_is_not_cancelled() -> None:
    async with opened() as world:
        ticket = world.begin(Lane.MUTATION, commits=True)
        await trio.testing.wait_all_tasks_blocked()
        told = await world.ask("cancel")
        assert (told["accepted"], told["committing"], told["cancelRequested"]) == (False, True, False)
        assert not ticket.is_cancelled


async def test_a_foreign_cancel_stops_nothing() -> None:
    async with opened() as world:
        ticket = world.begin()
        assert await world.ask("cancel", owner="you") == {
            "found": False,
            "state": None,
            "cancelRequested": False,
            "committing": False,
            "resultAvailable": False,
            "accepted": False,
        }
        assert not ticket.is_cancelled


async def test_a_kept_result_is_given_only_under_the_surface_it_began_with() -> None:
    async with opened() as world:
        world.finish()
        assert (await world.ask("result"))["result"] == {"content": []}
        world.surface = "v2"
        assert (await world.ask("result"))["reason"] == "access_changed"
        assert world.looks == ["me", "me"]


async def test_a_result_that_expires_while_the_surface_is_read_is_not_found() -> None:
    async with opened() as world:
        world.finish()
        world.while_looking = lambda: world.clock.advance(RESULT_TTL_S)
        assert (await world.ask("result"))["found"] is False


@pytest.mark.parametrize("body", [b"", b"[]", b'{"taskId":"x","operation":"status"}'])
async def test_a_malformed_body_is_400(body: bytes) -> None:
    async with opened() as world:
        answer = await world.route.handle(Asked(body, "me"))  # type: ignore[arg-type]
        assert isinstance(answer, Response)
        assert (answer.status, json.loads(answer.body)["error"]) == (400, "invalid_task_control")
