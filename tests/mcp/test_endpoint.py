"""Both eras on one URL, from bytes to bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import trio

from kernel.tools.service import Caller, Prepared
from tests.mcp.world import (
    BOTH,
    MODERN,
    Tools,
    initialize_message,
    modern_body,
    modern_headers,
    old_headers,
    open_world,
)


async def test_a_modern_client_lists_and_calls_tools_without_any_session() -> None:
    async with open_world() as world:
        listed = await world.modern("tools/list")
        assert listed.status == 200
        assert [tool["name"] for tool in listed.result["tools"]] == ["echo", "slow", "write", "wipe"]
        assert listed.result["resultType"] == "complete"
        assert listed.result["cacheScope"] == "private"
        assert isinstance(listed.result["ttlMs"], int)
        called = await world.call("echo", {"a": 1}, id="x")
        assert called.message["id"] == "x"
        assert called.result["structuredContent"] == {"tool": "echo", "arguments": {"a": 1}}
        assert called.result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "sisyphus-kernel"
        assert "mcp-session-id" not in called.headers


async def test_a_handshake_client_lists_and_calls_tools_in_its_session_without_modern_words() -> None:
    async with open_world() as world:
        session = await world.initialize()
        ready = await world.post_old(session, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (ready.status, ready.body) == (202, b"")
        for reply in (await world.old(session, "tools/list"), await world.old_call(session, "echo")):
            assert reply.status == 200
            text = reply.body.decode()
            for word in ("resultType", "ttlMs", "cacheScope", "io.modelcontextprotocol/"):
                assert word not in text


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        (MODERN, "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
async def test_initialize_negotiates_the_revision(asked: str, answered: str) -> None:
    async with open_world() as world:
        reply = await world.post_old(None, initialize_message(asked))
        assert reply.result["protocolVersion"] == answered
        assert reply.message["id"] == 0
        assert all(0x21 <= ord(char) <= 0x7E for char in reply.headers["mcp-session-id"])


async def test_large_bodies_are_parsed_in_a_thread_and_answered_like_small_ones() -> None:
    ran: list[int] = []

    async def run(parse: object, body: bytes) -> object:
        ran.append(len(body))
        await trio.lowlevel.checkpoint()
        return parse(body)  # type: ignore[operator]

    async with open_world(run_in_thread=run) as world:
        reply = await world.call("echo", {"text": "x" * 70_000})
        assert len(reply.result["structuredContent"]["arguments"]["text"]) == 70_000
        assert len(ran) == 1
        await world.call("echo")
        assert len(ran) == 1


async def test_other_verbs_are_not_allowed() -> None:
    async with open_world() as world:
        for verb in ("PUT", "PATCH", "HEAD"):
            reply = await world.ask(verb, old_headers(None))
            assert (reply.status, reply.headers["allow"]) == (405, "GET, POST, DELETE")
        for verb in ("GET", "DELETE"):
            reply = await world.ask(verb, old_headers(None, {"MCP-Protocol-Version": MODERN}))
            assert (reply.status, reply.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("accept", "type_"),
    [
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("application/json", "application/json"),
        (BOTH, "application/json"),
        ("text/event-stream, application/json", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("application/json;q=0, text/event-stream", "text/event-stream"),
        ("text/*", "text/event-stream"),
    ],
)
async def test_an_answer_has_a_type_that_the_client_takes(accept: str, type_: str) -> None:
    async with open_world() as world:
        for reply in (await world.modern("tools/list", accept=accept), await world.call("echo", accept=accept)):
            assert reply.status == 200
            assert reply.headers["content-type"] == type_
            assert "result" in reply.message


async def test_a_client_that_says_nothing_of_types_gets_json_and_a_picky_one_406() -> None:
    async with open_world() as world:
        headers = [item for item in modern_headers("tools/list") if item[0] != "Accept"]
        reply = await world.ask("POST", headers, modern_body("tools/list"))
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
        assert (await world.modern("tools/list", accept="text/html")).status == 406
        assert (await world.modern("tools/list", headers={"Content-Type": "text/plain"})).status == 415


async def test_an_unforeseen_error_keeps_its_text_in_the_log() -> None:
    async with open_world() as world:
        for tool in ("crash", "odd"):
            reply = await world.call(tool)
            assert reply.rpc == (-32603, 200)
            assert json.loads(reply.body)["error"]["message"] == "Internal error"
            assert b"secret" not in reply.body


async def test_an_unforeseen_error_outside_the_lanes_is_an_internal_error_too() -> None:
    class Broken(Tools):
        async def list_prompts(self, caller: Caller) -> list[dict[str, Any]]:
            raise RuntimeError("secret text")

        async def prepare(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Prepared:
            raise RuntimeError("secret text")

    async with open_world(Broken()) as world:
        for reply in (
            await world.modern("prompts/list"),
            await world.call("echo"),
            await world.old(None, "prompts/list"),
            await world.old_call(None, "echo"),
        ):
            assert reply.rpc == (-32603, 200)
            assert b"secret" not in reply.body
        assert world.scheduler.statistics().in_flight == 0


async def test_unreadable_instructions_do_not_end_a_start() -> None:
    class Mute(Tools):
        async def instructions(self, caller: Caller) -> str:
            raise OSError("unreadable")

    async with open_world(Mute()) as world:
        assert "instructions" not in (await world.modern("server/discover")).result
        session = await world.initialize()
        assert (await world.old(session, "ping")).status == 200
