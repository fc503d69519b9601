"""A ledger row as a value, and the receipt it gives."""

from __future__ import annotations

from typing import Any

from kernel.safety.receipt import Receipt
from kernel.safety.rows import Binding, Row
from kernel.safety.write import WriteState

OLD = f"sha256:v1:{'a' * 64}"


def row(**changes: Any) -> Row:
    facts: dict[str, Any] = {
        "request_id": "b72f",
        "state": WriteState.COMMITTED,
        "binding": Binding("block", "update", "digest"),
        "issued_wall_ms": 1,
        "expires_wall_ms": 2,
    }
    return Row(**{**facts, **changes})


def test_a_row_gives_the_receipt_of_what_it_recorded() -> None:
    kept = row(previous=OLD, result=OLD, transaction_state="no_change", extra={"avID": "av"}).receipt()
    assert kept == Receipt("b72f", "no_change", OLD, OLD, {"avID": "av"})
    assert row().receipt() == Receipt("b72f", "committed", None, None, {})
