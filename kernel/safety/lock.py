"""One coordinator per workspace: a lock file that says who it is (decision 7). Synchronous.

The lock is the operating system's, on one byte far behind the text, so it ends with its holder, however that ends, and
a file left behind by a dead process is simply taken over. The text (JSON, one line) is for those who find it held:
the owner's URL to delegate to.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from kernel.json_text import read_json

COORDINATOR_LOCK: Final = "coordinator.lock"
# Whoever looks whether a lock is held takes it for a moment: a start does not fail for that.
_TRIES: Final = 5
_TRIES_APART_S: Final = 0.02
# Behind any text: on Windows a locked byte cannot be read by others, and the text must be.
_LOCKED_BYTE: Final = 1 << 30
_TEXT_BYTES_MAX: Final = 4096


@dataclass(frozen=True, slots=True)
class Owner:
    """Who coordinates the workspace. ``url``: the plugin endpoint, "" until its port is known."""

    pid: int
    url: str = ""


class HeldElsewhere(Exception):
    """Another process coordinates this workspace; ``owner`` as far as it has said."""

    def __init__(self, owner: Owner | None) -> None:
        where = f" at {owner.url}" if owner is not None and owner.url else ""
        by = f" by process {owner.pid}" if owner is not None else ""
        super().__init__(f"the workspace is coordinated{by}{where}")
        self.owner = owner


class NoLockFile(OSError):
    """Something else stands where the lock file should. What it leads to is neither locked nor written."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is no plain file, and a lock is one: move it away, the next start makes another")


class CoordinatorLock:
    """The held lock. ``acquire`` it, ``announce`` the URL once it is known, ``release`` it at the end."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path, *, url: str = "") -> CoordinatorLock:
        """Take the lock.

        Raises:
            HeldElsewhere: a living process has it.
            NoLockFile: what stands there is a link, a folder or a device.
            OSError: the folder cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _opened(path, os.O_RDWR | os.O_CREAT)
        if not _taken(descriptor):
            os.close(descriptor)
            raise HeldElsewhere(read_owner(path))
        lock = cls(path, descriptor)
        lock.announce(url)
        return lock

    def announce(self, url: str) -> None:
        """Say where the owner answers."""
        text = json.dumps(asdict(Owner(os.getpid(), url))).encode() + b"\n"
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, text)

    def release(self) -> None:
        """Give the lock up. The file stays: removing it would race with the next owner."""
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether a living process has the lock now; its text alone may be a dead one's. Never makes the file."""
    try:
        descriptor = _opened(path, os.O_RDWR)
    except OSError:
        return False
    try:
        _lock(descriptor)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def is_obstructed(path: Path) -> bool:
    """Whether something else than a lock file stands there, so that nobody can take the lock."""
    return os.path.lexists(path) and (path.is_symlink() or not path.is_file())


def _opened(path: Path, flags: int) -> int:
    # The lock's text is written over whatever is opened here: a link must not lead that to somebody else's file.
    if is_obstructed(path):
        raise NoLockFile(path)
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), 0o600)


def _taken(descriptor: int) -> bool:
    for left in reversed(range(_TRIES)):
        try:
            _lock(descriptor)
        except OSError:
            if left:
                time.sleep(_TRIES_APART_S)
        else:
            return True
    return False


def read_owner(path: Path) -> Owner | None:
    """Who the file says the owner is; None where nothing sensible stands. Says nothing about a living process."""
    try:
        with path.open("rb") as file:
            told = read_json(file.read(_TEXT_BYTES_MAX))
        return Owner(int(told["pid"]), str(told["url"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # flock belongs to the open file, not to the process: two coordinators in one process exclude each other too.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
