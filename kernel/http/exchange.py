"""[core] The wire of one connection, sans-IO: bytes in, request heads and body pieces out. h11 is the only parser.

Theory of operation
-------------------
A keep-alive client repeats identical head bytes, and parsing them is most of what a small request costs. So heads are
memoised: ``HeadCache`` maps the bytes of one *plain* head to what h11 made of them. A plain head has nothing that
changes the framing but a Content-Length, so its body is simply the next N bytes and h11 is not needed again. Every
other head (chunked, Expect, Upgrade, ``Connection: close``, HTTP/1.0, credentials that must not linger in a cache) goes
to a live h11 connection together with the bytes behind it, and h11 frames the body. Both ways give the same answers:
a test runs them against each other on arbitrary bytes.

There is one h11 connection per live request; what it has not consumed comes back as the start of the next one.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

import h11

from kernel.http.limits import HEAD_BYTES_MAX, HEAD_CACHE_ENTRIES_MAX, HEAD_CACHE_HEAD_BYTES_MAX
from kernel.wire import Headers

# The end of a head exactly as h11 sees it: bare line feeds count.
_END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NOT_CACHED: Final = frozenset({"cookie", "x-auth-token", "proxy-authorization"})
_TLS_HANDSHAKE: Final = 0x16
# A request line begins with a token: waiting for more of anything else is pointless.
_FIRST_BYTE_MIN: Final = 0x21


class Malformed(Exception):
    """The peer's bytes are no request that can be served: answer ``status`` and close. ``text`` may be empty."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """One parsed request head. Shared between requests: it never changes."""

    method: str
    target: str  # as sent, without scheme and authority
    path: str  # percent-decoded
    query: str
    headers: Headers
    authority: str | None  # of the target if it has one, else the Host header; lower case
    is_http11: bool
    content_length: int
    is_chunked: bool
    expects_continue: bool
    upgrades_to: str  # lower case; empty without an Upgrade header
    is_plain: bool  # only Content-Length frames it, and the connection stays open
    is_cacheable: bool
    has_body: bool
    origin: str | None  # the web page that sent it, if one did


class HeadCache:
    """Head bytes → head, least recently used first out. Shared by all connections of a server."""

    def __init__(
        self, entries_max: int = HEAD_CACHE_ENTRIES_MAX, head_bytes_max: int = HEAD_CACHE_HEAD_BYTES_MAX
    ) -> None:
        self._entries_max = entries_max
        self._head_bytes_max = head_bytes_max
        self._heads: OrderedDict[bytes, Head] = OrderedDict()

    def __len__(self) -> int:
        return len(self._heads)

    def find(self, raw: bytes) -> Head | None:
        head = self._heads.get(raw)
        if head is not None:
            self._heads.move_to_end(raw)
        return head

    def keep(self, raw: bytes, head: Head) -> None:
        if not head.is_cacheable or len(raw) > self._head_bytes_max or self._entries_max == 0:
            return
        if len(self._heads) >= self._entries_max:
            self._heads.popitem(last=False)
        self._heads[raw] = head


class Wire:
    """The receiving side of one connection.

    Call order: ``feed`` what arrives; ``next_head`` until it gives one; ``next_piece`` until it gives ``b""``; again.
    """

    def __init__(self, cache: HeadCache) -> None:
        self._cache = cache
        self._buffer = bytearray()
        self.is_eof = False
        self._live: h11.Connection | None = None
        self._left_bytes = 0
        # How much of the buffer is known to hold no end of head: a byte-by-byte sender must not cost a square.
        self._searched_bytes = 0
        self.keeps_alive = True

    @property
    def is_ended(self) -> bool:
        """Whether the peer has closed its side and left nothing behind."""
        return self.is_eof and not self._buffer

    @property
    def buffered_bytes(self) -> int:
        return len(self._buffer)

    @property
    def is_body_complete(self) -> bool:
        return self._live is None and self._left_bytes == 0

    def feed(self, data: bytes) -> None:
        """Take what the peer sent; ``b""`` is its end of file."""
        if not data:
            self.is_eof = True
        if self._live is not None:
            self._live.receive_data(data)
        else:
            self._buffer += data

    def next_head(self) -> Head | None:
        """The next request's head, or None while it is incomplete.

        Raises:
            Malformed: 400, 431 or 501.
        """
        assert self.is_body_complete, "the last body was not read"
        buffer = self._buffer
        if not buffer:
            return None
        while buffer.startswith(b"\r\n"):  # RFC 9112 2.2: empty lines before a request are ignored
            del buffer[:2]
        found = _END_OF_HEAD.search(buffer, self._searched_bytes, HEAD_BYTES_MAX)
        if found is None:
            self._refuse_hopeless()
            self._searched_bytes = max(0, len(buffer) - 2)
            return None
        self._searched_bytes = 0
        raw = bytes(memoryview(buffer)[: found.end()])
        head = self._cache.find(raw)
        if head is None:
            return self._parse(raw)
        del buffer[: found.end()]
        self._left_bytes = head.content_length
        return head

    def whole_body(self) -> bytes | None:
        """The body of a plain head, if all of it is here; None where it must be had piece by piece."""
        size_bytes = self._left_bytes
        buffer = self._buffer
        if self._live is not None or len(buffer) < size_bytes:
            return None
        body = bytes(buffer) if len(buffer) == size_bytes else bytes(memoryview(buffer)[:size_bytes])
        del buffer[:size_bytes]
        self._left_bytes = 0
        return body

    def next_piece(self) -> bytes | None:
        """The next piece of the body; ``b""`` at its end; None while more must be fed.

        Raises:
            Malformed: a bad chunk, or an end of file in the middle.
        """
        if self._live is not None:
            return self._next_live_piece(self._live)
        if self._left_bytes == 0:
            return b""
        if not self._buffer:
            if self.is_eof:
                raise Malformed(400, "the body ended too early")
            return None
        piece = bytes(memoryview(self._buffer)[: self._left_bytes])
        del self._buffer[: len(piece)]
        self._left_bytes -= len(piece)
        return piece

    @property
    def announced_bytes(self) -> int:
        """How much of the present chunk is still to come; 0 where the head said the length of the whole body."""
        # h11 hands chunks out as they come and keeps what their heads announced to itself.
        return int(getattr(getattr(self._live, "_reader", None), "_bytes_in_chunk", 0))

    def take_rest(self) -> bytes:
        """All bytes behind the current request, which another protocol now owns (an accepted upgrade)."""
        assert self.is_body_complete, "the body was not read"
        rest = bytes(self._buffer)
        self._buffer.clear()
        return rest

    # --- inside ----------------------------------------------------------------------------------------------
    def _refuse_hopeless(self) -> None:
        if len(self._buffer) >= HEAD_BYTES_MAX:
            raise Malformed(431, f"the request head is longer than {HEAD_BYTES_MAX} bytes")
        if self._buffer and self._buffer[0] < _FIRST_BYTE_MIN and self._buffer != b"\r":
            is_tls = self._buffer[0] == _TLS_HANDSHAKE
            raise Malformed(400, "this port speaks plain HTTP, not TLS" if is_tls else "no request line")
        if self.is_eof and self._buffer:
            raise Malformed(400, "the request head ended too early")

    def _parse(self, raw: bytes) -> Head:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
        connection.receive_data(bytes(self._buffer))
        if self.is_eof:
            connection.receive_data(b"")
        event = _next_event(connection)
        if not isinstance(event, h11.Request):
            raise Malformed(400, "no request")
        head = make_head(event)
        if head.is_plain:
            del self._buffer[: len(raw)]
            self._cache.keep(raw, head)
            self._left_bytes = head.content_length
            return head
        self._buffer.clear()
        self._live = connection
        if not head.has_body:
            # Asking for the end now brings back the bytes of the next request.
            self._next_live_piece(connection)
        return head

    def _next_live_piece(self, connection: h11.Connection) -> bytes | None:
        while True:
            event = _next_event(connection)
            if event is h11.NEED_DATA:
                return None
            if isinstance(event, h11.Data):
                if event.data:
                    return bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                break
            else:
                raise Malformed(400, "the body ended too early")
        self.keeps_alive = connection.their_state not in (h11.MUST_CLOSE, h11.CLOSED, h11.ERROR)
        self._buffer += connection.trailing_data[0]
        self._live = None
        return b""


