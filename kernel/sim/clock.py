"""The virtual clock of a simulated machine: Trio's, which jumps when every task waits, and a wall clock on top."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import trio

from kernel.clock import SystemClock

START: Final = datetime(2026, 3, 1, 9, 0, 0, tzinfo=UTC)
_START_MS: Final = int(START.timestamp() * 1000)


class VirtualClock(SystemClock):
    """Asks the machine for nothing. ``advance`` jumps ahead: what expires by comparison expires."""

    def __init__(self) -> None:
        super().__init__()
        self._jumped_s = 0.0

    def now(self) -> float:
        return trio.current_time() + self._jumped_s

    def wall_ms(self) -> int:
        return _START_MS + int(self.now() * 1000)

    def local(self) -> datetime:
        return START + timedelta(seconds=self.now())

    def advance(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("a clock only moves forward")
        self._jumped_s += seconds
