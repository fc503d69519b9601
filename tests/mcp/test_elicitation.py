"""Sealed confirmations: bound, single-use, mortal, and judged with one text for every fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.mcp.elicitation import (
    FIELD,
    QUESTION,
    Answer,
    Binding,
    Confirmations,
    client_identity,
    question,
    read_answer,
    state_refused,
)
from kernel.mcp.jsonrpc import ProtocolError
from kernel.mcp.limits import CONFIRMATION_TTL_S, CONFIRMATIONS_PENDING_MAX

BINDING = Binding("local", "client", "sha256:v1:op")


def responses(action: Any = "accept", content: Any = None) -> dict[str, Any]:
    response = {"action": action}
    if content is not None:
        response["content"] = content
    return {QUESTION: response}


YES = responses(content={FIELD: True})


def refused(confirmations: Confirmations, state: Any, binding: Binding = BINDING, now: float = 0.0) -> None:
    with pytest.raises(ProtocolError) as caught:
        confirmations.judge(state, binding, YES, now=now)
    expected = state_refused()
    assert (caught.value.code, caught.value.status) == (-32602, 400)
    assert (caught.value.message, caught.value.data) == (expected.message, expected.data)


def test_an_untouched_state_confirms_once() -> None:
    confirmations = Confirmations(b"key")
    state = confirmations.issue(BINDING, "n", now=0.0)
    assert confirmations.judge(state, BINDING, YES, now=CONFIRMATION_TTL_S - 0.001) is Answer.CONFIRMED
    refused(confirmations, state)
    assert len(confirmations) == 0


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (YES, Answer.CONFIRMED),
        ({**YES, "unknown": 5}, Answer.CONFIRMED),
        (responses(content={FIELD: True, "other": 1}), Answer.CONFIRMED),
        (responses(content={FIELD: False}), Answer.DECLINED),
        (responses("decline"), Answer.DECLINED),
        (responses("cancel"), Answer.CANCELLED),
        (None, Answer.MALFORMED),
        ([], Answer.MALFORMED),
        ({}, Answer.MALFORMED),
        ({"other": {"action": "accept", "content": {FIELD: True}}}, Answer.MALFORMED),
        ({QUESTION: 5}, Answer.MALFORMED),
        ({QUESTION: {}}, Answer.MALFORMED),
        (responses("yes"), Answer.MALFORMED),
        (responses(5), Answer.MALFORMED),
        (responses(), Answer.MALFORMED),
        (responses(content={}), Answer.MALFORMED),
        (responses(content=[]), Answer.MALFORMED),
        (responses(content={FIELD: "true"}), Answer.MALFORMED),
        (responses(content={FIELD: 1}), Answer.MALFORMED),
        (responses(content={FIELD: None}), Answer.MALFORMED),
    ],
)
def test_an_answer_means_one_of_four_things_and_only_a_malformed_one_leaves_the_state_open(
    given: Any, answer: Answer
) -> None:
    assert read_answer(given) is answer
    confirmations = Confirmations(b"key")
    state = confirmations.issue(BINDING, "n", now=0.0)
    assert confirmations.judge(state, BINDING, given, now=1.0) is answer
    assert len(confirmations) == (1 if answer is Answer.MALFORMED else 0)
    if answer is Answer.MALFORMED:
        assert confirmations.judge(state, BINDING, YES, now=2.0) is Answer.CONFIRMED


@pytest.mark.parametrize("state", [5, True, [], {}, "", "v1.", "v1.n", "v1.n.", "v2.n.x", "é", "v1.é.é"])
def test_what_is_no_state_is_refused(state: Any) -> None:
    confirmations = Confirmations(b"key")
    issued = confirmations.issue(BINDING, "n", now=0.0)
    refused(confirmations, state)
    assert confirmations.judge(issued, BINDING, YES, now=0.0) is Answer.CONFIRMED


def test_every_byte_counts() -> None:
    confirmations = Confirmations(b"key")
    state = confirmations.issue(BINDING, "nonce", now=0.0)
    for index in range(len(state)):
        flipped = state[:index] + ("x" if state[index] != "x" else "y") + state[index + 1 :]
        refused(confirmations, flipped)
    refused(confirmations, state + "x")
    refused(confirmations, state[:-1])
    assert confirmations.judge(state, BINDING, YES, now=0.0) is Answer.CONFIRMED


@pytest.mark.parametrize(
    "binding",
    [
        Binding("other", "client", BINDING.operation),
        Binding("local", "c2", BINDING.operation),
        Binding("local", "client", "op2"),
    ],
)
def test_a_state_is_good_for_its_principal_client_and_operation_only(binding: Binding) -> None:
    confirmations = Confirmations(b"key")
    state = confirmations.issue(BINDING, "n", now=0.0)
    refused(confirmations, state, binding)
    assert confirmations.judge(state, BINDING, YES, now=0.0) is Answer.CONFIRMED


def test_two_pending_states_do_not_cross() -> None:
    confirmations = Confirmations(b"key")
    other = Binding("local", "client", "op2")
    one, two = confirmations.issue(BINDING, "a", now=0.0), confirmations.issue(other, "b", now=0.0)
    assert one != two
    refused(confirmations, one, other)
    refused(confirmations, two, BINDING)
    assert confirmations.judge(two, other, YES, now=0.0) is Answer.CONFIRMED
    assert confirmations.judge(one, BINDING, YES, now=0.0) is Answer.CONFIRMED


def test_a_state_expires_at_its_limit() -> None:
    confirmations = Confirmations(b"key")
    state = confirmations.issue(BINDING, "n", now=10.0)
    refused(confirmations, state, now=10.0 + CONFIRMATION_TTL_S)
    assert len(confirmations) == 0


def test_a_state_dies_with_its_process() -> None:
    issuer = Confirmations(b"key")
    state = issuer.issue(BINDING, "n", now=0.0)
    restarted = Confirmations(b"another key")
    refused(restarted, state)
    same_key = Confirmations(b"key")
    refused(same_key, state)
    assert issuer.judge(state, BINDING, YES, now=0.0) is Answer.CONFIRMED


def test_the_limit_is_kept_and_one_past_it_the_oldest_is_pushed_out() -> None:
    confirmations = Confirmations(b"key")
    states = [confirmations.issue(BINDING, str(index), now=float(index)) for index in range(CONFIRMATIONS_PENDING_MAX)]
    assert len(confirmations) == CONFIRMATIONS_PENDING_MAX
    assert confirmations.judge(states[0], BINDING, None, now=200.0) is Answer.MALFORMED
    confirmations.issue(BINDING, "new", now=200.0)
    assert len(confirmations) == CONFIRMATIONS_PENDING_MAX
    refused(confirmations, states[0], now=200.0)
    assert confirmations.judge(states[1], BINDING, YES, now=200.0) is Answer.CONFIRMED


def test_a_pending_confirmation_is_known_to_its_principal_whatever_the_client_calls_itself() -> None:
    confirmations = Confirmations(b"key")
    confirmations.issue(BINDING, "n", now=0.0)
    assert confirmations.is_pending("local", BINDING.operation, now=1.0)
    assert not confirmations.is_pending("other", BINDING.operation, now=1.0)
    assert not confirmations.is_pending("local", "op2", now=1.0)
    assert not confirmations.is_pending("local", BINDING.operation, now=CONFIRMATION_TTL_S)


def test_the_question_is_one_flat_boolean_form() -> None:
    result = question("Wipe it?", "state")
    assert result["requestState"] == "state"
    request = result["inputRequests"][QUESTION]
    assert request["method"] == "elicitation/create"
    assert request["params"]["mode"] == "form"
    assert request["params"]["message"] == "Wipe it?"
    schema = request["params"]["requestedSchema"]
    assert schema["required"] == [FIELD]
    assert schema["properties"][FIELD]["type"] == "boolean"


def test_an_identity_is_the_declaration_and_not_its_spelling() -> None:
    assert client_identity(None) == ""
    assert client_identity({"a": 1, "b": 2}) == client_identity({"b": 2, "a": 1}) != client_identity({"a": 1})


@given(st.text(max_size=80))
def test_no_text_opens_a_confirmation(state: str) -> None:
    confirmations = Confirmations(b"key")
    issued = confirmations.issue(BINDING, "n", now=0.0)
    refused(confirmations, state)
    assert confirmations.judge(issued, BINDING, YES, now=0.0) is Answer.CONFIRMED
