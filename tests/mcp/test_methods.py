"""Era × method: what is served where, and with which answer."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.mcp.world import BOTH, Tools, open_world

REF = {"ref": {"type": "ref/prompt", "name": "tidy"}, "argument": {"name": "a", "value": "v"}}

SERVED = "served"
# method, params, modern, handshake: SERVED or the JSON-RPC code (HTTP status follows from the era).
TABLE: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("server/discover", {}, SERVED, -32601),
    ("tools/list", {}, SERVED, SERVED),
    ("tools/call", {"name": "echo"}, SERVED, SERVED),
    ("tools/call", {"name": "help"}, SERVED, SERVED),
    ("tools/call", {}, -32602, -32602),
    ("resources/list", {}, SERVED, SERVED),
    ("resources/templates/list", {}, SERVED, SERVED),
    ("resources/read", {"uri": "help://rules"}, SERVED, SERVED),
    ("resources/read", {"uri": "help://none"}, -32602, -32002),
    ("skills/list", {}, -32601, -32601),
    ("skills/get", {"uri": "skill://none/SKILL.md"}, -32601, -32601),
    ("skills/get", {}, -32602, -32602),
    ("prompts/list", {}, SERVED, SERVED),
    ("prompts/get", {"name": "tidy"}, SERVED, SERVED),
    ("prompts/get", {"name": "none"}, -32602, -32602),
    ("completion/complete", REF, SERVED, SERVED),
    ("completion/complete", {}, -32602, -32602),
    ("initialize", {}, -32601, None),
    ("ping", {}, -32601, SERVED),
    ("logging/setLevel", {"level": "debug"}, -32601, SERVED),
    ("logging/setLevel", {"level": "loud"}, -32601, -32602),
    ("resources/subscribe", {"uri": "u"}, -32601, -32601),
    ("resources/unsubscribe", {"uri": "u"}, -32601, -32601),
    ("notifications/initialized", {}, -32601, -32601),
    ("sampling/createMessage", {}, -32601, -32601),
    ("tasks/get", {}, -32602, -32601),
    ("tasks/get", {"taskId": "x"}, -32021, -32601),
    ("tasks/update", {"taskId": "x"}, -32602, -32601),
    ("tasks/update", {"taskId": "x", "inputResponses": {}}, -32021, -32601),
    ("tasks/cancel", {"taskId": "x"}, -32021, -32601),
    ("tasks/result", {"taskId": "x"}, -32601, -32601),
    ("tasks/list", {}, -32601, -32601),
    ("no/such", {}, -32601, -32601),
]


@pytest.mark.parametrize(("method", "params", "modern", "handshake"), TABLE)
async def test_each_era_serves_its_own_methods(
    method: str, params: dict[str, Any], modern: Any, handshake: Any
) -> None:
    async with open_world() as world:
        reply = await world.modern(method, params, id="m")
        assert reply.message["id"] == "m"
        if modern is SERVED:
            assert (reply.status, reply.result["resultType"]) == (200, "complete")
        else:
            assert reply.rpc == (modern, 404 if modern == -32601 else 400)
        session = await world.initialize()
        for place in (session, None) if handshake is not None else ():
            reply = await world.old(place, method, params, id=0)
            assert (reply.status, reply.message["id"]) == (200, 0)
            assert ("result" in reply.message) == (handshake is SERVED)
            if handshake is not SERVED:
                assert reply.error["code"] == handshake


async def test_a_missing_resource_is_named_in_both_eras() -> None:
    async with open_world() as world:
        params = {"uri": "help://none"}
        assert (await world.modern("resources/read", params)).error["data"] == params
        assert (await world.old(None, "resources/read", params)).error["data"] == params


async def test_completions_are_cut_at_the_protocols_bound_and_say_so() -> None:
    async with open_world() as world:
        completion = (await world.modern("completion/complete", REF)).result["completion"]
        assert len(completion["values"]) == 100
        assert (completion["total"], completion["hasMore"]) == (120, True)


async def test_discovery_says_who_serves_what() -> None:
    async with open_world() as world:
        result = (await world.modern("server/discover", id="probe")).result
        assert result["supportedVersions"] == ["2026-07-28"]
        assert result["instructions"] == "Read before you write."
        assert result["capabilities"]["tools"] == {"listChanged": True}
        assert "serverInfo" not in result
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "sisyphus-kernel"


async def test_a_level_is_set_per_session() -> None:
    async with open_world() as world:
        world.tools.release.set()
        chatty, quiet = await world.initialize(), await world.initialize()
        await world.old(chatty, "logging/setLevel", {"level": "info"})
        for session, levels in ((chatty, ["info", "error"]), (quiet, [])):
            reply = await world.old_call(session, "chatty", accept=BOTH)
            logged = [message for message in reply.messages if message.get("method") == "notifications/message"]
            assert [message["params"]["level"] for message in logged] == levels
            assert reply.messages[-1]["id"] == 1


@pytest.mark.parametrize("era", ["modern", "handshake"])
async def test_progress_grows_echoes_its_token_and_comes_before_the_answer(era: str) -> None:
    async with open_world() as world:
        world.tools.release.set()
        params = {"name": "chatty", "arguments": {}, "_meta": {"progressToken": 0}}
        if era == "modern":
            reply = await world.call("chatty", meta={"progressToken": 0})
        else:
            reply = await world.old(await world.initialize(), "tools/call", params)
        *notes, last = reply.messages
        assert reply.headers["content-type"] == "text/event-stream"
        assert [note["params"] for note in notes] == [
            {"progressToken": 0, "progress": step, "total": 3, "message": f"step {step}"} for step in (1, 2, 3)
        ]
        assert type(notes[0]["params"]["progressToken"]) is int
        assert "result" in last


async def test_a_modern_log_level_is_the_requests_own() -> None:
    async with open_world() as world:
        world.tools.release.set()
        reply = await world.call("chatty", meta={"io.modelcontextprotocol/logLevel": "warning"})
        note, _ = reply.messages
        assert note["params"] == {"level": "error", "data": "loud", "logger": "notes"}
        assert len((await world.call("chatty")).messages) == 1


async def test_a_client_that_takes_only_json_gets_only_the_answer() -> None:
    async with open_world() as world:
        world.tools.release.set()
        reply = await world.call("chatty", meta={"progressToken": 0}, accept="application/json")
        assert reply.headers["content-type"] == "application/json"
        assert "result" in reply.message


async def test_a_callers_declaration_reaches_the_tools_in_both_eras() -> None:
    seen: list[Any] = []

    class Nosy(Tools):
        async def list_tools(self, caller: Any) -> list[dict[str, Any]]:
            seen.append(caller)
            return []

    apps = {"extensions": {"io.modelcontextprotocol/ui": {}}}
    async with open_world(Nosy()) as world:
        await world.modern(
            "tools/list",
            capabilities={**apps, "elicitation": {}},
            meta={"io.modelcontextprotocol/clientInfo": {"name": "c", "version": "2"}},
        )
        session = await world.initialize(capabilities={**apps, "elicitation": {}})
        await world.old(session, "tools/list")
        await world.old(None, "tools/list")
    modern, handshake, bare = seen
    assert (modern.era, modern.client, modern.session_id) == ("modern", "c/2", None)
    assert (modern.has_apps, modern.has_form_elicitation) == (True, True)
    assert (handshake.era, handshake.client, handshake.session_id) == ("handshake", "t/1", session)
    # Handshake clients confirm with confirm:true, whatever they declare (decision 22).
    assert (handshake.has_apps, handshake.has_form_elicitation) == (True, False)
    assert (bare.era, bare.client, bare.session_id) == ("handshake", "", None)


async def test_skills_are_served_and_declared_while_they_are_switched_on() -> None:
    skill = {"uri": "skill://tidy/SKILL.md", "frontmatter": {"name": "tidy", "description": "Tidy."}, "resources": []}
    async with open_world() as world:
        world.tools.skills = [skill]
        session = await world.initialize()
        for ask in (world.modern, partial(world.old, session)):
            listed = (await ask("skills/list", {})).result
            assert (listed["skills"], listed["ttlMs"], listed["cacheScope"]) == ([skill], 300_000, "public")
            assert (await ask("skills/get", {"uri": skill["uri"]})).result["skill"] == skill
            assert (await ask("skills/get", {"uri": "skill://none/SKILL.md"})).rpc[0] == -32602
        found = (await world.modern("server/discover", {})).result
        assert found["capabilities"]["extensions"]["io.modelcontextprotocol/skills"] == {"directoryRead": False}
        world.tools.skills = None
        found = (await world.modern("server/discover", {})).result
        assert "io.modelcontextprotocol/skills" not in found["capabilities"]["extensions"]
