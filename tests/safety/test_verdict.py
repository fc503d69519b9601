"""The read-back's verdict: every row of its table."""

from __future__ import annotations

import itertools

import pytest

from kernel.safety.intent import Outcome
from kernel.safety.verdict import COMMITTED, NO_CHANGE, ReadBack, judge
from kernel.safety.write import WriteEvent


@pytest.mark.parametrize(
    ("changed", "after", "expected", "is_final"),
    [
        (True, "other", "committed", True),
        (None, "other", "committed", True),
        (False, "other", "unknown", False),
        (True, "same", "unknown", False),
        (None, "same", "no_change", False),
        (False, "same", "no_change", True),
    ],
)
def test_what_the_host_reports_against_what_is_seen(
    changed: bool | None, after: str, expected: str, is_final: bool
) -> None:
    verdict = judge(Outcome({}, changed), "same", ReadBack(after), is_shown_by_state=True)
    assert verdict.transaction_state == expected
    assert verdict.is_final is is_final
    assert (verdict.event is WriteEvent.VERIFIED) == (expected != "unknown")


@pytest.mark.parametrize(("changed", "after"), list(itertools.product([True, False, None], ["same", "other"])))
def test_a_look_that_failed_or_lacks_what_was_asked_is_a_mismatch_whatever_else(
    changed: bool | None, after: str
) -> None:
    outcome = Outcome({}, changed)
    for seen in (ReadBack(cause="gone"), ReadBack(after, is_as_asked=False)):
        verdict = judge(outcome, "same", seen, is_shown_by_state=True)
        assert verdict.event is WriteEvent.MISMATCHED
        assert verdict.cause
        assert not verdict.is_final


@pytest.mark.parametrize("previous", [None, "same"])
def test_what_was_made_beside_an_unchanged_target_is_judged_by_its_own_look(
    previous: str | None,
) -> None:
    outcome = Outcome({}, True)
    assert judge(outcome, previous, ReadBack(previous), is_shown_by_state=False) is COMMITTED
    refused = judge(outcome, previous, ReadBack(previous, is_as_asked=False), is_shown_by_state=False)
    assert refused.event is WriteEvent.MISMATCHED


def test_what_was_not_made_because_it_was_there_is_no_change() -> None:
    assert judge(Outcome({}, False), "same", ReadBack("same"), is_shown_by_state=False) is NO_CHANGE
    assert judge(Outcome({}, False), None, ReadBack(), is_shown_by_state=False) is NO_CHANGE
