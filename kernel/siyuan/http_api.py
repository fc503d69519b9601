"""The kernel's own HTTP surface: authentication in front, /api/* into ``dispatch``, everything else beside it.

``KernelSurface.resolve`` is what the server's router falls back to; ``authorize`` guards the plugin's routes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import trio
from msgspec.structs import replace

from kernel.http.gzip import ENCODING, VARY, compressed, wants_gzip
from kernel.siyuan import api_calls, broadcast_routes, dav_routes, login, plugin_routes, push_socket, statics
from kernel.siyuan.auth import AccessRules, Grant, check_access
from kernel.siyuan.broadcast import broadcast_of
from kernel.siyuan.file_answers import is_error_text
from kernel.siyuan.file_streams import is_file, packed
from kernel.siyuan.limits import INLINE_BYTES_MAX
from kernel.siyuan.sessions import SessionSeal
from kernel.siyuan.surface import (
    CORS,
    NOT_FOUND,
    PREFLIGHT,
    RequestHead,
    SurfaceRoute,
    SurfaceTable,
)
from kernel.wire import (
    JSON_UTF8,
    Answer,
    Exchange,
    Handler,
    Request,
    Response,
    Route,
    StreamResponse,
    WebSocketResponse,
)

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

READ_ONLY: Final = Response(
    200,
    (("Content-Type", JSON_UTF8),),
    b'{"cmd":"","reqId":0,"app":"","sid":"","pushMode":0,"callback":"","code":-1,'
    b'"msg":"This operation is not supported in read-only mode","data":{"closeTimeout":5000}}',
)
COOKIE_KEY_CHARS: Final = 16
_FORBIDDEN: Final = Response(403)
_FORM: Final = "multipart/"


class KernelSurface:
    """All routes of the emulated kernel. ``extra`` are routes that others bring (the official /mcp)."""

    def __init__(self, kernel: SiyuanKernel, extra: Iterable[SurfaceRoute] = ()) -> None:
        self._kernel = kernel
        if kernel.options.access_code:
            kernel.workspace.conf.values["accessAuthCode"] = kernel.options.access_code
        self._workspace_name = PurePath(kernel.workspace.files.absolute("")).name
        self._seal = SessionSeal(_cookie_key(kernel))
        self._rules = AccessRules("", "", self._workspace_name, self._seal)
        self._login = login.Login(kernel, self._seal)
        self._table = SurfaceTable(
            [
                *extra,
                *self._login.routes(),
                *api_calls.routes(kernel, served_elsewhere=self._login.paths),
                *statics.routes(kernel),
                *push_socket.routes(kernel, self._access_rules),
                *broadcast_routes.routes(kernel),
                *plugin_routes.routes(),
                *dav_routes.routes(kernel),
            ]
        )
        self._routes: dict[tuple[SurfaceRoute, bool], Route] = {}

    def resolve(self, head: RequestHead) -> Route | Answer:
        """The route of a request, or the answer where none is needed. Synchronous; the server's resolver."""
        if head.method == "OPTIONS" and not dav_routes.is_dav(head.target):
            return PREFLIGHT
        route = self._table.find(head.method, head.path)
        if route is None:
            redirect = self._table.redirect(head)
            return redirect if redirect is not None else _missing(head)
        is_form = (head.headers.get("content-type") or "").startswith(_FORM)
        found = self._routes.get((route, is_form))
        if found is None:
            bytes_max = route.form_bytes_max if is_form else route.json_bytes_max
            found = Route(route.path, route.methods, self._guarded(route), bytes_max)
            self._routes[route, is_form] = found
        return found

    def authorize(self, request: Request) -> Response | None:
        """For the plugin's routes: None lets pass, else the refusal. The Origin is judged by their own guard."""
        grant = check_access(request, self._access_rules(), wall_ms=self._kernel.clock.wall_ms(), judges_origin=False)
        if isinstance(grant, Response):
            return grant
        return None if grant.is_admin else _FORBIDDEN

    def _access_rules(self) -> AccessRules:
        rules, values = self._rules, self._kernel.workspace.conf.values
        token, access_code = str(values["api"]["token"]), str(values.get("accessAuthCode") or "")
        if token != rules.token or access_code != rules.access_code:
            rules = self._rules = AccessRules(token, access_code, self._workspace_name, self._seal)
        return rules

    def _guarded(self, route: SurfaceRoute) -> Handler:
        async def handle(exchange: Exchange) -> Answer:
            admitted = self._admit(exchange.request, route)
            answer = admitted if isinstance(admitted, Response) else await route.handle(exchange, admitted)
            return await _finished(answer, exchange.request)

        return handle

    def _admit(self, request: Request, route: SurfaceRoute) -> Grant | Response:
        """In the kernel's order: who is it, may he, may anyone."""
        grant = Grant(is_admin=False)
        if route.guard != "public":
            checked = check_access(request, self._access_rules(), wall_ms=self._kernel.clock.wall_ms())
            if isinstance(checked, Response):
                return checked
            grant = checked
        if route.guard == "admin" and not grant.is_admin:
            return _FORBIDDEN
        if route.is_guarded and self._kernel.options.is_readonly:
            return READ_ONLY
        return grant


def end_streams(kernel: SiyuanKernel) -> None:
    """End the streams that would go on for ever: at the end of the server, before it is drained."""
    broadcast_of(kernel).end()
    for session in kernel.push.sessions:
        session.end()


def _cookie_key(kernel: SiyuanKernel) -> bytes:
    """The workspace's cookie key, made at the first start. It never leaves: what seals is derived from it."""
    conf = kernel.workspace.conf
    if not conf.values.get("cookieKey"):
        conf.values["cookieKey"] = kernel.ids.text(COOKIE_KEY_CHARS)
        conf.save()
        kernel.workspace.files.flush()
    return hashlib.sha256(f"cookie\0{conf.values['cookieKey']}".encode()).digest()


async def _finished(answer: Answer, request: Request) -> Answer:
    """The answer as it goes out: with the kernel's CORS headers, and in gzip where the request has the word."""
    if isinstance(answer, WebSocketResponse):
        return answer  # the handshake's answer has none of them
    if isinstance(answer, StreamResponse):
        streamed = StreamResponse(answer.status, (*answer.headers, *CORS), answer.produce)
        return packed(streamed) if is_file(answer) and wants_gzip(request.path, request.headers) else streamed
    whole = Response(answer.status, (*answer.headers, *CORS), answer.body, answer.closes)
    if not wants_gzip(request.path, request.headers):
        return whole
    if answer.status == 304:
        return replace(whole, headers=(*whole.headers, VARY))
    pack = partial(compressed, whole, says_so=not is_error_text(answer))
    return pack() if len(whole.body) <= INLINE_BYTES_MAX else await trio.to_thread.run_sync(pack)


def _missing(head: RequestHead) -> Response:
    """No such route. Asked for gzip, the real kernel loses status and text on the way (measured): so do we."""
    if wants_gzip(head.path, head.headers):
        return Response(200, (*NOT_FOUND.headers, *CORS, ENCODING, VARY))
    return replace(NOT_FOUND, headers=(*NOT_FOUND.headers, *CORS))