def _next_event(connection: h11.Connection) -> object:
    try:
        return connection.next_event()
    except h11.RemoteProtocolError as error:
        # h11 quotes the offending bytes behind its words; they are the peer's and stay out of the answer.
        raise Malformed(error.error_status_hint, str(error).partition(": b")[0]) from None


def make_head(event: h11.Request) -> Head:
    """What we know of a request from its head.

    Raises:
        Malformed: what h11 lets pass and a server must not (RFC 9112 3.2, 6.1; control characters).
    """
    headers = Headers((name.decode("ascii"), value.decode("latin-1")) for name, value in event.headers)
    for name, value in headers.items:
        if _CONTROL.search(value) is not None:
            raise Malformed(400, f"header {name} holds a control character")
    is_http11 = event.http_version >= b"1.1"
    length = headers.get("content-length")
    is_chunked = "transfer-encoding" in headers
    if is_chunked and (length is not None or not is_http11):
        # Two framings in one message are how requests are smuggled past a proxy.
        raise Malformed(400, "Transfer-Encoding beside Content-Length, or in HTTP/1.0")
    method = event.method.decode("ascii")
    target, authority = _split_target(method, event.target.decode("ascii"))
    if authority is None:
        authority = headers.get("host")
    path, _, query = target.partition("?")
    if _BAD_ESCAPE.search(path) is not None:
        raise Malformed(400, "")  # the kernel's library has no words for a broken escape
    tokens = {token.strip().lower() for value in headers.get_all("connection") for token in value.split(",")}
    expects = headers.get("expect")
    is_plain = (
        not is_chunked and expects is None and "upgrade" not in headers and is_http11 and tokens <= {"keep-alive"}
    )
    content_length = int(length or 0)
    return Head(
        method=method,
        target=target,
        path=unquote(path, errors="replace") if "%" in path else path,
        query=query,
        headers=headers,
        authority=authority.lower() if authority is not None else None,
        is_http11=is_http11,
        content_length=content_length,
        is_chunked=is_chunked,
        expects_continue=_expects_continue(expects) and is_http11,
        upgrades_to=(headers.get("upgrade") or "").lower(),
        is_plain=is_plain,
        is_cacheable=is_plain and not any(name in _NOT_CACHED for name, _ in headers.items),
        has_body=is_chunked or content_length > 0,
        origin=headers.get("origin"),
    )


def _expects_continue(expects: str | None) -> bool:
    if expects is None:
        return False
    if expects.lower() != "100-continue":
        raise Malformed(417, "only 100-continue can be expected")
    return True


def _split_target(method: str, target: str) -> tuple[str, str | None]:
    """Origin form and, for an absolute-form target, its authority, which then outranks Host (RFC 9112 3.2.2)."""
    if target.startswith("/"):
        return target.partition("#")[0], None
    if target == "*" and method == "OPTIONS":
        return target, None
    try:
        parts = urlsplit(target)
        is_absolute = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_absolute = False
    if method == "CONNECT" or not is_absolute:
        raise Malformed(400, "the request target must be a path")
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), parts.netloc.rpartition("@")[2]
