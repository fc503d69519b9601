"""Files of a delegate's machine for ``file.upload_asset``: asked for first, sent if need be (R168, R177, R183-R185). Pure.

The kernel reads no file of its callers. What it gets is an ``uploadSource``, the digest of name and bytes, so a preflight
and its commit mean the same file, or the commit is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from kernel.canonical import digest_bytes
from kernel.delegate.coordinator import NOTHING_DONE, ROUTE
from kernel.delegate.limits import UPLOAD_BYTES_MAX
from kernel.delegate.messages import Post
from kernel.errors import ToolError
from kernel.uploads.staging import UploadInvalid, check_file_name, upload_source

ACTION: Final = ("file", "upload_asset")
_FILE: Final = "localFilePath"
_FILE_ALIAS: Final = "file"
_SOURCE: Final = "uploadSource"
# What the staging area's refusals mean for the call.
_CODES: Final = {400: "validation_error", 403: "action_disabled", 413: "too_large", 429: "upload_capacity"}


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine, read whole."""

    name: str
    content: bytes
    sha256: str


def local_file_of(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """The path of the file that a call means; None where there is nothing to stage. A replay brings only its source."""
    if (tool, arguments.get("action")) != ACTION or arguments.get(_SOURCE):
        return None
    path = arguments.get(_FILE) or arguments.get(_FILE_ALIAS)
    return path if isinstance(path, str) and path else None


def with_source(arguments: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The arguments as the kernel gets them: the source instead of a path that is none of its business."""
    return {key: value for key, value in arguments.items() if key not in (_FILE, _FILE_ALIAS)} | {_SOURCE: source}


def read_as(path: str, content: bytes) -> LocalFile:
    """The file with its name and digest. ``content``: at most one byte more than may be sent.

    Raises:
        ToolError: too large, or a name that no asset can have; nothing was sent.
    """
    if len(content) > UPLOAD_BYTES_MAX:
        raise refused("too_large", f"{path} is longer than {UPLOAD_BYTES_MAX} bytes: a delegate sends no larger file.")
    try:
        name = check_file_name(PurePath(path).name)
    except UploadInvalid as error:
        raise refused("validation_error", f"{path}: {error}") from None
    return LocalFile(name, content, digest_bytes(content))


def refused(code: str, message: str, **details: Any) -> ToolError:
    """An error before anything of the call was sent."""
    return ToolError(code, message, outer={**NOTHING_DONE, "transactionState": "rejected"}, **details)


def lookup(file: LocalFile) -> Post:
    """Is it there already?"""
    body = {"fileName": file.name, "sha256": file.sha256, "bytes": len(file.content)}
    headers = {"Content-Type": "application/json"}
    return Post(f"{ROUTE}/transfer/lookup", headers, json.dumps(body, ensure_ascii=False).encode())


def upload(file: LocalFile) -> Post:
    """The bytes, with the name percent-encoded beside them (R170, R171)."""
    headers = {"Content-Type": "application/octet-stream", "X-Sisyphus-File-Name": quote(file.name, safe="")}
    return Post(f"{ROUTE}/transfer/upload", headers, file.content)


def source_of(receipt: Any, file: LocalFile) -> str:
    """The identifier in a receipt, if the receipt is for this very file.

    Raises:
        ToolError: it is not; nothing of the call was sent.
    """
    expected = upload_source(file.name, file.sha256)
    told = receipt if isinstance(receipt, dict) else {}
    facts = (told.get("uploadSource"), told.get("fileName"), told.get("bytes"), told.get("sha256"))
    if facts != (expected, file.name, len(file.content), file.sha256):
        raise refused("write_coordinator_unavailable", f"The receipt for {file.name} is for another file.")
    return expected


def upload_refused(status: int, message: Any, file: LocalFile) -> ToolError:
    """What a refusal of the staging area means."""
    words = message.get("message") if isinstance(message, dict) else None
    code = _CODES.get(status, "write_coordinator_unavailable")
    return refused(code, f"{file.name} could not be staged: {words or f'HTTP {status}'}")
