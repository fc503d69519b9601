"""Carries a fault plan out, where the work passes a fault point. Shell: sleeps, waits, ends the process.

Code that can fail passes ``await trigger.visit(point)``; without a plan that is one comparison and no checkpoint.
What only the visited place can do (send half of it, send it twice) is what ``visit`` returns.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NoReturn

import trio

from kernel.faults.calls import CallFacts, current_call
from kernel.faults.deeds import DEEDS
from kernel.faults.plan import FaultPlan, PlanInvalid, Rule
from kernel.trace import NO_TRACE, Trace

__all__ = ["NO_FAULTS", "AnswerDropped", "ConnectionCut", "FaultInjected", "Trigger", "current_call", "end_process"]

# Carries out a deed of the running kernel: somebody else's edit, a jump of the clock.
WorldDeed = Callable[[Rule, CallFacts], Awaitable[None]]
_DISK_WORDS: Final = {
    "disk_full": "database or disk is full",
    "read_only": "attempt to write a readonly database",
}


class FaultInjected(Exception):
    """The visited step is to fail. ``status``: as an HTTP status instead of the host's envelope ``code``."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule.message)
        self.message = rule.message
        self.code = rule.code
        self.status = rule.status
        self.retry_after_s = rule.retry_after_s


class DiskRefused(FaultInjected):
    """The disk is full, or takes no writes: in the words that SQLite has for it."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule)
        self.message = _DISK_WORDS[rule.do]
        self.args = (self.message,)


class AnswerDropped(Exception):
    """The visited step's answer is to be lost: what it did stays done."""


class ConnectionCut(AnswerDropped):
    """The client's connection is to end here. ``how``: "fin" or "rst"."""

    def __init__(self, how: str) -> None:
        super().__init__(f"the connection is cut ({how})")
        self.how = how


class Trigger:
    """A plan in force. ``crash`` ends the process; a test gives one that raises instead.

    ``world``: who carries out the deeds of the running kernel, by name; filled in by the application.
    """

    def __init__(
        self, plan: FaultPlan | None = None, *, crash: Callable[[], object] | None = None, trace: Trace = NO_TRACE
    ) -> None:
        self.plan = plan if plan is not None else FaultPlan()
        self.trace = trace
        self.world: dict[str, WorldDeed] = {}
        self._crash = crash if crash is not None else end_process
        self._holding: dict[str, int] = {}
        self._released: dict[str, trio.Event] = {}
        self._arrival = trio.Event()

    @property
    def watches_http(self) -> bool:
        """Whether exchanges pass fault points: a rule is about one, or the trace tells of a plan's points."""
        plan = self.plan
        return plan.strikes_http or (self.trace.is_on and not plan.is_empty)

    def check(self, rules: list[Rule]) -> None:
        """Raises PlanInvalid for a deed that this kernel cannot do (a remote host has no index of ours)."""
        for rule in rules:
            if DEEDS[rule.do].doer == "world" and rule.do not in self.world:
                raise PlanInvalid(1, f"{rule.do!r} cannot be done here: this kernel stands in front of another one")

    async def visit(self, point: str, call: CallFacts | None = None) -> tuple[Rule, ...]:
        """Pass a fault point; the rules whose deed is the visited place's own. ``call``: if not the running one.

        Raises:
            FaultInjected: the step is to fail.
            AnswerDropped: its answer is to be lost (ConnectionCut: with the connection).
        """
        if self.plan.is_empty:
            if self.trace.is_on and point.startswith(("write.", "ledger.")):
                self.trace.record("point", point=point, ticket=current_call.get().number)
            return ()
        if point not in self.plan.points and not self.trace.is_on:
            return ()
        facts = current_call.get() if call is None else call
        self.trace.record("point", point=point, ticket=facts.number)
        left = []
        for rule in self.plan.visit(point, facts):
            self._announce(point, rule, facts)
            if DEEDS[rule.do].doer == "place":
                left.append(rule)
            else:
                await self._strike(rule, facts)
        return tuple(left)

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

    async def wait_struck(self, name: str = "", count: int = 1) -> None:
        """Return once the rules of that name have struck ``count`` times."""
        while self.plan.struck(name) < count:
            await self._arrival.wait()

    def _announce(self, point: str, rule: Rule, facts: CallFacts) -> None:
        self.trace.record("fault", point=point, do=rule.do, name=rule.name, ticket=facts.number)
        arrival, self._arrival = self._arrival, trio.Event()
        arrival.set()

    async def _strike(self, rule: Rule, facts: CallFacts) -> None:
        match rule.do:
            case "delay":
                await trio.sleep(rule.seconds or 0.0)
            case "hold":
                await self._hold(rule.name)
            case "fail":
                raise FaultInjected(rule)
            case "drop":
                raise AnswerDropped(rule.message)
            case "cut":
                raise ConnectionCut(rule.how)
            case "disk_full" | "read_only":
                raise DiskRefused(rule)
            case "crash":
                self._crash()
            case _:
                await self._change_world(rule, facts)

    async def _change_world(self, rule: Rule, facts: CallFacts) -> None:
        # Somebody else's work is not this call's: it is no call at all, and no rule may strike it.
        token = current_call.set(CallFacts())
        try:
            await self.world[rule.do](rule, facts)
        finally:
            current_call.reset(token)

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


def deeds(rules: tuple[Rule, ...]) -> Mapping[str, Rule]:
    """The deeds that a visit left to its place, by name (the last rule of a kind counts)."""
    return {rule.do: rule for rule in rules}


def end_process() -> NoReturn:  # pragma: no cover - its end leaves no measure
    """End this process as a power cut would: no handler runs, no buffer is flushed."""
    if hasattr(signal, "SIGKILL"):  # Windows has none
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(137)


NO_FAULTS: Final = Trigger()
