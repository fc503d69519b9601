"""A disk that can die at every operation: files in memory, what is synced and what is not, and what a power cut leaves.

Theory of operation. Each file knows its content as programs see it, its content as of its last sync, and the writes in
between. Names (create, rename, unlink, folders) go through one ordered journal; a folder's sync makes the journal durable
up to the last entry that touched the folder. A *kill* loses nothing: the page cache outlives the process. A *power cut*
keeps of the journal some prefix, not less than what was synced, and of each file's unsynced writes any selection, by
sectors: that is what journalling file systems allow, and no more (renames are whole, metadata stays in order).

Every operation that changes something is counted and shown to ``watch`` before it happens, which may raise.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from kernel.sim.limits import SECTOR_BYTES

Deed = Literal["create", "write", "truncate", "fsync", "rename", "unlink", "mkdir", "fsync-folder"]
# Told of each operation before it is done: its number from 0, what it is, and on what.
Watch = Callable[[int, Deed, str], None]
# path -> content; None is a folder.
Image = dict[str, bytes | None]
ROOT: Final = "/"


class Crashed(BaseException):
    """The machine has died: whatever still runs on it ends here."""


@dataclass(slots=True, eq=False)
class Inode:
    """One file or folder."""

    number: int
    is_dir: bool = False
    data: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    # Since the last sync: (offset, bytes), or (size, None) for a truncation.
    unsynced: list[tuple[int, bytes | None]] = field(default_factory=list)
    changed_ms: int = 0

    def torn(self, chance: random.Random) -> bytes:
        """What a power cut leaves of the content."""
        content = bytearray(self.synced)
        for offset, written in self.unsynced:
            if written is None:
                if chance.random() < 0.5:
                    _resize(content, offset)
                continue
            for start, piece in _sectors(offset, written):
                if chance.random() < 0.5:
                    _put(content, start, piece)
        return bytes(content)


@dataclass(slots=True)
class _Name:
    """One entry of the journal of names: ``inode`` is now at ``path`` (None: nothing is), and not at ``gone``."""

    path: str
    inode: Inode | None
    gone: str | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        return (parent(self.path),) if self.gone is None else (parent(self.path), parent(self.gone))


class SimulatedDisk:
    """The disk of one machine. All paths are absolute; every method raises ``OSError`` like the functions of ``os``."""

    def __init__(self, image: Image | None = None, *, wall_ms: Callable[[], int] = lambda: 0) -> None:
        self._wall_ms = wall_ms
        self._numbers = 1
        self._names: dict[str, Inode] = {ROOT: Inode(0, is_dir=True)}
        for path, content in (image or {}).items():
            self._names[path] = self._inode(content)
        self._synced_names = dict(self._names)
        self._journal: list[_Name] = []
        self.operations = 0
        self.watch: Watch | None = None
        self.is_dead = False

    # --- dying -----------------------------------------------------------------------------------------------
    def after_kill(self) -> Image:
        """What the next process finds if this one is killed now: everything."""
        return {path: self._kept(inode) for path, inode in self._names.items()}

    def after_power_cut(self, chance: random.Random) -> Image:
        """What the next start finds if the power goes now."""
        names = dict(self._synced_names)
        for entry in self._journal[: chance.randint(0, len(self._journal))]:
            _apply(names, entry)
        torn: dict[Inode, bytes] = {}
        for inode in names.values():
            if not inode.is_dir:
                torn.setdefault(inode, inode.torn(chance) if inode.unsynced else inode.synced)
        return {path: None if inode.is_dir else torn[inode] for path, inode in names.items()}

    # --- looking ---------------------------------------------------------------------------------------------
    def find(self, path: str) -> Inode | None:
        return self._names.get(path)

    def inode(self, path: str) -> Inode:
        found = self._names.get(path)
        if found is None:
            raise _error(errno.ENOENT, path)
        return found

    def names_in(self, path: str) -> Iterator[tuple[str, Inode]]:
        """The entries of a folder."""
        if not self.inode(path).is_dir:
            raise _error(errno.ENOTDIR, path)
        prefix = path if path == ROOT else f"{path}/"
        for name, inode in list(self._names.items()):
            if name.startswith(prefix) and name != path and "/" not in name[len(prefix) :]:
                yield name[len(prefix) :], inode

    # --- changing --------------------------------------------------------------------------------------------
    def create(self, path: str) -> Inode:
        """A new empty file; the folder must be there."""
        self._require_folder(path)
        self._about_to("create", path)
        inode = self._inode(b"")
        self._name(_Name(path, inode))
        return inode

    def write(self, inode: Inode, path: str, offset: int, content: bytes) -> None:
        self._about_to("write", path)
        inode.unsynced.append((offset, content))
        _put(inode.data, offset, content)
        inode.changed_ms = self._wall_ms()

    def truncate(self, inode: Inode, path: str, size: int) -> None:
        self._about_to("truncate", path)
        inode.unsynced.append((size, None))
        _resize(inode.data, size)
        inode.changed_ms = self._wall_ms()

    def sync(self, inode: Inode, path: str) -> None:
        """The content of a file is durable when this returns; its name is another matter."""
        self._about_to("fsync", path)
        inode.synced = bytes(inode.data)
        inode.unsynced.clear()

    def sync_folder(self, path: str) -> None:
        """The names in a folder are durable when this returns, and every change of a name before them."""
        self._about_to("fsync-folder", path)
        last = max((number for number, entry in enumerate(self._journal, 1) if path in entry.folders), default=0)
        for entry in self._journal[:last]:
            _apply(self._synced_names, entry)
        del self._journal[:last]

    def rename(self, source: str, target: str) -> None:
        moved = self.inode(source)
        self._require_folder(target)
        if self._names.get(target) is not None and self._names[target].is_dir and any(self.names_in(target)):
            raise _error(errno.ENOTEMPTY, target)
        self._about_to("rename", target)
        self._name(_Name(target, moved, source))

    def unlink(self, path: str) -> None:
        if self.inode(path).is_dir:
            raise _error(errno.EISDIR, path)
        self._about_to("unlink", path)
        self._name(_Name(path, None))

    def make_folder(self, path: str) -> None:
        if path in self._names:
            raise _error(errno.EEXIST, path)
        self._require_folder(path)
        self._about_to("mkdir", path)
        self._name(_Name(path, self._inode(None)))

    def remove_tree(self, path: str) -> None:
        """A folder and all below it, one name after the other, as ``shutil.rmtree`` does."""
        for name, inode in list(self.names_in(path)):
            below = f"{path}/{name}"
            self.remove_tree(below) if inode.is_dir else self.unlink(below)
        self._about_to("unlink", path)
        self._name(_Name(path, None))

    # --- inside ----------------------------------------------------------------------------------------------
    def _about_to(self, deed: Deed, path: str) -> None:
        if self.is_dead:
            raise Crashed
        number = self.operations
        self.operations += 1
        if self.watch is not None:
            self.watch(number, deed, path)

    def _inode(self, content: bytes | None) -> Inode:
        self._numbers += 1
        kept = content or b""
        return Inode(self._numbers, content is None, bytearray(kept), kept, changed_ms=self._wall_ms())

    def _name(self, entry: _Name) -> None:
        self._journal.append(entry)
        _apply(self._names, entry)

    def _require_folder(self, path: str) -> None:
        folder = self._names.get(parent(path))
        if folder is None:
            raise _error(errno.ENOENT, path)
        if not folder.is_dir:
            raise _error(errno.ENOTDIR, path)

    @staticmethod
    def _kept(inode: Inode) -> bytes | None:
        return None if inode.is_dir else bytes(inode.data)


def parent(path: str) -> str:
    """The folder of an absolute path."""
    return path.rpartition("/")[0] or ROOT


def _apply(names: dict[str, Inode], entry: _Name) -> None:
    if entry.gone is not None:
        names.pop(entry.gone, None)
        prefix = f"{entry.gone}/"
        for below in [name for name in names if name.startswith(prefix)]:
            names[f"{entry.path}/{below[len(prefix) :]}"] = names.pop(below)
    if entry.inode is None:
        names.pop(entry.path, None)
    else:
        names[entry.path] = entry.inode


def _sectors(offset: int, content: bytes) -> Iterator[tuple[int, bytes]]:
    start = 0
    while start < len(content):
        end = min(len(content), start + SECTOR_BYTES - (offset + start) % SECTOR_BYTES)
        yield offset + start, content[start:end]
        start = end


def _put(content: bytearray, offset: int, written: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(written)] = written


def _resize(content: bytearray, size: int) -> None:
    if size < len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
