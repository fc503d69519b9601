"""Records are on the file system when their write returns; small files read again are read anew when they changed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kernel.workspace.file_backends import IN_PLACE_BYTES_MAX, DiskBackend, MemoryBackend
from kernel.workspace.files import SEEN_BYTES_MAX, SEEN_FILES_MAX, SETTLED_AFTER_MS, Files, StorageError
from kernel.workspace.records import Record

OLD_S = 1_000_000.0


@pytest.fixture(params=["disk", "memory"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    backend = DiskBackend(str(tmp_path)) if request.param == "disk" else MemoryBackend()
    return Files(backend, wall_ms=lambda: int(OLD_S * 1000) + SETTLED_AFTER_MS + 1)


def keep(files: Files, *records: Record) -> None:
    files.record_batch(records).write()


def test_whole_records_replace_and_lines_are_appended(files: Files) -> None:
    keep(files, Record("d/stats.json", b'{"n":1}'), Record("d/log", b"a\n", 100))
    keep(files, Record("d/stats.json", b"{}"), Record("d/log", b"b\n", 100))
    assert files.read("d/stats.json").strip() == b"{}"
    assert files.read("d/log") == b"a\nb\n"
    assert not files.has_pending


def test_a_log_that_would_grow_past_its_bound_is_moved_aside(files: Files) -> None:
    keep(files, Record("log", b"12345", 10))
    keep(files, Record("log", b"67890", 10))
    assert files.read("log") == b"1234567890"
    keep(files, Record("log", b"x", 10))
    assert (files.read("log"), files.read("log.1")) == (b"x", b"1234567890")


@pytest.mark.parametrize("before", [0, IN_PLACE_BYTES_MAX, IN_PLACE_BYTES_MAX + 1])
@pytest.mark.parametrize("after", [1, IN_PLACE_BYTES_MAX, IN_PLACE_BYTES_MAX + 1])
def test_a_record_is_whole_whatever_its_size_before_and_after(tmp_path: Path, before: int, after: int) -> None:
    files = Files(DiskBackend(str(tmp_path)), wall_ms=lambda: 0)
    (tmp_path / "r").write_bytes(b"o" * before)
    keep(files, Record("r", b"n" * after))
    assert (tmp_path / "r").read_bytes().rstrip(b" ") == b"n" * after
    assert os.listdir(tmp_path) == ["r"]


def test_a_record_whose_file_is_on_its_way_joins_the_ordinary_writes(files: Files) -> None:
    files.write("stats", b"put by a user")
    files.write("log", b"a")
    keep(files, Record("stats", b"newer"), Record("log", b"b", 10))
    assert (files.read("stats"), files.read("log")) == (b"newer", b"ab")
    files.flush()
    assert (files.read("stats"), files.read("log")) == (b"newer", b"ab")


def test_a_refusing_disk_is_told_as_a_storage_error() -> None:
    backend = MemoryBackend()
    backend.refusal = errno.ENOSPC
    with pytest.raises(StorageError, match="no space left"):
        keep(Files(backend, wall_ms=lambda: 0), Record("stats", b"1"))


def test_what_is_read_again_follows_every_change_through_the_kernel(files: Files) -> None:
    assert files.read_again("conf") is None
    files.write("conf", b"1")
    assert files.read_again("conf") == b"1"
    files.flush()
    assert files.read_again("conf") == b"1"
    files.write("conf", b"2")
    assert files.read_again("conf") == b"2"
    files.flush()
    files.remove("conf")
    assert files.read_again("conf") is None
    files.write("folder/inner", b"")
    for _ in range(2):
        with pytest.raises(IsADirectoryError):
            files.read_again("folder")
        files.flush()


def edit(path: Path, content: bytes, mtime_s: float) -> None:
    path.write_bytes(content)
    os.utime(path, (mtime_s, mtime_s))


def test_an_edit_from_outside_is_seen_by_the_next_read(tmp_path: Path) -> None:
    path = tmp_path / "conf"
    edit(path, b"one", OLD_S)
    # The clock is far ahead of the change time, too, which nobody can set back.
    files = Files(DiskBackend(str(tmp_path)), wall_ms=lambda: int(path.stat().st_ctime * 1000) + SETTLED_AFTER_MS + 1)
    first = files.read_again("conf")
    assert files.read_again("conf") is first  # the same bytes: nothing was read
    edit(path, b"two", OLD_S)  # same size, same modification time
    assert files.read_again("conf") == b"two"
    path.unlink()
    assert files.read_again("conf") is None


def test_a_file_that_was_just_written_is_not_trusted_to_stay(tmp_path: Path) -> None:
    path = tmp_path / "conf"
    path.write_bytes(b"one")
    files = Files(DiskBackend(str(tmp_path)), wall_ms=lambda: int(path.stat().st_ctime * 1000) + SETTLED_AFTER_MS)
    assert files.read_again("conf") is not files.read_again("conf")


def test_only_small_files_and_not_too_many_are_kept(tmp_path: Path) -> None:
    wall = [0]
    files = Files(DiskBackend(str(tmp_path)), wall_ms=lambda: wall[0])
    for name, size in {"fits": SEEN_BYTES_MAX, "large": SEEN_BYTES_MAX + 1}.items():
        (tmp_path / name).write_bytes(b"x" * size)
    wall[0] = int((tmp_path / "large").stat().st_ctime * 1000) + SETTLED_AFTER_MS + 10
    assert files.read_again("fits") is files.read_again("fits")
    assert files.read_again("large") is not files.read_again("large")
    for number in range(SEEN_FILES_MAX):
        (tmp_path / f"f{number}").write_bytes(b"y")
    wall[0] += 60_000
    for number in range(SEEN_FILES_MAX):
        assert files.read_again(f"f{number}") == b"y"
    assert len(files._seen) <= SEEN_FILES_MAX
