"""A report as one HTML page that needs nothing else: tables, and plots as SVG in the page. [core]"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.bench.plots import COLOURS, Chart, Series

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; } body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
max-width: 76rem; padding: 0 1rem; } h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.sub { opacity: .75; margin: 0 0 1rem; } table { border-collapse: collapse; width: 100%; } th, td { text-align: left;
padding: .3rem .6rem; border-top: 1px solid var(--line); } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td small { opacity: .65; } .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; }
svg { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; font: 12px system-ui, sans-serif; }
svg text { fill: currentColor; } svg .t { font-weight: 600; font-size: 13px; } svg .s { font-size: 11px; opacity: .8; }
svg .g { stroke: currentColor; opacity: .12; } svg .a { stroke: currentColor; opacity: .5; }
svg .mark { stroke: currentColor; opacity: .5; stroke-dasharray: 2 3; } .knee { font-weight: 600; }
"""
_COLUMNS: Final = {
    "throughputPerS": ("done/s", 1.0),
    "refusedPerS": ("refused/s", 1.0),
    "p50Us": ("p50 ms", 1e-3),
    "p90Us": ("p90 ms", 1e-3),
    "p99Us": ("p99 ms", 1e-3),
    "p999Us": ("p99.9 ms", 1e-3),
    "serverUsPerOperation": ("server µs each", 1.0),
    "residentMiB": ("MiB resident", 1.0),
    "latenessP99Us": ("sends late p99 ms", 1e-3),
    "ceilingPerS": ("generator could/s", 1.0),
}


def as_html(report: Mapping[str, Any]) -> bytes:
    """The page of a report that ``kernel.bench.report.parse`` takes."""
    made = report["made"]
    sub = ", ".join(f"{_text(name)} {_text(value)}" for name, value in made.items())
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Bench</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f'<h1>What it carried, and how long that took</h1><p class="sub">{sub}</p>'
    ]
    if report["runs"]:
        parts.append(_table(report["runs"]))
        for workload in dict.fromkeys(run["workload"] for run in report["runs"]):
            parts.extend(_workload(workload, [run for run in report["runs"] if run["workload"] == workload]))
    for lane in report["lanes"]:
        parts.extend(_lane(lane))
    return ("".join(parts) + "</html>").encode("utf-8", "replace")


def _table(runs: list[dict[str, Any]]) -> str:
    heads = "".join(f'<th class="n">{title}</th>' for title, _ in _COLUMNS.values())
    rows = []
    for run in runs:
        cells = "".join(_cell(run["summary"].get(name), scale) for name, (_, scale) in _COLUMNS.items())
        rows.append(
            f"<tr><td>{_text(run['workload'])}</td><td>{_text(run['target'])}</td><td>{_manner(run)}</td>{cells}</tr>"
        )
        rows.extend(_witness(run))
    return (
        f"<table><thead><tr><th>Workload</th><th>Target</th><th>Load</th>{heads}</tr></thead>"
        f'<tbody>{"".join(rows)}</tbody></table><p class="sub">Medians of the rounds, least to greatest beneath. '
        "Latency counts from the intended time of sending.</p>"
    )


