"""The protocol's edges that belong to no other file (mcp-requirements 10)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import trio

from kernel.errors import ToolError
from kernel.mcp.jsonrpc import ProtocolError
from kernel.tools.service import Caller, Prepared, ToolResult
from scheduler import Ticket
from tests.mcp.world import CLIENT, Tools, modern_body, modern_headers, old_headers, open_world


class Failing(Tools):
    """``echo`` speaks first and then fails as told."""

    def __init__(self, error: Exception, *, speaks: bool) -> None:
        super().__init__()
        self.error = error
        self.speaks = speaks

    async def perform(self, prepared: Prepared, ticket: Ticket, caller: Caller) -> ToolResult:
        if self.speaks and caller.channel is not None:
            caller.channel.progress(1)
            await trio.lowlevel.checkpoint()
        raise self.error


@pytest.mark.parametrize("era", ["modern", "handshake"])
@pytest.mark.parametrize("speaks", [True, False])
async def test_an_error_keeps_its_status_until_the_stream_is_committed(era: str, speaks: bool) -> None:
    async with open_world(Failing(ProtocolError(-32602, "no"), speaks=speaks)) as world:
        meta = {"progressToken": 1}
        if era == "modern":
            reply = await world.call("echo", meta=meta)
        else:
            reply = await world.old(None, "tools/call", {"name": "echo", "_meta": meta})
        assert reply.messages[-1]["error"]["code"] == -32602
        assert reply.status == (400 if era == "modern" and not speaks else 200)
        assert (reply.headers["content-type"] == "text/event-stream") is speaks


async def test_a_tool_error_that_escapes_is_a_result_all_the_same() -> None:
    async with open_world(Failing(ToolError("api_error", "the kernel said no"), speaks=False)) as world:
        assert (await world.call("echo")).code == "api_error"

    class Strict(Tools):
        async def prepare(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Prepared:
            raise ToolError("permission_denied", "not this notebook")

    async with open_world(Strict()) as world:
        assert (await world.call("echo")).code == "permission_denied"
        assert world.scheduler.statistics().in_flight == 0


async def test_an_initialize_without_an_id_is_a_notification_and_opens_nothing() -> None:
    async with open_world() as world:
        body = {"jsonrpc": "2.0", "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
        reply = await world.post_old(None, body)
        assert (reply.status, reply.body) == (202, b"")
        assert len(world.endpoint.sessions) == 0


async def test_a_session_is_deleted_once() -> None:
    async with open_world() as world:
        session = await world.initialize()
        headers = old_headers(session)
        assert [(await world.ask("DELETE", headers)).status for _ in range(2)] == [200, 404]


async def test_a_session_speaks_its_own_revision_whatever_the_header_says() -> None:
    async with open_world() as world:
        session = await world.initialize("2025-03-26")
        pings = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
        reply = await world.post_old(session, pings, headers={"MCP-Protocol-Version": "2025-11-25"})
        assert reply.status == 200
        newer = await world.initialize("2025-11-25")
        reply = await world.post_old(newer, pings, headers={"MCP-Protocol-Version": "2025-03-26"})
        assert reply.rpc == (-32600, 400)


@pytest.mark.parametrize("version", ["1999-01-01", "garbage", ""])
async def test_an_invalid_version_of_a_handshake_client_is_refused_with_the_words_it_looks_for(version: str) -> None:
    async with open_world() as world:
        session = await world.initialize()
        reply = await world.old(session, "ping", headers={"MCP-Protocol-Version": version})
        assert reply.status == 400
        assert "Unsupported protocol version" in reply.error["message"]


@pytest.mark.parametrize("info", [None, "text", 5, [], {"name": 5}])
async def test_a_client_info_of_any_shape_is_served(info: Any) -> None:
    async with open_world() as world:
        assert (await world.call("echo", meta={CLIENT: info})).status == 200


async def test_optional_white_space_and_the_case_of_header_names_do_not_matter() -> None:
    async with open_world() as world:
        params = {"name": "echo", "arguments": {}}
        headers = [(name.swapcase(), value) for name, value in modern_headers("tools/call", params)]
        assert (await world.ask("POST", headers, modern_body("tools/call", params))).status == 200


async def test_every_modern_error_echoes_the_id_with_its_type() -> None:
    async with open_world() as world:
        for id in (0, "", "x", 2**60):  # noqa: A001
            replies = [
                await world.modern("no/such", id=id),
                await world.modern("tools/list", id=id, headers={"Mcp-Method": "x"}),
                await world.modern("tools/list", {"cursor": "x"}, id=id),
                await world.modern("tools/list", id=id, capabilities=[]),
                await world.modern("tools/call", {"name": 5}, id=id),
            ]
            for reply in replies:
                assert reply.status in (400, 404)
                assert json.dumps(reply.message["id"]) == json.dumps(id)


async def test_a_posted_reply_to_nothing_is_accepted_in_a_session() -> None:
    async with open_world() as world:
        session = await world.initialize()
        for id in (1, "nothing", 0):  # noqa: A001
            reply = await world.post_old(session, {"jsonrpc": "2.0", "id": id, "result": {}})
            assert (reply.status, reply.body) == (202, b"")
