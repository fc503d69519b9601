"""[core] Spans of days that filters compare times with: named ones, and ones relative to today."""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta
from typing import Final

from kernel.workspace.views.format import Json
from kernel.workspace.views.moments import Moment

DAY: Final = timedelta(days=1)
_DAYS_OF_WEEK: Final = 7
_MONTHS_OF_YEAR: Final = 12
BEFORE: Final = -1
THIS: Final = 0
# Units of a relative date.
_WEEK_UNIT: Final = 1
_MONTH_UNIT: Final = 2
_YEAR_UNIT: Final = 3

Span = tuple[datetime, datetime]


def end_of_day(day: datetime) -> datetime:
    """The last moment of a day."""
    return day.replace(hour=23, minute=59, second=59, microsecond=999_999)


def plus_months(day: datetime, months: int) -> datetime:
    """The same day so many months later; days past the end of a month run over into the next."""
    index = day.year * _MONTHS_OF_YEAR + day.month - 1 + months
    year, month = divmod(index, _MONTHS_OF_YEAR)
    length = calendar.monthrange(year, month + 1)[1]
    over = max(0, day.day - length)
    return day.replace(year=year, month=month + 1, day=day.day - over) + over * DAY


def relative_span(rule: Json, moment: Moment) -> Span:
    """The span that a rule names: so many days, weeks, months or years before, now, or after."""
    count, unit, direction = rule["count"], rule["unit"], rule["direction"]
    start = _start_of_unit(moment.today, unit)
    if direction == BEFORE:
        return _shifted(start, unit, -count), start
    if direction != THIS:
        start = _shifted(start, unit, count)
    if unit == _WEEK_UNIT and direction != THIS:
        # Weeks begin on Monday, but their end is counted from the weekday, Sunday being 0.
        return start, end_of_day(start + (_DAYS_OF_WEEK - (start.isoweekday() % _DAYS_OF_WEEK)) * DAY)
    return start, _shifted(start, unit, 1) - timedelta(microseconds=1)


def _start_of_unit(today: datetime, unit: int) -> datetime:
    if unit == _WEEK_UNIT:
        return today - (today.isoweekday() - 1) * DAY
    if unit == _MONTH_UNIT:
        return today.replace(day=1)
    return today.replace(month=1, day=1) if unit == _YEAR_UNIT else today


def _shifted(day: datetime, unit: int, count: int) -> datetime:
    if unit in (_MONTH_UNIT, _YEAR_UNIT):
        return plus_months(day, count * (_MONTHS_OF_YEAR if unit == _YEAR_UNIT else 1))
    return day + count * (_DAYS_OF_WEEK if unit == _WEEK_UNIT else 1) * DAY


def fits_relative(when: datetime, operator: str, first: Json, second: Json, moment: Moment) -> bool:
    """Whether a time fits a condition with relative dates; ``second`` counts for ``Is between`` only."""
    start, end = relative_span(first, moment)
    match operator:
        case "=":
            return start <= when <= end
        case "!=":
            return when < start or when > end
        case ">":
            return when > end
        case ">=":
            return when >= start
        case "<":
            return when < start
        case "<=":
            return when <= end
        case "Is between":
            spans = sorted([(start, end), relative_span(second, moment)], key=lambda one: one[0])
            return _is_between(when, spans, (first["direction"], second["direction"]))
        case _:
            return False


def _is_between(when: datetime, spans: list[Span], directions: tuple[int, int]) -> bool:
    (start, end), (start2, end2) = spans
    if THIS in directions:
        return start <= when <= end or start2 <= when <= end2
    if directions == (BEFORE, BEFORE):
        return start <= when <= min(end, start2)
    return start <= when <= max(end, end2)


def fits_day(when_ms: int, operator: str, day_ms: int, day2_ms: int, moment: Moment) -> bool:
    """Whether a time fits a condition with one day, or two for ``Is between``."""
    when = moment.local(when_ms)
    if operator == "Is between":
        if not day_ms or not day2_ms:
            return True
        first, last = sorted((day_ms, day2_ms))
        return _midnight(first, moment) <= when <= end_of_day(moment.local(last))
    start, end = _midnight(day_ms, moment), end_of_day(moment.local(day_ms))
    match operator:
        case "=":
            return start <= when < end
        case "!=":
            return when < start or when > end
        case ">":
            return when >= end
        case ">=":
            return when >= start
        case "<":
            return when < start
        case "<=":
            return when <= end
        case _:
            return False


def _midnight(unix: int, moment: Moment) -> datetime:
    return moment.local(unix).replace(hour=0, minute=0, second=0, microsecond=0)
