"""The write ledger's file: SQLite, WAL, ``synchronous=FULL``, mode 0600 (decision 6). Synchronous.

A ledger comes into being whole: it is made under another name, with its tables, and renamed. So whatever stands at its
path and is no ledger was one, or is somebody else's, and is reported and left alone: an empty file too, which SQLite
would take for a new database, and whose log it would throw away. An id would then be issued a second time (R32).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kernel.safety import limits

SCHEMA_VERSION: Final = 1
# One entry per version: the statements that lead from the version before to it.
_UPGRADES: Final[tuple[tuple[str, ...], ...]] = (
    (
        """
        CREATE TABLE writes (
            request_id TEXT PRIMARY KEY,
            state TEXT NOT NULL,
            tool TEXT,
            action TEXT,
            arguments_digest TEXT,
            target_ids TEXT,
            issued_wall_ms INTEGER,
            expires_wall_ms INTEGER,
            begun_wall_ms INTEGER,
            settled_wall_ms INTEGER,
            previous_digest TEXT,
            result_digest TEXT,
            transaction_state TEXT,
            error_code TEXT,
            receipt TEXT
        ) WITHOUT ROWID
        """,
        # Markers stay for ever and are most of the table; none of the indexes holds them.
        "CREATE INDEX writes_issued ON writes (expires_wall_ms) WHERE state='issued'",
        "CREATE INDEX writes_executing ON writes (begun_wall_ms) WHERE state='executing'",
        "CREATE INDEX writes_settled ON writes (settled_wall_ms) WHERE settled_wall_ms IS NOT NULL",
    ),
)
# Above this the check at the start would be felt; SQLite still finds damage when it reads the page.
_CHECK_BYTES_MAX: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Standing:
    """Which files stand at the ledger's paths: device and inode each, None where there is none."""

    database: tuple[int, int] | None
    log: tuple[int, int] | None


def standing(path: Path) -> Standing:
    return Standing(identity(path), identity(_log_of(path)))


def identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def opened(path: Path) -> sqlite3.Connection:
    """The ledger at ``path``, checked and of this release's schema; made first where there is none.

    Raises:
        sqlite3.Error, OSError: it cannot be used. What stands there is as it was.
    """
    size = files.size(path)
    if size == 0:
        raise sqlite3.DatabaseError(
            f"{path.name} is empty, and a ledger never is: put it back from a copy, or move it away to begin a new one"
        )
    if size is None:
        if files.size(_log_of(path)):
            raise sqlite3.DatabaseError(
                f"{path.name} is missing and its log is there: put it back, or move {_log_of(path).name} away as well"
            )
        _make(path)
    with contextlib.suppress(OSError):
        path.chmod(0o600)
    connection = connect(path)
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """A bare connection to an existing file. A simulation has its own."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=limits.LEDGER_LOCK_WAIT_S)


class OsFiles:
    """What a ledger needs of the file system beside SQLite. A simulation has its own."""

    def size(self, path: Path) -> int | None:
        """In bytes; None where there is no file."""
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return None

    def begin(self, path: Path) -> None:
        """An empty private file and its folders. SQLite's journals take over its mode."""
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def publish(self, made: Path, path: Path) -> None:
        """Rename, durably."""
        made.replace(path)
        if sys.platform != "win32":
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


files = OsFiles()


def _make(path: Path) -> None:
    made = path.with_name(path.name + ".new")
    # What an earlier attempt left that was cut short.
    for left in (made, made.with_name(made.name + "-journal")):
        files.remove(left)
    files.begin(made)
    connection = connect(made)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        _upgrade(connection, 0)
    finally:
        connection.close()
    files.publish(made, path)


def _prepare(connection: sqlite3.Connection) -> None:
    # Before anything is written: the wrong file keeps even its journal mode.
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise sqlite3.DatabaseError(f"written by a newer release (schema {version}, this one knows {SCHEMA_VERSION})")
    if version == 0:
        raise sqlite3.DatabaseError("it is a database, and no ledger")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    if pages * page_bytes <= _CHECK_BYTES_MAX:
        (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise sqlite3.DatabaseError(str(answer))
    _upgrade(connection, version)


def _upgrade(connection: sqlite3.Connection, version: int) -> None:
    for number, statements in _missing_upgrades(version):
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={number}")
        connection.execute("COMMIT")


def _missing_upgrades(version: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    return iter(list(enumerate(_UPGRADES, start=1))[version:])


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
