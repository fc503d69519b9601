"""A cancel at every scheduling point of every action's call, at both moments, in both eras.

Modern: the client leaves. Handshake: it cancels by name. Either the call ends as if nothing had happened, or it says
``request_cancelled`` and the host was not written to; then the same call, with the same request id, goes through.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from kernel.sim.life import inline_threads
from kernel.tools.registry import ACTIONS, Action
from scheduler.testing import MOMENTS, CancelInjector, Moment, controlled_order
from tests.sweeps.calls import ERAS, REFUSED, REQUEST, WRITES, Era, Kernel, code_of, open_kernel
from tests.sweeps.notes import base

POINTS_MAX = 2_000


class Sweep:
    """One action in one era: a kernel is used again as long as the cancelled calls have left no trace in it."""

    def __init__(self, action: Action, era: Era, stack: AsyncExitStack) -> None:
        self.action, self.era, self.stack = action, era, stack
        self.kernel: Kernel | None = None
        self.arguments: dict[str, Any] = {}
        self.clean = ""
        self.clean_writes: list[str] = []
        # How the calls ended that a cancel reached: how many with which code, "" for a success.
        self.ends: Counter[str] = Counter()

    async def fresh(self) -> Kernel:
        if self.kernel is None:
            await self.stack.aclose()
            self.kernel = await self.stack.enter_async_context(open_kernel())
            self.arguments = await self.kernel.prepared(self.action)
            if self.era == "handshake":
                await self.kernel._session()
            self.kernel.writes.clear()
        return self.kernel

    async def undisturbed(self) -> None:
        """How the call ends when nobody cancels it."""
        kernel = await self.fresh()
        self.clean = code_of(await kernel.call(self.action, self.arguments, self.era, REQUEST))
        await kernel.rest()
        self.clean_writes = list(kernel.writes)
        self.kernel = None

    async def struck(self, target: int, moment: Moment) -> bool:
        """One run; whether its point was reached."""
        kernel = await self.fresh()
        injector = CancelInjector(target, moment)
        injector.strike_with(kernel.leave if self.era == "modern" else kernel.cancel)
        trio.lowlevel.add_instrument(injector)
        try:
            told = await kernel.call(self.action, self.arguments, self.era, REQUEST)
        finally:
            trio.lowlevel.remove_instrument(injector)
        if injector.error is not None:
            raise injector.error
        await kernel.rest()
        if injector.has_struck:
            self.ends[code_of(told)] += 1
        await self.judge(kernel, code_of(told))
        return injector.has_struck

    async def judge(self, kernel: Kernel, code: str) -> None:
        if code == "request_cancelled":
            assert kernel.writes == []
            again = code_of(await kernel.call(self.action, self.arguments, self.era, REQUEST))
            assert again == self.clean, "what was cancelled cannot be done any more"
            await kernel.rest()
        else:
            assert code == self.clean
        assert kernel.writes == self.clean_writes
        if kernel.writes or "requestId" in self.arguments:
            self.kernel = None


async def sweep(action: Action, era: Era, moment: Moment) -> Counter[str]:
    """How the struck calls ended, by code."""
    async with AsyncExitStack() as stack:
        one = Sweep(action, era, stack)
        await one.undisturbed()
        assert (one.clean != "") == (action.key in REFUSED), f"the sweep's own call fails: {one.clean}"
        for target in range(POINTS_MAX):
            try:
                if not await one.struck(target, moment):
                    return one.ends
            except BaseException as error:
                error.add_note(f"{action.key}, {era}, {moment}, point {target}")
                raise
        raise AssertionError("the call never ends")


def run(key: str, era: Era, moment: Moment) -> Counter[str]:
    base()
    with inline_threads(), controlled_order(random.Random(key)):
        return trio.run(partial(sweep, ACTIONS[key], era, moment), clock=MockClock(autojump_threshold=0))


def test_a_cancel_at_every_point_of_one_write() -> None:
    ends = run("block.update", "handshake", "woken")
    assert set(ends) == {"request_cancelled", ""}, "before its boundary a write is cancelled, behind it it is done"


def test_a_departure_at_every_point_of_one_call() -> None:
    assert set(run("system.notify", "modern", "blocked")) == {"request_cancelled", ""}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("key", list(ACTIONS))
def test_a_cancel_at_every_point_of_any_action(key: str, era: Era, moment: Moment) -> None:
    ends = run(key, era, moment)
    assert ends.total() > 0
    # A departure is seen one step later than a cancel by name, and a small read is done at once: both may be too late.
    if era == "handshake" and ACTIONS[key] in WRITES:
        assert ends["request_cancelled"] > 0
