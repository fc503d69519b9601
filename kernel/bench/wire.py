"""The client's side of HTTP/1.1, as lean as a load generator needs it: bytes to complete answers, sans-IO. [core]

h11 costs a client more than the server under test spends on a trivial call; the generator must not be the slower one.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kernel.bench.limits import BODY_BYTES_MAX, HEAD_BYTES_MAX

_HEAD_END: Final = b"\r\n\r\n"
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})[ \r]")
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n")
_CHUNKED: Final = re.compile(rb"(?i)\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n")
_CLOSES: Final = re.compile(rb"(?i)\r\nconnection:[ \t]*close[ \t]*\r\n")
_CHUNK_LINE_BYTES_MAX: Final = 1024
_WITHOUT_BODY: Final = frozenset({204, 304})


class BadAnswer(Exception):
    """The bytes are no HTTP answer that this reader takes; the message says why."""


class Reply(NamedTuple):
    """One answer. ``closes``: the server ends the connection after it."""

    status: int
    body: bytes
    closes: bool = False


class ReplyReader:
    """Feed it what arrives; it gives each answer once it is whole. One answer is expected at a time."""

    __slots__ = ("_body", "_buffer", "_closes", "_left", "_status")

    def __init__(self) -> None:
        self._buffer = b""
        self._status = 0  # 0: between answers
        self._left = 0  # bytes of the body that are missing; -1: chunked, -2: until the end of the connection
        self._closes = False
        self._body: list[bytes] = []

    def feed(self, data: bytes) -> Reply | None:
        """Take bytes; the answer that they complete, if they do.

        Raises:
            BadAnswer: no HTTP answer, or one past the bounds.
        """
        self._buffer = self._buffer + data if self._buffer else data
        if not self._status and not self._begin():
            return None
        if self._left >= 0:
            return self._take_counted()
        return self._take_chunks() if self._left == -1 else None

    def end(self) -> Reply | None:
        """The connection has ended: the answer that only this completes, if there is one."""
        if self._status and self._left == -2:
            self._closes = True
            body, self._buffer = self._buffer, b""
            return self._finish(body)
        return None

    def _begin(self) -> bool:
        end = self._buffer.find(_HEAD_END)
        if end < 0:
            if len(self._buffer) > HEAD_BYTES_MAX:
                raise BadAnswer(f"a head of more than {HEAD_BYTES_MAX} bytes")
            return False
        head, self._buffer = self._buffer[: end + 4], self._buffer[end + 4 :]
        found = _STATUS.match(head)
        if found is None:
            raise BadAnswer(f"no status line: {head[:40]!r}")
        status = int(found[1])
        if status < 200:
            return self._begin() if self._buffer else False
        self._status, self._closes = status, _CLOSES.search(head) is not None
        self._left = 0 if status in _WITHOUT_BODY else _length_of(head)
        return True

    def _take_counted(self) -> Reply | None:
        if len(self._buffer) < self._left:
            return None
        body, self._buffer = self._buffer[: self._left], self._buffer[self._left :]
        return self._finish(body)

    def _take_chunks(self) -> Reply | None:
        while True:
            line, found, rest = self._buffer.partition(b"\r\n")
            if not found:
                if len(line) > _CHUNK_LINE_BYTES_MAX:
                    raise BadAnswer("a chunk line without an end")
                return None
            try:
                size = int(line.partition(b";")[0], 16)
            except ValueError:
                raise BadAnswer(f"no chunk size: {line[:40]!r}") from None
            if size > BODY_BYTES_MAX:
                raise BadAnswer(f"a chunk of {size} bytes")
            if len(rest) < size + 2:
                return None
            self._buffer = rest[size + 2 :]
            if size == 0:
                return self._finish(b"".join(self._body))
            self._body.append(rest[:size])

    def _finish(self, body: bytes) -> Reply:
        reply = Reply(self._status, body, self._closes)
        self._status, self._left, self._body = 0, 0, []
        return reply


def _length_of(head: bytes) -> int:
    if (found := _LENGTH.search(head)) is not None:
        length = int(found[1])
        if length > BODY_BYTES_MAX:
            raise BadAnswer(f"a body of {length} bytes")
        return length
    return -1 if _CHUNKED.search(head) is not None else -2


def request(method: str, target: str, host: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """One request as bytes."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + _HEAD_END + body
