"""The one process: parts are made here, given their clock, ids, threads and sockets, and ended in order.

Nothing else in the kernel reads a clock, draws an id or opens a socket of its own. Holds no rules of a request.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import apsw
import trio

from kernel.clock import Clock, SystemClock
from kernel.emulator.call_log import CallLog
from kernel.emulator.controls import Emulator
from kernel.emulator.tracing import scheduler_observer, traced_resolver
from kernel.emulator.world import World
from kernel.extension.bridge import Bridge, OfficialEndpoint
from kernel.extension.embedded_endpoint import EmbeddedEndpoint
from kernel.faults.plan import FaultPlan, PlanInvalid
from kernel.faults.reading import form_of, read_plan
from kernel.faults.trigger import Trigger
from kernel.host.base import Host, near
from kernel.host.embedded import EmbeddedHost
from kernel.host.faulty import FaultyHost
from kernel.http.guard import HostGuard, OriginGuard
from kernel.http.router import Resolver, Router
from kernel.http.server import Limits, Server, open_listener
from kernel.ids import IdSource, SystemIds
from kernel.limits import OTHER_FILES_MAX
from kernel.mcp.endpoint import MCPEndpoint
from kernel.mcp.principals import principal_of
from kernel.open_files import raise_file_limit
from kernel.plugin_routes import PluginParts, guarded, plugin_routes
from kernel.remote_routes import exported_file, remote_resolver
from kernel.safety.coordinator import WriteCoordinator
from kernel.safety.folder import PROCESS_FILES, storage_folder
from kernel.safety.lock import CoordinatorLock, HeldElsewhere
from kernel.safety.open import LOCK_FILE, open_coordinator
from kernel.settings import DRAIN_S, Settings
from kernel.siyuan.http_api import KernelSurface, end_streams
from kernel.siyuan.kernel import KernelOptions, SiyuanKernel
from kernel.siyuan.native_mcp.endpoint import OfficialMCP
from kernel.siyuan.notes_index import close_index
from kernel.siyuan.push import PushHub
from kernel.tasks.control import TaskControl
from kernel.tasks.route import TaskRoute
from kernel.tools.call import ToolParts, Tools
from kernel.tools.configuration import HTTP_FILE, Configuration
from kernel.tools.http_settings import HttpSettings
from kernel.tools.permissions import Level
from kernel.tools.remote_settings import RemoteHttpSettings
from kernel.tools.service import Caller
from kernel.trace import NO_TRACE, Trace
from kernel.turns import Turns
from kernel.uploads.routes import Uploads
from kernel.workspace.conf import BROKEN_CONF_PATH, CONF_PATH
from kernel.workspace.files import StorageError
from kernel.workspace.workspace import Workspace
from scheduler import Scheduler, open_scheduler
from scheduler.events import Observer

WORKSPACE_LOCK: Final = ".lock"
_LEVELS: Final = {"none": Level.NONE, "r": Level.READ, "rw": Level.WRITE, "rwd": Level.DELETE}
_SIGNALS: Final = [signal.SIGINT, signal.SIGTERM]
# Damaged documents named in the log at start.
DAMAGED_FILES_TOLD_MAX: Final = 20
EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_WRONG: Final = 2
_log: Final = logging.getLogger("kernel.app")


class StartRefused(Exception):
    """The kernel cannot start; the message says what to do. Exit code 1; 2 where its input is malformed."""

    def __init__(self, message: str, code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class App:
    """A built kernel: everything a request meets, without a socket."""

    settings: Settings
    kernel: SiyuanKernel
    host: Host
    scheduler: Scheduler
    endpoint: MCPEndpoint
    server: Server
    trigger: Trigger
    coordinator: WriteCoordinator


def embedded_host(kernel: SiyuanKernel) -> EmbeddedHost:
    """The notes of this process, looked at once in a turn of the event loop."""
    turns = Turns()
    trio.lowlevel.add_instrument(turns)
    return EmbeddedHost(kernel, turns)


@dataclass(frozen=True, slots=True)
class Doubles:
    """What a simulation puts in the place of the machine's own.

    ``is_inline``: the ledger has no thread. ``observer`` is told what the scheduler does; ``crash`` ends the process.
    """

    is_inline: bool = False
    make_host: Callable[[SiyuanKernel], Host] = embedded_host
    observer: Observer | None = None
    crash: Callable[[], object] | None = None


@asynccontextmanager
async def open_app(
    settings: Settings, clock: SystemClock, ids: IdSource, doubles: Doubles | None = None
) -> AsyncIterator[App]:
    """Put one kernel together and keep its tasks running for the length of the block."""
    doubles = doubles or Doubles()
    has_laboratory = settings.faults is not None or settings.has_emulator_controls
    trace = _trace(clock, has_laboratory=has_laboratory)
    trigger = Trigger(_fault_plan(settings), crash=doubles.crash, trace=trace)
    kernel = _open_kernel(settings, clock, ids)
    kernel.workspace.files.withhold(PROCESS_FILES)
    bare: Host = _open_host(settings, kernel, doubles)
    host: Host = FaultyHost(bare, trigger) if has_laboratory else bare
    storage = _storage(settings)
    async with (
        trio.open_nursery() as nursery,
        open_scheduler(
            read_slots=settings.read_slots,
            mutation_slots=settings.mutation_slots,
            admitted_max=settings.admitted_max,
            observer=doubles.observer or (scheduler_observer(trace) if trace.is_on else None),
        ) as scheduler,
        open_coordinator(storage, clock, ids, trigger=trigger, is_inline=doubles.is_inline) as coordinator,
    ):
        parts = ToolParts(
            host,
            clock,
            ids,
            lambda ticket: scheduler.boundary(ticket, bound_s=settings.commit_bound_s),
            coordinator=coordinator,
            default_level=_LEVELS[settings.default_permission],
            retries_reads=not settings.host_url,
        )
        await nursery.start(kernel.jobs.run)
        official = OfficialMCP(kernel)
        bridge = parts.more["extension"] = Bridge(_official_endpoint(settings, kernel, official), clock)
        nursery.start_soon(bridge.run, host)
        tools = Tools(parts)
        await nursery.start(tools.run)
        plugin = _plugin_parts(settings, tools, scheduler, clock, ids)
        endpoint = plugin.endpoint
        await nursery.start(endpoint.run)
        if has_laboratory:
            is_embedded = not settings.host_url
            world = World(kernel, bare, clock, scheduler, coordinator, endpoint, is_embedded=is_embedded)
            trigger.world.update(world.deeds())
        emulator = Emulator(kernel, trigger, clock)
        http_settings = _http_settings(settings, kernel, host)
        if isinstance(http_settings, RemoteHttpSettings):
            await nursery.start(http_settings.run)
        resolve: Resolver = _resolver(settings, kernel, http_settings, official, plugin, emulator, host).resolve
        if trace.is_on:
            resolve = traced_resolver(resolve, trace)
        limits = Limits(connections_max=settings.connections_max)
        server = Server(resolve, clock=clock, limits=limits, trigger=trigger, is_full=scheduler.is_full)
        yield App(settings, kernel, host, scheduler, endpoint, server, trigger, coordinator)
        endpoint.close()
        await tools.statistics.flush()
        await host.aclose()
        await _close_notes(kernel)
        nursery.cancel_scope.cancel()


async def _close_notes(kernel: SiyuanKernel) -> None:
    """End what still works on the notes, and keep for the next start what it would have to find out again: every file's
    ids, and the index."""
    kernel.jobs.close()
    try:
        await kernel.durable.settle()
        kernel.workspace.close()
        close_index(kernel)
    except (StorageError, apsw.Error) as error:
        _log.warning("the next start will read all notes anew: %s", error)


def _storage(settings: Settings) -> Path:
    """Where ledger and coordinator lock lie."""
    return storage_folder(settings.workspace, settings.host_url, settings.state_dir)


def _trace(clock: Clock, *, has_laboratory: bool) -> Trace:
    """Where the laboratory or the log wants to hear what happens; else one that hears nothing."""
    if logging.getLogger("kernel.calls").isEnabledFor(logging.INFO):
        return Trace(clock.now, listener=CallLog())
    return Trace(clock.now) if has_laboratory else NO_TRACE


def _fault_plan(settings: Settings) -> FaultPlan:
    if settings.faults is None:
        return FaultPlan()
    try:
        rules = read_plan(settings.faults.read_text(encoding="utf-8"), form_of(settings.faults.name))
        if settings.host_url and any(rule.do == "stale_index" for rule in rules):
            raise StartRefused(f"{settings.faults}: 'stale_index' needs the embedded notes", EXIT_WRONG)
        return FaultPlan(rules)
    except (PlanInvalid, OSError, UnicodeDecodeError) as error:
        raise StartRefused(f"{settings.faults}: {error}", EXIT_WRONG) from None


def _open_kernel(settings: Settings, clock: SystemClock, ids: IdSource) -> SiyuanKernel:
    options = KernelOptions(
        is_readonly=settings.is_readonly,
        access_code=settings.access_code,
        language=settings.language,
        index_lag_s=settings.index_lag_s,
        allows_egress=settings.allows_egress,
        working_dir=str(settings.working_dir or ""),
    )
    try:
        workspace = Workspace.open(str(settings.workspace), clock=clock, ids=ids)
    except StorageError as error:
        raise StartRefused(f"{settings.workspace} cannot be opened: {error.reason}") from None
    _warn_of_damage(workspace)
    return SiyuanKernel(workspace, PushHub(), clock, ids, options)


def _warn_of_damage(workspace: Workspace) -> None:
    """Whoever starts the kernel is told what could not be read; nothing of it is overwritten."""
    if workspace.conf.was_broken:
        _log.warning("%s could not be read: kept as %s, all settings are new", CONF_PATH, BROKEN_CONF_PATH)
    for path, reason in sorted(workspace.corrupt.items())[:DAMAGED_FILES_TOLD_MAX]:
        _log.warning("a document cannot be read and is left as it is: %s: %s", path, reason)
    if len(workspace.corrupt) > DAMAGED_FILES_TOLD_MAX:
        _log.warning("and %d documents more", len(workspace.corrupt) - DAMAGED_FILES_TOLD_MAX)


def _open_host(settings: Settings, kernel: SiyuanKernel, doubles: Doubles) -> Host:
    if settings.host_url:
        # httpx is half of the start-up time, and only a remote host needs it.
        from kernel.host.remote import RemoteHost

        return RemoteHost(settings.host_url, settings.host_token)
    return doubles.make_host(kernel)


def _official_endpoint(settings: Settings, kernel: SiyuanKernel, official: OfficialMCP) -> OfficialEndpoint:
    """Where foreign tools come from: the kernel that the plugin's tools work on."""
    if settings.host_url:
        from kernel.extension.http_endpoint import HttpEndpoint

        return HttpEndpoint(settings.host_url, settings.host_token)
    return EmbeddedEndpoint(kernel, official)


