"""The ledger as its owner may look at it beside a running kernel: every row, and nothing changed by looking."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from kernel.clock import ManualClock
from kernel.ids import SeededIds
from kernel.safety import ledger_reading
from kernel.safety.folder import LEDGER_FILE
from kernel.safety.ledger import Ledger
from kernel.safety.ledger_file import SCHEMA_VERSION
from kernel.safety.ledger_store import LedgerStore, LedgerUnavailable
from kernel.safety.ledger_writer import InlineWriter
from kernel.safety.limits import REQUEST_ID_TTL_S
from kernel.safety.rows import Binding
from kernel.safety.write import WriteEvent, WriteState

BINDING = Binding("block", "update", "sha256:v1:" + "0" * 64)


async def recorded(folder: Path, clock: ManualClock) -> dict[str, Any]:
    """One id of each fate, a second apart; the store stays open, as in a kernel that runs."""
    ledger = Ledger(InlineWriter(LedgerStore(folder / LEDGER_FILE, clock.wall_ms)), clock, SeededIds(3))
    expired = await ledger.issue(BINDING, ())
    clock.advance(REQUEST_ID_TTL_S)
    issued = await ledger.issue(BINDING, ("b",))
    ids = {"expired": expired.request_id, "issued": issued.request_id}
    for name, event in (("committed", WriteEvent.VERIFIED), ("unknown", WriteEvent.REPLY_LOST), ("executing", None)):
        clock.advance(1)
        row = ledger.claim(await ledger.issue(BINDING, ("b", "c")))
        assert row is not None
        await ledger.begin(row)
        if event is not None:
            facts = {"previous": "p", "result": "r", "transaction_state": "committed"}
            await ledger.settle(row, event, **(facts if name == "committed" else {}))
        ids[name] = row.request_id
    return {"ledger": ledger, **ids}


async def test_the_newest_rows_come_first_and_the_bare_markers_only_when_asked_for(tmp_path: Path) -> None:
    made = await recorded(tmp_path, ManualClock())

    def listed(state: WriteState | None, limit: int = 10) -> list[str]:
        return [row["requestId"] for row in ledger_reading.listed(tmp_path, state, limit)]

    assert listed(None) == [made[name] for name in ("executing", "unknown", "committed", "issued")]
    assert listed(None, 1) == [made["executing"]]
    assert listed(WriteState.COMMITTED) == [made["committed"]]
    assert listed(WriteState.EXPIRED) == [made["expired"]]
    assert listed(WriteState.FAILED_BEFORE_EXECUTE) == []
    assert ledger_reading.summary(tmp_path) == {
        "schema": SCHEMA_VERSION,
        "isKnown": True,
        "damage": [],
        "counts": {"expired": 1, "issued": 1, "committed": 1, "unknown": 1, "executing": 1},
    }
    await made["ledger"].aclose()


async def test_one_row_is_told_with_what_it_has_and_found_in_either_case(tmp_path: Path) -> None:
    clock = ManualClock()
    made = await recorded(tmp_path, clock)
    begun = clock.wall_ms() - 2000
    row = ledger_reading.found(tmp_path, made["committed"].upper())
    assert row is not None
    assert {name: row[name] for name in row if name != "receipt"} == {
        "requestId": made["committed"],
        "state": "committed",
        "tool": "block",
        "action": "update",
        "targetIds": ["b", "c"],
        "issuedAt": begun,
        "expiresAt": begun + int(REQUEST_ID_TTL_S * 1000),
        "begunAt": begun,
        "settledAt": begun,
        "previousHash": "p",
        "resultHash": "r",
        "transactionState": "committed",
    }
    assert ledger_reading.found(tmp_path, made["expired"]) == {"requestId": made["expired"], "state": "expired"}
    assert ledger_reading.found(tmp_path, "0123456789") is None
    await made["ledger"].aclose()


async def test_looking_changes_nothing_and_a_newer_schema_is_told_not_upgraded(tmp_path: Path) -> None:
    made = await recorded(tmp_path, ManualClock())
    await made["ledger"].aclose()
    with sqlite3.connect(tmp_path / LEDGER_FILE) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    before = (tmp_path / LEDGER_FILE).read_bytes()
    summary = ledger_reading.summary(tmp_path)
    assert (summary["schema"], summary["isKnown"]) == (99, False)
    assert len(ledger_reading.listed(tmp_path, None, 10)) == 4
    assert (tmp_path / LEDGER_FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read: there is none"), (b"no database" * 100, "not a database")]
)
def test_what_cannot_be_read_is_said_to_be_so(tmp_path: Path, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / LEDGER_FILE).write_bytes(content)
    for look in (
        lambda: ledger_reading.summary(tmp_path),
        lambda: ledger_reading.listed(tmp_path, None, 1),
        lambda: ledger_reading.found(tmp_path, "abcd"),
    ):
        with pytest.raises(LedgerUnavailable, match=words):
            look()
    assert (tmp_path / LEDGER_FILE).exists() is (content is not None)
