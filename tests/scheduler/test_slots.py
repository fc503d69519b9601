"""What a caller may rely on: slots, their order, answers. One small story per test."""

from __future__ import annotations

import itertools

import pytest
import trio
import trio.testing

from scheduler import (
    DuplicateKey,
    Lane,
    LocalProtocolError,
    Ticket,
    TicketState,
    open_scheduler,
)
from scheduler.limits import RUNS_PER_STEP_MAX
from tests.scheduler.stories import Hold, returns, settled, started


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
