"""The official Tasks extension: which calls become tasks, and how their ends are told."""

from __future__ import annotations

import re
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from kernel.mcp.channel import ClientRefused
from kernel.mcp.limits import TASK_AFTER_S, TASK_INPUT_S_MAX
from kernel.tasks.limits import RESULT_BYTES_MAX, RESULT_TTL_S
from kernel.tools.service import Caller, Prepared, ToolResult
from scheduler import Ticket
from tests.mcp.world import TASK, Reply, Tools, World, modern_body, modern_headers, open_world

TASKS = "io.modelcontextprotocol/tasks"
TAKES_TASKS: dict[str, Any] = {"extensions": {TASKS: {}}}
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


class Held(Tools):
    """Every call waits for ``release``; then ``crash`` raises, ``large`` answers more than is kept."""

    failure: Exception | None = None
    padding = ""
    questions = 0
    ask_after_s = 0.0
    heard: dict[int, Any]

    async def perform(self, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        self.heard = {}
        if self.questions:
            await trio.sleep(self.ask_after_s)
            async with trio.open_nursery() as nursery:
                for number in range(self.questions):
                    nursery.start_soon(self.ask, caller.channel, number)
        await self.release.wait()
        ticket.check_cancelled()
        if self.failure is not None:
            raise self.failure
        is_error = prepared.tool == "write"
        return ToolResult([{"type": "text", "text": "done" + self.padding}], {"tool": prepared.tool}, is_error)

    async def ask(self, channel: Any, number: int) -> None:
        try:
            self.heard[number] = await channel.ask_in_task({"method": "elicitation/create", "params": {"n": number}})
        except ClientRefused as refused:
            self.heard[number] = str(refused)


async def ask(
    world: World,
    method: str,
    params: dict[str, Any],
    *,
    capabilities: Any = TAKES_TASKS,
    token: str | None = None,
    **meta: Any,
) -> Reply:
    extra = {"Mcp-Name": params["taskId"]} if "taskId" in params else {}
    if token is not None:
        extra["Authorization"] = f"Token {token}"
    headers = modern_headers(method, params, extra=extra)
    return await world.ask("POST", headers, modern_body(method, params, capabilities=capabilities, meta=meta))


async def make_task(world: World, tool: str = "echo") -> dict[str, Any]:
    reply = await ask(world, "tools/call", {"name": tool, "arguments": {}})
    assert reply.result["resultType"] == "task", reply.result
    return dict(reply.result)


async def get(world: World, task: dict[str, Any], **options: Any) -> dict[str, Any]:
    return dict((await ask(world, "tasks/get", {"taskId": task["taskId"]}, **options)).result)


async def test_a_call_that_takes_long_becomes_a_task_and_its_result_is_fetched(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        task = await make_task(world)
        assert trio.current_time() == pytest.approx(TASK_AFTER_S)
        assert task["status"] == "working"
        assert STAMP.fullmatch(task["createdAt"])
        assert STAMP.fullmatch(task["lastUpdatedAt"])
        assert task["ttlMs"] == RESULT_TTL_S * 1000
        assert not {"task", "result", "error", "requestState", "inputRequests"} & set(task)
        working = await get(world, task)
        assert (working["resultType"], working["status"]) == ("complete", "working")
        assert "result" not in working
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        done = await get(world, task)
        assert (done["taskId"], done["status"], done["createdAt"]) == (task["taskId"], "completed", task["createdAt"])
        assert done["result"]["structuredContent"] == {"tool": "echo"}
        assert done["result"]["resultType"] == "complete"
        assert world.scheduler.statistics().in_flight == 0


async def test_a_quick_call_and_a_client_without_the_extension_get_no_task(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        world.tools.release.set()
        assert (await ask(world, "tools/call", {"name": "echo", "arguments": {}})).result["resultType"] == "complete"
    for options in ({"capabilities": {}}, {"capabilities": {"extensions": {TASKS: True}}}, {TASK: UUID}):
        async with open_world(Held()) as world, trio.open_nursery() as nursery:
            nursery.start_soon(release_later, world)
            reply = await ask(world, "tools/call", {"name": "echo", "arguments": {}}, **options)
            assert reply.messages[-1]["result"]["resultType"] == "complete"


async def release_later(world: World) -> None:
    await trio.sleep(2 * TASK_AFTER_S)
    world.tools.release.set()


async def test_a_tools_own_failure_is_a_completed_task_and_a_crash_a_failed_one(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        task = await make_task(world, "write")
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        done = await get(world, task)
        assert (done["status"], done["result"]["isError"]) == ("completed", True)
    async with open_world(Held()) as world:
        world.tools.failure = RuntimeError("secret text")
        task = await make_task(world)
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        failed = await get(world, task)
        assert (failed["status"], failed["error"]["code"]) == ("failed", -32603)
        assert "result" not in failed
        assert "secret" not in str(failed)


async def test_a_cancel_is_acknowledged_and_told_by_the_next_get(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        task = await make_task(world)
        for _ in range(2):  # cancelling what has ended is acknowledged alike
            reply = await ask(world, "tasks/cancel", {"taskId": task["taskId"]})
            assert set(reply.result) <= {"resultType", "_meta"}
            assert reply.result["resultType"] == "complete"
        told = await get(world, task)
        assert told["status"] == "cancelled"
        assert not {"result", "error"} & set(told)
        world.tools.release.set()


async def test_an_update_is_acknowledged(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        task = await make_task(world)
        reply = await ask(world, "tasks/update", {"taskId": task["taskId"], "inputResponses": {}})
        assert reply.result["resultType"] == "complete"
        world.tools.release.set()


async def test_a_call_that_asks_is_a_task_at_once_and_goes_on_when_every_answer_is_there(
    autojump_clock: MockClock,
) -> None:
    async with open_world(Held()) as world:
        world.tools.questions = 2
        task = await make_task(world)
        assert trio.current_time() == 0
        assert task["status"] == "input_required"
        assert "inputRequests" not in task
        asked = (await get(world, task))["inputRequests"]
        first, second = asked
        assert sorted(request["params"]["n"] for request in asked.values()) == [0, 1]
        await trio.sleep(1)
        for ignored in ({"other": {}}, {first: "no object"}, {}):
            await update(world, task, ignored)
        assert (await get(world, task))["lastUpdatedAt"] == task["lastUpdatedAt"]
        await update(world, task, {first: {"action": "accept"}, "other": {}})
        partly = await get(world, task)
        assert (partly["status"], set(partly["inputRequests"])) == ("input_required", {second})
        assert partly["lastUpdatedAt"] > task["lastUpdatedAt"]
        await update(world, task, {first: {"action": "cancel"}, second: {"action": "decline"}})
        whole = await get(world, task)
        assert whole["status"] == "working"
        assert "inputRequests" not in whole
        await trio.testing.wait_all_tasks_blocked()
        answers = {asked[first]["params"]["n"]: "accept", asked[second]["params"]["n"]: "decline"}
        assert {number: heard["action"] for number, heard in world.tools.heard.items()} == answers
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        assert (await get(world, task))["status"] == "completed"


async def update(world: World, task: dict[str, Any], responses: dict[str, Any]) -> None:
    reply = await ask(world, "tasks/update", {"taskId": task["taskId"], "inputResponses": responses})
    assert reply.result["resultType"] == "complete"
    assert set(reply.result) <= {"resultType", "_meta"}


@pytest.mark.parametrize("after_s", [TASK_AFTER_S / 2, 2 * TASK_AFTER_S])
async def test_a_call_that_asks_later_is_a_task_from_then_on(after_s: float, autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        world.tools.questions, world.tools.ask_after_s = 1, after_s
        task = await make_task(world)
        assert trio.current_time() == pytest.approx(min(after_s, TASK_AFTER_S))
        await trio.sleep(2 * TASK_AFTER_S)
        (key,) = (await get(world, task))["inputRequests"]
        await update(world, task, {key: {"action": "accept"}})
        assert (await get(world, task))["status"] == "working"
        world.tools.release.set()


async def test_a_question_ends_with_its_time_or_its_call(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        world.tools.questions = 1
        task = await make_task(world)
        await trio.sleep(TASK_INPUT_S_MAX + 1)
        assert (await get(world, task))["status"] == "working"
        assert world.tools.heard == {0: "no answer in time"}
        world.tools.release.set()
    async with open_world(Held()) as world:
        world.tools.questions = 1
        task = await make_task(world)
        await ask(world, "tasks/cancel", {"taskId": task["taskId"]})
        told = await get(world, task)
        assert told["status"] == "cancelled"
        assert "inputRequests" not in told
        await trio.testing.wait_all_tasks_blocked()
        assert world.tools.heard == {0: "the call is no task, or has ended"}
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        assert world.scheduler.statistics().in_flight == 0


async def test_who_cannot_get_a_task_cannot_be_asked_in_one(autojump_clock: MockClock) -> None:
    for options in ({"capabilities": {}}, {TASK: UUID}, {"progressToken": 1}):
        async with open_world(Held()) as world:
            world.tools.questions = 1
            world.tools.release.set()
            reply = await ask(world, "tools/call", {"name": "echo", "arguments": {}}, **options)
            assert reply.messages[-1]["result"]["resultType"] == "complete"
            assert world.tools.heard == {0: "the call cannot become a task"}


async def test_a_listener_may_name_tasks_only_if_it_takes_them_and_is_told_that_it_has_to_ask(
    autojump_clock: MockClock,
) -> None:
    async with open_world(Held()) as world:
        params = {"notifications": {"taskIds": [UUID], "toolsListChanged": True}}
        refused = await ask(world, "subscriptions/listen", params, capabilities={})
        assert refused.rpc == (-32021, 400)
        malformed = {"notifications": {"taskIds": [5]}}
        assert (await ask(world, "subscriptions/listen", malformed)).rpc == (-32602, 400)
        headers = modern_headers("subscriptions/listen", params)
        stream = await world.open(
            "POST", headers, modern_body("subscriptions/listen", params, capabilities=TAKES_TASKS)
        )
        assert (await stream.message())["params"]["notifications"] == {"toolsListChanged": True}


async def test_a_task_is_its_credentials_own_and_ends_after_ten_minutes(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        task = await make_task(world)
        for method in ("tasks/get", "tasks/cancel"):
            assert (await ask(world, method, {"taskId": task["taskId"]}, token="other")).rpc == (-32602, 400)
        assert (await get(world, task))["status"] == "working"
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(RESULT_TTL_S)
        assert (await ask(world, "tasks/get", {"taskId": task["taskId"]})).rpc == (-32602, 400)
        await make_task_of_a_new_world_forgets(world)


async def make_task_of_a_new_world_forgets(world: World) -> None:
    world.tools.release = trio.Event()
    await make_task(world)
    assert len(world.endpoint.tasks.control.task_ids(now=world.clock.now())) == 1
    world.tools.release.set()


async def test_changed_access_and_too_large_results_are_told_as_results(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        world.tools.padding = "x" * RESULT_BYTES_MAX
        task = await make_task(world)
        world.tools.release.set()
        await trio.testing.wait_all_tasks_blocked()
        told = await get(world, task)
        assert told["result"]["structuredContent"]["error"]["code"] == "result_too_large"
        world.tools.surface = "v2"
        told = await get(world, task)
        assert told["status"] == "completed"
        assert told["result"]["structuredContent"]["error"]["code"] == "access_changed"


async def test_a_client_that_leaves_before_it_has_its_task_cancels_the_call(autojump_clock: MockClock) -> None:
    async with open_world(Held()) as world:
        params = {"name": "echo", "arguments": {}}
        body = modern_body("tools/call", params, capabilities=TAKES_TASKS)
        pending = await world.start(lambda: world.ask("POST", modern_headers("tools/call", params), body))
        await trio.sleep(TASK_AFTER_S / 2)
        world.exchanges[-1].leave()
        assert (await pending.wait()).code == "request_cancelled"
        world.tools.release.set()
