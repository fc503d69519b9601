"""HTTP messages as values: what crosses between the server and everything above it.

The server (``kernel.http``) makes ``Exchange`` objects and writes answers; the MCP endpoint and the emulated kernel
only see these shapes. Does no I/O itself.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import msgspec

T = TypeVar("T")

JSON_TYPE: Final = "application/json"
JSON_UTF8: Final = "application/json; charset=utf-8"
EVENT_STREAM: Final = "text/event-stream"


class Headers:
    """Request headers: lower-case names, values stripped of optional white space, order and repeats kept."""

    __slots__ = ("_derived", "_first", "items")

    def __init__(self, items: Iterable[tuple[str, str]] = ()) -> None:
        self.items: tuple[tuple[str, str], ...] = tuple(items)
        # The first of several wins, so the last to be entered is the first.
        self._first = dict(reversed(self.items))
        self._derived: dict[Callable[[Headers], Any], Any] = {}

    def get(self, name: str, default: str | None = None) -> str | None:
        """The first value of ``name`` (given in lower case)."""
        return self._first.get(name, default)

    def get_all(self, name: str) -> list[str]:
        return [value for key, value in self.items if key == name]

    def derived(self, derive: Callable[[Headers], T]) -> T:
        """``derive(self)``, worked out once: a client sends the same head again and again, and they share this object.

        ``derive`` looks at nothing else, and is a function of a module: one entry each is kept.
        """
        try:
            known: T = self._derived[derive]
        except KeyError:
            known = self._derived[derive] = derive(self)
        return known

    def __contains__(self, name: object) -> bool:
        return name in self._first


class Request(msgspec.Struct, frozen=True):
    """One HTTP request, its body already read and bounded (empty where the route streams it)."""

    method: str
    target: str  # as sent: path and query, still percent-encoded
    path: str  # percent-decoded, without the query
    query: str  # raw, without the question mark
    headers: Headers
    body: bytes = b""
    peer: str = "127.0.0.1"  # the client's address
    scheme: str = "http"


class Exchange(Protocol):
    """One request being answered. Handlers get it; only the server makes it."""

    @property
    def request(self) -> Request: ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body piece by piece; only on routes that stream (``Route.streams_body``). Who stops early closes it.

        Raises:
            BodyTooLarge: the route's bound is passed.
            ClientGone: the client went away while sending.
        """
        ...

    def watch_disconnect(self, gone: Callable[[], None]) -> AbstractContextManager[None]:
        """While the block runs, call ``gone`` (once, synchronously) when the client closes or resets.

        Bytes that arrive meanwhile are a pipelined request, not a disconnect; an end of file is one.
        """
        ...


class StreamWriter(Protocol):
    """The sending side of a streamed answer."""

    async def send(self, data: bytes) -> None:
        """Write one piece. A cancelled send ruins the connection, which is then closed.

        Raises:
            ClientGone: the client went away.
        """
        ...


class WebSocket(Protocol):
    """An accepted WebSocket connection (the handshake is already answered)."""

    async def receive(self) -> str | bytes:
        """The next message. Raises ClientGone after the close."""
        ...

    async def send(self, message: str | bytes) -> None: ...

    async def aclose(self, code: int = 1000, reason: str = "") -> None: ...


class ClientGone(Exception):
    """The peer closed or reset the connection."""


class BodyTooLarge(Exception):
    """The request body is longer than its route allows (413)."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"the body is longer than {limit_bytes} bytes")
        self.limit_bytes = limit_bytes


class Response(msgspec.Struct, frozen=True):
    """A whole answer. ``Content-Length`` and ``Date`` are the server's business."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    # Ends the connection after this answer (malformed input, refused bodies).
    closes: bool = False


class StreamResponse(msgspec.Struct, frozen=True):
    """An answer that is produced while it is sent (SSE, downloads); chunked unless a length is given."""

    status: int
    headers: tuple[tuple[str, str], ...]
    produce: Callable[[StreamWriter], Awaitable[None]]


class WebSocketResponse(msgspec.Struct, frozen=True):
    """Accept the upgrade and run ``serve`` until it returns."""

    serve: Callable[[WebSocket], Awaitable[None]]
    headers: tuple[tuple[str, str], ...] = ()


Answer = Response | StreamResponse | WebSocketResponse
Handler = Callable[[Exchange], Awaitable[Answer]]


class Route(msgspec.Struct, frozen=True):
    """Where a request goes. ``path`` is exact, or ends in ``/*`` for a whole subtree."""

    path: str
    methods: frozenset[str]
    handler: Handler
    body_bytes_max: int
    streams_body: bool = False
    # Which Origin/CORS rules apply: the kernel's own ("kernel") or the plugin's ("plugin"), decision 37.
    surface: str = "kernel"
    # Whether fault points strike here; never on the route that controls them.
    has_fault_points: bool = True


@dataclass(slots=True)
class RecordedWriter:
    """A StreamWriter that keeps what it is given (tests, in-process clients)."""

    sent: list[bytes] = field(default_factory=list)

    async def send(self, data: bytes) -> None:
        self.sent.append(data)


def json_response(status: int, body: bytes, headers: tuple[tuple[str, str], ...] = (), **options: Any) -> Response:
    """A JSON answer with the type that MCP asks for."""
    return Response(status, (("Content-Type", JSON_TYPE), *headers), body, **options)
