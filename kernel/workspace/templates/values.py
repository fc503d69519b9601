"""[core] Values in templates: how they are printed, compared, converted and taken apart, as Go does."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from kernel.workspace.path_template import go_date


class _NoValue:
    """What a missing field is."""

    def __repr__(self) -> str:
        return "<no value>"


NO_VALUE: Final = _NoValue()
# Powers of ten that %v prints with an exponent.
_EXPONENT_BELOW: Final = -4
_EXPONENT_FROM: Final = 6
_WHOLE_BELOW: Final = 1e21
_INT64_MIN: Final = -(2**63)


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
    """A value as %v prints it."""
    if isinstance(value, str):
        return value
    if value is NO_VALUE or value is None:
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


def shown_of(value: Any) -> str:
    """A value as it comes out of an action: nothing has no value there."""
    return "<no value>" if value is NO_VALUE or value is None else printed(value)


def _fraction(moment: datetime) -> str:
    return f".{moment.microsecond:06}".rstrip("0") if moment.microsecond else ""


def float_text(value: float) -> str:
    """A float as %v prints it: shortest, with an exponent for very small and very large ones."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    shortest = Decimal(repr(value)).normalize()
    power = shortest.adjusted() if value else 0
    if power < _EXPONENT_BELOW or power >= _EXPONENT_FROM:
        mantissa = f"{shortest.scaleb(-power):f}"
        return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"
    return f"{shortest:f}"


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
            number = int(text, 0) if not text.lstrip("+-").lstrip("0").isdecimal() else int(text)
        except ValueError:
            number = int(float_of(value))
        return number if _INT64_MIN <= number < -_INT64_MIN else 0
    if isinstance(value, timedelta):
        return round(value.total_seconds() * 1_000_000_000)
    return int(float_of(value)) if not isinstance(value, int) else int(value)


def int64_of(value: float) -> int:
    """A float as the machine makes an int64 of it: what does not fit is the lowest one."""
    fits = math.isfinite(value) and _INT64_MIN <= value < -_INT64_MIN
    return int(value) if fits else _INT64_MIN


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
        _with_whole_numbers(value),
        ensure_ascii=False,
        separators=separators,
        indent=indent,
        sort_keys=True,
        default=_json_value,
    )
    if escapes_html:
        text = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return text


def _with_whole_numbers(value: Any) -> Any:
    """Floats without a fraction are written as whole numbers, as far as a double counts."""
    if isinstance(value, dict):
        return {key: _with_whole_numbers(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_with_whole_numbers(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_BELOW else value


def _json_value(value: Any) -> Any:
    if not isinstance(value, datetime):
        return text_of(value)
    return go_date(value, "2006-01-02T15:04:05") + _fraction(value) + go_date(value, "Z07:00")


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
