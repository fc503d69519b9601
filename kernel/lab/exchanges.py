"""From recorded bytes to HTTP exchanges: what was asked, what was answered, and how each connection ended. Sans-IO."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Literal

import h11

from kernel.lab.limits import BODY_JUDGED_BYTES_MAX
from kernel.lab.recording import Piece

# Who ended the connection before the answer was whole.
Loser = Literal["", "client", "kernel"]
_HEADERS_BYTES_MAX: Final = 64 * 1024


@dataclass(slots=True)
class Exchange:
    """One request and what came back. Times in seconds since the recording began; ``inf``: never."""

    number: int
    connection: int
    sent_s: float
    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    is_request_whole: bool = False
    status: int = 0
    answer_headers: dict[str, str] = field(default_factory=dict)
    answer: bytes = b""
    is_whole: bool = False
    answered_s: float = inf
    ended_s: float = inf
    ended_by: Loser = ""
    is_reset: bool = False

    @property
    def is_lost(self) -> bool:
        """The client never got the whole answer."""
        return not self.is_whole


def exchanges_of(pieces: Iterable[Piece]) -> list[Exchange]:
    """Every exchange of a recording, in the order in which the requests began."""
    conversations: dict[int, _Conversation] = {}
    for piece in pieces:
        conversations.setdefault(piece.connection, _Conversation(piece.connection)).take(piece)
    found = [exchange for conversation in conversations.values() for exchange in conversation.exchanges]
    found.sort(key=lambda exchange: exchange.sent_s)
    for number, exchange in enumerate(found, 1):
        exchange.number = number
    return found


class _Conversation:
    """One connection: requests in a row, answers in the same order."""

    def __init__(self, connection: int) -> None:
        self.exchanges: list[Exchange] = []
        self._connection = connection
        self._requests = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEADERS_BYTES_MAX)
        self._answers: h11.Connection | None = None
        self._rest = b""
        self._answered = 0
        self._is_foreign = False  # not HTTP (any more): a WebSocket, or noise

    def take(self, piece: Piece) -> None:
        if piece.kind in ("end", "reset"):
            self._end(piece)
        elif piece.kind == "data" and not self._is_foreign:
            try:
                if piece.side == "client":
                    self._requested(piece)
                else:
                    self._answer(piece)
            except (h11.RemoteProtocolError, h11.LocalProtocolError):
                self._is_foreign = True

    def _requested(self, piece: Piece) -> None:
        self._requests.receive_data(piece.data)
        while True:
            event = self._requests.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                return
            if isinstance(event, h11.Request):
                headers = {name.decode().lower(): value.decode("latin-1") for name, value in event.headers}
                method, target = event.method.decode(), event.target.decode("latin-1")
                self.exchanges.append(Exchange(0, self._connection, piece.at_s, method, target, headers))
            elif isinstance(event, h11.Data):
                exchange = self.exchanges[-1]
                exchange.body += bytes(event.data)[: BODY_JUDGED_BYTES_MAX - len(exchange.body)]
            elif isinstance(event, h11.EndOfMessage):
                self.exchanges[-1].is_request_whole = True
                self._go_on()

    def _go_on(self) -> None:
        """Let the parser take the next request of the connection, as if this one had been answered."""
        self._requests.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
        self._requests.send(h11.EndOfMessage())
        if self._requests.our_state is h11.DONE and self._requests.their_state is h11.DONE:
            self._requests.start_next_cycle()

    def _answer(self, piece: Piece) -> None:
        data: bytes | None = piece.data
        while data and self._answered < len(self.exchanges):
            exchange = self.exchanges[self._answered]
            if self._answers is None:
                self._answers = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEADERS_BYTES_MAX)
                self._answers.send(h11.Request(method=exchange.method, target="/", headers=[("Host", "h")]))
                self._answers.send(h11.EndOfMessage())
            self._answers.receive_data(data)
            data = self._read_answer(self._answers, exchange, piece.at_s)

    def _read_answer(self, reader: h11.Connection, exchange: Exchange, at_s: float) -> bytes | None:
        """Read on; what is left for the next answer once this one is whole."""
        while True:
            event: Any = reader.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED:
                return None
            if isinstance(event, h11.Response):
                exchange.status = event.status_code
                exchange.answer_headers = {
                    name.decode().lower(): value.decode("latin-1") for name, value in event.headers
                }
                exchange.answered_s = at_s
            elif isinstance(event, h11.Data):
                exchange.answer += bytes(event.data)[: BODY_JUDGED_BYTES_MAX - len(exchange.answer)]
            elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                exchange.is_whole, exchange.ended_s = True, at_s
                self._answers = None
                self._answered += 1
                return bytes(reader.trailing_data[0])

    def _end(self, piece: Piece) -> None:
        reader = self._answers
        if piece.side == "kernel" and piece.kind == "end" and reader is not None and not self._is_foreign:
            # An answer without a length ends with its connection.
            try:
                reader.receive_data(b"")
                self._read_answer(reader, self.exchanges[self._answered], piece.at_s)
            except h11.RemoteProtocolError:
                self._is_foreign = True
        for exchange in self.exchanges[self._answered :]:
            if not exchange.is_whole and not exchange.ended_by:
                exchange.ended_by, exchange.ended_s = piece.side, piece.at_s
                exchange.is_reset = piece.kind == "reset"
