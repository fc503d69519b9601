"""One round of load: workers are started together, lanes are watched, tallies are joined. Shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kernel.bench.client import Asking
from kernel.bench.idle import Idle, idle_connections
from kernel.bench.limits import READY_S_MAX, SAMPLE_TIMEOUT_S
from kernel.bench.results import round_as_json
from kernel.bench.sampler import Sampler, processor_s, resident_mib
from kernel.bench.tally import Tally
from kernel.bench.targets import Target

_NS: Final = 1_000_000_000
# From the order to begin until the first operation: the line has to reach every worker.
_START_S: Final = 0.05


class LoadFailed(Exception):
    """The generator could not do its part; one line that says why."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A load. ``rate_per_s`` 0: closed loop; ``arrivals``: ``poisson`` or ``even``."""

    workload: str
    connections: int = 16
    workers: int = 1
    rate_per_s: float = 0.0
    arrivals: str = "poisson"
    warm_up_s: float = 0.5
    duration_s: float = 2.0
    seed: int = 1
    operations_max: int | None = None
    idle: int = 0  # further connections that say nothing


@dataclass(frozen=True, slots=True)
class Processors:
    """Who runs where: the server on one, the generator on the others. ``None`` where there is nothing to choose."""

    server: int | None = None
    workers: Sequence[int] = ()

    @classmethod
    def here(cls, *, pins: bool = True) -> Processors:
        known = sorted(os.sched_getaffinity(0)) if pins and hasattr(os, "sched_getaffinity") else []
        return cls(known[0], known[1:]) if len(known) > 1 else cls()

    def of_worker(self, number: int) -> int | None:
        return self.workers[number % len(self.workers)] if self.workers else None


def run_round(target: Target, shape: Shape, processors: Processors) -> dict[str, Any]:
    """Give the load once. Raises LoadFailed."""
    workers = _start_workers(target, shape, processors)
    try:
        for worker in workers:
            hear(worker)
        # The silent ones come last: past a server's bound it is they who are turned away.
        looking = Asking(target.address, SAMPLE_TIMEOUT_S)
        if target.is_kernel:
            looking.connect()
        with looking, idle_connections(target, shape.idle) as idle:
            return _loaded(target, shape, workers, looking, idle)
    finally:
        for worker in workers:
            _end(worker)


def _loaded(
    target: Target, shape: Shape, workers: list[subprocess.Popen[str]], looking: Asking, idle: Idle
) -> dict[str, Any]:
    start_ns = time.perf_counter_ns() + int(_START_S * _NS)
    measure_ns = start_ns + int(shape.warm_up_s * _NS)
    end_ns = measure_ns + int(shape.duration_s * _NS)
    with Sampler(target, looking, measure_ns, end_ns) as sampler:
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write(f"{start_ns}\n")
            worker.stdin.flush()
        _sleep_until(measure_ns)
        spent_s = processor_s(target.pid)
        _sleep_until(end_ns)
        spent_s = processor_s(target.pid) - spent_s
        told = [json.loads(hear(worker)) for worker in workers]
    tally = Tally()
    for one in told:
        tally.add(Tally.from_json(one))
    row = round_as_json(
        tally,
        sampler.samples,
        duration_s=shape.duration_s,
        server_s=spent_s,
        generator_s=max(one["processorS"] for one in told),
        resident_mib=resident_mib(target.pid) if target.pid else 0.0,
        looks_missed=sampler.missed,
    )
    if shape.idle:
        row["idle"] = {"asked": idle.asked, "opened": idle.opened, "held": idle.held()}
    return row


def _start_workers(target: Target, shape: Shape, processors: Processors) -> list[subprocess.Popen[str]]:
    count = min(shape.workers, shape.connections)
    workers, first = [], 0
    for number in range(count):
        connections = shape.connections // count + (number < shape.connections % count)
        order = {
            "address": _fields(target.address),
            "place": _fields(target.place),
            "workload": shape.workload,
            "first": first,
            "connections": connections,
            "ratePerS": shape.rate_per_s * connections / shape.connections,
            "arrivals": shape.arrivals,
            "warmUpS": shape.warm_up_s,
            "durationS": shape.duration_s,
            "seed": shape.seed,
            "processor": processors.of_worker(number),
            "operationsMax": shape.operations_max,
        }
        first += connections
        workers.append(start_program("kernel.bench.worker", order))
    return workers


def start_program(module: str, order: dict[str, Any]) -> subprocess.Popen[str]:
    """A process of the generator with its order."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    worker = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert worker.stdin is not None
    worker.stdin.write(json.dumps(order) + "\n")
    worker.stdin.flush()
    return worker


def hear(worker: subprocess.Popen[str]) -> str:
    """The worker's next line. Raises LoadFailed with its last words; one that says nothing for too long is killed."""
    assert worker.stdout is not None
    too_late = threading.Timer(READY_S_MAX, worker.kill)
    too_late.start()
    line = worker.stdout.readline()
    too_late.cancel()
    if not line:
        assert worker.stderr is not None
        words = worker.stderr.read().strip().splitlines()
        raise LoadFailed(f"the load generator ended: {words[-1] if words else 'no word'}")
    return line


def _end(worker: subprocess.Popen[str]) -> None:
    try:
        worker.wait(0.5)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
    for stream in (worker.stdin, worker.stdout, worker.stderr):
        if stream is not None:
            stream.close()


def _sleep_until(at_ns: int) -> None:
    time.sleep(max(0.0, (at_ns - time.perf_counter_ns()) / _NS))


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
