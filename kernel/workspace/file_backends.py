"""Where the bytes of a workspace rest: a folder on disk, or memory (tests, simulation). See ``files`` for the rules."""

from __future__ import annotations

import errno
import itertools
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from kernel.workspace.backend import FileStat, PendingFile, Stamp
from kernel.workspace.contents import whole
from kernel.workspace.files import (
    TEMPORARY_SUFFIX,
    Files,
    PartlyWritten,
    is_below,
    parent_of,
)

# A small record is overwritten in place: one page, one system call.
IN_PLACE_BYTES_MAX: Final = 4096


# Nothing lies under a name that the file system cannot have.
_IMPOSSIBLE_NAMES: Final = frozenset({errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL})


class DiskBackend:
    """A folder on disk."""

    def __init__(self, root: str) -> None:
        self._root = os.path.abspath(root)
        self._prefix = os.path.join(self._root, "")
        # Two threads write, batches and records: taking the next number is one step.
        self._numbers = itertools.count(1)

    def absolute(self, path: str) -> str:
        return f"{self._prefix}{path if os.sep == '/' else path.replace('/', os.sep)}" if path else self._root

    def read(self, path: str) -> bytes:
        with open(self.absolute(path), "rb") as file:
            return file.read()

    def stat(self, path: str) -> FileStat | None:
        try:
            found = os.stat(self.absolute(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno in _IMPOSSIBLE_NAMES:
                return None
            raise
        is_dir = os.path.isdir(self.absolute(path))
        return FileStat(path.rpartition("/")[2], is_dir, 0 if is_dir else found.st_size, found.st_mtime)

    def list(self, path: str) -> list[FileStat]:
        entries = []
        with os.scandir(self.absolute(path)) as scan:
            for entry in scan:
                is_dir = entry.is_dir()
                try:
                    found = entry.stat()
                except FileNotFoundError:  # a dangling link, or removed by somebody else while we look
                    continue
                size = 0 if is_dir else found.st_size
                entries.append(FileStat(entry.name, is_dir, size, found.st_mtime, entry.is_symlink()))
        return entries

    def make_dir(self, path: str) -> None:
        os.makedirs(self.absolute(path), exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.replace(self.absolute(source), self.absolute(target))

    def remove(self, path: str) -> None:
        import shutil

        absolute = self.absolute(path)
        if os.path.isdir(absolute) and not os.path.islink(absolute):
            shutil.rmtree(absolute)
        else:
            os.unlink(absolute)

    def write_batch(self, entries: dict[str, PendingFile], sync_dirs: frozenset[str]) -> None:
        """All temporaries first, synced; then the renames; then the folders. Runs in the writer thread."""
        temporaries: dict[str, str] = {}
        touched = {self.absolute(path) for path in sync_dirs}
        try:
            for path, entry in entries.items():
                absolute = self.absolute(path)
                folder = os.path.dirname(absolute)
                if entry.content is not None:
                    self._make_parents(folder, touched)
                    temporaries[path] = self._write_temporary(folder, entry)
                touched.add(folder)
            self._put_in_place(entries, temporaries, touched)
        finally:
            for temporary in temporaries.values():
                _discard(temporary)

    def _put_in_place(self, entries: dict[str, PendingFile], temporaries: dict[str, str], touched: set[str]) -> None:
        is_begun = False
        try:
            for path, entry in entries.items():
                if entry.content is None:
                    _unlink_if_there(self.absolute(path))
                else:
                    os.replace(temporaries[path], self.absolute(path))
                    del temporaries[path]
                is_begun = True
            for folder in touched:
                _sync_folder(folder)
        except OSError as error:
            if is_begun:
                raise PartlyWritten(error.errno, error.strerror, error.filename) from error
            raise

    def put_unsynced(self, path: str, content: bytes) -> None:
        """A small file is overwritten in one system call, which a killed process has made wholly or not at all, and
        padded with blanks to its old size. Renaming over it would make the file system allocate and write at once."""
        absolute = self.absolute(path)
        if len(content) <= IN_PLACE_BYTES_MAX and self._overwrite(absolute, content):
            return
        folder = os.path.dirname(absolute)
        os.makedirs(folder, exist_ok=True)
        temporary = self._write_temporary(folder, PendingFile(content, False, 0.0), syncs=False)
        try:
            os.replace(temporary, absolute)
        except OSError:
            _discard(temporary)
            raise

    def _overwrite(self, absolute: str, content: bytes) -> bool:
        try:
            descriptor = os.open(absolute, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            return False
        try:
            size = os.fstat(descriptor).st_size
            if size > IN_PLACE_BYTES_MAX:
                return False
            os.write(descriptor, content.ljust(size))
        finally:
            os.close(descriptor)
        return True

    def append(self, path: str, content: bytes) -> None:
        absolute = self.absolute(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(absolute, flags, 0o644)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(absolute), exist_ok=True)
            descriptor = os.open(absolute, flags, 0o644)
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)

    def stamp(self, path: str) -> Stamp | None:
        try:
            found = os.stat(self._prefix + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.absolute(path))
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino

    def _make_parents(self, folder: str, touched: set[str]) -> None:
        missing = folder
        while not os.path.isdir(missing):
            missing = os.path.dirname(missing)
            touched.add(missing)
        os.makedirs(folder, exist_ok=True)

    def _write_temporary(self, folder: str, entry: PendingFile, *, syncs: bool = True) -> str:
        assert entry.content is not None
        temporary = os.path.join(folder, f".{os.getpid():x}-{next(self._numbers):x}{TEMPORARY_SUFFIX}")
        mode = 0o600 if entry.is_private else 0o644
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        try:
            view = memoryview(whole(entry.content))
            while view:
                view = view[os.write(descriptor, view) :]
            if syncs:
                os.fsync(descriptor)
        except OSError as error:
            os.close(descriptor)
            _discard(temporary)
            error.filename = error.filename or temporary
            raise
        os.close(descriptor)
        if entry.keeps_time:
            os.utime(temporary, (entry.mtime_s, entry.mtime_s))
        return temporary


class MemoryBackend:
    """The same in memory: tests and simulation. ``refusal`` makes every write fail with that errno."""

    def __init__(self, root: str = "/workspace") -> None:
        self._root = root
        self.contents: dict[str, bytes] = {}
        # Times that were asked for; there are no others here.
        self.times: dict[str, float] = {}
        self.dirs: set[str] = {""}
        self.refusal: int = 0

    def absolute(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    def read(self, path: str) -> bytes:
        if path in self.contents:
            return self.contents[path]
        raise self._missing(path, errno.EISDIR if path in self.dirs else errno.ENOENT)

    def stat(self, path: str) -> FileStat | None:
        name = path.rpartition("/")[2]
        if path in self.contents:
            return FileStat(name, False, len(self.contents[path]), self.times.get(path, 0.0))
        return FileStat(name, True) if path in self.dirs else None

    def list(self, path: str) -> list[FileStat]:
        if path in self.contents:
            raise self._missing(path, errno.ENOTDIR)
        if path not in self.dirs:
            raise self._missing(path, errno.ENOENT)
        children = [*(one for one in self.dirs if one), *self.contents]
        return [found for one in children if parent_of(one) == path and (found := self.stat(one)) is not None]

    def make_dir(self, path: str) -> None:
        self._refuse_if_told(path)
        while path not in self.dirs:
            self.dirs.add(path)
            path = parent_of(path)

    def rename(self, source: str, target: str) -> None:
        self._refuse_if_told(target)
        for path in [path for path in self.contents if is_below(path, source)]:
            self.contents[target + path[len(source) :]] = self.contents.pop(path)
        for path in [path for path in self.dirs if is_below(path, source)]:
            self.dirs.remove(path)
            self.dirs.add(target + path[len(source) :])

    def remove(self, path: str) -> None:
        self._refuse_if_told(path)
        self.contents = {one: content for one, content in self.contents.items() if not is_below(one, path)}
        self.dirs = {one for one in self.dirs if not is_below(one, path)}

    def write_batch(self, entries: dict[str, PendingFile], sync_dirs: frozenset[str]) -> None:
        for path, entry in entries.items():
            self._refuse_if_told(path)
            if entry.content is None:
                self.contents.pop(path, None)
            else:
                self.make_dir(parent_of(path))
                self.contents[path] = whole(entry.content)
                self.times.pop(path, None)
                if entry.keeps_time:
                    self.times[path] = entry.mtime_s

    def put_unsynced(self, path: str, content: bytes) -> None:
        self._refuse_if_told(path)
        self.make_dir(parent_of(path))
        self.contents[path] = content

    def append(self, path: str, content: bytes) -> None:
        self.put_unsynced(path, self.contents.get(path, b"") + content)

    def stamp(self, path: str) -> Stamp | None:
        content = self.contents.get(path)
        if path in self.dirs:
            raise self._missing(path, errno.EISDIR)
        # The bytes are at hand: their identity is the best stamp there is, as long as they are kept.
        return None if content is None else (0, 0, len(content), id(content))

    def _refuse_if_told(self, path: str) -> None:
        if self.refusal:
            raise self._missing(path, self.refusal)

    def _missing(self, path: str, code: int) -> OSError:
        return OSError(code, os.strerror(code), self.absolute(path))


def on_disk(root: str, *, wall_ms: Callable[[], int]) -> Files:
    """The files below a folder of this machine."""
    return Files(DiskBackend(root), wall_ms=wall_ms)


def in_memory(*, wall_ms: Callable[[], int] = lambda: 0) -> Files:
    """Files that vanish with the process."""
    return Files(MemoryBackend(), wall_ms=wall_ms)


def _unlink_if_there(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _discard(temporary: str) -> None:
    """A disk that refuses this too must not hide why the temporary was left; the next start sweeps it away."""
    with suppress(OSError):
        os.unlink(temporary)


def _sync_folder(path: str) -> None:
    if os.name == "nt":  # Windows opens no folders; its renames are journalled
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):  # removed since: nothing left to keep
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
