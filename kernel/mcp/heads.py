"""What the request headers say about an MCP message, read once per distinct head. No I/O, no rules of an era."""

from __future__ import annotations

import base64
import binascii
import functools
from typing import Final

import msgspec

from kernel.mcp.limits import HEAD_PLANS_MAX
from kernel.mcp.versions import is_handshake
from kernel.wire import EVENT_STREAM, JSON_TYPE, Headers

VERSION_HEADER: Final = "mcp-protocol-version"
METHOD_HEADER: Final = "mcp-method"
NAME_HEADER: Final = "mcp-name"
SESSION_HEADER: Final = "mcp-session-id"
PARAMETER_PREFIX: Final = "mcp-param-"

_ROUTING: Final = frozenset({VERSION_HEADER, METHOD_HEADER, NAME_HEADER})
_PLANNED: Final = _ROUTING | {"accept", "content-type"}
_WRAPPED_START: Final = "=?base64?"
_WRAPPED_END: Final = "?="


class Head(msgspec.Struct, frozen=True):
    """The routing part of a head. ``repeated`` names a routing header that stood there twice."""

    version: str | None
    method: str | None
    name: str | None  # decoded; None where absent
    has_bad_name: bool  # wrapped as base64, but malformed
    repeated: str | None
    takes_json: bool
    takes_events: bool
    has_json_body: bool
    parameters: tuple[tuple[str, str], ...]  # Mcp-Param-* in order, lower-case names, values as sent
    is_handshake: bool  # one of the older revisions, or none at all: the body may still say otherwise


def read_head(headers: Headers) -> Head:
    """The routing part of ``headers``, worked out once for heads that are the same byte by byte, and once for those
    that differ in other headers only (a trace id, a cookie)."""
    return headers.derived(_routing_part)


def _routing_part(headers: Headers) -> Head:
    return _plan(
        tuple(item for item in headers.items if item[0] in _PLANNED or item[0].startswith(PARAMETER_PREFIX)),
    )


def decode_wrapped(value: str) -> str | None:
    """A header value, unwrapped if it is ``=?base64?…?=``; None if the wrapping is malformed.

    Only canonical base64 of UTF-8 counts; a value that lacks the prefix or the suffix is literal.
    """
    if not (value.startswith(_WRAPPED_START) and value.endswith(_WRAPPED_END)):
        return value
    inner = value[len(_WRAPPED_START) : -len(_WRAPPED_END)]
    try:
        decoded = base64.b64decode(inner, validate=True)
        if base64.b64encode(decoded).decode() != inner:
            return None
        return decoded.decode()
    except (binascii.Error, ValueError):
        return None


@functools.lru_cache(maxsize=HEAD_PLANS_MAX)
def _plan(items: tuple[tuple[str, str], ...]) -> Head:
    first: dict[str, str] = {}
    repeated: str | None = None
    accepts: list[str] = []
    for header, value in items:
        if header == "accept":
            accepts.append(value)
        elif header not in first:
            first[header] = value
        elif header in _ROUTING and repeated is None:
            repeated = header
    takes_json, takes_events = _accepted(",".join(accepts)) if accepts else (True, False)
    raw_name = first.get(NAME_HEADER)
    name = None if raw_name is None else decode_wrapped(raw_name)
    return Head(
        version=first.get(VERSION_HEADER),
        method=first.get(METHOD_HEADER),
        name=name,
        has_bad_name=raw_name is not None and name is None,
        repeated=repeated,
        takes_json=takes_json,
        takes_events=takes_events,
        has_json_body=_media_type(first.get("content-type", "")) == JSON_TYPE,
        parameters=tuple(item for item in items if item[0].startswith(PARAMETER_PREFIX)),
        is_handshake=is_handshake(first.get(VERSION_HEADER)) and repeated != VERSION_HEADER,
    )


def _media_type(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def _accepted(accept: str) -> tuple[bool, bool]:
    """Whether JSON and an event stream are acceptable; the most specific range decides, and ``q=0`` refuses."""
    quality: dict[str, float] = {}
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality[media_range] = _quality(parameters)
    return _takes(quality, JSON_TYPE), _takes(quality, EVENT_STREAM)


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 1.0
    return 1.0


def _takes(quality: dict[str, float], media_type: str) -> bool:
    family = media_type.partition("/")[0] + "/*"
    for media_range in (media_type, family, "*/*"):
        if media_range in quality:
            return quality[media_range] > 0
    return False
