"""A sweep of one lane: what is measured alone is its service time, and each load is offered and compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from kernel.bench import lanes
from kernel.bench.calls import Address
from kernel.bench.histogram import Histogram
from kernel.bench.lanes import Sweep, run_sweep, words_of_knee
from kernel.bench.rounds import Processors, Shape
from kernel.bench.targets import Target
from kernel.bench.workloads import Place

SERVICE_US = 20_000


def measured(ok_per_s: float, mean_us: float, *, refused: float = 0.0, busy: float = 0.0) -> dict[str, Any]:
    histogram = Histogram()
    for _ in range(100):
        histogram.record(SERVICE_US)
    quantiles = {"mean": mean_us, "p50": mean_us, "p99": 2 * mean_us}
    return {
        "histogram": histogram.as_json(),
        "latencyUs": quantiles,
        "refusedUs": {"p99": 900.0},
        "generator": {"latenessP99Us": 50.0},
        "endedPerS": {"ok": ok_per_s, **({"refused": refused} if refused else {})},
        "lanes": {"reads": busy, "mutations": busy, "queued": 7.0},
    }


class Bench:
    """What the sweep is run on, instead of a kernel: tells the shapes of its rounds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *rounds: dict[str, Any]) -> None:
        self.rounds = list(rounds)
        self.shapes: list[Shape] = []
        self.serve: Sequence[str] = ()
        self.plan: Any = None
        self.written = 0
        monkeypatch.setattr(lanes, "own_kernel", self.own_kernel)
        monkeypatch.setattr(lanes, "prepare", self.prepare)
        monkeypatch.setattr(lanes, "run_round", self.run_round)

    @contextmanager
    def own_kernel(self, serve: Sequence[str], *, plan: Any, cpu: int | None) -> Iterator[Target]:
        self.serve, self.plan = serve, plan
        yield Target("kernel", Address("127.0.0.1", 1, "/x/mcp"))

    def prepare(self, target: Target, *, blocks_written: int) -> Place:
        self.written = blocks_written
        return Place()

    def run_round(self, target: Target, shape: Shape, processors: Processors) -> dict[str, Any]:
        self.shapes.append(shape)
        return self.rounds.pop(0)


def test_each_load_is_a_share_of_the_capacity_that_a_lone_client_found(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(
        monkeypatch,
        measured(50.0, SERVICE_US),
        measured(100.0, 21_000, busy=2.0),
        measured(200.0, 90_000, refused=40.0, busy=4.0),
    )
    told: list[str] = []
    sweep = Sweep("read", service="fixed", service_s=0.02, loads=(0.5, 1.2), seconds=3.0)
    report = run_sweep(sweep, Processors(), told.append)
    alone, half, over = bench.shapes
    assert (alone.connections, alone.rate_per_s, alone.duration_s) == (1, 0.0, 2.0)
    service = report["service"]
    assert service["meanS"] == pytest.approx(0.02, rel=0.02)
    assert service["capacityPerS"] == pytest.approx(200, rel=0.02)
    assert (half.rate_per_s, half.connections) == (pytest.approx(100, rel=0.02), 160)
    assert (half.warm_up_s, half.duration_s) == (1.0, 3.0)
    # Past saturation the queue has to fill first: 128 places at 40 calls a second too many.
    assert over.warm_up_s == pytest.approx(1 + 128 / 40, rel=0.05)
    assert (bench.written, bench.serve) == (160, sweep.serve)
    first, second = report["points"]
    assert first["measured"]["utilisation"] == 0.5
    assert first["measured"]["slotHeldS"] == 0.02
    assert second["measured"]["refusedPerS"] == 40.0
    assert set(first["predicted"]) == {"M/M/c", "M/D/c", "M/G/c"}
    assert first["predicted"]["M/D/c"]["utilisation"] == pytest.approx(0.5)
    assert report["knee"]["measuredPerS"] is not None
    assert len(told) == 3
    assert told[0].startswith("read lane: 4 slots, 20.")
    assert "refused   40.0/s" in told[2]
    assert words_of_knee(report["knee"]).startswith("knee (mean time twice the service time): measured 1")


def test_a_lane_in_which_nothing_was_done_has_held_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, measured(50.0, SERVICE_US), measured(0.0, 0.0))
    report = run_sweep(Sweep("mutation", loads=(0.9,), seconds=10.0), Processors(), lambda line: None)
    assert bench.shapes[0].duration_s == 5.0
    assert bench.shapes[0].workload == "preflights"
    assert report["points"][0]["measured"]["slotHeldS"] == 0.0
    assert report["knee"]["measuredPerS"] is None
    assert "past the loads offered" in words_of_knee(report["knee"])
