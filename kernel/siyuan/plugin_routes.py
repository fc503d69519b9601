"""The kernel's routes for kernel plugins: which are loaded, JSON-RPC into them, their private pages (siyuan-api F1).

No plugin of others runs here, so each of these says that there is none; the Sisyphus plugin's own route stands before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kernel.siyuan.api_calls import encoded
from kernel.siyuan.auth import Grant
from kernel.siyuan.dispatch import Envelope
from kernel.siyuan.go_json import BodyUnreadable, read_object
from kernel.siyuan.surface import ANY_METHOD, GET, NOT_FOUND, POST, SurfaceRoute, moved
from kernel.wire import JSON_UTF8, Answer, Exchange, Response

_RPC: Final = "/api/plugin/rpc"
_JSON: Final = (("Content-Type", JSON_UTF8),)
_NOT_LOADED: Final = b'{"jsonrpc":"2.0","error":{"code":-32001,"message":"Plugin not loaded"},"id":null}'
_CODE_NOT_LOADED: Final = 4


def routes() -> Iterator[SurfaceRoute]:
    for path in (_RPC, f"{_RPC}/*"):
        yield SurfaceRoute(path, GET, _loaded_plugin, "auth")
        yield SurfaceRoute(path, POST, _rpc, "admin", is_guarded=True)
    yield SurfaceRoute("/api/plugin", GET, _loaded_plugins, "auth")
    yield SurfaceRoute("/api/plugin/getLoadedPlugin", POST, _loaded_plugin, "auth")
    yield SurfaceRoute("/api/plugin/listLoadedPlugins", POST, _loaded_plugins, "auth")
    for path in ("/ws/plugin/rpc", "/ws/plugin/rpc/*"):
        yield SurfaceRoute(path, GET, _rpc_socket, "admin", is_guarded=True)
    yield SurfaceRoute("/plugin/private/*", ANY_METHOD, _private_page, "admin", is_guarded=True)


async def _loaded_plugins(exchange: Exchange, grant: Grant) -> Answer:
    return Response(200, _JSON, await encoded(Envelope(0, "", None)))


async def _loaded_plugin(exchange: Exchange, grant: Grant) -> Answer:
    request = exchange.request
    name = request.path.removeprefix(_RPC).strip("/") if request.path.startswith(_RPC) else ""
    if "/" in name:
        return NOT_FOUND
    if not name:
        try:
            given = read_object(request.body).get("name")
        except BodyUnreadable as error:
            return Response(
                200, _JSON, await encoded(Envelope(-1, f"Parses request [{request.path}] failed: {error}", None))
            )
        if not isinstance(given, str):
            code, fault = (1, "does not exist") if given is None else (2, "is not a string")
            return Response(200, _JSON, await encoded(Envelope(code, f"Request body prop [name] {fault}", None)))
        if not given:
            return Response(200, _JSON, await encoded(Envelope(3, "Plugin name is required", None)))
        name = given
    return Response(200, _JSON, await encoded(Envelope(_CODE_NOT_LOADED, f"Plugin [{name}] not loaded", None)))


async def _rpc(exchange: Exchange, grant: Grant) -> Answer:
    return Response(200, _JSON, _NOT_LOADED)


async def _rpc_socket(exchange: Exchange, grant: Grant) -> Answer:
    return Response(404, _JSON, _NOT_LOADED)


async def _private_page(exchange: Exchange, grant: Grant) -> Answer:
    request = exchange.request
    name, slash, _ = request.path.removeprefix("/plugin/private/").partition("/")
    if not slash:
        bare, _, query = request.target.partition("?")
        location = f"{bare}/?{query}" if query else f"{bare}/"
        return moved(301, location) if request.method == "GET" else Response(307, (("Location", location),))
    return Response(404, (("Content-Type", "text/plain; charset=utf-8"),), f"[plugin:{name}] not found".encode())
