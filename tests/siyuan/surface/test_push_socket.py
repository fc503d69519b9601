"""/ws: who hears what, who is turned away, what a window may say (kernel-facts, Push)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import pytest
from trio.testing import MockClock, wait_all_tasks_blocked
from wsproto.events import BytesMessage, CloseConnection, TextMessage

from kernel.siyuan.push import PushHub, PushSession
from kernel.siyuan.sessions import Session
from tests.http.conftest import Peer
from tests.siyuan.surface.conftest import World

Start = Callable[..., Awaitable[World]]
MAIN = "/ws?app=a&id=i&type=main"
REFUSED = b"\x88\x11  unauthenticated"


async def opened(world: World, target: str = MAIN, **headers: str) -> Peer:
    peer = Peer(world.connect(), target, **headers)
    await peer.open()
    await wait_all_tasks_blocked()
    return peer


async def test_a_window_hears_what_is_pushed_to_its_type(start: Start) -> None:
    world = await start()
    peer = await opened(world)
    world.kernel.push.push("filetreeOnly", to=("filetree",))
    world.kernel.push.push("msg", {"id": "x"}, to=("main",), msg="höre")
    frame = json.loads(await peer.text())
    assert frame == {
        "cmd": "msg", "reqId": 0, "app": "", "sid": "", "pushMode": 0, "callback": "", "code": 0, "msg": "höre",
        "data": {"id": "x"},
    }  # fmt: skip
    await peer.client.aclose()
    await wait_all_tasks_blocked()
    assert world.kernel.push.sessions == []


@pytest.mark.parametrize("query", ["", "?app=a", "?app=a&id=i", "?app=a&type=main", "?app=a&id=%20&type=main"])
async def test_a_window_without_all_its_names_is_never_addressed(start: Start, query: str) -> None:
    world = await start()
    await opened(world, f"/ws{query}")
    assert world.kernel.push.sessions == []


async def test_a_second_socket_of_a_window_takes_the_place_of_the_first(start: Start) -> None:
    world = await start()
    first, second = await opened(world), await opened(world)
    assert len(world.kernel.push.sessions) == 1
    world.kernel.push.push("msg", to=("main",))
    assert json.loads(await second.text())["cmd"] == "msg"
    await first.client.aclose()
    await wait_all_tasks_blocked()
    assert len(world.kernel.push.sessions) == 1


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("nonsense", "Bad Request"),
        ("[]", "Bad Request"),
        ('{"cmd":"x","reqId":1,"param":{}}', "can not find command [x]"),
    ],
)
async def test_what_a_window_says_wrong_is_answered(start: Start, message: str, words: str) -> None:
    peer = await opened(await start())
    await peer.send(TextMessage(message))
    answer = json.loads(await peer.text())
    assert (answer["code"], answer["msg"]) == (-1, words)


async def test_a_window_without_a_name_gets_bad_request(start: Start) -> None:
    peer = await opened(await start(), "/ws")
    await peer.send(TextMessage('{"cmd":"ping","reqId":1,"param":{}}'))
    assert json.loads(await peer.text())["msg"] == "Bad Request"


@pytest.mark.parametrize(
    "message",
    [
        "{}",
        "null",
        '{"cmd":"x","param":{}}',
        '{"cmd":"x","reqId":true,"param":{}}',
        '{"cmd":5,"reqId":1,"param":{}}',
        '{"cmd":"x","reqId":1}',
    ],
)
async def test_a_message_that_breaks_the_reader_makes_it_deaf_not_mute(start: Start, message: str) -> None:
    world = await start()
    peer = await opened(world)
    for sent in (message, "nonsense"):
        await peer.send(TextMessage(sent))
    await wait_all_tasks_blocked()
    world.kernel.push.push("msg", to=("main",))
    assert json.loads(await peer.text())["cmd"] == "msg"


async def test_ping_and_bytes_are_taken_silently(start: Start) -> None:
    world = await start()
    peer = await opened(world)
    await peer.send(TextMessage('{"cmd":"ping","reqId":1,"param":{}}'))
    await peer.send(BytesMessage(b"nonsense"))
    await wait_all_tasks_blocked()
    world.kernel.push.push("after", to=("main",))
    assert json.loads(await peer.text())["cmd"] == "after"


async def test_closews_closes_every_socket_of_that_id(start: Start, autojump_clock: MockClock) -> None:
    world = await start()
    first, other = await opened(world), await opened(world, "/ws?app=b&id=i&type=filetree")
    await first.send(TextMessage('{"cmd":"closews","reqId":1,"param":{}}'))
    for peer in (first, other):
        assert (await peer.client.raw()).endswith(b"\x88\x11  close websocket")
    assert world.kernel.push.sessions == []


# --- who may listen --------------------------------------------------------------------------------------------------
async def test_with_an_access_code_only_a_session_hears(start: Start, autojump_clock: MockClock) -> None:
    world = await start(access_code="s3cret")
    token = world.kernel.workspace.conf.token
    for headers in ({}, {"Authorization": f"Token {token}"}, {"Cookie": "siyuan=bad"}):
        peer = await opened(world, MAIN, **headers)
        assert (await peer.client.raw()).endswith(REFUSED)
    seal = world.surface._seal
    sealed = seal.close(Session(seal.proof_of("s3cret")), wall_ms=world.kernel.clock.wall_ms())
    await opened(world, MAIN, Cookie=f"siyuan={sealed}")
    assert len(world.kernel.push.sessions) == 1


async def test_the_sign_in_page_may_wait_and_hears_nothing_else(start: Start) -> None:
    world = await start(access_code="s3cret")
    peer = await opened(world, "/ws?app=siyuan&id=auth&type=auth")
    world.kernel.push.push("msg", to=("main", "protyle", "filetree"))
    world.kernel.push.push("loginAuth", to=("auth",))
    await peer.send(TextMessage("nonsense"))
    assert json.loads(await peer.text())["cmd"] == "loginAuth"


async def test_a_foreign_page_does_not_hear_the_notes(start: Start, autojump_clock: MockClock) -> None:
    world = await start()
    peer = await opened(world, MAIN, Origin="http://evil.test")
    assert (await peer.client.raw()).endswith(REFUSED)
    await opened(world, MAIN, Origin="http://localhost:9")
    assert len(world.kernel.push.sessions) == 1


async def test_ws_without_a_handshake_is_a_bad_request(start: Start) -> None:
    world = await start()
    for path in ("/ws", "/ws/broadcast"):
        reply = await world.get(path)
        assert (reply.status, reply.text, reply.headers["sec-websocket-version"]) == (400, "Bad Request\n", "13")
    assert (await world.get("/ws/?app=a")).headers["location"] == "/ws?app=a"
    assert (await world.post("/ws")).status == 404


async def test_a_window_that_stops_reading_is_cut_off(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.siyuan.outbox.Outbox.__init__.__kwdefaults__", {"messages_max": 2, "bytes_max": 100})
    world = await start()
    peer = await opened(world)
    for _ in range(3):
        world.kernel.push.push("m", to=("main",))
    assert isinstance(await peer.event(), CloseConnection | TextMessage)
    await wait_all_tasks_blocked()
    assert world.kernel.push.sessions == []


# --- the hub ---------------------------------------------------------------------------------------------------------
def test_the_hub_excludes_one_window_and_knows_unknown_types() -> None:
    heard: list[tuple[str, str]] = []

    def session(app: str, id: str, type: str) -> PushSession:
        return PushSession(app, id, type, lambda frame: heard.append((f"{app}{id}", frame["cmd"])))

    hub = PushHub()
    for made in (
        session("a", "1", "main"),
        session("b", "1", "main"),
        session("a", "2", "bogus"),
        session("c", "auth", "auth"),
    ):
        hub.add(made)
    hub.push("all", excludes=("a", "1"), context={"k": "v"})
    hub.push("main", to=("main",))
    assert heard == [("b1", "all"), ("a2", "all"), ("a1", "main"), ("b1", "main")]
    hub.close("1")
    assert [made.id for made in hub.sessions] == ["2", "auth"]
    hub.remove(hub.sessions[0])
    hub.remove(session("x", "y", "main"))
    assert len(hub.sessions) == 1
