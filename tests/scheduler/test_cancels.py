"""Cancels by name, in every state of a call: prepared, queued, assigned, running, committing, ended."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from outcome import Error, Outcome

from scheduler import (
    CancelOutcome,
    Lane,
    RequestCancelled,
    Ticket,
    open_scheduler,
)
from tests.scheduler.stories import Hold, returns, settled, started


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