def _witness(run: Mapping[str, Any]) -> Iterator[str]:
    """wrk's own numbers of the same target."""
    told = run.get("wrk") or []
    if told:
        rates = sorted(one["throughputPerS"] for one in told)
        middle = rates[len(rates) // 2]
        cells = f'<td class="n">{middle:,.1f}<br><small>{rates[0]:,.0f}–{rates[-1]:,.0f}</small></td>'
        yield (
            f"<tr><td>{_text(run['workload'])}</td><td>{_text(run['target'])}</td><td>by wrk, closed</td>{cells}"
            f'<td colspan="{len(_COLUMNS) - 1}"></td></tr>'
        )


def _cell(spread: Mapping[str, float] | None, scale: float) -> str:
    if spread is None:
        return '<td class="n">–</td>'
    median, low, high = (spread[name] * scale for name in ("median", "min", "max"))
    return f'<td class="n">{median:,.2f}<br><small>{low:,.2f}–{high:,.2f}</small></td>'


def _workload(name: str, runs: list[dict[str, Any]]) -> Iterator[str]:
    """The curves over time of every target's last round."""
    yield f"<h2>{_text(name)}</h2>"
    for run in runs:
        idle = run["rounds"][-1].get("idle")
        if idle:
            yield f'<p class="sub">{_text(run["target"])}: {idle["held"]:,} silent connections kept of {idle["asked"]:,} asked.</p>'
    yield '<div class="plots">'
    yield Chart("Done per second", "seconds", _over_time(runs, "ok")).as_svg()
    quantiles = [*_over_time(runs, "p50", 1e-3, " p50"), *_over_time(runs, "p99", 1e-3, " p99", len(runs))]
    yield Chart("Latency, ms", "seconds", quantiles, log=True).as_svg()
    yield Chart("Latency by percentile, ms", "nines (2 = 99 %)", _by_percentile(runs), log=True).as_svg()
    refusals = [*_over_time(runs, "refused", 1.0, " refused"), *_over_time(runs, "failed", 1.0, " failed", len(runs))]
    if any(y for one in refusals for _, y in one.points):
        yield Chart("Refused and failed per second", "seconds", refusals).as_svg()
    with_lanes = [run for run in runs if run["rounds"][-1]["samples"]]
    if with_lanes:
        busy = [*_sampled(with_lanes, "reads"), *_sampled(with_lanes, "mutations", 1)]
        yield Chart("Busy slots", "seconds", busy).as_svg()
        yield Chart("Waiting for a slot", "seconds", _sampled(with_lanes, "queued")).as_svg()
    yield "</div>"


def _over_time(
    runs: list[dict[str, Any]], field: str, scale: float = 1.0, word: str = "", first: int = 0
) -> list[Series]:
    return [
        Series(
            run["target"] + word,
            [(row["at"], row[field] * scale) for row in run["rounds"][-1]["windows"] if field in row],
            COLOURS[(first + number) % len(COLOURS)],
        )
        for number, run in enumerate(runs)
    ]


def _sampled(runs: list[dict[str, Any]], field: str, first: int = 0) -> list[Series]:
    return [
        Series(
            f"{run['target']} {field}",
            [(row["at"], row[field]) for row in run["rounds"][-1]["samples"] if field in row and row["at"] >= 0],
            COLOURS[(first + number) % len(COLOURS)],
        )
        for number, run in enumerate(runs)
    ]


def _by_percentile(runs: list[dict[str, Any]]) -> list[Series]:
    nines = {"p50": 0.301, "p90": 1.0, "p99": 2.0, "p999": 3.0}
    return [
        Series(
            run["target"],
            [(at, run["summary"][f"{name}Us"]["median"] / 1000) for name, at in nines.items() if f"{name}Us" in run["summary"]],
            COLOURS[number % len(COLOURS)],
            dots=True,
        )
        for number, run in enumerate(runs)
    ]  # fmt: skip


_LANE_CHARTS: Final = (
    ("meanS", "Mean time in the system, ms", 1e3, True),
    ("p50S", "Median, ms", 1e3, True),
    ("p99S", "99th percentile, ms", 1e3, True),
    ("throughputPerS", "Done per second", 1.0, False),
    ("utilisation", "Busy share of the slots", 1.0, False),
    ("queued", "Waiting for a slot", 1.0, False),
    ("refusedPerS", "Refused per second", 1.0, False),
)


def _lane(lane: Mapping[str, Any]) -> Iterator[str]:
    """Measured dots, predicted dashes, and where the knee is."""
    options, service, knee = lane["options"], lane["service"], lane["knee"]
    slots = options.get(f"{lane['lane']}_slots", "?")
    yield f"<h2>The {_text(lane['lane'])} lane: {_text(slots)} slots, {_text(options.get('admitted_max'))} admitted</h2>"
    yield (
        f'<p class="sub">Service time: {_text(options.get("service"))}, {service["meanS"] * 1000:.2f} ms on average as a '
        f"lone client measures it (cv² {service['cv2']:.2f}); capacity {service['capacityPerS']:.1f}/s. "
        "M/M/c, M/D/c and M/G/c are the predictions for the same lane, with no parameter fitted to the curve.</p>"
    )
    measured = "past the loads offered" if knee["measuredPerS"] is None else f"{knee['measuredPerS']:.1f}/s"
    predicted = ", ".join(f"{_text(model)} {rate:.1f}/s" for model, rate in knee["predictedPerS"].items())
    yield f'<p class="knee">Knee (mean time twice the service time): measured {measured}; predicted {predicted}.</p>'
    yield '<div class="plots">'
    marks = [] if knee["measuredPerS"] is None else [(knee["measuredPerS"], "knee")]
    for field, title, scale, log in _LANE_CHARTS:
        yield Chart(title, "offered per second", list(_lane_series(lane, field, scale)), log, marks).as_svg()
    yield "</div>"


def _lane_series(lane: Mapping[str, Any], field: str, scale: float) -> Iterator[Series]:
    points = lane["points"]
    yield Series(
        "measured",
        [(point["offeredPerS"], point["measured"][field] * scale) for point in points],
        COLOURS[0],
        dots=True,
    )
    models = list(points[0]["predicted"]) if points else []
    for number, model in enumerate(models, 1):
        told = [(point["offeredPerS"], point["predicted"].get(model, {}).get(field)) for point in points]
        yield Series(model, [(x, y * scale) for x, y in told if y is not None], COLOURS[number], dashed=True)


def _manner(run: Mapping[str, Any]) -> str:
    if run["mode"] == "open":
        return f"open, {run['offeredPerS']:g}/s"
    return f"closed, {run['connections']:g} connections"


def _text(value: Any) -> str:
    return html.escape(str(value))
