"""Cases of others, at the level of the scheduler: each docstring names the case and its family.

The hosts here are held and released by hand; "at once" means: before anything that is held is released.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import trio
import trio.testing

from scheduler import (
    CancelOutcome,
    CommitOverrun,
    Key,
    Lane,
    QueueFull,
    RequestCancelled,
    Scheduler,
    Ticket,
    TicketState,
    open_scheduler,
)
from scheduler.testing import MOMENTS, CancelInjector, Checker, Moment, cancel_everywhere

settled = trio.testing.wait_all_tasks_blocked
SESSION = "S"


@dataclass
class World:
    """A session's calls at a host whose calls can be held."""

    scheduler: Scheduler
    checker: Checker
    nursery: trio.Nursery
    hold: dict[str, trio.Event] = field(default_factory=dict)
    host_calls: list[object] = field(default_factory=list)
    answers: list[tuple[object, str]] = field(default_factory=list)
    scopes: dict[object, trio.CancelScope] = field(default_factory=dict)

    def read(self, key: Key, *, session: str | None = SESSION, name: object = None, host_call: str = "read") -> None:
        async def work(ticket: Ticket) -> str:
            ticket.check_cancelled()
            await self._host(host_call, key if name is None else name)
            ticket.check_cancelled()
            return "kramdown"

        self._call(key, session, name, Lane.READ, work)

    def write(self, key: Key, *, bound_s: float = 30.0, task_id: str | None = None, **names: Any) -> None:
        async def work(ticket: Ticket) -> str:
            await self._host("probe", key)
            boundary = self.scheduler.boundary(ticket, bound_s=bound_s)
            boundary.enter_commit()
            try:
                await boundary.run(lambda: self._host("update", key))
            except CommitOverrun:
                return "outcome_unknown"
            return "committed"

        self._call(key, SESSION, names.get("name"), Lane.MUTATION, work, task_id)

    def answer_to(self, key: object) -> str | None:
        found = [answer for name, answer in self.answers if (type(name), name) == (type(key), key)]
        assert len(found) <= 1, f"{key!r} was answered {found}"
        return found[0] if found else None

    def host_count(self, call: str) -> int:
        return sum(1 for name, _key in self.host_calls if name == call)  # type: ignore[misc]

    async def _host(self, call: str, key: object) -> None:
        self.host_calls.append((call, key))
        if call in self.hold:
            await self.hold[call].wait()
        else:
            await trio.lowlevel.checkpoint()

    def _call(
        self,
        key: Key,
        session: str | None,
        name: object,
        lane: Lane,
        work: Callable[[Ticket], Awaitable[str]],
        task_id: str | None = None,
    ) -> None:
        async def call() -> None:
            with scope:
                try:
                    with self.scheduler.admit(key, session=session, task_id=task_id) as ticket:
                        answer = await self.scheduler.perform(ticket, lane, work)
                except RequestCancelled:
                    answer = "request_cancelled"
                except QueueFull as refusal:
                    answer = f"queue_full {refusal.retry_after_ms}"
                self.answers.append((key if name is None else name, answer))

        scope = self.scopes[key if name is None else name] = trio.CancelScope()
        self.nursery.start_soon(call)


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    checker = Checker()
    async with open_scheduler(observer=checker) as scheduler, trio.open_nursery() as nursery:
        yield World(scheduler, checker, nursery)
        assert await scheduler.drain()
        await settled()
        checker.verify(scheduler.statistics())


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_cancel_between_the_end_of_a_handler_and_its_answer_gives_one_answer(moment: Moment) -> None:
    """A01, cancel-outcome: at every scheduling point, either the value or the cancel, never both, never neither."""
    fates: set[str | None] = set()

    async def scenario(injector: CancelInjector) -> None:
        async with world() as w:
            injector.strike_with(lambda: w.scheduler.cancel(SESSION, 7))
            w.read(7)
            await settled()
            fate = w.answer_to(7)
            fates.add(fate)
            w.read(8)
            await settled()
            assert w.answer_to(8) == "kramdown"
            assert w.scheduler.statistics().in_flight == 0

    cancel_everywhere(scenario, moments=[moment])
    assert fates == {"kramdown", "request_cancelled"}


