"""Carries a fault plan out, where the work passes a fault point. Shell: sleeps, waits, ends the process.

Code that can fail passes ``await trigger.visit(point)``; without a plan that is one comparison and no checkpoint.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final, NoReturn

import trio

from kernel.faults.plan import FaultPlan, Rule

# The tool action whose call is running: rules may be narrowed to it.
current_call: Final[ContextVar[tuple[str, str] | None]] = ContextVar("current_call", default=None)


class FaultInjected(Exception):
    """The visited step is to fail. ``status``: as an HTTP status instead of the host's envelope ``code``."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule.message)
        self.message = rule.message
        self.code = rule.code
        self.status = rule.status


class AnswerDropped(Exception):
    """The visited step's answer is to be lost: what it did stays done."""


class Trigger:
    """A plan in force. ``crash`` ends the process; a test gives one that raises instead."""

    def __init__(self, plan: FaultPlan | None = None, *, crash: Callable[[], object] | None = None) -> None:
        self.plan = plan if plan is not None else FaultPlan()
        self._crash = crash if crash is not None else end_process
        self._holding: dict[str, int] = {}
        self._released: dict[str, trio.Event] = {}
        self._arrival = trio.Event()

    async def visit(self, point: str) -> None:
        """Pass a fault point.

        Raises:
            FaultInjected: the step is to fail.
            AnswerDropped: its answer is to be lost.
        """
        if self.plan.is_empty:
            return
        tool, action = current_call.get() or (None, None)
        for rule in self.plan.visit(point, tool=tool, action=action):
            await self._strike(rule)

    def release(self, name: str = "") -> int:
        """Let go whatever is held under ``name`` (and nothing that comes later); how many calls that were."""
        released = self._released.pop(name, None)
        if released is not None:
            released.set()
        return self._holding.pop(name, 0)

    def held(self, name: str = "") -> int:
        """How many calls are held under ``name``."""
        return self._holding.get(name, 0)

    async def wait_held(self, name: str = "", count: int = 1) -> None:
        """Return once ``count`` calls are held under ``name``."""
        while self.held(name) < count:
            await self._arrival.wait()

    async def _strike(self, rule: Rule) -> None:
        if rule.do == "delay":
            await trio.sleep(rule.seconds)
        elif rule.do == "hold":
            await self._hold(rule.name)
        elif rule.do == "fail":
            raise FaultInjected(rule)
        elif rule.do == "drop":
            raise AnswerDropped(rule.message)
        else:
            self._crash()

    async def _hold(self, name: str) -> None:
        released = self._released.setdefault(name, trio.Event())
        self._holding[name] = self._holding.get(name, 0) + 1
        self._arrival.set()
        self._arrival = trio.Event()
        try:
            await released.wait()
        finally:
            # Cancelled while it was held: it is not there to be let go any more.
            if not released.is_set():
                self._holding[name] -= 1


def end_process() -> NoReturn:
    """End this process as a power cut would: no handler runs, no buffer is flushed."""
    if hasattr(signal, "SIGKILL"):  # Windows has none
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(137)


NO_FAULTS: Final = Trigger()
