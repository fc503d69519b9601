"""Bug cases of the kinds ``host-origin``, ``modern-era``, ``json-values`` and ``list-changed``, over real sockets."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import trio

from kernel.plugin_routes import LONG_PREFIX, SHORT_PREFIX
from tests.cases.conftest import OpenNotes
from tests.support.client import META, modern_message
from tests.support.notes import STORAGE, Notes, code_of

pytestmark = pytest.mark.wire

ROUTES = [
    f"{prefix}/{name}"
    for prefix in (LONG_PREFIX, SHORT_PREFIX)
    for name in ("mcp", "tasks", "health", "transfer/upload", "transfer/lookup")
]
PAGE = "http://app.test:8000"
ASKED = ("content-type", "authorization", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


async def raw_status(notes: Notes, head: str) -> tuple[int, str]:
    """Status and body of one request as bytes, on a connection of its own."""
    parsed = httpx.URL(notes.kernel.url)
    stream = await trio.open_tcp_stream(parsed.host, parsed.port or 80)
    async with stream:
        await stream.send_all(f"{head}Connection: close\r\n\r\n".encode())
        answer = b""
        with trio.fail_after(90):
            while piece := await stream.receive_some():
                answer += piece
    return int(answer.split()[1]), answer.decode()


async def test_e06_one_host_check_stands_before_every_route(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        port = httpx.URL(notes.kernel.url).port
        good = [f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"]
        evil = ["evil.test", f"evil.test:{port}", f"127.0.0.1.evil.test:{port}"]
        for route in ROUTES:
            for host in good:
                status, _ = await raw_status(notes, f"GET {route} HTTP/1.1\r\nHost: {host}\r\n")
                assert status not in (400, 421) or route.endswith("/mcp"), (route, host)
                assert status != 421, (route, host)
            for host in evil:
                status, text = await raw_status(notes, f"GET {route} HTTP/1.1\r\nHost: {host}\r\n")
                assert status == 421, (route, host)
                assert "--allowed-host" in text
            assert (await raw_status(notes, f"GET {route} HTTP/1.1\r\n"))[0] == 400


async def test_e08_an_allowed_page_may_ask_and_read_and_a_foreign_one_may_not(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        options = {"kernelOptions": {"allowedOrigins": [PAGE]}}
        await notes.put_file(f"{STORAGE}/mcpHttpSettings", json.dumps(options))
        asking = {"Access-Control-Request-Method": "DELETE", "Access-Control-Request-Headers": ", ".join(ASKED)}
        flown = await notes.http.options(notes.kernel.mcp, headers={"Origin": PAGE, **asking})
        assert flown.status_code == 204
        assert set(ASKED) <= set(flown.headers["access-control-allow-headers"].split(", "))
        assert {"POST", "GET", "DELETE"} <= set(flown.headers["access-control-allow-methods"].split(", "))
        accept = {"Accept": "application/json, text/event-stream"}
        first = await notes.http.post(notes.kernel.mcp, json=INITIALIZE, headers={**accept, "Origin": PAGE})
        assert first.headers["access-control-allow-origin"] == PAGE
        assert "mcp-session-id" in first.headers["access-control-expose-headers"].lower()
        assert "Origin" in first.headers["vary"]
        session = {**accept, "Origin": PAGE, "Mcp-Session-Id": first.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await notes.http.post(notes.kernel.mcp, json=ping, headers=session)).status_code == 200
        before = (await notes.health())["events"]["sessions"]
        other = {**accept, "Origin": "http://other.test"}
        refused = await notes.http.post(notes.kernel.mcp, json=INITIALIZE, headers=other)
        assert refused.status_code == 403
        assert "mcp-session-id" not in refused.headers
        assert "access-control-allow-origin" not in refused.headers
        assert (await notes.health())["events"]["sessions"] == before
        api = await notes.http.options(f"{notes.kernel.url}/api/block/getBlockInfo", headers={"Origin": PAGE, **asking})
        assert (api.status_code, api.headers["access-control-allow-origin"]) == (204, "*")
        assert api.headers["access-control-max-age"] == "600"


async def test_f03_an_unsupported_version_names_what_is_served(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        for asked in ("2031-01-01", "v999.0.0"):
            headers, body = modern_message("r", "tools/list", None, **{f"{META}protocolVersion": asked})
            answer = await notes.http.post(
                notes.kernel.mcp, headers={**headers, "MCP-Protocol-Version": asked}, json=body
            )
            told = answer.json()
            assert (answer.status_code, told["error"]["code"], told["id"]) == (400, -32022, "r")
            assert told["error"]["data"] == {"supported": ["2026-07-28"], "requested": asked}
            assert "Unsupported protocol version" in told["error"]["message"]


async def test_b07_b09_what_json_cannot_carry_is_refused_and_the_next_request_works(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        arguments = {"action": "update", "id": notes.ids["P1"], "dataType": "markdown", "data": "DATA"}
        for word in ('"\\ud83d tail"', "NaN", "-Infinity", "1e400"):
            headers, body = modern_message(1, "tools/call", {"name": "block", "arguments": arguments})
            content = json.dumps(body).replace('"DATA"', word).encode()
            headers = {**headers, "Content-Type": "application/json"}
            answer = await notes.http.post(notes.kernel.mcp, headers=headers, content=content)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700), word
            assert code_of(await notes.client.tool("system", "get_version")) is None
        url = f"{notes.kernel.url}/api/block/updateBlock"
        half = json.dumps({**arguments, "data": "DATA"}).replace('"DATA"', '"\\ud83d tail"').encode()
        answer = (await notes.http.post(url, content=half)).json()
        assert answer["code"] == 0
        assert await notes.text("P1") == "\ufffd tail"
        nan = await notes.http.post(f"{notes.kernel.url}/api/block/getBlockInfo", content=b'{"id":NaN}')
        assert nan.json()["code"] == -1


async def test_h06_lists_and_calls_follow_the_configuration_of_their_moment(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        await notes.client.open()
        off: dict[str, Any] = {"tag": {"actions": {"rename": False}}}
        await notes.put_file(f"{STORAGE}/mcpToolsConfig", json.dumps(off))
        assert "rename" not in await tag_actions(notes)
        await notes.watch("tag/renameTag")
        stale = await notes.client.tool("tag", "rename", era="old", oldLabel="a", newLabel="b", validateOnly=True)
        assert code_of(stale) == "action_disabled"
        assert await notes.count("tag/renameTag") == 0
        await notes.put_file(f"{STORAGE}/mcpToolsConfig", json.dumps({}))
        assert "rename" in await tag_actions(notes)


async def tag_actions(notes: Notes) -> list[str]:
    tools = (await notes.client.old(5, "tools/list"))["result"]["tools"]
    return list(next(tool for tool in tools if tool["name"] == "tag")["inputSchema"]["properties"]["action"]["enum"])
