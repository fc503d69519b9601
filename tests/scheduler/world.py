"""A host that counts what is in it, and callers around a scheduler: what the sweeps and their self-test run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import trio
from outcome import Error, Outcome

from scheduler import CommitOverrun, Lane, RequestCancelled, Scheduler, Ticket, TicketState
from scheduler.testing import CancelInjector, Checker

SESSION = "session"

End = tuple[TicketState | None, TicketState | None, str | None]
"""The victim's state when it was struck, its last state, and what its caller heard (None: it had left)."""


@dataclass
class Host:
    """Calls take virtual time and cannot be interrupted by the scheduler; the host counts who is in it."""

    reads_max: int
    write_s: float = 0.017
    reading: int = 0
    writing: int = 0
    calls: list[str] = field(default_factory=list)  # who began a call
    rows: list[str] = field(default_factory=list)  # writes that took effect
    settled: list[str] = field(default_factory=list)  # writes whose end was recorded
    violations: list[str] = field(default_factory=list)

    async def read(self, name: str, seconds: float) -> None:
        self.calls.append(name)
        self.reading += 1
        if self.reading > self.reads_max:
            self.violations.append(f"{self.reading} reads in the host")
        try:
            await trio.sleep(seconds)
        finally:
            self.reading -= 1

    async def write(self, name: str) -> None:
        self.writing += 1
        if self.writing > 1:
            self.violations.append(f"{self.writing} writes in the host")
        try:
            await trio.sleep(0.013)
            self.rows.append(name)
            await trio.sleep(self.write_s)
        finally:
            self.writing -= 1

    async def settle(self, name: str, seconds: float = 0.0) -> None:
        """The record of a write's end: as many at once as there are."""
        if seconds:
            await trio.sleep(seconds)
        self.settled.append(name)


@dataclass
class World:
    """One scheduler, one host, one checker; ``told`` is what each caller heard."""

    scheduler: Scheduler
    host: Host
    checker: Checker
    told: dict[str, str] = field(default_factory=dict)
    kept: dict[str, list[str]] = field(default_factory=dict)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    looks: list[str] = field(default_factory=list)
    struck: TicketState | None = None  # the state in which the strike found the victim

    def cancel_victim(self) -> None:
        self._note_struck()
        self.scheduler.cancel(SESSION, "victim")

    def leave_victim(self, scope: trio.CancelScope) -> None:
        self._note_struck()
        scope.cancel("the victim's connection is gone")

    def _note_struck(self) -> None:
        if "victim" in self.tickets:
            self.struck = self.tickets["victim"].state

    async def read(self, name: str, **options: Any) -> None:
        async def work(ticket: Ticket) -> str:
            for step_s in (0.011, 0.007):
                ticket.check_cancelled()
                await self.host.read(name, step_s)
                ticket.check_cancelled()
            return "value"

        await self._call(name, Lane.READ, work, **options)

    async def write(self, name: str, *, bound_s: float = 5.0, settle_s: float = 0.0, **options: Any) -> None:
        """``settle_s``: how long its end is on its way to the disk, out of the slot (0: it never leaves it)."""

        async def work(ticket: Ticket) -> str:
            await trio.sleep(0.003)  # the probe
            boundary = self.scheduler.boundary(ticket, bound_s=bound_s)

            async def commit() -> None:
                await self.host.write(name)
                if settle_s:
                    boundary.leave_slot()
                await self.host.settle(name, settle_s)

            boundary.enter_commit()
            try:
                await boundary.run(commit)
            except CommitOverrun:
                return "unknown"
            return "committed"

        await self._call(name, Lane.MUTATION, work, **options)

    async def look(self, name: str, *, settle_s: float, **options: Any) -> None:
        """A preflight: a look at the host in the slot, then a wait for the disk out of it."""

        async def work(ticket: Ticket) -> str:
            await trio.sleep(0.003)
            ticket.leave_slot()
            await trio.sleep(settle_s)
            return "value"

        self.looks.append(name)
        await self._call(name, Lane.MUTATION, work, **options)

    async def _call(
        self,
        name: str,
        lane: Lane,
        work: Callable[[Ticket], Any],
        *,
        watched: AbstractContextManager[object] | None = None,
        outlives_caller: bool = False,
    ) -> None:
        scheduler = self.scheduler
        with watched or nullcontext():
            with scheduler.admit(name, session=SESSION, outlives_caller=outlives_caller, label=name) as ticket:
                self.tickets[name] = ticket
                try:
                    with scheduler.preparing(ticket):
                        # Distinct times: Trio fires equal deadlines in an order that no seed decides.
                        await trio.sleep(0.001 + ticket.number * 0.000_1)
                    answer = await scheduler.perform(ticket, lane, work, on_answer=self._keep(ticket))
                except RequestCancelled:
                    answer = "cancelled"
            self.told[name] = answer
            self.checker.answered(ticket.number)

    def _keep(self, ticket: Ticket) -> Callable[[Outcome[Any]], None]:
        def keep(result: Outcome[Any]) -> None:
            answer = "cancelled" if isinstance(result, Error) else str(result.value)
            self.kept.setdefault(ticket.label, []).append(answer)
            # An answer may find the slot taken only if it overtook its work, by a cancel or by the bound.
            if ticket.holds_slot and answer not in ("cancelled", "unknown"):
                self.host.violations.append(f"{ticket.label} answered while it holds its slot")

        return keep

    def verify(self, ends: set[End] | None = None) -> None:
        """What must hold when nothing is in flight any more; ``ends`` collects how the victim fared."""
        if ends is not None:
            victim = self.tickets.get("victim")
            ends.add((self.struck, victim and victim.state, self.told.get("victim")))
        self.checker.verify(self.scheduler.statistics())
        host = self.host
        assert not host.violations, host.violations[0]
        assert (host.reading, host.writing) == (0, 0)
        assert host.rows == host.settled, f"S7 rows {host.rows}, settled {host.settled}"
        for name, ticket in self.tickets.items():
            state = ticket.state
            kept = self.kept.get(name, [])
            assert len(kept) <= 1, f"S3 {name} was answered {kept}"
            if ticket.lane is not None:
                assert len(kept) == 1, f"S3 {name} was never answered"
            if name in self.told:
                assert (self.told[name] == "cancelled") == (state is TicketState.CANCELLED), f"S3 {name} {state}"
            if ticket.lane is Lane.MUTATION and name not in self.looks:
                assert (name in host.rows) == (state is TicketState.COMPLETED), f"S7 {name} {state}"


