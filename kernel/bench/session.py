"""A session of measuring: which targets, which workloads, in turn, round by round. Shell."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from kernel import __version__
from kernel.bench import delays, fanout, independent
from kernel.bench.preparation import prepare
from kernel.bench.report import FORMAT, VERSION
from kernel.bench.results import summary
from kernel.bench.rounds import Processors, Shape, run_round
from kernel.bench.targets import Target, own_kernel, peer, with_session
from kernel.bench.workloads import FAN_OUT, WORKLOADS

Tell = Callable[[str], None]
READ_POINT: Final = "host.before:/api/block/getBlockKramdown"
# Connections of an overload: all that may be admitted, and as many again that are refused.
_OVERLOAD_CONNECTIONS: Final = 256


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be measured. ``running``: a target that runs already, instead of a kernel of our own."""

    workloads: tuple[str, ...]
    peers: tuple[str, ...] = ()
    running: Target | None = None
    serve: tuple[str, ...] = ()
    read_slots: int = 4
    shape: Shape = field(default_factory=lambda: Shape("trivial"))
    rounds: int = 3
    idle: int = 10_000
    host_delay_s: float | None = None  # instead of the workload's own
    is_witnessed: bool = False
    is_legacy: bool = False  # in sessions of the older era


def measure(wish: Wish, processors: Processors, tell: Tell) -> list[dict[str, Any]]:
    """Every wished workload; what compares is measured in turn (A B A B …). Raises TargetFailed or LoadFailed."""
    return [run for workload in wish.workloads for run in _measure_one(wish, workload, processors, tell)]


def _measure_one(wish: Wish, workload: str, processors: Processors, tell: Tell) -> Iterator[dict[str, Any]]:
    with ExitStack() as stack:
        targets = list(_targets(wish, workload, processors, stack))
        if wish.is_legacy:
            targets = [with_session(target) for target in targets]
        rounds: list[list[dict[str, Any]]] = [[] for _ in targets]
        witnessed: list[list[dict[str, float]]] = [[] for _ in targets]
        shape = shape_for(wish, workload)
        tell(f"{workload}: {_manner(shape)}, {wish.rounds} rounds of {shape.duration_s:g} s")
        for number in range(wish.rounds):
            for place, target in enumerate(targets):
                told = _round(workload, target, replace(shape, seed=shape.seed + number), processors)
                rounds[place].append(told)
                tell(f"  round {number + 1}  {target.name:15} {_words(told)}")
                if wish.is_witnessed and workload == "trivial":
                    processor = processors.of_worker(0)
                    witnessed[place].append(
                        independent.wrk_round(
                            target, connections=shape.connections, seconds=shape.duration_s, processor=processor
                        )
                    )
                    tell(f"           {'wrk':15} {witnessed[place][-1]['throughputPerS']:9.1f}/s")
        runs = []
        for place, target in enumerate(targets):
            run = {
                "target": f"{target.name} (session)" if wish.is_legacy else target.name,
                "workload": workload,
                "mode": "open" if shape.rate_per_s else "closed",
                "offeredPerS": shape.rate_per_s,
                "connections": shape.connections,
                "seconds": shape.duration_s,
                "rounds": rounds[place],
                "summary": summary(rounds[place]),
                "wrk": witnessed[place],
            }
            runs.append(run)
        for line in medians(runs):
            tell(line)
        yield from runs


def medians(runs: list[dict[str, Any]]) -> Iterator[str]:
    """One line for each target: medians over the rounds, and how often the first one's rate and cost go into it."""
    first = runs[0]["rounds"]
    for run in runs:
        told = run["summary"]
        words = f"  median   {run['target']:15}"
        for name, form, scale in (
            ("throughputPerS", "{:9.1f}/s", 1.0),
            ("p50Us", "  p50 {:8.2f} ms", 1e-3),
            ("p99Us", "  p99 {:8.2f} ms", 1e-3),
            ("serverUsPerOperation", "  {:7.1f} µs of the server's processor", 1.0),
        ):
            if name in told:
                words += form.format(told[name]["median"] * scale)
        if run is not runs[0]:
            words += _ratios(first, run["rounds"], runs[0]["target"])
        yield words


