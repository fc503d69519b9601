"""Bug cases of sessions and their streams at the endpoint: C01, C03, C04, C06, C07, C09, C10, D03, D05, D08, H06."""

from __future__ import annotations

import json

import pytest
import trio
import trio.testing

from kernel.mcp.limits import KEEP_ALIVE_S, SESSIONS_MAX
from kernel.mcp.sessions import SessionTable
from kernel.wire import ClientGone, StreamResponse
from tests.mcp.world import World, initialize_message, old_headers, open_world


def get_headers(session: str, **extra: str) -> list[tuple[str, str]]:
    return [("Accept", "text/event-stream"), ("Mcp-Session-Id", session), *extra.items()]


async def test_c01_a_refused_request_leaves_no_session() -> None:
    async with open_world() as world:
        session = await world.initialize()
        good = json.dumps(initialize_message()).encode()
        no_version = json.dumps({**initialize_message(), "params": {"capabilities": {}, "clientInfo": {}}}).encode()
        for _ in range(100):
            for method, headers, body in (
                ("POST", old_headers(None, accept="text/html"), good),
                ("POST", old_headers(None, {"Content-Type": "text/plain"}), good),
                ("POST", old_headers(None), good[:-1]),
                ("POST", old_headers(None), no_version),
                ("HEAD", old_headers(None), b""),
            ):
                reply = await world.ask(method, headers, body)
                assert "mcp-session-id" not in reply.headers
                assert reply.status >= 400 or reply.error["code"] == -32602
        assert len(world.endpoint.sessions) == 1
        assert (await world.old(session, "ping")).status == 200


async def test_c03_unknown_deleted_expired_and_foreign_sessions_look_alike() -> None:
    async with open_world() as world:
        deleted = await world.initialize()
        await world.ask("DELETE", get_headers(deleted))
        foreign = await world.initialize(token="other")
        expired = await world.initialize()
        world.clock.skip(1799)
        # A foreign look-up is no use; the owner's is.
        assert (await world.old(foreign, "ping")).status == 404
        assert (await world.old(foreign, "ping", token="other")).status == 200
        world.clock.skip(1)
        bodies = set()
        for session in ("gone", deleted, foreign, expired):
            for method, body in (
                ("POST", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
                ("POST", b'{"jsonrpc":"2.0","method":"notifications/initialized"}'),
                ("GET", b""),
                ("DELETE", b""),
            ):
                reply = await world.ask(method, [*old_headers(session), ("Accept", "text/event-stream")], body)
                assert reply.status == 404
                assert reply.headers["content-type"] == "application/json"
                bodies.add(reply.body)
        assert len(bodies) == 1
        assert (await world.old(None, "tools/list")).status == 200
        assert (await world.old(foreign, "ping", token="other")).status == 200


async def test_c03_get_and_delete_need_a_session() -> None:
    async with open_world() as world:
        assert (await world.ask("DELETE", old_headers(None))).status == 400
        assert (await world.ask("GET", old_headers(None))).status == 400


async def test_c04_initialize_with_a_dead_id_opens_a_new_session() -> None:
    async with open_world() as world:
        deleted, expired = await world.initialize(), await world.initialize()
        await world.ask("DELETE", get_headers(deleted))
        world.clock.skip(1800)
        for dead in ("gone", deleted, expired):
            reply = await world.post_old(dead, initialize_message())
            assert reply.status == 200
            fresh = reply.headers["mcp-session-id"]
            assert fresh != dead
            assert (await world.old(fresh, "ping")).status == 200
            assert (await world.old(dead, "ping")).status == 404


async def test_c04_a_live_session_is_not_initialized_twice() -> None:
    async with open_world() as world:
        session = await world.initialize()
        reply = await world.post_old(session, initialize_message(id="again"))
        assert reply.rpc == (-32600, 400)
        assert reply.message["id"] == "again"
        assert len(world.endpoint.sessions) == 1
        assert (await world.old(session, "ping")).status == 200


async def test_c06_dead_streams_do_not_block_their_successors() -> None:
    async with open_world() as world:
        session = await world.initialize()
        pending = await world.start(lambda: world.old_call(session, "slow", id=1))
        streams = [await world.open("GET", get_headers(session)) for _ in range(4)]
        for stream in streams:
            assert (await stream.message())["method"] == "notifications/tools/list_changed"
        refused = await world.ask("GET", get_headers(session))
        assert (refused.status, "retry-after" in refused.headers) == (429, True)
        world.tools.release.set()
        assert (await pending.wait()).status == 200
        assert (await world.old(session, "ping")).status == 200


async def test_c06_a_stream_whose_writes_fail_gives_its_place_back_within_two_keep_alives(
    autojump_clock: trio.testing.MockClock,
) -> None:
    class Broken:
        def __init__(self) -> None:
            self.is_broken = False

        async def send(self, data: bytes) -> None:
            if self.is_broken:
                raise ClientGone

    async with open_world() as world:
        answer, _ = await world.send("GET", get_headers(await world.initialize()))
        assert isinstance(answer, StreamResponse)
        writer = Broken()

        async def produce() -> None:
            with pytest.raises(ClientGone):
                await answer.produce(writer)

        world.nursery.start_soon(produce)
        await trio.sleep(1)
        writer.is_broken = True
        await trio.sleep(2 * KEEP_ALIVE_S)
        assert world.endpoint.statistics()["notificationStreams"] == 0


async def test_c07_a_failed_write_of_an_answer_does_not_touch_the_session(
    autojump_clock: trio.testing.MockClock,
) -> None:
    class Reset:
        async def send(self, data: bytes) -> None:
            raise ClientGone

    async with open_world() as world:
        session = await world.initialize()
        body = json.dumps({"jsonrpc": "2.0", "id": 51, "method": "tools/call", "params": {"name": "slow"}}).encode()
        answer, _ = await world.send("POST", old_headers(session), body)
        assert isinstance(answer, StreamResponse)
        with pytest.raises(ClientGone):
            await answer.produce(Reset())
        world.tools.release.set()
        await trio.sleep(1)
        assert (await world.old(session, "ping", id=52)).status == 200
        assert world.scheduler.statistics().in_flight == 0
        assert world.endpoint.statistics()["busy"] == 0


async def test_c09_a_ping_needs_no_session_and_makes_none() -> None:
    async with open_world() as world:
        for request_id in (1, "p"):
            for _ in range(10):
                ping = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "ping"}).encode()
                reply = await world.ask("POST", old_headers(None), ping)
                assert reply.message == {"jsonrpc": "2.0", "id": request_id, "result": {}}
                assert "mcp-session-id" not in reply.headers
        assert len(world.endpoint.sessions) == 0
        assert (await world.modern("ping")).rpc == (-32601, 404)


