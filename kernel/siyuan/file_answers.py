"""[core] Answers that carry a file: conditions, ranges, folder listings, the redirects of a file server.

The rules are those of the kernel's HTTP library; where each root differs is said by ``kernel.siyuan.statics``.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from kernel.http import reply
from kernel.siyuan.limits import RANGES_MAX
from kernel.siyuan.media_types import type_of
from kernel.wire import Headers, Response

_HTML: Final = "text/html; charset=utf-8"
_OVERLAP: Final = "invalid range: failed to overlap"
_BOUNDARY: Final = "5d2f8c1b7a3e4690a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6"


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file to be answered with. ``mtime_s`` is Unix time; of a large file ``content`` is the beginning only."""

    name: str
    content: bytes
    mtime_s: float
    whole_size: int | None = None

    @property
    def size(self) -> int:
        return len(self.content) if self.whole_size is None else self.whole_size


@dataclass(frozen=True, slots=True)
class FilePlan:
    """An answer that carries a file: its parts in order, each some bytes or a (start, length) of the file."""

    status: int
    headers: tuple[tuple[str, str], ...]
    parts: tuple[bytes | tuple[int, int], ...]

    @property
    def length(self) -> int:
        return sum(len(part) if isinstance(part, bytes) else part[1] for part in self.parts)


class RangeInvalid(ValueError):
    """The Range header cannot be satisfied (416); ``overlaps`` is False where it lies behind the end."""

    def __init__(self, words: str, *, overlaps: bool = True) -> None:
        super().__init__(words)
        self.overlaps = overlaps


_ERROR_TYPE: Final = (("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"))


