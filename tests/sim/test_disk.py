"""The simulated disk: what programs see, what a kill keeps, and what a power cut may and must keep."""

from __future__ import annotations

import random

import pytest

from kernel.sim.disk import Crashed, SimulatedDisk
from kernel.sim.limits import SECTOR_BYTES

CHANCES = range(200)


def disk_with(content: bytes = b"old") -> SimulatedDisk:
    return SimulatedDisk({"/d": None, "/d/a": content})


def cuts(disk: SimulatedDisk, path: str) -> set[bytes | None]:
    """Every content that a file has after many power cuts; None where it is not there."""
    images = [disk.after_power_cut(random.Random(seed)) for seed in CHANCES]
    return {image.get(path) for image in images}


def write(disk: SimulatedDisk, path: str, content: bytes) -> None:
    inode = disk.find(path) or disk.create(path)
    disk.write(inode, path, 0, content)


def test_a_kill_keeps_everything() -> None:
    disk = disk_with()
    write(disk, "/d/a", b"new")
    write(disk, "/d/b", b"b")
    assert disk.after_kill() == {"/": None, "/d": None, "/d/a": b"new", "/d/b": b"b"}


def test_a_power_cut_may_lose_what_is_not_synced_and_never_what_is() -> None:
    disk = disk_with()
    write(disk, "/d/a", b"new")
    assert cuts(disk, "/d/a") == {b"old", b"new"}
    disk.sync(disk.inode("/d/a"), "/d/a")
    assert cuts(disk, "/d/a") == {b"new"}


def test_a_write_is_torn_at_sectors_only() -> None:
    disk = disk_with(b"o" * 3 * SECTOR_BYTES)
    write(disk, "/d/a", b"n" * 3 * SECTOR_BYTES)
    torn = cuts(disk, "/d/a")
    assert len(torn) == 8
    for content in torn:
        assert content is not None
        for start in range(0, len(content), SECTOR_BYTES):
            assert content[start : start + SECTOR_BYTES] in (b"o" * SECTOR_BYTES, b"n" * SECTOR_BYTES)


def test_a_new_name_is_durable_with_its_folder_and_its_content_with_the_file() -> None:
    disk = disk_with()
    write(disk, "/d/b", b"b")
    assert cuts(disk, "/d/b") == {None, b"", b"b"}
    disk.sync_folder("/d")
    assert cuts(disk, "/d/b") == {b"", b"b"}
    disk.sync(disk.inode("/d/b"), "/d/b")
    assert cuts(disk, "/d/b") == {b"b"}


def test_a_rename_is_whole_and_in_order() -> None:
    disk = disk_with()
    write(disk, "/d/t", b"new")
    disk.sync(disk.inode("/d/t"), "/d/t")
    disk.rename("/d/t", "/d/a")
    disk.unlink("/d/a")
    assert cuts(disk, "/d/a") == {b"old", b"new", None}
    for seed in CHANCES:
        image = disk.after_power_cut(random.Random(seed))
        if image.get("/d/a") == b"new":
            assert "/d/t" not in image


def test_a_folder_moves_with_all_below_it() -> None:
    disk = SimulatedDisk({"/d": None, "/d/sub": None, "/d/sub/x": b"x"})
    disk.rename("/d/sub", "/d/other")
    assert disk.after_kill() == {"/": None, "/d": None, "/d/other": None, "/d/other/x": b"x"}
    disk.remove_tree("/d/other")
    assert disk.after_kill() == {"/": None, "/d": None}


def test_every_change_is_counted_and_may_be_refused_before_it_happens() -> None:
    disk = disk_with()
    seen: list[tuple[int, str, str]] = []

    def watch(number: int, deed: str, path: str) -> None:
        seen.append((number, deed, path))
        if deed == "unlink":
            raise OSError(28, "full", path)

    disk.watch = watch
    write(disk, "/d/b", b"b")
    with pytest.raises(OSError, match="full"):
        disk.unlink("/d/b")
    assert seen == [(0, "create", "/d/b"), (1, "write", "/d/b"), (2, "unlink", "/d/b")]
    assert disk.find("/d/b") is not None


def test_a_dead_disk_takes_nothing() -> None:
    disk = disk_with()
    disk.is_dead = True
    with pytest.raises(Crashed):
        disk.unlink("/d/a")


@pytest.mark.parametrize(
    ("error", "act"),
    [
        (FileNotFoundError, lambda disk: disk.inode("/x")),
        (FileNotFoundError, lambda disk: disk.create("/x/y")),
        (NotADirectoryError, lambda disk: disk.create("/d/a/b")),
        (NotADirectoryError, lambda disk: list(disk.names_in("/d/a"))),
        (FileExistsError, lambda disk: disk.make_folder("/d")),
        (IsADirectoryError, lambda disk: disk.unlink("/d")),
        (OSError, lambda disk: (disk.make_folder("/e"), disk.rename("/e", "/d"))),
    ],
)
def test_errors_are_those_of_the_operating_system(error: type[OSError], act: object) -> None:
    with pytest.raises(error):
        act(disk_with())  # type: ignore[operator]
