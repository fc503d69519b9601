"""[core] Times in templates: the methods of Go's time values, durations, reading times."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from kernel.workspace.path_template import go_date
from kernel.workspace.templates.time_layouts import DAYS, MONTHS, Unread, read_time
from kernel.workspace.templates.values import Int64, Named, int_of, printed, text_of

_UNITS_NS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
_DURATION_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_COMMON_LAYOUTS: Final = (
    "2006-01-02T15:04:05Z07:00",
    "2006-01-02 15:04:05",
    "2006-01-02T15:04:05",
    "2006-01-02 15:04",
    "2006-01-02",
    "2006/01/02 15:04:05",
    "2006/01/02",
    "2006/1/2",
    "2006-1-2",
    "20060102150405",
    "20060102",
    "2006-01",
    "2006",
    "2006.01.02",
    "1/2/2006",
    "1/2/2006 15:04:05",
    "Jan 2, 2006 3:04:05 PM",
    "Jan 2, 2006",
    "January 2, 2006",
    "2 Jan 2006",
    "2 January 2006",
    "Mon, 02 Jan 2006 15:04:05 MST",
    "Mon, 02 Jan 2006 15:04:05 -0700",
    "Mon Jan _2 15:04:05 2006",
    "Mon Jan _2 15:04:05 MST 2006",
)
_SECONDS: Final = re.compile(r"\d{10}")


class Month(Named):
    names = ("", *MONTHS)


class Weekday(Named):
    names = DAYS


def month(moment: datetime) -> Month:
    return Month(moment.month)


def weekday(moment: datetime) -> Weekday:
    return Weekday(moment.isoweekday() % 7)


def added(moment: datetime, years: int, months: int, days: int) -> datetime:
    """AddDate: months overflow into the next one, as Go counts."""
    at = moment.year * 12 + moment.month - 1 + years * 12 + months
    year, month_at = divmod(at, 12)
    length = monthrange(year, month_at + 1)[1]
    over = max(moment.day - length, 0)
    return moment.replace(year=year, month=month_at + 1, day=min(moment.day, length)) + timedelta(days=days + over)


def parse_duration(text: str) -> timedelta | None:
    """``1h30m``, ``-24h``; None if it is none."""
    sign = -1 if text.startswith("-") else 1
    rest = text.lstrip("+-")
    if rest == "0":
        return timedelta()
    parts = _DURATION_PART.findall(rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        return None
    return sign * timedelta(microseconds=sum(float(number) * _UNITS_NS[unit] for number, unit in parts) / 1000)


def parse_any(text: str, now: datetime) -> datetime:
    """A time in one of the usual spellings; ``now`` if it is in none."""
    zone = now.tzinfo or UTC
    if _SECONDS.fullmatch(text):
        return datetime.fromtimestamp(int(text), tz=zone)
    for layout in _COMMON_LAYOUTS:
        with suppress(Unread):
            return read_time(layout, text, zone)
    return now


def in_zone(moment: datetime, name: str) -> datetime:
    """The same moment elsewhere; UTC where the place is unknown."""
    if name in ("", "UTC"):
        return moment.astimezone(UTC)
    try:
        return moment.astimezone(None if name == "Local" else ZoneInfo(name))
    except (OSError, ValueError, LookupError):
        return moment.astimezone(UTC)


def method_of(value: Any, name: str) -> Callable[..., Any] | None:
    """A method of a time, a month, a weekday or a duration, None where it has none of that name."""
    kinds: tuple[tuple[type, dict[str, Any]], ...] = (
        (datetime, _METHODS),
        (timedelta, _DURATION_METHODS),
        (Named, {"String": _named}),
    )
    method = next((methods.get(name) for kind, methods in kinds if isinstance(value, kind)), None)
    return partial(method, value) if method is not None else None


def _named(value: Named) -> str:
    return str(value)


def unix(moment: datetime) -> int:
    return int(moment.timestamp() // 1)


_METHODS: Final[dict[str, Any]] = {
    "Format": lambda moment, layout: go_date(moment, text_of(layout)),
    "Year": lambda moment: moment.year,
    "Month": month,
    "Day": lambda moment: moment.day,
    "Hour": lambda moment: moment.hour,
    "Minute": lambda moment: moment.minute,
    "Second": lambda moment: moment.second,
    "Nanosecond": lambda moment: moment.microsecond * 1000,
    "Weekday": weekday,
    "YearDay": lambda moment: moment.timetuple().tm_yday,
    "Unix": lambda moment: Int64(unix(moment)),
    "UnixMilli": lambda moment: Int64(moment.timestamp() * 1000),
    "AddDate": lambda moment, years, months, days: added(moment, int_of(years), int_of(months), int_of(days)),
    "Add": lambda moment, span: moment + _span(span),
    "Truncate": lambda moment, span: moment - (moment - _FIRST) % _span(span),
    "Sub": lambda moment, other: moment - other,
    "Before": lambda moment, other: moment < other,
    "After": lambda moment, other: moment > other,
    "Equal": lambda moment, other: moment == other,
    "IsZero": lambda moment: moment.year == 1,
    "UTC": lambda moment: moment.astimezone(UTC),
    "Local": lambda moment: moment,
    "String": lambda moment: go_date(moment, "2006-01-02 15:04:05 -0700 MST"),
}


_DURATION_METHODS: Final[dict[str, Any]] = {
    "Hours": lambda span: span.total_seconds() / 3600,
    "Minutes": lambda span: span.total_seconds() / 60,
    "Seconds": lambda span: span.total_seconds(),
    "Milliseconds": lambda span: Int64(span.total_seconds() * 1000),
    "String": printed,
}


def _span(value: Any) -> timedelta:
    return value if isinstance(value, timedelta) else timedelta(microseconds=int_of(value) / 1000)
