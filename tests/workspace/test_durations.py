"""Times and sizes as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel.workspace.durations import ago, file_size, span

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
DAY = 24 * 3600


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.9, "now"),
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (120, "2 hours"),
        (3599, "59 hours"),
        (3600, "1 hour"),
        (DAY - 1, "23 hours"),
        (DAY, "1 day"),
        (6 * DAY, "6 days"),
        (7 * DAY, "1 week"),
        (29 * DAY, "4 weeks"),
        (30 * DAY, "1 month"),
        (90 * DAY, "3 months"),
        (360 * DAY, "1 year"),
        (23 * 30 * DAY, "2 years"),
        (36 * 360 * DAY, "36 years"),
        (37 * 360 * DAY, "a long while"),
    ],
)
def test_a_span_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert span(NOW - timedelta(seconds=seconds), NOW) == text


def test_a_time_lies_before_or_after() -> None:
    hour = timedelta(hours=1)
    assert (ago(NOW - hour, NOW), ago(NOW + hour, NOW), ago(NOW, NOW)) == ("1 hour ago", "1 hour from now", "now")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (9, "9 B"),
        (860, "860 B"),
        (1000, "1 kB"),
        (1201, "1.21 kB"),
        (1_500_000, "1.5 MB"),
        (10**24, "1000000 EB"),
    ],
)
def test_a_size_is_told_in_powers_of_a_thousand(size: int, text: str) -> None:
    assert file_size(size) == text
