"""What queueing theory says about a lane: Poisson arrivals, c slots, one queue, K admitted at most. [core]

``M/M/c`` and its percentiles are exact. ``M/D/c`` is exact for one slot and Cosmetatos' approximation for more (within 2 %);
``M/G/c`` is the approximation of Allen and Cunneen. Percentiles of the latter two take the wait of those that wait as
exponential, which is right in heavy traffic. At and past saturation only M/M/c/K and the fluid limit have an answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MARKOV: Final = "M/M/c"
FIXED: Final = "M/D/c"
GENERAL: Final = "M/G/c"
MODELS: Final = (MARKOV, FIXED, GENERAL)
# The knee: where the mean time in the system is this many service times.
KNEE: Final = 2.0
_STEPS: Final = 80  # of a bisection: far below a nanosecond


@dataclass(frozen=True, slots=True)
class Lane:
    """``slots`` served at once, ``service_s`` on average; ``cv2``: its squared coefficient of variation (fixed 0,
    exponential 1); ``admitted_max``: waiting and served together."""

    slots: int
    service_s: float
    cv2: float = 1.0
    admitted_max: int = 128

    @property
    def capacity_per_s(self) -> float:
        return self.slots / self.service_s


@dataclass(frozen=True, slots=True)
class Prediction:
    """Seconds and rates per second. Percentiles are None where the model has none (past saturation)."""

    throughput_per_s: float
    refused_per_s: float
    utilisation: float
    queued: float
    mean_s: float
    p50_s: float | None = None
    p99_s: float | None = None


def erlang_c(slots: int, load: float) -> float:
    """The share of arrivals that have to wait; ``load`` = arrival rate × service time, below ``slots``."""
    if load >= slots:
        return 1.0
    blocked = 1.0  # Erlang B, by its recursion
    for number in range(1, slots + 1):
        blocked = load * blocked / (number + load * blocked)
    return slots * blocked / (slots - load * (1.0 - blocked))


def wait_s(lane: Lane, rate_per_s: float, model: str) -> float:
    """The mean wait for a slot; infinite at and past saturation."""
    load = rate_per_s * lane.service_s
    if load >= lane.slots:
        return math.inf
    markov = erlang_c(lane.slots, load) * lane.service_s / (lane.slots - load)
    match model:
        case "M/M/c":
            return markov
        case "M/D/c":
            return markov * _fixed_share(lane.slots, load / lane.slots)
        case "M/G/c":
            return markov * (1.0 + lane.cv2) / 2.0
    raise ValueError(f"{model!r} is none of {', '.join(MODELS)}")


def _fixed_share(slots: int, utilisation: float) -> float:
    """Cosmetatos: the wait with fixed service as a share of that with exponential service."""
    if slots == 1 or utilisation <= 0:
        return 0.5
    term = (1 - utilisation) * (slots - 1) * (math.sqrt(4 + 5 * slots) - 2) / (16 * utilisation * slots)
    # With next to no load the correction outgrows what it corrects; nobody waits longer than with exponential service.
    return min(1.0, 0.5 * (1 + term))


def predict(lane: Lane, rate_per_s: float, model: str) -> Prediction:
    """What the model says about a lane at an offered rate."""
    if rate_per_s <= 0:
        return Prediction(0.0, 0.0, 0.0, 0.0, lane.service_s, lane.service_s, lane.service_s)
    if rate_per_s >= lane.capacity_per_s:
        return _saturated(lane, rate_per_s, model)
    wait = wait_s(lane, rate_per_s, model)
    return Prediction(
        rate_per_s,
        0.0,
        rate_per_s / lane.capacity_per_s,
        rate_per_s * wait,
        lane.service_s + wait,
        percentile_s(lane, rate_per_s, model, 0.50),
        percentile_s(lane, rate_per_s, model, 0.99),
    )


def _saturated(lane: Lane, rate_per_s: float, model: str) -> Prediction:
    """M/M/c/K by its states; the others as a fluid: full slots, a full queue, the rest refused."""
    if model != MARKOV:
        throughput, inside = lane.capacity_per_s, float(lane.admitted_max)
    else:
        states = _states(lane, rate_per_s * lane.service_s)
        throughput = rate_per_s * (1.0 - states[-1])
        inside = sum(number * share for number, share in enumerate(states))
    busy = throughput * lane.service_s
    return Prediction(throughput, rate_per_s - throughput, busy / lane.slots, inside - busy, inside / throughput)


def _states(lane: Lane, load: float) -> list[float]:
    """How likely each number of admitted calls is, 0 to K."""
    logs = [0.0]
    for number in range(1, lane.admitted_max + 1):
        logs.append(logs[-1] + math.log(load / min(number, lane.slots)))
    top = max(logs)
    weights = [math.exp(one - top) for one in logs]
    total = sum(weights)
    return [weight / total for weight in weights]


def percentile_s(lane: Lane, rate_per_s: float, model: str, share: float) -> float:
    """The time in the system that ``share`` of the calls do not exceed; below saturation."""
    load = rate_per_s * lane.service_s
    waiting = erlang_c(lane.slots, load)
    wait = wait_s(lane, rate_per_s, model)
    if model == FIXED:
        if waiting <= 1.0 - share or not wait:
            return lane.service_s
        return lane.service_s + wait / waiting * math.log(waiting / (1.0 - share))
    # M/G/c: the service is taken as exponential with its own mean; only the wait knows its variation.
    drain = waiting / wait if wait else math.inf
    return _invert(lambda at: _over(at, 1.0 / lane.service_s, drain, waiting), 1.0 - share, lane.service_s)


def _over(at: float, serve: float, drain: float, waiting: float) -> float:
    """How many are in the system longer than ``at``: service alone, or an exponential wait and then service."""
    alone = math.exp(-serve * at)
    if math.isinf(drain):
        return alone
    if abs(drain - serve) < 1e-9 * serve:
        both = (1.0 + serve * at) * alone
    else:
        both = (drain * alone - serve * math.exp(-drain * at)) / (drain - serve)
    return (1.0 - waiting) * alone + waiting * both


def _invert(over: Callable[[float], float], wanted: float, start: float) -> float:
    high = start
    while over(high) > wanted:
        high *= 2.0
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if over(middle) > wanted else (low, middle)
    return high


def knee_per_s(lane: Lane, model: str) -> float:
    """The offered rate at which the mean time in the system is ``KNEE`` service times."""
    low, high = 0.0, lane.capacity_per_s
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        is_over = lane.service_s + wait_s(lane, middle, model) > KNEE * lane.service_s
        low, high = (low, middle) if is_over else (middle, high)
    return low


def measured_knee_per_s(points: list[tuple[float, float]], service_s: float) -> float | None:
    """The same for measured ``(rate per second, mean seconds)``, rising; None if the last point is not past it.

    What counts is the last point below: a single slow point further down is noise, and the curve came back.
    """
    limit = KNEE * service_s
    before = (0.0, service_s)
    after: tuple[float, float] | None = None
    for point in points:
        if point[1] <= limit:
            before, after = point, None
        elif after is None:
            after = point
    if after is None:
        return None
    return before[0] + (after[0] - before[0]) * (limit - before[1]) / (after[1] - before[1])
