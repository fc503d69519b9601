"""The simulated machine's file calls: what ``os`` gives the real disk backend, answered by a ``SimulatedDisk``.

The backend that runs in simulation is the product's own, with its own order of writes, syncs and renames; only the
calls below it are doubles.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from kernel.sim.disk import Inode, SimulatedDisk, parent
from kernel.workspace import file_backends
from kernel.workspace.file_backends import DiskBackend

_FIRST_DESCRIPTOR: Final = 1000
_PROCESS: Final = 4711


@dataclass(slots=True)
class _Open:
    """An open file: where it stands, and what a write does."""

    path: str
    inode: Inode
    appends: bool
    offset: int = 0


class SimulatedOs:
    """The functions of ``os`` that ``DiskBackend`` uses, with the same errors."""

    O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_APPEND = os.O_RDONLY, os.O_WRONLY, os.O_CREAT, os.O_EXCL, os.O_APPEND
    sep = "/"
    name = "posix"

    def __init__(self, disk: SimulatedDisk) -> None:
        self.disk = disk
        self._open: dict[int, _Open] = {}
        self._next = _FIRST_DESCRIPTOR
        self.path = SimpleNamespace(
            abspath=os.path.normpath,
            join=os.path.join,
            dirname=os.path.dirname,
            isdir=self._is_dir,
            islink=lambda _path: False,
        )

    @staticmethod
    def strerror(code: int) -> str:
        return os.strerror(code)

    @staticmethod
    def getpid() -> int:
        return _PROCESS

    def open(self, path: str, flags: int, _mode: int = 0o777) -> int:
        inode = self.disk.find(path)
        if inode is None:
            if not flags & self.O_CREAT:
                raise _missing(path)
            inode = self.disk.create(path)
        elif flags & self.O_EXCL:
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        self._next += 1
        self._open[self._next] = _Open(path, inode, bool(flags & self.O_APPEND))
        return self._next

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        opened = self._open[descriptor]
        offset = len(opened.inode.data) if opened.appends else opened.offset
        self.disk.write(opened.inode, opened.path, offset, bytes(content))
        opened.offset = offset + len(content)
        return len(content)

    def fsync(self, descriptor: int) -> None:
        opened = self._open[descriptor]
        if opened.inode.is_dir:
            self.disk.sync_folder(opened.path)
        else:
            self.disk.sync(opened.inode, opened.path)

    def close(self, descriptor: int) -> None:
        del self._open[descriptor]

    def fstat(self, descriptor: int) -> Any:
        return self._stat(self._open[descriptor].inode)

    def stat(self, path: str) -> Any:
        return self._stat(self._inode(path))

    @contextmanager
    def scandir(self, path: str) -> Iterator[list[Any]]:
        found = [
            SimpleNamespace(
                name=name,
                is_dir=lambda inode=inode: inode.is_dir,
                is_symlink=lambda: False,
                stat=lambda inode=inode: self._stat(inode),
            )
            for name, inode in self.disk.names_in(path)
        ]
        yield found

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        found = self.disk.find(path)
        if found is not None:
            if not (exist_ok and found.is_dir):
                raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            return
        self.makedirs(parent(path), exist_ok=True)
        self.disk.make_folder(path)

    def replace(self, source: str, target: str) -> None:
        self.disk.rename(source, target)

    def unlink(self, path: str) -> None:
        self.disk.unlink(path)

    def _is_dir(self, path: str) -> bool:
        found = self.disk.find(path)
        return found is not None and found.is_dir

    def _inode(self, path: str) -> Inode:
        found = self.disk.find(path)
        if found is None:
            above = self.disk.find(parent(path))
            if above is not None and not above.is_dir:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            raise _missing(path)
        return found

    @staticmethod
    def _stat(inode: Inode) -> Any:
        changed_ns = inode.changed_ms * 1_000_000
        return SimpleNamespace(
            st_size=len(inode.data),
            st_mtime=inode.changed_ms / 1000,
            st_mtime_ns=changed_ns,
            st_ctime_ns=changed_ns,
            st_ino=inode.number,
            st_mode=stat.S_IFDIR if inode.is_dir else stat.S_IFREG,
        )


class SimulatedBackend(DiskBackend):
    """The disk backend, with the two calls that do not go through its ``os``."""

    def __init__(self, root: str, disk: SimulatedDisk) -> None:
        super().__init__(root)
        self._disk = disk

    def read(self, path: str) -> bytes:
        absolute = self.absolute(path)
        inode = self._disk.inode(absolute)
        if inode.is_dir:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), absolute)
        return bytes(inode.data)

    def remove(self, path: str) -> None:
        absolute = self.absolute(path)
        if self._disk.inode(absolute).is_dir:
            self._disk.remove_tree(absolute)
        else:
            self._disk.unlink(absolute)


@contextmanager
def simulated_files(disk: SimulatedDisk) -> Iterator[None]:
    """Inside, the disk backend's calls go to ``disk``. One machine at a time in a process."""
    # The names that the module looks up at each call; mypy rightly wants to see nobody do this.
    backends: Any = file_backends
    saved = backends.os, backends.DiskBackend

    def backend(root: str) -> SimulatedBackend:
        return SimulatedBackend(root, disk)

    backends.os, backends.DiskBackend = SimulatedOs(disk), backend
    try:
        yield
    finally:
        backends.os, backends.DiskBackend = saved


def _missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
