"""A disk that refuses the tidying up as well must not hide what it refused before."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from kernel.workspace.backend import PendingFile
from kernel.workspace.file_backends import DiskBackend
from kernel.workspace.files import PartlyWritten


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, *, after: int = 0) -> None:
    """Make a function of ``os`` fail with a full disk from its call number ``after`` on."""
    real, calls = getattr(os, name), iter(range(1_000_000))

    def refusing(*arguments: Any, **options: Any) -> Any:
        if next(calls) >= after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(arguments[0]))
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, refusing)


def pending(content: bytes) -> PendingFile:
    return PendingFile(content, False, 0.0)


def test_a_batch_taken_in_part_says_so_though_its_temporary_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, "replace", after=1)
    refuse(monkeypatch, "unlink")
    with pytest.raises(PartlyWritten) as told:
        DiskBackend(str(tmp_path)).write_batch({"a": pending(b"1"), "b": pending(b"2")}, frozenset())
    assert told.value.errno == errno.ENOSPC
    assert (tmp_path / "a").read_bytes() == b"1"
    assert not (tmp_path / "b").exists()


def test_a_batch_refused_before_anything_was_in_place_is_a_plain_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, "fsync")
    refuse(monkeypatch, "unlink")
    with pytest.raises(OSError, match="No space left") as told:
        DiskBackend(str(tmp_path)).write_batch({"a": pending(b"1")}, frozenset())
    assert not isinstance(told.value, PartlyWritten)
    assert told.value.errno == errno.ENOSPC
    assert not (tmp_path / "a").exists()


def test_a_small_record_that_is_refused_tells_the_rename_not_the_tidying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, "replace")
    refuse(monkeypatch, "unlink")
    with pytest.raises(OSError, match="No space left") as told:
        DiskBackend(str(tmp_path)).put_unsynced("record.json", b"{}")
    assert Path(told.value.filename).suffix == ".tmp"
    assert not (tmp_path / "record.json").exists()
