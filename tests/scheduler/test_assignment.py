"""The planner: who starts now."""

from __future__ import annotations

import pytest

from scheduler import Lane, TicketState
from scheduler.admission import Admission
from scheduler.assignment import Slots, assign


def slots(reads: int = 2, mutations: int = 1) -> Slots:
    return Slots({Lane.READ: reads, Lane.MUTATION: mutations})


def admission_with(*lanes: Lane) -> Admission:
    admission = Admission()
    for lane in lanes:
        admission.enqueue(admission.admit(None), lane)
    return admission


READ, MUTATION = Lane.READ, Lane.MUTATION


@pytest.mark.parametrize(
    ("arrivals", "starting"),
    [
        ((), []),
        ((READ,), [1]),
        ((READ, READ), [1, 2]),
        ((READ, READ, READ), [1, 2]),
        ((MUTATION, MUTATION), [1]),
        ((MUTATION, MUTATION, READ), [3, 1]),
        ((READ, READ, READ, MUTATION), [1, 2, 4]),
    ],
)
def test_every_ticket_that_fits_starts_in_order_of_its_lane(arrivals: tuple[Lane, ...], starting: list[int]) -> None:
    admission, free = admission_with(*arrivals), slots()
    started = assign(admission, free)
    assert [ticket.number for ticket in started] == starting
    assert all(ticket.state is TicketState.RUNNING and ticket.holds == 1 for ticket in started)
    assert sum(free.taken.values()) == len(started)
    assert assign(admission, free) == []


def test_a_full_lane_does_not_hold_up_the_other() -> None:
    admission, free = admission_with(READ, READ, READ), slots()
    assign(admission, free)
    admission.enqueue(admission.admit(None), MUTATION)
    assert [ticket.lane for ticket in assign(admission, free)] == [MUTATION]


def test_a_released_slot_goes_to_the_first_in_line() -> None:
    admission, free = admission_with(MUTATION, MUTATION, MUTATION), slots()
    assign(admission, free)
    free.release(MUTATION)
    assert [ticket.number for ticket in assign(admission, free)] == [2]


def test_only_those_who_really_waited_count_as_queued() -> None:
    admission, free = admission_with(READ), slots()
    assign(admission, free)
    assert admission.queued_max[READ] == 0
    for _ in range(3):
        admission.enqueue(admission.admit(None), READ)
    assign(admission, free)
    assert admission.queued_max[READ] == 2


def test_slots_remember_the_most_that_were_taken() -> None:
    free = slots()
    free.take(READ)
    free.take(READ)
    free.release(READ)
    assert (free.free(READ), free.taken[READ], free.taken_max[READ]) == (1, 1, 2)


def test_a_lane_without_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one slot"):
        slots(mutations=0)


def test_slots_are_neither_overdrawn_nor_returned_twice() -> None:
    free = slots()
    with pytest.raises(AssertionError):
        free.release(MUTATION)
    free.take(MUTATION)
    with pytest.raises(AssertionError):
        free.take(MUTATION)
