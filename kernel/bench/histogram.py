"""A histogram of latencies as HdrHistogram keeps them: log-linear buckets, so a value is known to 1 part in 128. [core]

Below 128 µs each bucket is one microsecond; above it each doubling has 128 buckets. Two histograms add up, which is how
workers and rounds are joined. (The ``hdrhistogram`` package would bring setuptools and pbr to every user of the kernel.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.bench.limits import BUCKETS_PER_OCTAVE, VALUE_US_MAX

_BITS: Final = BUCKETS_PER_OCTAVE.bit_length() - 1
PERCENTILES: Final = (50.0, 90.0, 99.0, 99.9)


@dataclass(slots=True)
class Histogram:
    """Counts by bucket; ``total``, ``sum_us`` and ``max_us`` are exact."""

    counts: dict[int, int] = field(default_factory=dict)
    total: int = 0
    sum_us: int = 0
    max_us: int = 0

    def record(self, value_us: int) -> None:
        """Count one value; negative ones are 0, ones past an hour are an hour."""
        value_us = min(max(value_us, 0), VALUE_US_MAX)
        bucket = bucket_of(value_us)
        self.counts[bucket] = self.counts.get(bucket, 0) + 1
        self.total += 1
        self.sum_us += value_us
        if value_us > self.max_us:
            self.max_us = value_us

    def add(self, other: Histogram) -> None:
        """Count everything that the other one has counted."""
        for bucket, count in other.counts.items():
            self.counts[bucket] = self.counts.get(bucket, 0) + count
        self.total += other.total
        self.sum_us += other.sum_us
        self.max_us = max(self.max_us, other.max_us)

    @property
    def mean_us(self) -> float:
        return self.sum_us / self.total if self.total else 0.0

    @property
    def variance_us2(self) -> float:
        """The variance, to the precision of the buckets."""
        if not self.total:
            return 0.0
        mean = self.mean_us
        return sum(count * (upper_end(bucket) - mean) ** 2 for bucket, count in self.counts.items()) / self.total

    def percentile(self, percent: float) -> int:
        """The smallest value, at its bucket's upper end, that ``percent`` of all values do not exceed; 0 if empty."""
        wanted = max(1, -int(-self.total * percent // 100))  # ceiling
        seen = 0
        for bucket in sorted(self.counts):
            seen += self.counts[bucket]
            if seen >= wanted:
                return min(upper_end(bucket), self.max_us)
        return 0

    def curve(self) -> Iterator[tuple[int, float]]:
        """``(value in µs, share of values up to it)``, rising."""
        seen = 0
        for bucket in sorted(self.counts):
            seen += self.counts[bucket]
            yield min(upper_end(bucket), self.max_us), seen / self.total

    def as_json(self) -> dict[str, Any]:
        pairs = [[bucket, self.counts[bucket]] for bucket in sorted(self.counts)]
        return {"buckets": pairs, "sumUs": self.sum_us, "maxUs": self.max_us}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Histogram:
        """The histogram that ``as_json`` wrote. Raises ValueError, KeyError or TypeError for anything else."""
        counts = {int(bucket): int(count) for bucket, count in told["buckets"]}
        if any(bucket < 0 or count < 0 for bucket, count in counts.items()):
            raise ValueError("a bucket or its count is negative")
        return cls(counts, sum(counts.values()), int(told["sumUs"]), int(told["maxUs"]))

    def summary(self) -> dict[str, float]:
        """Mean, percentiles and maximum, in microseconds."""
        told = {f"p{percent:g}".replace(".", ""): float(self.percentile(percent)) for percent in PERCENTILES}
        return {"mean": round(self.mean_us, 1), **told, "max": float(self.max_us)}


def bucket_of(value_us: int) -> int:
    """The number of the bucket that a value falls into."""
    shift = value_us.bit_length() - 1 - _BITS
    if shift <= 0:
        return value_us
    return (shift << _BITS) + (value_us >> shift)


def upper_end(bucket: int) -> int:
    """The greatest value of a bucket."""
    if bucket < 2 * BUCKETS_PER_OCTAVE:
        return bucket
    shift = (bucket >> _BITS) - 1
    return (((bucket & (BUCKETS_PER_OCTAVE - 1)) + BUCKETS_PER_OCTAVE + 1) << shift) - 1
