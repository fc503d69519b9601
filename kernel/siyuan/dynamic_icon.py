"""[core] Icons that say a date or a word: SVG drawn by ourselves, in the size and with the parameters of the kernel's."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import date
from typing import Final

_COLORS: Final = {
    "red": "#d13d51",
    "blue": "#3575f0",
    "yellow": "#f3a92f",
    "green": "#65b84d",
    "purple": "#a36cda",
    "pink": "#e099ff",
    "orange": "#ea5d2a",
    "grey": "#5f6368",
}
_HEX: Final = re.compile(r"#?([0-9a-fA-F]{6})")
_DEFAULT: Final = "red"
_FONT: Final = "sans-serif"
# Units of the drawing, a square.
SIDE: Final = 512
_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905 - as they are read
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CHINESE_DAYS: Final = "一二三四五六日"
CONTENT_CHARS_MAX: Final = 16


@dataclass(frozen=True, slots=True)
class IconWish:
    """What the address asks for; ``kind`` is "1" to "8"."""

    kind: str = "1"
    color: str = ""
    lang: str = "en"
    weekday_type: str = "1"
    content: str = ""


def draw_icon(wish: IconWish, shown: date, today: date) -> str:
    """The icon of a day, or of a word (kind 8)."""
    is_weekend = shown.weekday() > 4
    color = _color(wish.color or ("red" if wish.kind != "6" or is_weekend else "blue"))
    year, month, day = str(shown.year), _month(shown, wish.lang), str(shown.day)
    match wish.kind:
        case "2":
            lines = [(f"{month} {year}", 72), (day, 260)]
        case "3":
            lines = [(year, 72), (month, 170)]
        case "4":
            lines = [("", 72), (year, 190)]
        case "5":
            lines = [(year, 72), (f"{shown.isocalendar().week}W", 190)]
        case "6":
            lines = [("", 72), (_weekday(shown, wish), 150)]
        case "7":
            lines = [(shown.isoformat(), 64), (str((shown - today).days), 220)]
        case "8":
            return _word(wish.content[:CONTENT_CHARS_MAX], color)
        case _:
            lines = [(f"{month} {year}", 72), (day, 220), (_weekday(shown, wish), 72)]
    return _sheet(wish.kind, lines, color)


def _color(given: str) -> str:
    named = _COLORS.get(given)
    if named is not None:
        return named
    found = _HEX.fullmatch(given)
    return f"#{found[1].lower()}" if found else _COLORS[_DEFAULT]


def _month(shown: date, lang: str) -> str:
    return f"{shown.month}月" if lang.startswith("zh") else _MONTHS[shown.month - 1]


def _weekday(shown: date, wish: IconWish) -> str:
    if wish.lang.startswith("zh"):
        word = "星期" if wish.weekday_type in ("3", "4") else ("週" if wish.lang == "zh-TW" else "周")
        last = "天" if wish.weekday_type in ("2", "4") else "日"
        return word + (_CHINESE_DAYS[:6] + last)[shown.weekday()]
    name = _DAYS[shown.weekday()]
    name = name if wish.weekday_type in ("3", "4") else name[:3]
    return name.upper() if wish.weekday_type in ("2", "4") else name


def _sheet(kind: str, lines: list[tuple[str, int]], color: str) -> str:
    """A sheet of a calendar: a coloured head with the first line, the others below."""
    head, *rest = lines
    parts = [
        f'<svg id="dynamic_icon_type{kind}" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}">',
        f'<rect width="{SIDE}" height="{SIDE}" rx="48" style="fill: #ecf2f7;"></rect>',
        f'<rect width="{SIDE}" height="140" rx="48" style="fill: {color};"></rect>',
        f'<rect y="70" width="{SIDE}" height="70" style="fill: {color};"></rect>',
        _line(head[0], head[1], 72, "#fff"),
    ]
    places = [326] if len(rest) == 1 else [290, 450]
    parts += [_line(text, size, place, "#53606e") for (text, size), place in zip(rest, places, strict=True)]
    return "".join([*parts, "</svg>"])


def _word(content: str, color: str) -> str:
    size = min(400, int(760 / max(len(content), 1)))
    return (
        f'<svg id="dynamic_icon_type8" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}">'
        f'<rect width="{SIDE}" height="{SIDE}" rx="64" style="fill: {color};"></rect>'
        f"{_line(content, size, SIDE // 2, '#fff')}</svg>"
    )


def _line(text: str, size: int, y: int, color: str) -> str:
    style = (
        f"font-size: {size}px; fill: {color}; text-anchor: middle; dominant-baseline: central; font-family: {_FONT};"
    )
    return f'<text x="50%" y="{y}" style="{style}">{html.escape(text)}</text>'
