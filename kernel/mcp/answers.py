"""Encoded messages as HTTP answers. Pure."""

from __future__ import annotations

from typing import Final

from kernel.mcp.heads import Head
from kernel.mcp.jsonrpc import ProtocolError, encode, sse_frame
from kernel.wire import EVENT_STREAM, JSON_TYPE, Response

EVENT_HEADERS: Final = (
    ("Content-Type", EVENT_STREAM),
    ("Cache-Control", "no-cache, no-transform"),
    ("X-Accel-Buffering", "no"),
)
_JSON_HEADERS: Final = (("Content-Type", JSON_TYPE),)

ACCEPTED: Final = Response(202)


def answer(head: Head, message: bytes, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """One message in a type the client takes; an error status is always JSON."""
    if head.takes_json or status >= 400:
        return Response(status, _JSON_HEADERS + headers, message)
    return Response(status, EVENT_HEADERS + headers, sse_frame(message))


def refusal(error: ProtocolError) -> Response:
    """A request that was refused before it was dispatched."""
    return Response(error.status, _JSON_HEADERS + error.headers, encode(error.object()))


def method_not_allowed(allowed: str) -> Response:
    return Response(405, (("Allow", allowed),))
