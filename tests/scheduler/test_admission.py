"""Who is in: bounds, names, queues. No event loop."""

from __future__ import annotations

import pytest

from scheduler import (
    CancelOutcome,
    DuplicateKey,
    Key,
    Lane,
    LocalProtocolError,
    QueueFull,
    RequestCancelled,
    SchedulerClosed,
    Ticket,
    TicketEvent,
    TicketState,
)
from scheduler.admission import Admission
from scheduler.events import Admitted, CancelRequested, Finished, Queued, SlotReleased, Started, TraceEvent
from scheduler.limits import ADMITTED_REQUESTS_MAX, RETRY_AFTER_MS


def running(admission: Admission, key: Key = None, lane: Lane = Lane.READ) -> Ticket:
    ticket = admission.admit(key, session="s")
    admission.enqueue(ticket, lane)
    assert admission.start_next(lane) is ticket
    return ticket


# --- the bound ---


def test_the_last_place_is_given_and_the_next_request_is_refused() -> None:
    admission = Admission()
    for number in range(ADMITTED_REQUESTS_MAX):
        admission.admit(number, session="s")
    with pytest.raises(QueueFull) as refusal:
        admission.admit("one more", session="s")
    assert refusal.value.retry_after_ms == RETRY_AFTER_MS
    assert len(admission.tickets) == admission.in_flight_max == ADMITTED_REQUESTS_MAX
    assert admission.refused_total == 1
    assert admission.find("s", "one more") is None


def test_a_place_is_free_again_as_soon_as_a_ticket_ends() -> None:
    admission = Admission(admitted_max=1)
    first = admission.admit(1)
    with pytest.raises(QueueFull):
        admission.admit(2)
    admission.finish(first, TicketEvent.COMPLETE)
    admission.admit(2)


def test_a_cancelled_run_occupies_its_place_until_its_slot_is_free() -> None:
    admission = Admission(admitted_max=1)
    ticket = running(admission)
    assert admission.cancel(ticket) is CancelOutcome.ACCEPTED
    with pytest.raises(QueueFull):
        admission.admit(2)
    assert admission.let_go(ticket)
    admission.admit(2)


def test_a_closed_admission_refuses_as_a_full_one_does() -> None:
    admission = Admission()
    admission.is_open = False
    with pytest.raises(SchedulerClosed):
        admission.admit(1)
    assert issubclass(SchedulerClosed, QueueFull)
    assert admission.refused_total == 1


def test_there_is_at_least_one_place() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Admission(admitted_max=0)


# --- names ---

JSON_LIKE: list[Key] = [0, 1, 5, -1, "", "0", "1", "5", "true", True, False]


def test_keys_of_different_json_types_never_meet() -> None:
    """All are admitted together, and each finds its own ticket: 5 is not "5", True is not 1, 0 and "" are names."""
    admission = Admission()
    tickets = [admission.admit(key, session="s") for key in JSON_LIKE]
    assert [admission.find("s", key) for key in JSON_LIKE] == tickets


@pytest.mark.parametrize("key", [True, 1.0, "1", [1], {"id": 1}, None, float("nan")])
def test_what_only_resembles_an_id_finds_nothing(key: object) -> None:
    admission = Admission()
    admission.admit(1, session="s")
    assert admission.find("s", key) is None
    assert admission.cancel(admission.find("s", key)) is CancelOutcome.NOT_FOUND


def test_a_key_in_flight_is_taken_in_its_session_only() -> None:
    admission = Admission()
    admission.admit(7, session="s")
    with pytest.raises(DuplicateKey) as refusal:
        admission.admit(7, session="s")
    assert (refusal.value.key, refusal.value.is_task) == (7, False)
    admission.admit(7, session="t")
    assert len(admission.tickets) == 2


def test_without_a_session_keys_are_no_names() -> None:
    """Every client without a session counts from 1: their calls neither collide nor cancel one another."""
    admission = Admission()
    admission.admit(1)
    admission.admit(1)
    assert admission.find(None, 1) is None


def test_a_ticket_without_a_key_belongs_to_its_session_all_the_same() -> None:
    admission = Admission()
    tickets = [admission.admit(None, session="s"), admission.admit(None, session="s"), admission.admit(3, session="s")]
    assert admission.of_session("s") == tickets
    assert admission.find("s", None) is None


