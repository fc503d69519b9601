"""The checker finds each broken promise, from a trace that was made up to break it."""

from __future__ import annotations

import pytest

from scheduler import Lane, TicketState
from scheduler.admission import Admission
from scheduler.assignment import Slots
from scheduler.checker import Checker, check_quiescent
from scheduler.events import Admitted, CallerLeft, Committing, Finished, Queued, SlotReleased, Started, TraceEvent
from scheduler.statistics import scheduler_statistics

READ, MUTATION = Lane.READ, Lane.MUTATION
COMPLETED, CANCELLED = TicketState.COMPLETED, TicketState.CANCELLED


def admitted(number: int) -> Admitted:
    return Admitted(number, None, None, None, "")


def checker_after(*events: TraceEvent) -> Checker:
    checker = Checker(read_slots=1, mutation_slots=1, admitted_max=2)
    for event in events:
        checker(event)
    return checker


GOOD = [
    admitted(1),
    Queued(1, MUTATION),
    Started(1, MUTATION),
    Committing(1),
    CallerLeft(1),
    Finished(1, COMPLETED),
    SlotReleased(1, MUTATION),
]

BAD: list[tuple[str, list[TraceEvent]]] = [
    ("S3 1 admitted twice", [admitted(1), admitted(1)]),
    ("S1 3 in flight", [admitted(1), admitted(2), admitted(3)]),
    (
        "S1 2 slots taken in lane read",
        [admitted(1), admitted(2), Queued(1, READ), Queued(2, READ), Started(1, READ), Started(2, READ)],
    ),
    ("S1 1 released a slot it did not hold", [admitted(1), SlotReleased(1, READ)]),
    ("S2 2 started before [1]", [admitted(1), admitted(2), Queued(1, READ), Queued(2, READ), Started(2, READ)]),
    ("S2 1 started before []", [admitted(1), Queued(1, READ), Finished(1, CANCELLED), Started(1, READ)]),
    ("S3 1 went from CANCELLED to COMPLETED", [admitted(1), Finished(1, CANCELLED), Finished(1, COMPLETED)]),
    ("S3 1 went from QUEUED to COMMITTING", [admitted(1), Queued(1, MUTATION), Committing(1)]),
]


def test_a_proper_life_breaks_nothing() -> None:
    checker = checker_after(*GOOD)
    checker.answered(1)
    checker.verify()
    checker.verify(scheduler_statistics(Admission(), Slots({READ: 1, MUTATION: 1})))
    assert checker.path(1) == [
        TicketState.PREPARING,
        TicketState.QUEUED,
        TicketState.RUNNING,
        TicketState.COMMITTING,
        COMPLETED,
    ]
    assert checker.started(MUTATION) == [1]
    assert checker.started(READ) == []


@pytest.mark.parametrize(("violation", "events"), BAD, ids=[violation for violation, _events in BAD])
def test_a_broken_promise_is_named(violation: str, events: list[TraceEvent]) -> None:
    with pytest.raises(AssertionError) as caught:
        checker_after(*events).verify()
    assert str(caught.value).startswith(violation)


def test_two_answers_are_one_too_many() -> None:
    checker = checker_after(*GOOD)
    checker.answered(1)
    checker.answered(1)
    with pytest.raises(AssertionError, match="S3 1 answered 2 times"):
        checker.verify()


def test_an_answer_before_the_end_is_wrong() -> None:
    checker = checker_after(*GOOD[:3])
    checker.answered(1)
    with pytest.raises(AssertionError, match="S3 1 answered in RUNNING"):
        checker.verify()


@pytest.mark.parametrize(("length", "found"), [(1, "S3 1 ends in PREPARING"), (6, "S4 1 still holds its slot")])
def test_what_is_left_over_is_named(length: int, found: str) -> None:
    with pytest.raises(AssertionError, match=found):
        checker_after(*GOOD[:length]).verify(scheduler_statistics(Admission(), Slots({READ: 1, MUTATION: 1})))


def test_quiescence_is_asked_of_the_scheduler_too() -> None:
    admission = Admission()
    admission.admit(1)
    with pytest.raises(AssertionError, match="S4"):
        check_quiescent(scheduler_statistics(admission, Slots({READ: 1, MUTATION: 1})))
