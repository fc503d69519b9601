"""What the trace hears of: the scheduler's events, and each request with its answer. Only where a trace is wanted."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Final

import msgspec

from kernel.faults.calls import facts_of_request
from kernel.http.exchange import Head
from kernel.http.router import Resolver
from kernel.trace import Trace
from kernel.wire import Answer, Exchange, Response, Route, StreamResponse, StreamWriter
from scheduler import Observer, TraceEvent, Undelivered

_log: Final = logging.getLogger("scheduler")
_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")


def scheduler_observer(trace: Trace) -> Observer:
    """Tell the trace what the scheduler does: ``Admitted`` is the event ``admitted``, and so on."""

    def observe(event: TraceEvent) -> None:
        if isinstance(event, Undelivered):
            # Without an observer the scheduler logs it; an error must not vanish because somebody looks on.
            _log.error("an error of ticket %d reached nobody", event.number, exc_info=event.error)
        if not trace.is_on:
            return
        facts = {field.name: _plain(getattr(event, field.name)) for field in dataclasses.fields(event)}
        trace.record(_CAPITAL.sub("_", type(event).__name__).lower(), ticket=facts.pop("number"), **facts)

    return observe


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def traced_resolver(resolve: Resolver, trace: Trace) -> Resolver:
    """The same routes; those that may be struck by faults also tell the trace of each exchange."""
    numbers = itertools.count(1)

    def resolve_traced(head: Head) -> Route | Answer:
        found = resolve(head)
        if not trace.is_on or not isinstance(found, Route) or not found.has_fault_points:
            return found
        handler = _traced(found.handler, trace, numbers)
        return Route(
            found.path,
            found.methods,
            handler,
            found.body_bytes_max,
            found.streams_body,
            found.surface,
            found.has_fault_points,
        )

    return resolve_traced


def _traced(handler: Callable[[Exchange], Any], trace: Trace, numbers: Iterator[int]) -> Callable[[Exchange], Any]:
    async def handle(exchange: Exchange) -> Answer:
        number, request = next(numbers), exchange.request
        call = facts_of_request(request.body, request.headers.get("mcp-session-id"))
        told = {"exchange": number, "method": request.method, "path": request.path, "tool": call.tool}
        told |= {"action": call.action, "session": call.session, **_rpc_facts(request.body)}
        trace.record("request", **{name: value for name, value in told.items() if value is not None})
        try:
            answer: Answer = await handler(exchange)
        except BaseException as error:
            trace.record("answer", exchange=number, error=type(error).__name__)
            raise
        if isinstance(answer, StreamResponse):
            return StreamResponse(answer.status, answer.headers, _produced(answer, trace, number))
        if isinstance(answer, Response):
            trace.record("answer", exchange=number, status=answer.status, bytes=len(answer.body))
        return answer

    return handle


def _rpc_facts(body: bytes) -> dict[str, Any]:
    try:
        message = msgspec.json.decode(body) if body else None
    except (msgspec.MsgspecError, RecursionError):
        return {}
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return {}
    return {"rpc": message["method"], "rpcId": _plain(message.get("id"))}


def _produced(answer: StreamResponse, trace: Trace, number: int) -> Callable[[StreamWriter], Any]:
    async def traced(writer: StreamWriter) -> None:
        counting = _Counting(writer)
        try:
            await answer.produce(counting)
        finally:
            sent = {"pieces": counting.pieces, "bytes": counting.size_bytes}
            trace.record("answer", exchange=number, status=answer.status, **sent)

    return traced


class _Counting:
    """A writer that counts what goes through it."""

    def __init__(self, writer: StreamWriter) -> None:
        self._writer = writer
        self.pieces = 0
        self.size_bytes = 0

    async def send(self, data: bytes) -> None:
        await self._writer.send(data)
        self.pieces += 1
        self.size_bytes += len(data)
