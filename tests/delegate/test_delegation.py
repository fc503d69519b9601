"""The table of a delegated call, whole: no way leads from a lost answer back to sending."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from kernel.delegate.delegation import (
    TRANSITIONS,
    CallEvent,
    CallState,
    Delegation,
    IllegalTransition,
    transitions_diagram,
    withdrawn,
)
from kernel.delegate.limits import RESULT_QUERIES_MAX, RESULT_QUERY_APART_S

DONE = {"found": True, "state": "done", "result": {"content": []}}


def lost(*, can_write: bool = True) -> Delegation:
    delegation = Delegation("t", can_write=can_write)
    delegation.advance(CallEvent.DISPATCHED)
    delegation.lose("its answer was lost")
    return delegation


@pytest.mark.parametrize(("state", "event"), list(product(CallState, CallEvent)))
def test_every_event_in_every_state_does_what_the_table_says(state: CallState, event: CallEvent) -> None:
    delegation = Delegation("t", can_write=True)
    delegation.state = state
    if event in TRANSITIONS[state]:
        delegation.advance(event)
        assert delegation.state is TRANSITIONS[state][event]
    else:
        with pytest.raises(IllegalTransition):
            delegation.advance(event)
        assert delegation.state is state


def test_what_was_sent_can_only_be_sent_again_as_the_answer_to_a_question() -> None:
    """R250, as a property of the graph: from LOST and IN_DOUBT no path leads to SENT."""
    reached, front = set(), [CallState.LOST, CallState.IN_DOUBT, CallState.ANSWERED, CallState.REFUSED]
    while front:
        state = front.pop()
        reached.add(state)
        front += [after for after in TRANSITIONS[state].values() if after not in reached]
    assert CallState.SENT not in reached
    before_sent = {state for state, row in TRANSITIONS.items() if CallState.SENT in row.values()}
    assert before_sent == {CallState.NEW, CallState.ASKED}


def test_three_queries_a_tenth_of_a_second_apart_then_it_is_in_doubt() -> None:
    delegation = lost()
    waits = [delegation.next_query_s() for _ in range(RESULT_QUERIES_MAX)]
    assert waits == [0.0, RESULT_QUERY_APART_S, RESULT_QUERY_APART_S]
    assert delegation.next_query_s() is None
    assert delegation.state is CallState.IN_DOUBT


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (None, "its answer was lost"),
        ("text", "its answer was lost"),
        ({"found": False, "state": None}, "its answer was lost"),
        ({"found": True, "state": "running"}, "it is still running"),
        ({"found": True, "state": "queued"}, "it is still running"),
    ],
)
def test_a_reply_without_an_end_is_followed_by_another_query(reply: Any, reason: str) -> None:
    delegation = lost()
    delegation.next_query_s()
    assert delegation.take_reply(reply) is None
    assert delegation.reason == reason
    assert delegation.next_query_s() == RESULT_QUERY_APART_S


@pytest.mark.parametrize("reason", ["result_too_large", "access_changed"])
def test_an_end_without_its_result_is_not_asked_for_again(reason: str) -> None:
    delegation = lost()
    delegation.next_query_s()
    assert delegation.take_reply({"found": True, "state": "done", "resultAvailable": False, "reason": reason}) is None
    assert delegation.next_query_s() is None
    error = delegation.in_doubt()
    assert (error.code, reason in error.message) == ("outcome_unknown", True)


def test_a_kept_result_is_the_answer() -> None:
    delegation = lost()
    delegation.next_query_s()
    assert delegation.take_reply(DONE) == {"content": []}
    assert delegation.state is CallState.ANSWERED


@pytest.mark.parametrize("result", [None, [], {"content": "x"}, {}])
def test_a_result_that_is_none_is_not_taken(result: Any) -> None:
    delegation = lost()
    delegation.next_query_s()
    assert delegation.take_reply({**DONE, "result": result}) is None


@pytest.mark.parametrize("can_write", [True, False])
def test_the_unknown_outcome_names_the_task_to_ask_for(can_write: bool) -> None:
    payload = lost(can_write=can_write).in_doubt().payload()
    assert payload["writeAttempted"] is can_write
    assert "writeExecuted" not in payload
    assert payload["error"]["taskId"] == "t"
    assert payload["error"]["recovery"]["operation"] == "result"
    assert payload["error"]["recovery"]["endpoint"].endswith("/tasks")


@pytest.mark.parametrize(("can_write", "is_safe"), [(True, False), (False, True)])
def test_a_read_in_doubt_may_be_made_again_and_a_write_names_the_id_of_its_replay(
    can_write: bool, is_safe: bool
) -> None:
    delegation = Delegation("t", can_write=can_write, request_id="b72f" if can_write else None)
    error = delegation.in_doubt().payload()["error"]
    assert error["code"] == "outcome_unknown"
    assert error["safeToRetry"] is is_safe
    assert ("call it again" in error["nextStep"]) is is_safe
    assert error.get("requestId") == ("b72f" if can_write else None)


def test_a_call_that_was_withdrawn_executed_nothing() -> None:
    assert withdrawn().payload()["writeExecuted"] is False
    assert withdrawn().code == "request_cancelled"


def test_the_diagram_has_every_arrow_of_the_table() -> None:
    diagram = transitions_diagram()
    assert all(
        f"{s.name} --> {after.name}: {event.value}" in diagram
        for s, row in TRANSITIONS.items()
        for event, after in row.items()
    )
    assert "IN_DOUBT --> [*]" in diagram
