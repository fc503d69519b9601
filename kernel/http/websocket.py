"""The server side of a WebSocket, after the connection has read the handshake: wsproto frames, our own bounds."""

from __future__ import annotations

from collections import deque
from typing import Final, Protocol

import trio
from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Event, Ping, TextMessage
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from kernel.http import reply
from kernel.http.exchange import Head
from kernel.http.limits import WEBSOCKET_CLOSE_S_MAX
from kernel.wire import ClientGone, Response

CLOSE_GOING_AWAY: Final = 1001
CLOSE_TOO_BIG: Final = 1009


class ByteStream(Protocol):
    """The connection, as its WebSocket sees it."""

    async def receive(self) -> bytes: ...

    async def send(self, data: bytes) -> None: ...


class UpgradeRefused(Exception):
    """The request is no WebSocket handshake; ``answer`` says why."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.status)
        self.answer = answer


class ServerSocket:
    """``kernel.wire.WebSocket``. One task may receive while others send; sends never interleave."""

    def __init__(self, stream: ByteStream, protocol: WSConnection, message_bytes_max: int) -> None:
        self._stream = stream
        self._protocol = protocol
        self._message_bytes_max = message_bytes_max
        self._sending = trio.StrictFIFOLock()
        self._messages: deque[str | bytes] = deque()
        self._parts: list[str | bytes] = []
        self._part_bytes = 0
        self._is_receiving = False
        self._is_closed = False

    @classmethod
    def accept(
        cls, stream: ByteStream, head: Head, headers: tuple[tuple[str, str], ...], message_bytes_max: int
    ) -> tuple[ServerSocket, bytes]:
        """The socket and the bytes that accept the handshake. Raises UpgradeRefused."""
        protocol = WSConnection(ConnectionType.SERVER)
        asked = [(name.encode("ascii"), value.encode("latin-1")) for name, value in head.headers.items]
        try:
            if head.method != "GET":
                raise RemoteProtocolError("the method must be GET")
            protocol.initiate_upgrade_connection(asked, head.target)
            reply.header_block(headers)
            extra = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
            first = protocol.send(AcceptConnection(extra_headers=extra))
        except (RemoteProtocolError, UnicodeError) as error:
            version = (("Sec-WebSocket-Version", "13"),)
            raise UpgradeRefused(reply.plain(400, f"No WebSocket handshake: {error}", headers=version)) from None
        return cls(stream, protocol, message_bytes_max), first

    def take(self, data: bytes) -> None:
        """What the client sent right behind its handshake."""
        if data:
            self._protocol.receive_data(data)

    async def receive(self) -> str | bytes:
        """The next whole message; pings are answered on the way. Raises ClientGone after the close."""
        self._is_receiving = True
        try:
            await self._take_events()
            while not self._messages:
                await self._receive_some()
            return self._messages.popleft()
        finally:
            self._is_receiving = False

    async def send(self, message: str | bytes) -> None:
        """Send one message. Raises ClientGone."""
        await self._send(TextMessage(message) if isinstance(message, str) else BytesMessage(message))

    async def going_away(self) -> None:
        """``aclose``, for the server ends."""
        await self.aclose(CLOSE_GOING_AWAY)

    async def aclose(self, code: int = 1000, reason: str = "") -> None:
        """Say good-bye and wait a moment for the answer, unless another task is receiving and will see it."""
        if self._is_closed or self._protocol.state is not ConnectionState.OPEN:
            return
        try:
            await self._send(CloseConnection(code, reason))
            with trio.move_on_after(WEBSOCKET_CLOSE_S_MAX):
                while not self._is_receiving:
                    await self._receive_some()
                    self._messages.clear()
        except ClientGone:
            return

    # --- inside ----------------------------------------------------------------------------------------------
    async def _receive_some(self) -> None:
        if self._is_closed:
            raise ClientGone
        data = await self._stream.receive()
        self._protocol.receive_data(data or None)
        await self._take_events()

    async def _take_events(self) -> None:
        for event in self._protocol.events():
            if isinstance(event, TextMessage | BytesMessage):
                await self._take_message(event)
            elif isinstance(event, Ping):
                await self._send(event.response())
            elif isinstance(event, CloseConnection):
                await self._take_close(event)

    async def _take_message(self, event: TextMessage | BytesMessage) -> None:
        data = event.data if isinstance(event.data, str) else bytes(event.data)
        self._part_bytes += len(data.encode() if isinstance(data, str) else data)
        if self._part_bytes > self._message_bytes_max:
            await self._send(CloseConnection(CLOSE_TOO_BIG, "message too big"))
            self._is_closed = True
            raise ClientGone
        self._parts.append(data)
        if event.message_finished:
            parts, self._parts, self._part_bytes = self._parts, [], 0
            is_text = isinstance(event, TextMessage)
            whole = "".join(parts) if is_text else b"".join(parts)  # type: ignore[arg-type]
            self._messages.append(whole)

    async def _take_close(self, event: CloseConnection) -> None:
        was_open = self._protocol.state in (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING)
        if was_open:
            await self._send(event.response())
        self._is_closed = True
        raise ClientGone

    async def _send(self, event: Event) -> None:
        async with self._sending:
            if self._is_closed:
                raise ClientGone
            try:
                data = self._protocol.send(event)
            except LocalProtocolError:
                raise ClientGone from None
            await self._stream.send(data)
