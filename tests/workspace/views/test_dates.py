"""Spans of days: what a relative date means, and which times fit a condition."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kernel.workspace.views.dates import BEFORE, THIS, fits_day, fits_relative, plus_months, relative_span
from kernel.workspace.views.moments import Broken, Moment, unix_ms

AFTER = 1
NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)  # a Wednesday
MOMENT = Moment(unix_ms(NOW), UTC, lambda: "20260304153000-aaaaaaa")
DAY, WEEK, MONTH, YEAR = range(4)


def rule(count: int, unit: int, direction: int) -> dict[str, Any]:
    return {"count": count, "unit": unit, "direction": direction}


@pytest.mark.parametrize(
    ("unit", "direction", "start", "end"),
    [
        (DAY, BEFORE, "2026-03-02", "2026-03-04 00:00:00"),
        (DAY, THIS, "2026-03-04", "2026-03-04 23:59:59"),
        (DAY, AFTER, "2026-03-06", "2026-03-06 23:59:59"),
        (WEEK, BEFORE, "2026-02-16", "2026-03-02 00:00:00"),
        (WEEK, THIS, "2026-03-02", "2026-03-08 23:59:59"),
        (WEEK, AFTER, "2026-03-16", "2026-03-22 23:59:59"),
        (MONTH, BEFORE, "2026-01-01", "2026-03-01 00:00:00"),
        (MONTH, THIS, "2026-03-01", "2026-03-31 23:59:59"),
        (MONTH, AFTER, "2026-05-01", "2026-05-31 23:59:59"),
        (YEAR, BEFORE, "2024-01-01", "2026-01-01 00:00:00"),
        (YEAR, THIS, "2026-01-01", "2026-12-31 23:59:59"),
        (YEAR, AFTER, "2028-01-01", "2028-12-31 23:59:59"),
    ],
)
def test_two_units_before_now_and_after(unit: int, direction: int, start: str, end: str) -> None:
    first, last = relative_span(rule(2, unit, direction), MOMENT)
    assert (f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d %H:%M:%S}") == (start, end)


def test_months_with_fewer_days_run_over() -> None:
    assert plus_months(datetime(2026, 1, 31, tzinfo=UTC), 1) == datetime(2026, 3, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("operator", "fitting"),
    [
        ("=", [False, True, False]),
        ("!=", [True, False, True]),
        (">", [False, False, True]),
        (">=", [False, True, True]),
        ("<", [True, False, False]),
        ("<=", [True, True, False]),
        ("Contains", [False, False, False]),
    ],
)
def test_yesterday_today_and_tomorrow_against_today(operator: str, fitting: list[bool]) -> None:
    days = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (3, 4, 5)]
    today = rule(1, DAY, THIS)
    assert [fits_relative(day, operator, today, today, MOMENT) for day in days] == fitting
    assert [fits_day(unix_ms(day), operator, MOMENT.now_ms, 0, MOMENT) for day in days] == fitting


def test_between_two_days_in_either_order() -> None:
    first, last = (unix_ms(datetime(2026, 3, day, tzinfo=UTC)) for day in (2, 5))
    inside, outside = unix_ms(datetime(2026, 3, 5, 23, tzinfo=UTC)), unix_ms(datetime(2026, 3, 6, tzinfo=UTC))
    assert fits_day(inside, "Is between", first, last, MOMENT)
    assert fits_day(inside, "Is between", last, first, MOMENT)
    assert not fits_day(outside, "Is between", first, last, MOMENT)
    assert fits_day(outside, "Is between", first, 0, MOMENT), "a day that is not said lets everything pass"


@pytest.mark.parametrize(
    ("first", "second", "day", "fits"),
    [
        (rule(7, DAY, BEFORE), rule(2, DAY, BEFORE), 1, True),
        (rule(7, DAY, BEFORE), rule(2, DAY, BEFORE), 3, False),
        (rule(2, DAY, BEFORE), rule(2, DAY, AFTER), 6, True),
        (rule(2, DAY, BEFORE), rule(2, DAY, AFTER), 7, False),
        (rule(1, DAY, THIS), rule(3, DAY, AFTER), 5, False),
        (rule(1, DAY, THIS), rule(3, DAY, AFTER), 7, True),
    ],
)
def test_between_two_relative_dates(first: dict[str, Any], second: dict[str, Any], day: int, fits: bool) -> None:
    when = datetime(2026, 3, day, 12, tzinfo=UTC)
    assert fits_relative(when, "Is between", first, second, MOMENT) is fits


def test_ids_say_when_they_were_made() -> None:
    assert MOMENT.made_at("20260304153000-aaaaaaa") == MOMENT.now_ms
    assert MOMENT.made_at("20269904153000-aaaaaaa") == MOMENT.now_ms, "no such month"
    assert MOMENT.of_stamp("2026") is None
    with pytest.raises(Broken):
        MOMENT.made_at("short")


def test_times_no_calendar_holds_are_the_nearest_it_does() -> None:
    assert MOMENT.local(10**18).year == 9999
    assert MOMENT.local(-(10**18)).year == 1
