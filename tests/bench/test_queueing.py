"""The formulas against tables, against each other, and against a simulated queue."""

from __future__ import annotations

import heapq
import math
from random import Random

import pytest

from kernel.bench.queueing import (
    KNEE,
    MODELS,
    Lane,
    erlang_c,
    knee_per_s,
    measured_knee_per_s,
    percentile_s,
    predict,
    wait_s,
)

# Slots, load, share that waits: from printed tables of the Erlang C formula.
ERLANG_C = [(1, 0.5, 0.5), (2, 1.0, 1 / 3), (3, 2.0, 0.4444), (4, 3.0, 0.5094), (5, 4.0, 0.5541), (10, 8.0, 0.4092)]


@pytest.mark.parametrize(("slots", "load", "share"), ERLANG_C)
def test_erlang_c_is_that_of_the_tables(slots: int, load: float, share: float) -> None:
    assert erlang_c(slots, load) == pytest.approx(share, abs=1e-4)


def test_at_saturation_everybody_waits_for_ever() -> None:
    assert erlang_c(4, 4.0) == 1.0
    assert wait_s(Lane(4, 0.01), 400, "M/M/c") == math.inf


def test_one_slot_is_the_textbook() -> None:
    lane = Lane(1, 0.1)
    assert wait_s(lane, 5, "M/M/c") == pytest.approx(0.1)  # rho s / (1 - rho)
    assert wait_s(lane, 5, "M/D/c") == pytest.approx(0.05)  # half of it
    assert wait_s(Lane(1, 0.1, cv2=3.0), 5, "M/G/c") == pytest.approx(0.2)  # Pollaczek and Khinchine
    told = predict(lane, 5, "M/M/c")
    assert (told.utilisation, told.queued, told.mean_s) == pytest.approx((0.5, 0.5, 0.2))
    # M/M/1: the time in the system is exponential.
    assert told.p50_s == pytest.approx(0.2 * math.log(2))
    assert told.p99_s == pytest.approx(0.2 * math.log(100))


@pytest.mark.parametrize("slots", [1, 2, 4, 16])
@pytest.mark.parametrize("utilisation", [0.05, 0.5, 0.9, 0.99])
def test_fixed_service_waits_between_half_and_all_of_exponential(slots: int, utilisation: float) -> None:
    lane = Lane(slots, 0.01)
    rate = utilisation * lane.capacity_per_s
    markov = wait_s(lane, rate, "M/M/c")
    assert markov / 2 <= wait_s(lane, rate, "M/D/c") <= markov
    assert wait_s(Lane(slots, 0.01, cv2=1.0), rate, "M/G/c") == pytest.approx(markov)


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ValueError, match="none of M/M/c"):
        wait_s(Lane(1, 1.0), 0.1, "G/G/c")


def test_nothing_offered_waits_for_nothing() -> None:
    told = predict(Lane(4, 0.02), 0, "M/D/c")
    assert (told.throughput_per_s, told.mean_s, told.p99_s) == (0.0, 0.02, 0.02)


def test_with_many_slots_nobody_waits_and_fixed_service_is_all() -> None:
    lane = Lane(200, 0.01)
    assert percentile_s(lane, 100, "M/D/c", 0.99) == 0.01
    assert percentile_s(lane, 0.001, "M/M/c", 0.5) == pytest.approx(0.01 * math.log(2))
    assert percentile_s(Lane(500, 0.01), 1e-300, "M/M/c", 0.5) == pytest.approx(0.01 * math.log(2))


def test_a_wait_as_quick_as_the_service_has_its_own_formula() -> None:
    # Three slots, load 2: the queue drains exactly as fast as one call is served.
    lane, waiting = Lane(3, 1.0), erlang_c(3, 2.0)
    p99 = percentile_s(lane, 2.0, "M/M/c", 0.99)
    assert (1 - waiting) * math.exp(-p99) + waiting * (1 + p99) * math.exp(-p99) == pytest.approx(0.01)


def test_past_saturation_the_rest_is_refused() -> None:
    lane = Lane(4, 0.01, admitted_max=128)
    for model in MODELS:
        told = predict(lane, 4_000, model)
        assert told.throughput_per_s == pytest.approx(400, rel=0.001)
        assert told.refused_per_s == pytest.approx(3_600, rel=0.001)
        assert told.queued == pytest.approx(124, rel=0.01)
        assert told.mean_s == pytest.approx(0.32, rel=0.01)  # 128 admitted / 4 slots: 32 service times
        assert told.p99_s is None


def test_a_full_house_of_one_is_erlangs_loss() -> None:
    # M/M/1/1: of two erlangs offered two thirds are lost.
    told = predict(Lane(1, 1.0, admitted_max=1), 2.0, "M/M/c")
    assert told.throughput_per_s == pytest.approx(2 / 3)
    assert told.queued == pytest.approx(0.0)


@pytest.mark.parametrize("model", MODELS)
def test_the_knee_is_where_the_mean_is_twice_the_service(model: str) -> None:
    lane = Lane(4, 0.02, cv2=2.0)
    knee = knee_per_s(lane, model)
    assert predict(lane, knee, model).mean_s == pytest.approx(KNEE * lane.service_s)


def test_the_measured_knee_lies_between_two_points() -> None:
    points = [(10.0, 1.1), (20.0, 1.5), (30.0, 2.5)]
    assert measured_knee_per_s(points, 1.0) == pytest.approx(25.0)
    assert measured_knee_per_s(points[:2], 1.0) is None
    assert measured_knee_per_s([(5.0, 2.5), *points], 1.0) == pytest.approx(25.0)  # the curve came back: noise
    assert measured_knee_per_s([*points, (40.0, 9.0)], 1.0) == pytest.approx(25.0)
    assert measured_knee_per_s([(10.0, 3.0)], 1.0) == pytest.approx(5.0)


@pytest.mark.parametrize(("model", "slots"), [("M/M/c", 4), ("M/D/c", 1), ("M/D/c", 4)])
def test_the_model_agrees_with_a_simulated_queue(model: str, slots: int) -> None:
    lane, rate = Lane(slots, 1.0), 0.8 * slots
    chance = Random(7)
    served = (lambda: 1.0) if model == "M/D/c" else (lambda: chance.expovariate(1.0))
    free, now, times = [0.0] * slots, 0.0, []
    for _ in range(60_000):
        now += chance.expovariate(rate)
        begun = max(now, heapq.heappop(free))
        heapq.heappush(free, begun + (took := served()))
        times.append(begun + took - now)
    times.sort()
    assert sum(times) / len(times) == pytest.approx(predict(lane, rate, model).mean_s, rel=0.06)
    assert times[int(len(times) * 0.99)] == pytest.approx(percentile_s(lane, rate, model, 0.99), rel=0.12)
