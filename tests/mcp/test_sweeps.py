"""Something happens to a call at every scheduling point of its way: one answer, and nothing left behind (case A01)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from kernel.tools.service import Caller, Prepared, ToolResult
from scheduler import Ticket
from scheduler.testing import MOMENTS, CancelInjector, Moment, cancel_everywhere
from tests.mcp.world import Reply, Tools, World, look_at_clients, modern_body, modern_headers, open_world

SESSION_ID, REQUEST_ID = "session", 7


class Stepping(Tools):
    """Every step waits for an event of its own; ``write`` counts what it did behind its boundary."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    async def prepare(self, name: str, arguments: Any, caller: Caller) -> Prepared:
        await step()
        return await super().prepare(name, arguments, caller)

    async def perform(self, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        for _ in range(2):
            ticket.check_cancelled()
            await step()
        if prepared.is_mutation:
            ticket.enter_commit()
            self.writes += 1
            await step()
        if caller.channel is not None:
            caller.channel.progress(1)
        await step()
        ticket.check_cancelled()
        return ToolResult([{"type": "text", "text": "done"}], {"tool": prepared.tool})


async def step() -> None:
    """A wait that ends by an event, so that it can also be struck when it was just woken."""
    done = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(set_soon, done)
        await done.wait()


async def set_soon(done: trio.Event) -> None:
    await trio.lowlevel.checkpoint()
    done.set()


def outcome(reply: Reply) -> str:
    (answer,) = [message for message in reply.messages if "result" in message or "error" in message]
    assert answer["id"] == REQUEST_ID
    structured = answer["result"]["structuredContent"]
    return str(structured["error"]["code"]) if "error" in structured else "done"


async def check(world: World, tools: Stepping, reply: Reply, tool: str, ends: Counter[str]) -> None:
    end = outcome(reply)
    ends[end] += 1
    assert end in ("done", "request_cancelled")
    if tool == "write":
        assert tools.writes == (1 if end == "done" else 0)
    await trio.testing.wait_all_tasks_blocked()
    assert world.scheduler.statistics().in_flight == 0
    assert world.endpoint.statistics()["busy"] == 0
    assert (await world.call("help", id=8)).status == 200


async def handshake_call(
    injector: CancelInjector, ends: Counter[str], *, tool: str, strike: str, meta: dict[str, Any]
) -> None:
    tools = Stepping()
    async with open_world(tools) as world:
        session = await world.initialize()
        held = world.endpoint.sessions.find(session, "local", now=0.0)
        assert held is not None
        if strike == "cancel":
            injector.strike_with(partial(world.scheduler.cancel, session, REQUEST_ID))
        else:
            injector.strike_with(partial(world.endpoint.sessions.end, held))
        params = {"name": tool, "arguments": {}, "_meta": meta}
        reply = await world.old(session, "tools/call", params, id=REQUEST_ID)
        injector.strike_with(lambda: None)
        if reply.status == 404:  # the session ended before the call was let in
            assert tools.writes == 0
            return
        await check(world, tools, reply, tool, ends)


async def modern_call(injector: CancelInjector, ends: Counter[str], *, tool: str, meta: dict[str, Any]) -> None:
    tools = Stepping()
    async with open_world(tools) as world:

        def leave() -> None:
            for exchange in world.exchanges:
                exchange.leave()
            look_at_clients(world.endpoint)

        injector.strike_with(leave)
        params = {"name": tool, "arguments": {}}
        reply = await world.ask(
            "POST", modern_headers("tools/call", params), modern_body("tools/call", params, id=REQUEST_ID, meta=meta)
        )
        injector.strike_with(lambda: None)
        await check(world, tools, reply, tool, ends)


async def abandoned_call(injector: CancelInjector, ends: Counter[str], *, tool: str) -> None:
    """The connection's task itself is cancelled (the server ends at once)."""
    tools = Stepping()
    async with open_world(tools) as world:
        params = {"name": tool, "arguments": {}}
        with injector.watch():
            await world.ask("POST", modern_headers("tools/call", params), modern_body("tools/call", params))
        await trio.testing.wait_all_tasks_blocked()
        assert world.scheduler.statistics().in_flight == 0
        ends["done" if tools.writes or not injector.scope.cancelled_caught else "abandoned"] += 1
        assert (await world.call("help")).status == 200


PROGRESS = {"progressToken": "p"}
SCENARIOS: dict[str, Callable[[CancelInjector, Counter[str]], Awaitable[None]]] = {
    "a handshake read that is cancelled by name": partial(handshake_call, tool="echo", strike="cancel", meta={}),
    "a handshake write that is cancelled by name": partial(handshake_call, tool="write", strike="cancel", meta={}),
    "a streamed call that is cancelled by name": partial(handshake_call, tool="write", strike="cancel", meta=PROGRESS),
    "a call whose session is deleted": partial(handshake_call, tool="write", strike="delete", meta={}),
    "a modern read whose client leaves": partial(modern_call, tool="echo", meta={}),
    "a modern write whose client leaves": partial(modern_call, tool="write", meta={}),
    "a streamed modern write whose client leaves": partial(modern_call, tool="write", meta=PROGRESS),
    "a read whose server ends": partial(abandoned_call, tool="echo"),
    "a write whose server ends": partial(abandoned_call, tool="write"),
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_strike_at_every_point_of(name: str, moment: Moment) -> None:
    ends: Counter[str] = Counter()
    assert cancel_everywhere(lambda injector: SCENARIOS[name](injector, ends), moments=[moment]) >= 5
    # A strike that never changes an end would prove nothing.
    assert ends["done"] >= 1
    assert ends["request_cancelled"] + ends["abandoned"] >= 1, ends


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_strike_at_every_point_under_many_orders_of(name: str) -> None:
    orders = range(1, 11)
    ends: Counter[str] = Counter()
    assert cancel_everywhere(lambda injector: SCENARIOS[name](injector, ends), seeds=orders) >= 5 * len(orders) * len(
        MOMENTS
    )
