"""The endpoint behind the real server, over real sockets: disconnects, pipelines, streams."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest
import trio
import trio.testing

from kernel.clock import SystemClock
from kernel.http.router import Router
from kernel.http.server import Server, open_listener
from kernel.ids import SeededIds
from kernel.mcp.endpoint import MCPEndpoint
from kernel.wire import Route
from scheduler import Scheduler, open_scheduler
from tests.mcp.world import Tools, initialize_message, modern_body, modern_headers, old_headers

pytestmark = pytest.mark.wire

SLOW = {"name": "slow", "arguments": {}}
ECHO = {"name": "echo", "arguments": {}}


@dataclass
class Served:
    port: int
    tools: Tools
    scheduler: Scheduler
    endpoint: MCPEndpoint
    client: httpx.AsyncClient

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def until(self, name: str, value: int) -> None:
        with trio.fail_after(90):
            while getattr(self.scheduler.statistics(), name) != value:  # noqa: ASYNC110 - it is the kernel's to know
                await trio.sleep(0.01)


@asynccontextmanager
async def served() -> AsyncIterator[Served]:
    tools, clock = Tools(), SystemClock()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery, httpx.AsyncClient(timeout=90) as client:
        endpoint = MCPEndpoint(tools, scheduler, clock, SeededIds(3))
        await nursery.start(endpoint.run)
        route = Route("/mcp", frozenset({"POST", "GET", "DELETE"}), endpoint.handle, 1 << 20, surface="plugin")
        server = Server(Router([route]).resolve, clock=clock)
        listener = open_listener("127.0.0.1", 0)
        await nursery.start(server.serve, [listener])
        yield Served(listener.getsockname()[1], tools, scheduler, endpoint, client)
        nursery.cancel_scope.cancel()


def raw(method: str, params: dict[str, object], *, id: int = 1, port: int) -> bytes:
    """One modern request as bytes."""
    body = modern_body(method, params, id=id)
    headers = [("Host", f"127.0.0.1:{port}"), *modern_headers(method, params), ("Content-Length", str(len(body)))]
    lines = ["POST /mcp HTTP/1.1", *(f"{key}: {value}" for key, value in headers), "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.mark.parametrize("ending", ["close", "half-close"])
async def test_a_modern_client_that_hangs_up_cancels_its_call(ending: str) -> None:
    async with served() as world:
        stream = await trio.open_tcp_stream("127.0.0.1", world.port)
        await stream.send_all(raw("tools/call", SLOW, port=world.port))
        await world.until("in_flight", 1)
        if ending == "close":
            await stream.aclose()
        else:
            await stream.send_eof()
        await world.until("cancelled_holding_slots", 1)
        if ending == "half-close":
            # It may still read, so it is told what its leaving did; and that is the end of the connection.
            assert b'"code":"request_cancelled"' in await everything(stream)
        world.tools.release.set()
        await world.until("in_flight", 0)
        await stream.aclose()
        again = await world.client.post(
            world.url, headers=dict(modern_headers("tools/call", ECHO)), content=modern_body("tools/call", ECHO)
        )
        assert again.json()["result"]["structuredContent"]["tool"] == "echo"
        assert world.tools.performed == [("slow", {}), ("echo", {})]
        assert world.scheduler.statistics().cancelled_holding_slots == 0


async def everything(stream: trio.SocketStream) -> bytes:
    received = b""
    with trio.fail_after(90):
        async for piece in stream:
            received += piece
    return received


async def test_a_call_that_ends_before_anybody_looks_is_answered_to_a_half_closed_client() -> None:
    """As ``nc -N`` asks: the request and its end in one go."""
    async with served() as world, await trio.open_tcp_stream("127.0.0.1", world.port) as stream:
        await stream.send_all(raw("tools/call", ECHO, port=world.port))
        await stream.send_eof()
        assert b'"tool":"echo"' in await everything(stream)


async def test_a_half_closed_handshake_client_gets_its_answer() -> None:
    """In its eras a departure is no cancel."""
    async with served() as world, await trio.open_tcp_stream("127.0.0.1", world.port) as stream:
        opened = await world.client.post(world.url, headers=dict(old_headers(None)), json=initialize_message())
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SLOW}).encode()
        headers = [*old_headers(opened.headers["mcp-session-id"]), ("Content-Length", str(len(body)))]
        head = "".join(f"{name}: {value}\r\n" for name, value in [("Host", f"127.0.0.1:{world.port}"), *headers])
        await stream.send_all(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
        await stream.send_eof()
        await world.until("in_flight", 1)
        world.tools.release.set()
        assert b'"tool":"slow"' in await everything(stream)


async def test_a_pipelined_request_is_no_hang_up() -> None:
    async with served() as world:
        async with await trio.open_tcp_stream("127.0.0.1", world.port) as stream:
            await stream.send_all(raw("tools/call", SLOW, id=1, port=world.port))
            await world.until("in_flight", 1)
            await trio.sleep(0.3)  # by now the connection is watched
            await stream.send_all(raw("tools/call", ECHO, id=2, port=world.port))
            await trio.sleep(0.1)
            assert world.scheduler.statistics().cancelled_holding_slots == 0
            world.tools.release.set()
            received = b""
            with trio.fail_after(90):
                while received.count(b'"jsonrpc"') < 2:
                    received += await stream.receive_some()
            assert received.index(b'"id":1') < received.index(b'"id":2')


async def test_a_connection_is_used_again_after_a_call_that_was_watched() -> None:
    async with served() as world:
        async with trio.open_nursery() as nursery:

            async def release() -> None:
                await trio.sleep(0.3)
                world.tools.release.set()

            nursery.start_soon(release)
            slow = await world.client.post(
                world.url, headers=dict(modern_headers("tools/call", SLOW)), content=modern_body("tools/call", SLOW)
            )
        assert slow.json()["result"]["structuredContent"]["tool"] == "slow"
        for _ in range(3):
            again = await world.client.post(
                world.url, headers=dict(modern_headers("tools/call", ECHO)), content=modern_body("tools/call", ECHO)
            )
            assert again.json()["result"]["structuredContent"]["tool"] == "echo"


async def test_a_handshake_client_that_hangs_up_cancels_nothing() -> None:
    async with served() as world:
        opened = await world.client.post(world.url, headers=dict(old_headers(None)), json=initialize_message())
        session = opened.headers["mcp-session-id"]
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SLOW}
        with trio.move_on_after(0.3):
            await world.client.post(world.url, headers=dict(old_headers(session)), json=call)
        await trio.sleep(0.3)
        assert world.scheduler.statistics().cancelled_holding_slots == 0
        assert world.scheduler.statistics().in_flight == 1
        world.tools.release.set()
        await world.until("in_flight", 0)
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert (await world.client.post(world.url, headers=dict(old_headers(session)), json=ping)).status_code == 200


async def test_a_notification_stream_flows_and_ends_with_its_session() -> None:
    async with served() as world:
        opened = await world.client.post(world.url, headers=dict(old_headers(None)), json=initialize_message())
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        async with world.client.stream("GET", world.url, headers={**session, "Accept": "text/event-stream"}) as stream:
            lines = stream.aiter_lines()
            assert stream.headers["content-type"] == "text/event-stream"
            assert [await anext(lines) for _ in range(3)][:1] == ["event: message"]
            world.tools.surface = "changed"
            world.endpoint.announce()
            data = [await anext(lines) for _ in range(3)][1]
            assert json.loads(data.removeprefix("data: "))["method"] == "notifications/tools/list_changed"
            assert (await world.client.delete(world.url, headers=session)).status_code == 200
            with trio.fail_after(90):
                assert [line async for line in lines] == []
        assert world.endpoint.statistics()["notificationStreams"] == 0


async def test_a_listen_stream_gives_its_place_back_when_its_client_goes() -> None:
    async with served() as world:
        stream = await trio.open_tcp_stream("127.0.0.1", world.port)
        params: dict[str, object] = {"notifications": {"toolsListChanged": True}}
        await stream.send_all(raw("subscriptions/listen", params, port=world.port))
        received = b""
        with trio.fail_after(90):
            while b"acknowledged" not in received:
                received += await stream.receive_some()
            assert world.endpoint.statistics()["listenStreams"] == 1
            await stream.aclose()
            while world.endpoint.statistics()["listenStreams"]:  # noqa: ASYNC110 - it is the kernel's to know
                await trio.sleep(0.01)
