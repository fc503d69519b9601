"""[core] Where imported files come from: a folder of the workspace, a folder of the machine, an archive in memory."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kernel.workspace.limits import IMPORT_BYTES_MAX
from kernel.workspace.names import clean_path

if TYPE_CHECKING:
    from kernel.workspace.files import Files


class Source(Protocol):
    """A folder to be imported; paths are relative to it, with slashes."""

    @property
    def name(self) -> str:
        """The folder's own name."""
        ...

    def paths(self) -> Iterable[str]:
        """Every file, in any order."""
        ...

    def read(self, path: str) -> bytes:
        """Raises OSError."""
        ...


class ArchiveInvalid(ValueError):
    """An archive that cannot be read, or is too large; the message is worded as Go's own where it has one."""


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Files at hand."""

    name: str
    files: Mapping[str, bytes]

    def paths(self) -> Iterable[str]:
        return self.files

    def read(self, path: str) -> bytes:
        return self.files[path]


@dataclass(frozen=True, slots=True)
class WorkspaceSource:
    """A folder of the workspace."""

    files: Files
    folder: str

    @property
    def name(self) -> str:
        return self.folder.rpartition("/")[2]

    def paths(self) -> Iterable[str]:
        return [path[len(self.folder) + 1 :] for path, _ in self.files.walk(self.folder)]

    def read(self, path: str) -> bytes:
        return self.files.read(f"{self.folder}/{path}")


@dataclass(frozen=True, slots=True)
class DiskSource:
    """A folder of this machine. Links that lead out of it are left alone."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    def paths(self) -> Iterable[str]:
        top = self.folder.resolve()
        for folder, _, names in os.walk(top):
            for name in names:
                path = Path(folder, name)
                if path.is_file() and top in path.resolve().parents:
                    yield path.relative_to(top).as_posix()

    def read(self, path: str) -> bytes:
        return (self.folder.resolve() / path).read_bytes()


def unpacked(content: bytes) -> dict[str, bytes]:
    """The files of a ZIP archive. Raises ArchiveInvalid."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if sum(entry.file_size for entry in entries) > IMPORT_BYTES_MAX:
                raise ArchiveInvalid(f"the archive holds more than {IMPORT_BYTES_MAX} bytes")
            return {_inside(entry.filename): archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ArchiveInvalid("zip: not a valid zip file") from error


def _inside(name: str) -> str:
    path = clean_path(name.replace("\\", "/"))
    if path.startswith(("../", "/")) or path in ("..", "."):
        raise ArchiveInvalid(f"illegal file path: {name}")
    return path


def zipped(source: Source, paths: Iterable[str]) -> bytes:
    """A ZIP archive of files of a source."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.writestr(path, source.read(path))
    return buffer.getvalue()
