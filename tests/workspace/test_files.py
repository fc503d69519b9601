"""The file store: reads see every write at once, the disk sees them in batches, and a refusing disk changes nothing."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from kernel.workspace.file_backends import DiskBackend, MemoryBackend, in_memory, on_disk
from kernel.workspace.files import Files, StorageError, UnsafePath, checked, is_temporary, portable_name

BACKENDS = ["disk", "memory"]


def _files(kind: str, folder: Path) -> Files:
    backend = DiskBackend(str(folder)) if kind == "disk" else MemoryBackend()
    return Files(backend, wall_ms=lambda: 5000)


@pytest.fixture(params=BACKENDS)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    return _files(request.param, tmp_path)


def test_a_write_is_read_back_before_it_is_on_disk(files: Files) -> None:
    files.write("data/a/b.sy", b"one")
    assert files.read("data/a/b.sy") == b"one"
    assert files.exists("data/a/b.sy")
    assert files.is_dir("data/a")
    assert [entry.name for entry in files.list("data")] == ["a"]
    assert files.has_pending


def test_a_flush_leaves_nothing_pending_and_the_content_in_place(files: Files) -> None:
    files.write("x.txt", b"1")
    files.write("x.txt", b"22")
    files.flush()
    assert not files.has_pending
    assert files.read("x.txt") == b"22"
    found = files.stat("x.txt")
    assert found is not None
    assert (found.name, found.is_dir, found.size) == ("x.txt", False, 2)


def test_a_pending_file_has_the_size_and_time_of_its_write(files: Files) -> None:
    files.write("f", b"123")
    found = files.stat("f")
    assert found is not None
    assert (found.size, found.mtime_s) == (3, 5.0)


def test_a_file_bears_the_time_that_was_asked_for_until_it_is_written_without_one(files: Files) -> None:
    def time_of() -> float:
        found = files.stat("f")
        assert found is not None
        return found.mtime_s

    files.write("f", b"123", modified_ms=1_700_000_000_000)
    assert time_of() == 1_700_000_000.0
    files.flush()
    assert time_of() == 1_700_000_000.0
    files.write("f", b"4")
    assert time_of() == 5.0
    files.flush()
    assert time_of() != 1_700_000_000.0


def test_a_removed_file_is_gone_at_once_and_after_the_flush(files: Files) -> None:
    files.write("d/f", b"1")
    files.flush()
    files.remove("d/f")
    assert not files.exists("d/f")
    assert files.list("d") == []
    with pytest.raises(FileNotFoundError):
        files.read("d/f")
    files.flush()
    assert not files.exists("d/f")
    with pytest.raises(FileNotFoundError):
        files.remove("d/f")


def test_reading_what_is_not_there_raises_as_the_system_does(files: Files) -> None:
    with pytest.raises(FileNotFoundError):
        files.read("nope")
    with pytest.raises(FileNotFoundError):
        files.list("nope")
    files.write("d/f", b"1")
    files.flush()
    with pytest.raises(IsADirectoryError):
        files.read("d")
    with pytest.raises(IsADirectoryError):
        files.write("d", b"")
    with pytest.raises(NotADirectoryError):
        files.list("d/f")


def test_a_folder_is_renamed_with_its_files_and_its_pending_files(files: Files) -> None:
    files.write("a/old", b"1")
    files.flush()
    files.write("a/new", b"2")
    files.write("a/old", b"3")
    files.rename("a", "b/c")
    assert not files.exists("a")
    assert files.read("b/c/old") == b"3"
    assert files.read("b/c/new") == b"2"
    files.flush()
    assert sorted(path for path, _ in files.walk("b")) == ["b/c/new", "b/c/old"]
    assert files.read("b/c/old") == b"3"


def test_a_file_that_is_only_pending_is_renamed(files: Files) -> None:
    files.write("a", b"1")
    files.rename("a", "b")
    assert not files.exists("a")
    assert files.read("b") == b"1"
    with pytest.raises(FileNotFoundError):
        files.rename("a", "c")


def test_a_folder_is_removed_with_everything_below_it(files: Files) -> None:
    files.write("a/b/c", b"1")
    files.flush()
    files.write("a/d", b"2")
    files.remove("a")
    files.flush()
    assert not files.exists("a")
    assert list(files.walk("a")) == []


def test_copies_of_files_and_folders_hold_the_same(files: Files) -> None:
    files.write("a/b/c", b"1")
    files.copy("a", "z")
    files.copy("a/b/c", "y")
    assert files.read("z/b/c") == files.read("y") == b"1"
    with pytest.raises(FileNotFoundError):
        files.copy("nope", "x")


def test_writes_during_a_batch_win_over_the_batch(files: Files) -> None:
    files.write("f", b"1")
    batch = files.take_batch()
    assert batch is not None
    assert files.is_writing
    files.write("f", b"2")
    assert files.read("f") == b"2"
    batch.write()
    files.batch_done(batch)
    assert files.read("f") == b"2"
    assert files.has_pending


def test_a_structural_change_waits_for_the_batch_that_is_being_written(files: Files) -> None:
    files.write("a/f", b"1")
    batch = files.take_batch()
    assert batch is not None
    writer = threading.Thread(target=batch.write)
    writer.start()
    files.rename("a", "b")
    writer.join()
    files.batch_done(batch)
    assert files.read("b/f") == b"1"
    assert not files.exists("a")


def test_there_is_no_batch_without_changes(files: Files) -> None:
    assert files.take_batch() is None
    files.flush()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_refusing_disk_keeps_its_old_content_and_memory_follows(code: int) -> None:
    backend = MemoryBackend()
    files = Files(backend, wall_ms=lambda: 0)
    files.write("f", b"old")
    files.flush()
    backend.refusal = code
    files.write("f", b"new")
    batch = files.take_batch()
    assert batch is not None
    files.write("g", b"later")
    with pytest.raises(StorageError) as refused:
        batch.write()
    assert refused.value.errno == code
    assert files.batch_failed(batch) == {"f", "g"}
    assert files.read("f") == b"old"
    assert not files.exists("g")
    for change in (lambda: files.make_dir("d"), lambda: files.rename("f", "h"), files.flush):
        files.write("f", b"newer")
        with pytest.raises(StorageError):
            change()


def test_a_structural_change_after_a_failed_batch_fails_too() -> None:
    backend = MemoryBackend()
    files = Files(backend, wall_ms=lambda: 0)
    files.write("a/f", b"1")
    files.flush()
    backend.refusal = errno.EIO
    files.write("a/f", b"2")
    batch = files.take_batch()
    assert batch is not None
    with pytest.raises(StorageError):
        batch.write()
    with pytest.raises(StorageError):
        files.remove("a")


def test_a_full_disk_is_found_out_before_any_file_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = on_disk(str(tmp_path), wall_ms=lambda: 0)
    files.write("a", b"old a")
    files.write("b", b"old b")
    files.flush()
    written = os.write

    def full(descriptor: int, content: bytes) -> int:
        if bytes(content).startswith(b"new b"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written(descriptor, content)

    monkeypatch.setattr(os, "write", full)
    files.write("a", b"new a")
    files.write("b", b"new b")
    with pytest.raises(StorageError, match="no space"):
        files.flush()
    assert (tmp_path / "a").read_bytes() == b"old a"
    assert (tmp_path / "b").read_bytes() == b"old b"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "b"]


def test_a_disk_that_fails_once_names_have_changed_says_that_the_batch_is_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = on_disk(str(tmp_path), wall_ms=lambda: 0)
    replaced = os.replace

    def refuse(source: str, target: str) -> None:
        if target.endswith("b"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), target)
        replaced(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    for names, is_partial in ((("b", "c"), False), (("a", "b"), True)):
        for name in names:
            files.write(name, b"new")
        batch = files.take_batch()
        assert batch is not None
        with pytest.raises(StorageError) as refused:
            batch.write()
        assert (refused.value.errno, refused.value.is_partial) == (errno.EIO, is_partial)
        files.batch_failed(batch)
        assert (tmp_path / "a").exists() is is_partial


def test_a_refusal_after_something_was_moved_is_partial() -> None:
    backend = MemoryBackend()
    files = Files(backend, wall_ms=lambda: 0)
    files.write("f", b"1")
    files.flush()
    files.rename("f", "g")
    backend.refusal = errno.EIO
    with pytest.raises(StorageError) as refused:
        files.rename("g", "h")
    assert refused.value.is_partial
    files.write("x", b"2")
    batch = files.take_batch()
    assert batch is not None
    with pytest.raises(StorageError) as refused:
        batch.write()
    assert refused.value.is_partial


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_private_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    files = on_disk(str(tmp_path), wall_ms=lambda: 0)
    files.write("conf/conf.json", b"{}", is_private=True)
    files.flush()
    assert stat.S_IMODE((tmp_path / "conf/conf.json").stat().st_mode) == 0o600


def test_half_written_files_of_a_crash_are_not_walked(tmp_path: Path) -> None:
    (tmp_path / ".1f-2.tmp").write_bytes(b"half")
    files = on_disk(str(tmp_path), wall_ms=lambda: 0)
    assert list(files.walk("")) == []
    assert is_temporary(".1f-2.tmp")
    assert not is_temporary("a.tmp")


def test_a_link_that_leads_nowhere_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert on_disk(str(tmp_path), wall_ms=lambda: 0).list("") == []


@pytest.mark.parametrize("path", ["/a", "../a", "a/../b", "a\0b", "a\\b"])
def test_paths_that_leave_the_workspace_are_refused(path: str) -> None:
    with pytest.raises(UnsafePath):
        checked(path)
    with pytest.raises(UnsafePath):
        in_memory().read(path)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("plain.md", "plain.md"),
        ("a<b>:c", "a_b__c"),
        ("con", "_con"),
        ("COM1.txt", "_COM1.txt"),
        ("dots. .", "dots"),
        ("a/b\x01", "a_b_"),
        ("...", "_"),
    ],
)
def test_portable_names_are_taken_by_every_file_system(name: str, wanted: str) -> None:
    assert portable_name(name) == wanted


def test_a_file_of_the_process_is_not_found(files: Files) -> None:
    files.write("data/own/ledger.db", b"ledger")
    files.write("data/own/settings", b"s")
    files.flush()
    files.withhold(["data/own/ledger.db"])
    assert not files.exists("data/own/ledger.db")
    assert files.on_disk("data/own/ledger.db") == ""
    assert [entry.name for entry in files.list("data/own")] == ["settings"]
    assert [path for path, _ in files.walk("data")] == ["data/own/settings"]
    for refused in (files.read, files.remove):
        with pytest.raises(FileNotFoundError):
            refused("data/own/ledger.db")
    files.copy("data/own", "data/copied")
    assert [path for path, _ in files.walk("data/copied")] == ["data/copied/settings"]


def test_a_file_of_the_process_is_not_replaced_moved_or_removed(files: Files) -> None:
    files.write("data/own/ledger.db", b"ledger")
    files.write("data/other/x", b"x")
    files.flush()
    files.withhold(["data/own/ledger.db"])
    attempts = (
        lambda: files.write("data/own/ledger.db", b"other"),
        lambda: files.rename("data/other/x", "data/own/ledger.db"),
        lambda: files.rename("data/own", "data/away"),
        lambda: files.rename("data/other", "data/own"),
        lambda: files.remove("data/own"),
        lambda: files.remove("data"),
    )
    for attempt in attempts:
        with pytest.raises(StorageError):
            attempt()
    files.flush()
    files.withhold([])
    assert files.read("data/own/ledger.db") == b"ledger"
    assert files.read("data/other/x") == b"x"
