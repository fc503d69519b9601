"""Works that run in their caller's own task, without a checkpoint, when their lane is free."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from scheduler import (
    Lane,
    RequestCancelled,
    Ticket,
    TicketState,
    Undelivered,
    open_scheduler,
)
from scheduler.events import TraceEvent
from tests.scheduler.stories import Hold, settled, started


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
