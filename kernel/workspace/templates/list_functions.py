"""[core] Functions on lists, maps and any values, as the Sprig library names them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any, Final

from kernel.json_text import read_json
from kernel.workspace.asset_names import raw_extension
from kernel.workspace.names import base_name, clean_path, dir_name
from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.values import (
    NO_VALUE,
    int_of,
    is_same,
    is_true,
    json_text,
    kind_of,
    text_of,
    type_of,
    with_floats,
)

_DIG_ARGUMENTS_MIN: Final = 3


_NOTHING: Final = "runtime error: invalid memory address or nil pointer dereference"


def _list(value: Any, purpose: str) -> list[Any]:
    """The members of a list. Raises FunctionFailed, which says what they were wanted for."""
    if isinstance(value, list | tuple):
        return list(value)
    what = f"Cannot {purpose} type {type_of(value)}"
    raise FunctionFailed(_NOTHING if value is None or value is NO_VALUE else what)


def _appended(values: Any, value: Any) -> list[Any]:
    return [*_list(values, "push on"), value]


def _prepended(values: Any, value: Any) -> list[Any]:
    return [value, *_list(values, "prepend on")]


def _concatenated(*lists: Any) -> list[Any]:
    wrong = next((one for one in lists if not isinstance(one, list | tuple)), ())
    if not isinstance(wrong, list | tuple):
        what = f"Cannot concat type {kind_of(wrong)} as list"
        raise FunctionFailed(_NOTHING if wrong is None or wrong is NO_VALUE else what)
    return [value for values in lists for value in values]


def _is_in(value: Any, values: list[Any]) -> bool:
    return any(is_same(value, one) for one in values)


def _unique(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in _list(values, "find uniq on"):
        if not _is_in(value, found):
            found.append(value)
    return found


def _without(values: Any, *gone: Any) -> list[Any]:
    return [value for value in _list(values, "find without on") if not _is_in(value, list(gone))]


def _sliced(values: Any, *places: Any) -> Any:
    """Of nothing nothing; a place beyond the end is a failure."""
    if values is None or values is NO_VALUE:
        raise FunctionFailed(_NOTHING)
    if not isinstance(values, list | tuple):
        raise FunctionFailed(f"list should be type of slice or array but {kind_of(values)}")
    first = int_of(places[0]) if places else 0
    last = int_of(places[1]) if len(places) > 1 else len(values)
    if not values:
        return None
    if not 0 <= first <= last <= len(values):
        raise FunctionFailed("reflect.Value.Slice: slice index out of bounds")
    return list(values)[first:last]


def _chunk(size: int, values: Any) -> list[list[Any]]:
    items = _list(values, "chunk")
    if size == 0 or (len(items) - 1) // size + 1 < 0:
        raise FunctionFailed("runtime error: makeslice: len out of range")
    return [items[at : at + size] for at in range(0, len(items), size)]


def _has(value: Any, values: Any) -> bool:
    return values is not None and values is not NO_VALUE and _is_in(value, _list(values, "find has on"))


def _first(values: Any) -> Any:
    return next(iter(_list(values, "find first on")), None)


def _last(values: Any) -> Any:
    items = _list(values, "find last on")
    return items[-1] if items else None


def _rest(values: Any) -> Any:
    return _list(values, "find rest on")[1:]


def _initial(values: Any) -> Any:
    return _list(values, "find initial on")[:-1]


def _reversed(values: Any) -> list[Any]:
    return _list(values, "find reverse on")[::-1]


def _compact(values: Any) -> list[Any]:
    return [value for value in _list(values, "compact on") if is_true(value)]


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
    if len(steps) < _DIG_ARGUMENTS_MIN:
        raise FunctionFailed("dig needs at least three arguments")
    *names, default, target = steps
    for name in names:
        if not isinstance(name, str):
            raise FunctionFailed(f"interface conversion: interface {{}} is {type_of(name)}, not string")
        if not isinstance(target, dict):
            kind = type_of(target).strip("<>")
            raise FunctionFailed(f"interface conversion: interface {{}} is {kind}, not map[string]interface {{}}")
        if name not in target:
            return default
        target = target[name]
    return target


def _merged(target: dict[str, Any], *others: dict[str, Any], overwrites: bool) -> dict[str, Any]:
    for other in others:
        for name, value in other.items():
            known = target.get(name)
            if isinstance(known, dict) and isinstance(value, dict):
                _merged(known, value, overwrites=overwrites)
            elif value is not None and (overwrites or not is_true(known)):
                target[name] = value
    return target


# --- any values ------------------------------------------------------------------------------------------------------
def _default(fallback: Any, *given: Any) -> Any:
    return given[0] if given and is_true(given[0]) else fallback


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if is_true(value)), None)


def _fail(words: str) -> Any:
    raise FunctionFailed(words)


def _copied(value: Any) -> Any:
    if value is None or value is NO_VALUE:
        raise FunctionFailed("reflect: call of reflect.Value.Type on zero Value")
    return deepcopy(value)


def _must_from_json(text: str) -> Any:
    try:
        return with_floats(read_json(text))
    except ValueError as error:
        raise FunctionFailed(str(error)) from error


def _from_json(text: str) -> Any:
    with suppress(FunctionFailed):
        return _must_from_json(text)
    return None


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
    with suppress(ValueError):
        return float(value)
    return None


_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "gt": operator.gt,
    "lt": operator.lt,
    "eq": operator.eq,
    "ge": operator.ge,
    "le": operator.le,
}


LIST_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "list": lambda *values: list(values),
    "tuple": lambda *values: list(values),
    "append": _appended,
    "push": _appended,
    "mustAppend": _appended,
    "mustPush": _appended,
    "prepend": _prepended,
    "mustPrepend": _prepended,
    "concat": _concatenated,
    "first": _first,
    "mustFirst": _first,
    "last": _last,
    "mustLast": _last,
    "rest": _rest,
    "mustRest": _rest,
    "initial": _initial,
    "mustInitial": _initial,
    "reverse": _reversed,
    "mustReverse": _reversed,
    "uniq": _unique,
    "mustUniq": _unique,
    "compact": _compact,
    "mustCompact": _compact,
    "without": _without,
    "mustWithout": _without,
    "has": _has,
    "mustHas": _has,
    "slice": _sliced,
    "mustSlice": _sliced,
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
    "deepCopy": _copied,
    "mustDeepCopy": _copied,
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
    "deepEqual": is_same,
    "base": base_name,
    "dir": dir_name,
    "clean": clean_path,
    "ext": raw_extension,
    "isAbs": lambda path: path.startswith("/"),
    "osBase": base_name,
    "osDir": dir_name,
    "osClean": clean_path,
    "osExt": raw_extension,
    "osIsAbs": lambda path: path.startswith("/"),
    "countif": count_if,
}
