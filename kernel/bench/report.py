"""The report as a document: reading it with the place of what is wrong, and comparing two. [core]"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from kernel.bench.noise import UNKNOWN, WORSE, judge

FORMAT: Final = "sisyphus-bench"
VERSION: Final = 1
# Number → whether more of it is better.
COMPARED: Final = {"throughputPerS": True, "p50Us": False, "p99Us": False, "serverUsPerOperation": False}
_PATHS: Final = {
    "throughputPerS": ("endedPerS", "ok"),
    "p50Us": ("latencyUs", "p50"),
    "p99Us": ("latencyUs", "p99"),
    "serverUsPerOperation": ("server", "usPerOperation"),
}


class ReportInvalid(Exception):
    """The text is no report; the message names place and reason."""


def parse(text: str, name: str) -> dict[str, Any]:
    """A report's document. Raises ReportInvalid."""
    try:
        told = json.loads(text)
    except json.JSONDecodeError as error:
        raise ReportInvalid(f"{name}:{error.lineno}:{error.colno}: it is not JSON: {error.msg}") from None
    except RecursionError:
        raise ReportInvalid(f"{name}: it is nested too deeply") from None
    _check(isinstance(told, dict), name, "", "an object is expected")
    _check(told.get("format") == FORMAT, name, "format", f"{FORMAT!r} is expected")
    _check(told.get("version") == VERSION, name, "version", f"this bench reads version {VERSION}")
    _check(isinstance(told.get("made"), dict), name, "made", "an object is expected")
    for key in ("runs", "lanes"):
        _check(isinstance(told.get(key), list), name, key, "a list is expected")
    for number, run in enumerate(told["runs"]):
        _check_run(run, name, f"runs[{number}]")
    for number, lane in enumerate(told["lanes"]):
        _check_lane(lane, name, f"lanes[{number}]")
    return dict(told)


def _check_run(run: Any, name: str, place: str) -> None:
    _check(isinstance(run, dict), name, place, "an object is expected")
    for key in ("target", "workload", "mode"):
        _check(isinstance(run.get(key), str), name, f"{place}.{key}", "text is expected")
    for key in ("offeredPerS", "connections", "seconds"):
        _check(_is_number(run.get(key)), name, f"{place}.{key}", "a number is expected")
    _check(isinstance(run.get("summary"), dict), name, f"{place}.summary", "an object is expected")
    for key, spread in run["summary"].items():
        is_spread = isinstance(spread, dict) and all(_is_number(spread.get(one)) for one in ("median", "min", "max"))
        _check(is_spread, name, f"{place}.summary.{key}", "median, min and max are expected")
    rounds = run.get("rounds")
    _check(isinstance(rounds, list) and bool(rounds), name, f"{place}.rounds", "at least one round is expected")
    for number, one in enumerate(rounds or ()):
        for group in ("endedPerS", "latencyUs", "server"):
            there = f"{place}.rounds[{number}].{group}"
            _check(isinstance(one, dict) and isinstance(one.get(group), dict), name, there, "an object is expected")
            for key, value in one[group].items():
                _check(_is_number(value), name, f"{there}.{key}", "a number is expected")
        for group in ("windows", "samples"):
            there = f"{place}.rounds[{number}].{group}"
            _check(isinstance(one.get(group), list), name, there, "a list is expected")
            for row in one[group]:
                is_row = isinstance(row, dict) and _is_number(row.get("at")) and all(map(_is_number, row.values()))
                _check(is_row, name, there, "rows of numbers with 'at' are expected")


def _check_lane(lane: Any, name: str, place: str) -> None:
    _check(isinstance(lane, dict), name, place, "an object is expected")
    for key in ("options", "service", "knee"):
        _check(isinstance(lane.get(key), dict), name, f"{place}.{key}", "an object is expected")
    _check(isinstance(lane.get("points"), list), name, f"{place}.points", "a list is expected")
    for number, point in enumerate(lane["points"]):
        there = f"{place}.points[{number}]"
        is_point = isinstance(point, dict) and _is_number(point.get("offeredPerS"))
        _check(is_point, name, there, "a point with offeredPerS is expected")
        for key in ("measured", "predicted"):
            _check(isinstance(point.get(key), dict), name, f"{there}.{key}", "an object is expected")


def _check(holds: bool, name: str, place: str, reason: str) -> None:
    if not holds:
        raise ReportInvalid(f"{name}: {place + ': ' if place else ''}{reason}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict on every run that both reports have, and those that only one has."""
    old, new = _by_key(before), _by_key(after)
    rows = []
    for key in old:
        if key not in new:
            continue
        for number, more_is_better in COMPARED.items():
            values = [_values(run, number) for run in (old[key], new[key])]
            if any(map(any, values)):
                verdict = judge(*values, more_is_better=more_is_better)
                rows.append({"target": key[0], "workload": key[1], "number": number, **verdict.as_json()})
    words = [row["verdict"] for row in rows]
    return {
        "rows": rows,
        "onlyBefore": [list(key) for key in old if key not in new],
        "onlyAfter": [list(key) for key in new if key not in old],
        "verdict": WORSE if WORSE in words else UNKNOWN if not rows or UNKNOWN in words else "not worse",
    }


def _by_key(report: Mapping[str, Any]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """Runs are the same thing if target, workload, mode, rate and connections are."""
    return {
        (run["target"], run["workload"], run["mode"], run["offeredPerS"], run["connections"]): run
        for run in report["runs"]
    }


def _values(run: Mapping[str, Any], number: str) -> list[float]:
    group, field = _PATHS[number]
    return [float(one[group].get(field, 0.0)) for one in run["rounds"]]
