"""At the door of a full house: so many requests a turn of the event loop, in order of arrival. Shell.

Trio runs everything that can run before it looks again, in no order that anybody chose. A crowd that can only be refused
would fill each turn with refusals, and the works that hold the lanes, which need some turns each, would starve. While
the house is full this lets a few requests a turn through, so that turns stay short; else it costs one question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import trio

from kernel.http.limits import ENTRIES_PER_TURN_MAX


class Turnstile:
    """One per server. ``is_full``: whether what comes now would only be refused. Run ``run`` in the server's nursery."""

    def __init__(self, is_full: Callable[[], bool], entries_per_turn_max: int = ENTRIES_PER_TURN_MAX) -> None:
        self.is_full = is_full
        self._entries_max = entries_per_turn_max
        self._left = entries_per_turn_max
        self._waiting: deque[trio.lowlevel.Task] = deque()
        self._keeper: trio.lowlevel.Task | None = None  # while it is parked

    def __len__(self) -> int:
        """How many wait at the door."""
        return len(self._waiting)

    async def enter(self) -> None:
        """Return at once if this turn has room and nobody waits, else in one of the next turns."""
        if self._keeper is not None:
            trio.lowlevel.reschedule(self._keeper)
            self._keeper = None
        if self._left and not self._waiting:
            self._left -= 1
            return
        task = trio.lowlevel.current_task()
        self._waiting.append(task)

        def leave(_raise_cancel: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
            self._waiting.remove(task)
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(leave)

    async def run(self) -> None:
        """Open the door anew in each turn, as long as anybody comes; else sleep."""
        while True:
            if self._left == self._entries_max and not self._waiting:
                self._keeper = trio.lowlevel.current_task()
                await trio.lowlevel.wait_task_rescheduled(self._retire)
            await trio.lowlevel.checkpoint()
            self._left = self._entries_max
            while self._left and self._waiting:
                trio.lowlevel.reschedule(self._waiting.popleft())
                self._left -= 1

    def _retire(self, _raise_cancel: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
        self._keeper = None
        return trio.lowlevel.Abort.SUCCEEDED
