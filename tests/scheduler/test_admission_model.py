"""Admission and assignment against a model made of dicts and lists: any sequence of calls, no event loop."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from scheduler import CancelOutcome, DuplicateKey, Key, Lane, QueueFull, Ticket, TicketEvent, TicketState
from scheduler.admission import Admission
from scheduler.assignment import Slots, assign
from scheduler.statistics import scheduler_statistics

SLOTS = {Lane.READ: 2, Lane.MUTATION: 1}
ADMITTED_MAX = 6
KEYS: list[Key] = [0, 1, "", "0", "1", True, None]
SESSIONS = ["s", "t", None]
TASKS = ["task", None]

LIVE = ("preparing", "queued", "running", "committing")


@dataclass
class Model:
    """What a ticket ought to be: plain words, no tables."""

    name: tuple[str, str] | None  # session and the key's repr, which tells 1 from True and "1"
    task: str | None
    state: str = "preparing"
    lane: Lane | None = None
    holds: int = 0
    has_left: bool = False

    @property
    def holds_slot(self) -> bool:
        return self.holds > 0 and not self.has_left


@dataclass
class Book:
    tickets: dict[int, Model] = field(default_factory=dict)
    waiting: dict[Lane, list[int]] = field(default_factory=lambda: {lane: [] for lane in Lane})
    refused: int = 0

    def in_flight(self) -> list[int]:
        return [number for number, model in self.tickets.items() if model.state in LIVE or model.holds]

    def named(self, name: tuple[str, str] | None) -> int | None:
        """Whoever took the name last, while it is in flight; its predecessors have lost it."""
        found = [n for n, model in self.tickets.items() if name is not None and model.name == name]
        return found[-1] if found and found[-1] in self.in_flight() else None

    def with_task(self, task: str | None) -> int | None:
        found = [n for n, model in self.tickets.items() if task is not None and model.task == task]
        return found[-1] if found and found[-1] in self.in_flight() else None

    def is_live(self, number: int | None) -> bool:
        return number is not None and self.tickets[number].state in LIVE

    def in_state(self, *states: str) -> list[int]:
        return [number for number, model in self.tickets.items() if model.state in states]


class AdmissionModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.admission = Admission(admitted_max=ADMITTED_MAX)
        self.slots = Slots(SLOTS)
        self.book = Book()
        self.tickets: dict[int, Ticket] = {}

    def pick(self, data: st.DataObject, *states: str) -> tuple[Ticket, Model]:
        number = data.draw(st.sampled_from(self.book.in_state(*states)))
        return self.tickets[number], self.book.tickets[number]

    @rule(key=st.sampled_from(KEYS), session=st.sampled_from(SESSIONS), task=st.sampled_from(TASKS))
    def admit(self, key: Key, session: str | None, task: str | None) -> None:
        name = None if session is None or key is None else (session, repr(key))
        try:
            ticket = self.admission.admit(key, session=session, task_id=task)
        except QueueFull:
            assert len(self.book.in_flight()) == ADMITTED_MAX
            self.book.refused += 1
        except DuplicateKey as refusal:
            taken = self.book.with_task(task) if refusal.is_task else self.book.named(name)
            assert self.book.is_live(taken)
        else:
            assert len(self.book.in_flight()) < ADMITTED_MAX
            assert not self.book.is_live(self.book.named(name))
            assert not self.book.is_live(self.book.with_task(task))
            self.tickets[ticket.number] = ticket
            self.book.tickets[ticket.number] = Model(name, task)

    @precondition(lambda self: self.book.in_state("preparing"))
    @rule(data=st.data(), lane=st.sampled_from(Lane))
    def arrive(self, data: st.DataObject, lane: Lane) -> None:
        ticket, model = self.pick(data, "preparing")
        self.admission.enqueue(ticket, lane)
        model.state, model.lane = "queued", lane
        self.book.waiting[lane].append(ticket.number)
        self.plan()

    @precondition(lambda self: self.book.in_state("preparing"))
    @rule(data=st.data(), event=st.sampled_from([TicketEvent.COMPLETE, TicketEvent.FAIL, TicketEvent.CANCEL]))
    def leave(self, data: st.DataObject, event: TicketEvent) -> None:
        ticket, model = self.pick(data, "preparing")
        self.admission.finish(ticket, event)
        model.state = ticket.state.value
        assert ticket.state.is_terminal

    @precondition(lambda self: self.book.in_state("running"))
    @rule(data=st.data())
    def enter_commit(self, data: st.DataObject) -> None:
        ticket, model = self.pick(data, "running")
        if model.lane is Lane.MUTATION:
            ticket.enter_commit()
            model.state = "committing"

    @precondition(lambda self: self.book.in_state("committing"))
    @rule(data=st.data())
    def boundary_work_begins(self, data: st.DataObject) -> None:
        ticket, model = self.pick(data, "committing")
        self.admission.hold(ticket)
        model.holds += 1

    @precondition(lambda self: any(model.holds_slot for model in self.book.tickets.values()))
    @rule(data=st.data())
    def leave_slot(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from([n for n, model in self.book.tickets.items() if model.holds_slot]))
        model = self.book.tickets[number]
        self.admission.leave_slot(self.tickets[number])
        model.has_left = True
        assert model.lane is not None
        self.slots.release(model.lane)
        self.plan()

    @precondition(lambda self: self.book.in_state("running", "committing"))
    @rule(data=st.data(), event=st.sampled_from([TicketEvent.COMPLETE, TicketEvent.FAIL]))
    def run_ends(self, data: st.DataObject, event: TicketEvent) -> None:
        ticket, model = self.pick(data, "running", "committing")
        self.admission.finish(ticket, event)
        model.state = ticket.state.value
        self.let_go(ticket, model)

    @precondition(lambda self: any(model.holds and model.state not in LIVE for model in self.book.tickets.values()))
    @rule(data=st.data())
    def late_work_ends(self, data: st.DataObject) -> None:
        late = [n for n, model in self.book.tickets.items() if model.holds and model.state not in LIVE]
        number = data.draw(st.sampled_from(late))
        self.let_go(self.tickets[number], self.book.tickets[number])

    @rule(key=st.sampled_from(KEYS), session=st.sampled_from(SESSIONS))
    def cancel_by_name(self, key: Key, session: str | None) -> None:
        name = None if session is None or key is None else (session, repr(key))
        self.check_cancel(self.book.named(name), self.admission.find(session, key))

    @rule(task=st.sampled_from(["task", "unknown"]))
    def cancel_by_task(self, task: str) -> None:
        self.check_cancel(self.book.with_task(task), self.admission.find_task(task))

    def check_cancel(self, number: int | None, found: Ticket | None) -> None:
        assert found is (None if number is None else self.tickets[number])
        outcome = self.admission.cancel(found)
        if number is None:
            assert outcome is CancelOutcome.NOT_FOUND
            return
        model = self.book.tickets[number]
        if model.state == "committing":
            assert outcome is CancelOutcome.COMMITTING
        elif model.state not in LIVE:
            assert outcome is CancelOutcome.FINISHED
        else:
            assert outcome is CancelOutcome.ACCEPTED
            if model.state == "queued":
                assert model.lane is not None
                self.book.waiting[model.lane].remove(number)
            model.state = "cancelled"

    def let_go(self, ticket: Ticket, model: Model) -> None:
        model.holds -= 1
        is_free = model.holds == 0 and not model.has_left
        assert self.admission.let_go(ticket) == is_free
        if is_free:
            assert model.lane is not None
            self.slots.release(model.lane)
        self.plan()

    def plan(self) -> None:
        started = assign(self.admission, self.slots)
        for lane in Lane:
            mine = [ticket.number for ticket in started if ticket.lane is lane]
            free = SLOTS[lane] - sum(model.holds_slot for model in self.book.tickets.values() if model.lane is lane)
            expected, self.book.waiting[lane] = self.book.waiting[lane][:free], self.book.waiting[lane][free:]
            assert mine == expected
            for number in mine:
                self.book.tickets[number].state, self.book.tickets[number].holds = "running", 1

    @invariant()
    def every_ticket_is_in_its_state(self) -> None:
        for number, model in self.book.tickets.items():
            ticket = self.tickets[number]
            assert (ticket.state.value, ticket.holds, ticket.lane) == (model.state, model.holds, model.lane)
            assert ticket.holds_slot == model.holds_slot

    @invariant()
    def exactly_those_in_flight_are_known(self) -> None:
        assert list(self.admission.tickets) == self.book.in_flight()
        assert self.admission.refused_total == self.book.refused

    @invariant()
    def the_queues_are_in_order_of_arrival(self) -> None:
        for lane in Lane:
            assert [ticket.number for ticket in self.admission.queues[lane]] == self.book.waiting[lane]

    @invariant()
    def no_slot_is_free_while_somebody_waits(self) -> None:
        for lane in Lane:
            assert 0 <= self.slots.taken[lane] <= SLOTS[lane]
            assert not (self.slots.free(lane) and self.book.waiting[lane])

    @invariant()
    def the_statistics_add_up(self) -> None:
        found = scheduler_statistics(self.admission, self.slots)
        assert found.in_flight == found.preparing + found.queued + found.running + found.settling <= ADMITTED_MAX
        assert found.committing == len(self.book.in_state(TicketState.COMMITTING.value))


class LongAdmissionModel(AdmissionModel):
    """The same, further out."""


AdmissionModel.TestCase.settings = settings(max_examples=10, stateful_step_count=25, deadline=None, database=None)
LongAdmissionModel.TestCase.settings = settings(max_examples=150, stateful_step_count=60, deadline=None, database=None)

test_any_sequence_of_calls_agrees_with_the_model = AdmissionModel.TestCase
test_any_long_sequence_of_calls_agrees_with_the_model = pytest.mark.slow(LongAdmissionModel.TestCase)
