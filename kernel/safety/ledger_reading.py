"""The write ledger from outside, read only: for people who want to know what became of a request id. Synchronous.

Works beside a running coordinator and never changes the file: not its rows, not its schema. What the coordinator will
call unknown at its next start still says executing here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from kernel.safety.folder import LEDGER_FILE
from kernel.safety.ledger_file import SCHEMA_VERSION
from kernel.safety.ledger_store import LedgerUnavailable
from kernel.safety.write import WriteState

_FIELDS: Final[dict[str, str]] = {
    "requestId": "request_id",
    "state": "state",
    "tool": "tool",
    "action": "action",
    "targetIds": "target_ids",
    "issuedAt": "issued_wall_ms",
    "expiresAt": "expires_wall_ms",
    "begunAt": "begun_wall_ms",
    "settledAt": "settled_wall_ms",
    "previousHash": "previous_digest",
    "resultHash": "result_digest",
    "transactionState": "transaction_state",
    "errorCode": "error_code",
    "receipt": "receipt",
}
_JSON: Final = frozenset({"targetIds", "receipt"})
_SELECT: Final = f"SELECT {', '.join(_FIELDS.values())} FROM writes"
# The newest first, by whatever time a row still has.
_NEWEST: Final = " ORDER BY max(ifnull(settled_wall_ms, 0), ifnull(begun_wall_ms, 0), ifnull(issued_wall_ms, 0)) DESC"


def listed(folder: Path, state: WriteState | None, limit: int) -> list[dict[str, Any]]:
    """The newest rows; without a state all but the bare markers of expired ids. Raises LedgerUnavailable."""
    where, values = ("state=?", [state.value]) if state else ("state<>?", [WriteState.EXPIRED.value])
    with _opened(folder) as connection:
        rows = connection.execute(f"{_SELECT} WHERE {where}{_NEWEST} LIMIT ?", [*values, limit])
        return [_row(row) for row in rows]


def found(folder: Path, request_id: str) -> dict[str, Any] | None:
    """One row; None for an id that was never issued here. Raises LedgerUnavailable."""
    with _opened(folder) as connection:
        row = connection.execute(f"{_SELECT} WHERE request_id=?", [request_id.lower()]).fetchone()
        return None if row is None else _row(row)


def summary(folder: Path) -> dict[str, Any]:
    """What the file is, without a row of it: ``schema``, ``damage`` (empty: none), ``counts`` by state.

    Raises:
        LedgerUnavailable
    """
    with _opened(folder) as connection:
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        damage = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)") if row[0] != "ok"]
        counts = dict(connection.execute("SELECT state, count(*) FROM writes GROUP BY state"))
        return {"schema": schema, "isKnown": schema <= SCHEMA_VERSION, "damage": damage, "counts": counts}


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / LEDGER_FILE
    if path.exists() and not path.stat().st_size:
        raise LedgerUnavailable(f"{path} is empty, and a ledger never is")
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5.0)
        try:
            yield connection
        finally:
            connection.close()
    except sqlite3.Error as error:
        words = "there is none" if not path.exists() else str(error)
        raise LedgerUnavailable(f"{path} cannot be read: {words}") from error


def _row(values: tuple[Any, ...]) -> dict[str, Any]:
    pairs = zip(_FIELDS, values, strict=True)
    return {name: json.loads(value) if name in _JSON else value for name, value in pairs if value is not None}