def test_a_task_id_is_a_name_everywhere() -> None:
    admission = Admission()
    ticket = admission.admit(1, session="s", task_id="t")
    with pytest.raises(DuplicateKey) as refusal:
        admission.admit(1, session="other", task_id="t")
    assert refusal.value.is_task
    assert admission.find_task("t") is ticket
    admission.finish(ticket, TicketEvent.COMPLETE)
    assert admission.find_task("t") is None


def test_a_refused_duplicate_leaves_no_trace() -> None:
    admission = Admission()
    admission.admit(1, session="s", task_id="t")
    with pytest.raises(DuplicateKey):
        admission.admit(2, session="s", task_id="t")
    assert admission.find("s", 2) is None
    assert admission.refused_total == 0


def test_the_names_of_an_answered_ticket_are_free_while_it_still_holds_its_slot() -> None:
    admission = Admission()
    first = running(admission, 1)
    admission.cancel(first)
    second = admission.admit(1, session="s", task_id="t")
    assert admission.let_go(first)
    assert admission.find("s", 1) is second


def test_a_successor_keeps_the_task_id_when_its_predecessor_lets_go() -> None:
    admission = Admission()
    first = admission.admit(None, task_id="t")
    admission.enqueue(first, Lane.READ)
    admission.start_next(Lane.READ)
    admission.cancel(first)
    second = admission.admit(None, task_id="t")
    admission.let_go(first)
    assert admission.find_task("t") is second


def test_a_session_is_forgotten_with_its_last_ticket() -> None:
    admission = Admission()
    first, second = admission.admit(1, session="s"), admission.admit(2, session="s")
    admission.finish(first, TicketEvent.COMPLETE)
    assert admission.of_session("s") == [second]
    admission.finish(second, TicketEvent.COMPLETE)
    assert admission.of_session("s") == []
    assert not admission._sessions


def test_the_predecessor_of_a_forgotten_successor_lets_go_quietly() -> None:
    admission = Admission()
    first = running(admission, 1)
    admission.cancel(first)
    admission.finish(admission.admit(1, session="s"), TicketEvent.COMPLETE)
    assert admission.let_go(first)
    assert not admission.tickets


# --- lanes ---


def test_a_lane_is_served_in_order_of_arrival_not_of_admission() -> None:
    admission = Admission()
    early, late = admission.admit(1), admission.admit(2)
    admission.enqueue(late, Lane.MUTATION)
    admission.enqueue(early, Lane.MUTATION)
    assert admission.start_next(Lane.MUTATION) is late
    assert admission.start_next(Lane.MUTATION) is early


def test_a_cancelled_waiter_leaves_its_queue_at_once() -> None:
    admission = Admission()
    tickets = [admission.admit(number, session="s") for number in range(3)]
    for ticket in tickets:
        admission.enqueue(ticket, Lane.READ)
    assert admission.cancel(tickets[1]) is CancelOutcome.ACCEPTED
    assert list(admission.queues[Lane.READ]) == [tickets[0], tickets[2]]
    assert tickets[1].number not in admission.tickets


def test_a_ticket_is_queued_once() -> None:
    admission = Admission()
    ticket = admission.admit(1)
    admission.enqueue(ticket, Lane.READ)
    with pytest.raises(LocalProtocolError, match="ENQUEUE in QUEUED"):
        admission.enqueue(ticket, Lane.READ)


def test_what_was_cancelled_while_prepared_is_not_queued() -> None:
    admission = Admission()
    ticket = admission.admit(1, session="s")
    admission.cancel(ticket)
    with pytest.raises(RequestCancelled):
        admission.enqueue(ticket, Lane.READ)
    assert not admission.queues[Lane.READ]


