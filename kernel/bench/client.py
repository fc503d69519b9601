"""One blocking connection: the few requests around a load (preparation, health, sessions). Shell."""

from __future__ import annotations

import json
import socket
from typing import Any, Final

from kernel.bench.calls import Address, structured
from kernel.bench.limits import RECEIVE_BYTES
from kernel.bench.wire import Reply, ReplyReader

_TIMEOUT_S: Final = 60.0


class RequestRefused(Exception):
    """The server did not do what the bench needs; the message has its words."""


class Asking:
    """Ask and wait. A context manager; connects when it is first used, and again after an end."""

    def __init__(self, address: Address, timeout_s: float = _TIMEOUT_S) -> None:
        self.address = address
        self._timeout_s = timeout_s
        self._sock: socket.socket | None = None

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def connect(self) -> None:
        """Connect now rather than with the first request. Raises OSError."""
        if self._sock is None:
            self._sock = socket.create_connection((self.address.host, self.address.port), self._timeout_s)

    def ask(self, data: bytes) -> Reply:
        """The answer to one request. Raises OSError, or BadAnswer."""
        return self.ask_with_head(data)[1]

    def ask_with_head(self, data: bytes) -> tuple[bytes, Reply]:
        """The answer with its head's bytes."""
        self.connect()
        assert self._sock is not None
        reader, head = ReplyReader(), b""
        self._sock.sendall(data)
        while True:
            piece = self._sock.recv(RECEIVE_BYTES)
            head = head if b"\r\n\r\n" in head else head + piece
            reply = reader.feed(piece) if piece else reader.end()
            if reply is not None:
                if reply.closes or not piece:
                    self.close()
                return head.partition(b"\r\n\r\n")[0], reply
            if not piece:
                self.close()
                raise ConnectionError("the server closed the connection without an answer")

    def api(self, path: str, /, **arguments: Any) -> Any:
        """``data`` of one call of the kernel's own API. Raises RequestRefused."""
        reply = self.ask(self.address.post(f"/api/{path}", json.dumps(arguments).encode(), {}))
        try:
            told = json.loads(reply.body)
            code, data = told["code"], told["data"]
        except (ValueError, KeyError, TypeError):
            raise RequestRefused(f"{path}: HTTP {reply.status} {reply.body[:200]!r}") from None
        if code != 0:
            raise RequestRefused(f"{path}: {told.get('msg')}")
        return data

    def tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured content of one tools/call."""
        return structured(self.ask(self.address.tool(name, arguments)))
