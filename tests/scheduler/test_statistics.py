"""Counts only, always the true ones."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler import Lane, TicketEvent, TicketState
from scheduler.admission import Admission
from scheduler.assignment import Slots, assign
from scheduler.statistics import scheduler_statistics, ticket_status


def world() -> tuple[Admission, Slots]:
    return Admission(admitted_max=20), Slots({Lane.READ: 2, Lane.MUTATION: 1})


def test_each_ticket_is_counted_where_it_is() -> None:
    admission, slots = world()
    admission.admit("preparing", session="s")
    for _ in range(4):
        admission.enqueue(admission.admit(None), Lane.READ)
    for _ in range(3):
        admission.enqueue(admission.admit(None), Lane.MUTATION)
    read, _other_read, write = assign(admission, slots)
    write.enter_commit()
    admission.cancel(read)
    found = scheduler_statistics(admission, slots)
    assert (found.capacity, found.in_flight, found.in_flight_max) == (20, 8, 8)
    assert (found.preparing, found.queued, found.running, found.committing) == (1, 4, 3, 1)
    assert (found.cancelled_holding_slots, found.overrun_holding_slots) == (1, 0)
    assert found.lane(Lane.READ) == found.reads
    assert (found.reads.slots, found.reads.running, found.reads.queued) == (2, 2, 2)
    assert (found.lane(Lane.MUTATION).queued, found.mutations.running, found.mutations.queued_max) == (2, 1, 2)
    assert found.in_flight == found.preparing + found.queued + found.running


def test_an_overrun_write_is_counted_while_it_holds_its_slot() -> None:
    admission, slots = world()
    ticket = admission.admit(None)
    admission.enqueue(ticket, Lane.MUTATION)
    assign(admission, slots)
    ticket.enter_commit()
    admission.hold(ticket)
    admission.finish(ticket, TicketEvent.COMPLETE)
    assert not admission.let_go(ticket)
    found = scheduler_statistics(admission, slots)
    assert (found.overrun_holding_slots, found.committing, found.mutations.running) == (1, 0, 1)


def test_who_has_left_its_slot_is_counted_as_settling_and_not_as_running() -> None:
    admission, slots = world()
    tickets = [admission.admit(None, task_id=str(number)) for number in range(2)]
    for ticket in tickets:
        admission.enqueue(ticket, Lane.MUTATION)
    assign(admission, slots)
    admission.leave_slot(tickets[0])
    slots.release(Lane.MUTATION)
    assign(admission, slots)
    found = scheduler_statistics(admission, slots)
    assert (found.in_flight, found.running, found.settling) == (2, 1, 1)
    assert not ticket_status(tickets[0]).holds_slot
    admission.cancel(tickets[0])
    assert scheduler_statistics(admission, slots).cancelled_holding_slots == 0
    assert not admission.let_go(tickets[0])
    assert scheduler_statistics(admission, slots).in_flight == 1


def test_a_status_says_what_a_task_may_know() -> None:
    admission, slots = world()
    ticket = admission.admit(None, task_id="t")
    assert ticket_status(ticket).state is TicketState.PREPARING
    admission.enqueue(ticket, Lane.MUTATION)
    assign(admission, slots)
    status = ticket_status(ticket)
    assert (status.lane, status.is_committing, status.holds_slot) == (Lane.MUTATION, False, True)
    ticket.enter_commit()
    assert ticket_status(ticket).is_committing
    assert not ticket_status(ticket).cancel_requested


def test_a_cancelled_status_says_that_the_slot_is_still_held() -> None:
    admission, slots = world()
    ticket = admission.admit(None, task_id="t")
    admission.enqueue(ticket, Lane.READ)
    assign(admission, slots)
    admission.cancel(ticket)
    status = ticket_status(ticket)
    assert (status.state, status.cancel_requested, status.holds_slot) == (TicketState.CANCELLED, True, True)


def test_a_snapshot_does_not_change() -> None:
    admission, slots = world()
    before = scheduler_statistics(admission, slots)
    admission.admit(None)
    assert before.in_flight == 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        before.in_flight = 1  # type: ignore[misc]
