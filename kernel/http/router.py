"""[core] Where a request goes: exact paths, then the longest subtree, behind the guards. Does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from kernel.http.exchange import Head
from kernel.http.guard import HostGuard, OriginGuard
from kernel.http.limits import HEAD_CACHE_ENTRIES_MAX
from kernel.http.reply import plain
from kernel.wire import Answer, Exchange, Handler, Response, Route, StreamResponse, WebSocketResponse

# What the server is given: a head in, a route or an answer that needs no body out.
Resolver = Callable[[Head], "Route | Answer"]

# Two of these cannot both be meant, and whoever looks at one of them may have meant the other.
_SINGLE: Final = ("origin", "content-type", "x-sisyphus-file-name")
# The kernel's own words for an unknown route: no charset, no line end (18 bytes).
NOT_FOUND: Final = Response(404, (("Content-Type", "text/plain"),), b"404 page not found")


def not_found(head: Head) -> Answer:
    """The last resort: 404 as the kernel answers."""
    return NOT_FOUND


class RouteTable:
    """Routes by path: an exact one wins, then the longest subtree (``/x/*`` holds ``/x/`` and all below it)."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._exact: dict[str, Route] = {}
        self._subtrees: dict[str, Route] = {}
        for route in routes:
            table, key = (self._subtrees, route.path[:-1]) if route.path.endswith("/*") else (self._exact, route.path)
            if key in table:
                raise ValueError(f"{route.path} is routed twice")
            table[key] = route
        self._prefixes = sorted(self._subtrees, key=len, reverse=True)

    def find(self, path: str) -> Route | None:
        route = self._exact.get(path)
        if route is not None:
            return route
        for prefix in self._prefixes:
            if path.startswith(prefix):
                return self._subtrees[prefix]
        return None


class Router:
    """The resolver of the whole port: Host guard, the plugin's routes, then whatever else is served here."""

    def __init__(
        self,
        routes: Iterable[Route] = (),
        *,
        hosts: HostGuard | None = None,
        origins: OriginGuard | None = None,
        otherwise: Resolver = not_found,
    ) -> None:
        self._table = RouteTable(routes)
        self._hosts = hosts or HostGuard()
        self._origins = origins or OriginGuard()
        self._otherwise = otherwise
        self._resolve_again = lru_cache(maxsize=HEAD_CACHE_ENTRIES_MAX)(self._resolve)

    def resolve(self, head: Head) -> Route | Answer:
        """The route that answers ``head``, or the answer itself where no handler is needed."""
        # Routes and the Host guard never change; which pages may come is a setting.
        if head.is_cacheable and head.origin is None:
            return self._resolve_again(head)
        return self._resolve(head)

    def _resolve(self, head: Head) -> Route | Answer:
        refusal = self._hosts.refusal(head.authority)
        if refusal is not None:
            return refusal
        route = self._table.find(head.path)
        if route is None:
            return self._otherwise(head)
        if route.surface != "plugin":
            return route if head.method in route.methods else NOT_FOUND
        return self._on_plugin_surface(head, route)

    def _on_plugin_surface(self, head: Head, route: Route) -> Route | Answer:
        origin = head.origin
        if head.method == "OPTIONS":
            requested = head.headers.get("access-control-request-headers") or ""
            return self._origins.preflight(origin, route.methods, requested)
        refusal = self._origins.refusal(origin)
        if refusal is not None:
            return refusal
        added = self._origins.answer_headers(origin)
        for name in _SINGLE:
            if len(head.headers.get_all(name)) > 1:
                return plain(400, f"The header {name} stands there more than once.", headers=added)
        if head.method not in route.methods:
            allow = ("Allow", ", ".join(sorted(route.methods)))
            return Response(405, (("Content-Type", "text/plain"), allow, *added), b"405 method not allowed")
        return replace(route, handler=_adding(added, route.handler)) if added else route


def _adding(headers: tuple[tuple[str, str], ...], handler: Handler) -> Handler:
    async def handle(exchange: Exchange) -> Answer:
        return with_headers(await handler(exchange), headers)

    return handle


def with_headers(answer: Answer, headers: tuple[tuple[str, str], ...]) -> Answer:
    """The same answer with more headers."""
    if isinstance(answer, Response | StreamResponse | WebSocketResponse):
        return replace(answer, headers=(*answer.headers, *headers))
    raise TypeError(f"a handler answered {answer!r}")
