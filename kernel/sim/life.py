"""One life of the simulated machine: a kernel started on a disk, and its end, orderly or not.

Nothing of the kernel is left out: the application is put together by ``kernel.app``. In the place of the machine's own
stand the clock, the ids, the disk, the threads (work runs inline, with a checkpoint) and the sockets (memory streams).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import trio

from kernel.app import App, Doubles, open_app
from kernel.endpoints import is_write
from kernel.host.embedded import EmbeddedHost
from kernel.ids import IdSource
from kernel.safety import ledger_file
from kernel.settings import Settings
from kernel.sim.clock import VirtualClock
from kernel.sim.disk import Crashed, SimulatedDisk
from kernel.sim.ledger_disk import SimulatedFiles, connector
from kernel.sim.machine import simulated_files
from kernel.siyuan.kernel import SiyuanKernel
from scheduler.events import Observer

WORKSPACE: Final = Path("/machine/workspace")
_SETTINGS: Final = Settings(workspace=WORKSPACE, has_emulator_controls=True, default_permission="rwd")
# Told of each host call before and after: (path, arguments), then the token it returned and how the call ended.
HostBegins = Callable[[str, object], Any]
HostEnds = Callable[[Any, bool], None]
T = TypeVar("T")
_PUT_FILE: Final = "/api/file/putFile"
_UPLOAD: Final = "/api/asset/upload"


class WatchedHost(EmbeddedHost):
    """The embedded host, with somebody who keeps a book of what is written, and a latency."""

    def __init__(self, kernel: SiyuanKernel, begins: HostBegins, ends: HostEnds, latency: Callable[[], float]) -> None:
        super().__init__(kernel)
        self._begins, self._ends, self._latency = begins, ends, latency

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        return await self._watched(path, arguments, lambda: super(WatchedHost, self).call(path, arguments))

    async def write_file(self, path: str, content: bytes) -> None:
        write = super().write_file
        await self._watched(_PUT_FILE, {"path": path}, lambda: write(path, content))

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        upload = super().upload_asset
        return await self._watched(_UPLOAD, {"path": name}, lambda: upload(directory, name, content))

    async def _watched(self, path: str, arguments: object, send: Callable[[], Awaitable[T]]) -> T:
        latency_s = self._latency()
        if latency_s:
            await trio.sleep(latency_s)
        token = self._begins(path, arguments) if is_write(path) else None
        is_done = False
        try:
            answer = await send()
            is_done = True
            return answer
        except Crashed:
            token = None
            raise
        finally:
            if token is not None:
                self._ends(token, is_done)


@contextmanager
def inline_threads() -> Iterator[None]:
    """Inside, what would go to a thread runs at once in the task that asked: no thread decides who is first."""

    async def run(function: Callable[..., Any], *arguments: Any, **_options: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return function(*arguments)

    def call_back(function: Callable[..., Any], *arguments: Any, **_options: Any) -> Any:
        return function(*arguments)

    to_thread: Any = trio.to_thread
    from_thread: Any = trio.from_thread
    saved = to_thread.run_sync, from_thread.run_sync, from_thread.check_cancelled
    to_thread.run_sync, from_thread.run_sync, from_thread.check_cancelled = run, call_back, lambda: None
    try:
        yield
    finally:
        to_thread.run_sync, from_thread.run_sync, from_thread.check_cancelled = saved


@contextmanager
def _ledger_on(disk: SimulatedDisk) -> Iterator[None]:
    module: Any = ledger_file
    saved = module.connect, module.files
    module.connect, module.files = connector(disk), SimulatedFiles(disk)
    try:
        yield
    finally:
        module.connect, module.files = saved


@asynccontextmanager
async def open_life(
    disk: SimulatedDisk,
    clock: VirtualClock,
    ids: IdSource,
    *,
    make_host: Callable[[SiyuanKernel], WatchedHost],
    observer: Observer | None = None,
    crash: Callable[[], object] | None = None,
) -> AsyncIterator[App]:
    """A kernel that serves, on ``disk``. Use it inside ``inline_threads``; one at a time in a process."""
    doubles = Doubles(is_inline=True, make_host=make_host, observer=observer, crash=crash)
    with simulated_files(disk), _ledger_on(disk):
        async with open_app(_SETTINGS, clock, ids, doubles) as app, trio.open_nursery() as nursery:
            app.kernel.state["statement_runner"] = _run_statement
            await nursery.start(app.server.serve)
            yield app
            nursery.cancel_scope.cancel()


async def _run_statement(work: Callable[[], Any]) -> Any:
    await trio.lowlevel.checkpoint()
    return work()
