"""One tools/call from admission to its answer (architecture, "one request"). Awaits; the rules are in the cores.

    admit → prepare → confirm → lane: perform → answer        (decisions 8, 11, 14, 21, 22)

The connection's task walks the first three steps and submits the fourth; from then on it only waits on the channel,
and whoever ends the ticket (the run, a cancel by name, a disconnect) finishes it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

import msgspec
from outcome import Error, Outcome, Value

from kernel.clock import Clock
from kernel.errors import ToolError
from kernel.ids import IdSource
from kernel.mcp.channel import InputRequired, PostChannel
from kernel.mcp.elicitation import Answer, Binding, Confirmations, client_identity, question, state_refused
from kernel.mcp.jsonrpc import INTERNAL_ERROR, ProtocolError, RequestId, encode, result_message
from kernel.mcp.params import CallTool
from kernel.mcp.results import Dress, tool_result
from kernel.mcp.sessions import Session
from kernel.tools.service import Caller, CallNamed, Prepared, Refused, ToolResult, ToolService
from scheduler.admission import DuplicateKey, QueueFull
from scheduler.scheduler import Scheduler
from scheduler.ticket import Lane, RequestCancelled, Ticket

logger: Final = logging.getLogger(__name__)

NOTHING_DONE: Final[dict[str, Any]] = {"writeAttempted": False, "writeExecuted": False}


class TaskStore(Protocol):
    """Who keeps the results of calls that carry a task id (R227-R253). Synchronous."""

    def begin(self, owner: str, task_id: str, ticket: Ticket, *, now: float) -> bool:
        """Register a call; False while that id runs or its end is kept, and then the call is refused."""
        ...

    def end(self, owner: str, task_id: str, body: bytes | None, surface: str, *, now: float) -> None:
        """Keep its result (JSON). None: it had none to keep (a question to the user, a protocol error).

        ``surface``: the digest of tool list and permissions as the call found them.
        """
        ...


PrepareAtOnce = Callable[[str, dict[str, Any], Caller], Prepared | None]


def _never_at_once(_name: str, _arguments: dict[str, Any], _caller: Caller) -> Prepared | None:
    return None


class Call(msgspec.Struct, eq=False):
    """One request on its way, in either era."""

    request_id: RequestId
    method: str
    caller: Caller
    channel: PostChannel
    dress: Dress
    client_info: Any = None
    session: Session | None = None
    task_id: str | None = None
    outlives_client: bool = False
    may_become_task: bool = False  # its client takes tasks of the official extension
    is_task: bool = False  # the store knows it, and is told of its end
    is_performed: bool = False  # its work is over, and only what is kept of it is still being written
    surface: str = ""
    asked: CallNamed | None = None

    def complete(self, result: dict[str, Any]) -> None:
        self._finish(self.dress.complete(self.method, result))

    def ask(self, result: dict[str, Any]) -> None:
        self._finish(self.dress.question(result))

    def fail(self, error: ProtocolError) -> None:
        error.request_id = self.request_id
        self.channel.finish(encode(error.object()), self.dress.status(error))

    def crash(self, error: BaseException) -> None:
        """An error nobody foresaw: its text stays in the log."""
        logger.error("%s failed", self.method, exc_info=error)
        self.fail(ProtocolError(INTERNAL_ERROR, "Internal error"))

    def _finish(self, result: dict[str, Any]) -> None:
        try:
            message = encode(result_message(self.request_id, result))
        except (TypeError, ValueError, RecursionError) as error:  # a handler gave what JSON cannot carry
            self.crash(error)
        else:
            self.channel.finish(message)


class ToolCalls:
    """Runs tools/call for both eras."""

    def __init__(
        self,
        service: ToolService,
        scheduler: Scheduler,
        confirmations: Confirmations,
        clock: Clock,
        ids: IdSource,
        tasks: TaskStore | None = None,
    ) -> None:
        self._service = service
        # Only the product has it: see ``kernel.tools.call.Tools.prepare_at_once``.
        self._prepare_at_once: PrepareAtOnce = getattr(service, "prepare_at_once", _never_at_once)
        self._scheduler = scheduler
        self._confirmations = confirmations
        self._clock = clock
        self._ids = ids
        self._tasks = tasks

    async def start(self, call: Call, operation: CallTool) -> Ticket | None:
        """Take the call as far as it goes at once: either its channel is finished, or the ticket that will finish it
        is returned."""
        call.asked = operation.name, operation.arguments
        try:
            ticket = self._admit(call, operation)
        except ToolError as error:
            self._refuse(call, error)
            return None
        try:
            with ticket:
                return await self._advance(call, operation, ticket)
        except RequestCancelled:
            self._deliver(call, Error(RequestCancelled()))
        except ProtocolError as error:
            self._end_task(call, None)
            call.fail(error)
        except Exception as error:
            self._end_task(call, None)
            call.crash(error)
        except BaseException:
            # The connection's task itself is ended: there is nobody to answer, and nothing to keep.
            self._end_task(call, None)
            raise
        return None

    def cancel(self, ticket: Ticket) -> None:
        """The client went away: what can still be stopped is stopped."""
        self._scheduler.cancel_ticket(ticket)

    # --- admission ---

    def _admit(self, call: Call, operation: CallTool) -> Ticket:
        session = call.session
        try:
            return self._scheduler.admit(
                call.request_id if session is not None else None,
                session=None if session is None else session.id,
                # One credential's task ids say nothing about another's (R230).
                task_id=None if call.task_id is None else f"{call.caller.principal}/{call.task_id}",
                outlives_caller=call.outlives_client,
                label=operation.name,
            )
        except QueueFull as full:
            raise ToolError(
                "queue_full",
                "Too many requests are in flight; nothing was executed",
                outer=NOTHING_DONE,
                retryAfterMs=full.retry_after_ms,
            ) from None
        except DuplicateKey as duplicate:
            raise _duplicate("taskId" if duplicate.is_task else "id") from None

    # --- prepare and confirm ---

    async def _advance(self, call: Call, operation: CallTool, ticket: Ticket) -> Ticket | None:
        if call.task_id is not None and self._tasks is not None:
            # No checkpoint since the admission: whoever asks for the task finds it.
            call.is_task = self._tasks.begin(call.caller.principal, call.task_id, ticket, now=self._clock.now())
            if not call.is_task:
                self._refuse(call, _duplicate("taskId"))
                return None
            # Before anything is read: a result is never shown under permissions that came after it was begun.
            call.surface = await self._service.surface_version(call.caller)
        elif call.may_become_task:
            call.surface = await self._service.surface_version(call.caller)
        try:
            prepared = self._prepare_at_once(operation.name, operation.arguments, call.caller)
            if prepared is None:
                prepared = await self._prepare(call, operation, ticket)
        except Refused as refused:
            self._complete(call, refused.result)
            return None
        except ToolError as error:
            self._refuse(call, error)
            return None
        if not self._is_confirmed(call, operation, prepared):
            return None
        if prepared.lane is None:
            result = await self._service.perform(prepared, ticket, call.caller)
            ticket.check_cancelled()
            self._complete(call, result)
            return None
        if prepared.is_immediate and self._scheduler.can_start(prepared.lane):
            await self._perform_here(call, prepared, prepared.lane, ticket)
            return ticket
        self._scheduler.submit(
            ticket, prepared.lane, self._work(call, prepared), on_answer=self._delivery(call, prepared)
        )
        return ticket

    async def _prepare(self, call: Call, operation: CallTool, ticket: Ticket) -> Prepared:
        if call.session is None:
            # Nobody can name this request, so nobody can cancel it while it is prepared.
            return await self._service.prepare(operation.name, operation.arguments, call.caller)
        prepared: Prepared
        with self._scheduler.preparing(ticket):
            prepared = await self._service.prepare(operation.name, operation.arguments, call.caller)
        return prepared

    async def _perform_here(self, call: Call, prepared: Prepared, lane: Lane, ticket: Ticket) -> None:
        """The lane is free and the work waits for nothing: a task of its own would cost more than all of it."""
        try:
            result = await self._scheduler.perform_inline(ticket, lane, self._work(call, prepared))
        except Exception as error:
            self._deliver(call, Error(error), prepared)
        else:
            call.is_performed = True
            self._tell(call, result)

    def _work(self, call: Call, prepared: Prepared) -> Callable[[Ticket], Any]:
        return partial(self._service.perform, prepared, caller=call.caller)

    def _is_confirmed(self, call: Call, operation: CallTool, prepared: Prepared) -> bool:
        """Whether the call may go on; if not, it has been answered. Raises ProtocolError for a bad state."""
        confirmation = prepared.confirmation
        state = operation.request_state if call.caller.era == "modern" else None
        if confirmation is None:
            if state is not None and not self._service_reads_states:
                raise state_refused()
            return True
        now = self._clock.now()
        binding = Binding(call.caller.principal, client_identity(call.client_info), confirmation.operation)
        if state is not None:
            answer = self._confirmations.judge(state, binding, operation.input_responses, now=now)
            if answer is Answer.CONFIRMED:
                return True
            self._refuse(call, _unconfirmed(answer), prepared)
            return False
        if call.caller.has_form_elicitation:
            state = self._confirmations.issue(binding, self._ids.token(), now=now)
            self._end_task(call, None)
            call.ask(question(confirmation.message, state))
            return False
        if self._confirmations.is_pending(call.caller.principal, confirmation.operation, now=now):
            self._refuse(call, _unconfirmed(Answer.MALFORMED), prepared)
            return False
        if operation.arguments.get("confirm") is not True:
            refusal = ToolError("dangerous_action_requires_confirmation", confirmation.message, outer=NOTHING_DONE)
            self._refuse(call, refusal, prepared)
            return False
        return True

    @property
    def _service_reads_states(self) -> bool:
        # Only the conformance twin mints states of its own; to the product a state without a question is a foreign one.
        return bool(getattr(self._service, "reads_request_states", False))

    # --- the end ---

    def _delivery(self, call: Call, prepared: Prepared) -> Callable[[Outcome[ToolResult]], None]:
        def deliver(outcome: Outcome[ToolResult]) -> None:
            self._deliver(call, outcome, prepared)

        return deliver

    def _deliver(self, call: Call, outcome: Outcome[ToolResult], prepared: Prepared | None = None) -> None:
        if isinstance(outcome, Value):
            self._tell(call, outcome.value)
            return
        assert isinstance(outcome, Error)
        error = outcome.error
        if isinstance(error, RequestCancelled):
            self._refuse(call, ToolError("request_cancelled", "The call was cancelled", outer=NOTHING_DONE), prepared)
            return
        if isinstance(error, ToolError):
            self._refuse(call, error, prepared)
            return
        self._end_task(call, None)
        if isinstance(error, InputRequired):
            call.ask(error.result())
        elif isinstance(error, ProtocolError):
            call.fail(error)
        else:
            call.crash(error)

    def _tell(self, call: Call, result: ToolResult) -> None:
        if result.recorded is None or result.recorded.is_done:
            self._complete(call, result)
        else:
            # The run has ended and its slot is free: only this answer waits for its statistics (R211).
            result.recorded.when_written(partial(self._complete, call, result))

    def _refuse(self, call: Call, error: ToolError, prepared: Prepared | None = None) -> None:
        self._complete(call, self._service.error_result(error, prepared, asked=call.asked))

    def _complete(self, call: Call, result: ToolResult) -> None:
        wire = tool_result(result)
        self._end_task(call, wire)
        call.complete(wire)

    def _end_task(self, call: Call, result: dict[str, Any] | None) -> None:
        if call.task_id is None or self._tasks is None or not call.is_task:
            return
        call.is_task = False
        body = None
        if result is not None:
            try:
                body = encode(result)
            except (TypeError, ValueError, RecursionError):
                pass  # answering with it ends in the same error, which is then told
        self._tasks.end(call.caller.principal, call.task_id, body, call.surface, now=self._clock.now())


def _duplicate(name: str) -> ToolError:
    return ToolError("duplicate_request", f"A call with this {name} is in flight or kept", outer=NOTHING_DONE)


def _unconfirmed(answer: Answer) -> ToolError:
    outer = {**NOTHING_DONE, "cancelled": answer is Answer.CANCELLED}
    match answer:
        case Answer.DECLINED:
            return ToolError("confirmation_declined", "The user declined the action", outer=outer)
        case Answer.CANCELLED:
            return ToolError("confirmation_cancelled", "The user cancelled the action", outer=outer)
        case _:
            return ToolError(
                "confirmation_invalid", "A confirmation is pending and was not answered as its form asks", outer=outer
            )
