"""Line charts as SVG: axes with round numbers, a legend, nothing else. [core]"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_WIDTH: Final = 560
_HEIGHT: Final = 260
_LEFT: Final = 64
_RIGHT: Final = 12
_TOP: Final = 30
_BOTTOM: Final = 40
_LEGEND_ROW: Final = 16
COLOURS: Final = ("#1565c0", "#c62828", "#2e7d32", "#8e24aa", "#ef6c00", "#00838f", "#6d4c41", "#546e7a")


@dataclass(frozen=True, slots=True)
class Series:
    """One line. ``dots``: measured points are marked; ``dashed``: a prediction."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashed: bool = False
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart. ``log``: the vertical axis is logarithmic; ``marks``: vertical lines with a word each."""

    title: str
    x_label: str
    series: Sequence[Series]
    log: bool = False
    marks: Sequence[tuple[float, str]] = ()

    def as_svg(self) -> str:
        """The chart; says so where there is nothing to draw."""
        points = [point for one in self.series for point in one.points if not self.log or point[1] > 0]
        legend = -(-len(self.series) // 3)
        height = _HEIGHT + legend * _LEGEND_ROW
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
            f'aria-label="{escape(self.title)}"><text x="8" y="18" class="t">{escape(self.title)}</text>'
        )
        if not points:
            return head + f'<text x="{_LEFT}" y="{_HEIGHT / 2}">no data</text></svg>'
        frame = _Frame.around(points, [at for at, _ in self.marks], log=self.log)
        parts = [head, *frame.axes(self.x_label)]
        for at, word in self.marks:
            x = frame.x(at)
            parts.append(f'<line x1="{x}" y1="{_TOP}" x2="{x}" y2="{_HEIGHT - _BOTTOM}" class="mark"/>')
            parts.append(f'<text x="{x - 4}" y="{_TOP + 10}" text-anchor="end" class="s">{escape(word)}</text>')
        for one in self.series:
            parts.extend(_line(one, frame, log=self.log))
        parts.extend(_legend(self.series))
        return "".join(parts) + "</svg>"


@dataclass(frozen=True, slots=True)
class _Frame:
    """From values to the picture."""

    x_max: float
    y_min: float
    y_max: float
    log: bool

    @classmethod
    def around(cls, points: Sequence[tuple[float, float]], marks: Sequence[float], *, log: bool) -> _Frame:
        x_max = max([*(x for x, _ in points), *marks]) or 1.0
        values = [y for _, y in points]
        if not log:
            return cls(x_max, 0.0, max(values) * 1.05 or 1.0, log)
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(x_max, low, max(high, low + 1), log)

    def x(self, value: float) -> float:
        return round(_LEFT + value / self.x_max * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        share = ((math.log10(value) if self.log else value) - self.y_min) / (self.y_max - self.y_min)
        return round(_HEIGHT - _BOTTOM - min(1.0, share) * (_HEIGHT - _BOTTOM - _TOP), 1)

    def axes(self, x_label: str) -> Iterator[str]:
        bottom = _HEIGHT - _BOTTOM
        marks = (
            [10.0**power for power in range(int(self.y_min), int(self.y_max) + 1)] if self.log else ticks(self.y_max)
        )
        for value in marks:
            y = self.y(value)
            yield f'<line x1="{_LEFT}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}" class="g"/>'
            yield f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end" class="s">{short(value)}</text>'
        for value in ticks(self.x_max):
            yield f'<text x="{self.x(value)}" y="{bottom + 15}" text-anchor="middle" class="s">{short(value)}</text>'
        yield f'<line x1="{_LEFT}" y1="{bottom}" x2="{_WIDTH - _RIGHT}" y2="{bottom}" class="a"/>'
        yield f'<text x="{_WIDTH - _RIGHT}" y="{bottom + 30}" text-anchor="end" class="s">{escape(x_label)}</text>'


def _line(one: Series, frame: _Frame, *, log: bool) -> Iterator[str]:
    points = [(frame.x(x), frame.y(y)) for x, y in one.points if not log or y > 0]
    path = " ".join(f"{x},{y}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if one.dashed else ""
    if len(points) > 1:
        yield f'<polyline points="{path}" fill="none" stroke="{one.colour}" stroke-width="1.8"{dash}/>'
    if one.dots or len(points) == 1:
        for x, y in points:
            yield f'<circle cx="{x}" cy="{y}" r="3" fill="{one.colour}"/>'


def _legend(series: Sequence[Series]) -> Iterator[str]:
    for number, one in enumerate(series):
        x, y = _LEFT + number % 3 * 165, _HEIGHT + number // 3 * _LEGEND_ROW
        dash = ' stroke-dasharray="5 4"' if one.dashed else ""
        yield f'<line x1="{x}" y1="{y - 4}" x2="{x + 18}" y2="{y - 4}" stroke="{one.colour}" stroke-width="2"{dash}/>'
        yield f'<text x="{x + 23}" y="{y}" class="s">{escape(one.name)}</text>'


def ticks(high: float) -> list[float]:
    """Round numbers from 0 to ``high``: four to eight of them."""
    step = 10.0 ** math.floor(math.log10(high)) if high > 0 else 1.0
    for divisor in (5.0, 2.5, 2.0, 1.0):
        if high / (step / divisor) <= 8:
            step /= divisor
            break
    return [round(number * step, 12) for number in range(int(high / step + 1e-9) + 1)]


def short(value: float) -> str:
    """A number as an axis tells it."""
    for bound, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= bound:
            return f"{value / (1e3 if unit == 'k' else bound):g}{unit}"
    return f"{value:g}"