async def test_c10_clients_that_never_say_goodbye_push_out_each_other_and_nobody_busy(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_world() as world:
        streaming, calling, idle = [await world.initialize() for _ in range(3)]
        stream = await world.open("GET", get_headers(streaming))
        await stream.message()
        pending = await world.start(lambda: world.old_call(calling, "slow"))
        for _ in range(2 * SESSIONS_MAX):
            await world.initialize()
        assert len(world.endpoint.sessions) == SESSIONS_MAX
        assert (await world.old(idle, "ping")).status == 404
        assert (await world.old(streaming, "ping")).status == 200
        assert (await world.old(calling, "ping")).status == 200
        world.clock.skip(31 * 60)
        with trio.fail_after(10):
            await stream.rest()  # its ten minutes are over as well
        await world.initialize()
        assert len(world.endpoint.sessions) == 3  # the new one, the caller's, and the one whose stream has just ended
        world.tools.release.set()
        assert (await pending.wait()).status == 200


async def test_c10_while_every_session_is_busy_a_new_one_is_told_to_come_back() -> None:
    async with open_world(sessions=SessionTable(sessions_max=1)) as world:
        session = await world.initialize()
        pending = await world.start(lambda: world.old_call(session, "slow"))
        reply = await world.post_old(None, initialize_message(id=4))
        assert reply.rpc == (-32000, 503)
        assert (reply.message["id"], reply.headers["retry-after"]) == (4, "1")
        assert "mcp-session-id" not in reply.headers
        world.tools.release.set()
        assert (await pending.wait()).status == 200
        await world.initialize()


async def followed(world: World, session: str) -> trio.MemoryReceiveChannel[bytes]:
    return (await world.open("GET", get_headers(session))).pieces


async def test_d03_a_silent_stream_has_comments_at_a_stated_period(autojump_clock: trio.testing.MockClock) -> None:
    async with open_world() as world:
        pieces = await followed(world, await world.initialize())
        await pieces.receive()
        for _ in range(6 * 60 // 15):
            before = trio.current_time()
            piece = await pieces.receive()
            assert piece.startswith(b":")
            assert b"event" not in piece
            assert trio.current_time() - before <= 30


@pytest.mark.parametrize("last_event_id", ["1", "stream-1", "x" * 10_000])
async def test_d05_nothing_is_replayed(last_event_id: str) -> None:
    async with open_world() as world:
        first, second = await world.initialize(), await world.initialize()
        await (await followed(world, first)).receive()
        fresh = await world.open("GET", get_headers(second, **{"Last-Event-ID": last_event_id}))
        piece = await fresh.take()
        assert b"notifications/tools/list_changed" in piece
        assert b"\nid:" not in piece
        assert not piece.startswith(b"id:")
        assert (await world.modern("tools/list", headers={"Last-Event-ID": last_event_id})).status == 200


async def test_d08_h06_the_list_follows_the_configuration_of_the_moment_whatever_was_notified(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_world() as world:
        session = await world.initialize()
        stream = await world.open("GET", get_headers(session))
        await stream.message()
        for index in range(50):
            world.tools.surface = str(index)
            await trio.sleep(0.02)
        notified = 0
        with trio.move_on_after(12):
            while True:
                if "method" in await stream.message():
                    notified += 1
        assert 1 <= notified <= 2
        assert (await world.old(session, "tools/list")).status == 200
