"""[core] Reading a time that is written in a Go layout, part by part; what cannot be read is said as Go says it.

A time without a year is of the year 1: there is none before.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

MONTHS: Final = (
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
)
DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_LAYOUT: Final = re.compile(
    r"[.,]0+(?![0-9])|[.,]9+(?![0-9])|2006|January|Monday|MST|Z07:00|Z0700|-07:00|-0700|-07|Jan|Mon|002|01|02|03|04|05|06"
    r"|15|PM|pm|_2|1|2|3|4|5"
)
_FRACTION: Final = re.compile(r"[.,](\d+)")
_OFFSET: Final = {
    "Z07:00": re.compile(r"([+-])(\d{2}):(\d{2})"),
    "Z0700": re.compile(r"([+-])(\d{2})(\d{2})"),
    "-07:00": re.compile(r"([+-])(\d{2}):(\d{2})"),
    "-0700": re.compile(r"([+-])(\d{2})(\d{2})"),
    "-07": re.compile(r"([+-])(\d{2})()"),
}
_ZONE: Final = re.compile(r"[A-Z]{3}(?:[A-Z]?T)?(?![A-Z])|[A-Z]{3}(?![A-Z])")
_CENTURY_TURN: Final = 69  # two digits from here on are of the 20th century


class Unread(ValueError):
    """A text that is no time of its layout; the message is Go's."""


class _Part(Exception):
    """A part that cannot be read here."""


class _Range(Exception):
    """A part whose number no time has."""


@dataclass(slots=True)
class _Read:
    rest: str
    numbers: dict[str, int] = field(default_factory=dict)
    microsecond: int = 0
    zone: tzinfo | None = None
    is_afternoon: bool | None = None

    # --- parts -----------------------------------------------------------------------------------------------------
    def digits(self, least: int, most: int) -> int:
        found = re.match(rf"[0-9]{{{least},{most}}}", self.rest)
        if found is None:
            raise _Part
        self.rest = self.rest[found.end() :]
        return int(found[0])

    def ranged(self, name: str, value: int, first: int, last: int) -> None:
        if not first <= value <= last:
            raise _Range(name)
        self.numbers[name] = value

    def named(self, names: tuple[str, ...], length: int | None) -> int:
        for at, name in enumerate(names):
            if self.rest[: len(name[:length])].lower() == name[:length].lower():
                self.rest = self.rest[len(name[:length]) :]
                return at
        raise _Part

    def year_of_century(self) -> None:
        year = self.digits(2, 2)
        self.numbers["year"] = year + (1900 if year >= _CENTURY_TURN else 2000)

    def padded_day(self) -> None:
        self.rest = self.rest.removeprefix(" ")
        self.numbers["day"] = self.digits(1, 2)

    def half(self, words: tuple[str, str]) -> None:
        if self.rest[:2] not in words:
            raise _Part
        self.is_afternoon = self.rest[:2] == words[1]
        self.rest = self.rest[2:]

    def offset(self, part: str) -> None:
        if part[0] == "Z" and self.rest.startswith("Z"):
            self.zone, self.rest = UTC, self.rest[1:]
            return
        found = _OFFSET[part].match(self.rest)
        if found is None:
            raise _Part
        self.rest = self.rest[found.end() :]
        span = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        self.zone = timezone(-span if found[1] == "-" else span)

    def zone_name(self) -> None:
        found = _ZONE.match(self.rest)
        if found is None:
            raise _Part
        self.rest = self.rest[found.end() :]
        self.zone = UTC if found[0] == "UTC" else timezone(timedelta(), found[0])

    def fraction(self, digits: int | None) -> None:
        """Exactly so many digits, or as many as there are, even none."""
        found = _FRACTION.match(self.rest)
        if digits is not None and (found is None or len(found[1]) != digits):
            raise _Part
        if found is not None:
            self.microsecond = int(found[1][:6].ljust(6, "0"))
            self.rest = self.rest[found.end() :]

    def literal(self, text: str) -> None:
        """What stands between parts; a blank stands for any number of them."""
        for char in re.sub(" +", " ", text):
            if char == " " and (not self.rest or self.rest[0] == " "):
                self.rest = self.rest.lstrip(" ")
            elif self.rest[:1] == char:
                self.rest = self.rest[1:]
            else:
                raise _Part

    # --- the time --------------------------------------------------------------------------------------------------
    def moment(self, default: tzinfo) -> datetime:
        numbers = self.numbers
        year, month, day = numbers.get("year") or 1, numbers.get("month", 1), numbers.get("day", 1)
        if "day-of-year" in numbers:
            first = datetime(year, 1, 1, tzinfo=UTC) + timedelta(days=numbers["day-of-year"] - 1)
            month, day = first.month, first.day
        if not 1 <= day <= monthrange(year, month)[1]:
            raise _Range("day")
        hour = numbers.get("hour", 0)
        if self.is_afternoon is not None:
            hour = hour % 12 + (12 if self.is_afternoon else 0)
        return datetime(
            year,
            month,
            day,
            hour,
            numbers.get("minute", 0),
            numbers.get("second", 0),
            self.microsecond,
            tzinfo=self.zone or default,
        )


