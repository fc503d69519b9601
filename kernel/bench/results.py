"""From a tally and samples to the numbers of a report; medians and spread over rounds. [core]"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kernel.bench.calls import FAILED, OK, REFUSED
from kernel.bench.limits import WINDOW_S, WINDOWS_MAX
from kernel.bench.tally import UNFINISHED, Tally

# Parts of an operation: their latencies stand beside the operation's, and count in no total.
STEPS: Final = frozenset({"write.preflight", "write.commit"})
# What the medians are made of: path in a round → name in the summary.
NUMBERS: Final = {
    "throughputPerS": ("endedPerS", OK),
    "refusedPerS": ("endedPerS", REFUSED),
    "failedPerS": ("endedPerS", FAILED),
    "meanUs": ("latencyUs", "mean"),
    "p50Us": ("latencyUs", "p50"),
    "p90Us": ("latencyUs", "p90"),
    "p99Us": ("latencyUs", "p99"),
    "p999Us": ("latencyUs", "p999"),
    "maxUs": ("latencyUs", "max"),
    "refusedP99Us": ("refusedUs", "p99"),
    "serverUsPerOperation": ("server", "usPerOperation"),
    "latenessP99Us": ("generator", "latenessP99Us"),
    "ceilingPerS": ("generator", "ceilingPerS"),
    "residentMiB": ("server", "residentMiB"),
    "readsBusy": ("lanes", "reads"),
    "mutationsBusy": ("lanes", "mutations"),
    "queued": ("lanes", "queued"),
}


def round_as_json(
    tally: Tally,
    samples: Sequence[Mapping[str, float]],
    *,
    duration_s: float,
    server_s: float,
    generator_s: float,
    resident_mib: float,
    looks_missed: int,
) -> dict[str, Any]:
    """One round. Rates are per second of ``duration_s``, latencies in microseconds."""
    ended = tally.ended()
    fine = tally.of_outcome(OK, without=STEPS)
    operations = sum(ended.values())
    told: dict[str, Any] = {
        "endedPerS": {outcome: round(count / duration_s, 3) for outcome, count in sorted(ended.items())},
        "intended": sum(one.total for (kind, _), one in tally.latencies.items() if kind not in STEPS),
        "unfinished": tally.of_outcome(UNFINISHED).total,
        "latencyUs": fine.summary(),
        "refusedUs": tally.of_outcome(REFUSED).summary(),
        "kinds": _kinds(tally),
        "errors": dict(sorted(tally.errors.items(), key=lambda pair: -pair[1])[:10]),
        "bytesPerS": round(tally.bytes_read / duration_s),
        "server": {
            "processorShare": round(server_s / duration_s, 3),
            "usPerOperation": round(server_s / operations * 1e6, 2) if operations else 0.0,
            "residentMiB": resident_mib,
        },
        "generator": {
            "processorShare": round(generator_s / duration_s, 3),
            # What it could have given with its processor to itself: below it, a server is measured and not the load.
            "ceilingPerS": round(operations / generator_s) if generator_s else 0,
            "latenessP99Us": tally.lateness.percentile(99),
        },
        "lanes": lanes_of(samples),
        "looksMissed": looks_missed,
        "windows": _windows(tally, duration_s),
        "samples": list(samples),
        "histogram": fine.as_json(),
    }
    # Unanswered operations are at least as old as this; a percentile that leaves them out would flatter.
    open_ones = tally.of_outcome(UNFINISHED)
    if open_ones.total:
        fine.add(open_ones)
        told["latencyWithUnfinishedUs"] = fine.summary()
    return told


def lanes_of(samples: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means over the samples: slots in use, and how many wait; ``queuedMax`` is the greatest that was seen."""
    if not samples:
        return {}
    told = {name: round(statistics.fmean(one[name] for one in samples), 3) for name in ("reads", "mutations", "queued")}
    return {**told, "queuedMax": max(one["queued"] for one in samples)}


def _kinds(tally: Tally) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for (kind, outcome), histogram in sorted(tally.latencies.items()):
        told.setdefault(kind, {})[outcome] = {"count": histogram.total, **histogram.summary()}
    return told


def _windows(tally: Tally, duration_s: float) -> list[dict[str, float]]:
    """The curves over time; joined to at most ``WINDOWS_MAX`` points."""
    count = max(1, round(duration_s / WINDOW_S))
    width = -(-count // WINDOWS_MAX)
    rows = []
    for start in range(0, count, width):
        joined = Tally(windows={n: tally.windows[n] for n in range(start, start + width) if n in tally.windows})
        ended, latency_us = joined.ended(), _joined_latency(joined)
        seconds = width * WINDOW_S
        row: dict[str, float] = {"at": round(start * WINDOW_S, 3)}
        row |= {outcome: round(ended.get(outcome, 0) / seconds, 1) for outcome in (OK, REFUSED, FAILED)}
        rows.append({**row, **latency_us})
    return rows


def _joined_latency(tally: Tally) -> dict[str, float]:
    joined = Tally()
    for window in tally.windows.values():
        joined.latencies.setdefault(("", OK), window.latency.__class__()).add(window.latency)
    histogram = joined.of_outcome(OK)
    return {"p50": histogram.percentile(50), "p99": histogram.percentile(99)} if histogram.total else {}


def summary(rounds: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Median, least and greatest of each number over the rounds, and the median absolute deviation."""
    told = {}
    for name, (group, field) in NUMBERS.items():
        values = [float(one[group].get(field, 0.0)) for one in rounds]
        if any(values):
            told[name] = spread(values)
    return told


def spread(values: Sequence[float]) -> dict[str, float]:
    median = statistics.median(values)
    mad = statistics.median(abs(value - median) for value in values)
    return {"median": round(median, 3), "min": min(values), "max": max(values), "mad": round(mad, 3)}
