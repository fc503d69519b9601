"""Canonical JSON and the ``sha256:v1:`` digest (R63): the same state gives the same digest everywhere.

Keys sorted by code point, array order kept, ``-0`` written as ``0``, UTF-8. Does no I/O.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

DIGEST_PREFIX: Final = "sha256:v1:"
# Made once: every state and every call is digested.
_encode: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical_json(value: Any) -> bytes:
    """The canonical UTF-8 form of a JSON-like ``value``.

    Raises:
        TypeError: ``value`` holds something that JSON cannot carry.
    """
    return _encode(_tagged(value)).encode("utf-8", "surrogatepass")


def digest(value: Any) -> str:
    """``sha256:v1:`` and 64 hexadecimal digits of the canonical form."""
    return DIGEST_PREFIX + hashlib.sha256(canonical_json(value)).hexdigest()


def digest_bytes(content: bytes) -> str:
    """``sha256:v1:`` and 64 hexadecimal digits of raw bytes (uploads, downloads)."""
    return DIGEST_PREFIX + hashlib.sha256(content).hexdigest()


def _tagged(value: Any) -> Any:
    if isinstance(value, dict):
        # Nearly every leaf is a text, and stays as it is.
        return {str(key): item if type(item) is str else _tagged(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tagged(item) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return {"$number": repr(value)}
        # 1.0 and 1 are one number on the wire (JSON has no integer type), so they are one state.
        return int(value) if value.is_integer() else value
    return value
