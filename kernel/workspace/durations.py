"""[core] Times and sizes as people read them, in the kernel's English."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_WEEK: Final = 7 * _DAY
_MONTH: Final = 30 * _DAY
_YEAR: Final = 12 * _MONTH
_LONG: Final = 37 * _YEAR
# Up to (seconds, exclusive): text, unit in seconds (0: the text has no number).
_STEPS: Final[tuple[tuple[float, str, int], ...]] = (
    (1, "now", 0),
    (2, "1 second", 0),
    (_MINUTE, "%d seconds", 1),
    (2 * _MINUTE, "1 minute", 0),
    (_HOUR, "%d hours", _MINUTE),  # the kernel's own slip: minutes are counted, hours are said
    (2 * _HOUR, "1 hour", 0),
    (_DAY, "%d hours", _HOUR),
    (2 * _DAY, "1 day", 0),
    (_WEEK, "%d days", _DAY),
    (2 * _WEEK, "1 week", 0),
    (_MONTH, "%d weeks", _WEEK),
    (2 * _MONTH, "1 month", 0),
    (_YEAR, "%d months", _MONTH),
    (23 * _MONTH, "1 year", 0),
    (2 * _YEAR, "2 years", 0),
    (_LONG, "%d years", _YEAR),
    (math.inf, "a long while", 0),
)
_SIZES: Final = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def ago(then: datetime, now: datetime) -> str:
    """How long ago: ``2 seconds ago``, ``now``, ``1 week from now``."""
    shown = span(then, now)
    if shown == "now":
        return shown
    return f"{shown} ago" if now > then else f"{shown} from now"


def span(first: datetime, second: datetime) -> str:
    """How far two times are apart: ``2 seconds``, ``1 week``, ``now``."""
    seconds = abs((second - first).total_seconds())
    _, text, unit = next(step for step in _STEPS if seconds < step[0])  # the last bound is infinite
    return text % int(seconds // unit) if unit else text


def file_size(size: int) -> str:
    """Bytes in powers of 1000, rounded up to two digits: ``860 B``, ``1.2 kB``."""
    if size < 10:
        return f"{size} B"
    power = min(int(math.log(size, 1000)), len(_SIZES) - 1)
    value = math.ceil(size / 1000**power * 100) / 100
    return f"{value:.2f}".rstrip("0").rstrip(".") + f" {_SIZES[power]}"