def error_text(status: int, words: str, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """The library's own error answer."""
    return Response(status, (*headers, *_ERROR_TYPE), f"{words}\n".encode())


def is_error_text(response: Response) -> bool:
    """Whether an answer was made by ``error_text``: the kernel packs those without saying so."""
    return response.status >= 400 and response.headers[-2:] == _ERROR_TYPE


FILE_NOT_FOUND: Final = error_text(404, "404 page not found")
INVALID_PATH: Final = error_text(400, "invalid URL path")


def local_redirect(location: str, query: str) -> Response:
    """A redirect relative to the request's path, with its query and without a page."""
    return Response(301, (("Location", f"{location}?{query}" if query else location),))


def file_answer(method: str, request: Headers, file: FileContent, extra: tuple[tuple[str, str], ...] = ()) -> Response:
    """200, 206, 304, 412 or 416 for one file that is at hand."""
    planned = plan(method, request, file, extra)
    if isinstance(planned, Response):
        return planned
    pieces = (part if isinstance(part, bytes) else file.content[part[0] : part[0] + part[1]] for part in planned.parts)
    return Response(planned.status, planned.headers, b"".join(pieces))


def plan(
    method: str, request: Headers, file: FileContent, extra: tuple[tuple[str, str], ...] = ()
) -> Response | FilePlan:
    """The same, before any of the file's content is looked at."""
    modified = ("Last-Modified", http_date(file.mtime_s))
    verdict = _condition(method, request, file.mtime_s)
    if verdict is not None:
        return Response(verdict, (*extra, modified))
    media_type = type_of(file.name, file.content)
    size = file.size
    wanted = request.get("range") or ""
    if wanted and not _range_is_current(request, file.mtime_s):
        wanted = ""
    try:
        ranges = parse_ranges(wanted, size)
    except RangeInvalid as error:
        unsatisfied = () if error.overlaps else (("Content-Range", f"bytes */{size}"),)
        return error_text(416, str(error), (*extra, *unsatisfied))
    headers = (*extra, modified, ("Accept-Ranges", "bytes"))
    if not ranges or sum(length for _, length in ranges) > size:
        return FilePlan(200, (*headers, ("Content-Type", media_type)), ((0, size),))
    if len(ranges) == 1:
        start, length = ranges[0]
        span = ("Content-Range", _span(start, length, size))
        return FilePlan(206, (*headers, ("Content-Type", media_type), span), ((start, length),))
    several = ("Content-Type", f"multipart/byteranges; boundary={_BOUNDARY}")
    return FilePlan(206, (*headers, several), tuple(_byte_ranges(size, ranges, media_type)))


def listing(status: int, names: list[str], mtime_s: float) -> Response:
    """A folder as a page of links; folders' names end in a slash."""
    links = "".join(f'<a href="{html.escape(_link(name))}">{html.escape(name)}</a>\n' for name in names)
    page = f'<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n{links}</pre>\n'
    return Response(status, (("Last-Modified", http_date(mtime_s)), ("Content-Type", _HTML)), page.encode())


def http_date(mtime_s: float) -> str:
    return reply.http_date(int(mtime_s))


# --- conditions ------------------------------------------------------------------------------------------------------
def _condition(method: str, request: Headers, mtime_s: float) -> int | None:
    """304 or 412 where a condition says so (RFC 9110 13.2.2). Files have no entity tag: only ``*`` matches."""
    if_match = request.get("if-match")
    if if_match is not None:
        if "*" not in _listed(if_match):
            return 412
    elif _is_after(mtime_s, request.get("if-unmodified-since")):
        return 412
    is_read = method in ("GET", "HEAD")
    if_none_match = request.get("if-none-match")
    if if_none_match is not None:
        return (304 if is_read else 412) if "*" in _listed(if_none_match) else None
    since = _parsed(request.get("if-modified-since"))
    return 304 if is_read and since is not None and int(mtime_s) <= since else None


def _listed(value: str) -> list[str]:
    return [part.strip() for part in value.split(",")]


def _is_after(mtime_s: float, date: str | None) -> bool:
    limit = _parsed(date)
    return limit is not None and int(mtime_s) > limit


def _parsed(date: str | None) -> float | None:
    if date is None:
        return None
    from email.utils import parsedate_to_datetime  # who asks for a file that has not changed needs it, nobody else

    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None


def _range_is_current(request: Headers, mtime_s: float) -> bool:
    if_range = request.get("if-range")
    return if_range is None or _parsed(if_range) == int(mtime_s)


# --- ranges ----------------------------------------------------------------------------------------------------------
def parse_ranges(header: str, size: int) -> list[tuple[int, int]]:
    """(start, length) of each range; none where the whole file is wanted.

    Raises:
        RangeInvalid: not understood, or wholly behind the end of a file that is not empty.
    """
    if not header:
        return []
    unit, equals, listed = header.partition("=")
    if not equals or unit != "bytes":
        raise RangeInvalid("invalid range")
    found, is_behind = [], False
    for part in listed.split(","):
        if part := part.strip():
            span = _parse_range(part, size)
            if span is None:
                is_behind = True
            else:
                found.append(span)
    if is_behind and not found and size > 0:
        raise RangeInvalid(_OVERLAP, overlaps=False)
    # Many small ranges cost more than the file: then it is sent whole.
    return found if len(found) <= RANGES_MAX else []


def _parse_range(part: str, size: int) -> tuple[int, int] | None:
    first, dash, last = (piece.strip() for piece in part.partition("-"))
    if not dash or not all(piece == "" or (piece.isascii() and piece.isdecimal()) for piece in (first, last)):
        raise RangeInvalid("invalid range")
    if not first:
        if not last:
            raise RangeInvalid("invalid range")
        length = min(int(last), size)
        return size - length, length
    start = int(first)
    if start >= size:
        return None
    if last and int(last) < start:
        raise RangeInvalid("invalid range")
    end = min(int(last), size - 1) if last else size - 1
    return start, end - start + 1


def _span(start: int, length: int, size: int) -> str:
    return f"bytes {start}-{start + length - 1}/{size}"


def _byte_ranges(size: int, ranges: list[tuple[int, int]], media_type: str) -> Iterator[bytes | tuple[int, int]]:
    for index, (start, length) in enumerate(ranges):
        lead = "\r\n" if index else ""
        span = _span(start, length, size)
        yield f"{lead}--{_BOUNDARY}\r\nContent-Range: {span}\r\nContent-Type: {media_type}\r\n\r\n".encode()
        yield start, length
    yield f"\r\n--{_BOUNDARY}--\r\n".encode()


def _link(name: str) -> str:
    """A relative link; a colon in its first part would read as a scheme."""
    quoted = quote(name, safe="/$&+,:;=@!*'()~")
    return f"./{quoted}" if ":" in name.partition("/")[0] else quoted
