"""[core] Values in templates: how they are printed, compared, converted and taken apart, as Go does."""

from __future__ import annotations

import json
import math
import unicodedata
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
_ESCAPED: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
}


class Int64(int):
    """A number that Go's arithmetic made: of another type than a number that is written."""


def int64(value: int) -> Int64:
    """A whole number as 64 bits hold it: what does not fit runs over."""
    return Int64((value - _INT64_MIN) % 2**64 + _INT64_MIN)


class Named(int):
    """A month or a weekday: a number that prints as a name."""

    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.names[self] if 0 <= self < len(self.names) else f"%!({int(self)})"


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


def quoted(text: str, mark: str, *, is_ascii: bool = False) -> str:
    """A text between quotation marks, what cannot be printed escaped (strconv.Quote)."""
    return mark + "".join(f"\\{char}" if char == mark else _escaped(char, is_ascii) for char in text) + mark


def _escaped(char: str, is_ascii: bool) -> str:
    code = ord(char)
    if char in _ESCAPED:
        return _ESCAPED[char]
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if char == " " or (unicodedata.category(char)[0] not in "CZ" and not (is_ascii and code > 0x7F)):
        return char
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def nanoseconds(value: timedelta) -> int:
    return (value.days * 86_400 + value.seconds) * 1_000_000_000 + value.microseconds * 1000


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
    return printed(value)


def int_of(value: Any) -> int:
    """A value where a function wants an integer; what is none is 0."""
    if isinstance(value, str):
        head, _, digits = value.partition(".")
        return (whole_number(head, None) or 0) if digits.isdecimal() or not digits else 0
    if isinstance(value, timedelta):
        return nanoseconds(value)
    return int(value) if isinstance(value, int) else int64_of(float_of(value))


def whole_number(text: str, base: int | None) -> int | None:
    """The number that a text is (strconv.ParseInt); without a base its prefix says it. None when it is none."""
    digits = text.lstrip("+-")
    if len(text) - len(digits) > 1 or not digits.isascii() or digits != digits.strip():
        return None
    if base is None and digits[:1] == "0" and digits[1:].isdecimal():
        base = 8
    if base is not None and "_" in digits:
        return None
    try:
        number = int(text, base or 0)
    except ValueError:
        return None
    return number if _INT64_MIN <= number < -_INT64_MIN else None


def int64_of(value: float) -> int:
    """A float as the machine makes an int64 of it: what does not fit is the lowest one."""
    fits = math.isfinite(value) and _INT64_MIN <= value < -_INT64_MIN
    return int(value) if fits else _INT64_MIN


def float_of(value: Any) -> float:
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, timedelta):
        return float(nanoseconds(value))
    text = str(value)
    try:
        found = float(text) if text == text.strip() and "_" not in text else 0.0
    except ValueError:
        return 0.0
    return found if math.isfinite(found) else 0.0


def json_text(value: Any, *, indent: int | None = None, escapes_html: bool = True) -> str:
    """A value as Go's encoder writes it."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(_plain(value), ensure_ascii=False, separators=separators, indent=indent, sort_keys=True)
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    if escapes_html:
        text = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return text


def with_floats(value: Any) -> Any:
    """What a JSON text holds, whose numbers are all floats to Go."""
    if isinstance(value, dict):
        return {name: with_floats(one) for name, one in value.items()}
    if isinstance(value, list):
        return [with_floats(one) for one in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _plain(value: Any) -> Any:
    """What JSON has for a value. Floats without a fraction are whole numbers, as far as a double counts."""
    if value is NO_VALUE:
        return None
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, timedelta):
        return nanoseconds(value)
    if isinstance(value, datetime):
        return go_date(value, "2006-01-02T15:04:05") + _fraction(value) + go_date(value, "Z07:00")
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_BELOW else value


def kind_of(value: Any) -> str:
    """The reflected kind."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "bool"),
        (str, "string"),
        (Int64, "int64"),
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
    if isinstance(value, timedelta):
        return "time.Duration"
    if isinstance(value, Named):
        return f"time.{type(value).__name__}"
    kinds = {
        "ptr": "*sql.Block",
        "slice": "[]interface {}",
        "map": "map[string]interface {}",
        "struct": "time.Time",
    }
    return kinds.get(kind_of(value), kind_of(value))


def is_same(left: Any, right: Any) -> bool:
    """Whether two values are alike in type and content, members too (reflect.DeepEqual)."""
    if left is NO_VALUE or left is None:
        return right is NO_VALUE or right is None
    if type_of(left) != type_of(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(is_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(is_same(left[name], right[name]) for name in left)
    return bool(left == right)
