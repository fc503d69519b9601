"""[core] The staging area of uploads (R168-R185): files in memory, each under the digest of its name and content.

A staged file never changes: other bytes or another name are another ``uploadSource``, so a request id that was issued
for one of them cannot write the other (R183). Nothing is staged on somebody's word: a look-up only finds (R178).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from kernel.canonical import DIGEST_PREFIX, digest
from kernel.uploads import limits

_FORBIDDEN: Final = re.compile(r'[\x00-\x1f\x7f-\x9f/\\"\ud800-\udfff]')
_FINGERPRINT: Final = re.compile(rf"(?:{DIGEST_PREFIX})?([0-9a-f]{{64}})")


class UploadInvalid(Exception):
    """A name, a body or a fingerprint that is none (HTTP 400)."""


class UploadTooLarge(Exception):
    """The file is longer than ``FILE_BYTES_MAX`` (HTTP 413)."""

    def __init__(self) -> None:
        super().__init__(f"a file may have {limits.FILE_BYTES_MAX} bytes")


class StagingFull(Exception):
    """There is no room until something expires (HTTP 429)."""


@dataclass(frozen=True, slots=True)
class Staged:
    """One staged file. ``digest``: ``sha256:v1:`` and 64 hexadecimal digits of ``content``."""

    upload_source: str
    file_name: str
    content: bytes
    digest: str

    def receipt(self, expires_wall_ms: int) -> dict[str, Any]:
        """What the uploader is told."""
        return {
            "uploadSource": self.upload_source,
            "fileName": self.file_name,
            "bytes": len(self.content),
            "sha256": self.digest,
            "expiresAt": expires_wall_ms,
        }


def check_file_name(name: object) -> str:
    """A plain file name: 1 to 255 characters, no control character, no slash, backslash or quote, not a dot name.

    Raises:
        UploadInvalid
    """
    if not isinstance(name, str) or not 1 <= len(name) <= limits.FILE_NAME_CHARS_MAX:
        raise UploadInvalid(f"the file name must have 1 to {limits.FILE_NAME_CHARS_MAX} characters")
    if _FORBIDDEN.search(name) is not None or name in (".", ".."):
        raise UploadInvalid('the file name holds a control character, / \\ or ", or is a dot name')
    return name


def content_digest(sha256_hex: str) -> str:
    """The printed digest of a content whose SHA-256 was computed step by step."""
    return DIGEST_PREFIX + sha256_hex


def upload_source(file_name: str, content: str) -> str:
    """The identifier of a staged file: 64 hexadecimal digits over its name and the digest of its content (R182)."""
    return digest({"fileName": file_name, "hash": content}).removeprefix(DIGEST_PREFIX)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a look-up asks for: name, content digest, size."""

    file_name: str
    digest: str
    size_bytes: int


def read_fingerprint(given: object) -> Fingerprint:
    """``{fileName, sha256, bytes}``; the digest with or without its prefix.

    Raises:
        UploadInvalid
    """
    if not isinstance(given, dict):
        raise UploadInvalid("the body is not a JSON object")
    name = check_file_name(given.get("fileName"))
    sha256, size = given.get("sha256"), given.get("bytes")
    found = _FINGERPRINT.fullmatch(sha256) if isinstance(sha256, str) else None
    if found is None:
        raise UploadInvalid("sha256 must be 64 lower-case hexadecimal digits, or these behind sha256:v1:")
    if type(size) is not int or size < 0:
        raise UploadInvalid("bytes must be a whole number")
    return Fingerprint(name, content_digest(found[1]), size)


class Staging:
    """The staged files of one process. ``now`` is monotonic seconds; expiry is by comparison."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, tuple[Staged, float]] = OrderedDict()  # by expiry
        self._bytes = 0

    def stage(self, file_name: str, content: bytes, content_hash: str, *, now: float) -> tuple[Staged, float]:
        """Keep a file whose digest was computed from its bytes; the item and when it expires.

        Raises:
            StagingFull: 64 items or 32 MiB are held; the same file again always finds its place.
        """
        assert len(content) <= limits.FILE_BYTES_MAX, "the size is checked while the body is read"
        self._expire(now)
        source = upload_source(file_name, content_hash)
        if source in self._items:
            return self._refresh(source, now)
        if len(self._items) >= limits.ITEMS_MAX or self._bytes + len(content) > limits.TOTAL_BYTES_MAX:
            raise StagingFull("the staging area is full: wait until uploads expire")
        item = Staged(source, file_name, content, content_hash)
        self._items[source] = item, now + limits.ITEM_TTL_S
        self._bytes += len(content)
        return self._items[source]

    def lookup(self, wanted: Fingerprint, *, now: float) -> tuple[Staged, float] | None:
        """The staged file of that name, content and size; found, it is kept anew. Never makes one (R178)."""
        self._expire(now)
        source = upload_source(wanted.file_name, wanted.digest)
        found = self._items.get(source)
        if found is None or len(found[0].content) != wanted.size_bytes:
            return None
        return self._refresh(source, now)

    def find(self, source: str, *, now: float) -> Staged | None:
        """The staged file with that identifier."""
        self._expire(now)
        found = self._items.get(source)
        return None if found is None else found[0]

    def statistics(self, *, now: float) -> dict[str, int]:
        """Counts for /health: no names, no identifiers."""
        self._expire(now)
        return {"items": len(self._items), "bytes": self._bytes}

    def _refresh(self, source: str, now: float) -> tuple[Staged, float]:
        self._items[source] = self._items[source][0], now + limits.ITEM_TTL_S
        self._items.move_to_end(source)
        return self._items[source]

    def _expire(self, now: float) -> None:
        while self._items:
            item, expires_at = next(iter(self._items.values()))
            if expires_at > now:
                return
            del self._items[item.upload_source]
            self._bytes -= len(item.content)
