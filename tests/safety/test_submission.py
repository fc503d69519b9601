"""Arguments parted from safety fields, and what a write that was not made is told."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import ToolError
from kernel.safety.intent import SAFETY_ARGUMENTS
from kernel.safety.submission import arguments_digest, checked_request_id, in_doubt, rejected


def test_the_digest_of_a_call_does_not_see_its_safety_fields() -> None:
    business = {"id": "x", "data": "y"}
    assert arguments_digest({**business, **dict.fromkeys(SAFETY_ARGUMENTS, "z")}) == arguments_digest(business)
    assert arguments_digest({**business, "data": "z"}) != arguments_digest(business)
    assert arguments_digest({"data": "y", "id": "x"}) == arguments_digest(business)


@pytest.mark.parametrize("given", ["abcd", "0123456789abcdef" * 4])
def test_request_ids_of_the_right_form(given: str) -> None:
    assert checked_request_id(given) == given


@pytest.mark.parametrize("given", ["abc", "ABCD", "ab cd", "g123", "", 1234, True, "a" * 65, "abcd\n"])
def test_request_ids_of_the_wrong_form(given: Any) -> None:
    with pytest.raises(ToolError) as caught:
        checked_request_id(given)
    assert caught.value.code == "invalid_request_id"


def test_no_request_id_at_all() -> None:
    with pytest.raises(ToolError) as caught:
        checked_request_id(None)
    assert caught.value.code == "precondition_required"
    assert caught.value.details["expectedField"] == "requestId"


def test_a_write_in_doubt_was_attempted_and_says_no_more() -> None:
    assert in_doubt() == {**rejected(), "writeAttempted": True, "transactionState": "unknown"}
