"""Drains, deadlines, crashes, and what is admitted before and after a scheduler's life."""

from __future__ import annotations

import math

import pytest
import trio
import trio.testing

from scheduler import (
    Lane,
    LocalProtocolError,
    RequestCancelled,
    RunAborted,
    Scheduler,
    SchedulerClosed,
    Ticket,
    open_scheduler,
)
from tests.scheduler.stories import Crash, Hold, returns, settled, started


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
