"""One world: a script carried out against real kernels on one simulated machine, watched by the book.

The machine lives until it crashes, and lives again on what its disk kept; clients find it gone, and come back. At the
end everything is checked at rest, the power is cut once more, and what was promised must be found by the next life.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import trio
from trio.testing import MockClock, memory_stream_pair

from kernel.app import App
from kernel.faults.plan import Rule
from kernel.ids import SeededIds
from kernel.sim.actor import Actor, mark_in
from kernel.sim.client import Lost, SimulatedClient
from kernel.sim.clock import VirtualClock
from kernel.sim.disk import Crashed, Deed, Image, SimulatedDisk, Watch
from kernel.sim.life import WatchedHost, inline_threads, open_life
from kernel.sim.limits import STARTS_MAX, WORLD_S_MAX
from kernel.sim.mishaps import MISHAPS
from kernel.sim.model import MARK, Book, BrokenPromise, HostWrite
from kernel.sim.notes import Notes, start_notes
from kernel.sim.rest import check_at_rest
from kernel.sim.script import Mishap, Script
from kernel.siyuan.kernel import SiyuanKernel
from scheduler.checker import Checker
from scheduler.events import CancelRequested, TraceEvent
from scheduler.testing import controlled_order
from scheduler.ticket import TicketState

_SYNCED_SUFFIX: Final = ".sy"


@dataclass(slots=True)
class Report:
    """What became of one world. ``failure`` "" is none."""

    seed: int
    digest: str
    operations: int
    lives: int
    requests: int
    host_writes: int
    virtual_s: float
    failure: str = ""
    trace: list[str] = field(default_factory=list)


class World:
    """The machine, its clients, its book. Made for one run."""

    def __init__(self, script: Script, *, keeps_trace: bool = False) -> None:
        self.script = script
        self.notes: Notes = start_notes()
        self.book = Book()
        self.clock = VirtualClock()
        self.chance = random.Random(f"world {script.seed}")
        self.app: App | None = None
        self.alive = trio.Event()
        self.image: Image = self.notes.image
        self.disk = SimulatedDisk()
        self.lives = 0
        self.requests = 0
        self.clients: list[SimulatedClient] = []
        self.prepared: list[Any] = []
        self.checker = Checker()
        self.failure: BaseException | None = None
        self.trace: list[str] = []
        self._watches: list[Watch] = []
        self._keeps_trace = keeps_trace
        self._hash = blake2b(digest_size=16)
        self._life = trio.CancelScope()
        self.serving: trio.Nursery | None = None
        self._is_over = trio.Event()

    # --- the trace -------------------------------------------------------------------------------------------
    def log(self, *facts: object) -> None:
        """One line of the trace: the same seed makes the same lines."""
        line = f"{self.clock.now():.6f} " + " ".join(str(one) for one in facts)
        self._hash.update(line.encode("utf-8", "replace") + b"\n")
        if self._keeps_trace:
            self.trace.append(line)

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def fail(self, error: BaseException) -> None:
        """A promise is broken: the first one is told, and the world ends."""
        if self.failure is None:
            self.failure = error
            self.log("BROKEN", error)
        self._life.cancel()
        self._is_over.set()

    # --- the machine -----------------------------------------------------------------------------------------
    async def run(self) -> None:
        """Everything, from the first start to the last check. Raises BrokenPromise."""
        with trio.fail_after(WORLD_S_MAX):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._play, nursery)
                while not self._is_over.is_set():
                    if self.lives == STARTS_MAX:
                        raise BrokenPromise(f"the machine was started {STARTS_MAX} times")
                    try:
                        await self._live()
                    except* Crashed:
                        pass
                nursery.cancel_scope.cancel()
        if self.failure is not None:
            raise self.failure

    async def _live(self) -> None:
        self.disk = SimulatedDisk(self.image, wall_ms=self.clock.wall_ms)
        self.disk.watch = self._watch_disk
        self.lives += 1
        self.checker = Checker()
        ids = SeededIds(self.script.seed * 100 + self.lives)
        self.log("start", self.lives)
        with trio.CancelScope() as self._life:
            async with (
                open_life(
                    self.disk,
                    self.clock,
                    ids,
                    make_host=self._make_host,
                    observer=self._observe,
                    crash=self.crash_here,
                ) as app,
                trio.open_nursery() as self.serving,
            ):
                # The trace of the laboratory is not read here, and costs.
                app.trigger.trace.is_on = False
                self.app = app
                self.alive.set()
                await self._is_over.wait()
                self.app = None
                self.serving.cancel_scope.cancel()

    def crash(self, *, is_power_cut: bool) -> None:
        """The machine dies in this moment. Synchronous."""
        if self.disk.is_dead:
            return
        self.log("crash", "power" if is_power_cut else "kill")
        self.image = self.disk.after_power_cut(self.chance) if is_power_cut else self.disk.after_kill()
        self.disk.is_dead = True
        self.app = None
        if self.alive.is_set():  # else somebody waits for this very event: it died while it was starting
            self.alive = trio.Event()
        self._life.cancel()
        for client in self.clients:
            client.sever()
        self.book.after_crash()
        self._check_disk("after a crash")

    def crash_here(self) -> None:
        """The same, for who runs on the machine: it goes no further. Power is cut as often as not."""
        self.crash(is_power_cut=self.chance.random() < 0.5)
        raise Crashed

    def connect(self) -> Any:
        """A new stream to the kernel that lives. Raises Lost through the client if none does."""
        if self.app is None or self.serving is None or self._is_over.is_set():
            raise Lost
        ours, theirs = memory_stream_pair()
        self.serving.start_soon(self.app.server.serve_stream, theirs)
        return ours

    def watch_disk(self, watch: Watch) -> None:
        """From now on, and in later lives too, ``watch`` is told of each operation of the disk before it is done."""
        self._watches.append(watch)

    def _watch_disk(self, number: int, deed: Deed, path: str) -> None:
        for watch in self._watches:
            watch(number, deed, path)

    # --- watching --------------------------------------------------------------------------------------------
    def _make_host(self, kernel: SiyuanKernel) -> WatchedHost:
        disk = self.disk

        def begins(path: str, arguments: object) -> HostWrite | None:
            if disk.is_dead:  # somebody outside of the machine still waited for it
                raise Crashed
            return self._host_begins(path, arguments)

        def latency() -> float:
            if disk.is_dead:
                raise Crashed
            return self.chance.random() * self.script.latency_s

        return WatchedHost(kernel, begins, self._host_ends, latency)

    def _host_begins(self, path: str, arguments: object) -> HostWrite | None:
        with self._broken():
            write = self.book.host_begins(arguments)
            if write is not None:
                self.log("host", path, write.mark)
            return write
        raise Crashed

    def _host_ends(self, write: HostWrite, is_done: bool) -> None:
        if self.disk.is_dead:
            return
        # A refused write has no effect, but for a disk that failed when the new file was in its place already.
        is_on_disk = not is_done and write.mark in marks_on(self.disk.after_kill())
        self.book.host_ends(write, is_done=None if is_on_disk else is_done)
        self.log("host ended", write.mark, is_done)

    def _observe(self, event: TraceEvent) -> None:
        if self.disk.is_dead:
            return
        self.checker(event)
        self.log(event)
        is_cancel = isinstance(event, CancelRequested) and event.is_accepted
        if is_cancel and TicketState.COMMITTING in self.checker.path(event.number):
            self.fail(BrokenPromise(f"ticket {event.number} was cancelled behind its commit boundary"))
        if self.checker.violations:
            self.fail(BrokenPromise(self.checker.violations[0]))

    @contextmanager
    def _broken(self) -> Iterator[None]:
        try:
            yield
        except BrokenPromise as error:
            self.fail(error)

    def _check_disk(self, what: str) -> None:
        with self._broken():
            self.book.check_left(marks_on(self.image), what)

    # --- the play --------------------------------------------------------------------------------------------
    async def _play(self, nursery: trio.Nursery) -> None:
        try:
            await self.alive.wait()
            async with trio.open_nursery() as mishaps:
                for mishap in self.script.mishaps:
                    mishaps.start_soon(self._befall, mishap)
                await self._act()
                mishaps.cancel_scope.cancel()
            await self._end()
        except* BrokenPromise as group:
            self.fail(_first(group))
        finally:
            self._is_over.set()

    async def _befall(self, mishap: Mishap) -> None:
        await MISHAPS[mishap.kind](self, mishap)

    async def _act(self) -> None:
        async with trio.open_nursery() as actors:
            for number, era in enumerate(self.script.eras):
                client = SimulatedClient(
                    f"client {number}", era, self.connect, random.Random(f"{self.script.seed} {number}")
                )
                client.has_form = number % 2 == 0
                self.clients.append(client)
                mine = [one for one in self.script.operations if one.client == number]
                actors.start_soon(Actor(self, client).act, mine)

    async def _end(self) -> None:
        """At rest, then after a last power cut: nothing is left over, and everything promised is there."""
        await self._rest("at the end", calls_in=False)
        self.crash(is_power_cut=True)
        await self._rest("after the last power cut", calls_in=True)
        self.book.check_settled()

    async def _rest(self, what: str, *, calls_in: bool) -> None:
        await self.alive.wait()
        app = self.app
        assert app is not None
        app.trigger.plan.clear()
        self._watches.clear()
        await check_at_rest(self, app, what, calls_in=calls_in)

    def check_text(self, block: str, answer: Mapping[str, Any], began: int, what: str) -> None:
        """A block's text, read from step ``began`` on, is one that it may show. Raises BrokenPromise."""
        if "error" not in answer:
            self.book.check_seen(f"text {block}", mark_in(str(answer.get("kramdown", ""))), began, what)

    def add_rule(self, rule: Rule) -> None:
        if self.app is not None:
            self.app.trigger.plan.extend([rule])