async def test_a_queued_write_that_was_cancelled_never_runs() -> None:
    """A02, lane."""
    async with world() as w:
        w.hold["update"] = trio.Event()
        for key in (11, 12, 13):
            w.write(key)
            await settled()
        w.read(14)
        await settled()
        assert w.scheduler.cancel(SESSION, 12) is CancelOutcome.ACCEPTED
        await settled()
        assert w.answer_to(12) == "request_cancelled"
        assert w.answer_to(14) == "kramdown"
        assert w.answer_to(11) is None
        assert w.scheduler.statistics().queued == 1
        w.hold["update"].set()
        await settled()
        assert [answer for answer in w.answers if answer[1] == "committed"] == [(11, "committed"), (13, "committed")]
        assert ("probe", 12) not in w.host_calls
        w.write(12, name="12 again")
        await settled()
        assert w.answer_to("12 again") == "committed"
        assert w.host_count("update") == 3


async def test_a_bound_ends_the_wait_not_the_work_and_the_lane_stays_taken(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """A03, lane: the second write reaches the host only after the first has really left it."""
    async with world() as w:
        w.hold["update"] = trio.Event()
        w.write("A", bound_s=0.2)
        await trio.sleep(0.3)
        assert w.answer_to("A") == "outcome_unknown"
        w.write("B", bound_s=0.2)
        await trio.sleep(5)
        assert w.host_count("update") == 1
        assert w.answer_to("B") is None
        w.hold["update"].set()
        await trio.sleep(0.1)
        assert w.answer_to("B") == "committed"
        assert w.host_count("update") == 2


@pytest.mark.parametrize("key", [0, ""])
async def test_a_falsy_id_is_an_id(key: Key) -> None:
    """A05, cancel-target."""
    async with world() as w:
        w.hold["read"] = trio.Event()
        w.read(key)
        await settled()
        assert w.scheduler.cancel(SESSION, key) is CancelOutcome.ACCEPTED
        await settled()
        assert w.answer_to(key) == "request_cancelled"
        w.hold["read"].set()


async def test_number_and_string_ids_are_not_mixed_up() -> None:
    """A06, cancel-target."""
    async with world() as w:
        w.hold["read"] = trio.Event()
        w.read(5)
        w.read("5")
        w.read(1)
        await settled()
        assert w.scheduler.cancel(SESSION, "5") is CancelOutcome.ACCEPTED
        assert w.scheduler.cancel(SESSION, True) is CancelOutcome.NOT_FOUND
        assert w.scheduler.cancel(SESSION, 1.0) is CancelOutcome.NOT_FOUND
        w.hold["read"].set()
        await settled()
        assert (w.answer_to("5"), w.answer_to(5), w.answer_to(1)) == ("request_cancelled", "kramdown", "kramdown")


@pytest.mark.parametrize("key", [999, None, [21], {"requestId": 21}])
async def test_unknown_cancels_have_no_effect(key: object) -> None:
    """A08, cancel-target."""
    async with world() as w:
        w.hold["read"] = trio.Event()
        w.read(1)
        await settled()
        assert w.scheduler.cancel(SESSION, key) is CancelOutcome.NOT_FOUND
        assert w.scheduler.cancel(None, 1) is CancelOutcome.NOT_FOUND
        assert w.scheduler.cancel("no such session", 1) is CancelOutcome.NOT_FOUND
        w.hold["read"].set()
        await settled()
        assert w.answer_to(1) == "kramdown"


async def test_late_cancels_have_no_effect() -> None:
    """A08, cancel-target."""
    async with world() as w:
        w.read(21)
        await settled()
        for _ in range(5):
            assert w.scheduler.cancel(SESSION, 21) is CancelOutcome.NOT_FOUND
        w.read(21, name="21 again")
        await settled()
        assert w.answer_to("21 again") == "kramdown"


async def test_a_cancelled_call_is_answered_exactly_once() -> None:
    """A09, cancel-outcome: at once, and not again when its host call ends or when it is cancelled again."""
    async with world() as w:
        w.hold["read"] = trio.Event()
        w.read(31)
        await settled()
        w.scheduler.cancel(SESSION, 31)
        await settled()
        assert w.answers == [(31, "request_cancelled")]
        assert w.scheduler.cancel(SESSION, 31) is CancelOutcome.FINISHED
        w.hold["read"].set()
        await settled()
        assert w.answers == [(31, "request_cancelled")]


async def test_a_cancel_does_not_queue_behind_what_it_should_stop() -> None:
    """A11, lane: 4 reads and a write at the host, 123 reads waiting; the last of them leaves at once."""
    async with world() as w:
        w.hold["read"], w.hold["update"] = trio.Event(), trio.Event()
        w.write("W")
        for number in range(127):
            w.read(number)
        await settled()
        queued = [t for t in w.scheduler.tickets() if t.state is TicketState.QUEUED]
        assert (w.scheduler.statistics().in_flight, len(queued)) == (128, 123)
        last = queued[-1].key
        assert w.scheduler.cancel(SESSION, last) is CancelOutcome.ACCEPTED
        await settled()
        assert w.answer_to(last) == "request_cancelled"
        assert w.scheduler.statistics().in_flight == 127
        with w.scheduler.admit("the free place"):
            pass
        assert w.scheduler.cancel(SESSION, "W") is CancelOutcome.COMMITTING
        w.hold["read"].set()
        w.hold["update"].set()


async def test_just_before_the_commit_boundary_a_cancel_wins() -> None:
    """A12 (a), cancel-outcome."""
    async with world() as w:
        w.hold["probe"] = trio.Event()
        w.write(41)
        await settled()
        assert w.scheduler.cancel(SESSION, 41) is CancelOutcome.ACCEPTED
        w.hold["probe"].set()
        await settled()
        assert w.answer_to(41) == "request_cancelled"
        assert w.host_count("update") == 0


async def test_just_after_the_commit_boundary_a_cancel_is_refused() -> None:
    """A12 (b), cancel-outcome."""
    async with world() as w:
        w.hold["update"] = trio.Event()
        w.write(42, task_id="T")
        await settled()
        assert w.scheduler.cancel(SESSION, 42) is CancelOutcome.COMMITTING
        assert w.scheduler.cancel_task("T") is CancelOutcome.COMMITTING
        status = w.scheduler.status("T")
        assert status is not None
        assert (status.is_committing, status.cancel_requested) == (True, False)
        w.hold["update"].set()
        await settled()
        assert w.answer_to(42) == "committed"
        assert w.host_count("update") == 1


async def test_the_129th_call_is_refused_and_dropped_connections_make_room() -> None:
    """A15, lane."""
    async with world() as w:
        w.hold["read"] = trio.Event()
        for number in range(128):
            w.read(1, session=None, name=number)
        await settled()
        found = w.scheduler.statistics()
        assert (found.reads.running, found.reads.queued, found.in_flight) == (4, 124, 128)
        w.read(1, session=None, name="129th")
        await settled()
        assert w.answer_to("129th") == "queue_full 1000"
        assert len(w.host_calls) == 4
        running = {name for _call, name in w.host_calls}  # type: ignore[misc]
        dropped = [number for number in range(128) if number not in running][:50]
        for number in dropped:
            w.scopes[number].cancel()
        await settled()
        assert w.scheduler.statistics().in_flight == 78
        for number in range(50):
            w.read(1, session=None, name=f"new {number}")
        await settled()
        assert w.scheduler.statistics().in_flight == 128
        assert w.scheduler.statistics().refused_total == 1
        w.hold["read"].set()
        assert await w.scheduler.drain()
        await settled()
        answered = [name for name, answer in w.answers if answer == "kramdown"]
        assert len(answered) == 128 - 50 + 50
        assert not set(dropped) & set(answered)
