"""Files offered for download: they lie in ``temp/export`` and are served at ``/export/``."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.workspace.files import Files

EXPORT_DIR: Final = "temp/export"


def offer(files: Files, name: str, content: bytes) -> str:
    """Put a file there; its address."""
    files.write(f"{EXPORT_DIR}/{name}", content)
    return f"/export/{name}"


def zipped(entries: Mapping[str, bytes]) -> bytes:
    """A ZIP archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()
