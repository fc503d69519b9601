"""Callers that leave, and errors that nobody hears any more."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from outcome import Outcome, Value

from scheduler import (
    Lane,
    RequestCancelled,
    Ticket,
    TicketState,
    Undelivered,
    open_scheduler,
)
from scheduler.events import CallerLeft, TraceEvent
from tests.scheduler.stories import Hold, returns, settled, started


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
