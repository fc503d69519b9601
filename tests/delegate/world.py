"""A coordinator in memory for delegates: what it answers is scripted, what it was asked is kept. No socket, no clock."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import h11
import pytest
import trio

from kernel.delegate.coordinator import Coordinator, CoordinatorUnavailable
from kernel.delegate.delegate import Delegate, ToolCall
from kernel.delegate.http_client import HttpClient, NotConnected
from kernel.ids import SeededIds

ORIGIN = "http://127.0.0.1:6806"
ROUTE = "/plugin/private/siyuan-plugins-mcp-sisyphus"


@dataclass
class Asked:
    """One request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Said:
    """One answer. ``pieces``: the body; ``breaks``: the connection is closed before its end."""

    status: int = 200
    pieces: tuple[bytes, ...] = ()
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    breaks: bool = False


BREAK = Said(status=0)
Handler = Callable[[Asked], Awaitable[Said]]


def said(value: Any, status: int = 200) -> Said:
    """A JSON answer."""
    return Said(status, (json.dumps(value).encode(),))


def events(*messages: Any, breaks: bool = False) -> Said:
    """An event stream."""
    pieces = tuple(b"data: " + json.dumps(message).encode() + b"\n\n" for message in messages)
    return Said(200, pieces, (("Content-Type", "text/event-stream"),), breaks)


def result(asked: Asked, **told: Any) -> dict[str, Any]:
    """The response to a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": asked.json["id"], "result": told}


def tool_result(asked: Asked, **structured: Any) -> dict[str, Any]:
    return result(asked, content=[{"type": "text", "text": "t"}], structuredContent=structured)


async def greets(asked: Asked) -> Said:
    return said(result(asked, supportedVersions=["2026-07-28"]))


@dataclass
class FakeCoordinator:
    """Answers by path; ``on`` sets what a path answers from now on, one after another, the last one for ever."""

    answers: dict[str, list[Said | Handler]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    greetings: list[Asked] = field(default_factory=list)
    is_there: bool = True

    def on(self, path: str, *answers: Said | Handler) -> None:
        self.answers[path] = list(answers)

    def calls(self, path: str = "/mcp") -> list[Asked]:
        return [one for one in self.asked if one.path.endswith(path)]

    def operations(self) -> list[str]:
        return [one.json["operation"] for one in self.calls("/tasks")]

    async def answer(self, asked: Asked) -> Said:
        if b'"server/discover"' in asked.body:
            # How every delegate begins; a path of its own, so that tests of calls need not speak of it.
            self.greetings.append(asked)
            found = self.answers.get("discover", [greets])[0]
            return found if isinstance(found, Said) else await found(asked)
        self.asked.append(asked)
        name = next((path for path in self.answers if asked.path.endswith(path)), None)
        if name is None:
            return said({"error": "not_found"}, 404)
        waiting = self.answers[name]
        found = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return found if isinstance(found, Said) else await found(asked)

    async def serve(self, stream: trio.abc.Stream) -> None:
        connection = h11.Connection(h11.SERVER)
        try:
            asked = await _read(connection, stream)
            answer = await self.answer(asked)
            if answer.status:
                await _write(connection, stream, answer)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await trio.aclose_forcefully(stream)


async def _read(connection: h11.Connection, stream: trio.abc.Stream) -> Asked:
    request, body = None, b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(65536))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            assert request is not None
            headers = {name.decode(): value.decode("latin-1") for name, value in request.headers}
            return Asked(request.method.decode(), request.target.decode(), headers, body)
        else:
            raise trio.BrokenResourceError


async def _write(connection: h11.Connection, stream: trio.abc.Stream, answer: Said) -> None:
    headers = [*answer.headers, ("Transfer-Encoding", "chunked")]
    if any(name == "Content-Length" for name, _ in answer.headers):
        headers = list(answer.headers)
    await stream.send_all(connection.send(h11.Response(status_code=answer.status, headers=headers)) or b"")
    for piece in answer.pieces:
        await stream.send_all(connection.send(h11.Data(data=piece)) or b"")
    if not answer.breaks:
        await stream.send_all(connection.send(h11.EndOfMessage()) or b"")


@dataclass
class FakeDiscovery:
    """Finds what it is told to find."""

    found: Coordinator | None = field(default_factory=lambda: Coordinator(ORIGIN, "secret"))

    async def find(self) -> Coordinator:
        await trio.lowlevel.checkpoint()
        if self.found is None:
            raise CoordinatorUnavailable("no kernel serves /notes")
        return self.found


@dataclass
class World:
    """A delegate and the coordinator that it finds."""

    coordinator: FakeCoordinator
    discovery: FakeDiscovery
    delegate: Delegate

    async def call(self, *, can_write: bool = True, **options: Any) -> dict[str, Any]:
        params = {"name": "block", "arguments": {"action": "update"}}
        return await self.delegate.call(ToolCall(params, can_write=can_write, **options))


@asynccontextmanager
async def open_world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """Connections are pairs of memory streams while the block runs."""
    coordinator = FakeCoordinator()
    async with trio.open_nursery() as nursery:

        async def connect(client: HttpClient) -> trio.abc.Stream:
            await trio.lowlevel.checkpoint()
            if not coordinator.is_there:
                raise NotConnected(f"{client.origin} does not answer (Connection refused)")
            ours, theirs = trio.testing.memory_stream_pair()
            nursery.start_soon(coordinator.serve, theirs)
            return ours

        monkeypatch.setattr(HttpClient, "_connect", connect)
        discovery = FakeDiscovery()
        yield World(coordinator, discovery, Delegate(discovery, SeededIds(7)))
        nursery.cancel_scope.cancel()


def code_of(answer: dict[str, Any]) -> str | None:
    """The error code of a result; None for a success."""
    return answer["structuredContent"]["error"]["code"] if answer.get("isError") else None