def _plugin_parts(settings: Settings, tools: Tools, scheduler: Scheduler, clock: Clock, ids: IdSource) -> PluginParts:
    tasks = TaskControl()
    uploads = Uploads(clock, tools.takes_uploads)
    tools.parts.more["uploads"] = uploads
    if settings.has_conformance_fixtures:
        from kernel.mcp.fixtures.endpoint import fixture_endpoint

        endpoint = fixture_endpoint(scheduler, clock, ids)
    else:
        cancels = settings.disconnect == "cancel"
        endpoint = MCPEndpoint(tools, scheduler, clock, ids, tasks=tasks, cancels_on_disconnect=cancels)

    async def surface(principal: str) -> str:
        return await tools.surface_version(Caller("internal", principal))

    task_route = TaskRoute(tasks, scheduler, clock, identify=principal_of, surface=surface)
    return PluginParts(endpoint, scheduler, tasks, task_route, uploads, tools.options, clock, tools.write_trouble)


def _resolver(
    settings: Settings,
    kernel: SiyuanKernel,
    http_settings: Callable[[], Configuration],
    official: OfficialMCP,
    plugin: PluginParts,
    emulator: Emulator,
    host: Host,
) -> Router:
    surface = KernelSurface(kernel, extra=official.routes())
    otherwise: Resolver = surface.resolve

    def is_enabled() -> bool:
        return http_settings().serves_endpoint

    if settings.host_url:
        get_file = guarded(exported_file(host), surface.authorize, is_enabled)
        otherwise = remote_resolver(settings.host_url, get_file, surface.resolve)
    has_controls = settings.has_emulator_controls or settings.faults is not None
    return Router(
        [
            *plugin_routes(plugin, surface.authorize, is_enabled=is_enabled),
            *emulator.routes(surface.authorize, has_controls=has_controls),
        ],
        hosts=HostGuard(bound=[settings.host], allowed=settings.allowed_hosts),
        origins=OriginGuard(lambda: http_settings().options.allowed_origins),
        otherwise=otherwise,
    )


