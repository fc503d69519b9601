"""Bug cases of cancellation at the endpoint: A05, A06, A08, A09, A12 (and A01's race by schedule)."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
import trio.testing

from kernel.tools.service import Caller, Prepared, ToolResult
from scheduler import CancelOutcome, Ticket
from tests.mcp.world import BOTH, TASK, Tools, open_world

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


@pytest.mark.parametrize("id", [0, ""])
async def test_a05_a_falsy_id_is_an_id_everywhere(id: Any) -> None:
    async with open_world() as world:
        session = await world.initialize(token=None)
        pending = await world.start(lambda: world.old_call(session, "slow", id=id))
        assert (await world.cancel(session, id)).status == 202
        reply = await pending.wait()
        assert reply.code == "request_cancelled"
        assert b'"id":' + json.dumps(id).encode() in reply.body
        assert (await world.old(session, "ping", id=id)).message == {"jsonrpc": "2.0", "id": id, "result": {}}


async def test_a06_number_and_string_ids_are_not_mixed_up() -> None:
    async with open_world() as world:
        session = await world.initialize()
        number = await world.start(lambda: world.old_call(session, "slow", id=5))
        text = await world.start(lambda: world.old_call(session, "slow", id="5"))
        await world.cancel(session, "5")
        reply = await text.wait()
        assert (reply.code, reply.message["id"]) == ("request_cancelled", "5")
        one = await world.start(lambda: world.old_call(session, "slow", id=1))
        await world.cancel(session, True)
        await world.cancel(session, 1.0)
        world.tools.release.set()
        for pending, request_id in ((number, 5), (one, 1)):
            reply = await pending.wait()
            assert reply.message["id"] is not True
            assert (reply.message["id"], reply.result.get("isError")) == (request_id, None)


async def test_a08_unknown_and_late_cancels_have_no_effect() -> None:
    async with open_world() as world:
        session = await world.initialize()
        replies = [await world.cancel(session, 999)]
        await world.old_call(session, "echo", id=21)
        replies += [await world.cancel(session, 21) for _ in range(5)]
        replies.append(await world.cancel(None, 21))
        modern = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 21, "_meta": {}}}
        replies.append(await world.post_old(None, modern, headers={"MCP-Protocol-Version": "2026-07-28"}))
        for params in ({}, {"params": {}}):
            replies.append(
                await world.post_old(session, {"jsonrpc": "2.0", "method": "notifications/cancelled", **params})
            )
        assert {(reply.status, reply.body) for reply in replies} == {(202, b"")}
        assert (await world.old_call(session, "echo", id=22)).status == 200


@pytest.mark.parametrize("meta", [{}, {"progressToken": "p"}])
async def test_a09_a_cancelled_call_is_answered_once_as_a_result_and_its_stream_ends(meta: dict[str, Any]) -> None:
    async with open_world() as world:
        session = await world.initialize()
        params = {"name": "chatty", "arguments": {}, "_meta": meta}
        pending = await world.start(lambda: world.old(session, "tools/call", params, id=31, accept=BOTH))
        await world.cancel(session, 31)
        reply = await pending.wait()
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        answers = [message for message in reply.messages if message.get("id") == 31]
        assert len(answers) == 1
        assert answers[0]["result"]["structuredContent"]["error"]["code"] == "request_cancelled"
        assert reply.messages[-1] is not None
        assert reply.messages[-1]["id"] == 31
        assert (await world.old(session, "ping")).status == 200


class Committing(Tools):
    """``write`` re-reads (gate one), enters the boundary, writes (gate two)."""

    def __init__(self) -> None:
        super().__init__()
        self.reread = trio.Event()
        self.written = trio.Event()
        self.writes = 0

    async def perform(self, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        await self.reread.wait()
        ticket.enter_commit()
        self.writes += 1
        await self.written.wait()
        return ToolResult([], {"transactionState": "committed"})


async def test_a12_before_the_boundary_a_cancel_wins_and_nothing_is_written() -> None:
    tools = Committing()
    async with open_world(tools) as world:
        session = await world.initialize()
        pending = await world.start(lambda: world.old_call(session, "write", id=41))
        await world.cancel(session, 41)
        assert (await pending.wait()).code == "request_cancelled"
        tools.reread.set()
        await trio.testing.wait_all_tasks_blocked()
        assert tools.writes == 0
        assert world.scheduler.statistics().in_flight == 0


async def test_a12_behind_the_boundary_a_cancel_is_refused_and_the_outcome_is_told() -> None:
    tools = Committing()
    tools.reread.set()
    async with open_world(tools) as world:
        session = await world.initialize()
        params = {"name": "write", "arguments": {}, "_meta": {TASK: UUID}}
        pending = await world.start(lambda: world.old(session, "tools/call", params, id=42))
        assert (await world.cancel(session, 42)).status == 202
        assert world.scheduler.cancel_task(f"local/{UUID}") is CancelOutcome.COMMITTING
        await trio.testing.wait_all_tasks_blocked()
        assert pending.reply is None
        tools.written.set()
        assert (await pending.wait()).result["structuredContent"] == {"transactionState": "committed"}
        assert tools.writes == 1


@pytest.mark.parametrize("steps", range(6))
async def test_a01_a_cancel_around_the_end_of_a_call_leaves_exactly_one_answer(steps: int) -> None:
    async with open_world() as world:
        session = await world.initialize()
        pending = await world.start(lambda: world.old_call(session, "slow", id=7))
        world.tools.release.set()
        for _ in range(steps):
            await trio.lowlevel.checkpoint()
        assert (await world.cancel(session, 7)).body == b""
        reply = await pending.wait()
        structured = reply.result["structuredContent"]
        assert structured.get("tool") == "slow" or structured["error"]["code"] == "request_cancelled"
        await trio.testing.wait_all_tasks_blocked()
        assert world.scheduler.statistics().in_flight == 0
        assert (await world.old_call(session, "echo", id=8)).status == 200
