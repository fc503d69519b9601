"""Clocks: they only move forward, and all their faces move together."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from kernel.clock import ManualClock, SystemClock


@pytest.mark.parametrize("make", [ManualClock, SystemClock])
def test_a_jump_moves_every_face_of_the_clock(make: type[ManualClock] | type[SystemClock]) -> None:
    clock = make()
    before = clock.now(), clock.wall_ms(), clock.local()
    clock.advance(3600)
    clock.advance(0)
    # The machine's own time goes on between two looks.
    assert 3600 <= clock.now() - before[0] < 3660
    assert 3_600_000 <= clock.wall_ms() - before[1] < 3_660_000
    assert timedelta(hours=1) <= clock.local() - before[2] < timedelta(hours=1, minutes=1)
    with pytest.raises(ValueError, match="only moves forward"):
        clock.advance(-0.001)


def test_a_manual_clock_stands_still() -> None:
    clock = ManualClock(datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC))
    assert (clock.now(), clock.local()) == (0.0, datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC))
    clock.advance(1.5)
    assert (clock.now(), clock.wall_ms()) == (1.5, 1_777_863_722_500)


def test_local_time_is_that_of_the_zone_it_was_given() -> None:
    zone = timezone(timedelta(hours=8))
    assert SystemClock(zone).local().utcoffset() == timedelta(hours=8)
    assert SystemClock().local().utcoffset() == datetime.now().astimezone().utcoffset()
    assert abs(SystemClock().wall_ms() / 1000 - time.time()) < 60
