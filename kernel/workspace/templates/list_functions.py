"""[core] Functions on lists, maps and any values, as the Sprig library names them."""

from __future__ import annotations

import operator
import posixpath
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

from kernel.json_text import read_json
from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.values import NO_VALUE, int_of, is_true, json_text, kind_of, text_of, type_of


def _list(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    raise FunctionFailed(f"cannot find values of type {kind_of(value)}")


def _unique(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in _list(values):
        if value not in found:
            found.append(value)
    return found


def _sliced(values: Any, *places: Any) -> list[Any]:
    first = int_of(places[0]) if places else 0
    last = int_of(places[1]) if len(places) > 1 else len(_list(values))
    return _list(values)[first:last]


def _chunk(size: Any, values: Any) -> list[list[Any]]:
    width = max(int_of(size), 1)
    items = _list(values)
    return [items[at : at + width] for at in range(0, len(items), width)]


def _has(value: Any, values: Any) -> bool:
    return values is not None and value in _list(values)


def _first(values: Any) -> Any:
    return next(iter(_list(values)), None)


def _last(values: Any) -> Any:
    items = _list(values)
    return items[-1] if items else None


# --- maps ------------------------------------------------------------------------------------------------------------
def _dict(*pairs: Any) -> dict[str, Any]:
    return {text_of(pairs[at]): pairs[at + 1] if at + 1 < len(pairs) else "" for at in range(0, len(pairs), 2)}


def _set(target: dict[str, Any], name: Any, value: Any) -> dict[str, Any]:
    target[text_of(name)] = value
    return target


def _unset(target: dict[str, Any], name: Any) -> dict[str, Any]:
    target.pop(text_of(name), None)
    return target


def _pluck(name: Any, *maps: Any) -> list[Any]:
    return [one[text_of(name)] for one in maps if text_of(name) in one]


def _dig(*steps: Any) -> Any:
    *names, default, target = steps
    for name in names:
        if not isinstance(target, dict):
            raise FunctionFailed(
                f"interface conversion: interface {{}} is {type_of(target)}, not map[string]interface {{}}"
            )
        if text_of(name) not in target:
            return default
        target = target[text_of(name)]
    return target


def _merged(target: dict[str, Any], *others: dict[str, Any], overwrites: bool) -> dict[str, Any]:
    for other in others:
        for name, value in other.items():
            known = target.get(name)
            if isinstance(known, dict) and isinstance(value, dict):
                _merged(known, value, overwrites=overwrites)
            elif overwrites or not is_true(known if known is not None else NO_VALUE):
                target[name] = value
    return target


# --- any values ------------------------------------------------------------------------------------------------------
def _default(fallback: Any, *given: Any) -> Any:
    return given[0] if given and is_true(given[0]) else fallback


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if is_true(value)), None)


def _fail(words: Any) -> Any:
    raise FunctionFailed(text_of(words))


def _from_json(text: Any) -> Any:
    try:
        return read_json(text_of(text))
    except ValueError:
        return None


def _must_from_json(text: Any) -> Any:
    try:
        return read_json(text_of(text))
    except ValueError as error:
        raise FunctionFailed(str(error)) from error


def count_if(values: Any, operation: Any, threshold: Any) -> int:
    """How many members are ``gt``, ``lt``, ``eq``, ``ge`` or ``le`` a number; what is no number does not count."""
    bound = _number(threshold)
    compare = _COMPARISONS.get(text_of(operation))
    if bound is None or compare is None or not isinstance(values, list | tuple):
        return 0
    numbers = (_number(value) for value in values)
    return sum(1 for number in numbers if number is not None and compare(number, bound))


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "gt": operator.gt,
    "lt": operator.lt,
    "eq": operator.eq,
    "ge": operator.ge,
    "le": operator.le,
}


def _slice(values: Any, *places: Any) -> list[Any]:
    if not isinstance(values, list | tuple):
        raise FunctionFailed(f"list should be type of slice or array but {kind_of(values)}")
    return _sliced(values, *places)


