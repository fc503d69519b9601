"""One slot's task: parked, or busy with the ticket it was given. Takes no decision; ``Scheduler`` hands it tickets."""

from __future__ import annotations

import trio

from scheduler.ticket import Ticket


class SlotRunner:
    """Reused from run to run: waking a parked task costs a third of starting one (docs/adr/0001)."""

    def __init__(self) -> None:
        # Nothing that happens to the scheduler's nursery reaches a work; only ``abort`` does.
        self.scope = trio.CancelScope(shield=True)
        self.ticket: Ticket | None = None
        self._parked: trio.lowlevel.Task | None = None

    def take(self, ticket: Ticket) -> None:
        """Run this next. The runner may be parked, not started yet, or between two tickets."""
        assert self.ticket is None
        self.ticket = ticket
        if self._parked is not None:
            parked, self._parked = self._parked, None
            trio.lowlevel.reschedule(parked)

    async def park(self) -> None:
        """Wait for a ticket."""

        def leave(_raise_cancel: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
            self._parked = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._parked = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(leave)

    def abort(self) -> None:
        """End the runner, and with it the work it is busy with."""
        self.scope.cancel("the scheduler ended")
