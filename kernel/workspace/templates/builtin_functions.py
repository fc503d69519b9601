"""[core] The functions that Go's template language brings itself: comparing, logic, printing, escaping, indexing."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote_plus

from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.values import (
    NO_VALUE,
    float_text,
    is_true,
    json_text,
    printed,
    text_of,
    type_of,
)

_VERB: Final = re.compile(r"%([-+# 0]*)(\d+|\*)?(?:\.(\d+|\*))?([a-zA-Z%])")
_JS: Final = str.maketrans(
    {
        "\\": "\\\\",
        "'": "\\'",
        '"': '\\"',
        "<": "\\u003C",
        ">": "\\u003E",
        "&": "\\u0026",
        "=": "\\u003D",
        "\n": "\\u000A",
        "\r": "\\u000D",
        "\t": "\\u0009",
    }
)


def equal(first: Any, *others: Any) -> bool:
    """Whether the first equals any of the others. Raises FunctionFailed for kinds that do not compare."""
    if not others:
        raise FunctionFailed("missing argument for comparison")
    return any(_equal(first, other) for other in others)


def _equal(left: Any, right: Any) -> bool:
    if left is NO_VALUE or right is NO_VALUE or left is None or right is None:
        return (left is NO_VALUE or left is None) and (right is NO_VALUE or right is None)
    if _basic(left) != _basic(right):
        raise FunctionFailed(f"incompatible types for comparison: {type_of(left)} and {type_of(right)}")
    return bool(left == right)


def _basic(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "string"
    if isinstance(value, datetime):
        return "time"
    raise FunctionFailed("invalid type for comparison")


def less(left: Any, right: Any) -> bool:
    kind = _basic(left)
    if kind != _basic(right):
        raise FunctionFailed(f"incompatible types for comparison: {type_of(left)} and {type_of(right)}")
    if kind in ("bool", "time"):
        raise FunctionFailed("invalid type for comparison")
    return bool(left < right)


def indexed(value: Any, *keys: Any) -> Any:
    """``index m "a" 0``: members of maps and lists, one after the other."""
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key, NO_VALUE)
        elif isinstance(value, list | tuple | str):
            if not isinstance(key, int) or isinstance(key, bool):
                raise FunctionFailed(f"cannot index slice/array with type {_basic(key)}")
            if not 0 <= key < len(value):
                raise FunctionFailed(f"index out of range: {key}")
            value = value.encode()[key] if isinstance(value, str) else value[key]
        else:
            raise FunctionFailed("index of untyped nil" if value in (None, NO_VALUE) else "can't index item")
    return value


def length(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, list | tuple | dict):
        return len(value)
    raise FunctionFailed(f"len of type {'nil' if value in (None, NO_VALUE) else _basic(value)}")


def sprint(*values: Any) -> str:
    """Blanks between operands when neither is a string."""
    text = ""
    for place, value in enumerate(values):
        if place and not isinstance(value, str) and not isinstance(values[place - 1], str):
            text += " "
        text += printed(value)
    return text


def sprintln(*values: Any) -> str:
    return " ".join(printed(value) for value in values) + "\n"


def sprintf(layout: str, *values: Any) -> str:
    """Go's Sprintf for the usual verbs."""
    rest = list(values)

    def formatted(found: re.Match[str]) -> str:
        flags, width, precision, verb = found.groups()
        if verb == "%":
            return "%"
        if width == "*" and rest:
            width = str(rest.pop(0))
        if precision == "*" and rest:
            precision = str(rest.pop(0))
        if not rest:
            return f"%!{verb}(MISSING)"
        return _padded(_formatted(rest.pop(0), verb, flags, precision), flags, width)

    text = _VERB.sub(formatted, layout)
    if rest:
        text += f"%!(EXTRA {', '.join(f'{type_of(value)}={printed(value)}' for value in rest)})"
    return text


def _formatted(value: Any, verb: str, flags: str, precision: str | None) -> str:
    if verb == "s" and value is None:
        return "%!s(<nil>)"
    if verb == "v" or (verb == "s" and not isinstance(value, int | float)):
        text = printed(value)
        return text[: int(precision)] if precision and verb == "s" else text
    if verb == "q":
        return json_text(text_of(value), escapes_html=False)
    if verb == "T":
        return type_of(value)
    if verb == "t" and isinstance(value, bool):
        return printed(value)
    if isinstance(value, int) and not isinstance(value, bool) and verb in "dxXobcU":
        plus = "+" if "+" in flags and value >= 0 else ""
        if verb == "c":
            return chr(value)
        return plus + (f"U+{value:04X}" if verb == "U" else format(value, verb))
    if isinstance(value, str) and verb in "xX":
        shown = value.encode().hex()
        return shown.upper() if verb == "X" else shown
    if isinstance(value, float) and verb in "feEgG":
        if verb in "gG" and not precision:
            return float_text(value)
        plus = "+" if "+" in flags and value >= 0 else ""
        return plus + format(value, f".{precision or 6}{verb}")
    return f"%!{verb}({type_of(value)}={printed(value)})"


def _padded(text: str, flags: str, width: str | None) -> str:
    if not width:
        return text
    if "-" in flags:
        return text.ljust(int(width))
    if "0" in flags:
        sign = text[:1] if text[:1] in ("-", "+") else ""
        return sign + text[len(sign) :].rjust(int(width) - len(sign), "0")
    return text.rjust(int(width))


def _escaped_html(*values: Any) -> str:
    text = html.escape(sprint(*values), quote=False)
    return text.replace('"', "&#34;").replace("'", "&#39;").replace("\0", "\ufffd")


def _call(function: Any, *_: Any) -> Any:
    raise FunctionFailed(f"non-function {printed(function)}")


BUILTINS: Final[dict[str, Callable[..., Any]]] = {
    # "and" and "or" look no further than they must: the execution itself knows them.
    "and": lambda *values: values[-1],
    "or": lambda *values: values[-1],
    "not": lambda value: not is_true(value),
    "eq": equal,
    "ne": lambda left, right: not equal(left, right),
    "lt": less,
    "le": lambda left, right: less(left, right) or equal(left, right),
    "gt": lambda left, right: not (less(left, right) or equal(left, right)),
    "ge": lambda left, right: not less(left, right),
    "len": length,
    "index": indexed,
    "print": sprint,
    "printf": sprintf,
    "println": sprintln,
    "html": _escaped_html,
    "js": lambda *values: sprint(*values).translate(_JS),
    "urlquery": lambda *values: quote_plus(sprint(*values)),
    "call": _call,
}
