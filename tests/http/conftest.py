"""A server over memory pipes, and a client that speaks raw bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import h11
import pytest
import trio
from trio.testing import memory_stream_pair
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, Event, Request, TextMessage

from kernel.clock import ManualClock
from kernel.http.router import Router
from kernel.http.server import Limits, Server
from kernel.wire import Exchange, Response, Route

Handler = Callable[[Exchange], object]


@dataclass(slots=True)
class Client:
    """The client's end of one connection; answers are read by h11."""

    stream: trio.StapledStream[trio.testing.MemorySendStream, trio.testing.MemoryReceiveStream]
    received: bytes = b""

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def raw(self) -> bytes:
        """Everything until the server closes."""
        while data := await self.stream.receive_some():
            self.received += data
        return self.received

    async def answer(self, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        """The next final answer: status, headers, body."""
        reader = h11.Connection(h11.CLIENT)
        reader.send(h11.Request(method=method, target="/", headers=[("Host", "h")]))
        reader.send(h11.EndOfMessage())
        if self.received:
            reader.receive_data(self.received)
        status, headers, body = 0, {}, b""
        while True:
            event = reader.next_event()
            if event is h11.NEED_DATA:
                reader.receive_data(await self.stream.receive_some())
            elif isinstance(event, h11.Response):
                status = event.status_code
                headers = {name.decode(): value.decode() for name, value in event.headers}
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                self.received = reader.trailing_data[0]
                return status, headers, body

    async def is_closed(self) -> bool:
        """Whether the server has closed, without more bytes."""
        return not self.received and await self.stream.receive_some() == b""

    async def aclose(self) -> None:
        await self.stream.aclose()


class Peer:
    """A client after its handshake."""

    def __init__(self, client: Client, target: str = "/ws", **headers: str) -> None:
        self.client = client
        self.target = target
        self.headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        self.protocol = WSConnection(ConnectionType.CLIENT)

    async def open(self, *behind: Event) -> AcceptConnection:
        await self.client.send(
            self.protocol.send(Request(host="localhost", target=self.target, extra_headers=self.headers))
        )
        accepted = await self.event()
        assert isinstance(accepted, AcceptConnection)
        for event in behind:
            await self.send(event)
        return accepted

    async def send(self, event: Event) -> None:
        await self.client.send(self.protocol.send(event))

    async def event(self) -> Event:
        while True:
            for event in self.protocol.events():
                return event
            data = await self.client.stream.receive_some()
            self.protocol.receive_data(data or None)

    async def text(self) -> str:
        """The next text message, whole."""
        parts = ""
        while True:
            event = await self.event()
            assert isinstance(event, TextMessage), event
            parts += event.data
            if event.message_finished:
                return parts


@dataclass(slots=True)
class World:
    """One server and its nursery."""

    nursery: trio.Nursery
    server: Server
    tasks: list[trio.CancelScope] = field(default_factory=list)

    def connect(self) -> Client:
        ours, theirs = memory_stream_pair()
        self.nursery.start_soon(self.server.serve_stream, theirs)
        return Client(ours)


Start = Callable[..., "AsyncIterator[World]"]


@pytest.fixture
async def start(nursery: trio.Nursery) -> Callable[..., object]:
    """``world = await start(Route, …, limits=Limits(…))``."""

    async def begin(*routes: Route, limits: Limits | None = None, **options: object) -> World:
        router = Router(routes, **options)  # type: ignore[arg-type]
        server = Server(router.resolve, clock=ManualClock(), limits=limits)
        await nursery.start(server.serve)
        return World(nursery, server)

    return begin


async def echo(exchange: Exchange) -> Response:
    request = exchange.request
    return Response(200, (("Content-Type", "text/plain"),), f"{request.method} {request.path} ".encode() + request.body)


@pytest.fixture
def echo_route() -> Route:
    return Route("/*", frozenset({"GET", "POST", "HEAD"}), echo, 100)
