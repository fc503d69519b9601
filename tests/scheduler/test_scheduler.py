"""What a caller may rely on: slots, answers, departures, drains. One small story per test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
import trio.testing
from outcome import Error, Outcome, Value

from scheduler import (
    CancelOutcome,
    DuplicateKey,
    Lane,
    LocalProtocolError,
    RequestCancelled,
    RunAborted,
    Scheduler,
    SchedulerClosed,
    Ticket,
    TicketState,
    Undelivered,
    open_scheduler,
)
from scheduler.events import CallerLeft, TraceEvent
from scheduler.limits import RUNS_PER_STEP_MAX

settled = trio.testing.wait_all_tasks_blocked


class Hold:
    """A host call that ends when it is told to."""

    def __init__(self) -> None:
        self.entered = 0
        self.release = trio.Event()

    async def __call__(self, ticket: Ticket) -> str:
        self.entered += 1
        await self.release.wait()
        ticket.check_cancelled()
        return f"value {ticket.number}"


class Caller:
    """A task that makes one call and remembers what it heard."""

    def __init__(
        self, scheduler: Scheduler, lane: Lane, work: Callable[[Ticket], Awaitable[Any]], **admission: Any
    ) -> None:
        self.scheduler, self.lane, self.work = scheduler, lane, work
        self.scope = trio.CancelScope()
        self.heard: Any = None
        self.ticket = scheduler.admit(**admission)

    async def __call__(self) -> None:
        with self.scope, self.ticket:
            try:
                self.heard = await self.scheduler.perform(self.ticket, self.lane, self.work)
            except Exception as error:
                self.heard = error


def started(nursery: trio.Nursery, scheduler: Scheduler, lane: Lane, work: Any, **admission: Any) -> Caller:
    caller = Caller(scheduler, lane, work, **admission)
    nursery.start_soon(caller)
    return caller


# --- slots and answers ---


async def test_a_call_returns_the_value_of_its_work() -> None:
    async def work(ticket: Ticket) -> str:
        return f"ticket {ticket.number} in lane {ticket.lane}"

    async with open_scheduler() as scheduler:
        with scheduler.admit(1) as ticket:
            assert await scheduler.perform(ticket, Lane.READ, work) == "ticket 1 in lane Lane.READ"
        assert ticket.state is TicketState.COMPLETED
        assert scheduler.statistics().in_flight == 0


async def test_a_call_raises_the_error_of_its_work() -> None:
    async def work(_ticket: Ticket) -> None:
        raise ValueError("from the work")

    async with open_scheduler() as scheduler:
        with pytest.raises(ValueError, match="from the work"), scheduler.admit(1) as ticket:
            await scheduler.perform(ticket, Lane.READ, work)
        assert ticket.state is TicketState.FAILED
        assert scheduler.statistics().running == 0


@pytest.mark.parametrize(("lane", "slots"), [(Lane.READ, 4), (Lane.MUTATION, 1)])
async def test_one_more_than_the_slots_waits(lane: Lane, slots: int) -> None:
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        callers = [started(nursery, scheduler, lane, hold) for _ in range(slots + 1)]
        await settled()
        found = scheduler.statistics().lane(lane)
        assert (hold.entered, found.running, found.queued) == (slots, slots, 1)
        hold.release.set()
        await settled()
        assert all(str(caller.heard).startswith("value") for caller in callers)


async def test_a_slow_read_never_occupies_the_mutation_lane() -> None:
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        for _ in range(10):
            started(nursery, scheduler, Lane.READ, hold)
        await settled()
        with scheduler.admit(1) as ticket:
            assert await scheduler.perform(ticket, Lane.MUTATION, returns("written")) == "written"
        hold.release.set()


async def test_mutations_start_in_order_of_arrival() -> None:
    order: list[int] = []

    async def work(ticket: Ticket) -> None:
        order.append(ticket.number)
        await trio.lowlevel.checkpoint()

    async with open_scheduler() as scheduler:
        tickets = [scheduler.admit() for _ in range(5)]
        arrival = [3, 0, 4, 1, 2]
        for index in arrival:
            scheduler.submit(tickets[index], Lane.MUTATION, work, on_answer=lambda _outcome: None)
        assert await scheduler.drain()
    assert order == [tickets[index].number for index in arrival]


async def test_a_free_slot_is_taken_before_the_first_checkpoint() -> None:
    async with open_scheduler() as scheduler:
        ticket = scheduler.admit()
        with trio.testing.assert_no_checkpoints():
            scheduler.submit(ticket, Lane.READ, returns(1), on_answer=lambda _outcome: None)
        assert ticket.state is TicketState.RUNNING
        assert scheduler.statistics().reads.running == 1


async def test_the_slot_is_free_before_the_answer_is_given() -> None:
    taken: list[int] = []
    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket:
            await scheduler.perform(
                ticket,
                Lane.MUTATION,
                returns(1),
                on_answer=lambda _outcome: taken.append(scheduler.statistics().in_flight),
            )
    assert taken == [0]


async def test_the_successor_has_its_slot_before_the_answer_is_given() -> None:
    """Nobody can slip in between: the plan is made before anything is told."""
    seen: list[TicketState] = []
    async with open_scheduler() as scheduler:
        first, second = scheduler.admit(), scheduler.admit()
        scheduler.submit(first, Lane.MUTATION, returns(1), on_answer=lambda _outcome: seen.append(second.state))
        scheduler.submit(second, Lane.MUTATION, returns(2), on_answer=lambda _outcome: None)
        await scheduler.drain()
    assert seen == [TicketState.RUNNING]


async def test_a_long_queue_of_quick_works_lets_other_tasks_run() -> None:
    works = 0
    seen: list[int] = []

    async def work(_ticket: Ticket) -> None:
        nonlocal works
        works += 1

    async with open_scheduler(read_slots=1) as scheduler:
        for _ in range(3 * RUNS_PER_STEP_MAX):
            scheduler.submit(scheduler.admit(), Lane.READ, work, on_answer=lambda _outcome: None)
        while works < 3 * RUNS_PER_STEP_MAX:
            await trio.lowlevel.checkpoint()
            seen.append(works)
    # Trio may wake the runner last in one batch and first in the next: two steps lie between two looks at most.
    assert max(after - before for before, after in itertools.pairwise([0, *seen])) <= 2 * RUNS_PER_STEP_MAX


async def test_a_ticket_is_performed_once() -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket:
            await scheduler.perform(ticket, Lane.READ, returns(1))
            with pytest.raises(LocalProtocolError, match="ENQUEUE in COMPLETED"):
                await scheduler.perform(ticket, Lane.READ, returns(1))


async def test_a_call_that_needs_no_lane_ends_with_its_block() -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s") as ticket:
            assert scheduler.statistics().preparing == 1
        assert ticket.state is TicketState.COMPLETED
        assert scheduler.statistics().in_flight == 0


async def test_a_key_in_flight_is_refused_until_it_is_answered() -> None:
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        started(nursery, scheduler, Lane.READ, hold, key=1, session="s")
        await settled()
        with pytest.raises(DuplicateKey):
            scheduler.admit(1, session="s")
        hold.release.set()
        await settled()
        with scheduler.admit(1, session="s"):
            pass


# --- inline ---


async def test_a_work_that_never_waits_runs_in_its_callers_task_without_a_checkpoint() -> None:
    async def work(ticket: Ticket) -> object:
        assert scheduler.statistics().reads.running == 1
        assert ticket.state is TicketState.RUNNING
        return trio.lowlevel.current_task()

    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket, trio.testing.assert_no_checkpoints():
            runner = await scheduler.perform_inline(ticket, Lane.READ, work)
        assert runner is trio.lowlevel.current_task()
        assert scheduler.statistics().in_flight == 0


async def test_an_inline_work_queues_when_its_lane_is_full() -> None:
    hold = Hold()
    async with open_scheduler(read_slots=1) as scheduler, trio.open_nursery() as nursery:
        started(nursery, scheduler, Lane.READ, hold)
        await settled()
        heard: list[object] = []

        async def work(ticket: Ticket) -> int:
            return ticket.number

        async def call() -> None:
            with scheduler.admit() as ticket:
                assert not scheduler.can_start(Lane.READ)
                heard.append(await scheduler.perform_inline(ticket, Lane.READ, work))

        nursery.start_soon(call)
        await settled()
        assert (heard, scheduler.statistics().queued) == ([], 1)
        hold.release.set()
        await settled()
        assert heard == [2]


async def test_an_inline_work_may_fail() -> None:
    async def work(_ticket: Ticket) -> None:
        raise ValueError("from the work")

    seen: list[TraceEvent] = []
    async with open_scheduler(observer=seen.append) as scheduler:
        with scheduler.admit() as ticket, pytest.raises(ValueError, match="from the work"):
            await scheduler.perform_inline(ticket, Lane.READ, work)
        assert ticket.state is TicketState.FAILED
        assert scheduler.statistics().in_flight == 0
    assert not any(isinstance(event, Undelivered) for event in seen)


async def test_an_inline_work_that_cancels_itself_is_cancelled() -> None:
    async def work(_ticket: Ticket) -> object:
        return scheduler.cancel("s", 1)

    async with open_scheduler() as scheduler:
        with pytest.raises(RequestCancelled), scheduler.admit(1, session="s") as ticket:
            await scheduler.perform_inline(ticket, Lane.READ, work)
        assert ticket.is_cancelled
        assert scheduler.statistics().in_flight == 0


async def test_a_crash_of_an_inline_work_frees_its_slot() -> None:
    async def work(_ticket: Ticket) -> None:
        raise KeyboardInterrupt

    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket, pytest.raises(KeyboardInterrupt):
            await scheduler.perform_inline(ticket, Lane.MUTATION, work)
        assert ticket.state is TicketState.FAILED
        assert scheduler.statistics().in_flight == 0


# --- cancel by name ---


async def test_a_call_cancelled_while_prepared_never_runs() -> None:
    hold = Hold()
    kept: list[Outcome[str]] = []
    async with open_scheduler() as scheduler:
        with scheduler.admit(0, session="s") as ticket:
            assert scheduler.cancel("s", 0) is CancelOutcome.ACCEPTED
            with pytest.raises(RequestCancelled):
                await scheduler.perform(ticket, Lane.READ, hold, on_answer=kept.append)
        with scheduler.admit(0, session="s") as ticket:
            scheduler.cancel("s", 0)
            with pytest.raises(RequestCancelled):
                await scheduler.perform(ticket, Lane.READ, hold)
    assert hold.entered == 0
    assert len(kept) == 1
    assert isinstance(kept[0], Error)


async def test_a_call_cancelled_while_queued_never_runs_and_is_answered_at_once() -> None:
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        for _ in range(2):
            started(nursery, scheduler, Lane.MUTATION, hold)
        await settled()
        victim = started(nursery, scheduler, Lane.MUTATION, hold, key="", session="s")
        await settled()
        assert scheduler.cancel("s", "") is CancelOutcome.ACCEPTED
        await settled()
        assert isinstance(victim.heard, RequestCancelled)
        assert scheduler.statistics().queued == 1
        hold.release.set()
        await settled()
    assert hold.entered == 2


async def test_a_running_read_is_answered_at_once_and_keeps_its_slot_until_its_host_call_has_ended() -> None:
    steps: list[str] = []
    first = Hold()

    async def work(ticket: Ticket) -> None:
        ticket.check_cancelled()
        steps.append("first host call")
        await first.release.wait()
        ticket.check_cancelled()
        steps.append("second host call")

    async with open_scheduler(read_slots=1) as scheduler, trio.open_nursery() as nursery:
        victim = started(nursery, scheduler, Lane.READ, work, key=5, session="s")
        await settled()
        neighbour = started(nursery, scheduler, Lane.READ, returns("mine"))
        await settled()
        assert scheduler.cancel("s", 5) is CancelOutcome.ACCEPTED
        await settled()
        found = scheduler.statistics()
        assert isinstance(victim.heard, RequestCancelled)
        assert (found.reads.running, found.cancelled_holding_slots, found.in_flight) == (1, 1, 2)
        assert neighbour.heard is None
        assert scheduler.cancel("s", 5) is CancelOutcome.FINISHED
        first.release.set()
        await settled()
        assert (steps, neighbour.heard) == (["first host call"], "mine")
        assert scheduler.statistics().in_flight == 0


async def test_a_cancel_between_assignment_and_first_step_still_prevents_the_run() -> None:
    hold = Hold()
    async with open_scheduler() as scheduler:
        kept: list[Outcome[str]] = []
        scheduler.submit(scheduler.admit(1, session="s"), Lane.READ, hold, on_answer=kept.append)
        assert scheduler.statistics().running == 1
        scheduler.cancel("s", 1)
        await settled()
        assert hold.entered == 0
        assert len(kept) == 1
        assert scheduler.statistics().running == 0


async def test_behind_the_commit_boundary_a_cancel_is_refused() -> None:
    hold = Hold()

    async def work(ticket: Ticket) -> str:
        ticket.enter_commit()
        return await hold(ticket)

    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        caller = started(nursery, scheduler, Lane.MUTATION, work, key=1, session="s", task_id="t")
        await settled()
        assert scheduler.cancel("s", 1) is CancelOutcome.COMMITTING
        assert scheduler.cancel_task("t") is CancelOutcome.COMMITTING
        status = scheduler.status("t")
        assert status is not None
        assert status.is_committing
        assert not status.cancel_requested
        hold.release.set()
        await settled()
        assert caller.heard == "value 1"


async def test_a_write_cancelled_before_its_boundary_finds_the_boundary_closed() -> None:
    hold = Hold()
    written: list[int] = []

    async def work(ticket: Ticket) -> None:
        hold.entered += 1
        await hold.release.wait()
        ticket.enter_commit()
        written.append(ticket.number)

    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        caller = started(nursery, scheduler, Lane.MUTATION, work, task_id="t")
        await settled()
        assert scheduler.cancel_task("t") is CancelOutcome.ACCEPTED
        hold.release.set()
        await settled()
        assert isinstance(caller.heard, RequestCancelled)
    assert (hold.entered, written) == (1, [])


async def test_a_cancel_after_the_end_finds_nothing() -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s", task_id="t") as ticket:
            await scheduler.perform(ticket, Lane.READ, returns(1))
            assert scheduler.cancel("s", 1) is CancelOutcome.NOT_FOUND
            assert scheduler.cancel_task("t") is CancelOutcome.NOT_FOUND
            assert scheduler.cancel_ticket(ticket) is CancelOutcome.FINISHED
            assert scheduler.status("t") is None


async def test_closing_a_session_cancels_what_is_before_its_boundary() -> None:
    hold = Hold()

    async def commits(ticket: Ticket) -> str:
        ticket.enter_commit()
        return await hold(ticket)

    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        committing = started(nursery, scheduler, Lane.MUTATION, commits, key=1, session="s")
        await settled()
        queued = started(nursery, scheduler, Lane.MUTATION, hold, key=2, session="s")
        reading = started(nursery, scheduler, Lane.READ, hold, key=None, session="s")
        other = started(nursery, scheduler, Lane.READ, hold, key=2, session="other")
        await settled()
        assert scheduler.is_busy("s")
        assert scheduler.close_session("s") == 2
        assert scheduler.close_session("never seen") == 0
        await settled()
        assert isinstance(queued.heard, RequestCancelled)
        assert isinstance(reading.heard, RequestCancelled)
        hold.release.set()
        await settled()
        assert (committing.heard, other.heard) == ("value 1", "value 4")
        assert not scheduler.is_busy("s")


# --- the caller leaves ---


async def test_a_caller_that_leaves_cancels_its_queued_call() -> None:
    hold = Hold()
    async with open_scheduler(read_slots=1) as scheduler, trio.open_nursery() as nursery:
        started(nursery, scheduler, Lane.READ, hold)
        await settled()
        leaver = started(nursery, scheduler, Lane.READ, hold)
        await settled()
        leaver.scope.cancel()
        await settled()
        assert leaver.ticket.is_cancelled
        assert scheduler.statistics().in_flight == 1
        hold.release.set()


async def test_a_caller_that_leaves_stops_its_read_after_the_current_host_call() -> None:
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        leaver = started(nursery, scheduler, Lane.READ, hold)
        await settled()
        leaver.scope.cancel()
        await settled()
        assert scheduler.statistics().cancelled_holding_slots == 1
        hold.release.set()
        await settled()
        assert scheduler.statistics().in_flight == 0


async def test_a_commit_runs_on_without_its_caller() -> None:
    hold = Hold()
    kept: list[Outcome[str]] = []

    async def work(ticket: Ticket) -> str:
        ticket.enter_commit()
        return await hold(ticket)

    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        scope = trio.CancelScope()

        async def call() -> None:
            with scope, scheduler.admit() as ticket:
                await scheduler.perform(ticket, Lane.MUTATION, work, on_answer=kept.append)

        nursery.start_soon(call)
        await settled()
        scope.cancel()
        await settled()
        assert scheduler.statistics().committing == 1
        hold.release.set()
        await settled()
    assert kept == [Value("value 1")]


@pytest.mark.parametrize("lane", Lane)
async def test_a_call_that_outlives_its_caller_runs_on(lane: Lane) -> None:
    hold = Hold()
    seen: list[TraceEvent] = []
    async with open_scheduler(observer=seen.append) as scheduler, trio.open_nursery() as nursery:
        leaver = started(nursery, scheduler, lane, hold, outlives_caller=True)
        await settled()
        leaver.scope.cancel()
        await settled()
        assert CallerLeft(1) in seen
        assert scheduler.statistics().lane(lane).running == 1
        hold.release.set()
        await settled()
        assert leaver.ticket.state is TicketState.COMPLETED


async def test_a_detached_ticket_runs_on() -> None:
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        leaver = started(nursery, scheduler, Lane.READ, hold)
        await settled()
        scheduler.detach(leaver.ticket)
        leaver.scope.cancel()
        hold.release.set()
        await settled()
        assert leaver.ticket.state is TicketState.COMPLETED


async def test_a_caller_that_has_left_already_is_not_served() -> None:
    """Its departure is noticed at its first checkpoint, which is after its arrival: the work still never begins."""
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        started(nursery, scheduler, Lane.READ, hold).scope.cancel()
        await settled()
        assert scheduler.statistics().in_flight == 0
    assert hold.entered == 0


async def test_an_error_that_nobody_hears_is_reported() -> None:
    hold = Hold()
    seen: list[TraceEvent] = []

    async def work(ticket: Ticket) -> None:
        await hold(ticket)
        raise ValueError("too late")

    async with open_scheduler(observer=seen.append) as scheduler, trio.open_nursery() as nursery:
        leaver = started(nursery, scheduler, Lane.READ, work, outlives_caller=True)
        await settled()
        leaver.scope.cancel()
        hold.release.set()
        await settled()
    lost = [event for event in seen if isinstance(event, Undelivered)]
    assert [(event.number, str(event.error)) for event in lost] == [(1, "too late")]


async def test_an_error_after_a_cancel_is_reported() -> None:
    hold = Hold()
    seen: list[TraceEvent] = []

    async def work(_ticket: Ticket) -> None:
        await hold.release.wait()
        raise ValueError("instead of stopping")

    async with open_scheduler(observer=seen.append) as scheduler, trio.open_nursery() as nursery:
        caller = started(nursery, scheduler, Lane.READ, work, key=1, session="s")
        await settled()
        scheduler.cancel("s", 1)
        hold.release.set()
        await settled()
        assert isinstance(caller.heard, RequestCancelled)
    assert any(isinstance(event, Undelivered) for event in seen)


async def test_without_an_observer_a_lost_error_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def work(_ticket: Ticket) -> None:
        await hold.release.wait()
        raise ValueError("lost")

    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        started(nursery, scheduler, Lane.READ, work, key=1, session="s")
        await settled()
        scheduler.cancel("s", 1)
        hold.release.set()
        assert await scheduler.drain()
    assert [record.getMessage() for record in caplog.records] == ["an error of ticket 1 reached nobody"]


async def test_a_receiver_that_fails_does_not_take_the_lanes_down() -> None:
    def fails(_outcome: Outcome[int]) -> None:
        raise ValueError("a faulty receiver")

    seen: list[TraceEvent] = []
    async with open_scheduler(observer=seen.append) as scheduler:
        with scheduler.admit() as ticket:
            assert await scheduler.perform(ticket, Lane.READ, returns(1), on_answer=fails) == 1
        with scheduler.admit() as ticket:
            assert await scheduler.perform(ticket, Lane.READ, returns(2)) == 2
    assert [str(event.error) for event in seen if isinstance(event, Undelivered)] == ["a faulty receiver"]


# --- the end ---


async def test_a_drain_admits_nothing_more_and_waits_for_the_rest() -> None:
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        caller = started(nursery, scheduler, Lane.READ, hold)
        await settled()
        nursery.start_soon(scheduler.drain)
        await settled()
        with pytest.raises(SchedulerClosed):
            scheduler.admit()
        assert not scheduler.statistics().is_open
        hold.release.set()
        await settled()
        assert caller.heard == "value 1"


async def test_a_drain_with_nothing_in_flight_is_a_checkpoint() -> None:
    async with open_scheduler() as scheduler:
        with trio.testing.assert_checkpoints():
            assert await scheduler.drain()


async def test_two_drains_end_together() -> None:
    hold = Hold()
    ends: list[bool] = []
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        started(nursery, scheduler, Lane.READ, hold)
        await settled()

        async def drain() -> None:
            ends.append(await scheduler.drain())

        nursery.start_soon(drain)
        await settled()
        nursery.start_soon(drain)
        await settled()
        hold.release.set()
        await settled()
        assert ends == [True, True]


async def test_at_its_deadline_a_drain_cancels_what_it_can(autojump_clock: trio.testing.MockClock) -> None:
    hold = Hold()

    async def commits(ticket: Ticket) -> str:
        ticket.enter_commit()
        return await hold(ticket)

    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        reading = started(nursery, scheduler, Lane.READ, hold)
        committing = started(nursery, scheduler, Lane.MUTATION, commits)
        await trio.sleep(1)
        queued = started(nursery, scheduler, Lane.MUTATION, commits)
        await trio.sleep(1)
        assert not await scheduler.drain(trio.current_time() + 10)
        await trio.sleep(1)
        assert isinstance(reading.heard, RequestCancelled)
        assert isinstance(queued.heard, RequestCancelled)
        assert committing.heard is None
        hold.release.set()
        assert await scheduler.drain(math.inf)
        await trio.sleep(1)
        assert committing.heard == "value 2"


async def test_the_end_aborts_reads_and_awaits_commits() -> None:
    order: list[str] = []
    hold = Hold()

    async def reads(_ticket: Ticket) -> None:
        try:
            await trio.sleep_forever()
        finally:
            order.append("read aborted")

    async def commits(ticket: Ticket) -> str:
        ticket.enter_commit()
        await hold(ticket)
        order.append("committed")
        return "done"

    async with trio.open_nursery() as outer:
        async with open_scheduler() as scheduler:
            reading = started(outer, scheduler, Lane.READ, reads)
            committing = started(outer, scheduler, Lane.MUTATION, commits)
            await settled()
            queued = started(outer, scheduler, Lane.MUTATION, commits)
            await settled()

            async def release() -> None:
                await settled()
                order.append("released")
                hold.release.set()

            outer.start_soon(release)
        order.append("left")
        await settled()
        assert order == ["read aborted", "released", "committed", "left"]
        assert isinstance(reading.heard, RequestCancelled)
        assert isinstance(queued.heard, RequestCancelled)
        assert committing.heard == "done"


async def test_after_the_end_nothing_is_admitted() -> None:
    async with open_scheduler() as scheduler:
        pass
    with pytest.raises(SchedulerClosed):
        scheduler.admit()


async def test_before_the_start_nothing_is_admitted_and_nothing_performed() -> None:
    scheduler = Scheduler()
    with pytest.raises(SchedulerClosed):
        scheduler.admit()
    with pytest.raises(LocalProtocolError, match="does not run"):
        await scheduler.perform(Ticket(1), Lane.READ, returns(1))


async def test_a_scheduler_runs_once() -> None:
    scheduler = Scheduler()
    async with trio.open_nursery() as nursery:
        assert await nursery.start(scheduler.run) is scheduler
        with pytest.raises(LocalProtocolError, match="once"):
            await scheduler.run()
        nursery.cancel_scope.cancel()


class Crash(BaseException):
    """The end of the process, as the crash tests play it."""


async def test_a_crash_ends_the_scheduler_and_leaves_no_caller_waiting() -> None:
    heard: list[object] = []

    async def work(_ticket: Ticket) -> None:
        raise Crash

    async def call() -> None:
        with scheduler.admit() as ticket:
            try:
                await scheduler.perform(ticket, Lane.MUTATION, work)
            except RunAborted as error:
                heard.append(error)

    async def program() -> None:
        nonlocal scheduler
        async with trio.open_nursery() as outer, open_scheduler() as scheduler:
            outer.start_soon(call)
            await trio.sleep_forever()

    scheduler = Scheduler()
    with pytest.raises(BaseExceptionGroup) as caught:
        await program()
    assert caught.value.subgroup(Crash) is not None
    assert len(heard) <= 1
    assert scheduler.statistics().in_flight == 0


async def test_the_tickets_in_flight_can_be_looked_at() -> None:
    hold = Hold()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        started(nursery, scheduler, Lane.MUTATION, hold, label="document.update")
        await settled()
        assert [(ticket.label, ticket.lane, ticket.holds) for ticket in scheduler.tickets()] == [
            ("document.update", Lane.MUTATION, 1)
        ]
        hold.release.set()


def returns(value: Any) -> Callable[[Ticket], Awaitable[Any]]:
    async def work(_ticket: Ticket) -> Any:
        return value

    return work
