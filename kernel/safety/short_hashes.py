"""[core] The pool of short hashes: a full digest and its printed prefix, one to one, as long as the process (R44-R54).

A short value finds a digest; it never stands for one in a comparison. Nothing is reclaimed or bound anew, so a value
that was once printed keeps its meaning until the process ends. Does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from kernel.canonical import DIGEST_PREFIX
from kernel.safety.limits import SHORT_HASH_HEX_MIN

_CREDENTIAL: Final = re.compile(r"(?:sha256:v1:)?([0-9a-f]{4,64})", re.IGNORECASE)
_DIGEST: Final = re.compile(r"sha256:v1:[0-9a-f]{64}")
_DIGEST_HEX: Final = 64
# The receipt's own fields; hash-looking text anywhere else is somebody's content and stays (R53, R54, R62).
RECEIPT_FIELDS: Final = frozenset({"previousHash", "resultHash", "expectedHash", "currentHash"})


def credential_hex(text: object) -> str | None:
    """The lower-case digits of ``sha256:v1:<4-64 hex>`` or bare ``<4-64 hex>``; None for anything else (R35-R37)."""
    found = _CREDENTIAL.fullmatch(text) if isinstance(text, str) else None
    return None if found is None else found[1].lower()


def is_digest(text: object) -> bool:
    """Whether ``text`` is a full digest as ``kernel.canonical`` writes it."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


class ShortHashes:
    """The one pool of a coordinator."""

    def __init__(self) -> None:
        self._short_of: dict[str, str] = {}
        self._hex_of: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._short_of)

    def short(self, digest: str) -> str:
        """The short value of a full ``digest``; registers it at first sight (R45, R46)."""
        if not is_digest(digest):
            raise ValueError(f"not a digest: {digest!r}")
        digits = digest.removeprefix(DIGEST_PREFIX)
        known = self._short_of.get(digits)
        if known is not None:
            return known
        length = SHORT_HASH_HEX_MIN
        # A digest's own 64 digits are free for it alone, so the loop ends.
        while digits[:length] in self._hex_of:
            length += 1
        self._short_of[digits] = digits[:length]
        self._hex_of[digits[:length]] = digits
        return digits[:length]

    def resolve(self, credential: object) -> str | None:
        """The full digest a credential names, by exact look-up (R48, R49); a complete value names itself (R41)."""
        digits = credential_hex(credential)
        if digits is None:
            return None
        found = digits if len(digits) == _DIGEST_HEX else self._hex_of.get(digits)
        return None if found is None else DIGEST_PREFIX + found

    def shorten(self, receipt: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of a receipt whose four hash fields are short; malformed values are left as they are."""
        return {
            name: self.short(value) if name in RECEIPT_FIELDS and is_digest(value) else value
            for name, value in receipt.items()
        }
