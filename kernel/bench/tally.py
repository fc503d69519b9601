"""What a load has seen: latencies by kind and outcome, and windows over time. Workers' tallies add up. [core]"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.bench.calls import OK
from kernel.bench.histogram import Histogram
from kernel.bench.limits import WINDOW_S

# Operations that were still open when the load was over.
UNFINISHED: Final = "unfinished"


@dataclass(slots=True)
class Window:
    """One moment of the curves over time: what ended in it."""

    counts: dict[str, int] = field(default_factory=dict)
    latency: Histogram = field(default_factory=Histogram)  # of what went well


@dataclass(slots=True)
class Tally:
    """Latencies belong to operations that were *intended* after the warm-up, windows to what *ended* after it."""

    latencies: dict[tuple[str, str], Histogram] = field(default_factory=dict)
    lateness: Histogram = field(default_factory=Histogram)
    windows: dict[int, Window] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    bytes_read: int = 0

    def record(self, kind: str, outcome: str, latency_us: int) -> None:
        key = (kind, outcome)
        histogram = self.latencies.get(key)
        if histogram is None:
            histogram = self.latencies[key] = Histogram()
        histogram.record(latency_us)

    def record_window(self, at_s: float, outcome: str, latency_us: int) -> None:
        number = int(at_s / WINDOW_S)
        window = self.windows.get(number)
        if window is None:
            window = self.windows[number] = Window()
        window.counts[outcome] = window.counts.get(outcome, 0) + 1
        if outcome == OK:
            window.latency.record(latency_us)

    def add(self, other: Tally) -> None:
        for key, histogram in other.latencies.items():
            self.latencies.setdefault(key, Histogram()).add(histogram)
        self.lateness.add(other.lateness)
        for number, window in other.windows.items():
            mine = self.windows.setdefault(number, Window())
            mine.latency.add(window.latency)
            _add_counts(mine.counts, window.counts)
        _add_counts(self.errors, other.errors)
        self.bytes_read += other.bytes_read

    def ended(self) -> dict[str, int]:
        """How many operations ended while it was measured, by outcome."""
        counts: dict[str, int] = {}
        for window in self.windows.values():
            _add_counts(counts, window.counts)
        return counts

    def of_outcome(self, outcome: str, *, without: frozenset[str] = frozenset()) -> Histogram:
        """The latencies of all kinds with this outcome."""
        joined = Histogram()
        for (kind, found), histogram in self.latencies.items():
            if found == outcome and kind not in without:
                joined.add(histogram)
        return joined

    def as_json(self) -> dict[str, Any]:
        return {
            "latencies": [[kind, outcome, one.as_json()] for (kind, outcome), one in sorted(self.latencies.items())],
            "lateness": self.lateness.as_json(),
            "windows": [[number, one.counts, one.latency.as_json()] for number, one in sorted(self.windows.items())],
            "errors": self.errors,
            "bytesRead": self.bytes_read,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Tally:
        return cls(
            {(str(kind), str(outcome)): Histogram.from_json(one) for kind, outcome, one in told["latencies"]},
            Histogram.from_json(told["lateness"]),
            {int(number): Window(dict(counts), Histogram.from_json(one)) for number, counts, one in told["windows"]},
            dict(told["errors"]),
            int(told["bytesRead"]),
        )


def _add_counts(into: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        into[name] = into.get(name, 0) + count
