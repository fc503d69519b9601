"""The bounded commit boundary: begun work is never abandoned, and nobody waits for ever."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from outcome import Outcome, Value

from scheduler import (
    CommitOverrun,
    Lane,
    LocalProtocolError,
    RequestCancelled,
    Scheduler,
    Ticket,
    TicketState,
    Undelivered,
    open_scheduler,
)
from scheduler.events import BoundOverrun, SlotReleased, TraceEvent

BOUND_S = 30.0


async def commit(scheduler: Scheduler, ticket: Ticket, seconds: float, error: Exception | None = None) -> str:
    async def boundary_work() -> str:
        await trio.sleep(seconds)
        if error is not None:
            raise error
        return "committed"

    async def work(ticket: Ticket) -> str:
        boundary = scheduler.boundary(ticket, bound_s=BOUND_S)
        boundary.enter_commit()
        try:
            return await boundary.run(boundary_work)
        except CommitOverrun as overrun:
            return f"unknown after {overrun.bound_s} s"

    return await scheduler.perform(ticket, Lane.MUTATION, work)


@pytest.mark.parametrize(("seconds", "answer"), [(BOUND_S - 0.1, "committed"), (BOUND_S + 0.1, "unknown after 30.0 s")])
async def test_the_work_has_its_bound_and_no_more(
    seconds: float, answer: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket:
            begun = trio.current_time()
            assert await commit(scheduler, ticket, seconds) == answer
            assert trio.current_time() - begun == pytest.approx(min(seconds, BOUND_S))
        assert ticket.state is TicketState.COMPLETED


async def test_an_overrun_write_keeps_the_slot_until_it_has_ended(autojump_clock: trio.testing.MockClock) -> None:
    seen: list[TraceEvent] = []
    async with open_scheduler(observer=seen.append) as scheduler:
        with scheduler.admit() as first:
            assert await commit(scheduler, first, 100) == "unknown after 30.0 s"
        found = scheduler.statistics()
        assert (found.mutations.running, found.overrun_holding_slots, found.in_flight) == (1, 1, 1)
        with scheduler.admit() as second:
            assert await commit(scheduler, second, 1) == "committed"
        assert trio.current_time() >= 101
    order = [event for event in seen if isinstance(event, BoundOverrun | SlotReleased)]
    assert order == [BoundOverrun(1), SlotReleased(1, Lane.MUTATION), SlotReleased(2, Lane.MUTATION)]


async def test_the_next_write_can_be_cancelled_while_it_waits_for_a_hung_one(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Decision 35."""
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        with scheduler.admit() as first:
            await commit(scheduler, first, 1000)
        heard: list[str] = []

        async def call() -> None:
            with scheduler.admit(2, session="s") as ticket:
                try:
                    await commit(scheduler, ticket, 1)
                except RequestCancelled:
                    heard.append("cancelled")

        nursery.start_soon(call)
        await trio.sleep(1)
        scheduler.cancel("s", 2)
        await trio.sleep(1)
        assert heard == ["cancelled"]


async def test_the_error_of_the_work_is_raised_within_the_bound(autojump_clock: trio.testing.MockClock) -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket, pytest.raises(ValueError, match="host"):
            await commit(scheduler, ticket, 1, ValueError("host"))
        assert ticket.state is TicketState.FAILED
        assert scheduler.statistics().in_flight == 0


async def test_the_error_of_the_work_after_the_bound_is_reported(autojump_clock: trio.testing.MockClock) -> None:
    seen: list[TraceEvent] = []
    async with open_scheduler(observer=seen.append) as scheduler:
        with scheduler.admit() as ticket:
            assert await commit(scheduler, ticket, 100, ValueError("late")) == "unknown after 30.0 s"
        assert await scheduler.drain()
    assert [str(event.error) for event in seen if isinstance(event, Undelivered)] == ["late"]


async def test_after_the_bound_an_unobserved_error_is_logged(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket:
            await commit(scheduler, ticket, 100, ValueError("late"))
        assert await scheduler.drain()
    assert [record.getMessage() for record in caplog.records] == ["an error of ticket 1 reached nobody"]


async def test_the_work_ends_although_its_caller_and_its_scheduler_go(autojump_clock: trio.testing.MockClock) -> None:
    kept: list[Outcome[str]] = []
    written: list[str] = []

    async def boundary_work() -> str:
        await trio.sleep(5)
        written.append("written")
        return "committed"

    async def work(ticket: Ticket) -> str:
        boundary = scheduler.boundary(ticket, bound_s=BOUND_S)
        boundary.enter_commit()
        return await boundary.run(boundary_work)

    async with open_scheduler() as scheduler:
        with trio.move_on_after(1), scheduler.admit() as ticket:
            await scheduler.perform(ticket, Lane.MUTATION, work, on_answer=kept.append)
        assert not written
    assert written == ["written"]
    assert kept == [Value("committed")]


async def test_a_cancel_of_the_works_own_scope_does_not_reach_the_boundary(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def work(ticket: Ticket) -> str:
        with trio.move_on_after(1):
            boundary = scheduler.boundary(ticket, bound_s=BOUND_S)
            boundary.enter_commit()
            return await boundary.run(boundary_work)
        return "cut off"

    async def boundary_work() -> str:
        await trio.sleep(5)
        return "committed"

    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket:
            assert await scheduler.perform(ticket, Lane.MUTATION, work) == "committed"


async def test_boundary_work_needs_the_mark() -> None:
    async def work(ticket: Ticket) -> None:
        await scheduler.boundary(ticket, bound_s=BOUND_S).run(trio.lowlevel.checkpoint)

    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket, pytest.raises(LocalProtocolError, match="boundary work in RUNNING"):
            await scheduler.perform(ticket, Lane.MUTATION, work)


async def test_a_cancelled_write_does_not_enter() -> None:
    async def work(ticket: Ticket) -> None:
        scheduler.cancel_ticket(ticket)
        boundary = scheduler.boundary(ticket, bound_s=BOUND_S)
        with trio.testing.assert_no_checkpoints(), pytest.raises(RequestCancelled):
            boundary.enter_commit()
        with pytest.raises(LocalProtocolError, match="boundary work in CANCELLED"):
            await boundary.run(trio.lowlevel.checkpoint)

    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket, pytest.raises(RequestCancelled):
            await scheduler.perform(ticket, Lane.MUTATION, work)
        assert await scheduler.drain()


async def test_the_boundary_is_entered_without_a_checkpoint() -> None:
    async def work(ticket: Ticket) -> None:
        boundary = scheduler.boundary(ticket, bound_s=BOUND_S)
        with trio.testing.assert_no_checkpoints():
            boundary.enter_commit()
        assert ticket.state is TicketState.COMMITTING

    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket:
            await scheduler.perform(ticket, Lane.MUTATION, work)
