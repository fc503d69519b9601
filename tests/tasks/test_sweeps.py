"""A task is struck at every scheduling point of its call: what is kept is what was answered, and nothing stays behind."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from kernel.tasks.control import TaskControl
from kernel.tools.service import Caller, Prepared, ToolResult
from scheduler import Ticket
from scheduler.testing import MOMENTS, CancelInjector, Moment, cancel_everywhere
from tests.mcp.test_sweeps import Stepping, outcome
from tests.mcp.world import TASK, World, modern_body, modern_headers, open_world

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
REQUEST_ID = 7


class Slow(Stepping):
    """Its surface takes a step too: a call may be struck between its registration and its preparation."""

    has_begun = False

    async def perform(self, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        self.has_begun = True
        return await super().perform(prepared, ticket, caller)

    async def surface_version(self, caller: Any) -> str:
        await trio.lowlevel.checkpoint()
        return await super().surface_version(caller)


async def send(world: World, tool: str, meta: dict[str, Any] | None = None) -> Any:
    params = {"name": tool, "arguments": {}}
    body = modern_body("tools/call", params, id=REQUEST_ID, meta={TASK: UUID, **(meta or {})})
    return await world.ask("POST", modern_headers("tools/call", params), body)


def kept_outcome(tasks: TaskControl, now: float) -> str | None:
    kept = tasks.kept("local", UUID, now=now)
    if kept is None or kept.body is None:
        return None
    structured = json.loads(kept.body)["structuredContent"]
    return str(structured["error"]["code"]) if "error" in structured else "done"


async def cancelled_by_task_id(injector: CancelInjector, *, tool: str, meta: dict[str, Any] | None = None) -> None:
    tasks, tools = TaskControl(), Slow()
    async with open_world(tools, tasks=tasks) as world:

        def strike() -> None:
            ticket = tasks.running("local", UUID)
            if ticket is not None:
                world.scheduler.cancel_ticket(ticket)

        injector.strike_with(strike)
        reply = await send(world, tool, meta)
        injector.strike_with(lambda: None)
        end = outcome(reply)
        assert end in ("done", "request_cancelled")
        assert kept_outcome(tasks, world.clock.now()) == end
        if tool == "write":
            assert tools.writes == (1 if end == "done" else 0)
        await trio.testing.wait_all_tasks_blocked()
        assert tasks.statistics(now=world.clock.now())["running"] == 0
        assert world.scheduler.statistics().in_flight == 0


async def left_by_its_client(injector: CancelInjector, *, tool: str) -> None:
    """Decision 13: a call with a task id runs on, and its result is kept."""
    tasks, tools = TaskControl(), Slow()
    async with open_world(tools, tasks=tasks) as world:
        injector.strike_with(lambda: [exchange.leave() for exchange in world.exchanges])
        await send(world, tool)
        injector.strike_with(lambda: None)
        await trio.testing.wait_all_tasks_blocked()
        assert kept_outcome(tasks, world.clock.now()) == "done"
        assert tasks.statistics(now=world.clock.now())["running"] == 0


async def left_by_its_server(injector: CancelInjector, *, tool: str) -> None:
    """The connection's task itself is cancelled: before its lane the call is over, in its lane it runs on."""
    tasks, tools = TaskControl(), Slow()
    async with open_world(tools, tasks=tasks) as world:
        with injector.watch():
            await send(world, tool)
        await trio.testing.wait_all_tasks_blocked()
        assert tasks.statistics(now=world.clock.now())["running"] == 0
        assert world.scheduler.statistics().in_flight == 0
        assert kept_outcome(tasks, world.clock.now()) == ("done" if tools.has_begun else None)


SCENARIOS: dict[str, Callable[[CancelInjector], Awaitable[None]]] = {
    "a read that is cancelled by its task id": partial(cancelled_by_task_id, tool="echo"),
    "a write that is cancelled by its task id": partial(cancelled_by_task_id, tool="write"),
    "a streamed write that is cancelled": partial(cancelled_by_task_id, tool="write", meta={"progressToken": 1}),
    "a read whose client leaves": partial(left_by_its_client, tool="echo"),
    "a write whose client leaves": partial(left_by_its_client, tool="write"),
    "a read whose server ends": partial(left_by_its_server, tool="echo"),
    "a write whose server ends": partial(left_by_its_server, tool="write"),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_strike_at_every_point_of(name: str, moment: Moment) -> None:
    assert cancel_everywhere(SCENARIOS[name], moments=[moment]) >= 5