def _http_settings(settings: Settings, kernel: SiyuanKernel, host: Host) -> Callable[[], Configuration]:
    """mcpHttpSettings, for guards that cannot wait."""
    embedded = near(host)
    if settings.host_url:
        return RemoteHttpSettings(host)
    if embedded is None:
        return Configuration

    def read() -> bytes | None:
        try:
            return kernel.workspace.files.read_again(HTTP_FILE.removeprefix("/"))
        except StorageError as error:
            raise OSError(error.reason) from error

    return HttpSettings(read, embedded.moment)


def run_app(settings: Settings) -> int:
    """Serve until a signal; the exit code. What cannot start says why in one line on standard error."""
    logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s")
    # What the client library logs carries URLs, cookies and headers of another kernel: never here.
    for library in ("httpx", "httpcore"):
        logging.getLogger(library).setLevel(logging.WARNING)
    try:
        # Notes are their owner's: a folder that we make is nobody else's to read.
        settings.workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        raise_file_limit(settings.connections_max + OTHER_FILES_MAX)
        with _owned(settings) as locks:
            trio.run(_serve, settings, locks)
    except (StartRefused, OSError) as error:
        print(f"sisyphus-kernel: {error}", file=sys.stderr)  # noqa: T201 - the command's own answer
        return error.code if isinstance(error, StartRefused) else EXIT_FAILED
    finally:
        if settings.removes_workspace:
            shutil.rmtree(settings.workspace, ignore_errors=True)
    return EXIT_DONE


