"""[core] The kernel's routes as a table: which methods, who may call, and where a request without a route is sent.

The router's own redirects go out bare, without the kernel's CORS headers (kernel-facts, HTTP).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final, Protocol

import msgspec

from kernel.endpoints import Guard
from kernel.limits import API_JSON_BODY_BYTES_MAX, API_UPLOAD_BODY_BYTES_MAX
from kernel.siyuan.auth import Grant
from kernel.wire import Answer, Exchange, Headers, Response

CORS: Final = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Allow-Credentials", "true"),
    ("Access-Control-Allow-Headers", "origin, Content-Length, Content-Type, Authorization"),
    ("Access-Control-Allow-Private-Network", "false"),
    ("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, CONNECT, OPTIONS, TRACE"),
)
PREFLIGHT: Final = Response(204, (*CORS, ("Access-Control-Max-Age", "600")))
NOT_FOUND: Final = Response(404, (("Content-Type", "text/plain"),), b"404 page not found")
ANY_METHOD: Final = frozenset({"GET", "POST", "PUT", "PATCH", "HEAD", "OPTIONS", "DELETE", "CONNECT", "TRACE"})
GET: Final = frozenset({"GET"})
GET_HEAD: Final = frozenset({"GET", "HEAD"})
POST: Final = frozenset({"POST"})

SurfaceHandler = Callable[[Exchange, Grant], Awaitable[Answer]]


class RequestHead(Protocol):
    """What is known of a request before its body (``kernel.http.exchange.Head``)."""

    @property
    def method(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def query(self) -> str: ...
    @property
    def headers(self) -> Headers: ...


class SurfaceRoute(msgspec.Struct, frozen=True, eq=False):
    """One route. ``path`` is exact, or ends in ``/*`` for a subtree with its root; ``is_guarded``: read-only refuses it."""

    path: str
    methods: frozenset[str]
    handle: SurfaceHandler
    guard: Guard = "auth"
    is_guarded: bool = False
    json_bytes_max: int = API_JSON_BODY_BYTES_MAX
    form_bytes_max: int = API_UPLOAD_BODY_BYTES_MAX


class SurfaceTable:
    """Routes by method and path. The kernel keeps one tree per method: an unknown method finds nothing at all."""

    def __init__(self, routes: Iterable[SurfaceRoute]) -> None:
        self._exact: dict[tuple[str, str], SurfaceRoute] = {}
        self._subtrees: dict[tuple[str, str], SurfaceRoute] = {}
        for route in routes:
            for method in route.methods:
                table = self._subtrees if route.path.endswith("/*") else self._exact
                key = (method, route.path.removesuffix("*"))
                if key in table:
                    raise ValueError(f"{method} {route.path} is routed twice")
                table[key] = route
        self._prefixes = sorted({prefix for _, prefix in self._subtrees}, key=len, reverse=True)

    def find(self, method: str, path: str) -> SurfaceRoute | None:
        route = self._exact.get((method, path))
        if route is not None:
            return route
        for prefix in self._prefixes:
            if path.startswith(prefix):
                route = self._subtrees.get((method, prefix))
                if route is not None:
                    return route
        return None

    def redirect(self, head: RequestHead) -> Response | None:
        """The kernel sends a path that differs from a route by its last slash there: 301 for GET, 307 for the rest."""
        path = head.path
        other = path[:-1] if path.endswith("/") and len(path) > 1 else f"{path}/"
        if self.find(head.method, other) is None:
            return None
        bare = head.target.partition("?")[0]
        location = bare[:-1] if path.endswith("/") else f"{bare}/"
        if head.query:
            location = f"{location}?{head.query}"
        return moved(301, location) if head.method == "GET" else Response(307, (("Location", location),))


def moved(status: int, location: str) -> Response:
    """A redirect with the page that the kernel's library writes for GET."""
    words = {301: "Moved Permanently", 302: "Found", 308: "Permanent Redirect"}[status]
    page = f'<a href="{_escaped(location)}">{words}</a>.\n\n'
    return Response(status, (("Location", location), ("Content-Type", "text/html; charset=utf-8")), page.encode())


def _escaped(text: str) -> str:
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&#34;"), ("'", "&#39;")):
        text = text.replace(char, entity)
    return text


def handshake_refusal(headers: Headers) -> Response | None:
    """None where a request asks for a WebSocket; else what the kernel answers to anything else."""
    tokens = {token.strip().lower() for value in headers.get_all("connection") for token in value.split(",")}
    is_handshake = (
        "upgrade" in tokens
        and (headers.get("upgrade") or "").lower() == "websocket"
        and headers.get("sec-websocket-version") == "13"
        and bool(headers.get("sec-websocket-key"))
    )
    if is_handshake:
        return None
    typed = (("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"))
    return Response(400, (*typed, ("Sec-Websocket-Version", "13")), b"Bad Request\n")
