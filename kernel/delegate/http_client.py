"""A small HTTP/1.1 client on h11: one connection per request, and one certain word on whether anything was sent.

A pooled connection may be closed by its server while a request is on its way, and then nobody knows what was read of
it. A fresh one per request leaves one question: was the connection made? Before that nothing was sent; after it
everything is uncertain until there is an answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import h11
import trio

from kernel.delegate.limits import ANSWER_BYTES_MAX, CHUNK_BYTES, CONNECT_S_MAX, SILENCE_S_MAX

_PORTS: Final = {"http": 80, "https": 443}


class NotConnected(Exception):
    """The connection could not be made: nothing was sent."""


class ConnectionBroken(Exception):
    """The connection broke, fell silent, or spoke no HTTP, after it was made: what was sent may have been read."""


@dataclass(slots=True)
class Reply:
    """An answer whose head has come. ``headers``: lower-case names, the last value of each."""

    status: int
    headers: dict[str, str]
    _connection: h11.Connection
    _stream: trio.abc.Stream

    async def receive(self) -> bytes:
        """The next piece of the body, b"" at its end. Raises ConnectionBroken."""
        while True:
            event = await _next_event(self._connection, self._stream)
            if isinstance(event, h11.EndOfMessage):
                return b""
            if isinstance(event, h11.Data) and event.data:
                return bytes(event.data)

    async def read(self, bytes_max: int = ANSWER_BYTES_MAX) -> bytes:
        """The whole body. Raises ConnectionBroken, also where it is longer than ``bytes_max``."""
        body = bytearray()
        while piece := await self.receive():
            body += piece
            if len(body) > bytes_max:
                raise ConnectionBroken(f"the answer is longer than {bytes_max} bytes")
        return bytes(body)


class HttpClient:
    """Requests to one origin. ``open_stream`` is a seam for tests: it makes the connection."""

    def __init__(self, origin: str) -> None:
        parts = urlsplit(origin)
        self.origin = origin
        self._scheme = parts.scheme
        self._host = parts.hostname or ""
        self._port = parts.port or _PORTS[parts.scheme]
        self._authority = parts.netloc

    @asynccontextmanager
    async def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> AsyncIterator[Reply]:
        """Send one request and give its answer's head; the connection is closed at the end of the block.

        Raises:
            NotConnected, ConnectionBroken
        """
        stream = await self._connect()
        try:
            yield await self._exchange(stream, method, path, headers, body)
        finally:
            # At once and without a farewell: nobody waits for a connection that is not used again.
            await trio.aclose_forcefully(stream)

    async def _exchange(
        self, stream: trio.abc.Stream, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        connection = h11.Connection(h11.CLIENT)
        fields = {
            "Host": self._authority,
            "User-Agent": "sisyphus-kernel",
            "Connection": "close",
            "Accept-Encoding": "identity",
            **({"Content-Length": str(len(body))} if body or method != "GET" else {}),
            **headers,
        }
        try:
            request = h11.Request(method=method, target=path, headers=list(fields.items()))
        except h11.LocalProtocolError as error:
            raise NotConnected(f"the request cannot be written: {error}") from None
        head = connection.send(request) or b""
        try:
            await _send(stream, head + (connection.send(h11.Data(data=body)) or b"") if body else head)
            connection.send(h11.EndOfMessage())
        except trio.BrokenResourceError:
            # A server that refuses a body may answer before it has read it: what it said is worth looking for.
            connection.send_failed()
        event = await _next_event(connection, stream)
        while isinstance(event, h11.InformationalResponse):
            event = await _next_event(connection, stream)
        if not isinstance(event, h11.Response):
            raise ConnectionBroken("the answer has no head")
        found = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        return Reply(event.status_code, found, connection, stream)

    async def _connect(self) -> trio.abc.Stream:
        try:
            with trio.fail_after(CONNECT_S_MAX):
                stream = await trio.open_tcp_stream(self._host, self._port)
                return stream if self._scheme == "http" else await _secured(stream, self._host)
        except (OSError, trio.TooSlowError, trio.BrokenResourceError) as error:
            raise NotConnected(f"{self.origin} does not answer ({_words(error)})") from None


async def _secured(stream: trio.SocketStream, host: str) -> trio.abc.Stream:
    """The stream behind TLS; it is closed where that fails."""
    # Half of the start-up time of a call, and only for a kernel behind TLS.
    from kernel.host.trust import trusted

    secured: trio.SSLStream[trio.SocketStream] = trio.SSLStream(
        stream, trusted(), server_hostname=host, https_compatible=True
    )
    try:
        await secured.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secured


async def _next_event(connection: h11.Connection, stream: trio.abc.Stream) -> Any:
    is_closed = False
    while True:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError as error:
            words = "the connection was closed too early" if is_closed else f"the answer is no HTTP: {error}"
            raise ConnectionBroken(words) from None
        if event is h11.NEED_DATA:
            data = await _receive(stream)
            is_closed = not data
            connection.receive_data(data)
        elif event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
            raise ConnectionBroken("the connection was closed without an answer")
        else:
            return event


async def _send(stream: trio.abc.Stream, data: bytes) -> None:
    """Piece by piece, each within the silence that is put up with. Raises ConnectionBroken, trio.BrokenResourceError."""
    view = memoryview(data)
    for start in range(0, len(view), CHUNK_BYTES):
        try:
            with trio.fail_after(SILENCE_S_MAX):
                await stream.send_all(view[start : start + CHUNK_BYTES])
        except trio.TooSlowError:
            raise ConnectionBroken(f"nothing was taken for {SILENCE_S_MAX:g} s") from None


async def _receive(stream: trio.abc.Stream) -> bytes:
    try:
        with trio.fail_after(SILENCE_S_MAX):
            return bytes(await stream.receive_some(CHUNK_BYTES))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        raise ConnectionBroken("the connection broke") from None
    except trio.TooSlowError:
        raise ConnectionBroken(f"nothing came for {SILENCE_S_MAX:g} s") from None


def _words(error: Exception) -> str:
    if isinstance(error, trio.TooSlowError):
        return f"not within {CONNECT_S_MAX:g} s"
    reason = getattr(error, "strerror", None) or str(error)
    # The errors of each address that was tried: the first of them says enough.
    inner = getattr(error, "__cause__", None)
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    return getattr(inner, "strerror", None) or reason or type(error).__name__
