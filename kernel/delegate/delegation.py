"""The life of one delegated call, as a table: sent once, its answer looked for, never sent again (R245-R253). No I/O.

Theory of operation. A call gets a task id of its own before it is sent (R245). If its answer is lost, the same
coordinator is asked at most three times what became of that task, 100 ms apart (R246-R248); what it still has is the
answer, anything else is *in doubt*, and is told with the id so that its caller may go on asking (R251). There is no way
from there back to SENT. A question of the kernel is an answer: the call that carries the user's word is its next round
under the same id, for the first round ended with the question and kept nothing (R242).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from kernel.delegate.coordinator import ROUTE
from kernel.delegate.limits import RESULT_QUERIES_MAX, RESULT_QUERY_APART_S
from kernel.errors import ToolError


class CallState(Enum):
    """Where a delegated call stands."""

    NEW = "new"
    SENT = "sent"
    ASKED = "asked"
    LOST = "lost"
    ANSWERED = "answered"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    IN_DOUBT = "in doubt"


class CallEvent(Enum):
    """What happened to it."""

    DISPATCHED = "dispatched"
    REPLIED = "replied"
    QUESTIONED = "questioned"
    TURNED_AWAY = "turned away"
    REPLY_LOST = "reply lost"
    RESULT_FOUND = "result found"
    GAVE_UP = "gave up"
    CANCELLED = "cancelled"


class IllegalTransition(Exception):
    """Our own fault: an event that cannot happen in this state."""


_NOTHING: Final[Mapping[CallEvent, CallState]] = MappingProxyType({})
TRANSITIONS: Final[Mapping[CallState, Mapping[CallEvent, CallState]]] = MappingProxyType(
    {
        CallState.NEW: MappingProxyType(
            {
                CallEvent.DISPATCHED: CallState.SENT,
                CallEvent.TURNED_AWAY: CallState.REFUSED,
                CallEvent.CANCELLED: CallState.WITHDRAWN,
            }
        ),
        CallState.SENT: MappingProxyType(
            {
                CallEvent.REPLIED: CallState.ANSWERED,
                CallEvent.QUESTIONED: CallState.ASKED,
                CallEvent.TURNED_AWAY: CallState.REFUSED,
                CallEvent.REPLY_LOST: CallState.LOST,
                CallEvent.GAVE_UP: CallState.IN_DOUBT,
            }
        ),
        CallState.ASKED: MappingProxyType(
            {CallEvent.DISPATCHED: CallState.SENT, CallEvent.CANCELLED: CallState.WITHDRAWN}
        ),
        CallState.LOST: MappingProxyType(
            {CallEvent.RESULT_FOUND: CallState.ANSWERED, CallEvent.GAVE_UP: CallState.IN_DOUBT}
        ),
        CallState.ANSWERED: _NOTHING,
        CallState.REFUSED: _NOTHING,
        CallState.WITHDRAWN: _NOTHING,
        CallState.IN_DOUBT: _NOTHING,
    }
)


class Delegation:
    """One call under its task id. ``can_write``: whether it may have changed something when it is in doubt.
    ``request_id``: that of its strict write, by which it can be replayed (R146); None where it brings none."""

    def __init__(self, task_id: str, *, can_write: bool, request_id: str | None = None) -> None:
        self.task_id = task_id
        self.can_write = can_write
        self.request_id = request_id
        self.state = CallState.NEW
        self.queries = 0
        self.reason = "its answer was lost"

    def advance(self, event: CallEvent) -> None:
        """Raises IllegalTransition."""
        try:
            self.state = TRANSITIONS[self.state][event]
        except KeyError:
            raise IllegalTransition(f"{event.name} cannot happen to a call that is {self.state.name}") from None

    def lose(self, reason: str) -> None:
        """The answer is lost; from now on ``next_query_s`` says when to ask."""
        self.advance(CallEvent.REPLY_LOST)
        self.reason = reason

    def next_query_s(self) -> float | None:
        """How long to wait before the next ``result`` query; None when there is none left, and the call is in doubt."""
        assert self.state is CallState.LOST, "only a lost answer is asked for"
        if self.queries >= RESULT_QUERIES_MAX:
            self.advance(CallEvent.GAVE_UP)
            return None
        self.queries += 1
        return 0.0 if self.queries == 1 else RESULT_QUERY_APART_S

    def take_reply(self, reply: Any) -> dict[str, Any] | None:
        """The call's result in the reply to a ``result`` query (None: no reply came), or None.

        An end without a result to be had (over 1 MiB, access changed) will not get one: then there is no further query.
        """
        if not isinstance(reply, dict) or reply.get("found") is not True:
            return None
        if reply.get("state") != "done":
            self.reason = "it is still running"
            return None
        result = reply.get("result")
        if isinstance(result, dict) and isinstance(result.get("content"), list):
            self.advance(CallEvent.RESULT_FOUND)
            return result
        self.reason = f"it has ended and its result cannot be had: {reply.get('reason') or 'no result'}"
        self.queries = RESULT_QUERIES_MAX
        return None

    def in_doubt(self) -> ToolError:
        """``outcome_unknown`` with the ids to ask with (R146, R251)."""
        return outcome_unknown(
            f"The call was sent, and {self.reason}.", self.task_id, self.request_id, can_write=self.can_write
        )


def outcome_unknown(words: str, task_id: str, request_id: str | None, *, can_write: bool) -> ToolError:
    """A call that was sent and has no answer. One that can have changed nothing may be made again."""
    outer: dict[str, Any] = {"success": False, "writeAttempted": can_write, "transactionState": "unknown"}
    known = {} if request_id is None else {"requestId": request_id}
    recovery = {"operation": "result", "endpoint": f"{ROUTE}/tasks"}
    error = ToolError("outcome_unknown", words, outer=outer, taskId=task_id, recovery=recovery, **known)
    error.is_of_read = not can_write
    return error


def withdrawn() -> ToolError:
    """``request_cancelled``: the call was given up before it was sent."""
    outer = {"success": False, "writeAttempted": False, "writeExecuted": False}
    return ToolError("request_cancelled", "The call was cancelled before it was sent.", outer=outer)


def transitions_diagram() -> str:
    """The table as a mermaid state diagram, for the documentation."""
    lines = ["stateDiagram-v2", f"    [*] --> {CallState.NEW.name}"]
    for state, row in TRANSITIONS.items():
        lines.extend(f"    {state.name} --> {after.name}: {event.value}" for event, after in row.items())
        if not row:
            lines.append(f"    {state.name} --> [*]")
    return "\n".join(lines) + "\n"
