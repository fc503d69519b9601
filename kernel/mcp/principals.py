"""Who calls, as far as the credential tells: a digest of it, never the credential itself. Pure."""

from __future__ import annotations

import hashlib
from typing import Final
from urllib.parse import parse_qs

from kernel.wire import Headers, Request

LOCAL: Final = "local"
_SCHEMES: Final = ("token ", "bearer ")


def principal_of(request: Request) -> str:
    """``local`` without a credential; else 32 hexadecimal digits of its SHA-256, the same for header and query."""
    named = request.headers.derived(_of_headers)
    if named is not None:
        return named
    if "token=" in request.query:
        tokens = parse_qs(request.query).get("token")
        if tokens:
            return _digest(tokens[0])
    return LOCAL


def _of_headers(headers: Headers) -> str | None:
    credential = headers.get("authorization")
    if credential is None:
        return None
    scheme = next((scheme for scheme in _SCHEMES if credential.lower().startswith(scheme)), "")
    return _digest(credential[len(scheme) :].strip())


def _digest(credential: str) -> str:
    return hashlib.sha256(credential.encode("utf-8", "surrogatepass")).hexdigest()[:32]
