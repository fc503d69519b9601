"""How long the notes take: distributions as rules of a fault plan. [core]

An exponential time is made of independent coins. In units of its mean, the binary digits of an exponential variable are
independent, and digit k (worth 2^k) is 1 with probability 1 / (1 + exp(2^k)): one delay rule per digit, and all that
strike add up.
"""

from __future__ import annotations

import math
from typing import Any, Final

FIXED: Final = "fixed"
EXPONENTIAL: Final = "exponential"
BIMODAL: Final = "bimodal"
SERVICES: Final = {
    FIXED: "Every call takes the same time.",
    EXPONENTIAL: "Exponential: the model's own assumption in M/M/c.",
    BIMODAL: "Nine calls of ten are short, the tenth takes ten times as long; the mean is what was asked for.",
}
# Digits from 1/16 to 8 means: what is left out is below a tenth of a percent above, a sixteenth of a mean below.
_DIGITS: Final = range(-4, 4)
_LONG_SHARE: Final = 0.1
_LONG_TIMES: Final = 10.0


def plan(point: str, service: str, mean_s: float, *, seed: int = 1) -> dict[str, Any]:
    """The plan that makes visits of ``point`` take ``mean_s`` on average. Raises KeyError for an unknown ``service``."""
    rules = {FIXED: _fixed, EXPONENTIAL: _exponential, BIMODAL: _bimodal}[service](mean_s)
    return {
        "rules": [
            {
                "point": point,
                "do": "delay",
                "seconds": seconds,
                "probability": share,
                "seed": seed + number,
                "times": None,
            }
            for number, (seconds, share) in enumerate(rules)
        ]
    }


def _fixed(mean_s: float) -> list[tuple[float, float]]:
    return [(mean_s, 1.0)]


def _exponential(mean_s: float) -> list[tuple[float, float]]:
    return [(mean_s * 2.0**digit, 1.0 / (1.0 + math.exp(2.0**digit))) for digit in _DIGITS]


def _bimodal(mean_s: float) -> list[tuple[float, float]]:
    short = mean_s / (1.0 - _LONG_SHARE + _LONG_SHARE * _LONG_TIMES)
    return [(short, 1.0), (short * (_LONG_TIMES - 1.0), _LONG_SHARE)]
