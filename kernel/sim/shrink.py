"""Makes a failing world small: the fewest operations and mishaps that still break the same promise."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from kernel.sim.limits import SHRINK_RUNS_MAX
from kernel.sim.script import Script

_PARTICULARS: Final = re.compile(r"[0-9a-f]*\d[0-9a-f]*|\[.*?\]")
# Runs a script: what broke, "" for nothing.
Run = Callable[[Script], str]


def kind_of(failure: str) -> str:
    """A failure without its numbers: two runs of one fault differ in them."""
    return _PARTICULARS.sub("#", failure)


def shrink(script: Script, failure: str, run: Run) -> Script:
    """A smaller script that fails in the same way; the script itself if there is none."""
    wanted = kind_of(failure)
    budget = _Budget(SHRINK_RUNS_MAX)

    def still_fails(candidate: Script) -> bool:
        return budget.take() and kind_of(run(candidate)) == wanted

    numbers = [one.number for one in script.mishaps]
    kept = _fewest(numbers, lambda some: still_fails(script.only(mishaps=some)))
    script = script.only(mishaps=kept)
    numbers = [one.number for one in script.operations]
    kept = _fewest(numbers, lambda some: still_fails(script.only(operations=some)))
    return script.only(operations=kept)


class _Budget:
    def __init__(self, runs: int) -> None:
        self._runs = runs

    def take(self) -> bool:
        self._runs -= 1
        return self._runs >= 0


def _fewest(numbers: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> list[int]:
    """Leave out halves, then quarters, and so on down to single ones, as long as ``holds`` of the rest."""
    kept = list(numbers)
    size = max(1, len(kept) // 2)
    while kept:
        start, has_changed = 0, False
        while start < len(kept):
            rest = kept[:start] + kept[start + size :]
            if holds(rest):
                kept, has_changed = rest, True
            else:
                start += size
        if size == 1 and not has_changed:
            break
        size = max(1, size // 2) if not has_changed else size
    return kept
