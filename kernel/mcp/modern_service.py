"""Serves what the ladder let through: one modern request, without any memory of another. Awaits."""

from __future__ import annotations

from functools import partial
from typing import Any

from kernel.mcp.answers import EVENT_HEADERS, answer
from kernel.mcp.calls import Call
from kernel.mcp.capabilities import TASKS, missing_capability, takes_tasks
from kernel.mcp.channel import PostChannel
from kernel.mcp.classify import ModernRequest
from kernel.mcp.dispatch import run_handler
from kernel.mcp.heads import Head
from kernel.mcp.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, ProtocolError, encode, result_message
from kernel.mcp.limits import STREAM_RETRY_S
from kernel.mcp.modern_era import (
    META_SUBSCRIPTION,
    Discover,
    Envelope,
    Listen,
    TaskOperation,
    client_name,
    read_envelope,
    read_operation,
)
from kernel.mcp.params import CallTool
from kernel.mcp.parts import Parts
from kernel.mcp.results import ModernDress
from kernel.mcp.subscriptions import Listening
from kernel.mcp.task_inputs import TaskInputs
from kernel.mcp.waiting import await_answer_for
from kernel.tools.service import Caller
from kernel.wire import Answer, Exchange, StreamResponse, StreamWriter


class ModernService:
    """The 2026-07-28 side of the endpoint."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._dress = ModernDress(parts.offer.server_info)

    async def serve(self, exchange: Exchange, head: Head, modern: ModernRequest, principal: str) -> Answer:
        """Answer one request.

        Raises:
            ProtocolError: its parameters are malformed, or a stream cannot be had; the id is set.
        """
        try:
            envelope = read_envelope(modern)
            operation = read_operation(modern)
            call = self._call(head, modern, envelope, operation, principal)
            if isinstance(operation, Listen):
                return self._listen(exchange, head, call, operation)
        except ProtocolError as error:
            error.request_id = modern.request.id
            raise
        if isinstance(operation, CallTool):
            return await self._call_tool(exchange, head, call, operation)
        if isinstance(operation, TaskOperation):
            await run_handler(call, self._parts.tasks.serve, operation)
        elif isinstance(operation, Discover):
            await run_handler(call, self._discover, operation)
        else:
            await self._parts.dispatch.run(call, operation)
        assert call.channel.answer is not None, "an operation outside the lanes is answered at once"
        return answer(head, call.channel.answer, call.channel.status)

    def _call(self, head: Head, modern: ModernRequest, envelope: Envelope, operation: Any, principal: str) -> Call:
        is_tool = isinstance(operation, CallTool)
        capabilities = envelope.capabilities
        # A call with a task id of our own extension has its task already; one that reports has its stream.
        may_become_task = (
            is_tool and envelope.task_id is None and envelope.progress_token is None and takes_tasks(capabilities)
        )
        channel = PostChannel(
            takes_events=head.takes_events and is_tool,
            capabilities=capabilities,
            progress_token=envelope.progress_token,
            log_level=envelope.log_level,
            input_responses=modern.params.get("inputResponses"),
            request_state=modern.params.get("requestState"),
            inputs=TaskInputs() if may_become_task else None,
        )
        caller = Caller(
            "modern",
            principal,
            client_name(envelope.client_info),
            None,
            envelope.has_form,
            envelope.has_apps,
            channel=channel,
        )
        outlives_client = envelope.task_id is not None or not self._parts.cancels_on_disconnect
        return Call(
            modern.request.id,
            modern.request.method,
            caller,
            channel,
            self._dress,
            envelope.client_info,
            None,
            envelope.task_id,
            outlives_client,
            may_become_task=may_become_task,
        )

    async def _call_tool(self, exchange: Exchange, head: Head, call: Call, operation: CallTool) -> Answer:
        calls = self._parts.calls
        ticket = await calls.start(call, operation)
        if ticket is None:
            assert call.channel.answer is not None, "a call without a ticket has been answered"
            return answer(head, call.channel.answer, call.channel.status)
        cancel = None if call.outlives_client else partial(calls.cancel, ticket)
        for_s = self._parts.task_after_s if call.may_become_task else None
        told = await await_answer_for(for_s, exchange, head, call, self._parts.patience, cancel)
        if told is not None:
            return told
        task = self._dress.complete(call.method, self._parts.tasks.adopt(call, ticket))
        return answer(head, encode(result_message(call.request_id, task)))

    async def _discover(self, _operation: Discover, call: Call) -> dict[str, Any]:
        extensions = await self._parts.extensions(call.caller)
        return self._parts.offer.discover(await self._parts.instructions(call.caller), extensions)

    def _listen(self, exchange: Exchange, head: Head, call: Call, operation: Listen) -> StreamResponse:
        if not head.takes_events:
            raise ProtocolError(INVALID_REQUEST, "Not Acceptable: a listen stream needs text/event-stream", status=406)
        if operation.names_tasks and not takes_tasks(call.channel.capabilities):
            raise missing_capability({"extensions": {TASKS: {}}})
        subscriptions, principal = self._parts.subscriptions, call.caller.principal
        if not subscriptions.listeners.has_room(principal):
            retry = (("Retry-After", str(STREAM_RETRY_S)),)
            raise ProtocolError(INTERNAL_ERROR, "Too many listen streams are open", status=429, headers=retry)
        look = partial(self._parts.surface, call.caller, tools=operation.wants_tools, prompts=operation.wants_prompts)
        final = self._dress.complete(call.method, {"_meta": {META_SUBSCRIPTION: call.request_id}})
        listening = Listening(call.request_id, principal, operation, final)

        async def produce(writer: StreamWriter) -> None:
            await subscriptions.serve_listen(exchange, listening, look, writer)

        return StreamResponse(200, EVENT_HEADERS, produce)
