"""[core] Argument lists as one readable line each: ``path* text; maxDepth int 0..20 = 3``. Does no I/O.

Grammar: arguments are separated by ``;``. One is ``[~]name[*] type [= default]``; ``*`` is required, ``~`` is accepted
but not shown (an old spelling). Types: ``text`` ``text+`` (not empty) ``text N..M`` (length) ``id`` ``bool`` ``any``
``object`` ``flags`` (name → bool) ``strings`` (name → text) ``number`` ``int`` ``int N..`` ``int N..M`` ``a|b|c``
(one of) ``@name`` (a schema given beside) and ``[type]`` ``[type]+`` (at least one) ``[type] N..M`` (length).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kernel.tools.limits import SAFE_INTEGER_MAX

Schema = dict[str, Any]

ID_PATTERN: Final = r"^\d{14}-[a-z0-9]{7}$"
_ARGUMENT: Final = re.compile(
    r"(?P<hidden>~?)(?P<name>\w+)(?P<required>\*?)\s+(?P<type>.+?)(?:\s+=\s+(?P<default>.+))?"
)
_LIST: Final = re.compile(r"\[(?P<item>.+)\](?P<more>\+?)(?:\s+(?P<low>\d+)\.\.(?P<high>\d*))?")
_RANGE: Final = re.compile(r"(?P<kind>text|int)\s+(?P<low>-?\d+)\.\.(?P<high>\d*)")
_PLAIN: Final[dict[str, Schema]] = {
    "text": {"type": "string"},
    "text+": {"type": "string", "minLength": 1},
    "id": {"type": "string", "pattern": ID_PATTERN},
    "bool": {"type": "boolean"},
    "number": {"type": "number"},
    "int": {"type": "integer", "minimum": -SAFE_INTEGER_MAX, "maximum": SAFE_INTEGER_MAX},
    "any": {},
    "object": {"type": "object", "additionalProperties": True},
    "flags": {"type": "object", "additionalProperties": {"type": "boolean"}},
    "strings": {"type": "object", "additionalProperties": {"type": "string"}},
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of one action."""

    name: str
    schema: Schema
    is_required: bool = False
    is_hidden: bool = False


def parse(signature: str, named: Mapping[str, Schema] | None = None) -> tuple[Argument, ...]:
    """The arguments of one action.

    Raises:
        ValueError: the line does not follow the grammar.
    """
    return tuple(_parse(signature, named or {}))


def _parse(signature: str, named: Mapping[str, Schema]) -> Iterator[Argument]:
    for part in filter(None, (piece.strip() for piece in signature.split(";"))):
        match = _ARGUMENT.fullmatch(part)
        if match is None:
            raise ValueError(f"not an argument: {part!r}")
        schema = dict(_schema(match["type"], named))
        if match["default"] is not None:
            schema["default"] = json.loads(match["default"])
        yield Argument(match["name"], schema, bool(match["required"]), bool(match["hidden"]))


def _schema(text: str, named: Mapping[str, Schema]) -> Schema:
    if text.startswith("@"):
        return named[text[1:]]
    if (found := _PLAIN.get(text)) is not None:
        return found
    if (match := _LIST.fullmatch(text)) is not None:
        return _list(match, named)
    if (match := _RANGE.fullmatch(text)) is not None:
        return _range(match)
    if re.fullmatch(r"\w+(?:\|\w+)+", text):
        return {"type": "string", "enum": text.split("|")}
    raise ValueError(f"not a type: {text!r}")


def _list(match: re.Match[str], named: Mapping[str, Schema]) -> Schema:
    schema: Schema = {"type": "array", "items": _schema(match["item"], named)}
    low = int(match["low"]) if match["low"] else int(bool(match["more"]))
    if low:
        schema["minItems"] = low
    if match["high"]:
        schema["maxItems"] = int(match["high"])
    return schema


def _range(match: re.Match[str]) -> Schema:
    low, high = int(match["low"]), match["high"]
    if match["kind"] == "int":
        return {"type": "integer", "minimum": low, "maximum": int(high) if high else SAFE_INTEGER_MAX}
    schema: Schema = {"type": "string", "minLength": low}
    if high:
        schema["maxLength"] = int(high)
    return schema


def record(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    """An object schema without further keys."""
    schema: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return schema


def record_of(signature: str, named: Mapping[str, Schema] | None = None) -> Schema:
    """The same, from a signature line."""
    arguments = parse(signature, named)
    return record({a.name: a.schema for a in arguments}, tuple(a.name for a in arguments if a.is_required))
