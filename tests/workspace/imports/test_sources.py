"""Where imported files come from, and archives that are not what they say."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from kernel.workspace.imports import sources
from kernel.workspace.imports.sources import ArchiveInvalid, DiskSource, MemorySource, WorkspaceSource, unpacked, zipped
from tests.siyuan.kernel_in_memory import MemoryKernel


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name in names:
            packed.writestr(name, b"x")
    return buffer.getvalue()


def test_files_of_a_source_are_packed_and_unpacked() -> None:
    source = MemorySource("m", {"a.md": b"a", "sub/b.md": b"b"})
    assert unpacked(zipped(source, source.paths())) == source.files
    assert unpacked(archive("folder/", "folder\\c.md")) == {"folder/c.md": b"x"}


@pytest.mark.parametrize("name", ["../x", "/x", ".", "a/../../x"])
def test_an_archive_that_leads_out_of_itself_is_refused(name: str) -> None:
    with pytest.raises(ArchiveInvalid, match="illegal file path"):
        unpacked(archive(name))


def test_what_is_no_archive_or_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArchiveInvalid, match="not a valid zip file"):
        unpacked(b"no archive")
    monkeypatch.setattr(sources, "IMPORT_BYTES_MAX", 1)
    assert unpacked(archive("a")) == {"a": b"x"}
    with pytest.raises(ArchiveInvalid, match="more than 1 bytes"):
        unpacked(archive("a", "b"))


def test_a_folder_of_the_workspace_is_read_by_relative_paths() -> None:
    files = MemoryKernel().workspace.files
    files.write("temp/in/a.md", b"a")
    files.write("temp/in/sub/b.md", b"b")
    source = WorkspaceSource(files, "temp/in")
    assert source.name == "in"
    assert sorted(path for path in source.paths() if path.endswith(".md")) == ["a.md", "sub/b.md"]
    assert source.read("sub/b.md") == b"b"


def test_links_that_lead_out_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"secret")
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.md").write_bytes(b"a")
    (folder / "out.md").symlink_to(outside)
    (folder / "gone.md").symlink_to(tmp_path / "nothing")
    source = DiskSource(folder)
    assert (source.name, list(source.paths()), source.read("sub/a.md")) == ("in", ["sub/a.md"], b"a")
