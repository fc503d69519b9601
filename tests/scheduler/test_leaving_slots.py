"""A run that leaves its slot before its end: the next in the lane starts, and all else stays as it was."""

from __future__ import annotations

import pytest
import trio

from scheduler import CancelOutcome, Lane, LocalProtocolError, RequestCancelled, Ticket, open_scheduler
from scheduler.testing import Checker
from tests.scheduler.stories import returns, settled, started


class Settling:
    """A work that leaves its slot and then waits for a disk."""

    def __init__(self) -> None:
        self.left = 0
        self.disk = trio.Event()

    async def __call__(self, ticket: Ticket) -> str:
        ticket.leave_slot()
        self.left += 1
        await self.disk.wait()
        return f"value {ticket.number}"


async def test_the_next_starts_while_the_first_waits_for_its_disk() -> None:
    work, checker = Settling(), Checker()
    async with open_scheduler(observer=checker) as scheduler, trio.open_nursery() as nursery:
        callers = [started(nursery, scheduler, Lane.MUTATION, work) for _ in range(20)]
        await settled()
        found = scheduler.statistics()
        assert (work.left, found.running, found.settling, found.in_flight) == (20, 0, 20, 20)
        assert found.mutations.running_max == 1
        work.disk.set()
        await settled()
        assert [caller.heard for caller in callers] == [f"value {number}" for number in range(1, 21)]
        checker.verify(scheduler.statistics())


async def test_it_keeps_its_name_and_its_place_among_the_admitted() -> None:
    work = Settling()
    async with open_scheduler(admitted_max=1) as scheduler, trio.open_nursery() as nursery:
        caller = started(nursery, scheduler, Lane.MUTATION, work, key=7, session="s")
        await settled()
        with pytest.raises(Exception, match="1 requests are in flight"):
            scheduler.admit()
        assert scheduler.cancel("s", 7) is CancelOutcome.ACCEPTED
        await settled()
        assert isinstance(caller.heard, RequestCancelled)
        # Answered, and its work has not ended: its place is taken until it has.
        assert scheduler.statistics().in_flight == 1
        work.disk.set()
        await settled()
        assert scheduler.statistics().in_flight == 0


async def test_a_drain_waits_for_it() -> None:
    work = Settling()
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        caller = started(nursery, scheduler, Lane.MUTATION, work)
        await settled()
        nursery.start_soon(scheduler.drain)
        await settled()
        assert caller.heard is None
        work.disk.set()
        await settled()
        assert caller.heard == "value 1"


async def test_the_end_of_the_scheduler_ends_it_too() -> None:
    work = Settling()
    async with trio.open_nursery() as nursery:
        async with open_scheduler() as scheduler:
            caller = started(nursery, scheduler, Lane.MUTATION, work)
            await settled()
    assert isinstance(caller.heard, RequestCancelled)


@pytest.mark.parametrize("is_inline", [False, True])
async def test_its_slot_is_released_once(is_inline: bool) -> None:
    async def work(ticket: Ticket) -> None:
        ticket.leave_slot()

    checker = Checker()
    async with open_scheduler(observer=checker) as scheduler:
        perform = scheduler.perform_inline if is_inline else scheduler.perform
        for _ in range(3):
            with scheduler.admit() as ticket:
                await perform(ticket, Lane.MUTATION, work)
        with scheduler.admit() as ticket:
            assert await scheduler.perform(ticket, Lane.MUTATION, returns("next")) == "next"
        checker.verify(scheduler.statistics())


async def test_a_slot_that_is_not_held_cannot_be_left() -> None:
    async def twice(ticket: Ticket) -> None:
        ticket.leave_slot()
        ticket.leave_slot()

    with pytest.raises(LocalProtocolError, match="PREPARING holds no slot"):
        Ticket(1).leave_slot()
    async with open_scheduler() as scheduler:
        with scheduler.admit() as ticket:
            with pytest.raises(LocalProtocolError, match="PREPARING holds no slot"):
                ticket.leave_slot()
            with pytest.raises(LocalProtocolError, match="RUNNING holds no slot"):
                await scheduler.perform(ticket, Lane.MUTATION, twice)


async def test_boundary_work_that_leaves_the_slot_is_not_cancelled_and_counts_on() -> None:
    disk = trio.Event()

    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:

        async def work(ticket: Ticket) -> str:
            boundary = scheduler.boundary(ticket, bound_s=60)
            boundary.enter_commit()

            async def commit() -> str:
                boundary.leave_slot()
                await disk.wait()
                return "committed"

            return await boundary.run(commit)

        first = started(nursery, scheduler, Lane.MUTATION, work, key=1, session="s")
        await settled()
        assert scheduler.cancel("s", 1) is CancelOutcome.COMMITTING
        with scheduler.admit() as ticket:
            assert await scheduler.perform(ticket, Lane.MUTATION, returns("next")) == "next"
        assert scheduler.statistics().committing == 1
        disk.set()
        await settled()
        assert first.heard == "committed"
