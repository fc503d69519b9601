"""The fault points of one exchange that only a connection can serve: answers cut short, sent twice, cut off.

Used by ``kernel.http.connection`` when a plan is in force, and only then.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final

import msgspec

from kernel.faults.attributes import shuffled
from kernel.faults.calls import CallFacts
from kernel.faults.plan import Rule
from kernel.faults.points import HTTP_FRAME
from kernel.faults.trigger import AnswerDropped, ConnectionCut, FaultInjected, Trigger, deeds
from kernel.http import reply
from kernel.wire import EVENT_STREAM, Answer, ClientGone, Request, Response, StreamResponse, StreamWriter

_FRAME_END: Final = b"\n\n"


class Truncated(ConnectionCut):
    """So many bytes of the answer are out; the rest never comes."""

    def __init__(self) -> None:
        super().__init__("fin")


class FaultyWriter:
    """A stream's writer that passes ``http.stream.frame`` before each of its frames."""

    def __init__(
        self, writer: StreamWriter, trigger: Trigger, call: CallFacts, *, is_events: bool, left_bytes: int | None = None
    ) -> None:
        self._writer = writer
        self._trigger = trigger
        self._call = call
        self._is_events = is_events
        self._left_bytes = left_bytes

    async def send(self, data: bytes) -> None:
        for frame in frames(data) if self._is_events else (data,):
            await self._send_frame(frame)

    async def _send_frame(self, frame: bytes) -> None:
        try:
            struck = deeds(await self._trigger.visit(HTTP_FRAME, self._call))
        except ConnectionCut:
            raise
        except AnswerDropped:
            return  # this frame is lost; the stream goes on
        if (rule := struck.get("truncate")) is not None:
            await self._writer.send(frame[: cut_at(rule, len(frame))])
            raise Truncated
        await self._within(frame)
        if "duplicate" in struck:
            await self._within(frame)

    async def _within(self, frame: bytes) -> None:
        if self._left_bytes is None:
            await self._writer.send(frame)
            return
        await self._writer.send(frame[: self._left_bytes])
        self._left_bytes -= len(frame)
        if self._left_bytes < 0:
            raise Truncated


def frames(data: bytes) -> Iterator[bytes]:
    """The events in one piece of a stream: several may go out together."""
    start = 0
    while start < len(data):
        end = data.find(_FRAME_END, start)
        end = len(data) if end < 0 else end + len(_FRAME_END)
        yield data[start:end]
        start = end


def cut_at(rule: Rule, size_bytes: int) -> int:
    """How many bytes a truncation lets out: never all of them."""
    return min(size_bytes // 2 if rule.bytes is None else rule.bytes, max(0, size_bytes - 1))


def is_event_stream(answer: StreamResponse) -> bool:
    return any(name.lower() == "content-type" and value.startswith(EVENT_STREAM) for name, value in answer.headers)


def injected(fault: FaultInjected) -> Response:
    """A planned failure as an HTTP answer."""
    retry = () if fault.retry_after_s is None else (("Retry-After", str(fault.retry_after_s)),)
    status = fault.status or HTTPStatus.INTERNAL_SERVER_ERROR
    return reply.plain(status, fault.message, headers=retry, closes=True)


def shuffled_answer(answer: Answer, seed: str) -> Answer:
    """A JSON answer with the attributes of its blocks in another order; anything else as it is."""
    if not isinstance(answer, Response) or not answer.body:
        return answer
    try:
        body = shuffled(msgspec.json.decode(answer.body), seed)
    except (msgspec.MsgspecError, RecursionError):
        return answer
    again = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return Response(answer.status, answer.headers, again, answer.closes)


class SecondDelivery:
    """The same request, come again on a way of its own: nobody waits for its answer, and nobody leaves."""

    def __init__(self, request: Request) -> None:
        self.request = request

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        raise ClientGone("a streamed body is delivered once")
        yield b""

    @contextmanager
    def watch_disconnect(self, gone: Callable[[], None]) -> Iterator[None]:
        yield
