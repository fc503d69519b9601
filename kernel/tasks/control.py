"""[core] Task control (R227-R253): which calls run under a task id, and the results of those that have ended.

Theory of operation. A task id belongs to one credential: ``(owner, task id)`` is the key, so a foreign id is simply not
there. From ``begin`` to ``end`` a key is *running* and its ticket tells its state; what runs is never pushed out. At its
end it becomes *kept*: the bytes of its result (or only the fact that it ended, where they are too many), beside the
digest of tool list and permissions under which it began. Kept entries go by age, or when a newer one needs the room,
oldest first; nothing is written down, so a restart forgets all of them. What is not found says nothing about the call.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

import msgspec

from kernel.errors import ERRORS
from kernel.tasks import limits
from scheduler.ticket import Ticket, TicketState

Operation = Literal["status", "cancel", "result"]
OPERATIONS: Final[tuple[Operation, ...]] = ("status", "cancel", "result")

# The wire knows one terminal word, and says of a commit beside the state that it is one.
DONE: Final = "done"
_RUNNING: Final = "running"
_ENDED: Final = frozenset({TicketState.COMPLETED, TicketState.FAILED})


class ControlInvalid(Exception):
    """The body of a control request is not one (HTTP 400)."""


@dataclass(frozen=True, slots=True)
class Control:
    """One control request. ``task_id`` is in lower case."""

    task_id: str
    operation: Operation


def canonical_task_id(value: object) -> str | None:
    """The lower-case form of a UUID in its 36 characters; None if ``value`` is none. Upper case is the same task."""
    try:
        # The 36-character form only: UUID() itself also reads braces, urn: and bare digits.
        if isinstance(value, str) and str(UUID(value)) == value.lower():
            return value.lower()
    except ValueError:
        pass
    return None


def read_control(body: bytes) -> Control:
    """A control request from its JSON body ``{taskId, operation}``; members beside these are tolerated.

    Raises:
        ControlInvalid
    """
    try:
        given = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ControlInvalid(f"the body is not a JSON object: {error}") from None
    task_id = canonical_task_id(given.get("taskId"))
    if task_id is None:
        raise ControlInvalid("taskId must be a UUID string")
    for operation in OPERATIONS:
        if given.get("operation") == operation:
            return Control(task_id, operation)
    raise ControlInvalid(f"operation must be one of {', '.join(OPERATIONS)}")


@dataclass(frozen=True, slots=True)
class Kept:
    """A call that has ended. ``body``: its result as JSON; None where it was too large."""

    body: bytes | None
    surface: str
    expires_at: float
    is_cancelled: bool

    @property
    def size_bytes(self) -> int:
        return len(self.body) if self.body is not None else 0


Key = tuple[str, str]


class TaskControl:
    """The tasks of one endpoint. ``now`` is monotonic seconds; expiry is by comparison."""

    def __init__(self) -> None:
        self._running: dict[Key, Ticket] = {}
        self._kept: OrderedDict[Key, Kept] = OrderedDict()  # in the order of their ends
        self._kept_bytes = 0

    def begin(self, owner: str, task_id: str, ticket: Ticket, *, now: float) -> bool:
        """Register a call. False while that id runs or its end is kept: the call is then refused (R252)."""
        self._expire(now)
        key = owner, task_id
        if key in self._running or key in self._kept:
            return False
        self._running[key] = ticket
        return True

    def end(self, owner: str, task_id: str, body: bytes | None, surface: str, *, now: float) -> None:
        """Keep a call's result. None: it had none to keep (a question to the user, a protocol error), the id is free.

        ``surface``: the digest of tool list and permissions as the call found them.
        """
        key = owner, task_id
        ticket = self._running.pop(key)
        if body is None:
            return
        retained = body if len(body) <= limits.RESULT_BYTES_MAX else None
        kept = Kept(retained, surface, now + limits.RESULT_TTL_S, ticket.is_cancelled)
        self._expire(now)
        while self._kept and not self._has_room(kept.size_bytes):
            self._drop(next(iter(self._kept)))
        self._kept[key] = kept
        self._kept_bytes += kept.size_bytes

    def running(self, owner: str, task_id: str) -> Ticket | None:
        """The ticket of a call that has not ended."""
        return self._running.get((owner, task_id))

    def kept(self, owner: str, task_id: str, *, now: float) -> Kept | None:
        """The end of a call, while it is kept."""
        self._expire(now)
        return self._kept.get((owner, task_id))

    def task_ids(self, *, now: float) -> frozenset[str]:
        """Every id that runs or is kept, whoever's it is."""
        self._expire(now)
        return frozenset(task_id for _, task_id in (*self._running, *self._kept))

    def statistics(self, *, now: float) -> dict[str, int]:
        """Counts for /health: no ids, no owners, no results (R279, R280)."""
        self._expire(now)
        return {
            "records": len(self._kept),
            "bytes": self._kept_bytes,
            "running": len(self._running),
            "ttlMs": limits.RESULT_TTL_S * 1000,
            "capacity": limits.RESULTS_MAX,
            "maxBytes": limits.RESULTS_BYTES_MAX,
            "maxResultBytes": limits.RESULT_BYTES_MAX,
        }

    def _has_room(self, size_bytes: int) -> bool:
        return len(self._kept) < limits.RESULTS_MAX and self._kept_bytes + size_bytes <= limits.RESULTS_BYTES_MAX

    def _expire(self, now: float) -> None:
        while self._kept:
            key = next(iter(self._kept))
            if self._kept[key].expires_at > now:
                return
            self._drop(key)

    def _drop(self, key: Key) -> None:
        self._kept_bytes -= self._kept.pop(key).size_bytes


