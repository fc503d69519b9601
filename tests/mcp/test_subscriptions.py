"""Streams that tell of changes: the handshake GET stream and subscriptions/listen."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from kernel.mcp.limits import STREAM_LIFE_S, STREAMS_MAX, STREAMS_PER_PRINCIPAL_MAX, SURFACE_CHECK_S
from kernel.mcp.sessions import SessionTable
from kernel.mcp.subscriptions import StreamPlaces, Subscriptions
from kernel.wire import ClientGone, StreamResponse
from tests.mcp.world import Stream, World, drain, modern_body, modern_headers, old_headers, open_world

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
KEEP_ALIVE = b": keep-alive\n\n"


def get_headers(session: str | None, **extra: str) -> list[tuple[str, str]]:
    headers = [("Accept", "text/event-stream"), *extra.items()]
    return headers if session is None else [*headers, ("Mcp-Session-Id", session)]


async def open_get(world: World, session: str, **extra: str) -> Stream:
    return await world.open("GET", get_headers(session, **extra))


async def open_listen(world: World, notifications: dict[str, Any], id: Any = "listen:0") -> Stream:
    params = {"notifications": notifications}
    return await world.open(
        "POST",
        modern_headers("subscriptions/listen", params),
        modern_body("subscriptions/listen", params, id=id),
    )


# --- handshake ---


async def test_a_stream_begins_with_one_notification_and_then_tells_of_changes_only(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_world() as world:
        stream = await open_get(world, await world.initialize())
        assert dict(stream.head.headers)["Content-Type"] == "text/event-stream"
        assert dict(stream.head.headers)["X-Accel-Buffering"] == "no"
        assert "no-cache" in dict(stream.head.headers)["Cache-Control"]
        assert await stream.message() == CHANGED
        quiet_from = trio.current_time()
        assert await stream.take() == KEEP_ALIVE
        assert trio.current_time() - quiet_from <= 30
        world.tools.surface = "v2"
        changed_at = trio.current_time()
        assert await stream.message() == CHANGED
        assert trio.current_time() - changed_at <= SURFACE_CHECK_S
        assert await stream.take() == KEEP_ALIVE


async def test_no_event_has_an_id(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        stream = await open_get(world, await world.initialize(), **{"Last-Event-ID": "1"})
        assert await stream.take() == (
            b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
        )


async def test_a_burst_costs_at_most_two_notifications_and_its_last_change_is_told(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_world() as world:
        stream = await open_get(world, await world.initialize())
        await stream.message()
        listen = await open_listen(world, {"toolsListChanged": True})
        await listen.message()
        for index in range(50):
            world.tools.surface = f"burst {index}"
            world.endpoint.announce()
            await trio.sleep(0.02)
        last_change = trio.current_time()
        for one in (stream, listen):
            told: list[float] = []
            while (await one.take()) != KEEP_ALIVE:
                told.append(trio.current_time())
            assert 1 <= len(told) <= 2
        assert trio.current_time() > last_change + SURFACE_CHECK_S


async def test_the_last_change_of_a_burst_is_told_within_six_seconds(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        stream = await open_get(world, await world.initialize())
        await stream.message()
        world.tools.surface = "a"
        world.endpoint.announce()
        await stream.message()
        world.tools.surface = "b"
        world.endpoint.announce()
        with trio.fail_after(6):
            assert await stream.message() == CHANGED


async def test_a_stream_ends_after_its_ten_minutes(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        session = await world.initialize()
        stream = await open_get(world, session)
        began = trio.current_time()
        await stream.rest()
        assert STREAM_LIFE_S <= trio.current_time() - began <= STREAM_LIFE_S + SURFACE_CHECK_S
        assert (await world.old(session, "ping")).status == 200
        assert world.endpoint.statistics()["notificationStreams"] == 0


@pytest.mark.parametrize("cause", ["deleted", "configuration", "closed"])
async def test_a_stream_ends_with_its_session_its_configuration_and_its_endpoint(
    cause: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world() as world:
        session = await world.initialize()
        stream = await open_get(world, session)
        await stream.message()
        match cause:
            case "deleted":
                assert (await world.ask("DELETE", [("Mcp-Session-Id", session)])).status == 200
            case "configuration":
                world.tools.surface_error = OSError("unreadable")
            case "closed":
                world.endpoint.close()
        with trio.fail_after(SURFACE_CHECK_S + 1):
            assert await stream.rest() == []
        assert world.endpoint.statistics()["notificationStreams"] == 0


async def test_a_stream_whose_configuration_cannot_be_read_at_first_says_nothing() -> None:
    async with open_world() as world:
        session = await world.initialize()
        world.tools.surface_error = OSError("unreadable")
        assert (await world.ask("GET", get_headers(session))).body == b""


async def test_closing_the_endpoint_leaves_running_calls_to_be_drained() -> None:
    async with open_world() as world:
        session = await world.initialize()
        pending = await world.start(lambda: world.old_call(session, "slow"))
        world.endpoint.close()
        world.tools.release.set()
        assert (await pending.wait()).result["structuredContent"]["tool"] == "slow"


async def test_an_open_stream_keeps_its_session_busy(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world(sessions=SessionTable(sessions_max=2)) as world:
        session = await world.initialize()
        stream = await open_get(world, session)
        await stream.message()
        for _ in range(5):
            await world.initialize()
        assert (await world.old(session, "ping")).status == 200


async def test_closing_a_stream_touches_neither_the_session_nor_its_calls() -> None:
    async with open_world() as world:
        session = await world.initialize()
        pending = await world.start(lambda: world.old_call(session, "slow"))
        stream = await open_get(world, session)
        await stream.message()
        stream.scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert pending.reply is None
        world.tools.release.set()
        assert (await pending.wait()).result["structuredContent"]["tool"] == "slow"


async def test_the_fifth_stream_of_a_credential_is_refused_in_words_and_a_closed_one_makes_room() -> None:
    async with open_world() as world:
        session = await world.initialize()
        streams = [await open_get(world, session) for _ in range(STREAMS_PER_PRINCIPAL_MAX)]
        for stream in streams:
            await stream.message()
        refused = await world.ask("GET", get_headers(session))
        assert refused.status == 429
        assert int(refused.headers["retry-after"]) > 0
        assert f"at most {STREAMS_PER_PRINCIPAL_MAX} per credential" in refused.error["message"]
        foreign = await world.initialize(token="other")
        await (await open_get(world, foreign, Authorization="Token other")).message()
        streams[0].scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        await (await open_get(world, session)).message()


def test_places_are_bounded_per_principal_and_in_all() -> None:
    places = StreamPlaces()
    for index in range(STREAMS_MAX):
        assert places.take(str(index // STREAMS_PER_PRINCIPAL_MAX))
    assert len(places) == STREAMS_MAX
    assert not places.take("new")
    places.give_back("0")
    assert places.has_room("new")
    assert places.take("0")
    assert not places.take("0")


async def test_a_stream_whose_client_goes_gives_its_place_back_at_once() -> None:
    async with open_world() as world:
        session = await world.initialize()
        streams = [await open_get(world, session), await open_listen(world, {"toolsListChanged": True})]
        for stream in streams:
            await stream.message()
            stream.exchange.leave()
        await trio.testing.wait_all_tasks_blocked()
        counts = world.endpoint.statistics()
        assert (counts["notificationStreams"], counts["listenStreams"], counts["busy"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("session", "extra", "status"),
    [
        (None, {}, 400),
        ("gone", {}, 404),
        ("live", {"Accept": "application/json"}, 406),
        ("live", {"Authorization": "Token other"}, 404),
    ],
)
async def test_a_stream_needs_a_session_of_ones_own_and_the_right_type(
    session: str | None, extra: dict[str, str], status: int
) -> None:
    async with open_world() as world:
        live = await world.initialize()
        headers = {"Accept": "text/event-stream", **extra}
        if session is not None:
            headers["Mcp-Session-Id"] = live if session == "live" else session
        reply = await world.ask("GET", list(headers.items()))
        assert reply.status == status
        assert reply.headers["content-type"] == "application/json"
        assert (await world.ask("GET", [("Mcp-Session-Id", live)])).status == 406  # no Accept at all


async def test_a_stream_answer_that_is_read_after_its_session_or_room_is_gone_is_empty() -> None:
    async with open_world() as world:
        session = await world.initialize()
        answers = [(await world.send("GET", get_headers(session)))[0] for _ in range(STREAMS_PER_PRINCIPAL_MAX + 1)]
        for answer in answers[:-1]:
            assert isinstance(answer, StreamResponse)
            await world.read(answer, world.exchanges[-1]).message()
        assert (await drain(answers[-1])).body == b""
        again = (await world.send("GET", get_headers(await world.initialize(token="b"), Authorization="Token b")))[0]
        world.endpoint.close()
        assert (await drain(again)).body == b""


async def test_a_reader_that_does_not_read_is_dropped(autojump_clock: trio.testing.MockClock) -> None:
    class Stuck:
        async def send(self, data: bytes) -> None:
            await trio.sleep_forever()

    async with open_world() as world:
        answer, _ = await world.send("GET", get_headers(await world.initialize()))
        assert isinstance(answer, StreamResponse)
        with trio.fail_after(60), pytest.raises(ClientGone):
            await answer.produce(Stuck())
        assert world.endpoint.statistics()["notificationStreams"] == 0


# --- modern ---


@pytest.mark.parametrize("id", ["listen:0", 0, "", 2**60])
async def test_a_listen_stream_acknowledges_first_and_marks_every_message(
    id: Any, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world() as world:
        stream = await open_listen(world, {"toolsListChanged": True, "promptsListChanged": True, "otherIds": ["x"]}, id)
        meta = {"io.modelcontextprotocol/subscriptionId": id}
        acknowledged = await stream.message()
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        # Prompts never change in the product, so that wish is not honoured.
        assert acknowledged["params"] == {"_meta": meta, "notifications": {"toolsListChanged": True}}
        assert await stream.take() == KEEP_ALIVE
        world.tools.surface = "v2"
        assert await stream.message() == {**CHANGED, "params": {"_meta": meta}}
        world.endpoint.close()
        (final,) = await stream.rest()
        server = final["result"]["_meta"].pop("io.modelcontextprotocol/serverInfo")
        assert server["name"] == "sisyphus-kernel"
        assert final == {"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": meta}}
        assert type(final["id"]) is type(id)


async def test_an_empty_filter_is_acknowledged_and_hears_nothing(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        stream = await open_listen(world, {})
        assert (await stream.message())["params"]["notifications"] == {}
        world.tools.surface = "v2"
        assert await stream.take() == KEEP_ALIVE
        await trio.sleep(STREAM_LIFE_S)  # it has no age
        assert world.endpoint.statistics()["listenStreams"] == 1


async def test_prompts_are_told_of_where_they_can_change(autojump_clock: trio.testing.MockClock) -> None:
    version = ["1"]
    async with open_world(prompt_version=lambda: version[0]) as world:
        prompts = await open_listen(world, {"promptsListChanged": True}, 1)
        tools = await open_listen(world, {"toolsListChanged": True}, 2)
        assert (await prompts.message())["params"]["notifications"] == {"promptsListChanged": True}
        await tools.message()
        version[0] = "2"
        world.endpoint.announce()
        with trio.fail_after(1):
            assert (await prompts.message())["method"] == "notifications/prompts/list_changed"
        assert await tools.take() == KEEP_ALIVE


async def test_a_change_between_request_and_acknowledgement_is_not_lost(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_world() as world:
        params = {"notifications": {"toolsListChanged": True}}
        headers = modern_headers("subscriptions/listen", params)
        answer, _ = await world.send("POST", headers, modern_body("subscriptions/listen", params))
        assert isinstance(answer, StreamResponse)
        sent: list[bytes] = []

        class Slow:
            async def send(self, data: bytes) -> None:
                if not sent:
                    world.tools.surface = "changed meanwhile"
                    await trio.sleep(1)
                sent.append(data)

        with trio.move_on_after(SURFACE_CHECK_S + 2):
            await answer.produce(Slow())
        assert b"tools/list_changed" in sent[1]


async def test_a_listen_stream_needs_events_and_a_place() -> None:
    async with open_world() as world:
        params = {"notifications": {}}
        refused = await world.modern("subscriptions/listen", params, accept="application/json", id=9)
        assert (refused.status, refused.message["id"]) == (406, 9)
        streams = [await open_listen(world, {}, index) for index in range(STREAMS_MAX)]
        for stream in streams:
            await stream.message()
        refused = await world.modern("subscriptions/listen", params, id=9)
        assert (refused.status, refused.message["id"]) == (429, 9)
        assert refused.headers["retry-after"]
        streams[0].scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        await (await open_listen(world, {})).message()
        malformed = await world.modern("subscriptions/listen", {}, id=9)
        assert (*malformed.rpc, malformed.message["id"]) == (-32602, 400, 9)


async def test_a_closed_endpoint_opens_no_listen_stream() -> None:
    async with open_world() as world:
        world.endpoint.close()
        assert (await world.modern("subscriptions/listen", {"notifications": {}})).body == b""


async def test_a_listen_stream_survives_its_first_unreadable_configuration_and_ends_at_the_next(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_world() as world:
        world.tools.surface_error = OSError("unreadable")
        stream = await open_listen(world, {"toolsListChanged": True})
        assert (await stream.message())["method"] == "notifications/subscriptions/acknowledged"
        (final,) = await stream.rest()
        assert final["result"]["resultType"] == "complete"


def test_announcing_without_streams_does_nothing() -> None:
    class Never:
        def now(self) -> float:
            raise AssertionError

    subscriptions = Subscriptions(Never(), SessionTable(), StreamPlaces(), StreamPlaces())  # type: ignore[arg-type]
    subscriptions.announce()
    subscriptions.close()


async def test_a_modern_get_is_not_allowed_and_stray_sessions_are_ignored() -> None:
    async with open_world() as world:
        headers = [*get_headers("gone"), ("MCP-Protocol-Version", "2026-07-28")]
        assert (await world.ask("GET", headers)).status == 405
        extra = {"Mcp-Session-Id": "gone", "Last-Event-ID": "1" * 10_000}
        reply = await world.modern("tools/list", headers=extra)
        assert reply.status == 200
        assert "mcp-session-id" not in reply.headers
        assert (await world.ask("POST", old_headers("gone"), b'{"jsonrpc":"2.0","id":1,"method":"ping"}')).status == 404
