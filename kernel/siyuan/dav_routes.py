"""WebDAV, CalDAV and CardDAV are not served (decision 57). What guards them is, and the well-known redirects are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kernel.siyuan.auth import Grant
from kernel.siyuan.surface import ANY_METHOD, SurfaceRoute, moved
from kernel.wire import Answer, Exchange, Response

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

_PREFIXES: Final = ("/webdav", "/caldav", "/carddav")
_READING: Final = frozenset({"OPTIONS", "HEAD", "GET", "PROPFIND", "REPORT"})
_METHODS: Final = frozenset(
    [
        "OPTIONS",
        "HEAD",
        "GET",
        "POST",
        "PUT",
        "DELETE",
        "MKCOL",
        "COPY",
        "MOVE",
        "LOCK",
        "UNLOCK",
        "PROPFIND",
        "PROPPATCH",
        "REPORT",
    ]
)
_NOT_SERVED: Final = Response(
    501, (("Content-Type", "text/plain; charset=utf-8"),), b"WebDAV is not part of this server; use /api/file.\n"
)
_WELL_KNOWN: Final = {
    "/.well-known/caldav": "/caldav/principals/main",
    "/.well-known/carddav": "/carddav/principals/main",
}


def is_dav(target: str) -> bool:
    """Whether a target belongs to DAV, which answers OPTIONS by itself."""
    return target.startswith(_PREFIXES)


def routes(kernel: SiyuanKernel) -> Iterator[SurfaceRoute]:
    async def serve(exchange: Exchange, grant: Grant) -> Answer:
        return _answer(exchange.request.method, is_readonly=kernel.options.is_readonly)

    for prefix in _PREFIXES:
        yield SurfaceRoute(f"{prefix}/*", _METHODS, serve, "admin")
    for path in _WELL_KNOWN:
        yield SurfaceRoute(path, ANY_METHOD, _well_known, "public")


def _answer(method: str, *, is_readonly: bool) -> Response:
    if is_readonly and method not in _READING:
        return Response(403)
    if method in ("GET", "HEAD"):
        # Nothing is there, for there is no DAV tree.
        return Response(404, (("Content-Type", "text/plain; charset=utf-8"),), b"Not Found")
    return _NOT_SERVED


async def _well_known(exchange: Exchange, grant: Grant) -> Answer:
    return moved(308, _WELL_KNOWN[exchange.request.path])
