"""What a delegate saves of an export, and where: names judged, sizes counted, nothing overwritten (R187-R199). Pure.

The manifest comes from the kernel, and its names go to this machine's disk: each of them is checked before the first
byte is fetched. An export stays an external effect; there is no preflight for it and no guarantee.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from kernel.canonical import DIGEST_PREFIX
from kernel.delegate.limits import DOWNLOAD_BYTES_MAX
from kernel.errors import ToolError
from kernel.uploads.staging import UploadInvalid, check_file_name

DEFAULT_FOLDER: Final = "siyuan-extracted"
_ID_TAIL_CHARS: Final = 7
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f\\:?#]")


class NotSaved(Exception):
    """The export was made and cannot be saved; the message says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An export that shall end on this machine's disk. ``place``: the ZIP itself, or the folder for a document's folder."""

    kind: Literal["archive", "document"]
    place: Path
    is_default: bool = False
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class Download:
    """One file to fetch: its path in the kernel's workspace, and its path below the place it is saved at."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """A document's folder: its name, the Markdown's file, and the assets to fetch."""

    folder: str
    markdown_file: str
    markdown: bytes
    assets: tuple[Download, ...]


@dataclass(slots=True)
class Saved:
    """One file as it is written: counted and hashed piece by piece."""

    path: str
    size_bytes: int = 0
    _hasher: Any = field(default_factory=hashlib.sha256)

    def add(self, piece: bytes) -> None:
        self.size_bytes += len(piece)
        self._hasher.update(piece)

    def facts(self) -> dict[str, Any]:
        return {"path": self.path, "bytes": self.size_bytes, "sha256": DIGEST_PREFIX + self._hasher.hexdigest()}


class Allowance:
    """How many bytes one export may still bring (R189)."""

    def __init__(self, left_bytes: int = DOWNLOAD_BYTES_MAX) -> None:
        self._left_bytes = left_bytes

    def announce(self, size_bytes: int | None) -> None:
        """A size that was announced must fit. Raises NotSaved."""
        if size_bytes is not None and size_bytes > self._left_bytes:
            raise NotSaved(f"it is larger than {DOWNLOAD_BYTES_MAX} bytes")

    def take(self, size_bytes: int) -> None:
        """Raises NotSaved."""
        self.announce(size_bytes)
        self._left_bytes -= size_bytes


def wanted(tool: str, arguments: Mapping[str, Any], here: Path, home: Path) -> Wanted | None:
    """What a call shall save on this machine; None where nothing. ``here``: what relative places are relative to.

    A caller that asks for another delivery, or for a preflight (which the kernel refuses), gets just that.
    """
    if tool != "file" or arguments.get("delivery") not in (None, "download") or "validateOnly" in arguments:
        return None
    if arguments.get("action") == "export_resources" and isinstance(arguments.get("outputPath"), str):
        return Wanted("archive", place_of(arguments["outputPath"], here, home))
    if arguments.get("action") == "extract_doc":
        folder = arguments.get("outputDir")
        is_default = not (isinstance(folder, str) and folder)
        place = home / DEFAULT_FOLDER if is_default else place_of(str(folder), here, home)
        return Wanted("document", place, is_default, str(arguments.get("id") or ""))
    return None


def place_of(text: str, here: Path, home: Path) -> Path:
    """A path as its caller means it: below ``home`` behind ``~/``, else relative to ``here``."""
    return home / text[2:] if text.startswith("~/") else here / text


def asking_for_download(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the kernel gets them: places on this machine are none of its business (R187)."""
    kept = {key: value for key, value in arguments.items() if key not in ("outputPath", "outputDir")}
    return {**kept, "delivery": "download"}


def archive_source(told: Mapping[str, Any]) -> str:
    """Where the ZIP lies: somewhere below /temp. Raises NotSaved."""
    path = told.get("downloadPath")
    if told.get("delivery") != "download" or not isinstance(path, str):
        raise NotSaved("the answer names no file to download")
    if not path.startswith("/temp/") or _UNSAFE.search(path) or ".." in path.split("/"):
        raise NotSaved(f"{path} is no export")
    return path


def extraction_of(told: Mapping[str, Any], document_id: str) -> Extraction:
    """What an extracted document consists of. Raises NotSaved: names that are not safe here, or a part that is missing."""
    if told.get("delivery") != "download" or told.get("docId") != document_id:
        raise NotSaved("the answer is not the document that was asked for")
    markdown, assets = told.get("markdown"), told.get("assets")
    if not isinstance(markdown, str) or not isinstance(assets, list):
        raise NotSaved("the answer holds no document")
    try:
        name = check_file_name(told.get("docName"))
    except UploadInvalid as error:
        raise NotSaved(f"the document's name cannot be a file's: {error}") from None
    folder = f"{name}-{document_id[-_ID_TAIL_CHARS:]}"
    downloads = tuple(dict.fromkeys(_asset(one) for one in assets))
    return Extraction(folder, f"{name}.md", markdown.encode("utf-8", "replace"), downloads)


def _asset(told: Any) -> Download:
    path = told.get("path") if isinstance(told, dict) else None
    if not isinstance(path, str):
        raise NotSaved("the answer names an asset without a path")
    if "error" in told:
        raise NotSaved(f"{path} is missing")
    # The path is a file's own: the kernel has decoded the document's link, once, and a % in it is a letter.
    if _UNSAFE.search(path) or any(part in ("", ".", "..") for part in path.split("/")):
        raise NotSaved(f"{path} is no name for a file here")
    return Download(f"/data/{path}", path)


def archive_result(told: Mapping[str, Any], place: Path, saved: Saved) -> dict[str, Any]:
    """The kernel's answer, and what was saved."""
    return {**told, "outputPath": str(place), "bytes": saved.size_bytes, "sha256": saved.facts()["sha256"]}


def document_result(
    told: Mapping[str, Any], want: Wanted, extraction: Extraction, files: list[Saved]
) -> dict[str, Any]:
    """What was saved, file by file."""
    folder = want.place / extraction.folder
    result: dict[str, Any] = {
        "success": True,
        "transport": told.get("transport"),
        "outputRoot": str(want.place),
        "extractedDir": str(folder),
        "docMdFile": str(folder / extraction.markdown_file),
        "extractedAssetCount": len(extraction.assets),
        "skippedAssetCount": 0,
        "structure": [saved.path for saved in files],
        "defaultOutputDirUsed": want.is_default,
        "hint": "Compare the files with their sha256 before using them elsewhere.",
        "files": [saved.facts() for saved in files],
    }
    return {**result, "safety": told["safety"]} if "safety" in told else result


def not_saved(error: NotSaved, told: Mapping[str, Any], *, is_cancelled: bool = False) -> ToolError:
    """The export was made, and is not on this disk; nothing of this run is left there (R191)."""
    code = "local_export_cancelled" if is_cancelled else "local_export_failed"
    outer: dict[str, Any] = {"success": False, "writeAttempted": True}
    if "safety" in told:
        outer["safety"] = told["safety"]
    return ToolError(code, f"The export was made and not saved: {error}.", outer=outer)
