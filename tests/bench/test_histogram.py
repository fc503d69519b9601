"""Buckets, percentiles, and what two histograms give together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.bench.histogram import Histogram, bucket_of, upper_end
from kernel.bench.limits import VALUE_US_MAX

VALUES = st.lists(st.integers(0, VALUE_US_MAX), min_size=1, max_size=60)


def filled(values: list[int]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


@given(st.integers(0, VALUE_US_MAX))
def test_a_bucket_holds_its_value_to_one_part_in_128(value: int) -> None:
    end = upper_end(bucket_of(value))
    assert value <= end <= value + value / 128


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, 257, 511, 512, 4095, 4096, VALUE_US_MAX])
def test_buckets_follow_one_another_without_a_gap(value: int) -> None:
    end = upper_end(bucket_of(value))
    assert bucket_of(end) == bucket_of(value)
    assert bucket_of(end + 1) == bucket_of(value) + 1


@given(VALUES, st.sampled_from([1.0, 50.0, 90.0, 99.0, 99.9, 100.0]))
def test_a_percentile_is_the_value_of_its_rank(values: list[int], percent: float) -> None:
    ordered = sorted(values)
    rank = max(1, -int(-len(values) * percent // 100))
    exact = ordered[rank - 1]
    assert exact <= filled(values).percentile(percent) <= exact + exact / 128


@given(VALUES, VALUES)
def test_two_histograms_add_up(one: list[int], other: list[int]) -> None:
    joined = filled(one)
    joined.add(filled(other))
    assert joined == filled(one + other)
    assert Histogram.from_json(joined.as_json()) == joined


def test_an_empty_histogram_says_zero() -> None:
    histogram = Histogram()
    assert (histogram.percentile(99), histogram.mean_us, histogram.variance_us2) == (0, 0.0, 0.0)
    assert list(histogram.curve()) == []


def test_what_is_outside_its_range_counts_at_the_edge() -> None:
    histogram = filled([-5, VALUE_US_MAX + 1])
    assert (histogram.percentile(50), histogram.max_us, histogram.total) == (0, VALUE_US_MAX, 2)


def test_mean_and_variance_are_those_of_the_values() -> None:
    histogram = filled([10, 20, 30, 40])
    assert histogram.mean_us == 25
    assert histogram.variance_us2 == 125
    assert list(histogram.curve()) == [(10, 0.25), (20, 0.5), (30, 0.75), (40, 1.0)]
    assert histogram.summary() == {"mean": 25.0, "p50": 20, "p90": 40, "p99": 40, "p999": 40, "max": 40}


@pytest.mark.parametrize(
    "told", [{"buckets": [[-1, 2]], "sumUs": 0, "maxUs": 0}, {"buckets": [[1, -2]], "sumUs": 0, "maxUs": 0}]
)
def test_a_negative_count_is_refused(told: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="negative"):
        Histogram.from_json(told)
