"""Bug cases of ids, envelopes and JSON at the endpoint: B01, B02, B05, B07, B09."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.mcp.versions import HANDSHAKE_REVISIONS
from tests.mcp.world import FORM, MODERN, Reply, World, modern_headers, old_headers, open_world

PINGS = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in (1, 2)]
NOTES = [{"jsonrpc": "2.0", "method": "notifications/initialized"}] * 2
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "initialize",
    "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.mark.parametrize("token", [None, "secret"])
async def test_b01_calls_under_one_id_never_swap_their_answers(token: str | None) -> None:
    async with open_world() as world:
        first, second = await world.initialize(token=token), await world.initialize(token=token)
        waiting = await world.start(lambda: world.old_call(first, "slow", id=1, token=token))
        assert (await world.old_call(first, "echo", id=1, token=token)).code == "duplicate_request"
        other = await world.start(lambda: world.old_call(second, "slow", id=1, token=token))
        headers = {} if token is None else {"Authorization": f"Token {token}"}
        modern = [
            await world.start(lambda name=name: world.call(name, id=1, headers=headers)) for name in ("slow", "echo")
        ]
        assert (await modern[1].wait()).result["structuredContent"]["tool"] == "echo"
        await world.cancel(second, 1, token=token)
        assert (await other.wait()).code == "request_cancelled"
        assert waiting.reply is None
        world.tools.release.set()
        for pending in (waiting, modern[0]):
            assert (await pending.wait()).result["structuredContent"]["tool"] == "slow"


@pytest.mark.parametrize("id", [None, True, 1.5, [], {}])
@pytest.mark.parametrize("method", ["tools/call", "tools/list", "initialize"])
@pytest.mark.parametrize("era", ["modern", "session", "bare"])
async def test_b02_a_present_id_is_never_taken_for_a_notification(era: str, method: str, id: Any) -> None:
    async with open_world() as world:
        params: dict[str, Any] = {"name": "write", "arguments": {}}
        if era == "modern":
            reply = await world.modern(method, params, id=id)
        else:
            session = await world.initialize() if era == "session" else None
            reply = await world.old(session, method, params, id=id)
        assert reply.rpc == (-32600, 400)
        assert "id" not in reply.message
        assert world.tools.performed == []
        assert (await world.call("write")).status == 200


async def post(world: World, session: str | None, body: Any) -> Reply:
    return await world.ask("POST", old_headers(session), json.dumps(body).encode())


async def test_b05_a_2025_03_26_session_has_batches() -> None:
    async with open_world() as world:
        session = await world.initialize("2025-03-26")
        both = await post(world, session, PINGS)
        assert both.status == 200
        assert sorted(message["id"] for message in both.messages) == [1, 2]
        assert json.loads(both.body)[0]["jsonrpc"] == "2.0"
        notes = await post(world, session, NOTES)
        assert (notes.status, notes.body) == (202, b"")
        replies = await post(world, session, [{"jsonrpc": "2.0", "id": 1, "result": {}}])
        assert replies.status == 202
        for broken in ([], [*PINGS, INITIALIZE]):
            assert (await post(world, session, broken)).rpc == (-32600, 400)
        mixed = await post(world, session, [PINGS[0], *NOTES, {"jsonrpc": "2.0", "id": None, "method": "ping"}, 5])
        assert [message.get("id") for message in mixed.messages].count(None) == 2
        assert {message["error"]["code"] for message in mixed.messages if "error" in message} == {-32600}


async def test_b05_every_entry_passes_the_same_checks_as_alone() -> None:
    async with open_world(scheduler={"admitted_max": 3}) as world:
        session = await world.initialize("2025-03-26", capabilities=FORM)
        world.tools.release.set()

        def call(id: Any, name: str, **arguments: Any) -> dict[str, Any]:
            params = {"name": name, "arguments": arguments}
            return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}

        reply = await post(world, session, [call(1, "wipe"), call(2, "write"), call(3, "nothing")])
        answers = {message["id"]: message["result"] for message in reply.messages}
        assert answers[1]["structuredContent"]["error"]["code"] == "dangerous_action_requires_confirmation"
        assert answers[2]["structuredContent"]["tool"] == "write"
        assert answers[3]["structuredContent"]["error"]["code"] == "unknown_tool"
        same_id = await post(world, session, [call(7, "write"), call(7, "write")])
        errors = [message["result"]["structuredContent"].get("error", {}).get("code") for message in same_id.messages]
        assert sorted(errors, key=str) == [None, "duplicate_request"]
        crowd = await post(world, session, [call(number, "slow") for number in range(5)])
        codes = [message["result"]["structuredContent"].get("error", {}).get("code") for message in crowd.messages]
        assert codes.count("queue_full") == 2
        assert world.scheduler.statistics().in_flight == 0


@pytest.mark.parametrize("body", [PINGS, NOTES, [], [INITIALIZE], 3, "x"])
async def test_b05_everywhere_else_a_batch_is_an_invalid_request(body: Any) -> None:
    async with open_world() as world:
        places = [await world.initialize(version) for version in HANDSHAKE_REVISIONS if version != "2025-03-26"]
        replies = [await post(world, place, body) for place in (*places, None)]
        replies.append(await world.ask("POST", modern_headers("ping"), json.dumps(body).encode()))
        for reply in replies:
            assert reply.rpc == (-32600, 400)
            assert "id" not in reply.message
            assert "mcp-session-id" not in reply.headers


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400", '"\\ud83d tail"', '"\\udc00"'])
async def test_b07_b09_what_json_cannot_carry_is_a_parse_error_in_both_eras(word: str) -> None:
    async with open_world() as world:
        body = f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{word}}}}}'.encode()
        for headers in (old_headers(None), modern_headers("ping"), old_headers(await world.initialize())):
            reply = await world.ask("POST", headers, body)
            assert reply.rpc == (-32700, 400)
            assert json.loads(reply.body, parse_constant=lambda name: pytest.fail(name))
        assert (await world.old(None, "ping")).result == {}


async def test_f02_the_two_eras_are_not_mixed() -> None:
    async with open_world() as world:
        asked = {"protocolVersion": MODERN, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        first = await world.old(None, "initialize", asked)
        assert (first.status, first.result["protocolVersion"]) == (200, "2025-11-25")
        session = first.headers["mcp-session-id"]
        bare = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}
        second = await world.ask("POST", modern_headers("initialize"), json.dumps(bare).encode())
        assert second.rpc == (-32602, 400)
        assert (await world.modern("initialize", asked)).rpc == (-32601, 404)
        assert (await world.modern("ping")).rpc == (-32601, 404)
        modern = await world.modern("tools/list")
        assert {"resultType", "ttlMs", "cacheScope"} < set(modern.result)
        old = await world.old(session, "tools/list")
        assert set(old.result) == {"tools"}
        assert (await world.old(session, "server/discover")).rpc == (-32601, 200)
        assert all("mcp-session-id" not in reply.headers for reply in (second, modern))
