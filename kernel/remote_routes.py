"""What our address answers in front of another SiYuan: nothing of that kernel is here (decision 2). Only the files of its
exports are passed on, piece by piece, to whoever saves them (R187, R188)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final
from urllib.parse import quote

from kernel.host.base import Host, HostError, HostHttpError
from kernel.host.streams import closing_stream
from kernel.http.exchange import Head
from kernel.http.router import Resolver
from kernel.json_text import read_json
from kernel.limits import CONTROL_BODY_BYTES_MAX
from kernel.wire import Answer, Exchange, Handler, Response, Route, StreamResponse, StreamWriter, json_response

GET_FILE: Final = "/api/file/getFile"
# Whether we are there, and what we stand for.
_OWN: Final = frozenset({"/api/system/bootProgress", "/api/system/version"})
# Where exports lie in the workspace, and where a kernel serves them.
_SERVED: Final = {"/temp/export/": "/export/", "/data/assets/": "/assets/"}
_OCTETS: Final = (("Content-Type", "application/octet-stream"),)


def remote_resolver(host_url: str, get_file: Handler, surface: Resolver) -> Resolver:
    """Everything but the plugin's routes. ``get_file``: already behind the credential."""
    files = Route(GET_FILE, frozenset({"POST"}), get_file, CONTROL_BODY_BYTES_MAX)
    words = f"The notes are at {host_url}: this address serves the plugin's endpoint only."
    elsewhere = _refusal(404, -1, words)

    def resolve(head: Head) -> Route | Answer:
        if head.path in _OWN:
            return surface(head)
        return files if head.path == GET_FILE and head.method == "POST" else elsewhere

    return resolve


def exported_file(host: Host) -> Handler:
    """``{path}`` of an export or an asset → its bytes; the kernel's own 202 envelope where there is none."""

    async def handle(exchange: Exchange) -> Answer:
        served = _served(exchange.request.body)
        if served is None:
            return _refusal(202, 403, "Only exports and assets are passed on.")
        pieces = host.stream_static(served)
        try:
            first = await anext(pieces, b"")
        except HostHttpError as error:
            return _refusal(202, 404, error.message) if error.status == 404 else _refusal(502, -1, error.message)
        except HostError as error:
            return _refusal(502, -1, error.message)
        return StreamResponse(200, _OCTETS, _sending(first, pieces))

    return handle


def _sending(first: bytes, left: AsyncIterator[bytes]) -> Callable[[StreamWriter], Awaitable[None]]:
    """Sends what has come and what still comes; a transfer that breaks off breaks ours off."""

    async def produce(writer: StreamWriter) -> None:
        async with closing_stream(left) as pieces:
            if first:
                await writer.send(first)
            async for piece in pieces:
                await writer.send(piece)

    return produce


def _served(body: bytes) -> str | None:
    try:
        path = read_json(body)["path"]
    except (ValueError, LookupError, TypeError):
        return None
    if not isinstance(path, str) or any(part in ("", ".", "..") for part in path.split("/")[1:]):
        return None
    for stored, served in _SERVED.items():
        if path.startswith(stored):
            return served + quote(path.removeprefix(stored), safe="/", errors="replace")
    return None


def _refusal(status: int, code: int, words: str) -> Response:
    return json_response(status, json.dumps({"code": code, "msg": words, "data": None}).encode())
