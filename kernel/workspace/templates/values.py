"""[core] Values in templates: how they are printed, compared, converted and taken apart, as Go does."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta
from typing import Any, Final

from kernel.workspace.path_template import go_date


class _NoValue:
    """What a missing field is."""

    def __repr__(self) -> str:
        return "<no value>"


NO_VALUE: Final = _NoValue()


class Record(dict[str, Any]):
    """A struct of the host (a block, a span): its fields are its only members."""


def is_true(value: Any) -> bool:
    """Whether ``if`` takes its first way: not zero, not empty, not nil."""
    if value is NO_VALUE or value is None:
        return False
    if isinstance(value, Record | datetime):
        return True
    return bool(value)


def printed(value: Any) -> str:
    """A value as it comes out of an action."""
    if isinstance(value, str):
        return value
    if value is NO_VALUE:
        return "<no value>"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, datetime):
        return go_date(value, "2006-01-02 15:04:05") + _fraction(value) + go_date(value, " -0700 MST")
    if isinstance(value, timedelta):
        return duration_text(value)
    if isinstance(value, bytes):
        return f"[{' '.join(str(byte) for byte in value)}]"
    if isinstance(value, list | tuple):
        return f"[{' '.join(printed(one) for one in value)}]"
    if isinstance(value, Record):
        return f"{{{' '.join(printed(one) for one in value.values())}}}"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{printed(key)}:{printed(value[key])}' for key in sorted(value, key=printed))}]"
    return str(value)


def _fraction(moment: datetime) -> str:
    return f".{moment.microsecond:06}".rstrip("0") if moment.microsecond else ""


def float_text(value: float) -> str:
    """A float as %v prints it: shortest, with an exponent for very small and very large ones."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    digits, _, exponent = f"{value!r}".partition("e")
    power = int(exponent) if exponent else (math.floor(math.log10(abs(value))) if value else 0)
    if power < -4 or power >= 21:
        mantissa = digits if exponent else f"{value:e}".partition("e")[0]
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"
    text = format(value, "f") if exponent else digits
    return text.rstrip("0").rstrip(".") if "." in text else text


def duration_text(value: timedelta) -> str:
    """``1h2m3s``, ``1.5s``, ``0s``."""
    micros = round(value.total_seconds() * 1_000_000)
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    if micros < 1_000_000:
        if not micros:
            return "0s"
        return f"{sign}{float_text(micros / 1000)}ms" if micros >= 1000 else f"{sign}{micros}µs"
    seconds, rest = divmod(micros, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    tail = float_text(seconds + rest / 1_000_000)
    lead = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{lead}{tail}s"


# --- conversions -----------------------------------------------------------------------------------------------------
def text_of(value: Any) -> str:
    """A value where a function wants a string (sprig's strval)."""
    if value is None or value is NO_VALUE:
        return "" if value is NO_VALUE else "<nil>"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return printed(value)


def int_of(value: Any) -> int:
    """A value where a function wants an integer; what is none is 0."""
    if isinstance(value, str):
        text = value.strip()
        try:
            return int(text, 0) if not text.lstrip("+-").lstrip("0").isdecimal() else int(text)
        except ValueError:
            return int(float_of(value))
    if isinstance(value, timedelta):
        return round(value.total_seconds() * 1_000_000_000)
    return int(float_of(value)) if not isinstance(value, int) else int(value)


def float_of(value: Any) -> float:
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, timedelta):
        return value.total_seconds() * 1_000_000_000
    try:
        found = float(str(value))
    except ValueError:
        return 0.0
    return found if math.isfinite(found) else 0.0


def json_text(value: Any, *, indent: int | None = None, escapes_html: bool = True) -> str:
    """A value as Go's encoder writes it."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(
        value, ensure_ascii=False, separators=separators, indent=indent, sort_keys=True, default=_json_value
    )
    if escapes_html:
        text = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return text


def _json_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else text_of(value)


def kind_of(value: Any) -> str:
    """The reflected kind."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "bool"),
        (str, "string"),
        (int, "int"),
        (float, "float64"),
        (Record, "ptr"),
        (dict, "map"),
        ((list, tuple), "slice"),
        (datetime, "struct"),
        (timedelta, "int64"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "invalid")


def type_of(value: Any) -> str:
    """The type as Go names it."""
    if value is None or value is NO_VALUE:
        return "<nil>"
    kinds = {
        "ptr": "*sql.Block",
        "slice": "[]interface {}",
        "map": "map[string]interface {}",
        "struct": "time.Time",
        "int64": "time.Duration",
    }
    return kinds.get(kind_of(value), kind_of(value))
