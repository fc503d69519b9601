"""A note host with canned answers, and a tool service around it."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import trio

from kernel.clock import ManualClock
from kernel.host.base import HostApiError
from kernel.ids import SeededIds
from kernel.safety.intent import Coordinator
from kernel.tools.call import ToolParts, Tools
from kernel.tools.configuration import PERMISSIONS_FILE, TOOLS_FILE
from kernel.tools.permissions import Level
from kernel.tools.service import Caller, Refused, ToolResult
from scheduler.scheduler import Scheduler
from scheduler.ticket import Ticket

NOTEBOOK = "20240101000000-noteboo"
DOCUMENT = "20240101000000-documen"
BLOCK = "20240101000000-blockid"
CALLER = Caller("handshake")
Answer = Any | Callable[[Mapping[str, Any]], Any]


class FakeHost:
    """Answers from a table; what is not in it fails the test. Files live in a dictionary."""

    def __init__(self, answers: Mapping[str, Answer] | None = None) -> None:
        self.answers: dict[str, Answer] = {
            "/api/notebook/lsNotebooks": {"notebooks": [{"id": NOTEBOOK, "name": "Nb", "subFileCount": 1}]},
            "/api/block/getBlockInfo": {"box": NOTEBOOK, "rootID": DOCUMENT, "path": f"/{DOCUMENT}.sy"},
            **{f"/api/ui/{kind}": None for kind in ("reloadProtyle", "reloadFiletree", "reloadIcon", "reloadTag")},
            **(answers or {}),
        }
        self.files: dict[str, bytes] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        await trio.lowlevel.checkpoint()
        self.calls.append((path, dict(arguments or {})))
        answer = self.answers[path]
        value = answer(arguments or {}) if callable(answer) else answer
        if isinstance(value, Exception):
            raise value
        return value

    async def read_file(self, path: str) -> bytes | None:
        await trio.lowlevel.checkpoint()
        return self.files.get(path)

    async def write_file(self, path: str, content: bytes) -> None:
        await trio.lowlevel.checkpoint()
        self.files[path] = content

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        return {"errFiles": None, "succMap": {name: f"assets/{name}"}}

    async def fetch_static(self, path: str) -> bytes | None:
        return await self.read_file(path)

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        yield await self.read_file(path) or b""

    async def aclose(self) -> None: ...

    def paths(self) -> list[str]:
        return [path for path, _ in self.calls]

    def configure(self, tools: str = "", permissions: str = "") -> None:
        if tools:
            self.files[TOOLS_FILE] = tools.encode()
        if permissions:
            self.files[PERMISSIONS_FILE] = permissions.encode()


def unknown(path: str = "") -> HostApiError:
    return HostApiError(-1, "Content block with id [x] not found", path=path)


class World:
    """A service with its scheduler, and one line to call a tool."""

    def __init__(self, host: FakeHost, scheduler: Scheduler, coordinator: Coordinator | None, level: Level) -> None:
        self.host, self.scheduler = host, scheduler
        self.clock = ManualClock()
        boundary = functools.partial(scheduler.boundary, bound_s=5.0)
        self.tools = Tools(
            ToolParts(host, self.clock, SeededIds(), boundary, coordinator=coordinator, default_level=level)
        )

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        try:
            prepared = await self.tools.prepare(tool, arguments, CALLER)
        except Refused as refused:
            return refused.result

        async def work(ticket: Ticket) -> ToolResult:
            return await self.tools.perform(prepared, ticket, CALLER)

        with self.scheduler.admit() as ticket:
            if prepared.lane is None:
                return await self.tools.perform(prepared, ticket, CALLER)
            return await self.scheduler.perform(ticket, prepared.lane, work)


@asynccontextmanager
async def open_world(
    host: FakeHost | None = None, *, coordinator: Coordinator | None = None, level: Level = Level.DELETE
) -> AsyncIterator[World]:
    async with trio.open_nursery() as nursery:
        scheduler: Scheduler = await nursery.start(Scheduler().run)
        yield World(host or FakeHost(), scheduler, coordinator, level)
        nursery.cancel_scope.cancel()
