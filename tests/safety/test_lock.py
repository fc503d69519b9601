"""The lock of the one coordinator: one holder, taken over from the dead, and it says who it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernel.safety.lock import CoordinatorLock, HeldElsewhere, NoLockFile, Owner, is_held, is_obstructed, read_owner

URL = "http://127.0.0.1:6806/plugin/private/siyuan-plugins-mcp-sisyphus/mcp"
ROOT = Path(__file__).parents[2]


def test_a_held_lock_names_its_owner_and_a_released_one_is_free(tmp_path: Path) -> None:
    path = tmp_path / "storage" / "coordinator.lock"
    lock = CoordinatorLock.acquire(path)
    assert read_owner(path) == Owner(os.getpid(), "")
    lock.announce(URL)
    with pytest.raises(HeldElsewhere, match=URL) as caught:
        CoordinatorLock.acquire(path)
    assert caught.value.owner == Owner(os.getpid(), URL)
    lock.release()
    lock.release()
    assert read_owner(path) is None
    CoordinatorLock.acquire(path, url=URL).release()


def test_looking_whether_a_lock_is_held_neither_takes_nor_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "coordinator.lock"
    assert not is_held(path)
    assert not path.exists()
    lock = CoordinatorLock.acquire(path, url=URL)
    assert (is_held(path), is_held(path)) == (True, True)
    assert read_owner(path) == Owner(os.getpid(), URL)
    lock.release()
    assert path.exists()
    assert not is_held(path)


def test_a_shorter_announcement_leaves_nothing_of_the_longer(tmp_path: Path) -> None:
    lock = CoordinatorLock.acquire(tmp_path / "lock", url=URL * 3)
    lock.announce("x")
    assert read_owner(tmp_path / "lock") == Owner(os.getpid(), "x")
    lock.release()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": 1}', b'{"pid": "x", "url": ""}', b"\xff\xfe"])
def test_a_file_without_sense_is_nobody_and_can_be_taken(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "lock"
    path.write_bytes(content)
    assert read_owner(path) is None
    CoordinatorLock.acquire(path).release()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there")
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_what_is_no_plain_file_is_neither_locked_nor_written(tmp_path: Path, kind: str) -> None:
    path, foreign = tmp_path / "lock", tmp_path / "diary.txt"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(foreign)
    if kind == "link":
        foreign.write_text("Dear diary")
    with pytest.raises(NoLockFile, match="is no plain file"):
        CoordinatorLock.acquire(path)
    assert is_obstructed(path)
    assert not is_held(path)
    assert foreign.exists() == (kind == "link")
    assert kind != "link" or foreign.read_text() == "Dear diary"


def test_no_file_is_nobody(tmp_path: Path) -> None:
    assert read_owner(tmp_path / "lock") is None


def test_an_owner_that_has_said_nothing_yet_is_still_an_owner(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = CoordinatorLock.acquire(path)
    path.write_bytes(b"")
    with pytest.raises(HeldElsewhere, match=r"coordinated$") as caught:
        CoordinatorLock.acquire(path)
    assert caught.value.owner is None
    lock.release()


HOLDER = """
import sys, pathlib
from kernel.safety.lock import CoordinatorLock
lock = CoordinatorLock.acquire(pathlib.Path(sys.argv[1]), url="http://other")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.wire
def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(HeldElsewhere) as caught:
            CoordinatorLock.acquire(path)
        assert caught.value.owner == Owner(holder.pid, "http://other")
        holder.kill()
        holder.wait()
        # Its text is still there, and means nothing any more.
        assert read_owner(path) == Owner(holder.pid, "http://other")
        lock = CoordinatorLock.acquire(path)
        assert read_owner(path) == Owner(os.getpid(), "")
        lock.release()