def marks_on(image: Image) -> set[int]:
    """The marks in the documents of a disk."""
    return {
        int(found[1])
        for path, content in image.items()
        if content is not None and path.endswith(_SYNCED_SUFFIX)
        for found in MARK.finditer(content.decode("utf-8", "replace"))
    }


def run_world(script: Script, *, keeps_trace: bool = False) -> Report:
    """Carry a script out. Never raises for a broken promise: the report says so."""
    failure = ""
    start_notes()
    heard = _Ear()
    with inline_threads(), controlled_order(random.Random(f"order {script.seed}")), heard.listening():
        clock = MockClock(autojump_threshold=0)
        holder: list[World] = []

        async def main() -> None:
            holder.append(World(script, keeps_trace=keeps_trace))
            heard.world = holder[0]
            await holder[0].run()

        try:
            trio.run(main, clock=clock)
        except (Exception, BaseExceptionGroup, Crashed) as error:
            failure = describe(error)
    world = holder[0]
    if world.failure is not None:
        failure = describe(world.failure)
    return Report(
        script.seed,
        world.digest,
        len(script.operations),
        world.lives,
        world.requests,
        sum(len(writes) for writes in world.book.writes.values()),
        clock.current_time(),
        failure,
        world.trace,
    )


class _Ear(logging.Handler):
    """Hears what the kernel logs: an error that nobody foresaw is a broken promise, unless the machine is dying."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.world: World | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.world is not None and not self.world.disk.is_dead:
            cause = record.exc_info[1] if record.exc_info else None
            told = "" if cause is None else f": {describe(cause)}"
            self.world.fail(BrokenPromise(f"an error nobody foresaw: {record.getMessage()}{told}"))

    @contextmanager
    def listening(self) -> Iterator[None]:
        loggers = [logging.getLogger(name) for name in ("kernel", "scheduler")]
        saved = [logger.propagate for logger in loggers]
        for logger in loggers:
            logger.addHandler(self)
            logger.propagate = False
        try:
            yield
        finally:
            for logger, propagates in zip(loggers, saved, strict=True):
                logger.removeHandler(self)
                logger.propagate = propagates


def describe(error: BaseException) -> str:
    """What broke, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, BrokenPromise):
        return str(error)
    if isinstance(error, trio.TooSlowError):
        return f"the world did not come to an end within {WORLD_S_MAX:g} virtual seconds"
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" at {place.tb_frame.f_code.co_filename.rpartition('/')[2]}:{place.tb_lineno}" if place else ""
    return f"{type(error).__name__}: {error}{where}"


def _first(group: BaseExceptionGroup[BrokenPromise]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
