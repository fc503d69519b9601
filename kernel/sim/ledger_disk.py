"""The ledger's file on a simulated disk: real SQLite, real WAL, its file calls answered by a ``SimulatedDisk``.

The store speaks to ``sqlite3``; a virtual file system can only be given to ``apsw``. ``SimulatedConnection`` shows an
apsw connection with the few words of ``sqlite3`` that the store uses. WAL without shared memory asks for exclusive
locking, which leaves what is written, and when it is synced, as it is.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import apsw

from kernel.safety.ledger_file import OsFiles
from kernel.sim.disk import Crashed, Inode, SimulatedDisk, parent

_NUMBERS: Final = itertools.count(1)
_JOURNALS: Final = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
# A write touches no byte beside its own, whatever happens: as on the disks that SQLite assumes.
_TRAITS: Final = apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE


class SimulatedVfs(apsw.VFS):
    """SQLite's view of one simulated disk."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self.disk = disk
        self.name = f"simulated-{next(_NUMBERS)}"
        super().__init__(self.name, "")

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802 - SQLite's names
        return self.disk.find(pathname) is not None

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name

    def xDelete(self, name: str, syncdir: bool) -> None:  # noqa: N802
        with _as_sqlite_error():
            if self.disk.find(name) is None:
                raise apsw.IOError(f"{name} is not there")
            self.disk.unlink(name)
            if syncdir:
                self.disk.sync_folder(parent(name))

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802
        with _as_sqlite_error(apsw.CantOpenError):
            path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
            inode = self.disk.find(path)
            is_new = inode is None
            if inode is None:
                inode = self.disk.create(path)
            flags[1] = flags[0]
            return SimulatedFile(self.disk, path, inode, syncs_folder=is_new and bool(flags[0] & _JOURNALS))


class SimulatedFile:
    """One open file of SQLite. A new journal's folder is synced with its first content, as SQLite's own files do.

    On a dead disk nothing happens: SQLite may close its files, and whoever uses the connection is told.
    """

    def __init__(self, disk: SimulatedDisk, path: str, inode: Inode, *, syncs_folder: bool) -> None:
        self._disk, self._path, self._inode, self._syncs_folder = disk, path, inode, syncs_folder

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        return bytes(self._inode.data[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self._disk.is_dead:
            return
        with _as_sqlite_error():
            self._disk.write(self._inode, self._path, offset, bytes(data))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        if self._disk.is_dead:
            return
        with _as_sqlite_error():
            self._disk.truncate(self._inode, self._path, size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self._disk.is_dead:
            return
        with _as_sqlite_error():
            self._disk.sync(self._inode, self._path)
            if self._syncs_folder:
                self._syncs_folder = False
                self._disk.sync_folder(parent(self._path))

    def xFileSize(self) -> int:  # noqa: N802
        return len(self._inode.data)

    def xLock(self, level: int) -> None:  # noqa: N802
        return

    def xUnlock(self, level: int) -> None:  # noqa: N802
        return

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        return False

    def xSectorSize(self) -> int:  # noqa: N802
        return 0

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return int(_TRAITS)

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: N802
        return False

    def xClose(self) -> None:  # noqa: N802
        return


class SimulatedConnection:
    """An apsw connection in the words of ``sqlite3``."""

    def __init__(self, path: str, vfs: SimulatedVfs) -> None:
        self._vfs = vfs
        with _as_sqlite3_error(vfs):
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            self._connection = apsw.Connection(path, flags=flags, vfs=vfs.name)
            self._connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> SimulatedCursor:
        with _as_sqlite3_error(self._vfs):
            before = self._connection.total_changes()
            rows = self._connection.execute(statement, values).fetchall()
            if self._vfs.disk.is_dead:
                raise Crashed
            return SimulatedCursor(rows, self._connection.total_changes() - before)

    @property
    def total_changes(self) -> int:
        return self._connection.total_changes()

    def close(self) -> None:
        with _as_sqlite3_error(self._vfs):
            self._connection.close()


class SimulatedCursor:
    """All rows of one statement, and how many rows it changed."""

    def __init__(self, rows: list[tuple[Any, ...]], rowcount: int) -> None:
        self._rows = iter(rows)
        self.rowcount = rowcount

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._rows, None)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows


class SimulatedFiles(OsFiles):
    """The file calls of a ledger beside SQLite's."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self._disk = disk

    def size(self, path: Path) -> int | None:
        inode = self._disk.find(str(path))
        return None if inode is None else len(inode.data)

    def begin(self, path: Path) -> None:
        folder = ""
        for part in path.parent.parts[1:]:
            folder += f"/{part}"
            if self._disk.find(folder) is None:
                self._disk.make_folder(folder)
        if self._disk.find(str(path)) is None:
            self._disk.create(str(path))

    def remove(self, path: Path) -> None:
        if self._disk.find(str(path)) is not None:
            self._disk.unlink(str(path))

    def publish(self, made: Path, path: Path) -> None:
        self._disk.rename(str(made), str(path))
        self._disk.sync_folder(parent(str(path)))


def connector(disk: SimulatedDisk) -> Callable[[Path], sqlite3.Connection]:
    """What opens a ledger file on ``disk``, in the place of ``sqlite3.connect``."""
    vfs = SimulatedVfs(disk)

    def connect(path: Path) -> sqlite3.Connection:
        return SimulatedConnection(str(path), vfs)  # type: ignore[return-value]

    return connect


class _as_sqlite_error:  # noqa: N801 - reads as a with-statement
    """The disk's errors as those that SQLite takes from a file system. A crash goes on as what it is."""

    def __init__(self, kind: type[apsw.Error] = apsw.IOError) -> None:
        self._kind = kind

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, _traceback: Any) -> None:
        if isinstance(error, OSError):
            if error.errno == 28:
                raise apsw.FullError("database or disk is full") from error
            raise self._kind(str(error)) from error


class _as_sqlite3_error:  # noqa: N801
    """apsw's errors as ``sqlite3``'s; on a dead disk, the crash that they are."""

    def __init__(self, vfs: SimulatedVfs) -> None:
        self._vfs = vfs

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, _traceback: Any) -> None:
        if error is None:
            return
        if self._vfs.disk.is_dead:
            raise Crashed from error
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            raise sqlite3.DatabaseError(str(error)) from error
        if isinstance(error, apsw.Error):
            raise sqlite3.OperationalError(str(error)) from error
