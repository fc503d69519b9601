"""Has something changed, or is it noise? Two sets of rounds, one verdict. [core]

Two things must agree before a change is called one. Its size is beyond what rounds of the same thing scatter (three robust
standard deviations of the ratio of medians, from the median absolute deviations, and never below 2 %); and the rounds
hardly interleave (nine of ten pairs say the same). With fewer than three rounds on a side there is no verdict.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kernel.bench.limits import CHANGE_MIN

BETTER: Final = "better"
WORSE: Final = "worse"
SAME: Final = "no difference"
UNKNOWN: Final = "too few rounds"
ROUNDS_MIN: Final = 3
_DEVIATIONS: Final = 3.0
_PAIRS_MIN: Final = 0.9
# A normal distribution's standard deviation in median absolute deviations.
_NORMAL: Final = 1.4826


@dataclass(frozen=True, slots=True)
class Verdict:
    """``change``: relative change of the median (0.1 = 10 % more); ``noise``: what a change must exceed."""

    word: str
    before: float
    after: float
    change: float
    noise: float

    def as_json(self) -> dict[str, float | str]:
        return {
            "verdict": self.word,
            "before": self.before,
            "after": self.after,
            "change": round(self.change, 4),
            "noise": round(self.noise, 4),
        }


def judge(before: Sequence[float], after: Sequence[float], *, more_is_better: bool) -> Verdict:
    """Compare two sets of rounds of one number."""
    old, new = statistics.median(before), statistics.median(after)
    if not old:
        word = SAME if not new else UNKNOWN
        return Verdict(word, old, new, 0.0 if not new else math.inf, 0.0)
    change = new / old - 1.0
    noise = max(CHANGE_MIN, _DEVIATIONS * math.hypot(_scatter(before), _scatter(after)))
    if min(len(before), len(after)) < ROUNDS_MIN:
        return Verdict(UNKNOWN, old, new, change, noise)
    is_change = abs(change) > noise and _agreement(before, after, rises=change > 0) >= _PAIRS_MIN
    if not is_change:
        return Verdict(SAME, old, new, change, noise)
    return Verdict(BETTER if (change > 0) == more_is_better else WORSE, old, new, change, noise)


def _scatter(values: Sequence[float]) -> float:
    """The relative standard deviation of the values' median, robustly."""
    median = statistics.median(values)
    if not median:
        return 0.0
    mad = statistics.median(abs(value - median) for value in values)
    # A median scatters 1.2533 times as much as a mean of as many values.
    return 1.2533 * _NORMAL * mad / abs(median) / math.sqrt(len(values))


def _agreement(before: Sequence[float], after: Sequence[float], *, rises: bool) -> float:
    """The share of pairs, one of each side, that differ in the given direction."""
    agreeing = sum((new > old) if rises else (new < old) for old in before for new in after)
    return agreeing / (len(before) * len(after))
