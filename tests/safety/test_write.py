"""The life of a request id: the whole product of states and events."""

from __future__ import annotations

import itertools

import pytest

from kernel.safety.write import (
    SETTLED,
    TRANSITIONS,
    IllegalTransition,
    WriteEvent,
    WriteState,
    advance,
    transitions_diagram,
)


@pytest.mark.parametrize(("state", "event"), list(itertools.product(WriteState, WriteEvent)))
def test_every_event_in_every_state_is_a_transition_or_an_error(state: WriteState, event: WriteEvent) -> None:
    expected = TRANSITIONS[state].get(event)
    if expected is None:
        with pytest.raises(IllegalTransition, match=f"{event.name} cannot happen to a write that is {state.name}"):
            advance(state, event)
    else:
        assert advance(state, event) is expected


def test_nothing_leads_back_to_execution() -> None:
    into_executing = [
        (state, event) for state, row in TRANSITIONS.items() for event, to in row.items() if to is WriteState.EXECUTING
    ]
    assert into_executing == [(WriteState.ISSUED, WriteEvent.BEGUN)]


def test_every_state_is_reachable_and_only_the_marker_is_final() -> None:
    reached = {WriteState.ISSUED}
    while True:
        further = reached | {to for state in reached for to in TRANSITIONS[state].values()}
        if further == reached:
            break
        reached = further
    assert reached == set(WriteState)
    assert [state for state in WriteState if not TRANSITIONS[state]] == [WriteState.EXPIRED]
    assert set(TRANSITIONS[WriteState.EXECUTING].values()) == SETTLED


def test_the_diagram_shows_every_transition_once() -> None:
    lines = transitions_diagram().splitlines()
    assert lines[:2] == ["stateDiagram-v2", "    [*] --> ISSUED"]
    assert len(lines) == 2 + sum(len(row) for row in TRANSITIONS.values()) + 1
    assert "    EXECUTING --> UNKNOWN: restarted" in lines
    assert lines[-1] == "    EXPIRED --> [*]"
