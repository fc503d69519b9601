"""A line to a note kernel that can be made to fail: a real socket double between our endpoint and its host."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import h11
import httpx
import trio

HTML = b"<!doctype html><title>Sign in</title>"


class Line:
    """``misbehave(path, act, …)`` says what the next requests for a path get; then all goes through again.

    Acts: ``reset`` (nothing passes), ``swallow`` (passes, the answer is lost), ``html``, ``refuse`` (200 with code -1),
    ``forbid`` (401), ``busy`` (429), ``hold`` (passes once ``release`` is called), ``vanish`` (passes and is answered,
    then nobody is there any more).
    """

    def __init__(self, upstream: str, http: httpx.AsyncClient) -> None:
        self.upstream = upstream
        self.url = ""
        self.seen: list[str] = []
        self.is_gone = False
        self._http = http
        self._acts: dict[str, list[str]] = {}
        self._held = trio.Event()
        self._released = trio.Event()

    def misbehave(self, path: str, *acts: str) -> None:
        self._acts.setdefault(path, []).extend(acts)

    def count(self, path: str) -> int:
        return self.seen.count(path)

    async def wait_held(self) -> None:
        with trio.fail_after(30):
            await self._held.wait()

    def release(self) -> None:
        self._released.set()

    async def serve(self, stream: trio.SocketStream) -> None:
        """One connection, as long as it lasts."""
        connection = h11.Connection(h11.SERVER)
        try:
            while not self.is_gone:
                request, body = await _request(stream, connection)
                if request is None or not await self._answered(stream, connection, request, body):
                    break
                connection.start_next_cycle()
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.ProtocolError):
            pass
        await _reset(stream)

    async def _answered(
        self, stream: trio.SocketStream, connection: h11.Connection, request: h11.Request, body: bytes
    ) -> bool:
        """Whether the connection goes on."""
        target = request.target.decode()
        path = target.partition("?")[0]
        self.seen.append(path)
        waiting = self._acts.get(path)
        act = waiting.pop(0) if waiting else ""
        if act == "reset":
            return False
        if act == "hold":
            self._held.set()
            await self._released.wait()
        kind, content = (
            "application/json",
            json.dumps({"code": -1, "msg": "refused by the host", "data": None}).encode(),
        )
        status = {"forbid": 401, "busy": 429}.get(act, 200)
        if act == "html":
            kind, content = "text/html", HTML
        elif act not in ("refuse", "forbid", "busy"):
            headers = {k.decode(): v.decode() for k, v in request.headers if k not in (b"host", b"connection")}
            answer = await self._http.request(
                request.method.decode(), self.upstream + target, headers=headers, content=body
            )
            status, kind, content = answer.status_code, answer.headers.get("content-type", ""), answer.content
        if act == "swallow":
            return False
        head = h11.Response(status_code=status, headers=[("Content-Type", kind), ("Content-Length", str(len(content)))])
        for event in (head, h11.Data(data=content), h11.EndOfMessage()):
            await stream.send_all(connection.send(event) or b"")
        if act == "vanish":
            self.is_gone = True
        return not self.is_gone


async def _request(stream: trio.SocketStream, connection: h11.Connection) -> tuple[h11.Request | None, bytes]:
    request, body = None, b""
    while True:
        event: Any = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(65536))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return request, body
        else:
            return None, b""


async def _reset(stream: trio.SocketStream) -> None:
    """End it the hard way: the peer sees a reset, not an end."""
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await stream.aclose()


@asynccontextmanager
async def open_line(upstream: str) -> AsyncIterator[Line]:
    """A line to ``upstream`` on a free port of the loopback."""
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http, trio.open_nursery() as nursery:
        line = Line(upstream, http)
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        line.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.start_soon(trio.serve_listeners, line.serve, [listener])
        yield line
        nursery.cancel_scope.cancel()
