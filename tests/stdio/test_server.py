"""The stdio server against a scripted coordinator: lines in, lines out, nothing lost and nothing twice."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from kernel.delegate.front import Front
from kernel.mcp.elicitation import question
from kernel.stdio.limits import LISTEN_AGAIN_S, MESSAGE_BYTES_MAX, OUTGOING_MAX
from kernel.stdio.server import Read, StdioServer, lines
from tests.delegate.world import (
    BREAK,
    Asked,
    FakeCoordinator,
    Said,
    World,
    events,
    open_world,
    result,
    said,
    tool_result,
)

META = "io.modelcontextprotocol/"
MODERN = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}}
TASK = "io.siyuan.sisyphus/taskId"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with open_world(monkeypatch) as opened:
        opened.coordinator.on("/mcp", by_method)
        opened.coordinator.on("discover", by_method)
        yield opened


async def by_method(asked: Asked) -> Said:
    method = asked.json["method"]
    if method == "tools/call":
        return said(tool_result(asked, success=True))
    if method == "server/discover":
        return said(result(asked, instructions="Read first.", supportedVersions=["2026-07-28"]))
    if method == "subscriptions/listen":
        return await never(asked)
    if method == "resources/read":
        error = {"code": -32602, "message": "Resource not found"}
        return said({"jsonrpc": "2.0", "id": asked.json["id"], "error": error}, 400)
    return said(result(asked, resultType="complete", tools=[]))


async def never(_asked: Asked) -> Said:
    await trio.sleep_forever()
    raise AssertionError


class Client:
    """The other end of the pipes."""

    def __init__(self, server: StdioServer, to_server: trio.MemorySendChannel[bytes]) -> None:
        self.server = server
        self.to_server = to_server
        self.out, self.lines = trio.open_memory_channel[Any](10_000)
        self.is_gone = False
        self.ended = trio.Event()

    async def write(self, data: bytes) -> None:
        await trio.lowlevel.checkpoint()
        if self.is_gone:
            raise BrokenPipeError
        assert data.count(b"\n") == 1
        self.out.send_nowait(json.loads(data))

    async def say(self, *messages: Any) -> None:
        for message in messages:
            await self.to_server.send(json.dumps(message).encode() + b"\n")

    async def ask(self, request_id: Any, method: str, **params: Any) -> None:
        await self.say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    async def heard(self) -> Any:
        return await self.lines.receive()

    async def answer(self, request_id: Any, method: str, **params: Any) -> Any:
        await self.ask(request_id, method, **params)
        told = await self.heard()
        assert told["id"] == request_id
        return told

    async def open(self, version: str = "2025-11-25") -> dict[str, Any]:
        told = await self.answer("hello", "initialize", **{**HELLO, "protocolVersion": version})
        await self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return told["result"]


@asynccontextmanager
async def client_of(world: World, folder: Path) -> AsyncIterator[Client]:
    to_server, from_client = trio.open_memory_channel[bytes](1000)

    async def read() -> bytes:
        try:
            return await from_client.receive()
        except trio.EndOfChannel:
            return b""

    server = StdioServer(Front(world.delegate, here=folder, home=folder), read, lambda data: client.write(data))
    client = Client(server, to_server)
    async with trio.open_nursery() as nursery:

        async def run() -> None:
            await server.run()
            client.ended.set()

        nursery.start_soon(run)
        yield client
        nursery.cancel_scope.cancel()


@pytest.fixture
async def client(world: World, tmp_path: Path) -> AsyncIterator[Client]:
    async with client_of(world, tmp_path) as opened:
        yield opened


def methods(coordinator: FakeCoordinator) -> list[str]:
    return [one.json["method"] for one in coordinator.calls() if one.json["method"] != "subscriptions/listen"]


async def test_a_handshake_session_lists_reads_and_calls(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    welcome = await client.open()
    assert (welcome["protocolVersion"], welcome["instructions"]) == ("2025-11-25", "Read first.")
    assert (await client.answer(0, "tools/list"))["result"] == {"tools": []}
    assert (await client.answer("", "ping"))["result"] == {}
    assert (await client.answer(2, "resources/read", uri="x:"))["error"]["code"] == -32002
    called = await client.answer(3, "tools/call", name="fs", arguments={"action": "read"})
    assert called["result"]["structuredContent"] == {"success": True}
    assert methods(world.coordinator) == ["tools/list", "resources/read", "tools/call"]


async def test_a_modern_client_needs_no_session_and_gets_the_answers_as_they_are(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    told = await client.answer(1, "tools/list", _meta=MODERN)
    assert told["result"]["resultType"] == "complete"
    await client.answer(2, "tools/call", _meta=MODERN, name="fs", arguments={"action": "read"})
    sent = world.coordinator.calls()[-1].json
    assert (sent["id"], set(MODERN) <= set(sent["params"]["_meta"])) == (2, True)
    assert sent["params"]["_meta"][TASK]


async def test_a_question_goes_to_a_modern_client_which_answers_it_itself(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    async def asks(asked: Asked) -> Said:
        if "requestState" in asked.json["params"]:
            return said(tool_result(asked, success=True))
        return said(result(asked, resultType="input_required", **question("Remove it?", "state")))

    world.coordinator.on("/mcp", asks)
    call = {"_meta": MODERN, "name": "fs", "arguments": {"action": "rm"}}
    asked = await client.answer(1, "tools/call", **call)
    assert asked["result"]["resultType"] == "input_required"
    done = await client.answer(2, "tools/call", **call, requestState="state", inputResponses={})
    assert done["result"]["structuredContent"] == {"success": True}


async def test_a_client_may_come_before_its_kernel(autojump_clock: MockClock, world: World, client: Client) -> None:
    world.coordinator.is_there = False
    assert "instructions" not in await client.open()
    told = await client.answer(1, "tools/call", name="fs", arguments={"action": "rm"})
    assert told["result"]["structuredContent"]["error"]["code"] == "write_coordinator_unavailable"
    told = await client.answer(2, "tools/list")
    assert (told["error"]["code"], told["error"]["data"]["code"]) == (-32603, "host_unavailable")
    world.coordinator.is_there = True
    assert (await client.answer(3, "tools/call", name="fs", arguments={"action": "rm"}))["result"]["content"]


async def test_a_lost_answer_is_recovered_or_told_with_its_task(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    """R246, R251."""
    kept = {"found": True, "state": "done", "result": {"content": [], "structuredContent": {"late": True}}}
    world.coordinator.on("/mcp", BREAK)
    world.coordinator.on("/tasks", said(kept), said({"found": False}))
    call = {"name": "fs", "arguments": {"action": "rm"}}
    assert (await client.answer(1, "tools/call", **call))["result"]["structuredContent"] == {"late": True}
    told = (await client.answer(2, "tools/call", **call))["result"]["structuredContent"]
    assert told["error"]["code"] == "outcome_unknown"
    assert told["error"]["taskId"] == world.coordinator.calls()[-1].json["params"]["_meta"][TASK]
    assert len(world.coordinator.calls()) == 2


async def test_a_task_id_of_the_clients_own_stands(autojump_clock: MockClock, world: World, client: Client) -> None:
    own = "0B0D7C3E-1111-4111-8111-111111111111"
    await client.answer(1, "tools/call", name="fs", arguments={}, _meta={TASK: own, **MODERN})
    assert world.coordinator.calls()[-1].json["params"]["_meta"][TASK] == own.lower()


@pytest.mark.parametrize("request_id", [7, "7"])
async def test_a_cancel_of_a_call_goes_to_the_coordinator_and_the_call_is_answered(
    autojump_clock: MockClock, world: World, client: Client, request_id: Any
) -> None:
    """R219, R220."""
    stopped = trio.Event()

    async def runs(asked: Asked) -> Said:
        await stopped.wait()
        return said(tool_result(asked, stopped=True))

    async def stop(_asked: Asked) -> Said:
        stopped.set()
        return said({"found": True, "accepted": True})

    world.coordinator.on("/mcp", runs)
    world.coordinator.on("/tasks", stop)
    await client.ask(request_id, "tools/call", name="fs", arguments={"action": "rm"})
    await trio.testing.wait_all_tasks_blocked()
    other = "7" if request_id == 7 else 7
    await client.say(cancelled(other), cancelled(request_id))
    told = await client.heard()
    assert (told["id"], told["result"]["structuredContent"]) == (request_id, {"stopped": True})
    assert world.coordinator.operations() == ["cancel"]
    assert len(world.coordinator.calls()) == 1


def cancelled(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


async def test_a_cancelled_list_is_not_answered(autojump_clock: MockClock, world: World, client: Client) -> None:
    world.coordinator.on("/mcp", never)
    await client.ask(1, "tools/list", _meta=MODERN)
    await trio.testing.wait_all_tasks_blocked()
    await client.say(cancelled(1))
    world.coordinator.on("/mcp", by_method)
    assert (await client.answer(2, "tools/list", _meta=MODERN))["result"]["tools"] == []
    assert (await client.answer(1, "tools/list", _meta=MODERN))["result"]["tools"] == []


async def test_what_the_call_says_meanwhile_comes_before_its_answer(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    async def reports(asked: Asked) -> Said:
        token = asked.json["params"]["_meta"]["progressToken"]
        params = {"progressToken": token, "progress": 1}
        progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        return events(progress, tool_result(asked, success=True))

    world.coordinator.on("/mcp", reports)
    await client.ask(1, "tools/call", name="fs", arguments={}, _meta={**MODERN, "progressToken": "p"})
    assert (await client.heard())["params"]["progressToken"] == "p"
    assert (await client.heard())["id"] == 1


async def test_changes_of_the_list_are_told_and_the_stream_is_opened_again(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    change = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {"x": 1}}}

    async def told(asked: Asked) -> Said:
        if asked.json["method"] != "subscriptions/listen":
            return await by_method(asked)
        return events({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}, change, breaks=True)

    world.coordinator.on("/mcp", told)
    await client.open()
    started = trio.current_time()
    bare = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    assert [await client.heard(), await client.heard()] == [bare, bare]
    assert trio.current_time() - started == pytest.approx(LISTEN_AGAIN_S)
    # Saying it twice does not open a second stream.
    await client.say({"jsonrpc": "2.0", "method": "notifications/initialized"})


async def test_a_client_that_has_a_list_is_told_that_it_may_be_old_once_somebody_listens_again(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    """What changed while its coordinator was away, nobody else will tell."""
    beginnings = 0
    listens_for_good = trio.Event()

    async def told(asked: Asked) -> Said:
        nonlocal beginnings
        if asked.json["method"] != "subscriptions/listen":
            return await by_method(asked)
        beginnings += 1
        if beginnings > 2:
            listens_for_good.set()
            return await never(asked)
        return events({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}, breaks=True)

    world.coordinator.on("/mcp", told)
    await client.open()
    await trio.testing.wait_all_tasks_blocked()
    assert beginnings == 1  # acknowledged before the client had a list: nothing is old
    assert (await client.answer(1, "tools/list"))["result"] == {"tools": []}
    await listens_for_good.wait()
    assert await client.heard() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    assert (await client.answer(2, "ping"))["result"] == {}


async def test_a_batch_is_answered_in_one_line_where_there_are_batches(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    await client.open("2025-03-26")
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        5,
    ]
    await client.say(batch)
    answers = await client.heard()
    assert sorted(str(one.get("id")) for one in answers) == ["1", "2", "2", "None"]
    await client.say([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
    assert (await client.answer(3, "ping"))["result"] == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [(b"{", -32700), (b"[]", -32600), (b"5", -32600), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600)],
)
async def test_a_line_that_is_no_message_is_answered_and_the_next_is_read(
    autojump_clock: MockClock, world: World, client: Client, line: bytes, code: int
) -> None:
    await client.to_server.send(line + b"\n\n  \r\n")
    assert (await client.heard())["error"]["code"] == code
    assert (await client.answer(1, "tools/list", _meta=MODERN))["result"]["tools"] == []


async def test_replies_to_nothing_are_ignored(autojump_clock: MockClock, world: World, client: Client) -> None:
    await client.say({"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "method": "notifications/x"})
    assert (await client.answer(1, "tools/list", _meta=MODERN))["result"]["tools"] == []


async def test_a_second_call_with_an_id_in_flight_is_refused(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    world.coordinator.on("/mcp", never)
    call = {"name": "fs", "arguments": {"action": "rm"}}
    await client.ask(1, "tools/call", **call)
    told = await client.answer(1, "tools/call", **call)
    assert told["result"]["structuredContent"]["error"]["code"] == "duplicate_request"


async def test_the_end_of_input_lets_what_is_under_way_be_answered(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    async def slow(asked: Asked) -> Said:
        await trio.sleep(5)
        return await by_method(asked)

    world.coordinator.on("/mcp", slow)
    await client.say({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MODERN}})
    await client.to_server.send(
        b'{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":%s}}' % json.dumps(MODERN).encode()
    )
    await client.to_server.aclose()
    await client.ended.wait()
    assert {(await client.heard())["id"], (await client.heard())["id"]} == {1, 2}


async def test_stopping_cancels_what_is_under_way_and_waits_for_its_answer(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    """R219: SIGTERM."""
    stopped = trio.Event()

    async def runs(asked: Asked) -> Said:
        await stopped.wait()
        return said(tool_result(asked, stopped=True))

    async def stop(_asked: Asked) -> Said:
        stopped.set()
        return said({"found": True})

    world.coordinator.on("/mcp", runs)
    world.coordinator.on("/tasks", stop)
    await client.ask(1, "tools/call", name="fs", arguments={"action": "rm"})
    await trio.testing.wait_all_tasks_blocked()
    client.server.stop()
    await client.ended.wait()
    assert (await client.heard())["result"]["structuredContent"] == {"stopped": True}


async def test_a_client_that_is_gone_ends_the_process_and_sends_nothing_again(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    client.is_gone = True
    await client.ask(1, "tools/call", name="fs", arguments={"action": "rm"})
    await client.ended.wait()
    assert len(world.coordinator.calls()) == 1


async def test_notifications_wait_for_a_slow_reader_up_to_their_bound(
    autojump_clock: MockClock, world: World, client: Client
) -> None:
    async def floods(asked: Asked) -> Said:
        told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
        return events(*[told] * (OUTGOING_MAX + 20), tool_result(asked, success=True))

    reading = trio.Event()
    write = client.write

    async def slow(data: bytes) -> None:
        await reading.wait()
        await write(data)

    client.write = slow  # type: ignore[method-assign]
    world.coordinator.on("/mcp", floods)
    await client.ask(1, "tools/call", name="fs", arguments={})
    await trio.testing.wait_all_tasks_blocked()
    reading.set()
    count = 0
    while "id" not in await client.heard():
        count += 1
    assert OUTGOING_MAX <= count <= OUTGOING_MAX + 1


async def test_lines_are_read_whatever_the_pieces_are() -> None:
    pieces = [b"", b"b\r\nc", b"a\n\nb"]

    async def read() -> bytes:
        await trio.lowlevel.checkpoint()
        return pieces.pop()

    assert [line async for line in lines(read)] == [b"a", b"bb", b"c"]


async def test_a_line_of_the_greatest_length_is_read_and_a_byte_more_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound itself is 36 MiB; a smaller one here, for speed."""
    assert MESSAGE_BYTES_MAX == 36 * 1024 * 1024
    monkeypatch.setattr("kernel.stdio.server.MESSAGE_BYTES_MAX", 1 << 20)
    piece = b"x" * (1 << 16)
    pieces = [piece] * 16

    def reader(*rest: bytes) -> Read:
        left = [*pieces, *rest]

        async def read() -> bytes:
            await trio.lowlevel.checkpoint()
            return left.pop(0) if left else b""

        return read

    assert [len(line) async for line in lines(reader(b"\n"))] == [1 << 20]
    assert [line async for line in lines(reader(b"x"))] == [None]
    assert [line async for line in lines(reader(b"x", piece, piece + b"\nnext\n", b"last"))] == [None, b"next", b"last"]
    assert [line async for line in lines(reader(b"\n" + b"y" * ((1 << 20) + 1) + b"\nnext\n"))][1:] == [None, b"next"]


async def test_too_long_a_message_is_told_and_costs_no_other(
    autojump_clock: MockClock, world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernel.stdio.server.MESSAGE_BYTES_MAX", 10)
    await client.to_server.send(b"x" * 11)
    assert (await client.heard())["error"]["code"] == -32700
    await client.to_server.send(b'x" {\n[]\n')
    assert (await client.heard())["error"]["message"] == "Invalid Request: an empty batch"
