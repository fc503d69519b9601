"""[core] The files of a vault: which are imported, and whether they are still what they were."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from kernel.workspace.backend import FileStat

CONF_FOLDER: Final = ".obsidian"
CHANGED: Final = "changed"
SAME_NAMES: Final = "same-names"
TOO_LARGE: Final = "too-large"


class VaultRefusal(Exception):
    """A vault that cannot be imported; the message is a key, not words for the user."""


class FolderView(Protocol):
    """A folder's files as ``kernel.workspace.files.Files`` shows them."""

    def list(self, path: str) -> list[FileStat]: ...

    def stat(self, path: str) -> FileStat | None: ...

    def read(self, path: str) -> bytes: ...

    def is_dir(self, path: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class VaultFile:
    """A file as it was listed; ``path`` is relative to the vault."""

    path: str
    size: int
    mtime_s: float


@dataclass(frozen=True, slots=True)
class VaultFiles:
    """The folder of a vault."""

    view: FolderView
    folder: str

    def stable(self, file: VaultFile) -> bytes:
        """The content of a file that is still as it was listed. Raises VaultRefusal."""
        self.check(file)
        try:
            return self.view.read(f"{self.folder}/{file.path}")
        except OSError as error:
            raise VaultRefusal(CHANGED) from error

    def check(self, file: VaultFile) -> None:
        """Raises VaultRefusal where a file has changed since it was listed."""
        found = self.view.stat(f"{self.folder}/{file.path}")
        if found is None or (found.size, found.mtime_s) != (file.size, file.mtime_s):
            raise VaultRefusal(CHANGED)


@dataclass(slots=True)
class Listing:
    """The files that are imported by their paths, and how many entries are passed by."""

    files: dict[str, VaultFile] = field(default_factory=dict)
    hidden: int = 0
    links: int = 0
    vaults: int = 0

    @property
    def skipped(self) -> int:
        return self.hidden + self.links + self.vaults


def listed(vault: VaultFiles) -> Listing:
    """All files of a vault but hidden ones, links and the vaults in it.

    Raises:
        VaultRefusal: a folder cannot be read, or names differ by case only.
    """
    listing = Listing()
    folded: set[str] = set()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in _entries(vault, folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                listing.hidden += path != CONF_FOLDER
            elif entry.is_symlink:
                listing.links += 1
            elif entry.is_dir and vault.view.is_dir(f"{vault.folder}/{path}/{CONF_FOLDER}"):
                listing.vaults += 1
            elif entry.is_dir:
                waiting.append(path)
            elif path.lower() in folded:
                raise VaultRefusal(SAME_NAMES)
            else:
                folded.add(path.lower())
                listing.files[path] = VaultFile(path, entry.size, entry.mtime_s)
    return listing


def _entries(vault: VaultFiles, folder: str) -> list[FileStat]:
    try:
        return vault.view.list(f"{vault.folder}/{folder}" if folder else vault.folder)
    except OSError as error:
        raise VaultRefusal(CHANGED) from error
