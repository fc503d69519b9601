"""The stdio server: lines in, lines out, every call delegated to the coordinator of a workspace (R137, R219). Awaits.

It has no tools, leases or ledger of its own, so whatever happens to it, nothing is written twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import trio

from kernel.delegate.delegate import ToolCall, error_result
from kernel.delegate.front import Front
from kernel.delegate.messages import META_TASK, AnswerLost, Refused
from kernel.errors import ToolError
from kernel.mcp.jsonrpc import (
    INTERNAL_ERROR,
    PARSE_ERROR,
    Batch,
    Notification,
    ProtocolError,
    Request,
    RequestId,
    encode,
    parse,
    result_message,
)
from kernel.stdio.limits import (
    LISTEN_AGAIN_S,
    MESSAGE_BYTES_MAX,
    OUTGOING_MAX,
)
from kernel.stdio.session import Kind, Session, Task, can_write, change_told, is_coordinated, missed_change
from kernel.tasks.control import canonical_task_id

_LISTEN: Final = "subscriptions/listen"
Read = Callable[[], Awaitable[bytes]]
Write = Callable[[bytes], Awaitable[None]]


@dataclass(slots=True)
class _Running:
    """One request that is worked on: how it is stopped."""

    cancel: trio.Event = field(default_factory=trio.Event)
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)


class StdioServer:
    """One client on one pair of pipes. ``read`` gives b"" at the end of input."""

    def __init__(self, front: Front, read: Read, write: Write) -> None:
        self._front = front
        self._read = read
        self._write = write
        self._session = Session()
        self._running: dict[tuple[type, RequestId], _Running] = {}
        self._is_listening = False
        self._reading = trio.CancelScope()
        self._outgoing, self._to_write = trio.open_memory_channel[Any](OUTGOING_MAX)

    async def run(self) -> None:
        """Serve until the end of input (or ``stop``); what is in flight then is still answered."""
        async with trio.open_nursery() as everything:
            everything.start_soon(self._write_all, everything.cancel_scope)
            async with self._outgoing, trio.open_nursery() as background:
                async with trio.open_nursery() as requests:
                    with self._reading:
                        await self._read_all(requests, background)
                background.cancel_scope.cancel()

    def stop(self) -> None:
        """Read no more, and have every call cancelled: the coordinator is told, answers are waited for (R219)."""
        self._reading.cancel()
        for running in self._running.values():
            running.cancel.set()

    # --- messages ---

    async def _read_all(self, requests: trio.Nursery, background: trio.Nursery) -> None:
        async for line in lines(self._read):
            if line is None:
                words = f"Parse error: a message has at most {MESSAGE_BYTES_MAX} bytes"
                await self._outgoing.send(ProtocolError(PARSE_ERROR, words).object())
            else:
                await self._take(line, requests, background)

    async def _take(self, line: bytes, requests: trio.Nursery, background: trio.Nursery) -> None:
        try:
            message = parse(line)
            if isinstance(message, Batch):
                self._session.check_batch(message)
        except ProtocolError as error:
            await self._outgoing.send(error.object())
            return
        if isinstance(message, Batch):
            await self._take_batch(message, requests, background)
        elif isinstance(message, Notification):
            self._hear(message, background)
        elif isinstance(message, Request):
            taken = self._admitted(message)
            if isinstance(taken, dict):
                await self._outgoing.send(taken)
            else:
                requests.start_soon(self._answer, *taken)

    def _admitted(self, request: Request) -> tuple[Task, _Running] | dict[str, Any]:
        """The request in flight, or the answer that refuses it. From here on a cancel finds it."""
        try:
            task = self._session.admit(request)
        except ProtocolError as error:
            return error.object()
        except ToolError as error:
            return result_message(request.id, error_result(error))
        running = self._running[type(task.request_id), task.request_id] = _Running()
        return task, running

    def _hear(self, notification: Notification, background: trio.Nursery) -> None:
        key = self._session.cancelled_id(notification)
        running = None if key is None else self._running.get(key)
        if running is not None:
            running.cancel.set()
        if notification.method == "notifications/initialized" and not self._is_listening:
            self._session.is_initialized = self._is_listening = True
            background.start_soon(self._tell_changes)

    async def _take_batch(self, batch: Batch, requests: trio.Nursery, background: trio.Nursery) -> None:
        answers: list[dict[str, Any]] = []
        admitted: list[tuple[Task, _Running]] = []
        for entry in batch.entries:
            if isinstance(entry, ProtocolError):
                answers.append(entry.object())
            elif isinstance(entry, Notification):
                self._hear(entry, background)
            elif isinstance(entry, Request):
                taken = self._admitted(entry)
                if isinstance(taken, dict):
                    answers.append(taken)
                else:
                    admitted.append(taken)
        requests.start_soon(self._answer_batch, admitted, answers)

    async def _answer_batch(self, admitted: list[tuple[Task, _Running]], answers: list[dict[str, Any]]) -> None:
        async def one(task: Task, running: _Running) -> None:
            answer = await self._answered(task, running)
            if answer is not None:
                answers.append(answer)

        async with trio.open_nursery() as nursery:
            for task, running in admitted:
                nursery.start_soon(one, task, running)
        if answers:
            await self._outgoing.send(answers)

    async def _answer(self, task: Task, running: _Running) -> None:
        answer = await self._answered(task, running)
        if answer is not None:
            await self._outgoing.send(answer)

    async def _answered(self, task: Task, running: _Running) -> dict[str, Any] | None:
        """The answer to one request; None for one that was cancelled and is nobody's any more."""
        try:
            return await self._outcome(task, running)
        except Refused as error:
            told = error.error or {"code": INTERNAL_ERROR, "message": str(error)}
            return {"jsonrpc": "2.0", "id": task.request_id, "error": self._session.error_of(task, told)}
        except (AnswerLost, ToolError) as error:
            data = error.payload()["error"] if isinstance(error, ToolError) else None
            return ProtocolError(INTERNAL_ERROR, str(error), data=data, request_id=task.request_id).object()
        finally:
            self._session.end(task.request_id)
            del self._running[type(task.request_id), task.request_id]

    async def _outcome(self, task: Task, running: _Running) -> dict[str, Any] | None:
        if task.kind is Kind.LOCAL:
            return result_message(task.request_id, task.result)
        if task.kind is Kind.INITIALIZE:
            return result_message(task.request_id, self._session.welcome(await self._instructions()))
        if task.kind is Kind.TOOL:
            result = await self._front.call(self._tool_call(task, running))
            return result_message(task.request_id, self._session.undress(task, result))
        return await self._requested(task, running)

    def _tool_call(self, task: Task, running: _Running) -> ToolCall:
        meta = task.params.get("_meta")
        own = canonical_task_id(meta.get(META_TASK)) if isinstance(meta, dict) else None
        return ToolCall(
            task.params,
            can_write=can_write(task.params),
            is_coordinated=is_coordinated(task.params),
            cancel=running.cancel,
            hear=self._pass_on,
            request_id=task.request_id,
            task_id=own or "",
        )

    async def _requested(self, task: Task, running: _Running) -> dict[str, Any] | None:
        """A request beside the tools. Cancelled, it is given up: nothing of it has to be stopped elsewhere."""
        async with trio.open_nursery() as nursery:

            async def give_up() -> None:
                await running.cancel.wait()
                running.scope.cancel()

            nursery.start_soon(give_up)
            answer: dict[str, Any] | None = None
            failure: Exception | None = None
            with running.scope:
                try:
                    result = await self._front.delegate.request(
                        task.method, task.params, request_id=task.request_id, hear=self._pass_on
                    )
                    answer = result_message(task.request_id, self._session.undress(task, result))
                except (Refused, AnswerLost, ToolError) as error:
                    failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return answer

    async def _instructions(self) -> str:
        """The server's instructions, where the coordinator can be asked; a client may come before it."""
        try:
            told = await self._front.delegate.request("server/discover", {})
        except (Refused, AnswerLost, ToolError):
            return ""
        return str(told.get("instructions") or "")

    # --- what is told unasked ---

    async def _tell_changes(self) -> None:
        """Pass on that the tool list has changed, as long as the process lives (handshake era)."""

        def hear(message: Any) -> None:
            told = change_told(message)
            if told is None and self._session.has_listed:
                # As on a GET stream's connection (R256): what changed while nobody listened is not lost.
                told = missed_change(message)
            if told is not None:
                self._pass_on(told)

        params = {"notifications": {"toolsListChanged": True}}
        while True:
            try:
                await self._front.delegate.request(_LISTEN, params, hear=hear)
            except (Refused, AnswerLost, ToolError):
                pass
            await trio.sleep(LISTEN_AGAIN_S)

    def _pass_on(self, message: Any) -> None:
        try:
            self._outgoing.send_nowait(message)
        except trio.WouldBlock:
            # A client that does not read loses notifications, never an answer.
            return

    async def _write_all(self, everything: trio.CancelScope) -> None:
        async with self._to_write:
            async for message in self._to_write:
                try:
                    await self._write(encode(message) + b"\n")
                except OSError:
                    # Nobody reads any more; what was sent goes on at the coordinator, under its task id.
                    everything.cancel()
                    return


async def lines(read: Read) -> AsyncIterator[bytes | None]:
    """The lines of the input; empty ones are none. None: one that was too long, told as soon as it is and then skipped."""
    rest = bytearray()
    skips = False
    while piece := await read():
        # Only the new piece is looked through: a long line comes in hundreds of them.
        first, *more = piece.split(b"\n")
        for start in (None, *more):
            if start is None:
                rest += first
            else:
                if rest.strip() and not skips:
                    yield bytes(rest).rstrip(b"\r")
                rest, skips = bytearray(start), False
            if skips:
                rest.clear()
            elif len(rest) > MESSAGE_BYTES_MAX:
                skips = True
                rest.clear()
                yield None
    if rest.strip():
        yield bytes(rest)