@asynccontextmanager
async def open_world(
    *, read_slots: int = 4, write_s: float = 0.017, kind: type[Scheduler] = Scheduler
) -> AsyncIterator[World]:
    checker = Checker(read_slots=read_slots)
    scheduler = kind(read_slots=read_slots, observer=checker)
    async with trio.open_nursery() as nursery:
        await nursery.start(scheduler.run)
        yield World(scheduler, Host(read_slots, write_s), checker)
        nursery.cancel_scope.cancel()


Strike = Literal["own points", "leave", "name"]
"""The victim's caller leaves at its own points; it leaves at any task's points; the ticket is cancelled by name."""


def _aim(injector: CancelInjector, world: World, strike: Strike) -> AbstractContextManager[object] | None:
    if strike == "name":
        injector.strike_with(world.cancel_victim)
        return None
    if strike == "leave":
        injector.strike_with(lambda: world.leave_victim(injector.scope))
    return injector.watch()


async def read_path(
    injector: CancelInjector,
    *,
    strike: Strike = "own points",
    outlives_caller: bool = False,
    kind: type[Scheduler] = Scheduler,
    ends: set[End] | None = None,
) -> None:
    """Two slots, four readers and a writer; the third reader is struck."""
    async with open_world(read_slots=2, kind=kind) as world:
        watched = _aim(injector, world, strike)
        async with trio.open_nursery() as nursery:
            for name in ("a", "b"):
                nursery.start_soon(world.read, name)
            await trio.lowlevel.checkpoint()
            nursery.start_soon(lambda: world.read("victim", watched=watched, outlives_caller=outlives_caller))
            nursery.start_soon(world.read, "c")
            nursery.start_soon(world.write, "w")
        await world.scheduler.drain()
        world.verify(ends)
        assert {name: world.told.get(name) for name in "abcw"} == dict.fromkeys("abc", "value") | {"w": "committed"}
        victim = world.tickets.get("victim")
        if victim is not None and "victim" not in world.told:
            assert victim.is_cancelled != outlives_caller, "S3 the victim left, and its read ran on or did not"


async def write_path(
    injector: CancelInjector,
    *,
    strike: Strike = "own points",
    outlives_caller: bool = False,
    write_s: float = 0.017,
    settle_s: float = 0.0,
    kind: type[Scheduler] = Scheduler,
    ends: set[End] | None = None,
) -> None:
    """Three writers in one lane and a reader; the second writer is struck. ``write_s`` may exceed the bound (1 s)."""
    async with open_world(write_s=write_s, kind=kind) as world:
        watched = _aim(injector, world, strike)
        async with trio.open_nursery() as nursery:
            write = partial(world.write, bound_s=1, settle_s=settle_s)
            nursery.start_soon(write, "a")
            await trio.lowlevel.checkpoint()
            nursery.start_soon(partial(write, "victim", watched=watched, outlives_caller=outlives_caller))
            nursery.start_soon(write, "c")
            nursery.start_soon(world.read, "r")
        await world.scheduler.drain()
        world.verify(ends)
        end = "unknown" if write_s > 1 else "committed"
        assert {name: world.told.get(name) for name in "acr"} == {"a": end, "c": end, "r": "value"}
        assert {"a", "c"} <= set(world.host.rows)


async def settling_path(
    injector: CancelInjector,
    *,
    strike: Strike = "own points",
    kind: type[Scheduler] = Scheduler,
    ends: set[End] | None = None,
) -> None:
    """Preflights and a write, each on its way to a slow disk out of its slot; the second preflight is struck."""
    async with open_world(kind=kind) as world:
        watched = _aim(injector, world, strike)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(world.look, "a", settle_s=0.1))
            await trio.lowlevel.checkpoint()
            nursery.start_soon(partial(world.look, "victim", settle_s=0.11, watched=watched))
            nursery.start_soon(partial(world.write, "w", settle_s=0.12))
            nursery.start_soon(partial(world.look, "b", settle_s=0.013))
        await world.scheduler.drain()
        world.verify(ends)
        assert {name: world.told.get(name) for name in "awb"} == {"a": "value", "w": "committed", "b": "value"}
