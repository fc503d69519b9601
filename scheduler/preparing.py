"""The block in which a caller prepares its request. Takes no lane and starts nothing."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import trio
from outcome import Outcome

from scheduler.ticket import RequestCancelled, Ticket


class Preparing:
    """Interrupted when the ticket is cancelled by name; the block then ends in RequestCancelled."""

    def __init__(self, ticket: Ticket) -> None:
        self._ticket = ticket
        # What outlives its caller must also survive being prepared: the departure waits until the ticket is queued.
        self._scope = trio.CancelScope(shield=ticket.outlives_caller)

    def __enter__(self) -> None:
        self._ticket.check_cancelled()
        self._ticket.deliver = self._interrupt
        self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._ticket.deliver = None
        is_caught = bool(self._scope.__exit__(kind, error, trace))
        if self._ticket.is_cancelled and (is_caught or error is None or isinstance(error, Exception)):
            # Whatever the block came to: the state was decided by the cancel, and so is the answer.
            raise RequestCancelled from None
        return is_caught

    def _interrupt(self, _result: Outcome[Any]) -> None:
        self._scope.cancel("the request was cancelled")
