"""Where static files come from: a folder of the workspace, or one of a real distribution (``--wd``). Read-only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import trio

from kernel.siyuan.file_answers import FileContent
from kernel.siyuan.limits import INLINE_BYTES_MAX, STREAMED_BYTES_MIN
from kernel.workspace.backend import FileStat
from kernel.workspace.files import Files, UnsafePath

if TYPE_CHECKING:
    from collections.abc import Callable


class Root(Protocol):
    """One folder. Paths are relative, cleaned, without a leading slash; ``""`` is the folder itself."""

    def stat(self, path: str) -> FileStat | None: ...

    def list(self, path: str) -> list[FileStat]: ...

    async def read(self, path: str) -> FileContent:
        """The file. Raises FileNotFoundError."""
        ...

    def large(self, path: str) -> str:
        """Where a file lies that is too large to be read whole; ``""`` for any other."""
        ...


@dataclass(frozen=True, slots=True)
class WorkspaceRoot:
    """A folder of the workspace; what is not yet on disk is seen too."""

    files: Files
    folder: str

    def stat(self, path: str) -> FileStat | None:
        try:
            whole = self._whole(path)
            found = self.files.stat(whole)
        except (UnsafePath, OSError, ValueError):
            return None
        # A link that leads out of the workspace is as good as nothing.
        return found if found is not None and self._is_inside(whole) else None

    def list(self, path: str) -> list[FileStat]:
        return self.files.list(self._whole(path))

    async def read(self, path: str) -> FileContent:
        found = self.stat(path)
        if found is None or found.is_dir:
            raise FileNotFoundError(path)
        whole = self._whole(path)
        content = await _read(lambda: self.files.read(whole), found.size)
        return FileContent(found.name or whole.rpartition("/")[2], content, found.mtime_s)

    def large(self, path: str) -> str:
        found, whole = self.stat(path), self._whole(path)
        return self.files.on_disk(whole) if found is not None and found.size >= STREAMED_BYTES_MIN else ""

    def _whole(self, path: str) -> str:
        return f"{self.folder}/{path}" if path else self.folder

    def _is_inside(self, whole: str) -> bool:
        top = os.path.realpath(self.files.absolute(""))
        return os.path.realpath(self.files.absolute(whole)).startswith(f"{top}{os.sep}")


@dataclass(frozen=True, slots=True)
class DiskRoot:
    """A folder outside the workspace. Without one (``""``) nothing is found."""

    folder: str

    def stat(self, path: str) -> FileStat | None:
        target = self._target(path)
        try:
            found = target.stat() if target is not None else None
        except (OSError, ValueError):
            return None
        if target is None or found is None:
            return None
        return FileStat(target.name, target.is_dir(), found.st_size, found.st_mtime)

    def list(self, path: str) -> list[FileStat]:
        target = self._target(path)
        names = sorted(entry.name for entry in target.iterdir()) if target is not None else []
        below = (self.stat(f"{path}/{name}" if path else name) for name in names)
        return [found for found in below if found is not None]

    async def read(self, path: str) -> FileContent:
        target, found = self._target(path), self.stat(path)
        if target is None or found is None or found.is_dir:
            raise FileNotFoundError(path)
        return FileContent(found.name, await _read(target.read_bytes, found.size), found.mtime_s)

    def large(self, path: str) -> str:
        target, found = self._target(path), self.stat(path)
        is_large = target is not None and found is not None and found.size >= STREAMED_BYTES_MIN
        return str(target) if is_large else ""

    def _target(self, path: str) -> Path | None:
        if not self.folder or "\0" in path:
            return None
        top = Path(self.folder).resolve()
        target = (top / path).resolve()
        return target if target == top or top in target.parents else None


async def _read(read: Callable[[], bytes], size: int) -> bytes:
    if size <= INLINE_BYTES_MAX:
        return read()
    return await trio.to_thread.run_sync(read)
