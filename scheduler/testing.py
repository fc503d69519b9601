"""Try every interleaving of your own code: cancels injected at every scheduling point, and every order of wake-ups.

Nothing here is needed at run time. Three tools, from narrow to wide:

- ``cancel_everywhere`` runs a scenario once per scheduling point and strikes at that point: it cancels the part of the
  scenario inside ``with injector.watch():``, or calls the function given to ``injector.strike_with``. A point has two
  moments. *Blocked*: the task has just parked, the cancel interrupts its wait. *Woken*: the task has its value but has
  not run yet, the cancel lands at its next checkpoint. The second moment is where slots and receipts get lost.
  (``trio.sleep`` knows no second moment, its own end is a cancel too: let doubles wait for events.)
- ``every_schedule`` runs a small scenario once per order in which Trio could have run the woken tasks.
- ``Checker`` is an observer that watches the scheduler's promises, and ``check_quiescent`` what must hold in the end.

All runs use a virtual clock. A failure carries its replay as a note: seed, moment and point, or the tape of choices.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import trio
from trio._core import _run  # the two private names below have no public twin; they are used in this file only
from trio.testing import MockClock

from scheduler.checker import Checker, check_quiescent
from scheduler.limits import POINTS_MAX, SCENARIO_S_MAX, SCHEDULES_MAX

__all__ = [
    "MOMENTS",
    "CancelInjector",
    "Checker",
    "ChoiceTape",
    "Moment",
    "OrderSource",
    "cancel_everywhere",
    "check_quiescent",
    "controlled_order",
    "every_schedule",
    "replay",
    "run_scenario",
]

Moment = Literal["blocked", "woken"]
MOMENTS: Final[tuple[Moment, ...]] = ("blocked", "woken")


class OrderSource(Protocol):
    """What decides the order of a batch of woken tasks: ``random.Random(seed)`` or a ``ChoiceTape``."""

    def shuffle(self, x: Any) -> None: ...


class ChoiceTape:
    """A number whose digits are the choices of one run; counting it up visits every run there is.

    Each digit has its own base (how many choices there were). ``next_run`` adds one at the last place and carries; what
    follows the changed digit is forgotten, for other choices may come up there.
    """

    def __init__(self, digits: Sequence[int] = ()) -> None:
        self._digits: list[int] = list(digits)
        self._bases: list[int] = []
        self._place = 0
        self._is_paused = False

    @property
    def digits(self) -> tuple[int, ...]:
        """The choices of the run so far: what ``ChoiceTape(digits)`` repeats."""
        return tuple(self._digits[: self._place])

    def pause(self) -> None:
        """From now on the first choice is always taken: for a setting-up whose order is of no interest."""
        self._is_paused = True

    def resume(self) -> None:
        """From now on choices are made again, as they are from the start of every run."""
        self._is_paused = False

    def choose(self, base: int) -> int:
        """One of 0 … base-1."""
        if self._is_paused or base < 2:
            return 0
        if self._place == len(self._digits):
            self._digits.append(0)
        if self._place == len(self._bases):
            self._bases.append(base)
        assert self._bases[self._place] == base, "the scenario is not deterministic: other choices came up"
        digit = self._digits[self._place]
        self._place += 1
        return digit

    def next_run(self) -> bool:
        """Move on to the next run; False when all have been visited."""
        del self._digits[self._place :], self._bases[self._place :]
        self._place = 0
        self._is_paused = False
        while self._digits:
            if self._digits[-1] + 1 < self._bases[-1]:
                self._digits[-1] += 1
                return True
            self._digits.pop()
            self._bases.pop()
        return False

    def shuffle(self, x: list[Any]) -> None:
        """Trio's request for an order: each place takes one of those that are left."""
        left = list(x)
        x[:] = [left.pop(self.choose(len(left))) for _ in range(len(left))]


@contextmanager
def controlled_order(source: OrderSource) -> Iterator[None]:
    """Inside, Trio asks ``source`` for the order of every batch of woken tasks: same source, same run."""
    # The same two names that Trio's own Hypothesis plug-in sets; a test of ours fails when they lose their meaning.
    saved = _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r
    _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r = True, source  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r = saved  # type: ignore[misc]


