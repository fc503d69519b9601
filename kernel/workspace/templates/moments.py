"""[core] Times in templates: the methods of Go's time values, durations, reading times."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

from kernel.workspace.path_template import go_date
from kernel.workspace.templates.values import int_of, text_of

_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS: Final = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
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
_LAYOUT_PARTS: Final = {
    "2006": r"(?P<year>\d{4})",
    "01": r"(?P<month>\d{2})",
    "1": r"(?P<month>\d{1,2})",
    "02": r"(?P<day>\d{2})",
    "2": r"(?P<day>\d{1,2})",
    "15": r"(?P<hour>\d{2})",
    "04": r"(?P<minute>\d{2})",
    "05": r"(?P<second>\d{2})",
    "MST": r"(?:[A-Z]{3,4})",
    "Z07:00": r"(?P<zone>Z|[+-]\d{2}:\d{2})",
    "-07:00": r"(?P<zone>[+-]\d{2}:\d{2})",
    "-0700": r"(?P<zone>[+-]\d{4})",
}
_LAYOUT: Final = re.compile("|".join(re.escape(part) for part in sorted(_LAYOUT_PARTS, key=len, reverse=True)))
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
)


class Named(int):
    """A month or a weekday: a number that prints as a name."""

    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.names[self] if 0 <= self < len(self.names) else f"%!({int(self)})"


class Month(Named):
    names = ("", *_MONTHS)


class Weekday(Named):
    names = tuple(_DAYS)


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


def parse_moment(layout: str, text: str, zone: tzinfo) -> datetime | None:
    """A time written in a Go layout; None if it is not."""
    pattern, end = "", 0
    for found in _LAYOUT.finditer(layout):
        part = _LAYOUT_PARTS[found[0]]
        pattern += re.escape(layout[end : found.start()])
        pattern += part if part.split(">")[0] not in pattern else r".*?"
        end = found.end()
    pattern += re.escape(layout[end:])
    match = re.fullmatch(pattern + r"(?:\.\d+)?", text)
    if match is None:
        return None
    parts = match.groupdict()
    try:
        return datetime(
            int(parts.get("year") or 1),
            int(parts.get("month") or 1),
            int(parts.get("day") or 1),
            int(parts.get("hour") or 0),
            int(parts.get("minute") or 0),
            int(parts.get("second") or 0),
            tzinfo=_zone(parts.get("zone"), zone),
        )
    except ValueError:
        return None


def _zone(text: str | None, default: tzinfo) -> tzinfo:
    if not text:
        return default
    return UTC if text == "Z" else datetime.strptime(text, "%z").tzinfo or default


def parse_any(text: str, now: datetime) -> datetime:
    """A time in one of the usual spellings; ``now`` if it is in none."""
    zone = now.tzinfo or UTC
    for layout in _COMMON_LAYOUTS:
        found = parse_moment(layout, text.strip(), zone)
        if found is not None:
            return found
    return now


def in_zone(moment: datetime, name: str) -> datetime:
    """The same moment elsewhere; UTC where the place is unknown."""
    if name in ("", "UTC"):
        return moment.astimezone(UTC)
    try:
        return moment.astimezone(None if name == "Local" else ZoneInfo(name))
    except (OSError, ValueError, LookupError):
        return moment.astimezone(UTC)


def is_method(name: str) -> bool:
    return name in _METHODS


def call_method(moment: datetime, name: str, arguments: list[Any]) -> Any:
    """``now.Year``, ``now.AddDate 0 0 1``. Raises KeyError, TypeError or IndexError as they come."""
    return _METHODS[name](moment, *arguments)


def _unix(moment: datetime) -> int:
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
    "Unix": _unix,
    "UnixMilli": lambda moment: int(moment.timestamp() * 1000),
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


def _span(value: Any) -> timedelta:
    return value if isinstance(value, timedelta) else timedelta(microseconds=int_of(value) / 1000)
