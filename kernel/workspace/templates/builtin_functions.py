"""[core] The functions that Go's template language brings itself: comparing, logic, printing, escaping, indexing."""

from __future__ import annotations

import html
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote_plus

from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.formatting import sprintf
from kernel.workspace.templates.values import NO_VALUE, is_true, nanoseconds, printed, type_of

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
    if _is_nil(left) or _is_nil(right):
        return _is_nil(left) and _is_nil(right)
    kind, other = _basic(left), _basic(right)
    if kind != other:
        raise FunctionFailed(f"incompatible types for comparison: {type_of(left)} and {type_of(right)}")
    if not kind and type_of(left) != type_of(right):
        raise FunctionFailed(
            f"non-comparable types {sprintf('%s', left)}: {type_of(left)}, {type_of(right)}: {printed(right)}"
        )
    if kind or isinstance(left, datetime):
        return bool(_number(left) == _number(right))
    raise FunctionFailed(f"non-comparable type {sprintf('%s', right)}: {type_of(right)}")


def _is_nil(value: Any) -> bool:
    return value is NO_VALUE or value is None


def _basic(value: Any) -> str:
    """The kinds that compare by value: ``""`` for all others."""
    kinds = ((bool, "bool"), (int, "int"), (timedelta, "int"), (float, "float"), (str, "string"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "")


def less(left: Any, right: Any) -> bool:
    kind, other = _basic(left), _basic(right)
    if not kind or not other:
        raise FunctionFailed("invalid type for comparison")
    if kind != other:
        raise FunctionFailed(f"incompatible types for comparison: {type_of(left)} and {type_of(right)}")
    if kind == "bool":
        raise FunctionFailed("invalid type for comparison")
    return bool(_number(left) < _number(right))


def _number(value: Any) -> Any:
    return nanoseconds(value) if isinstance(value, timedelta) else value


def indexed(value: Any, *keys: Any) -> Any:
    """``index m "a" 0``: members of maps and lists, one after the other."""
    for key in keys:
        if isinstance(value, dict):
            if not isinstance(key, str):
                raise FunctionFailed(f"value has type {type_of(key)}; should be string")
            value = value.get(key, NO_VALUE)
        elif isinstance(value, list | tuple | str):
            if not isinstance(key, int) or isinstance(key, bool):
                raise FunctionFailed(f"cannot index slice/array with type {type_of(key)}")
            items = value.encode() if isinstance(value, str) else value
            if not 0 <= key < len(items):
                raise FunctionFailed(f"index out of range: {key}")
            value = items[key]
        else:
            nothing = "index of untyped nil"
            raise FunctionFailed(nothing if _is_nil(value) else f"can't index item of type {type_of(value)}")
    return value


def length(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, list | tuple | dict):
        return len(value)
    nothing = "reflect: call of reflect.Value.Type on zero Value"
    raise FunctionFailed(nothing if _is_nil(value) else f"len of type {type_of(value)}")


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


def _escaped_html(*values: Any) -> str:
    text = html.escape(sprint(*values), quote=False)
    return text.replace('"', "&#34;").replace("'", "&#39;").replace("\0", "\ufffd")


def _call(function: Any, *_: Any) -> Any:
    what = f"non-function {printed(function)} of type {type_of(function)}"
    raise FunctionFailed("call of nil" if _is_nil(function) else what)


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