@contextmanager
def _owned(settings: Settings) -> Iterator[list[CoordinatorLock]]:
    """The workspace and the coordinator are this process's, or it does not start (decisions 7 and 50)."""
    paths = [_storage(settings) / LOCK_FILE]
    if not settings.host_url:
        paths.insert(0, settings.workspace / WORKSPACE_LOCK)
    locks: list[CoordinatorLock] = []
    try:
        for path in paths:
            try:
                locks.append(CoordinatorLock.acquire(path))
            except HeldElsewhere as error:
                who = f"process {error.owner.pid} at {error.owner.url}" if error.owner else "another SiYuan kernel"
                raise StartRefused(f"{path.parent} is in use by {who}: stop it, or use another workspace") from None
        yield locks
    finally:
        for lock in reversed(locks):
            lock.release()


async def _serve(settings: Settings, locks: list[CoordinatorLock]) -> None:
    # The server closes it at its end; what cannot start must not leave it open either.
    with closing(_listen(settings)) as listener:
        await _serve_at(listener, settings, locks)


async def _serve_at(listener: socket.socket, settings: Settings, locks: list[CoordinatorLock]) -> None:
    async with open_app(settings, SystemClock(), SystemIds()) as app:
        # /api/system/exit ends the process the way a signal does.
        app.kernel.state["stop"] = lambda: os.kill(os.getpid(), signal.SIGTERM)
        url = _url(settings, listener)
        for lock in locks:
            lock.announce(url)
        async with trio.open_nursery() as nursery:
            await nursery.start(_end_on_signal, app)
            await nursery.start(app.server.serve, [listener])
            _say_ready(settings, url)


async def _end_on_signal(app: App, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
    """The first signal drains, in order; a second one ends the process at once."""
    with trio.open_signal_receiver(*_SIGNALS) as signals:
        task_status.started()
        async for _ in signals:
            break
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_end_at_once_on_signal, signals, app.settings)
            app.endpoint.close()
            end_streams(app.kernel)
            started = trio.current_time()
            await app.scheduler.drain(started + DRAIN_S)
            # What is behind its commit boundary is answered at its bound at the latest, with outcome_unknown.
            await app.scheduler.drain(started + app.settings.commit_bound_s + DRAIN_S)
            await app.server.drain(DRAIN_S)
            if app.scheduler.statistics().in_flight:
                # A host call that does not end: its ledger row says executing, and the next start says unknown.
                _log.warning("ending with a host write under way; its outcome is unknown")
                _end_process(app.settings, EXIT_DONE)
            nursery.cancel_scope.cancel()


async def _end_at_once_on_signal(signals: AsyncIterator[int], settings: Settings) -> None:
    async for number in signals:
        _end_process(settings, 128 + number)


def _end_process(settings: Settings, code: int) -> NoReturn:
    """At once. Not sys.exit: nothing may be waited for, not even a thread."""
    if settings.removes_workspace:
        shutil.rmtree(settings.workspace, ignore_errors=True)
    os._exit(code)


def _listen(settings: Settings) -> socket.socket:
    try:
        return open_listener(settings.host, settings.port)
    except OSError as error:
        hint = "choose another with --port, or --port 0 for a free one"
        raise StartRefused(f"cannot listen on {settings.host}:{settings.port} ({error.strerror}): {hint}") from None


def _url(settings: Settings, listener: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listener.getsockname()[1]}"


def _say_ready(settings: Settings, url: str) -> None:
    ready: dict[str, Any] = {"ready": True, "url": url, "mcp": f"{url}/sisyphus/mcp", "pid": os.getpid()}
    if settings.is_json:
        text = json.dumps(ready)
    else:
        text = f"Serving {settings.host_url or settings.workspace}\n  kernel  {url}\n  MCP     {ready['mcp']}\nCtrl-C ends it."
    print(text, flush=True)  # noqa: T201 - the command's own answer
