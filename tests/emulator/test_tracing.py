"""What the trace hears of requests and of the scheduler: each exchange with its answer, and no error that vanishes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from kernel.emulator.tracing import scheduler_observer, traced_resolver
from kernel.trace import Trace
from kernel.wire import (
    Answer,
    Exchange,
    Headers,
    RecordedWriter,
    Request,
    Response,
    Route,
    StreamResponse,
    StreamWriter,
)
from scheduler import Undelivered

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "fs", "arguments": {"action": "read"}}}


class Asked:
    """An exchange as far as a handler looks at it here."""

    def __init__(self, body: bytes = b"", session: str | None = None) -> None:
        headers = [] if session is None else [("mcp-session-id", session)]
        self.request = Request("POST", "/mcp?x=1", "/mcp", "x=1", Headers(headers), body)


def route(handler: Callable[[Exchange], Any], **more: Any) -> Route:
    return Route("/mcp", frozenset({"POST"}), handler, 10, **more)


async def answered(trace: Trace, answer: Answer | Exception, asked: Asked) -> Answer:
    async def handle(exchange: Exchange) -> Answer:
        if isinstance(answer, Exception):
            raise answer
        return answer

    found = traced_resolver(lambda head: route(handle), trace)(None)  # type: ignore[arg-type]
    assert isinstance(found, Route)
    return await found.handler(asked)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        (json.dumps(CALL).encode(), {"tool": "fs", "action": "read", "rpc": "tools/call", "rpcId": 7}),
        (b'{"method": "ping", "id": [1]}', {"rpc": "ping", "rpcId": "[1]"}),
        (b"{", {}),
        (b'{"method": 5}', {}),
        (b"[]", {}),
        (b"", {}),
    ],
)
async def test_a_request_is_told_by_what_it_asks_for(body: bytes, facts: dict[str, Any]) -> None:
    trace = Trace(lambda: 0.0)
    await answered(trace, Response(200, (), b"12345"), Asked(body, "s1"))
    request, answer = trace.events()
    assert request.facts == {"exchange": 1, "method": "POST", "path": "/mcp", "session": "s1", **facts}
    assert (answer.kind, answer.facts) == ("answer", {"exchange": 1, "status": 200, "bytes": 5})


async def test_a_streamed_answer_is_told_at_its_end_with_its_own_status() -> None:
    async def produce(writer: StreamWriter) -> None:
        await writer.send(b"ab")
        await writer.send(b"c")

    async def broken(writer: StreamWriter) -> None:
        await writer.send(b"ab")
        raise ValueError("torn")

    trace = Trace(lambda: 0.0)
    for how in (produce, broken):
        told = await answered(trace, StreamResponse(206, (("a", "b"),), how), Asked())
        assert isinstance(told, StreamResponse)
        assert (told.status, told.headers) == (206, (("a", "b"),))
        writer = RecordedWriter()
        try:
            await told.produce(writer)
        except ValueError:
            assert writer.sent == [b"ab"]
    answers = [event.facts for event in trace.events() if event.kind == "answer"]
    assert answers == [
        {"exchange": 1, "status": 206, "pieces": 2, "bytes": 3},
        {"exchange": 1, "status": 206, "pieces": 1, "bytes": 2},
    ]


async def test_a_handler_that_fails_is_told_by_its_error() -> None:
    trace = Trace(lambda: 0.0)
    with pytest.raises(ValueError, match="torn"):
        await answered(trace, ValueError("torn"), Asked())
    assert trace.events()[-1].facts == {"exchange": 1, "error": "ValueError"}


def test_what_is_no_route_or_controls_the_faults_is_left_alone() -> None:
    async def handle(exchange: Exchange) -> Answer:
        return Response(200)

    plain, refused = route(handle, has_fault_points=False), Response(404)
    for found in (plain, refused):
        assert traced_resolver(lambda head, found=found: found, Trace(lambda: 0.0))(None) is found  # type: ignore[misc, arg-type]
    off = Trace(lambda: 0.0, is_on=False)
    open_route = route(handle)
    assert traced_resolver(lambda head: open_route, off)(None) is open_route  # type: ignore[arg-type]


@pytest.mark.parametrize("is_on", [True, False])
def test_an_error_that_reached_nobody_is_logged_although_somebody_looks_on(
    caplog: pytest.LogCaptureFixture, is_on: bool
) -> None:
    trace = Trace(lambda: 0.0, is_on=is_on)
    with caplog.at_level(logging.ERROR, "scheduler"):
        scheduler_observer(trace)(Undelivered(7, ValueError("lost")))
    assert "ticket 7 reached nobody" in caplog.text
    told = [(event.kind, event.facts) for event in trace.events()]
    assert told == ([("undelivered", {"ticket": 7, "error": "lost"})] if is_on else [])
