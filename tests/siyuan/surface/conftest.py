"""A kernel on files in memory, asked over a memory pipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import memory_stream_pair

from kernel.clock import ManualClock
from kernel.http.router import Router
from kernel.http.server import Server
from kernel.ids import SeededIds
from kernel.siyuan.durable import Durable, write_inline
from kernel.siyuan.http_api import KernelSurface
from kernel.siyuan.kernel import KernelOptions, SiyuanKernel
from kernel.siyuan.push import PushHub
from kernel.workspace.file_backends import in_memory, on_disk
from kernel.workspace.workspace import Workspace
from tests.http.conftest import Client


@dataclass(slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(slots=True)
class World:
    """One kernel and the way to ask it."""

    kernel: SiyuanKernel
    surface: KernelSurface
    server: Server
    nursery: trio.Nursery
    headers: dict[str, str] = field(default_factory=dict)

    def connect(self) -> Client:
        ours, theirs = memory_stream_pair()
        self.nursery.start_soon(self.server.serve_stream, theirs)
        return Client(ours)

    async def ask(self, method: str, path: str, body: bytes | str = b"", **headers: str) -> Reply:
        """One request on a connection of its own. Header names are written with underscores."""
        content = body.encode() if isinstance(body, str) else body
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if content or method == "POST":
            lines.append(f"Content-Length: {len(content)}")
        client = self.connect()
        await client.send("\r\n".join([*lines, "", ""]).encode("latin-1") + content)
        status, answered, answer = await client.answer(method)
        await client.aclose()
        return Reply(status, answered, answer)

    async def post(self, path: str, body: bytes | str = b"{}", **headers: str) -> Reply:
        return await self.ask("POST", path, body, **headers)

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.ask("GET", path, **headers)

    def write(self, path: str, content: bytes | str) -> None:
        files = self.kernel.workspace.files
        files.write(path, content.encode() if isinstance(content, str) else content)
        files.flush()


@pytest.fixture
async def start(nursery: trio.Nursery) -> Callable[..., object]:
    """``world = await start(is_readonly=True, access_code="s3cret")``; with ``folder`` the files lie on disk."""

    async def begin(folder: str = "", **options: object) -> World:
        clock, ids = ManualClock(), SeededIds(1)
        files = on_disk(folder, wall_ms=clock.wall_ms) if folder else in_memory(wall_ms=clock.wall_ms)
        workspace = Workspace.open(folder or "/workspace", clock=clock, ids=ids, files=files)
        kernel = SiyuanKernel(workspace, PushHub(), clock, ids, KernelOptions(**options))  # type: ignore[arg-type]
        kernel.durable = Durable(workspace.files, workspace.reload, run=write_inline)
        surface = KernelSurface(kernel)
        server = Server(Router(otherwise=surface.resolve).resolve, clock=clock)
        await nursery.start(server.serve)
        return World(kernel, surface, server, nursery)

    return begin
