"""[core] What the file store asks of the place where bytes rest, and the words they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kernel.workspace.contents import Content


@dataclass(frozen=True, slots=True)
class FileStat:
    """What a listing tells about one entry. ``mtime_s`` is Unix time in seconds."""

    name: str
    is_dir: bool
    size: int = 0
    mtime_s: float = 0.0
    is_symlink: bool = False


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A write the disk has not seen yet; ``content`` None is a removal."""

    content: Content | None
    is_private: bool
    mtime_s: float
    # The file is to bear ``mtime_s`` on disk too; otherwise the disk's own clock tells the time.
    keeps_time: bool = False


# Modification and change time (ns), size, inode.
Stamp = tuple[int, int, int, int]


class Backend(Protocol):
    """Where bytes rest: a folder on disk, or memory. Raises OSError like the functions of ``os``."""

    def absolute(self, path: str) -> str: ...

    def read(self, path: str) -> bytes: ...

    def stat(self, path: str) -> FileStat | None: ...

    def list(self, path: str) -> list[FileStat]: ...

    def make_dir(self, path: str) -> None: ...

    def rename(self, source: str, target: str) -> None: ...

    def remove(self, path: str) -> None: ...

    def write_batch(self, entries: dict[str, PendingFile], sync_dirs: frozenset[str]) -> None: ...

    def put_unsynced(self, path: str, content: bytes) -> None:
        """Replace a file in one step, without waiting for the disk; parents are made."""
        ...

    def append(self, path: str, content: bytes) -> None:
        """Add to a file, without waiting for the disk; it and its parents are made."""
        ...

    def stamp(self, path: str) -> Stamp | None:
        """What changes with a file's content; None where there is nothing. Raises IsADirectoryError."""
        ...
