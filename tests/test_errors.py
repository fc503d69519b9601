"""The one error table: what every refusal carries on the wire."""

from __future__ import annotations

import pytest

from kernel.errors import ERRORS, ToolError


def test_an_error_says_what_to_do_and_whether_a_retry_is_safe() -> None:
    error = ToolError("queue_full", "128 requests are in", outer={"success": False}, retryAfterMs=1000)
    assert str(error) == error.message == "128 requests are in"
    assert error.payload() == {
        "success": False,
        "error": {
            "type": "overloaded",
            "code": "queue_full",
            "message": "128 requests are in",
            "retryAfterMs": 1000,
            "nextStep": ERRORS["queue_full"].next_step,
            "safeToRetry": True,
        },
    }
    assert ToolError("not_found", "x").payload().keys() == {"error"}


def test_a_code_that_is_not_in_the_table_cannot_be_told() -> None:
    with pytest.raises(LookupError, match="'no_such_code' is not in the table"):
        ToolError("no_such_code", "x")


@pytest.mark.parametrize("code", sorted(ERRORS))
def test_every_row_is_a_whole_sentence_under_its_own_name(code: str) -> None:
    kind = ERRORS[code]
    assert kind.code == code == code.lower()
    assert kind.type
    assert kind.next_step[0].isupper()
    assert kind.next_step[-1] in ".?"
