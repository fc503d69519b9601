"""``POST /tasks``: status, cancel, result. Outside the lanes (decision 9). Awaits only the digest of the surface."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from kernel.clock import Clock
from kernel.tasks.control import (
    Control,
    ControlInvalid,
    TaskControl,
    kept_reply,
    not_found_reply,
    read_control,
    running_reply,
)
from kernel.wire import Answer, Exchange, Request, Response, json_response
from scheduler.admission import CancelOutcome
from scheduler.scheduler import Scheduler

Surface = Callable[[str], Awaitable[str]]
"""The digest of tool list and permissions as a credential sees them now."""

_NOT_STORED: Final = (("Cache-Control", "no-store"),)


class TaskRoute:
    """The handler. ``identify``: the request's credential, as ``tools/call`` sees it (R230)."""

    def __init__(
        self,
        tasks: TaskControl,
        scheduler: Scheduler,
        clock: Clock,
        *,
        identify: Callable[[Request], str],
        surface: Surface,
    ) -> None:
        self._tasks = tasks
        self._scheduler = scheduler
        self._clock = clock
        self._identify = identify
        self._surface = surface

    async def handle(self, exchange: Exchange) -> Answer:
        """Answer one control request; a malformed one is 400."""
        request = exchange.request
        try:
            control = read_control(request.body)
        except ControlInvalid as error:
            return _answer(400, {"error": "invalid_task_control", "message": str(error)})
        return _answer(200, await self._reply(control, self._identify(request)))

    async def _reply(self, control: Control, owner: str) -> dict[str, Any]:
        ticket = self._tasks.running(owner, control.task_id)
        is_accepted = False
        if control.operation == "cancel" and ticket is not None:
            # No checkpoint before it: a cancel must not lose a race against its own bookkeeping.
            is_accepted = self._scheduler.cancel_ticket(ticket) is CancelOutcome.ACCEPTED
            ticket = self._tasks.running(owner, control.task_id)
        if ticket is not None:
            return running_reply(control, ticket, is_accepted=is_accepted)
        if self._tasks.kept(owner, control.task_id, now=self._clock.now()) is None:
            return not_found_reply(control)
        surface = await self._surface(owner)
        now = self._clock.now()
        kept = self._tasks.kept(owner, control.task_id, now=now)
        if kept is None:
            return not_found_reply(control)
        return kept_reply(control, kept, surface, now=now, wall_ms=self._clock.wall_ms(), is_accepted=is_accepted)


def _answer(status: int, value: dict[str, Any]) -> Response:
    return json_response(status, msgspec.json.encode(value), _NOT_STORED)