def _set(name: str, value: int, read: _Read) -> None:
    read.numbers[name] = value


_PARTS: Final[dict[str, Callable[[_Read], None]]] = {
    "2006": lambda read: _set("year", read.digits(4, 4), read),
    "06": _Read.year_of_century,
    "January": lambda read: _set("month", read.named(MONTHS, None) + 1, read),
    "Jan": lambda read: _set("month", read.named(MONTHS, 3) + 1, read),
    "01": lambda read: read.ranged("month", read.digits(2, 2), 1, 12),
    "1": lambda read: read.ranged("month", read.digits(1, 2), 1, 12),
    "Monday": lambda read: _set("weekday", read.named(DAYS, None), read),
    "Mon": lambda read: _set("weekday", read.named(DAYS, 3), read),
    "02": lambda read: _set("day", read.digits(2, 2), read),
    "2": lambda read: _set("day", read.digits(1, 2), read),
    "_2": _Read.padded_day,
    "002": lambda read: read.ranged("day-of-year", read.digits(3, 3), 1, 366),
    "15": lambda read: read.ranged("hour", read.digits(1, 2), 0, 23),
    "03": lambda read: read.ranged("hour", read.digits(2, 2), 0, 12),
    "3": lambda read: read.ranged("hour", read.digits(1, 2), 0, 12),
    "04": lambda read: read.ranged("minute", read.digits(2, 2), 0, 59),
    "4": lambda read: read.ranged("minute", read.digits(1, 2), 0, 59),
    "05": lambda read: read.ranged("second", read.digits(2, 2), 0, 59),
    "5": lambda read: read.ranged("second", read.digits(1, 2), 0, 59),
    "PM": lambda read: read.half(("AM", "PM")),
    "pm": lambda read: read.half(("am", "pm")),
    "MST": _Read.zone_name,
}


def read_time(layout: str, text: str, zone: tzinfo) -> datetime:
    """The time that ``text`` is. Raises Unread."""
    read = _Read(text)
    part = ""
    at = 0
    try:
        for found in _LAYOUT.finditer(layout):
            part = layout[at : found.start()]
            read.literal(part)
            part, at = found[0], found.end()
            _read_part(read, part, layout[at:])
        part = layout[at:]
        read.literal(part)
    except _Part:
        raise Unread(f'parsing time "{text}" as "{layout}": cannot parse "{read.rest}" as "{part}"') from None
    except _Range as strange:
        raise Unread(f'parsing time "{text}": {strange} out of range') from None
    if read.rest:
        raise Unread(f'parsing time "{text}": extra text: "{read.rest}"')
    try:
        return read.moment(zone)
    except _Range as strange:
        raise Unread(f'parsing time "{text}": {strange} out of range') from None


def _read_part(read: _Read, part: str, behind: str) -> None:
    if part in _OFFSET:
        read.offset(part)
    elif part[0] in ".,":
        read.fraction(len(part) - 1 if part[1] == "0" else None)
    else:
        _PARTS[part](read)
        # Seconds may have a fraction that the layout does not mention.
        if part in ("05", "5") and not re.match(r"[.,](?:0+|9+)(?![0-9])", behind):
            read.fraction(None)
