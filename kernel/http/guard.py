"""[core] Who may talk to the port: the Host guard before everything, the Origin guard and CORS of the plugin surface.

A web page may make a browser send requests to a local port. The Host guard stops the pages that got here by DNS
rebinding, the Origin guard the ones that came directly. Both judge the URL authority only; X-Forwarded-* is the
client's word and never looked at. The kernel's own surface has the kernel's own rules (decision 37).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from kernel.http.reply import plain
from kernel.settings import allowed_host, is_loopback, split_authority
from kernel.wire import Response

_WILDCARDS: Final = frozenset({"0.0.0.0", "::", ""})
# Request headers a browser client of the plugin surface may send (mcp-requirements 2.11); mcp-param-* comes on top.
_ALLOWED_HEADERS: Final = (
    "authorization",
    "content-type",
    "accept",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "last-event-id",
)
_PARAMETER_PREFIX: Final = "mcp-param-"
_PREFLIGHT_S: Final = "600"


def is_loopback_origin(origin: str) -> bool:
    """Whether an Origin header names a page that this machine serves (any port, http or https)."""
    try:
        parts = urlsplit(origin)
        _ = parts.port
    except ValueError:
        return False
    is_origin = parts.scheme in ("http", "https") and not (parts.path or parts.query or parts.fragment)
    return is_origin and "@" not in parts.netloc and is_loopback((parts.hostname or "").lower())


class HostGuard:
    """Which Host a request may name: loopback, the bound addresses, and those the operator allows.

    Bound to a wildcard, any address literal will do: rebinding needs a name.
    """

    def __init__(self, bound: Iterable[str] = (), allowed: Iterable[str] = ()) -> None:
        bound_hosts = {host.lower() for host in bound}
        self._is_wildcard = not bound_hosts.isdisjoint(_WILDCARDS)
        self._names = (bound_hosts - _WILDCARDS) | {allowed_host(host) for host in allowed}
        self._judge = lru_cache(maxsize=256)(self._verdict)

    def refusal(self, authority: str | None) -> Response | None:
        """None where the request may pass; else 400 or 421. Only HTTP/1.0 gets here without a Host, and passes."""
        return None if authority is None else self._judge(authority)

    def _verdict(self, authority: str) -> Response | None:
        host = split_authority(authority)
        if host is None:
            return plain(400, "The Host header is not a host.", closes=True)
        if is_loopback(host) or host in self._names or (self._is_wildcard and _is_address(host)):
            return None
        text = f"This server is not {host}. If it should be, start it with --allowed-host {host}."
        return plain(421, text, closes=True)


class OriginGuard:
    """Which web pages may use the plugin surface, and what their browsers are told.

    ``allowed`` is asked anew for each request: the list is a setting that may change while we run.
    """

    def __init__(self, allowed: Callable[[], Collection[str]] = tuple) -> None:
        self._allowed = allowed

    def is_allowed(self, origin: str | None) -> bool:
        return origin is None or is_loopback_origin(origin) or origin in self._allowed()

    def refusal(self, origin: str | None) -> Response | None:
        if self.is_allowed(origin):
            return None
        text = "This origin may not use the endpoint. Add it to kernelOptions.allowedOrigins if it should."
        return plain(403, text, headers=(("Vary", "Origin"),), closes=False)

    def answer_headers(self, origin: str | None) -> tuple[tuple[str, str], ...]:
        """What an answer to an allowed page must carry so that its script may read it."""
        if origin is None:
            return ()
        return (
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After"),
            ("Vary", "Origin"),
        )

    def preflight(self, origin: str | None, methods: Iterable[str], requested: str) -> Response:
        """The answer to OPTIONS (no credentials asked). ``requested``: Access-Control-Request-Headers."""
        if (refusal := self.refusal(origin)) is not None:
            return refusal
        asked = (name.strip().lower() for name in requested.split(","))
        parameters = (name for name in asked if name.startswith(_PARAMETER_PREFIX) and _is_token(name))
        allow = ", ".join(sorted({*methods, "OPTIONS"}))
        headers = self.answer_headers(origin)
        if origin is not None:
            headers += (
                ("Access-Control-Allow-Methods", allow),
                ("Access-Control-Allow-Headers", ", ".join((*_ALLOWED_HEADERS, *parameters))),
                ("Access-Control-Max-Age", _PREFLIGHT_S),
            )
        return Response(204, (("Allow", allow), *headers))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_token(name: str) -> bool:
    return name.replace("-", "").replace("_", "").isalnum() and name.isascii()
