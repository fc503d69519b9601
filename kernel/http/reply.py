"""What we write: reply heads and chunks, formatted by hand from constants. Does no I/O.

h11 parses what comes in; what goes out is ours alone, so it needs no state machine, only one place that refuses to
write a header which would break the framing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from kernel.http.limits import JOINED_BODY_BYTES_MAX
from kernel.wire import Response

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"
TEXT: Final = "text/plain; charset=utf-8"

_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_UNSAFE_VALUE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# The server's own business (kernel.wire.Response): a handler that sets them contradicts the framing.
_RESERVED: Final = frozenset({"connection", "date", "transfer-encoding", "keep-alive"})
_BODILESS: Final = frozenset({204, 304})
_END: Final = b"\r\n"
_CLOSING_END: Final = b"Connection: close\r\n\r\n"


class HeaderInvalid(ValueError):
    """A handler's header that must not be written: a bad name, a control character, or one the server owns."""


@lru_cache(maxsize=256)
def status_line(status: int) -> bytes:
    """``HTTP/1.1 200 OK`` with its line end; unknown codes get an empty reason."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    return f"HTTP/1.1 {status} {reason}\r\n".encode("ascii")


@lru_cache(maxsize=512)
def header_block(headers: tuple[tuple[str, str], ...]) -> bytes:
    """The lines of ``headers``; memoised, since a handler's headers are nearly always the same constants.

    Raises:
        HeaderInvalid: see there.
    """
    lines = []
    for name, value in headers:
        if _NAME.fullmatch(name) is None or name.lower() in _RESERVED:
            raise HeaderInvalid(f"header {name!r} cannot be sent")
        if _UNSAFE_VALUE.search(value) is not None:
            raise HeaderInvalid(f"the value of header {name!r} holds a control character")
        lines.append(f"{name}: {value}\r\n")
    # The kernel's file names go out as raw UTF-8; surrogates are what the peer sent and we could not decode.
    return "".join(lines).encode("utf-8", "surrogateescape")


def http_date(wall_s: int) -> str:
    """A second (Unix time) as HTTP writes it, whatever the machine's language."""
    at = datetime.fromtimestamp(wall_s, tz=UTC)
    return f"{_DAYS[at.weekday()]}, {at.day:02} {_MONTHS[at.month - 1]} {at.year:04} {at:%H:%M:%S} GMT"


@lru_cache(maxsize=4)
def date_line(wall_s: int) -> bytes:
    """The Date header of one second (Unix time)."""
    return f"Date: {http_date(wall_s)}\r\n".encode("ascii")


def whole(response: Response, *, wall_s: int, is_head: bool, closes: bool) -> bytes:
    """A whole reply as one bytes object. A HEAD reply has the length of the body it leaves out."""
    status, body = response.status, response.body
    begun, end = _beginning(status, response.headers, wall_s), _CLOSING_END if closes else _END
    if status in _BODILESS:
        return begun + end
    return b"%bContent-Length: %d\r\n%b%b" % (begun, len(body), end, b"" if is_head else body)


def parts(response: Response, *, wall_s: int, is_head: bool, closes: bool) -> tuple[bytes, bytes]:
    """A whole reply as one or two pieces to be sent in a row: a long body stays the object it is."""
    body = response.body
    if len(body) <= JOINED_BODY_BYTES_MAX or is_head or response.status in _BODILESS:
        return whole(response, wall_s=wall_s, is_head=is_head, closes=closes), b""
    begun, end = _beginning(response.status, response.headers, wall_s), _CLOSING_END if closes else _END
    return b"%bContent-Length: %d\r\n%b" % (begun, len(body), end), body


@lru_cache(maxsize=64)
def _beginning(status: int, headers: tuple[tuple[str, str], ...], wall_s: int) -> bytes:
    """A reply's head down to its length: within one second it is nearly always the same."""
    return status_line(status) + header_block(headers) + date_line(wall_s)


def stream_head(
    status: int, headers: tuple[tuple[str, str], ...], *, wall_s: int, is_chunked: bool, closes: bool
) -> bytes:
    """The head of a reply whose body follows piece by piece."""
    parts = [status_line(status), header_block(headers), date_line(wall_s)]
    if is_chunked:
        parts.append(b"Transfer-Encoding: chunked\r\n")
    if closes:
        parts.append(b"Connection: close\r\n")
    parts.append(b"\r\n")
    return b"".join(parts)


def chunk(data: bytes) -> bytes:
    """One piece in the chunked coding; nothing for an empty piece, which would end the body."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


def declared_length(headers: Iterable[tuple[str, str]]) -> int | None:
    """The Content-Length a streamed answer promises, if it does."""
    for name, value in headers:
        if name.lower() == "content-length":
            return int(value)
    return None


def plain(status: int, text: str, *, headers: tuple[tuple[str, str], ...] = (), closes: bool = False) -> Response:
    """A short answer in words for a person with a terminal."""
    return Response(status, (("Content-Type", TEXT), *headers), f"{text}\n".encode(), closes=closes)
