"""Bug cases of the kind ``bridge``, and what B02 asks of the kernel's own endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from kernel.clock import ManualClock
from kernel.extension.bridge import Bridge
from kernel.extension.http_endpoint import HttpEndpoint
from tests.cases.conftest import OpenNotes
from tests.support.notes import Notes, code_of
from tests.tools.fakes import CALLER, FakeHost, World, open_world

OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
Reply = Callable[[dict[str, Any]], httpx.Response]


class Upstream:
    """An official ``/mcp`` that lists ``tools`` and answers calls with ``reply``."""

    def __init__(self, tools: list[Any], reply: Reply | None = None) -> None:
        self.tools, self.reply = tools, reply
        self.is_down = False
        self.lists = 0
        self.calls: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.is_down:
            raise httpx.ConnectError("down")
        message = json.loads(request.content)
        if message["method"] == "initialize":
            return httpx.Response(200, json={"id": "init", "result": {}}, headers={"Mcp-Session-Id": "s"})
        if message["method"].startswith("notifications/"):
            return httpx.Response(202)
        if message["method"] == "tools/list":
            self.lists += 1
            return httpx.Response(200, json={"id": message["id"], "result": {"tools": self.tools}})
        self.calls.append(message["params"])
        if self.reply is not None:
            return self.reply(message)
        return httpx.Response(200, json={"id": message["id"], "result": {"content": []}})


def bridged(world: World, upstream: Upstream) -> None:
    endpoint = HttpEndpoint("http://kernel", transport=httpx.MockTransport(upstream))
    world.tools.parts.more["extension"] = Bridge(endpoint, ManualClock())


def siyuan() -> FakeHost:
    return FakeHost({"/api/system/version": "3.7.3"})


async def listed(world: World) -> dict[str, Any]:
    return (await world.call("extension", action="list", refresh=True)).structured or {}


# --- H01 ---


async def test_h01_one_malformed_tool_takes_nothing_from_the_others() -> None:
    good = {"name": "plugin__a__good", "source": "plugin", "inputSchema": OBJECT, "readOnlyHint": True}
    upstream = Upstream(
        [
            good,
            {**good, "name": "plugin__a__second", "outputSchema": None},
            {**good, "name": "plugin__a__third", "inputSchema": None},
            {"source": "plugin", "inputSchema": OBJECT},
            {**good, "name": "n" * 200},
            {**good, "name": "help"},
        ]
    )
    async with open_world(siyuan()) as world:
        bridged(world, upstream)
        world.host.configure('{"extension":{"includeNativeTools":true}}')
        told = await listed(world)
        rows = {row["name"]: row for row in told["tools"]}
        assert sorted(rows) == ["help", "plugin__a__good", "plugin__a__second", "plugin__a__third"]
        assert [row["degraded"] for row in rows.values()] == [False, False, False, True]
        assert rows["help"]["conflict"] == "reserved_action"
        assert told["unusable"] == [
            {"name": "", "reason": "no_name"},
            {"name": "n" * 64, "reason": "name_too_long"},
        ]
        tools = await world.tools.list_tools(CALLER)
        declared = next(tool for tool in tools if tool["name"] == "extension")
        actions = declared["inputSchema"]["properties"]["action"]["enum"]
        assert {"plugin__a__good", "plugin__a__second", "plugin__a__third"} <= set(actions)
        assert not any(len(action) > 128 for action in actions)
        assert {"document", "block", "fs"} <= {tool["name"] for tool in tools}
        for name in ("plugin__a__good", "plugin__a__second"):
            assert not (await world.call("extension", action=name)).is_error
        assert [call["name"] for call in upstream.calls] == ["plugin__a__good", "plugin__a__second"]


@pytest.mark.wire
async def test_h01_our_own_endpoint_leaves_out_a_schema_that_is_not_there(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        tools = (await official(notes, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).json()["result"]["tools"]
        assert len(tools) == 32
        assert not any("outputSchema" in tool for tool in tools)


# --- H04 ---

EXPECTED = {"pluginName": "example-plugin", "expectedToolNames": ["echo"], "expectedState": "present"}


async def test_h04_a_diagnosis_looks_anew_and_says_nothing_it_has_not_seen() -> None:
    echo = {"name": "plugin__example_plugin__echo", "source": "plugin", "inputSchema": OBJECT}
    upstream = Upstream([echo])
    async with open_world(siyuan()) as world:
        bridged(world, upstream)
        await listed(world)
        arguments = {"action": "plugin__example_plugin__echo"}
        assert (await world.tools.prepare("extension", arguments, CALLER)).confirmation is not None
        upstream.tools = []
        seen = (await world.call("extension", action="diagnose_plugin_mcp", **EXPECTED)).structured or {}
        assert (upstream.lists, seen["registered"], seen["expectation"]["met"]) == (2, False, False)
        upstream.is_down = True
        down = await world.call("extension", action="diagnose_plugin_mcp", **EXPECTED)
        assert down.is_error
        assert "registered" not in (down.structured or {})
        assert (upstream.lists, upstream.calls) == (2, [])


@pytest.mark.wire
async def test_h04_a_plugins_tool_appears_and_disappears_with_its_folder(open_notes: OpenNotes) -> None:
    folder = "/data/plugins/example-plugin"
    echo = {"name": "echo", "description": "Say it again", "inputSchema": OBJECT, "result": "$arguments.text"}
    async with open_notes() as notes:
        await notes.put_file(f"{folder}/plugin.json", json.dumps({"name": "example-plugin", "version": "1.0.0"}))
        await notes.put_file(f"{folder}/kernel-tools.json", json.dumps({"tools": [echo]}))
        seen = await notes.client.tool("extension", "diagnose_plugin_mcp", **EXPECTED)
        assert seen["structuredContent"]["expectation"]["met"] is True
        name = "plugin__example_plugin__echo"
        unconfirmed = await notes.client.tool("extension", name, era="old", arguments={"text": "hi"})
        assert code_of(unconfirmed) == "dangerous_action_requires_confirmation"
        said = await notes.client.tool("extension", name, era="old", arguments={"text": "hi"}, confirm=True)
        assert said["content"][0]["text"] == '"hi"'
        await notes.api("file/removeFile", path=folder)
        gone = await notes.client.tool("extension", "diagnose_plugin_mcp", **EXPECTED)
        assert gone["structuredContent"]["expectation"]["met"] is False


# --- H08 ---


def stream(text: str) -> Reply:
    headers = {"content-type": "text/event-stream"}
    return lambda message: httpx.Response(200, content=text.replace("ID", str(message["id"])).encode(), headers=headers)


RESULT = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"hi"}]}}'
NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
HALVES = RESULT.replace(',"result"', '\ndata: ,"result"')


@pytest.mark.parametrize(
    "text",
    [
        f"data: {RESULT}\n\ndata: {NOTICE}\n\n",
        f"event: progress\ndata: {NOTICE}\n\ndata: {RESULT}\n\n",
        f"data: {HALVES}\n\n",
        f": hello\n\n: again\ndata: {RESULT}\n: more\n\n",
        f"data: {NOTICE}\r\n\r\ndata: {RESULT}\r\n\r\n",
        f"data: {NOTICE}\r\rdata: {RESULT}\r\r",
        f"\ufeffdata: {RESULT}\n\n",
    ],
)
async def test_h08_the_message_with_our_id_is_found_in_a_stream(text: str) -> None:
    upstream = Upstream([{"name": "plugin__a__b", "source": "plugin", "inputSchema": OBJECT, "readOnlyHint": True}])
    upstream.reply = stream(text)
    async with open_world(siyuan()) as world:
        bridged(world, upstream)
        await listed(world)
        result = await world.call("extension", action="plugin__a__b")
        assert result.content == [{"type": "text", "text": "hi"}]


@pytest.mark.parametrize("text", [f"data: {RESULT[:40]}", f"data: {RESULT[:40]}\n\n", f"data: {NOTICE}\n\n", ""])
async def test_h08_a_result_that_is_cut_or_absent_leaves_the_outcome_open(text: str) -> None:
    upstream = Upstream([{"name": "plugin__a__b", "source": "plugin", "inputSchema": OBJECT, "readOnlyHint": True}])
    upstream.reply = stream(text)
    async with open_world(siyuan()) as world:
        bridged(world, upstream)
        await listed(world)
        told = (await world.call("extension", action="plugin__a__b")).structured or {}
        assert told["error"]["code"] == "outcome_unknown"
        assert told["writeAttempted"] is True
        assert len(upstream.calls) == 1


# --- B02, on the kernel's own endpoint ---


async def official(notes: Notes, message: Any) -> httpx.Response:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Content-Type": "application/json"}
    return await notes.http.post(f"{notes.kernel.url}/mcp", content=json.dumps(message), headers=headers)


@pytest.mark.wire
async def test_b02_a_null_id_is_a_notification_to_the_kernel_alone(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        for method in ("ping", "tools/list", "tools/call"):
            answer = await official(notes, {"jsonrpc": "2.0", "id": None, "method": method})
            assert (answer.status_code, answer.content) == (202, b"")
        for identifier in (True, 1.5, [], {}):
            answer = await official(notes, {"jsonrpc": "2.0", "id": identifier, "method": "ping"})
            assert answer.json() == {"jsonrpc": "2.0", "result": {}, "id": identifier}
        batch = await official(notes, [{"jsonrpc": "2.0", "id": 1, "method": "ping"}])
        assert (batch.status_code, batch.json()["error"]["code"]) == (200, -32700)
