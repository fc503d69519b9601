"""Listening to broadcast channels: /ws/broadcast and /es/broadcast/subscribe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

import trio

from kernel.http.sse import EventStream
from kernel.siyuan.auth import Grant
from kernel.siyuan.broadcast import broadcast_of
from kernel.siyuan.outbox import Outbox
from kernel.siyuan.surface import GET, SurfaceRoute, handshake_refusal
from kernel.wire import (
    EVENT_STREAM,
    Answer,
    ClientGone,
    Exchange,
    StreamResponse,
    StreamWriter,
    WebSocket,
    WebSocketResponse,
)

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

_HEADERS: Final = (("Content-Type", EVENT_STREAM), ("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no"))


def routes(kernel: SiyuanKernel) -> Iterator[SurfaceRoute]:
    async def open_socket(exchange: Exchange, grant: Grant) -> Answer:
        request = exchange.request
        refusal = handshake_refusal(request.headers)
        if refusal is not None:
            return refusal
        name = parse_qs(request.query, keep_blank_values=True).get("channel", [""])[0]
        return WebSocketResponse(lambda socket: _serve_socket(kernel, name, socket))

    async def open_stream(exchange: Exchange, grant: Grant) -> Answer:
        query = parse_qs(exchange.request.query, keep_blank_values=True)
        names = tuple(dict.fromkeys(query["channel"])) if "channel" in query else None
        retry = query.get("retry", [""])[0]
        retry_ms = int(retry) if retry.isascii() and retry.isdecimal() else None

        async def produce(writer: StreamWriter) -> None:
            await _serve_stream(kernel, exchange, names, retry_ms, writer)

        return StreamResponse(200, _HEADERS, produce)

    yield SurfaceRoute("/ws/broadcast", GET, open_socket, "admin")
    yield SurfaceRoute("/es/broadcast/subscribe", GET, open_stream, "admin")


async def _serve_socket(kernel: SiyuanKernel, name: str, socket: WebSocket) -> None:
    broadcast, outbox = broadcast_of(kernel), Outbox()
    broadcast.join(name, outbox)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outbox.send_to, socket)
            while True:
                broadcast.post(name, await socket.receive(), sender=outbox)
    except* ClientGone:
        pass
    finally:
        broadcast.leave(name, outbox)


async def _serve_stream(
    kernel: SiyuanKernel,
    exchange: Exchange,
    names: tuple[str, ...] | None,
    retry_ms: int | None,
    writer: StreamWriter,
) -> None:
    broadcast, stream = broadcast_of(kernel), EventStream()
    broadcast.subscribe(names, stream, retry_ms)
    try:
        # A reader that left takes its place in the count with it at once, not at the next keep-alive.
        with exchange.watch_disconnect(stream.end):
            await stream.produce(writer)
    finally:
        broadcast.unsubscribe(names, stream)
