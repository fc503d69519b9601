"""Cancels and disconnects in both eras, duplicates, admission, and what a session's end does to its calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
import trio.testing

from kernel.mcp.calls import TaskStore
from scheduler.ticket import Ticket
from tests.mcp.world import BOTH, TASK, Pending, Tools, World, modern_body, modern_headers, open_world

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
SLOW = {"name": "slow", "arguments": {}}


async def start_slow(world: World, session: str | None, id: Any, **options: Any) -> Pending:
    return await world.start(lambda: world.old_call(session, "slow", id=id, **options))


async def start_modern(world: World, *, meta: dict[str, Any] | None = None, name: str = "slow") -> tuple[Pending, Any]:
    params = {"name": name, "arguments": {}}
    pending = await world.start(
        lambda: world.ask("POST", modern_headers("tools/call", params), modern_body("tools/call", params, meta=meta))
    )
    return pending, world.exchanges[-1]


def in_flight(world: World) -> int:
    return world.scheduler.statistics().in_flight


@pytest.mark.parametrize("id", [0, "", 7, "7", "x", 2**70])
async def test_a_handshake_cancel_is_answered_at_once_with_a_result_of_the_same_id(id: Any) -> None:
    async with open_world() as world:
        session = await world.initialize()
        pending = await start_slow(world, session, id)
        cancel = await world.cancel(session, id)
        assert (cancel.status, cancel.body) == (202, b"")
        reply = await pending.wait()
        assert reply.code == "request_cancelled"
        assert reply.message["id"] == id
        assert type(reply.message["id"]) is type(id)
        structured = reply.result["structuredContent"]
        assert (structured["writeAttempted"], structured["writeExecuted"]) == (False, False)
        # The host call still holds its slot; only its end frees it.
        assert in_flight(world) == 1
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        assert in_flight(world) == 0
        assert (await world.old_call(session, "echo", id=8)).status == 200


async def test_ids_match_by_type_and_value() -> None:
    async with open_world() as world:
        session = await world.initialize()
        number, text = await start_slow(world, session, 5), await start_slow(world, session, "5")
        await world.cancel(session, "5")
        assert (await text.wait()).code == "request_cancelled"
        one = await start_slow(world, session, 1)
        for wrong in (True, 1.0, [1], {"a": 1}, None):
            assert (await world.cancel(session, wrong)).status == 202
        world.tools.release.set()
        assert (await number.wait()).result["structuredContent"]["tool"] == "slow"
        assert (await one.wait()).result["structuredContent"]["tool"] == "slow"


async def test_unknown_late_and_malformed_cancels_are_accepted_and_do_nothing() -> None:
    async with open_world() as world:
        session, other = await world.initialize(), await world.initialize()
        neighbour = await start_slow(world, other, 21)
        await world.old_call(session, "echo", id=21)
        for request_id in (999, 21, 21, 21):
            reply = await world.cancel(session, request_id)
            assert (reply.status, reply.body) == (202, b"")
        assert (await world.cancel(None, 21)).status == 202
        for message in (
            {"jsonrpc": "2.0", "method": "notifications/cancelled"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [21]},
        ):
            assert (await world.post_old(session, message)).status == 202
        assert (await world.modern("notifications/cancelled", {"requestId": 21})).status == 404  # it has an id
        world.tools.release.set()
        assert (await neighbour.wait()).result["structuredContent"]["tool"] == "slow"


async def test_a_call_without_a_session_cannot_be_cancelled_by_name() -> None:
    async with open_world() as world:
        pending = await start_slow(world, None, 1)
        await world.cancel(None, 1)
        session = await world.initialize()
        await world.cancel(session, 1)
        world.tools.release.set()
        assert (await pending.wait()).result["structuredContent"]["tool"] == "slow"


async def test_a_queued_call_leaves_its_queue_when_it_is_cancelled() -> None:
    async with open_world(scheduler={"read_slots": 1}) as world:
        session = await world.initialize()
        blocker, queued = await start_slow(world, session, 1), await start_slow(world, session, 2)
        await world.cancel(session, 2)
        assert (await queued.wait()).code == "request_cancelled"
        assert in_flight(world) == 1
        world.tools.release.set()
        await blocker.wait()
        assert [name for name, _ in world.tools.performed] == ["slow"]


async def test_a_call_that_is_still_prepared_is_cancelled_at_once_and_never_runs() -> None:
    tools = Tools(prepare_gate=trio.Event())
    async with open_world(tools) as world:
        session = await world.initialize()
        pending = await start_slow(world, session, 1)
        await world.cancel(session, 1)
        assert (await pending.wait()).code == "request_cancelled"
        assert in_flight(world) == 0
        assert tools.performed == []


async def test_a_second_call_under_the_same_id_is_refused_and_the_first_goes_on() -> None:
    async with open_world() as world:
        session, other = await world.initialize(), await world.initialize()
        first = await start_slow(world, session, 1)
        assert (await world.old_call(session, "echo", id=1)).code == "duplicate_request"
        assert (await world.old_call(session, "echo", id="1")).result["structuredContent"]["tool"] == "echo"
        assert (await world.old_call(other, "echo", id=1)).result["structuredContent"]["tool"] == "echo"
        assert (await world.call("echo", id=1)).result["structuredContent"]["tool"] == "echo"
        world.tools.release.set()
        assert (await first.wait()).result["structuredContent"]["tool"] == "slow"


async def test_the_request_past_the_bound_is_told_to_come_back() -> None:
    async with open_world(scheduler={"admitted_max": 2}) as world:
        session = await world.initialize()
        pending = [await start_slow(world, session, number) for number in (1, 2)]
        reply = await world.old_call(session, "echo", id=3)
        assert reply.code == "queue_full"
        error = reply.result["structuredContent"]["error"]
        assert isinstance(error["retryAfterMs"], int)
        assert reply.result["structuredContent"]["writeAttempted"] is False
        # Lists, pings and cancels never pass the lanes (decision 9).
        assert (await world.old(session, "ping")).result == {}
        assert "tools" in (await world.old(session, "tools/list")).result
        world.tools.release.set()
        for one in pending:
            await one.wait()
        assert (await world.old_call(session, "echo", id=3)).result["structuredContent"]["tool"] == "echo"


# --- disconnects ---


async def test_a_modern_client_that_goes_away_cancels_its_call(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        pending, exchange = await start_modern(world)
        await trio.sleep(1)  # long enough to be watched
        assert exchange.watchers
        exchange.leave()
        assert (await pending.wait()).code == "request_cancelled"
        assert exchange.watchers == []


async def test_a_modern_client_that_left_early_is_noticed_too(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        pending, exchange = await start_modern(world)
        exchange.leave()
        assert (await pending.wait()).code == "request_cancelled"


async def test_a_modern_client_that_closes_its_stream_cancels_its_call(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        params = {"name": "chatty", "arguments": {}}
        body = modern_body("tools/call", params, meta={"progressToken": 1})
        stream = await world.open("POST", modern_headers("tools/call", params), body)
        assert (await stream.message())["method"] == "notifications/progress"
        stream.exchange.leave()
        with trio.fail_after(1):
            answers = [message for message in await stream.rest() if "id" in message]
        assert answers[0]["result"]["structuredContent"]["error"]["code"] == "request_cancelled"


@pytest.mark.parametrize("reason", ["task", "ignored"])
async def test_a_modern_call_runs_on_with_a_task_id_or_if_disconnects_are_ignored(
    reason: str, autojump_clock: trio.testing.MockClock
) -> None:
    options = {"cancels_on_disconnect": False} if reason == "ignored" else {}
    async with open_world(**options) as world:
        pending, exchange = await start_modern(world, meta={TASK: UUID} if reason == "task" else None)
        await trio.sleep(1)
        exchange.leave()
        await trio.sleep(1)
        assert pending.reply is None
        world.tools.release.set()
        assert (await pending.wait()).result["structuredContent"]["tool"] == "slow"


async def test_a_handshake_disconnect_is_no_cancel(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        session = await world.initialize()
        pending = await start_slow(world, session, 1)
        await trio.sleep(1)
        world.exchanges[-1].leave()
        await trio.sleep(1)
        assert pending.reply is None
        world.tools.release.set()
        assert (await pending.wait()).result["structuredContent"]["tool"] == "slow"


async def test_the_end_of_the_server_cancels_what_would_not_outlive_its_client() -> None:
    async with open_world() as world:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                params = {"name": "slow", "arguments": {}}
                nursery.start_soon(
                    world.ask, "POST", modern_headers("tools/call", params), modern_body("tools/call", params)
                )
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()
        assert world.scheduler.statistics().cancelled_holding_slots == 1


async def test_a_handshake_call_outlives_the_connection_it_came_by() -> None:
    async with open_world() as world:
        session = await world.initialize()
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(world.old_call, session, "slow")
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()
        assert world.scheduler.statistics().cancelled_holding_slots == 0
        assert world.endpoint.statistics()["busy"] == 1
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        assert in_flight(world) == 0
        assert world.endpoint.statistics()["busy"] == 0


# --- sessions and their calls ---


async def test_deleting_a_session_cancels_its_calls_and_no_others() -> None:
    async with open_world() as world:
        session, other = await world.initialize(), await world.initialize()
        mine, theirs = await start_slow(world, session, 1), await start_slow(world, other, 1)
        assert (await world.ask("DELETE", [("Mcp-Session-Id", session)])).status == 200
        assert (await mine.wait()).code == "request_cancelled"
        world.tools.release.set()
        assert (await theirs.wait()).result["structuredContent"]["tool"] == "slow"
        assert (await world.old(session, "ping")).status == 404


async def test_a_running_call_keeps_its_session_busy_until_it_is_answered(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_world() as world:
        session = await world.initialize()
        pending = await start_slow(world, session, 1)
        world.clock.skip(3 * 3600)
        assert world.endpoint.statistics()["busy"] == 1
        assert (await world.old(session, "ping")).status == 200
        world.tools.release.set()
        await pending.wait()
        assert world.endpoint.statistics()["busy"] == 0
        world.clock.skip(1800)
        assert (await world.old(session, "ping")).status == 404


# --- task ids ---


class Store(TaskStore):
    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.surfaces: list[str] = []

    def begin(self, owner: str, task_id: str, ticket: Any, *, now: float) -> bool:
        assert owner == "local"
        if task_id in self.kept:
            return False
        self.kept[task_id] = ticket
        return True

    def end(self, owner: str, task_id: str, body: bytes | None, surface: str, *, now: float) -> None:
        assert isinstance(self.kept[task_id], Ticket), "a call ends once, and only its own task"
        self.kept[task_id] = None if body is None else json.loads(body)
        self.surfaces.append(surface)


async def test_a_task_id_is_registered_with_its_call_and_its_result_is_kept() -> None:
    store = Store()
    async with open_world(tasks=store) as world:
        await world.call("echo", meta={TASK: UUID.upper()})
        assert store.kept[UUID]["structuredContent"]["tool"] == "echo"
        assert store.surfaces == ["v1"]
        assert (await world.call("echo", meta={TASK: UUID})).code == "duplicate_request"
        assert store.kept[UUID]["structuredContent"]["tool"] == "echo"
        assert len(world.tools.performed) == 1


async def test_a_refused_duplicate_leaves_the_record_of_the_running_call_alone() -> None:
    store = Store()
    async with open_world(tasks=store) as world:
        pending, _ = await start_modern(world, meta={TASK: UUID})
        assert (await world.call("echo", meta={TASK: UUID})).code == "duplicate_request"
        assert isinstance(store.kept[UUID], Ticket)
        world.tools.release.set()
        await pending.wait()
        assert store.kept[UUID]["structuredContent"]["tool"] == "slow"


async def test_a_task_id_in_flight_is_refused_even_without_a_store() -> None:
    async with open_world() as world:
        pending, _ = await start_modern(world, meta={TASK: UUID})
        assert (await world.call("echo", meta={TASK: UUID})).code == "duplicate_request"
        assert (await world.old_call(None, "echo")).status == 200
        world.tools.release.set()
        await pending.wait()


@pytest.mark.parametrize("name", ["wipe", "crash", "unknown"])
async def test_every_end_of_a_call_is_told_to_the_store(name: str) -> None:
    store = Store()
    async with open_world(tasks=store) as world:
        await world.call(name, capabilities={"elicitation": {}}, meta={TASK: UUID})
        kept = store.kept[UUID]
        # A question and a crash have no result to keep (R242); a refusal has.
        assert (kept is None) == (name in ("wipe", "crash"))


@pytest.mark.parametrize("task_id", ["", 7, "not-a-uuid", UUID[:35]])
async def test_a_malformed_task_id_runs_nothing(task_id: Any) -> None:
    async with open_world() as world:
        assert (await world.call("echo", meta={TASK: task_id})).rpc == (-32602, 400)
        params = {"name": "echo", "arguments": {}, "_meta": {TASK: task_id}}
        assert (await world.old(None, "tools/call", params)).rpc == (-32602, 200)
        assert world.tools.performed == []


# --- long silence ---


async def test_a_silent_call_becomes_a_stream_with_keep_alives(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        opened_at = trio.current_time()
        stream = await world.open("POST", modern_headers("tools/call", SLOW), modern_body("tools/call", SLOW))
        assert 15 <= trio.current_time() - opened_at < 16
        assert await stream.take() == b": keep-alive\n\n"
        assert await stream.take() == b": keep-alive\n\n"
        world.tools.release.set()
        (answer,) = await stream.rest()
        assert answer["result"]["structuredContent"]["tool"] == "slow"


async def test_a_silent_call_of_a_json_client_stays_json(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        pending = await world.start(lambda: world.call("slow", accept="application/json"))
        await trio.sleep(60)
        assert pending.reply is None
        world.tools.release.set()
        assert (await pending.wait()).headers["content-type"] == "application/json"


async def test_a_handshake_call_becomes_a_stream_as_well(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        session = await world.initialize()
        pending = await world.start(lambda: world.old_call(session, "slow", accept=BOTH))
        await trio.sleep(20)
        await world.cancel(session, 1)
        reply = await pending.wait()
        assert reply.headers["content-type"] == "text/event-stream"
        assert reply.code == "request_cancelled"
