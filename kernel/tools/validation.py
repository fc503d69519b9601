"""Checks one call's arguments against its row: aliases, types, rules, defaults; every fault with its path. Does no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kernel.safety.intent import SAFETY_ARGUMENTS
from kernel.tools.registry.model import Action, Problem
from kernel.tools.registry.signature import Schema

_REQUIRED: Final = "Required."
# Arguments of the call itself, not of the action.
CALL_ARGUMENTS: Final = SAFETY_ARGUMENTS | {"action", "confirm", "topic"}


class ArgumentsInvalid(Exception):
    """The arguments do not fit; ``problems`` is never empty."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(f"{problem.path}: {problem.message}" for problem in problems))
        self.problems = problems


def validated(action: Action, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The business arguments of one call: old spellings resolved, unknown ones dropped, defaults filled in.

    Raises:
        ArgumentsInvalid: with one problem per fault, in the order of the row.
    """
    business = {name: value for name, value in arguments.items() if name not in CALL_ARGUMENTS}
    problems = list(_resolve_aliases(action, business)) if action.aliases else []
    known = business if action.keeps_unknown else _only_known(action, business)
    for argument in action.arguments:
        if argument.name in known:
            problems.extend(check(argument.schema, known[argument.name], argument.name))
        elif argument.is_required:
            problems.append(Problem(argument.name, _REQUIRED))
    for rule in action.eager_rules:
        problems.extend(rule(known))
    if not problems:
        for rule in action.rules:
            problems.extend(rule(known))
    if problems:
        raise ArgumentsInvalid(problems)
    if action.keeps_unknown:
        known = _only_known(action, known)
    for argument in action.arguments:
        if argument.name in known:
            known[argument.name] = _whole(argument.schema, known[argument.name])
    return _with_defaults(action, known)


def _resolve_aliases(action: Action, business: dict[str, Any]) -> Iterator[Problem]:
    for alias, name in action.aliases.items():
        if alias not in business or alias == name:
            continue
        value = business.pop(alias)
        target = action.argument(name)
        if target is not None and target.schema.get("type") == "array" and not isinstance(value, list):
            value = [value]
        if name in business and business[name] != value and alias not in action.winning:
            yield Problem(alias, f"Another spelling of {name}, which says something else.")
        business[name] = value


def _only_known(action: Action, business: Mapping[str, Any]) -> dict[str, Any]:
    known = action.known
    return {name: value for name, value in business.items() if name in known}


def _with_defaults(action: Action, business: dict[str, Any]) -> dict[str, Any]:
    for name, value in action.defaults:
        business.setdefault(name, value)
    return business


def check(schema: Schema, value: Any, path: str) -> Iterator[Problem]:
    """What is wrong with ``value``; nothing if it fits. Knows the part of JSON Schema that the rows use."""
    if "anyOf" in schema:
        yield from _check_any(schema["anyOf"], value, path)
        return
    kind = schema.get("type")
    if kind is not None and not _is_of_type(value, kind):
        yield Problem(path, f"Must be {_TYPE_WORDS[kind]}.")
        return
    if "enum" in schema and value not in schema["enum"]:
        yield Problem(path, "Must be one of: " + ", ".join(repr(one) for one in schema["enum"]) + ".")
        return
    if kind == "string":
        yield from _check_text(schema, value, path)
    elif kind in ("integer", "number"):
        yield from _check_number(schema, value, path)
    elif kind == "array":
        yield from _check_list(schema, value, path)
    elif kind == "object":
        yield from _check_object(schema, value, path)


def _check_any(options: list[Schema], value: Any, path: str) -> Iterator[Problem]:
    results = [list(check(option, value, path)) for option in options]
    if not all(results):
        return
    # The faults inside the one form that was meant say more than "fits none"; what lacks a part is of no form at all.
    meant = [found for option, found in zip(options, results, strict=True) if _is_of_type(value, option.get("type"))]
    if len(meant) != 1:
        yield Problem(path, "Fits none of the allowed forms.")
    elif any(problem.message == _REQUIRED for problem in meant[0]):
        missing = ", ".join(problem.path for problem in meant[0] if problem.message == _REQUIRED)
        yield Problem(path, f"Missing: {missing}.")
    else:
        yield from meant[0]


def _check_text(schema: Schema, value: str, path: str) -> Iterator[Problem]:
    if len(value) < schema.get("minLength", 0):
        least = schema["minLength"]
        yield Problem(path, "Must not be empty." if least == 1 else f"Must have at least {least} characters.")
    elif "maxLength" in schema and len(value) > schema["maxLength"]:
        yield Problem(path, f"Must have at most {schema['maxLength']} characters.")
    elif "pattern" in schema and re.search(schema["pattern"], value) is None:
        yield Problem(path, f"Must match {schema['pattern']}.")


def _check_number(schema: Schema, value: float, path: str) -> Iterator[Problem]:
    if "minimum" in schema and value < schema["minimum"]:
        yield Problem(path, f"Must be at least {schema['minimum']}.")
    elif "maximum" in schema and value > schema["maximum"]:
        yield Problem(path, f"Must be at most {schema['maximum']}.")
    elif "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield Problem(path, f"Must be more than {schema['exclusiveMinimum']}.")


def _check_list(schema: Schema, value: list[Any], path: str) -> Iterator[Problem]:
    if len(value) < schema.get("minItems", 0):
        yield Problem(path, f"Must have at least {schema['minItems']} item(s).")
    elif "maxItems" in schema and len(value) > schema["maxItems"]:
        yield Problem(path, f"Must have at most {schema['maxItems']} items.")
    else:
        for index, item in enumerate(value):
            yield from check(schema.get("items", {}), item, f"{path}[{index}]")


def _check_object(schema: Schema, value: dict[str, Any], path: str) -> Iterator[Problem]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield Problem(f"{path}.{name}", _REQUIRED)
    more = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in properties:
            yield from check(properties[name], item, f"{path}.{name}")
        elif isinstance(more, dict):
            yield from check(more, item, f"{path}.{name}")
        elif more is False:
            yield Problem(path, f"Unknown key: {name}.")


def _whole(schema: Schema, value: Any) -> Any:
    """A checked value with 3.0 as 3 where a whole number is asked for: on the wire they are one number."""
    if "anyOf" in schema:
        return _whole(next(option for option in schema["anyOf"] if not any(check(option, value, ""))), value)
    if isinstance(value, float):
        return int(value) if schema.get("type") == "integer" else value
    if isinstance(value, list):
        items = schema.get("items", {})
        return value if items.get("type") == "string" else [_whole(items, item) for item in value]
    if isinstance(value, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties")
        others = more if isinstance(more, dict) else {}
        return {name: _whole(properties.get(name, others), item) for name, item in value.items()}
    return value


_TYPE_WORDS: Final[dict[str, str]] = {
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _is_of_type(value: Any, kind: Any) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("integer", "number"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and (kind == "number" or float(value).is_integer())
    if kind == "array":
        return isinstance(value, list)
    if kind == "object":
        return isinstance(value, dict)
    return value is None if kind == "null" else True
