"""Sends calls to the one coordinator and brings their answers back. Awaits; when to do what is said by the cores.

A call is sent once. Nothing here ever sends it again: not after a lost answer, not after a cancel, not elsewhere
(R144, R147, R220, R250).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import trio

from kernel.delegate import messages
from kernel.delegate.coordinator import (
    ROUTE,
    Coordinator,
    CoordinatorUnavailable,
    Ownership,
    check_versions,
    unavailable,
)
from kernel.delegate.delegation import CallEvent, CallState, Delegation, withdrawn
from kernel.delegate.discovery import Discovery
from kernel.delegate.http_client import ConnectionBroken, HttpClient, NotConnected
from kernel.delegate.limits import (
    ANSWER_BYTES_MAX,
    CANCEL_REQUEST_S_MAX,
    CANCEL_REQUESTS_APART_S,
    CANCEL_REQUESTS_MAX,
    RESULT_QUERY_S_MAX,
)
from kernel.delegate.messages import AnswerLost, Post, Refused
from kernel.errors import ToolError
from kernel.ids import IdSource

_REQUEST_ID: Final = 1
# The kernel's question → "accept", "decline" or "cancel".
Ask = Callable[[str], Awaitable[str]]


def _nothing(_message: Any) -> None:
    return


@dataclass(slots=True)
class ToolCall:
    """One tools/call. ``params``: name, arguments and whatever its caller sent beside them.

    ``request_id``: as its answer shall bear it. ``task_id``: its own, or empty for a new one. ``can_write``: what is told of it when it is in doubt. ``is_coordinated``: it is a write or the preflight of one
    (every call that can write is). ``ask``: answers the kernel's question; None leaves it to
    whoever gets the result. ``cancel``: set it to have the call cancelled. ``sent``: set once the call itself is under
    way, and not only a question about the coordinator. ``hear``: gets notifications of its stream.
    """

    params: dict[str, Any]
    can_write: bool
    ask: Ask | None = None
    cancel: trio.Event = field(default_factory=trio.Event)
    sent: trio.Event = field(default_factory=trio.Event)
    hear: Callable[[Any], None] = _nothing
    request_id: int | str = _REQUEST_ID
    task_id: str = ""
    is_coordinated: bool = False

    def __post_init__(self) -> None:
        self.is_coordinated = self.is_coordinated or self.can_write

    @property
    def write_id(self) -> str | None:
        """The requestId that its arguments bring."""
        arguments = self.params.get("arguments")
        given = arguments.get("requestId") if isinstance(arguments, dict) else None
        return given if isinstance(given, str) else None


class Delegate:
    """One process's way to the coordinator of one place."""

    def __init__(self, discovery: Discovery, ids: IdSource) -> None:
        self.discovery = discovery
        self._ids = ids
        self._ownership = Ownership()
        self._greeted: set[str] = set()

    async def find(self, *, is_coordinated: bool) -> Coordinator:
        """The coordinator of a call, greeted; that of a write or its preflight is remembered. Raises ToolError; nothing of a call was sent then."""
        try:
            found = await self.discovery.find()
        except CoordinatorUnavailable as error:
            raise unavailable(error, is_coordinated=is_coordinated) from None
        if is_coordinated:
            self._ownership.check(found)
        await self._greet(found, is_coordinated=is_coordinated)
        return found

    async def call(self, call: ToolCall) -> dict[str, Any]:
        """The call's result; failures of the way are results with ``isError`` as those of the tools are.

        Raises:
            Refused: a JSON-RPC error of the coordinator (malformed parameters): the caller's own fault.
        """
        delegation = Delegation(call.task_id or self.task_id(), can_write=call.can_write, request_id=call.write_id)
        try:
            coordinator = await self._found(call)
            if coordinator is None:
                delegation.advance(CallEvent.CANCELLED)
                raise withdrawn()
            return await self._watched(coordinator, delegation, call)
        except ToolError as error:
            return error_result(error)

    async def _found(self, call: ToolCall) -> Coordinator | None:
        """The coordinator of a call; None where it is cancelled first, however long a silent one is waited for."""
        found: Coordinator | None = None
        failure: ToolError | None = None
        async with trio.open_nursery() as nursery:

            async def give_up() -> None:
                await call.cancel.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(give_up)
            try:
                if not call.cancel.is_set():
                    found = await self.find(is_coordinated=call.is_coordinated)
            except ToolError as error:
                failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return None if call.cancel.is_set() else found

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        request_id: int | str = _REQUEST_ID,
        hear: Callable[[Any], None] = _nothing,
    ) -> dict[str, Any]:
        """One request beside the tool calls (lists, resources, prompts, listening): its result.

        Raises:
            Refused, AnswerLost, ToolError
        """
        coordinator = await self.find(is_coordinated=False)
        try:
            return await self._exchange(coordinator, messages.rpc(ROUTE, request_id, method, params), request_id, hear)
        except CoordinatorUnavailable as error:
            raise unavailable(error, is_coordinated=False) from None

    async def control(self, coordinator: Coordinator, task_id: str, operation: str) -> Any:
        """One control request; its reply, or None where there is none."""
        post = messages.control(ROUTE, task_id, operation)
        try:
            headers = {**post.headers, **coordinator.headers()}
            async with HttpClient(coordinator.origin).send("POST", post.path, headers, post.body) as reply:
                return messages.read_message(await reply.read()) if reply.status == 200 else None
        except (NotConnected, ConnectionBroken):
            return None

    def task_id(self) -> str:
        """A new task id (R245)."""
        return str(UUID(bytes=self._ids.entropy(16), version=4))

    async def _greet(self, coordinator: Coordinator, *, is_coordinated: bool) -> None:
        """Ask once whether there is a coordinator of our protocol, before anything that it could carry out is sent.

        Raises:
            ToolError: there is none.
        """
        if coordinator.origin in self._greeted:
            return
        try:
            check_versions(coordinator, messages.VERSION, await self._versions(coordinator))
        except (CoordinatorUnavailable, Refused, AnswerLost) as error:
            words = str(error) if isinstance(error, CoordinatorUnavailable) else f"{coordinator.origin}: {error}"
            raise unavailable(CoordinatorUnavailable(words), is_coordinated=is_coordinated) from None
        self._greeted.add(coordinator.origin)

    async def _versions(self, coordinator: Coordinator) -> Any:
        post = messages.rpc(ROUTE, _REQUEST_ID, "server/discover", {})
        try:
            return (await self._exchange(coordinator, post, _REQUEST_ID, _nothing)).get("supportedVersions")
        except Refused as error:
            data = (error.error or {}).get("data")
            if isinstance(data, dict) and isinstance(data.get("supported"), list):
                return data["supported"]
            raise

    # --- one call ---

    async def _watched(self, coordinator: Coordinator, delegation: Delegation, call: ToolCall) -> dict[str, Any]:
        """The call, with an ear for its cancel."""
        failure: ToolError | Refused | None = None
        result: dict[str, Any] = {}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._forward_cancel, coordinator, delegation, call.cancel)
            try:
                result = await self._rounds(coordinator, delegation, call)
            except (ToolError, Refused) as error:
                failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return result

    async def _rounds(self, coordinator: Coordinator, delegation: Delegation, call: ToolCall) -> dict[str, Any]:
        meta = call.params.get("_meta")
        # Only a client that shows forms is asked; the answer to the kernel's own question comes from ``ask``.
        shown: dict[str, Any] = (
            {f"{messages.META}clientCapabilities": {"elicitation": {}}} if call.ask is not None else {}
        )
        own = meta if isinstance(meta, dict) else {}
        params = {**call.params, "_meta": {**shown, **own, messages.META_TASK: delegation.task_id}}
        while True:
            result = await self._round(coordinator, delegation, params, call)
            words = messages.question_of(result)
            if words is None or call.ask is None:
                if delegation.state is CallState.SENT:
                    delegation.advance(CallEvent.REPLIED)
                return result
            delegation.advance(CallEvent.QUESTIONED)
            said = "cancel" if call.cancel.is_set() else await call.ask(words)
            params = messages.answered(params, result, said)

    async def _round(
        self, coordinator: Coordinator, delegation: Delegation, params: Mapping[str, Any], call: ToolCall
    ) -> dict[str, Any]:
        delegation.advance(CallEvent.DISPATCHED)
        call.sent.set()
        post = messages.rpc(ROUTE, call.request_id, "tools/call", params)
        try:
            return await self._exchange(coordinator, post, call.request_id, call.hear)
        except (CoordinatorUnavailable, Refused) as error:
            delegation.advance(CallEvent.TURNED_AWAY)
            if isinstance(error, Refused) and error.error is not None:
                raise
            gone = CoordinatorUnavailable(f"{coordinator.origin} did not take the call: {error}")
            raise unavailable(gone, is_coordinated=call.is_coordinated) from None
        except AnswerLost as error:
            delegation.lose(f"its answer was lost ({error})")
            return await self._recovered(coordinator, delegation)

    async def _exchange(
        self, coordinator: Coordinator, post: Post, request_id: int | str, hear: Callable[[Any], None]
    ) -> dict[str, Any]:
        headers = {**post.headers, **coordinator.headers()}
        try:
            async with HttpClient(coordinator.origin).send("POST", post.path, headers, post.body) as reply:
                if not reply.headers.get("content-type", "").startswith("text/event-stream"):
                    return messages.result_of(reply.status, messages.read_message(await reply.read()), request_id)
                reader, left = messages.EventReader(), ANSWER_BYTES_MAX
                while piece := await reply.receive():
                    left -= len(piece)
                    for message in reader.feed(piece):
                        if messages.is_answer(message, request_id):
                            return messages.result_of(reply.status, message, request_id)
                        hear(message)
                    if left < 0:
                        raise AnswerLost(f"it is longer than {ANSWER_BYTES_MAX} bytes")
                raise AnswerLost("its stream ended without it")
        except NotConnected as error:
            raise CoordinatorUnavailable(str(error)) from None
        except ConnectionBroken as error:
            raise AnswerLost(str(error)) from None

    async def _recovered(self, coordinator: Coordinator, delegation: Delegation) -> dict[str, Any]:
        """The result that the coordinator still has (R246-R249). Raises ToolError (``outcome_unknown``)."""
        while (wait_s := delegation.next_query_s()) is not None:
            await trio.sleep(wait_s)
            reply = None
            with trio.move_on_after(RESULT_QUERY_S_MAX):
                reply = await self.control(coordinator, delegation.task_id, "result")
            result = delegation.take_reply(reply)
            if result is not None:
                return result
        raise delegation.in_doubt()

    async def _forward_cancel(self, coordinator: Coordinator, delegation: Delegation, cancel: trio.Event) -> None:
        """Ask the coordinator to stop the call, until it says that it knows it (R218, R219); the answer is waited for."""
        await cancel.wait()
        for _ in range(CANCEL_REQUESTS_MAX):
            with trio.move_on_after(CANCEL_REQUEST_S_MAX):
                reply = await self.control(coordinator, delegation.task_id, "cancel")
                if isinstance(reply, dict) and reply.get("found") is True:
                    return
            await trio.sleep(CANCEL_REQUESTS_APART_S)


def error_result(error: ToolError) -> dict[str, Any]:
    """A failure of the way in the shape of a tool's failure."""
    payload = error.payload()
    text = json.dumps(payload, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "structuredContent": payload, "isError": True}
