"""The files of one workspace: reads see every write at once, the disk sees them in batches.

Theory of operation. Everything in ``kernel.workspace`` is synchronous and runs on the event loop's thread, and that
thread must never wait for fsync. So ``write`` and ``remove`` only enter the *overlay* (path → pending content), which
every read consults first. A shell (``kernel.siyuan.durable``) takes the pending entries as one ``Batch``, has a writer
thread carry it out, and reports the end with ``batch_done`` or ``batch_failed``. A batch writes every file to a
temporary neighbour and syncs it before the first rename, so a full disk is found out while nothing has changed yet.

Structural operations (renaming a folder, removing a tree) go to the disk at once: they are metadata and cost no sync.
Pending entries below them are carried along. A batch that is being written at that moment is waited for; callers
that settle first never meet that case.

Paths are relative to the workspace, with ``/``: ``data/<notebook>/<document>.sy``.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.backend import Backend, FileStat, PendingFile, Stamp
from kernel.workspace.contents import Content, Pieces, whole
from kernel.workspace.records import Record, RecordBatch

TEMPORARY_SUFFIX: Final = ".tmp"
# Which contents ``read_again`` keeps: those of small files that have not changed for a while.
SEEN_FILES_MAX: Final = 64
SEEN_BYTES_MAX: Final = 1_048_576
SETTLED_AFTER_MS: Final = 2000
_WINDOWS_FORBIDDEN: Final = frozenset('<>:"|?*\\') | {chr(code) for code in range(32)}
_WINDOWS_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{digit}" for port in ("com", "lpt") for digit in range(1, 10)}
)


class StorageError(Exception):
    """The disk refused: full, read-only, gone. What was asked for has not happened, or is reloaded from disk.

    ``is_partial``: some of it may lie on the disk all the same.
    """

    def __init__(self, reason: str, *, path: str = "", code: int = 0, is_partial: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.errno = code
        self.is_partial = is_partial

    @classmethod
    def of(cls, error: OSError, path: str, *, is_partial: bool = False) -> StorageError:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        is_partial = is_partial or isinstance(error, PartlyWritten)
        return cls(f"{path}: {reason}", path=path, code=error.errno or 0, is_partial=is_partial)


class PartlyWritten(OSError):
    """A backend's refusal in the middle of a batch: some files have their new content already."""


class UnsafePath(ValueError):
    """A path that leaves the workspace, or that no file system carries."""


@dataclass(slots=True)
class Batch:
    """Pending entries on their way to the disk. ``write`` runs in the writer thread, once."""

    entries: dict[str, PendingFile]
    sync_dirs: frozenset[str]
    backend: Backend
    # Set when ``write`` has ended, well or badly.
    is_done: threading.Event = field(default_factory=threading.Event)
    error: StorageError | None = None

    def write(self) -> None:
        """Carry the batch out. Contents in pieces are joined and hashed here, off the loop.

        Raises:
            StorageError: the disk refused; the files are as before, or some already have their new content.
        """
        try:
            self.backend.write_batch(self.entries, self.sync_dirs)
            for entry in self.entries.values():
                if isinstance(entry.content, Pieces):
                    entry.content.hash()
        except OSError as error:
            # Folders to sync are those in which something was moved or removed before: that has happened.
            self.error = StorageError.of(error, error.filename or "", is_partial=bool(self.sync_dirs))
            raise self.error from error
        finally:
            self.is_done.set()


