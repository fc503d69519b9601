"""The files of a vault: which are imported, and that they are what they were."""

from __future__ import annotations

import pytest

from kernel.workspace.backend import FileStat
from kernel.workspace.imports.vault.files import CHANGED, SAME_NAMES, VaultFile, VaultFiles, VaultRefusal, listed


class Folder:
    """A folder that may lose what it holds."""

    def __init__(self, *entries: FileStat) -> None:
        self.entries = {"V": list(entries)}
        self.contents: dict[str, bytes] = {}

    def list(self, path: str) -> list[FileStat]:
        if path not in self.entries:
            raise FileNotFoundError(path)
        return self.entries[path]

    def stat(self, path: str) -> FileStat | None:
        name = path.removeprefix("V/")
        return next((entry for entry in self.entries["V"] if entry.name == name), None)

    def read(self, path: str) -> bytes:
        if path not in self.contents:
            raise FileNotFoundError(path)
        return self.contents[path]

    def is_dir(self, path: str) -> bool:
        return path in self.entries


def note(name: str, **more: bool) -> FileStat:
    return FileStat(name, more.pop("is_dir", False), 1, 2.0, **more)


def test_hidden_files_links_and_inner_vaults_are_passed_by() -> None:
    folder = Folder(note("a.md"), note(".git", is_dir=True), note("l.md", is_symlink=True), note("in", is_dir=True))
    folder.entries |= {"V/in": [], "V/in/.obsidian": []}
    listing = listed(VaultFiles(folder, "V"))
    assert list(listing.files) == ["a.md"]
    assert (listing.hidden, listing.links, listing.vaults, listing.skipped) == (1, 1, 1, 3)


def test_names_that_differ_by_case_only_are_refused() -> None:
    with pytest.raises(VaultRefusal, match=SAME_NAMES):
        listed(VaultFiles(Folder(note("a.md"), note("A.md")), "V"))


def test_what_cannot_be_read_has_changed() -> None:
    folder = Folder(note("a.md"), note("in", is_dir=True))
    files = VaultFiles(folder, "V")
    with pytest.raises(VaultRefusal, match=CHANGED):
        listed(files)
    known = VaultFile("a.md", 1, 2.0)
    with pytest.raises(VaultRefusal, match=CHANGED):
        files.stable(known)
    folder.contents["V/a.md"] = b"x"
    assert files.stable(known) == b"x"
    for other in (VaultFile("a.md", 2, 2.0), VaultFile("a.md", 1, 3.0), VaultFile("b.md", 1, 2.0)):
        with pytest.raises(VaultRefusal, match=CHANGED):
            files.check(other)
