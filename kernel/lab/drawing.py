"""A trace as one SVG picture: a row per lane slot, what waits beside it, cancels and commits as marks. No I/O.

For documents and reports; to look around in a trace, open its Trace Event form in Perfetto.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Final

_WIDTH: Final = 1200
_LABEL: Final = 110
_ROW: Final = 22
_WAITING_ROWS_MAX: Final = 40
_TOP: Final = 34
_COLOURS: Final = {"completed": "#2e7d32", "failed": "#c62828", "cancelled": "#f9a825"}
_MARKS: Final = {"cancel_requested": "#d84315", "committing": "#1565c0", "fault": "#6a1b9a"}


def as_svg(document: dict[str, Any], title: str) -> str:
    """The Trace Event document of ``kernel.trace.trace_events`` as a picture."""
    events = document["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X"]
    waits = list(_waits(events))[:_WAITING_ROWS_MAX]
    times = [event["ts"] for event in events if "ts" in event] or [0.0]
    start, end = min(times), max(times)
    scale = (_WIDTH - _LABEL - 10) / max(end - start, 1.0)
    tracks = sorted({event["tid"] for event in slices if "slot" in names.get(event["tid"], "")})
    rows = {track: _TOP + place * _ROW for place, track in enumerate(tracks)}
    height = _TOP + (len(tracks) + 1) * _ROW + len(waits) * 6 + 30

    def x(at: float) -> float:
        return float(round(_LABEL + (at - start) * scale, 1))

    parts = [*_head(title, height)]
    for track in tracks:
        parts.append(f'<text x="4" y="{rows[track] + 15}">{escape(names[track])}</text>')
    # Host calls lie on the run that makes them, and a run is told when it has ended: after its host calls.
    for event in sorted(slices, key=lambda event: "call" in event["args"]):
        if event["tid"] in rows:
            parts.append(_bar(event, x(event["ts"]), event["dur"] * scale, rows[event["tid"]]))
    below = _TOP + (len(tracks) + 0.5) * _ROW
    parts.append(f'<text x="4" y="{below + 10}">waiting</text>')
    for place, (began, ended) in enumerate(waits):
        width = max(0.5, round((ended - began) * scale, 1))
        parts.append(f'<rect x="{x(began)}" y="{below + place * 6}" width="{width}" height="4" fill="#90a4ae"/>')
    for event in events:
        if event["ph"] == "i" and event["name"].split()[0] in _MARKS:
            colour, at = _MARKS[event["name"].split()[0]], x(event["ts"])
            y = rows.get(event["tid"], below - _ROW / 2)
            parts.append(
                f'<circle cx="{at}" cy="{y + 11}" r="3" fill="{colour}"><title>{event["name"]}</title></circle>'
            )
    parts.append(
        f'<text x="{_WIDTH - 10}" y="{height - 8}" text-anchor="end">{(end - start) / 1000:.0f} ms</text></svg>'
    )
    return "\n".join(parts) + "\n"


def _head(title: str, height: float) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" '
        'font-family="system-ui, sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
    )
    yield f'<text x="4" y="18" font-size="15" font-weight="600">{escape(title)}</text>'
    at = 480
    for name, colour in (*_COLOURS.items(), ("host call", "#00000055"), *_MARKS.items()):
        yield f'<rect x="{at}" y="8" width="11" height="11" fill="{colour}"/><text x="{at + 15}" y="18">{name}</text>'
        at += 25 + 7 * len(name)


def _bar(event: dict[str, Any], at: float, width: float, row: float) -> str:
    is_host = "call" in event["args"]
    top, height = (row + 12, 6) if is_host else (row + 2, _ROW - 4)
    colour = "#00000055" if is_host else _COLOURS.get(str(event["args"].get("state")), "#546e7a")
    words = escape(event["name"])
    return (
        f'<rect x="{at}" y="{top}" width="{max(0.8, round(width, 1))}" height="{height}" fill="{colour}" '
        f'stroke="#fff" stroke-width=".5"><title>{words}</title></rect>'
    )


def _waits(events: list[dict[str, Any]]) -> Iterator[tuple[float, float]]:
    """From arrival at a lane to a slot, or to a cancel."""
    began: dict[str, float] = {}
    for event in events:
        if event.get("cat") != "waiting":
            continue
        if event["ph"] == "b":
            began[event["id"]] = event["ts"]
        elif event["id"] in began:
            yield began.pop(event["id"]), event["ts"]
