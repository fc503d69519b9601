"""A lane as the subject: offered rates from idle to past its capacity, beside what queueing theory predicts. Shell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from kernel.bench import delays
from kernel.bench.histogram import Histogram
from kernel.bench.preparation import prepare
from kernel.bench.queueing import MODELS, Lane, knee_per_s, measured_knee_per_s, predict
from kernel.bench.rounds import Processors, Shape, run_round
from kernel.bench.targets import own_kernel

# Lane → its workload, the point where its service time is put, and the count that tells its busy slots.
_SUBJECTS: Final = {
    "read": ("reads", "host.before:/api/block/getBlockKramdown", "reads"),
    "mutation": ("preflights", "write.preflight.entered", "mutations"),
}
NAMES: Final = tuple(_SUBJECTS)
LOADS: Final = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.2)
_CALIBRATION_S: Final = 2.0
_WARM_UP_S: Final = 1.0
_WARM_UP_S_MAX: Final = 20.0
# Connections past what may be admitted: refusals come back at once and need few.
_SPARE: Final = 32


@dataclass(frozen=True, slots=True)
class Sweep:
    """One lane, its options, and the loads to offer as shares of its capacity."""

    lane: str = "read"
    read_slots: int = 4
    mutation_slots: int = 1
    admitted_max: int = 128
    service: str = delays.EXPONENTIAL
    service_s: float = 0.020
    loads: tuple[float, ...] = LOADS
    seconds: float = 5.0
    seed: int = 1

    @property
    def slots(self) -> int:
        return self.read_slots if self.lane == "read" else self.mutation_slots

    @property
    def serve(self) -> tuple[str, ...]:
        """The kernel's options."""
        return (
            *("--read-slots", str(self.read_slots)),
            *("--mutation-slots", str(self.mutation_slots)),
            *("--admitted-max", str(self.admitted_max)),
        )


def run_sweep(sweep: Sweep, processors: Processors, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure the lane at each load. Raises TargetFailed or LoadFailed."""
    workload, point, busy = _SUBJECTS[sweep.lane]
    plan = delays.plan(point, sweep.service, sweep.service_s, seed=sweep.seed)
    with own_kernel(sweep.serve, plan=plan, cpu=processors.server) as target:
        connections = sweep.admitted_max + _SPARE
        target.place = prepare(target, blocks_written=connections)
        alone = Shape(workload, connections=1, duration_s=max(_CALIBRATION_S, sweep.seconds / 2), seed=sweep.seed)
        lane = _lane_of(sweep, run_round(target, alone, processors))
        tell(f"{sweep.lane} lane: {lane.slots} slots, {lane.service_s * 1000:.2f} ms a call (cv² {lane.cv2:.2f}), "
             f"capacity {lane.capacity_per_s:.1f}/s")  # fmt: skip
        points = []
        for load in sweep.loads:
            rate_per_s = load * lane.capacity_per_s
            shape = replace(
                alone,
                connections=connections,
                rate_per_s=rate_per_s,
                warm_up_s=_warm_up_s(lane, rate_per_s),
                duration_s=sweep.seconds,
            )
            points.append(_point(run_round(target, shape, processors), lane, shape.rate_per_s, load, busy))
            tell(f"  offered {shape.rate_per_s:7.1f}/s ({load:4.0%})  " + _words(points[-1]))
    return {
        "lane": sweep.lane,
        "options": asdict(sweep),
        "service": {"meanS": lane.service_s, "cv2": lane.cv2, "capacityPerS": lane.capacity_per_s},
        "points": points,
        "knee": _knee(points, lane),
    }


def _lane_of(sweep: Sweep, alone: dict[str, Any]) -> Lane:
    """The lane with the service time that a lone client has measured: delay, work and the way there."""
    histogram = Histogram.from_json(alone["histogram"])
    mean_s = histogram.mean_us / 1e6
    return Lane(sweep.slots, mean_s, histogram.variance_us2 / 1e12 / mean_s**2, sweep.admitted_max)


def _warm_up_s(lane: Lane, rate_per_s: float) -> float:
    """Until the queue is as the models see it: past saturation it has to fill first."""
    excess = rate_per_s - lane.capacity_per_s
    return _WARM_UP_S if excess <= 0 else min(_WARM_UP_S_MAX, _WARM_UP_S + lane.admitted_max / excess)


def _point(told: dict[str, Any], lane: Lane, rate_per_s: float, load: float, busy: str) -> dict[str, Any]:
    latency, lanes = told["latencyUs"], told["lanes"]
    done_per_s = told["endedPerS"].get("ok", 0.0)
    return {
        "load": load,
        "offeredPerS": round(rate_per_s, 3),
        "measured": {
            "throughputPerS": done_per_s,
            # Little's law: how long a call has held its slot at this load.
            "slotHeldS": round(lanes.get(busy, 0.0) / done_per_s, 5) if done_per_s else 0.0,
            "refusedPerS": told["endedPerS"].get("refused", 0.0),
            "failedPerS": told["endedPerS"].get("failed", 0.0),
            "utilisation": round(lanes.get(busy, 0.0) / lane.slots, 4),
            "queued": lanes.get("queued", 0.0),
            "meanS": latency["mean"] / 1e6,
            "p50S": latency["p50"] / 1e6,
            "p99S": latency["p99"] / 1e6,
            "refusedP99S": told["refusedUs"]["p99"] / 1e6,
            "latenessP99S": told["generator"]["latenessP99Us"] / 1e6,
        },
        "predicted": {model: _prediction(lane, rate_per_s, model) for model in MODELS},
    }


def _prediction(lane: Lane, rate_per_s: float, model: str) -> dict[str, float | None]:
    told = predict(lane, rate_per_s, model)
    return {
        "throughputPerS": told.throughput_per_s,
        "refusedPerS": told.refused_per_s,
        "utilisation": told.utilisation,
        "queued": told.queued,
        "meanS": told.mean_s,
        "p50S": told.p50_s,
        "p99S": told.p99_s,
    }


def _knee(points: list[dict[str, Any]], lane: Lane) -> dict[str, Any]:
    """Where the mean time in the system is twice the service time: measured, and by each model."""
    curve = [(point["offeredPerS"], point["measured"]["meanS"]) for point in points]
    measured = measured_knee_per_s(sorted(curve), lane.service_s)
    return {
        "measuredPerS": None if measured is None else round(measured, 2),
        "predictedPerS": {model: round(knee_per_s(lane, model), 2) for model in MODELS},
        "capacityPerS": round(lane.capacity_per_s, 2),
    }


def _words(point: dict[str, Any]) -> str:
    measured = point["measured"]
    predicted = point["predicted"]["M/G/c"]
    return (
        f"done {measured['throughputPerS']:7.1f}/s  refused {measured['refusedPerS']:6.1f}/s  "
        f"mean {measured['meanS'] * 1000:7.1f} ms (M/G/c {predicted['meanS'] * 1000:.1f})  "
        f"busy {measured['utilisation']:4.0%}  queued {measured['queued']:.1f} ({predicted['queued']:.1f})"
    )


def words_of_knee(knee: dict[str, Any]) -> str:
    """The knee in one line."""
    measured = "past the loads offered" if knee["measuredPerS"] is None else f"{knee['measuredPerS']:.1f}/s"
    predicted = ", ".join(f"{model} {rate:.1f}/s" for model, rate in knee["predictedPerS"].items())
    return f"knee (mean time twice the service time): measured {measured}; predicted {predicted}"
