"""Broadcast channels: sockets, event streams, posts, and readers that stop reading."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock, assert_no_checkpoints, wait_all_tasks_blocked
from wsproto.events import BytesMessage, TextMessage

from kernel.http.sse import EventStream
from kernel.siyuan.broadcast import Broadcast, broadcast_of
from kernel.siyuan.outbox import Outbox
from kernel.wire import ClientGone, RecordedWriter
from tests.http.conftest import Client, Peer
from tests.siyuan.surface.conftest import World

Start = Callable[..., Awaitable[World]]


async def joined(world: World, channel: str = "c") -> Peer:
    peer = Peer(world.connect(), f"/ws/broadcast?channel={channel}")
    await peer.open()
    await wait_all_tasks_blocked()
    return peer


async def subscribed(world: World, query: str = "?channel=c") -> Client:
    client = world.connect()
    await client.send(f"GET /es/broadcast/subscribe{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += await client.stream.receive_some()
    assert b"Content-Type: text/event-stream\r\n" in head
    await wait_all_tasks_blocked()
    return client


async def post(world: World, channel: str, message: str) -> int:
    reply = await world.post("/api/broadcast/postMessage", json.dumps({"channel": channel, "message": message}))
    return int(json.loads(reply.body)["data"]["channel"]["count"])


async def channels(world: World) -> dict[str, int]:
    listed = json.loads((await world.post("/api/broadcast/getChannels")).body)["data"]["channels"]
    return {entry["name"]: entry["count"] for entry in listed}


async def test_a_post_reaches_every_listener_of_its_channel(start: Start) -> None:
    world = await start()
    assert await post(world, "c", "nobody") == 0
    assert await channels(world) == {}
    first, second, other = await joined(world), await joined(world), await joined(world, "other")
    stream = await subscribed(world, "?channel=c&channel=d&retry=500")
    assert await post(world, "c", "hello 你好\nthere") == 3
    assert await first.text() == await second.text() == "hello 你好\nthere"
    assert (await stream.stream.receive_some()).endswith(
        "id:1\nevent:c\nretry:500\ndata:hello 你好\ndata:there\n\n\r\n".encode()
    )
    assert await channels(world) == {"c": 3, "other": 1, "d": 1}
    for client in (first.client, second.client, stream, other.client):
        await client.aclose()
    await wait_all_tasks_blocked()
    assert await channels(world) == {}


async def test_what_a_socket_says_goes_to_the_others(start: Start) -> None:
    world = await start()
    speaker, listener = await joined(world), await joined(world)
    await speaker.send(TextMessage("said"))
    assert await listener.text() == "said"
    await speaker.send(BytesMessage(b"\0"))
    heard = await listener.event()
    assert isinstance(heard, BytesMessage)
    await listener.send(TextMessage("back"))
    assert await speaker.text() == "back"


async def test_who_follows_everything_counts_everywhere_and_makes_channels(start: Start) -> None:
    world = await start()
    stream = await subscribed(world, "")
    assert await post(world, "new", "x") == 1
    assert (await stream.stream.receive_some()).endswith(b"id:1\nevent:new\ndata:x\n\n\r\n")
    assert await channels(world) == {"new": 1}
    await stream.aclose()
    await wait_all_tasks_blocked()
    assert await channels(world) == {}


async def test_a_form_is_a_message_for_each_field(start: Start) -> None:
    world = await start()
    peer = await joined(world)
    body = (
        b'--X\r\nContent-Disposition: form-data; name="c"\r\n\r\none\r\n--X\r\nContent-Disposition: form-data; name="c"\r\n\r\ntw\xc3\xb6'
        b'\r\n--X\r\nContent-Disposition: form-data; name="c"; filename="a.txt"\r\n\r\nbody\r\n--X--\r\n'
    )
    reply = await world.post("/api/broadcast/publish", body, Content_Type="multipart/form-data; boundary=X")
    results = json.loads(reply.body)["data"]["results"]
    assert [(r["message"]["type"], r["message"]["size"], r["message"]["filename"]) for r in results] == [
        ("string", 3, ""),
        ("string", 4, ""),
        ("binary", 4, "a.txt"),
    ]
    assert [await peer.text(), await peer.text()] == ["one", "twö"]
    assert isinstance(await peer.event(), BytesMessage)
    refused = json.loads((await world.post("/api/broadcast/publish")).body)
    assert (refused["code"], refused["msg"]) == (1, "request Content-Type isn't multipart/form-data")


async def test_a_reader_that_stops_costs_nobody_else_anything(start: Start, autojump_clock: MockClock) -> None:
    world = await start()
    broadcast = broadcast_of(world.kernel)
    stuck = EventStream(events_max=10)
    outcome: list[str] = []

    class Stuck:
        async def send(self, data: bytes) -> None:
            await trio.sleep_forever()

    async def produce() -> None:
        try:
            await stuck.produce(Stuck())
        except ClientGone:
            outcome.append("cut")

    world.nursery.start_soon(produce)
    broadcast.subscribe(("c",), stuck, None)
    reading = EventStream(events_max=10_000)
    broadcast.subscribe(("c",), reading, None)
    started = trio.current_time()
    for number in range(5000):
        with assert_no_checkpoints():
            broadcast.post("c", str(number))
    assert trio.current_time() == started
    await wait_all_tasks_blocked()
    assert outcome == ["cut"]
    reading.end()
    writer = RecordedWriter()
    await reading.produce(writer)
    numbers = [line for line in b"".join(writer.sent).decode().splitlines() if line.startswith("data:")]
    assert numbers == [f"data:{number}" for number in range(5000)]


async def test_bytes_and_odd_names_stand_in_one_line_each() -> None:
    broadcast, stream, writer = Broadcast(), EventStream(), RecordedWriter()
    broadcast.subscribe(("a\nb\r",), stream, 0)
    broadcast.post("a\nb\r", b"\x00\x01")
    broadcast.post("a\nb\r", "x\ry")
    broadcast.post("nobody", "x")
    stream.end()
    await stream.produce(writer)
    assert writer.sent == [b'id:1\nevent:a\\nb\\r\ndata:"AAE="\n\nid:2\nevent:a\\nb\\r\ndata:x\\ry\n\n']


def test_leaving_twice_or_a_channel_that_is_gone_is_nothing() -> None:
    broadcast, outbox, stream = Broadcast(), Outbox(), EventStream()
    broadcast.leave("c", outbox)
    broadcast.unsubscribe(("c",), stream)
    broadcast.join("c", outbox)
    broadcast.leave("c", outbox)
    broadcast.leave("c", outbox)
    assert broadcast.channels == {}


async def test_the_end_lets_every_listener_go(start: Start, autojump_clock: MockClock) -> None:
    world = await start()
    peer, stream = await joined(world), await subscribed(world)
    broadcast_of(world.kernel).end()
    assert await stream.stream.receive_some() == b"0\r\n\r\n"
    assert (await peer.client.raw()).endswith(b"\x88\x02\x03\xe9")


# --- the outbox ------------------------------------------------------------------------------------------------------
class Recorder:
    def __init__(self) -> None:
        self.sent: list[str | bytes] = []
        self.closed: tuple[int, str] | None = None

    async def receive(self) -> str | bytes:
        raise ClientGone

    async def send(self, message: str | bytes) -> None:
        self.sent.append(message)

    async def aclose(self, code: int = 1000, reason: str = "") -> None:
        self.closed = (code, reason)


async def test_an_outbox_sends_in_order_and_says_good_bye() -> None:
    outbox, socket = Outbox(), Recorder()
    with assert_no_checkpoints():
        outbox.put("a")
        outbox.put(b"b")
        outbox.end(1001, "bye")
        outbox.put("late")
    with pytest.raises(ClientGone):
        await outbox.send_to(socket)
    assert (socket.sent, socket.closed) == (["a", b"b"], (1001, "bye"))


@pytest.mark.parametrize("bound", [{"messages_max": 2}, {"bytes_max": 2}])
async def test_an_outbox_is_cut_one_past_its_bound(bound: dict[str, int]) -> None:
    outbox = Outbox(**bound)
    outbox.put("a")
    outbox.put("b")
    assert not outbox.is_cut
    outbox.put("c")
    assert outbox.is_cut
    with pytest.raises(ClientGone, match="behind"):
        await outbox.send_to(Recorder())
