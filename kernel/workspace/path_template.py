"""[core] The small part of Go's templates that notebook settings use for paths: literals and dates.

``{{now | date "2006/01"}}`` and ``{{now}}``; anything else is refused as the kernel refuses a template it cannot parse.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

_ACTION: Final = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_DATE: Final = re.compile(r'now\s*\|\s*date\s+"((?:[^"\\]|\\.)*)"|date\s+"((?:[^"\\]|\\.)*)"\s+now')
# Go writes a layout by an example moment; the longest pieces stand first.
_LAYOUT: Final = re.compile(
    r"[.,]0+(?![0-9])|[.,]9+(?![0-9])|2006|January|Monday|MST|Z07:00|-07:00|-0700|Jan|Mon|01|02|03|04|05|06|15|PM|pm|_2|1|2|3|4|5"
)


class TemplateError(ValueError):
    """A template that cannot be rendered; the message begins as the kernel's does."""


def render_path_template(template: str, now: datetime) -> str:
    """A path with its dates filled in. Raises TemplateError."""
    if "{{" in _ACTION.sub("", template):
        raise TemplateError(f"Parse template failed: unclosed action in {template!r}")
    return _ACTION.sub(lambda match: _value(match[1], now), template)


def _value(action: str, now: datetime) -> str:
    if action == "now":
        return f"{now:%Y-%m-%d %H:%M:%S.%f} {now:%z} {now.tzname() or ''}".strip()
    if action.startswith("/*"):
        return ""
    match = _DATE.fullmatch(action)
    if match is None:
        raise TemplateError(f"Parse template failed: {action!r} is not understood")
    layout = match[1] if match[1] is not None else match[2]
    return go_date(now, layout.replace('\\"', '"').replace("\\\\", "\\"))


def go_date(moment: datetime, layout: str) -> str:
    """``moment``, which knows its zone, in a Go layout (``2006-01-02 15:04:05``)."""
    hour = moment.hour % 12 or 12
    pieces = {
        "2006": f"{moment.year:04}",
        "06": f"{moment.year % 100:02}",
        "January": f"{moment:%B}",
        "Jan": f"{moment:%b}",
        "01": f"{moment.month:02}",
        "1": str(moment.month),
        "Monday": f"{moment:%A}",
        "Mon": f"{moment:%a}",
        "02": f"{moment.day:02}",
        "_2": f"{moment.day:2}",
        "2": str(moment.day),
        "15": f"{moment.hour:02}",
        "03": f"{hour:02}",
        "3": str(hour),
        "04": f"{moment.minute:02}",
        "4": str(moment.minute),
        "05": f"{moment.second:02}",
        "5": str(moment.second),
        "PM": f"{moment:%p}",
        "pm": f"{moment:%p}".lower(),
        "MST": _zone_name(moment),
        "-0700": f"{moment:%z}",
        "-07:00": _offset(moment),
        "Z07:00": _offset(moment) if moment.utcoffset() else "Z",
    }
    return _LAYOUT.sub(lambda match: pieces.get(match[0]) or _part_of_second(moment, match[0]), layout)


def _zone_name(moment: datetime) -> str:
    """The zone's name; one that is only an offset is shown as such."""
    name = moment.tzname() or ""
    return f"{moment:%z}" if name.startswith(("UTC+", "UTC-")) else name


def _part_of_second(moment: datetime, mark: str) -> str:
    """``.000``: so many digits; ``.999``: those of them that say something."""
    digits = f"{moment.microsecond:06}000"[: len(mark) - 1].ljust(len(mark) - 1, "0")
    if mark[1] == "9":
        digits = digits.rstrip("0")
    return f"{mark[0]}{digits}" if digits else ""


def _offset(moment: datetime) -> str:
    text = f"{moment:%z}"
    return f"{text[:3]}:{text[3:]}"
