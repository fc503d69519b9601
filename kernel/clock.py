"""Clocks are arguments: monotonic seconds decide, wall milliseconds are only recorded.

Must not be imported by a core to read the time: cores take ``now``.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol


class Clock(Protocol):
    """A source of time. ``now`` is monotonic seconds; ``wall_ms`` is Unix time in milliseconds."""

    def now(self) -> float: ...

    def wall_ms(self) -> int: ...

    def local(self) -> datetime:
        """The wall time with the machine's time zone: the kernel's ids and dates are local times."""
        ...


class SystemClock:
    """The machine's clock, shifted by ``advance`` (``POST /emulator/clock``)."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone
        self._offset_s = 0.0

    def now(self) -> float:
        return time.monotonic() + self._offset_s  # noqa: TID251 - the one place that reads it

    def wall_ms(self) -> int:
        return int((time.time() + self._offset_s) * 1000)  # noqa: TID251 - the one place that reads it

    def local(self) -> datetime:
        return datetime.fromtimestamp(self.wall_ms() / 1000, tz=UTC).astimezone(self._zone)

    def advance(self, seconds: float) -> None:
        """Jump forward: everything that expires by comparison expires now."""
        if seconds < 0:
            raise ValueError("a clock only moves forward")
        self._offset_s += seconds


class ManualClock:
    """A clock that stands still until it is told to move (tests, simulation)."""

    START: Final = datetime(2026, 3, 1, 9, 0, 0, tzinfo=UTC)

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed_s = 0.0

    def set_wall(self, shift_s: float) -> None:
        """Somebody sets the machine's clock, forward or back; no time passes."""
        self._start += timedelta(seconds=shift_s)

    def now(self) -> float:
        return self._elapsed_s

    def wall_ms(self) -> int:
        return int(self._start.timestamp() * 1000 + self._elapsed_s * 1000)

    def local(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed_s)

    def advance(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("a clock only moves forward")
        self._elapsed_s += seconds