def _ratios(first: list[dict[str, Any]], other: list[dict[str, Any]], name: str) -> str:
    """Medians of the ratios within each round: a machine that slows down slows both."""
    rates = [
        a["endedPerS"].get("ok", 0.0) / b for a, o in zip(first, other, strict=True) if (b := o["endedPerS"].get("ok"))
    ]
    costs = [
        o["server"]["usPerOperation"] / b
        for a, o in zip(first, other, strict=True)
        if (b := a["server"]["usPerOperation"])
    ]
    words = f"  {name} ×{statistics.median(rates):.2f} its rate" if rates else ""
    return words + (f", ×{1 / statistics.median(costs):.2f} its cost" if costs and statistics.median(costs) else "")


def _targets(wish: Wish, workload: str, processors: Processors, stack: ExitStack) -> Iterator[Target]:
    row = WORKLOADS.get(workload)
    if wish.running is not None:
        yield wish.running
    else:
        delay_s = _host_delay_s(wish, workload)
        plan = delays.plan(READ_POINT, delays.FIXED, delay_s) if delay_s else None
        room = (
            ("--connections-max", str(wish.idle + wish.shape.connections + 1)) if row is not None and row.idle else ()
        )
        target = stack.enter_context(own_kernel((*wish.serve, *room), plan=plan, cpu=processors.server))
        if row is not None and row.needs_notes:
            target.place = prepare(
                target, blocks_written=wish.shape.connections, with_large=workload == "large", seed=wish.shape.seed
            )
        yield target
    if row is not None and not row.needs_notes:
        for name in wish.peers:
            yield stack.enter_context(peer(name, cpu=processors.server))


def _host_delay_s(wish: Wish, workload: str) -> float:
    """How long the notes take, where the workload says that they take time at all."""
    own_s = WORKLOADS[workload].host_delay_s if workload in WORKLOADS else 0.0
    return wish.host_delay_s if wish.host_delay_s is not None and own_s else own_s


def shape_for(wish: Wish, workload: str) -> Shape:
    """The load of one workload: the wished one, within what the workload says about rate and connections."""
    row, shape = WORKLOADS.get(workload), replace(wish.shape, workload=workload)
    if row is not None:
        shape = replace(shape, connections=min(shape.connections, row.connections_max))
    if row is not None and row.idle:
        return replace(shape, idle=wish.idle)
    if row is None or not row.offers:
        return shape
    rate = row.offers * wish.read_slots / _host_delay_s(wish, workload)
    return replace(shape, rate_per_s=rate, connections=max(shape.connections, _OVERLOAD_CONNECTIONS))


def _round(workload: str, target: Target, shape: Shape, processors: Processors) -> dict[str, Any]:
    if workload == FAN_OUT:
        return fanout.run_round(target, shape, processors)
    return run_round(target, shape, processors)


def _manner(shape: Shape) -> str:
    if shape.rate_per_s:
        return f"open loop at {shape.rate_per_s:g}/s over {shape.connections} connections"
    return f"closed loop of {shape.connections} connections"


def _words(told: dict[str, Any]) -> str:
    ended, latency = told["endedPerS"], told["latencyUs"]
    words = f"{ended.get('ok', 0):9.1f}/s  p50 {latency['p50'] / 1000:8.2f} ms  p99 {latency['p99'] / 1000:8.2f} ms"
    words += "".join(f"  {name} {rate:.1f}/s" for name, rate in ended.items() if name != "ok" and rate)
    if told["unfinished"]:
        words += f"  {told['unfinished']} unfinished"
    if "idle" in told:
        words += f"  idle held {told['idle']['held']} of {told['idle']['asked']}"
    return words


def document(runs: list[dict[str, Any]], lanes: list[dict[str, Any]], processors: Processors) -> dict[str, Any]:
    """The report with what one has to know about where it was made."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "made": {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "kernel": __version__,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "processors": os.cpu_count() or 0,
            "pinned": processors.server is not None,
            "loadAverage": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
            "interpreter": sys.implementation.name,
        },
        "runs": runs,
        "lanes": lanes,
    }
