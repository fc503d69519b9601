"""The write ledger's rows in its SQLite file (``ledger_file``). Synchronous; one thread's own.

A call's step (issue, begin, settle, look up) is a job: a function of the open connection. Jobs that wait together are
run in one transaction, each in a savepoint, and share its one sync. Whatever SQLite refuses - corrupt, full, not
writable - is ``LedgerUnavailable`` for the whole group, and the file is opened afresh for the next one.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from kernel.safety import ledger_file
from kernel.safety.limits import LEDGER_LIVE_MAX, RECEIPT_TTL_S, REQUEST_ID_HEX_MAX, REQUEST_ID_HEX_MIN
from kernel.safety.rows import Binding, Row
from kernel.safety.write import WriteEvent, WriteState, advance

Job = Callable[[sqlite3.Connection], Any]
# A job's value, or the domain error it raised.
Result = Any

_COLUMNS: Final = (
    "request_id, state, tool, action, arguments_digest, target_ids, issued_wall_ms, expires_wall_ms,"
    " begun_wall_ms, settled_wall_ms, previous_digest, result_digest, transaction_state, error_code, receipt"
)
# A marker keeps when its write was begun: an id that was used has expired in another way than one that was not.
_FORGET: Final = (
    "tool=NULL, action=NULL, arguments_digest=NULL, target_ids=NULL, issued_wall_ms=NULL, expires_wall_ms=NULL,"
    " settled_wall_ms=NULL, previous_digest=NULL, result_digest=NULL, transaction_state=NULL,"
    " error_code=NULL, receipt=NULL"
)


class LedgerUnavailable(Exception):
    """The ledger cannot be read or written; the step it was asked for is not recorded."""


class LedgerFull(Exception):
    """Too many ids are issued and not yet executed."""


class NoFreeId(Exception):
    """All prefixes of the drawn digits are taken."""


class AlreadyBegun(Exception):
    """The id was begun before: nothing is executed a second time."""


class LedgerStore:
    """The ledger of one file. Each time it is opened, what an earlier process left executing becomes unknown."""

    def __init__(self, path: Path, wall_ms: Callable[[], int]) -> None:
        self._path = path
        self._wall_ms = wall_ms
        self._connection: sqlite3.Connection | None = None
        # The files as they were when this process last wrote to them; None before the first time.
        self._files: ledger_file.Standing | None = None
        self.syncs = 0
        self.trouble = ""  # why the last group could not be run; "" if it could

    def run_group(self, jobs: Sequence[Job]) -> list[Result]:
        """Run the jobs in one durable transaction; a domain error of one is its result and leaves the others alone.

        Raises:
            LedgerUnavailable: nothing of the group is recorded.
        """
        try:
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            results = [_run(connection, job) for job in jobs]
            changes = connection.total_changes
            connection.execute("COMMIT")
            self.syncs += 1 if changes else 0
            self._files = ledger_file.standing(self._path)
            self.trouble = ""
            return results
        except (sqlite3.Error, OSError) as error:
            self.close()
            self.trouble = f"the write ledger cannot be used: {error}"
            raise LedgerUnavailable(self.trouble) from error

    def close(self) -> None:
        """Close the file; the next group opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def check_nowait(self) -> str:
        """Why the ledger cannot be used, as far as a look at its files tells; "" if nothing speaks against it."""
        try:
            self._check_file()
        except OSError as error:
            return f"the write ledger cannot be used: {error}"
        return self.trouble

    def _check_file(self) -> None:
        """The file this process wrote is still the one at its path.

        SQLite would go on writing to a deleted file, and a new one would know none of the ids that were used.
        """
        if self._files is not None and ledger_file.identity(self._path) != self._files.database:
            raise OSError(
                f"{self._path.name} was deleted or replaced while this process runs: put it back, or restart the kernel"
            )

    def _opened(self) -> sqlite3.Connection:
        self._check_file()
        if self._files is not None and ledger_file.standing(self._path) != self._files:
            # The log alone is gone: closing writes what it held, through the descriptor that is still open, to the file.
            self.close()
        if self._connection is None:
            connection = ledger_file.opened(self._path)
            try:
                recover(self._wall_ms())(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


# --- jobs ---------------------------------------------------------------------------------------------------------


def issue(digits: str, binding: Binding, target_ids: tuple[str, ...], *, wall_ms: int, expires_wall_ms: int) -> Job:
    """Issue the shortest free prefix of ``digits`` (64 random hexadecimal digits) as a request id (R26, R27).

    The job raises ``LedgerFull`` or ``NoFreeId``; its value is the new ``Row``.
    """

    def job(connection: sqlite3.Connection) -> Row:
        lapse(wall_ms)(connection)
        (live,) = connection.execute("SELECT count(*) FROM writes WHERE state IN ('issued', 'executing')").fetchone()
        if live >= LEDGER_LIVE_MAX:
            raise LedgerFull(f"{live} request ids are issued and not yet executed")
        for length in range(REQUEST_ID_HEX_MIN, REQUEST_ID_HEX_MAX + 1):
            row = Row(digits[:length], WriteState.ISSUED, binding, wall_ms, expires_wall_ms, target_ids)
            inserted = connection.execute(
                f"INSERT OR IGNORE INTO writes ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", _values(row)
            )
            if inserted.rowcount == 1:
                return row
        raise NoFreeId("all prefixes of the drawn digits are taken")

    return job


def begin(row: Row) -> Job:
    """Record that the write of an issued id starts now (R80).

    The job raises ``AlreadyBegun`` where the file knows better than the caller: the last guard against a second write.
    """

    def job(connection: sqlite3.Connection) -> Row:
        stored = connection.execute("SELECT state FROM writes WHERE request_id=?", (row.request_id,)).fetchone()
        if stored is None or stored[0] not in (WriteState.ISSUED.value, WriteState.EXPIRED.value):
            raise AlreadyBegun(f"the ledger holds {stored[0] if stored else 'no row'} for {row.request_id}")
        connection.execute(
            f"INSERT OR REPLACE INTO writes ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", _values(row)
        )
        return row

    return job


def unbegin(row: Row) -> Job:
    """Take ``executing`` back, for a write whose host was never called; ``row`` is issued again."""

    def job(connection: sqlite3.Connection) -> int:
        return connection.execute(
            "UPDATE writes SET state=?, begun_wall_ms=NULL, settled_wall_ms=NULL, receipt=NULL"
            " WHERE request_id=? AND state IN ('executing', 'unknown')",
            (row.state.value, row.request_id),
        ).rowcount

    return job


def settle(row: Row) -> Job:
    """Record the end of a begun write (R81)."""

    def job(connection: sqlite3.Connection) -> Row:
        connection.execute(
            f"INSERT OR REPLACE INTO writes ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", _values(row)
        )
        return row

    return job


def find(request_id: str) -> Job:
    """Look a row up; the job's value is None for an id never issued and for a bare marker."""

    def job(connection: sqlite3.Connection) -> Row | None:
        found = connection.execute(
            f"SELECT {_COLUMNS} FROM writes WHERE request_id=? AND state<>'expired'", (request_id,)
        ).fetchone()
        return None if found is None else _row(found)

    return job


def find_unused(request_id: str) -> Job:
    """Whether the id was issued here once and no write was ever begun with it."""

    def job(connection: sqlite3.Connection) -> bool:
        found = connection.execute(
            "SELECT 1 FROM writes WHERE request_id=? AND state IN ('issued', 'expired') AND begun_wall_ms IS NULL",
            (request_id,),
        ).fetchone()
        return found is not None

    return job


def lapse(wall_ms: int) -> Job:
    """Turn what has had its time into bare markers: ids never executed, receipts older than 7 days (R30-R32)."""

    def job(connection: sqlite3.Connection) -> int:
        expired = advance(WriteState.ISSUED, WriteEvent.LAPSED).value
        unused = connection.execute(
            f"UPDATE writes SET state=?, {_FORGET} WHERE state='issued' AND expires_wall_ms<=?", (expired, wall_ms)
        ).rowcount
        old = connection.execute(
            f"UPDATE writes SET state=?, {_FORGET} WHERE settled_wall_ms<=?",
            (expired, wall_ms - int(RECEIPT_TTL_S * 1000)),
        ).rowcount
        return unused + old

    return job


def recover(wall_ms: int) -> Job:
    """Whatever was begun and never settled is in doubt from now on (decision 27); the value is how many."""

    def job(connection: sqlite3.Connection) -> int:
        unknown = advance(WriteState.EXECUTING, WriteEvent.RESTARTED).value
        return connection.execute(
            "UPDATE writes SET state=?, settled_wall_ms=? WHERE state='executing'", (unknown, wall_ms)
        ).rowcount

    return job


def refused(message: str) -> Job:
    """A step that SQLite refuses with ``message`` (an injected full or read-only disk)."""

    def job(connection: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError(message)

    return job


def open_rows(connection: sqlite3.Connection) -> list[Row]:
    """The rows that are issued and not executed."""
    found = connection.execute(f"SELECT {_COLUMNS} FROM writes WHERE state='issued' ORDER BY issued_wall_ms")
    return [_row(values) for values in found]


def _run(connection: sqlite3.Connection, job: Job) -> Result:
    connection.execute("SAVEPOINT step")
    try:
        result = job(connection)
    except (LedgerFull, NoFreeId, AlreadyBegun) as error:
        connection.execute("ROLLBACK TO step")
        result = error
    connection.execute("RELEASE step")
    return result


def _values(row: Row) -> tuple[Any, ...]:
    return (
        row.request_id,
        row.state.value,
        row.binding.tool,
        row.binding.action,
        row.binding.arguments_digest,
        json.dumps(row.target_ids),
        row.issued_wall_ms,
        row.expires_wall_ms,
        row.begun_wall_ms,
        row.settled_wall_ms,
        row.previous,
        row.result,
        row.transaction_state,
        row.error_code,
        json.dumps(dict(row.extra), ensure_ascii=False) if row.extra else None,
    )


def _row(values: tuple[Any, ...]) -> Row:
    return Row(
        request_id=values[0],
        state=WriteState(values[1]),
        binding=Binding(values[2], values[3], values[4]),
        target_ids=tuple(json.loads(values[5] or "[]")),
        issued_wall_ms=values[6],
        expires_wall_ms=values[7],
        begun_wall_ms=values[8],
        settled_wall_ms=values[9],
        previous=values[10],
        result=values[11],
        transaction_state=values[12],
        error_code=values[13],
        extra=json.loads(values[14]) if values[14] else {},
    )
