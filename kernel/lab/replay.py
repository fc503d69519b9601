"""Plays a recording against another kernel, one request after the other, until an answer differs. Shell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from kernel.lab.exchanges import Exchange, exchanges_of
from kernel.lab.likeness import Translation, readable
from kernel.lab.limits import CONTROL_S_MAX, RECORDING_BYTES_MAX
from kernel.lab.recording import RecordingInvalid, read_recording
from kernel.wire import EVENT_STREAM

# The sender's own business, said anew.
_NOT_SENT: Final = frozenset({"host", "content-length", "connection", "transfer-encoding", "accept-encoding"})
_SESSION: Final = "mcp-session-id"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first answer that is another one. ``where``: a path in it, or "status" or "answer"."""

    exchange: int
    request: str
    where: str
    recorded: Any
    live: Any


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of it. ``skipped``: open streams, and requests that were never sent to their end."""

    replayed: int
    skipped: int
    difference: Difference | None


def load(path: Path) -> list[Exchange]:
    """The exchanges of a recording file. Raises RecordingInvalid, OSError."""
    if path.stat().st_size > 2 * RECORDING_BYTES_MAX:
        raise RecordingInvalid(1, "longer than a recording may be")
    with path.open(encoding="utf-8", errors="replace") as lines:
        return exchanges_of(read_recording(lines))


def replay(exchanges: list[Exchange], url: str, given: dict[str, str]) -> Replay:
    """Send every recorded request to the kernel at ``url``; ``given`` translates what no answer told."""
    translation = Translation(given)
    replayed = skipped = 0
    with httpx.Client(timeout=CONTROL_S_MAX, trust_env=False) as http:
        for exchange in exchanges:
            if not exchange.is_request_whole or _is_open_stream(exchange):
                skipped += 1
                continue
            replayed += 1
            found = _compare(exchange, _send(http, url, exchange, translation), translation)
            if found is not None:
                return Replay(replayed, skipped, found)
    return Replay(replayed, skipped, None)


def _is_open_stream(exchange: Exchange) -> bool:
    kind = exchange.answer_headers.get("content-type", "")
    return exchange.method == "GET" and (EVENT_STREAM in exchange.headers.get("accept", "") or kind == EVENT_STREAM)


def _send(http: httpx.Client, url: str, exchange: Exchange, translation: Translation) -> httpx.Response | None:
    headers = {name: translation.request(value) for name, value in exchange.headers.items() if name not in _NOT_SENT}
    # Bodies that are no text (uploads) go as they were.
    body = exchange.body
    try:
        body = translation.request(body.decode("utf-8")).encode()
    except UnicodeDecodeError:
        pass
    try:
        return http.request(exchange.method, url + translation.request(exchange.target), headers=headers, content=body)
    except httpx.HTTPError:
        return None


def _compare(exchange: Exchange, answer: httpx.Response | None, translation: Translation) -> Difference | None:
    request = f"{exchange.method} {exchange.target}"

    def differs(where: str, recorded: Any, live: Any) -> Difference:
        return Difference(exchange.number, request, where, recorded, live)

    if answer is None or exchange.is_lost:
        recorded = "no whole answer" if exchange.is_lost else exchange.status
        live = "no whole answer" if answer is None else answer.status_code
        return None if recorded == live else differs("answer", recorded, live)
    if answer.status_code != exchange.status:
        return differs("status", exchange.status, answer.status_code)
    translation.session(exchange.answer_headers.get(_SESSION), answer.headers.get(_SESSION))
    kinds = exchange.answer_headers.get("content-type", ""), answer.headers.get("content-type", "")
    found = translation.first_difference(readable(kinds[0], exchange.answer), readable(kinds[1], answer.content))
    return None if found is None else differs(*found)


def shown(found: Difference) -> Iterator[str]:
    """A difference in lines for people."""
    yield f"exchange {found.exchange}: {found.request}"
    yield f"  at {found.where}"
    yield f"  recorded: {found.recorded!r}"
    yield f"  now:      {found.live!r}"
