"""[core] How far two times are apart, by the calendar: ``1 year 2 days``, ``10 minutes``."""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime
from typing import Final

_UNITS: Final = ("year", "month", "day", "hour", "minute")


def calendar_span(first: datetime, second: datetime) -> str:
    """Years, months, days, hours and minutes between two times; ``""`` below a minute."""
    early, late = sorted((first.astimezone(second.tzinfo), second))
    parts = [
        late.year - early.year,
        late.month - early.month,
        late.day - early.day,
        late.hour - early.hour,
        late.minute - early.minute,
        late.second - early.second,
    ]
    for place, size in ((5, 60), (4, 60), (3, 24)):
        if parts[place] < 0:
            parts[place] += size
            parts[place - 1] -= 1
    if parts[2] < 0:
        parts[2] += monthrange(early.year, early.month)[1]
        parts[1] -= 1
    if parts[1] < 0:
        parts[1] += 12
        parts[0] -= 1
    shown = zip(parts, _UNITS, strict=False)
    return " ".join(f"{count} {unit}{'s' if count > 1 else ''}" for count, unit in shown if count > 0)
