"""Files offered for download: they lie in ``temp/export`` and are served at ``/export/``."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import trio

from kernel.siyuan.limits import INLINE_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.workspace.files import Files

EXPORT_DIR: Final = "temp/export"
# What a path in an address keeps as it is (Go's url.PathEscape).
_SAFE: Final = "$&+=:@-_.~"


def offer(files: Files, name: str, content: bytes) -> str:
    """Put a file there; its address."""
    files.write(f"{EXPORT_DIR}/{name}", content)
    folder, slash, last = name.rpartition("/")
    return f"/export/{folder}{slash}{quote(last, safe=_SAFE)}"


async def packed(entries: Mapping[str, bytes | None]) -> bytes:
    """A ZIP archive of these files; a large one is packed in a thread."""
    if sum(len(content) for content in entries.values() if content is not None) <= INLINE_BYTES_MAX:
        return zipped(entries)
    return await trio.to_thread.run_sync(zipped, entries)


def packing_order(entries: Mapping[str, bytes | None]) -> list[str]:
    """Folder by folder in the order of their names."""
    return sorted(entries, key=lambda one: one.split("/"))


def zipped(entries: Mapping[str, bytes | None]) -> bytes:
    """A ZIP archive of these files in their packing order; None is a folder, kept if empty."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in packing_order(entries):
            content = entries[name]
            if content is not None:
                archive.writestr(name, content)
            elif not any(other.startswith(f"{name}/") for other in entries):
                archive.writestr(f"{name}/", b"")
    return buffer.getvalue()
