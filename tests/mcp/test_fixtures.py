"""The conformance twin: every listed tool answers, and the rounds keep their states."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from kernel.ids import SeededIds
from kernel.mcp.fixtures import fixture_endpoint
from kernel.mcp.fixtures.tools import TOOLS
from kernel.mcp.limits import TASK_INPUT_S_MAX
from tests.mcp.world import TrioClock, World, open_world

EVERYTHING = {
    "elicitation": {},
    "sampling": {},
    "roots": {},
    "extensions": {"io.modelcontextprotocol/tasks": {}},
}


@asynccontextmanager
async def open_fixtures() -> AsyncIterator[World]:
    async with open_world() as world:
        clock = TrioClock()
        endpoint = fixture_endpoint(world.scheduler, clock, SeededIds(1))
        world.nursery.start_soon(endpoint.run)
        yield World(endpoint, world.tools, world.scheduler, clock, world.nursery)


async def test_every_tool_is_described_and_answers(autojump_clock: trio.testing.MockClock) -> None:
    async with open_fixtures() as world:
        listed = (await world.modern("tools/list")).result["tools"]
        assert [tool["name"] for tool in listed] == list(TOOLS)
        for tool in listed:
            assert tool["description"]
            assert tool["inputSchema"]["type"] == "object"
            reply = await world.call(tool["name"], capabilities=EVERYTHING, accept="application/json")
            assert reply.status == 200
            is_job = tool["name"] in ("failing_job", "protocol_error_job", "confirm_delete", "multi_input")
            assert reply.result["resultType"] in (("task",) if is_job else ("complete", "input_required"))
            if is_job:  # one that waits for an answer would keep its slot
                task = {"taskId": reply.result["taskId"]}
                assert (await world.modern("tasks/cancel", task, capabilities=EVERYTHING)).status == 200
        assert (await world.call("nothing")).rpc == (-32602, 400)


async def test_a_tool_that_asks_within_its_task_goes_on_when_everything_is_answered(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_fixtures() as world:

        async def in_task(method: str, task: str, **params: Any) -> Any:
            return (await world.modern(method, {"taskId": task, **params}, capabilities=EVERYTHING)).result

        for tool, arguments, count in (("confirm_delete", {"filename": "a.txt"}, 1), ("multi_input", {}, 2)):
            task = (await world.call(tool, arguments, capabilities=EVERYTHING)).result["taskId"]
            asked = (await in_task("tasks/get", task))["inputRequests"]
            assert [request["method"] for request in asked.values()] == ["elicitation/create"] * count
            for key in asked:
                assert (await in_task("tasks/get", task))["status"] == "input_required"
                await in_task("tasks/update", task, inputResponses={key: accepted(confirm=True, name="Ann")})
            await trio.testing.wait_all_tasks_blocked()
            told = await in_task("tasks/get", task)
            assert told["status"] == "completed"
            assert told["result"]["content"][0]["text"].count("accept") == count
        without = {name: value for name, value in EVERYTHING.items() if name != "elicitation"}
        assert (await world.call("confirm_delete", capabilities=without)).rpc == (-32021, 400)
        assert (await world.call("multi_input")).rpc == (-32021, 400)


async def test_a_tool_that_nobody_answers_fails_in_the_end(autojump_clock: trio.testing.MockClock) -> None:
    async with open_fixtures() as world:
        task = {"taskId": (await world.call("multi_input", capabilities=EVERYTHING)).result["taskId"]}
        await trio.sleep(TASK_INPUT_S_MAX + 1)
        told = (await world.modern("tasks/get", task, capabilities=EVERYTHING)).result
        assert (told["status"], told["result"]["isError"]) == ("completed", True)


async def test_a_client_without_the_capability_is_told_which_one_is_needed() -> None:
    async with open_fixtures() as world:
        reply = await world.call("test_missing_capability")
        assert reply.rpc == (-32021, 400)
        assert reply.error["data"] == {"requiredCapabilities": {"sampling": {}}}
        for name in ("sampling", "elicitation", "list_roots", "multiple_inputs", "multi_round", "request_state"):
            assert (await world.call(f"test_input_required_result_{name}")).rpc == (-32021, 400)


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


async def test_rounds_end_where_their_answers_lead() -> None:
    async with open_fixtures() as world:

        async def round_(name: str, **params: Any) -> Any:
            return await world.call(name, capabilities=EVERYTHING, params=params)

        name = "test_input_required_result_multi_round"
        first = (await round_(name)).result
        second = (
            await round_(name, inputResponses={"step1": accepted(name="Ann")}, requestState=first["requestState"])
        ).result
        assert set(second["inputRequests"]) == {"step2"}
        assert second["requestState"] != first["requestState"]
        third = await round_(name, inputResponses={"step2": accepted(color="red")}, requestState=second["requestState"])
        assert third.result["content"][0]["text"] == "Ann likes red"
        again = await round_(name, inputResponses={"step2": accepted()}, requestState=first["requestState"])
        assert set(again.result["inputRequests"]) == {"step1"}

        asked = (await round_("test_input_required_result_multiple_inputs")).result
        partly = await round_(
            "test_input_required_result_multiple_inputs",
            inputResponses={"user_name": accepted(name="Ann")},
            requestState=asked["requestState"],
        )
        assert partly.result["resultType"] == "input_required"
        whole = await round_(
            "test_input_required_result_multiple_inputs",
            inputResponses={"user_name": accepted(name=5), "greeting": {"content": {}}, "client_roots": {"roots": []}},
            requestState=asked["requestState"],
        )
        assert "nobody" in whole.result["content"][0]["text"]


@pytest.mark.parametrize("spoil", ["{}-TAMPERED", "{}x", "x{}", "5", "é.é", ".", "{}"])
async def test_an_altered_or_foreign_state_is_an_error(spoil: str) -> None:
    async with open_fixtures() as world:
        first = await world.call("test_input_required_result_tampered_state", capabilities=EVERYTHING)
        state: Any = spoil.format(first.result["requestState"])
        tool = "test_input_required_result_" + ("request_state" if spoil == "{}" else "tampered_state")
        params = {"requestState": 5 if spoil == "5" else state, "inputResponses": {"confirm": accepted(ok=True)}}
        assert (await world.call(tool, capabilities=EVERYTHING, params=params)).rpc == (-32602, 400)


async def test_single_questions_complete_with_their_answers() -> None:
    async with open_fixtures() as world:
        for tool, key, response, words in (
            ("elicitation", "user_name", accepted(name="Ann"), "Hello, Ann!"),
            ("sampling", "capital_question", {"content": {"text": "Paris"}}, "Paris"),
            ("list_roots", "client_roots", {"roots": [{"uri": "file:///x"}]}, "file:///x"),
            ("capabilities", "elicit_input", accepted(value="v"), "elicit_input"),
        ):
            params = {"inputResponses": {key: response}}
            reply = await world.call(f"test_input_required_result_{tool}", capabilities=EVERYTHING, params=params)
            assert words in reply.result["content"][0]["text"]
        only = await world.call("test_input_required_result_capabilities", capabilities={"sampling": {}})
        assert set(only.result["inputRequests"]) == {"sample_input"}
        nothing = await world.call("test_input_required_result_capabilities")
        assert nothing.result["resultType"] == "complete"
        prompt = {"name": "test_input_required_result_prompt"}
        assert "inputRequests" in (await world.modern("prompts/get", prompt, capabilities=EVERYTHING)).result
        params = {**prompt, "inputResponses": {"user_context": accepted(context="tests")}}
        text = (await world.modern("prompts/get", params)).result["messages"][0]["content"]["text"]
        assert "tests" in text


async def test_a_handshake_client_is_asked_on_its_own_stream() -> None:
    async with open_fixtures() as world:
        for version, has_mode in (("2025-06-18", False), ("2025-11-25", True)):
            session = await world.initialize(version, capabilities=EVERYTHING)
            body = json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "tools/call",
                    "params": {"name": "test_elicitation", "arguments": {"message": "Who?"}},
                }
            ).encode()
            headers = [
                ("Content-Type", "application/json"),
                ("Accept", "application/json, text/event-stream"),
                ("Mcp-Session-Id", session),
            ]
            stream = await world.open("POST", headers, body)
            question = await stream.message()
            assert (question["method"], question["params"]["message"]) == ("elicitation/create", "Who?")
            assert ("mode" in question["params"]) is has_mode
            unknown = {"jsonrpc": "2.0", "id": 99, "result": {}}
            assert (await world.post_old(session, unknown)).status == 202
            assert (await world.post_old(None, unknown)).status == 202
            answer = {"jsonrpc": "2.0", "id": question["id"], "result": accepted(username="ann")}
            assert (await world.post_old(session, answer)).status == 202
            (final,) = await stream.rest()
            assert "accept" in final["result"]["content"][0]["text"]
        sampled = await world.old_call(None, "test_sampling", {"prompt": "?"})
        assert "Not answered" in sampled.result["content"][0]["text"]
        unasked = await world.old_call(None, "test_elicitation", {"message": "?"})
        assert "Not answered" in unasked.result["content"][0]["text"]


async def test_resources_prompts_and_completions_are_the_suites_own() -> None:
    async with open_fixtures() as world:
        for resource in (await world.modern("resources/list")).result["resources"]:
            contents = (await world.modern("resources/read", {"uri": resource["uri"]})).result["contents"]
            assert contents[0]["uri"] == resource["uri"]
        read = await world.modern("resources/read", {"uri": "test://template/123/data"})
        assert json.loads(read.result["contents"][0]["text"])["id"] == "123"
        assert (await world.modern("resources/read", {"uri": "test://none"})).rpc == (-32602, 400)
        assert len((await world.modern("resources/templates/list")).result["resourceTemplates"]) == 1
        arguments = {"arg1": "one", "arg2": "two", "resourceUri": "test://x"}
        for prompt in (await world.modern("prompts/list")).result["prompts"]:
            params = {"name": prompt["name"], "arguments": arguments}
            assert (await world.modern("prompts/get", params, capabilities=EVERYTHING)).status == 200
        assert (await world.modern("prompts/get", {"name": "none"})).rpc == (-32602, 400)
        ref = {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "arg1", "value": "test"}}
        completion = (await world.modern("completion/complete", ref)).result["completion"]
        assert completion["values"] == ["testValue1", "testValue2"]
        session = await world.initialize()
        for method in ("resources/subscribe", "resources/unsubscribe"):
            assert (await world.old(session, method, {"uri": "test://watched-resource"})).result == {}
        assert (await world.modern("server/discover")).result["instructions"]


async def test_changes_are_announced_at_once_to_those_who_asked(autojump_clock: trio.testing.MockClock) -> None:
    async with open_fixtures() as world:
        from tests.mcp.test_subscriptions import open_listen

        stream = await open_listen(world, {"toolsListChanged": True, "promptsListChanged": True})
        await stream.message()
        for tool, kind in (("test_trigger_tool_change", "tools"), ("test_trigger_prompt_change", "prompts")):
            await world.call(tool)
            with trio.fail_after(1.5):
                assert (await stream.message())["method"] == f"notifications/{kind}/list_changed"
