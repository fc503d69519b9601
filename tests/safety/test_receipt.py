"""What is told of a preflight, a write and a replay: full digests are kept, short ones leave."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.safety.intent import Observation, Precondition
from kernel.safety.leases import Lease
from kernel.safety.receipt import Receipt, preflight_answer, replay_answer, safety_object
from kernel.safety.short_hashes import ShortHashes

OLD, NEW = (f"sha256:v1:{digit * 64}" for digit in "ab")


def lease() -> Lease:
    return Lease("block.update", NEW, expires_at=600.0, expires_wall_ms=1_600_000)


def answer(**changes: Any) -> dict[str, Any]:
    seen = Observation({"s": 1}, ("x", "y"), 2, {"title": "T", "requestId": "of the probe"})
    facts: dict[str, Any] = {
        "request_id": "b72f",
        "expires_wall_ms": 1_600_000,
        "precondition": Precondition.STATE,
        "seen": seen,
        "lease": lease(),
        "pool": ShortHashes(),
    }
    return preflight_answer(**{**facts, **changes})


def test_a_preflight_names_its_credential_and_counts_its_targets() -> None:
    assert answer() == {
        "validateOnly": True,
        "writeSafetyMode": "strict",
        "writeAttempted": False,
        "writeExecuted": False,
        "requestId": "b72f",
        "requestIdExpiresAt": 1_600_000,
        "preconditionField": "expectedStateHash",
        "expectedStateHash": "bbbb",
        "hashPrefixLength": 4,
        "leaseExpiresAt": 1_600_000,
        "targetCount": 2,
        "title": "T",
    }


def test_the_summary_of_a_probe_never_stands_in_for_a_field_of_the_answer() -> None:
    assert answer()["requestId"] == "b72f"


def test_an_addition_has_neither_credential_nor_count() -> None:
    told = answer(lease=None, precondition=Precondition.NONE)
    assert told.keys() == {
        "validateOnly",
        "writeSafetyMode",
        "writeAttempted",
        "writeExecuted",
        "requestId",
        "requestIdExpiresAt",
        "title",
    }


@pytest.mark.parametrize(
    ("receipt", "expected"),
    [
        (Receipt("b72f", "committed", OLD, NEW), {"previousHash": "aaaa", "resultHash": "bbbb"}),
        (Receipt("b72f", "committed", None, NEW), {"resultHash": "bbbb"}),
        (Receipt("b72f", "no_change", OLD, None), {"previousHash": "aaaa"}),
        (Receipt("b72f", "committed"), {}),
    ],
)
def test_the_hashes_that_there_are_leave_in_short(receipt: Receipt, expected: dict[str, str]) -> None:
    told = safety_object(receipt, ShortHashes(), is_replay=False)
    assert {name: told[name] for name in told if name.endswith("Hash")} == expected
    assert told["transactionState"] == receipt.transaction_state


@pytest.mark.parametrize(
    ("is_replay", "was_attempted", "attempted"),
    [(False, True, True), (False, False, False), (True, True, False), (True, False, False)],
)
def test_only_a_first_attempt_was_an_attempt(is_replay: bool, was_attempted: bool, attempted: bool) -> None:
    told = safety_object(Receipt("b72f", "committed"), ShortHashes(), is_replay=is_replay, was_attempted=was_attempted)
    assert (told["replayed"], told["writeAttempted"], told["writeExecuted"]) == (is_replay, attempted, attempted)


def test_a_replay_is_the_safety_block_alone() -> None:
    told = replay_answer(Receipt("b72f", "committed", OLD, NEW), ShortHashes())
    safety = told.pop("safety")
    assert told == {"success": True, **safety}
    assert safety["replayed"] is True


def test_a_creations_replay_carries_its_receipt_and_cannot_overwrite_the_safety_block() -> None:
    extra = {"avID": "av", "requestId": "of the receipt"}
    told = replay_answer(Receipt("b72f", "committed", extra=extra), ShortHashes())
    assert (told["avID"], told["requestId"], told["receipt"]) == ("av", "b72f", extra)