@dataclass(eq=False)
class CancelInjector(trio.abc.Instrument):
    """Strikes once, at scheduling point number ``target`` (from 0), at one of the two moments of that point."""

    target: int
    moment: Moment = "blocked"
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    points: int = 0  # seen so far
    has_struck: bool = False
    error: BaseException | None = None  # what the strike raised: an instrument's own errors would be swallowed by Trio
    _followed: dict[trio.lowlevel.Task, None] = field(default_factory=dict)
    _strike: Callable[[], object] | None = None

    @contextmanager
    def watch(self) -> Iterator[trio.CancelScope]:
        """Count the points of this task and of its descendants inside the block, and cancel the block."""
        task = trio.lowlevel.current_task()
        self._followed[task] = None
        try:
            with self.scope:
                yield self.scope
        finally:
            self._followed.pop(task, None)

    def strike_with(self, action: Callable[[], object]) -> None:
        """From now on count the points of every task, and strike by calling ``action`` (a cancel by name, a fault)."""
        self._strike = action

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        nursery = task.parent_nursery
        if nursery is not None and nursery.parent_task in self._followed:
            self._followed[task] = None

    def task_exited(self, task: trio.lowlevel.Task) -> None:
        self._followed.pop(task, None)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        if self.moment == "woken":
            self._pass_point(task)

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if self.moment == "blocked":
            self._pass_point(task)

    def _pass_point(self, task: trio.lowlevel.Task) -> None:
        if self._strike is None and task not in self._followed:
            return
        if self.points == self.target:
            self.has_struck = True
            try:
                if self._strike is not None:
                    self._strike()
                else:
                    self.scope.cancel("injected")
            except BaseException as error:
                self.error = error
        self.points += 1


Scenario = Callable[[CancelInjector], Awaitable[None]]
TapeScenario = Callable[[ChoiceTape], Awaitable[None]]


def run_scenario(
    scenario: Callable[[], Awaitable[None]], order: OrderSource, instruments: Sequence[trio.abc.Instrument] = ()
) -> None:
    """One run under a virtual clock that jumps whenever every task waits; a deadlock ends in ``trio.TooSlowError``."""

    async def bounded() -> None:
        with trio.fail_after(SCENARIO_S_MAX):
            await scenario()

    with controlled_order(order):
        trio.run(bounded, clock=MockClock(autojump_threshold=0), instruments=list(instruments))


def replay(scenario: Scenario, *, seed: int, moment: Moment, target: int) -> bool:
    """One run of a sweep; True if its point was reached."""
    injector = CancelInjector(target, moment)

    async def run() -> None:
        await scenario(injector)

    run_scenario(run, random.Random(seed), [injector])
    if injector.error is not None:
        raise injector.error
    return injector.has_struck


def cancel_everywhere(scenario: Scenario, seeds: range = range(1), moments: Sequence[Moment] = MOMENTS) -> int:
    """Run ``scenario`` with a strike at every point, at both moments, for every seed; the number of runs.

    Raises whatever a run raised, with the replay as a note.
    """
    runs = 0
    for seed in seeds:
        for moment in moments:
            for target in range(POINTS_MAX):
                try:
                    has_struck = replay(scenario, seed=seed, moment=moment, target=target)
                except BaseException as error:
                    error.add_note(f"replay: {seed=} {moment=} {target=}")
                    raise
                runs += 1
                if not has_struck:
                    break
            else:
                raise AssertionError(f"the scenario has more than {POINTS_MAX} points")
    return runs


def every_schedule(scenario: TapeScenario) -> int:
    """Run ``scenario`` in every order that Trio could have chosen; the number of runs. For a handful of tasks."""
    tape = ChoiceTape()
    for runs in range(1, SCHEDULES_MAX + 1):

        async def run() -> None:
            await scenario(tape)

        try:
            run_scenario(run, tape)
        except BaseException as error:
            error.add_note(f"replay: ChoiceTape({tape.digits})")
            raise
        if not tape.next_run():
            return runs
    raise AssertionError(f"the scenario has more than {SCHEDULES_MAX} schedules")