# --- replies -----------------------------------------------------------------------------------------------------


def not_found_reply(control: Control) -> dict[str, Any]:
    """Not admitted, expired, pushed out, of another credential or of an earlier process: all alike (R243)."""
    return _reply(control, is_found=False, state=None, is_accepted=False)


def running_reply(control: Control, ticket: Ticket, *, is_accepted: bool = False) -> dict[str, Any]:
    """A call that has not ended. Committing is told beside the state, which is then ``running``."""
    is_committing = ticket.state is TicketState.COMMITTING
    return _reply(
        control,
        is_found=True,
        # The work may be over while its answer is still being recorded.
        state=_RUNNING if is_committing or ticket.state in _ENDED else ticket.state.value,
        is_accepted=is_accepted,
        is_cancelled=ticket.is_cancelled,
        is_committing=is_committing,
    )


def kept_reply(
    control: Control, kept: Kept, surface: str, *, now: float, wall_ms: int, is_accepted: bool = False
) -> dict[str, Any]:
    """A call that has ended; ``result`` only where it was asked for and may be seen (R238-R241).

    ``surface``: the digest of tool list and permissions as they are now. ``result`` is ``msgspec.Raw``.
    """
    reason = None
    if kept.surface != surface:
        reason = "access_changed"
    elif kept.body is None:
        reason = "result_too_large"
    reply = _reply(control, is_found=True, state=DONE, is_accepted=is_accepted, is_cancelled=kept.is_cancelled)
    reply["resultAvailable"] = reason is None
    reply["expiresAt"] = wall_ms + round((kept.expires_at - now) * 1000)
    if reason is not None:
        reply["reason"] = reason
        reply["nextStep"] = ERRORS[reason].next_step
    elif control.operation == "result" and kept.body is not None:
        reply["result"] = msgspec.Raw(kept.body)
    return reply


def _reply(
    control: Control,
    *,
    is_found: bool,
    state: str | None,
    is_accepted: bool,
    is_cancelled: bool = False,
    is_committing: bool = False,
) -> dict[str, Any]:
    reply: dict[str, Any] = {
        "found": is_found,
        "state": state,
        "cancelRequested": is_cancelled,
        "committing": is_committing,
        "resultAvailable": False,
    }
    if control.operation == "cancel":
        reply["accepted"] = is_accepted
    return reply
