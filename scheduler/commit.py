"""The commit boundary with a bound on its time: who writes is let through once, and may be overtaken by the clock.

Theory of operation. Two promises pull in different directions: what was begun is never abandoned, and nobody waits for
ever. So the boundary work runs in a task of its own, in the scheduler's nursery and shielded from every cancel; the run
that called it waits for it, but not longer than the bound. When the bound is over the run goes on with
``CommitOverrun`` (and can tell its caller that the outcome is unknown), while the work keeps the ticket's slot until it
has really ended. The next write therefore never meets a host that is still busy with this one. Work that
knows that it has done with the host may leave the slot itself.

``Ticket.enter_commit`` holds the mark itself: last cancel check and mark in one synchronous step. Nothing here decides
what an outcome means.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio
from outcome import Error, Outcome, Value

from scheduler.admission import Admission
from scheduler.events import BoundOverrun, report_undelivered
from scheduler.ticket import LocalProtocolError, Ticket, TicketState

T = TypeVar("T")


class CommitOverrun(Exception):
    """The boundary work did not end within its bound: it goes on, and its outcome is unknown for now."""

    def __init__(self, bound_s: float) -> None:
        super().__init__(f"the boundary work did not end within {bound_s} s")
        self.bound_s = bound_s


async def captured(work: Callable[[], Awaitable[T]]) -> Outcome[T]:
    """The value or the error of ``work``. A cancel, a crash and an interrupt are nobody's outcome: they pass through."""
    try:
        return Value(await work())
    except Exception as error:
        return Error(error)


class CommitBoundary:
    """One ticket's boundary: ``enter_commit``, then ``run``, each at most once. Made by ``Scheduler.boundary``."""

    def __init__(
        self,
        ticket: Ticket,
        *,
        bound_s: float,
        nursery: trio.Nursery,
        admission: Admission,
        let_go: Callable[[Ticket], None],
    ) -> None:
        self.ticket = ticket
        self.bound_s = bound_s
        self._nursery = nursery
        self._admission = admission
        self._let_go = let_go

    def enter_commit(self) -> None:
        """``Ticket.enter_commit``: no checkpoint. Raises RequestCancelled, LocalProtocolError."""
        self.ticket.enter_commit()

    def leave_slot(self) -> None:
        """``Ticket.leave_slot``: the host is done with, and what is left waits for a disk. No checkpoint."""
        self.ticket.leave_slot()

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run the boundary work to its end and return its value, or stop waiting for it after ``bound_s`` seconds.

        The work is not cancelled by anything: not by its caller, not by the bound, not by the scheduler's own end.

        Raises:
            CommitOverrun: the bound is over. The work goes on and keeps the slot.
            LocalProtocolError: the boundary was not entered.
        """
        if self.ticket.state is not TicketState.COMMITTING:
            raise LocalProtocolError(f"boundary work in {self.ticket.state.name}")
        self._admission.hold(self.ticket)
        pending: _Pending[T] = _Pending()
        self._nursery.start_soon(self._run_to_the_end, work, pending, name="scheduler boundary")
        with trio.move_on_after(self.bound_s, shield=True):
            await pending.ended.wait()
        if pending.result is None:
            # From here on nobody waits: an error of the work is reported as undelivered.
            pending.is_abandoned = True
            if self._admission.observer is not None:
                self._admission.observer(BoundOverrun(self.ticket.number))
            raise CommitOverrun(self.bound_s)
        return pending.result.unwrap()

    async def _run_to_the_end(self, work: Callable[[], Awaitable[T]], pending: _Pending[T]) -> None:
        with trio.CancelScope(shield=True):
            try:
                pending.result = await captured(work)
            finally:
                self._let_go(self.ticket)
        if pending.is_abandoned and isinstance(pending.result, Error):
            report_undelivered(self._admission.observer, self.ticket.number, pending.result.error)
        pending.ended.set()


class _Pending(Generic[T]):
    """What the waiting run and the boundary work share."""

    def __init__(self) -> None:
        self.ended = trio.Event()
        self.result: Outcome[T] | None = None
        self.is_abandoned = False