LIST_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "list": lambda *values: list(values),
    "tuple": lambda *values: list(values),
    "append": lambda values, value: [*_list(values), value],
    "push": lambda values, value: [*_list(values), value],
    "mustAppend": lambda values, value: [*_list(values), value],
    "prepend": lambda values, value: [value, *_list(values)],
    "mustPrepend": lambda values, value: [value, *_list(values)],
    "concat": lambda *lists: [value for values in lists for value in _list(values)],
    "first": _first,
    "mustFirst": _first,
    "last": _last,
    "mustLast": _last,
    "rest": lambda values: _list(values)[1:],
    "mustRest": lambda values: _list(values)[1:],
    "initial": lambda values: _list(values)[:-1],
    "mustInitial": lambda values: _list(values)[:-1],
    "reverse": lambda values: _list(values)[::-1],
    "mustReverse": lambda values: _list(values)[::-1],
    "uniq": _unique,
    "mustUniq": _unique,
    "compact": lambda values: [value for value in _list(values) if is_true(value)],
    "mustCompact": lambda values: [value for value in _list(values) if is_true(value)],
    "without": lambda values, *gone: [value for value in _list(values) if value not in gone],
    "mustWithout": lambda values, *gone: [value for value in _list(values) if value not in gone],
    "has": _has,
    "mustHas": _has,
    "slice": _slice,
    "mustSlice": _slice,
    "chunk": _chunk,
    "mustChunk": _chunk,
    "dict": _dict,
    "get": lambda target, name: target.get(text_of(name), ""),
    "set": _set,
    "unset": _unset,
    "hasKey": lambda target, name: text_of(name) in target,
    "pluck": _pluck,
    "keys": lambda *maps: sorted(name for one in maps for name in one),
    "values": lambda target: list(target.values()),
    "pick": lambda target, *names: {name: target[name] for name in names if name in target},
    "omit": lambda target, *names: {name: value for name, value in target.items() if name not in names},
    "dig": _dig,
    "merge": lambda target, *others: _merged(target, *others, overwrites=False),
    "mustMerge": lambda target, *others: _merged(target, *others, overwrites=False),
    "mergeOverwrite": lambda target, *others: _merged(target, *others, overwrites=True),
    "mustMergeOverwrite": lambda target, *others: _merged(target, *others, overwrites=True),
    "deepCopy": deepcopy,
    "mustDeepCopy": deepcopy,
    "default": _default,
    "empty": lambda value: not is_true(value),
    "coalesce": _coalesce,
    "all": lambda *values: all(is_true(value) for value in values),
    "any": lambda *values: any(is_true(value) for value in values),
    "ternary": lambda yes, no, test: yes if test is True else no,
    "fail": _fail,
    "toJson": json_text,
    "mustToJson": json_text,
    "toPrettyJson": lambda value: json_text(value, indent=2),
    "mustToPrettyJson": lambda value: json_text(value, indent=2),
    "toRawJson": lambda value: json_text(value, escapes_html=False),
    "mustToRawJson": lambda value: json_text(value, escapes_html=False),
    "fromJson": _from_json,
    "mustFromJson": _must_from_json,
    "kindOf": kind_of,
    "kindIs": lambda kind, value: kind_of(value) == kind,
    "typeOf": type_of,
    "typeIs": lambda kind, value: type_of(value) == kind,
    "typeIsLike": lambda kind, value: kind_of(value) == text_of(kind).lstrip("*"),
    "deepEqual": lambda left, right: bool(left == right),
    "base": posixpath.basename,
    "dir": lambda path: posixpath.dirname(text_of(path)) or ".",
    "clean": lambda path: posixpath.normpath(text_of(path) or "."),
    "ext": lambda path: posixpath.splitext(text_of(path))[1],
    "isAbs": lambda path: text_of(path).startswith("/"),
    "osBase": posixpath.basename,
    "osDir": lambda path: posixpath.dirname(text_of(path)) or ".",
    "osClean": lambda path: posixpath.normpath(text_of(path) or "."),
    "osExt": lambda path: posixpath.splitext(text_of(path))[1],
    "osIsAbs": lambda path: text_of(path).startswith("/"),
    "countif": count_if,
}