class Files:
    """The file store: an overlay of pending writes over a backend. Used from one thread."""

    def __init__(self, backend: Backend, *, wall_ms: Callable[[], int]) -> None:
        self._backend = backend
        self._wall_ms = wall_ms
        self._pending: dict[str, PendingFile] = {}
        self._in_flight: Batch | None = None
        self._unsynced_dirs: set[str] = set()
        self._seen: dict[str, tuple[Stamp, bytes]] = {}
        self.changes = 0  # grows with every change that is made through this object
        self._withheld: frozenset[str] = frozenset()

    def withhold(self, paths: Collection[str]) -> None:
        """Files that belong to the process, not to the notes: from here on they are not found here, and not touched."""
        self._withheld = frozenset(map(checked, paths))

    def is_withheld(self, path: str) -> bool:
        """Whether it is a file of the process."""
        return path in self._withheld

    # --- reading -----------------------------------------------------------------------------------------------
    def absolute(self, path: str) -> str:
        """The path as the operating system names it (it appears in some of the kernel's messages)."""
        return self._backend.absolute(checked(path))

    def read(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            FileNotFoundError, IsADirectoryError: as ``open`` does.
        """
        entry = self._overlaid(checked(path))
        if entry is None and path not in self._withheld:
            return self._backend.read(path)
        if entry is None or entry.content is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.absolute(path))
        return whole(entry.content)

    def read_again(self, path: str) -> bytes | None:
        """``read`` for small files that are read by every call: the bytes of last time while the file is unchanged.

        None where there is no file. Raises IsADirectoryError.
        """
        if (self._pending or self._in_flight is not None) and self._overlaid(path) is not None:
            return self.read(path) if self.exists(path) else None
        seen = self._seen.get(path)
        stamp = self._backend.stamp(path if seen is not None else checked(path))
        if stamp is None:
            if self._overlay() and self._has_pending_below(path):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.absolute(path))
            self._seen.pop(path, None)
            return None
        if seen is not None and seen[0] == stamp:
            return seen[1]
        content = self._backend.read(path)
        # A file that was written a moment ago may be written again within one tick of its clock, unseen by the stamp.
        is_settled = self._wall_ms() - max(stamp[0], stamp[1]) / 1e6 > SETTLED_AFTER_MS
        if is_settled and len(content) <= SEEN_BYTES_MAX and self._backend.stamp(path) == stamp:
            if len(self._seen) >= SEEN_FILES_MAX:
                self._seen.clear()
            self._seen[path] = (stamp, content)
        return content

    def stamp(self, path: str) -> Stamp | None:
        """By what a change of the file is known; None where it is missing or has not reached the disk.

        Raises IsADirectoryError.
        """
        return None if self.is_pending(path) else self._backend.stamp(checked(path))

    def put_unsynced(self, path: str, content: bytes) -> None:
        """Put a file that may be lost with the power there at once, whole or not at all. Raises StorageError."""
        self._structural(checked(path), lambda: self._backend.put_unsynced(path, content))

    def is_pending(self, path: str) -> bool:
        """Whether a write or a removal of this file has not reached the disk."""
        return bool(self._pending or self._in_flight) and self._overlaid(path) is not None

    def on_disk(self, path: str) -> str:
        """Where a file's bytes lie as they are; ``""`` if they are only here yet, or always."""
        absolute = self.absolute(checked(path))
        is_shown = path not in self._withheld and not self.is_pending(path)
        return absolute if is_shown and os.path.isfile(absolute) else ""

    def stat(self, path: str) -> FileStat | None:
        """What is at ``path``, None if nothing is."""
        entry = self._overlaid(checked(path))
        if entry is not None:
            name = path.rpartition("/")[2]
            return None if entry.content is None else FileStat(name, False, len(entry.content), entry.mtime_s)
        found = self._backend.stat(path) if path not in self._withheld else None
        if found is None and self._has_pending_below(path):
            return FileStat(path.rpartition("/")[2], True)
        return found

    def exists(self, path: str) -> bool:
        return self.stat(path) is not None

    def is_dir(self, path: str) -> bool:
        found = self.stat(path)
        return found is not None and found.is_dir

    def list(self, path: str) -> list[FileStat]:
        """The entries of a folder, sorted by name.

        Raises:
            FileNotFoundError, NotADirectoryError: as ``os.scandir`` does.
        """
        checked(path)
        overlaid = dict(self._entries_in(path))
        try:
            found = {entry.name: entry for entry in self._backend.list(path) if not self._hides(path, entry.name)}
        except FileNotFoundError:
            if not overlaid:
                raise
            found = {}
        for name, entry in overlaid.items():
            if entry is None:
                found.pop(name, None)
            elif not (entry.is_dir and name in found):
                found[name] = entry
        return [found[name] for name in sorted(found)]

    def walk(self, path: str) -> Iterator[tuple[str, FileStat]]:
        """Every file below a folder with its path; nothing if there is no such folder. Hidden temporaries are left out."""
        try:
            entries = self.list(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries:
            below = f"{path}/{entry.name}" if path else entry.name
            if entry.is_dir and not entry.is_symlink:
                yield from self.walk(below)
            elif not is_temporary(entry.name):
                yield below, entry

    # --- writing -----------------------------------------------------------------------------------------------
    def write(self, path: str, content: Content, *, is_private: bool = False, modified_ms: int | None = None) -> None:
        """Give a file its content; parents are made. ``is_private``: readable by the owner only (0600);
        ``modified_ms``: the time it shall bear (Unix milliseconds), now if None."""
        if self.is_dir(checked(path)):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.absolute(path))
        self._spare(path, {path})
        at_ms = self._wall_ms() if modified_ms is None else modified_ms
        self.changes += 1
        self._pending[path] = PendingFile(content, is_private, at_ms / 1000, modified_ms is not None)

    def make_dir(self, path: str) -> None:
        """Make a folder and its parents; no complaint if it is there."""
        try:
            self._backend.make_dir(checked(path))
        except OSError as error:
            raise StorageError.of(error, self.absolute(path)) from error
        self._unsynced_dirs.add(parent_of(path))

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with everything below it.

        Raises:
            FileNotFoundError: nothing is there.
            StorageError: the disk refused.
        """
        found = self.stat(checked(path))
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.absolute(path))
        self._spare(path, self._withheld)
        self.changes += 1
        if not found.is_dir:
            self._pending[path] = PendingFile(None, False, self._wall_ms() / 1000)
            return
        self._wait_for_writer()
        for pending in [pending for pending in self._pending if is_below(pending, path)]:
            del self._pending[pending]
        # A folder may be gone in part.
        self._structural(path, lambda: self._backend.remove(path), can_be_partial=True)

    def rename(self, source: str, target: str) -> None:
        """Move a file or a folder; the target's parents are made, an existing target file is replaced.

        Raises:
            FileNotFoundError: there is no source.
            StorageError: the disk refused.
        """
        if self.stat(checked(source)) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.absolute(source))
        self._spare(source, self._withheld)
        self._spare(checked(target), self._withheld)
        self.changes += 1
        self._wait_for_writer()
        if self._backend.stat(source) is not None:
            self._structural(target, lambda: self._move(source, target))
        for pending in [pending for pending in self._pending if is_below(pending, source)]:
            self._pending[target + pending[len(source) :]] = self._pending.pop(pending)
        self._unsynced_dirs |= {parent_of(source), parent_of(target)}

    def merge(self, source: str, target: str) -> None:
        """Move a file or a folder like ``rename``, but into what the target folder already holds.

        Raises:
            FileNotFoundError: there is no source.
            StorageError: the disk refused.
        """
        if not self.is_dir(source) or not self.is_dir(target):
            self.rename(source, target)
            return
        for entry in self.list(source):
            self.merge(f"{source}/{entry.name}", f"{target}/{entry.name}")
        self.remove(source)

    def copy(self, source: str, target: str, *, keeps_times: bool = False) -> None:
        """Copy a file or a folder; ``keeps_times``: the copies are as old as what they are made from.

        Raises FileNotFoundError.
        """
        found = self.stat(checked(source))
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.absolute(source))
        files = list(self.walk(source)) if found.is_dir else [(source, found)]
        for path, stat in files:
            modified_ms = int(stat.mtime_s * 1000) if keeps_times else None
            self.write(target + path[len(source) :], self.read(path), modified_ms=modified_ms)

    def record_batch(self, records: Sequence[Record]) -> RecordBatch:
        """Records as a batch for a writer thread. One whose file is on its way to the disk joins the ordinary writes
        instead, or the older content would win."""
        direct = []
        for record in records:
            if self._overlaid(checked(record.path)) is None:
                direct.append(record)
            elif record.bytes_max is None:
                self.write(record.path, record.content)
            else:
                before = self.read(record.path) if self.exists(record.path) else b""
                self.write(record.path, before + record.content)
        return RecordBatch(direct, self._backend)

    def _hides(self, folder: str, name: str) -> bool:
        return bool(self._withheld) and (f"{folder}/{name}" if folder else name) in self._withheld

    def _spare(self, path: str, at_stake: Collection[str]) -> None:
        """Refuse what would replace, move or remove a file of the process. Raises StorageError."""
        if any(one in self._withheld and is_below(one, path) for one in at_stake):
            raise StorageError.of(OSError(errno.EBUSY, ""), self.absolute(path))

    # --- durability --------------------------------------------------------------------------------------------
    @property
    def has_pending(self) -> bool:
        return bool(self._pending or self._unsynced_dirs)

    @property
    def is_writing(self) -> bool:
        return self._in_flight is not None

    def take_batch(self) -> Batch | None:
        """What is pending, to be written by the writer thread; one batch at a time."""
        if not self.has_pending:
            return None
        assert self._in_flight is None, "one batch at a time"
        self._in_flight = Batch(self._pending, frozenset(self._unsynced_dirs), self._backend)
        self._pending, self._unsynced_dirs = {}, set()
        return self._in_flight

    def batch_done(self, batch: Batch) -> None:
        """The batch is on disk."""
        for entry in batch.entries.values():
            if isinstance(entry.content, Pieces):
                entry.content.settle()
        if self._in_flight is batch:
            self._in_flight = None

    def batch_failed(self, batch: Batch) -> set[str]:
        """The disk refused the batch. Forget it, and what has become pending since, for that builds on it.

        Returns the paths whose memory must be reloaded from disk.
        """
        self.changes += 1
        affected = set(batch.entries) | set(self._pending)
        self._pending, self._unsynced_dirs = {}, set()
        self.batch_done(batch)
        return affected

    def flush(self) -> None:
        """Write what is pending on this thread (start, shutdown, simulation). Raises StorageError."""
        self._wait_for_writer()
        batch = self.take_batch()
        if batch is None:
            return
        try:
            batch.write()
        except StorageError:
            self.batch_failed(batch)
            raise
        self.batch_done(batch)

    # --- inside ------------------------------------------------------------------------------------------------
    def _overlaid(self, path: str) -> PendingFile | None:
        entry = self._pending.get(path)
        if entry is None and self._in_flight is not None:
            entry = self._in_flight.entries.get(path)
        return entry

    def _overlay(self) -> dict[str, PendingFile]:
        return {**self._in_flight.entries, **self._pending} if self._in_flight is not None else self._pending

    def _has_pending_below(self, path: str) -> bool:
        return any(
            entry.content is not None and is_below(pending, path) and pending != path
            for pending, entry in self._overlay().items()
        )

    def _entries_in(self, path: str) -> Iterator[tuple[str, FileStat | None]]:
        prefix = f"{path}/" if path else ""
        for pending, entry in self._overlay().items():
            if not pending.startswith(prefix):
                continue
            name, _, rest = pending[len(prefix) :].partition("/")
            if rest:
                if entry.content is not None:
                    yield name, FileStat(name, True, 0, entry.mtime_s)
            elif entry.content is None:
                yield name, None
            else:
                yield name, FileStat(name, False, len(entry.content), entry.mtime_s)

    def _wait_for_writer(self) -> None:
        batch = self._in_flight
        if batch is None:
            return
        # Callers settle before a structural change, so this wait is the exception that keeps the order right.
        batch.is_done.wait()
        if batch.error is not None:
            raise batch.error
        self._in_flight = None

    def _move(self, source: str, target: str) -> None:
        if parent_of(target):
            self._backend.make_dir(parent_of(target))
        self._backend.rename(source, target)

    def _structural(self, path: str, operation: Callable[[], None], *, can_be_partial: bool = False) -> None:
        try:
            operation()
        except OSError as error:
            # What was moved just before, and is not synced, belongs to the same call.
            is_partial = can_be_partial or bool(self._unsynced_dirs)
            raise StorageError.of(error, self.absolute(path), is_partial=is_partial) from error
        self._unsynced_dirs.add(parent_of(path))


def checked(path: str) -> str:
    """``path`` itself.

    Raises:
        UnsafePath: it is absolute, leaves the workspace, or holds a NUL.
    """
    if path.startswith("/") or "\0" in path or "\\" in path or ".." in path.split("/"):
        raise UnsafePath(path)
    return path


def parent_of(path: str) -> str:
    """The folder of a path; the workspace itself is ``""``."""
    return path.rpartition("/")[0]


def is_below(path: str, folder: str) -> bool:
    """Whether ``path`` is the folder or something in it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def is_temporary(name: str) -> bool:
    """Whether a name is that of a half-written file left behind by a crash."""
    return name.startswith(".") and name.endswith(TEMPORARY_SUFFIX)


def portable_name(name: str) -> str:
    """A file name that every file system takes: what Windows forbids becomes ``_``, devices get a ``_`` in front."""
    kept = "".join("_" if char in _WINDOWS_FORBIDDEN or char == "/" else char for char in name).rstrip(". ")
    if kept.partition(".")[0].lower() in _WINDOWS_DEVICES:
        return f"_{kept}"
    return kept or "_"
