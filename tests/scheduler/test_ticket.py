"""The table of ticket states: the full product, the commit boundary, the ``with`` block."""

from __future__ import annotations

import itertools

import pytest
import trio
import trio.testing

from scheduler import TRANSITIONS, Lane, LocalProtocolError, RequestCancelled, Ticket, TicketEvent, TicketState
from scheduler.events import Committing, TraceEvent
from scheduler.ticket import advance, transitions_diagram

# Written down a second time, in another form than the table: (event, from, to).
ALLOWED = {
    ("enqueue", "preparing", "queued"),
    ("complete", "preparing", "completed"),
    ("fail", "preparing", "failed"),
    ("cancel", "preparing", "cancelled"),
    ("start", "queued", "running"),
    ("cancel", "queued", "cancelled"),
    ("commit", "running", "committing"),
    ("complete", "running", "completed"),
    ("fail", "running", "failed"),
    ("cancel", "running", "cancelled"),
    ("complete", "committing", "completed"),
    ("fail", "committing", "failed"),
}


@pytest.mark.parametrize(("state", "event"), list(itertools.product(TicketState, TicketEvent)))
def test_every_state_answers_every_event(state: TicketState, event: TicketEvent) -> None:
    after = {end for name, start, end in ALLOWED if (name, start) == (event.value, state.value)}
    if after:
        assert {advance(state, event).value} == after
        return
    with pytest.raises(LocalProtocolError, match=rf"^{event.name} in {state.name}$"):
        advance(state, event)


def test_the_table_has_a_row_for_every_state_and_three_ends() -> None:
    assert set(TRANSITIONS) == set(TicketState)
    ends = {state for state in TicketState if state.is_terminal}
    assert ends == {TicketState.COMPLETED, TicketState.FAILED, TicketState.CANCELLED}


def test_a_cancel_is_possible_exactly_before_the_commit_boundary() -> None:
    cancellable = {state for state in TicketState if TicketEvent.CANCEL in TRANSITIONS[state]}
    assert cancellable == {TicketState.PREPARING, TicketState.QUEUED, TicketState.RUNNING}


def test_the_diagram_shows_every_transition_once() -> None:
    lines = transitions_diagram().splitlines()
    assert lines[0] == "stateDiagram-v2"
    assert lines.count("    RUNNING --> COMMITTING: commit") == 1
    assert len(lines) == 1 + 1 + len(ALLOWED) + 3  # head, entry, transitions, exits


@pytest.mark.parametrize("state", TicketState)
def test_check_cancelled_stops_only_the_cancelled(state: TicketState) -> None:
    ticket = Ticket(1, state=state)
    assert ticket.is_cancelled == (state is TicketState.CANCELLED)
    if ticket.is_cancelled:
        with pytest.raises(RequestCancelled):
            ticket.check_cancelled()
    else:
        ticket.check_cancelled()


async def test_the_commit_boundary_has_no_checkpoint() -> None:
    seen: list[TraceEvent] = []
    ticket = Ticket(3, state=TicketState.RUNNING, lane=Lane.MUTATION, observer=seen.append)
    with trio.testing.assert_no_checkpoints():
        ticket.enter_commit()
    assert ticket.state is TicketState.COMMITTING
    assert seen == [Committing(3)]


async def test_the_commit_boundary_ignores_a_cancel_of_its_own_task() -> None:
    """A pending ``Cancelled`` is not delivered here: only the ticket's state decides."""
    ticket = Ticket(1, state=TicketState.RUNNING, lane=Lane.MUTATION)
    with trio.CancelScope() as scope:
        scope.cancel()
        ticket.enter_commit()
        await trio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert ticket.state is TicketState.COMMITTING


@pytest.mark.parametrize("state", TicketState)
def test_only_a_running_mutation_enters_the_commit_boundary(state: TicketState) -> None:
    ticket = Ticket(1, state=state, lane=Lane.MUTATION)
    if state is TicketState.RUNNING:
        ticket.enter_commit()
        assert ticket.state is TicketState.COMMITTING
    elif state is TicketState.CANCELLED:
        with pytest.raises(RequestCancelled):
            ticket.enter_commit()
    else:
        with pytest.raises(LocalProtocolError, match=f"COMMIT in {state.name}"):
            ticket.enter_commit()


@pytest.mark.parametrize("lane", [Lane.READ, None])
def test_a_read_has_no_commit_boundary(lane: Lane | None) -> None:
    ticket = Ticket(1, state=TicketState.RUNNING, lane=lane)
    with pytest.raises(LocalProtocolError, match="COMMIT in RUNNING, lane"):
        ticket.enter_commit()
    assert ticket.state is TicketState.RUNNING


@pytest.mark.parametrize(
    ("error", "event"),
    [(None, TicketEvent.COMPLETE), (ValueError, TicketEvent.FAIL), (KeyboardInterrupt, TicketEvent.CANCEL)],
)
def test_leaving_the_block_ends_a_ticket_that_never_reached_a_lane(
    error: type[BaseException] | None, event: TicketEvent
) -> None:
    left: list[TicketEvent] = []
    ticket = Ticket(1, leave=lambda _ticket, event: left.append(event))
    if error is None:
        with ticket:
            pass
    else:
        with pytest.raises(error), ticket:
            raise error
    assert left == [event]


@pytest.mark.parametrize("state", [state for state in TicketState if state is not TicketState.PREPARING])
def test_leaving_the_block_changes_nothing_later(state: TicketState) -> None:
    left: list[TicketEvent] = []
    with Ticket(1, state=state, leave=lambda _ticket, event: left.append(event)):
        pass
    assert left == []


@pytest.mark.parametrize("state", TicketState)
@pytest.mark.parametrize("holds", [0, 1])
def test_in_flight_is_unfinished_or_holding_a_slot(state: TicketState, holds: int) -> None:
    assert Ticket(1, state=state, holds=holds).is_in_flight == (holds == 1 or not state.is_terminal)