# --- ends ---


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (TicketState.PREPARING, CancelOutcome.ACCEPTED),
        (TicketState.QUEUED, CancelOutcome.ACCEPTED),
        (TicketState.RUNNING, CancelOutcome.ACCEPTED),
        (TicketState.COMMITTING, CancelOutcome.COMMITTING),
        (TicketState.COMPLETED, CancelOutcome.FINISHED),
        (TicketState.FAILED, CancelOutcome.FINISHED),
        (TicketState.CANCELLED, CancelOutcome.FINISHED),
    ],
)
def test_a_cancel_says_what_became_of_it(state: TicketState, expected: CancelOutcome) -> None:
    seen: list[TraceEvent] = []
    admission = Admission(observer=seen.append)
    ticket = admission.admit(1, session="s")
    if state is not TicketState.PREPARING:
        admission.enqueue(ticket, Lane.MUTATION)
    if state not in (TicketState.PREPARING, TicketState.QUEUED):
        admission.start_next(Lane.MUTATION)
    if state is TicketState.COMMITTING:
        ticket.enter_commit()
    elif state.is_terminal:
        admission.finish(
            ticket, {"completed": TicketEvent.COMPLETE, "failed": TicketEvent.FAIL}.get(state.value, TicketEvent.CANCEL)
        )
    assert ticket.state is state
    assert admission.cancel(ticket) is expected
    assert CancelRequested(ticket.number, expected is CancelOutcome.ACCEPTED) in seen
    assert ticket.state is (TicketState.CANCELLED if expected is CancelOutcome.ACCEPTED else state)


def test_a_ticket_ends_once() -> None:
    admission = Admission()
    ticket = admission.admit(1)
    admission.finish(ticket, TicketEvent.COMPLETE)
    with pytest.raises(LocalProtocolError, match="FAIL in COMPLETED"):
        admission.finish(ticket, TicketEvent.FAIL)


def test_a_slot_held_twice_is_free_after_the_second_release() -> None:
    admission = Admission()
    ticket = running(admission, lane=Lane.MUTATION)
    admission.hold(ticket)
    admission.finish(ticket, TicketEvent.COMPLETE)
    assert not admission.let_go(ticket)
    assert admission.tickets
    assert admission.let_go(ticket)
    assert not admission.tickets


def test_holding_and_letting_go_need_a_slot() -> None:
    admission = Admission()
    ticket = admission.admit(1)
    with pytest.raises(AssertionError):
        admission.hold(ticket)
    with pytest.raises(AssertionError):
        admission.let_go(ticket)


def test_the_last_ticket_reports_that_nothing_is_in_flight() -> None:
    emptied: list[bool] = []
    admission = Admission()
    admission.on_empty = lambda: emptied.append(True)
    tickets = [admission.admit(1), admission.admit(2)]
    for ticket in tickets:
        admission.finish(ticket, TicketEvent.COMPLETE)
    assert emptied == [True]


def test_the_trace_tells_the_life_of_a_ticket() -> None:
    seen: list[TraceEvent] = []
    admission = Admission(observer=seen.append)
    ticket = admission.admit(9, session="s", task_id="t", label="document.get")
    admission.enqueue(ticket, Lane.READ)
    admission.start_next(Lane.READ)
    admission.finish(ticket, TicketEvent.COMPLETE)
    admission.let_go(ticket)
    assert seen == [
        Admitted(1, 9, "s", "t", "document.get"),
        Queued(1, Lane.READ),
        Started(1, Lane.READ),
        Finished(1, TicketState.COMPLETED),
        SlotReleased(1, Lane.READ),
    ]


# --- a lane in which nobody waits ---


def test_a_request_starts_at_once_where_nobody_waits_as_if_it_had_queued() -> None:
    seen: list[TraceEvent] = []
    admission = Admission()
    admission.observer = seen.append
    ticket = admission.admit(1, session="s")
    assert not admission.has_queued
    admission.start_at_once(ticket, Lane.READ)
    assert (ticket.state, admission.has_queued) == (TicketState.RUNNING, False)
    assert [type(event) for event in seen] == [Admitted, Queued, Started]


def test_nobody_overtakes_those_who_wait() -> None:
    admission = Admission()
    admission.enqueue(admission.admit(1), Lane.READ)
    assert admission.has_queued
    with pytest.raises(AssertionError):
        admission.start_at_once(admission.admit(2), Lane.READ)


def test_without_an_observer_a_slot_is_let_go_all_the_same() -> None:
    admission = Admission()
    ticket = running(admission)
    assert admission.let_go(ticket) is True
