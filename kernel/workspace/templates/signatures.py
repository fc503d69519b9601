"""[core] What kinds of arguments the functions of templates take, and what is said of an argument of another kind.

A letter per argument: ``s`` string, ``i`` int, ``f`` float64, ``b`` bool, ``m`` map, ``t`` time, ``a`` anything; a star
repeats the last one, a dot begins a method. What is not listed takes anything. Observed on the kernel.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from kernel.workspace.templates.syntax import Literal
from kernel.workspace.templates.values import NO_VALUE, Int64, Record, type_of

_GO_TYPES: Final = {
    "s": "string",
    "i": "int",
    "f": "float64",
    "b": "bool",
    "m": "map[string]interface {}",
    "t": "time.Time",
}
_CONSTANTS: Final = {"s": "string", "i": "integer", "f": "float", "b": "bool"}
_LISTED: Final = {
    "s": """upper lower title untitle trim nospace initials swapcase snakecase kebabcase camelcase regexQuoteMeta b64enc
        b64dec b32enc b32dec sha1sum sha256sum sha512sum adler32sum urlParse base dir clean ext isAbs osBase osDir osClean
        osExt osIsAbs fail fromJson mustFromJson atoi parseTime .Format""",
    "ss": """trimAll trimall trimPrefix trimSuffix contains hasPrefix hasSuffix split splitList regexMatch mustRegexMatch
        regexFind mustRegexFind toDate mustToDate""",
    "sss": """replace regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral""",
    "ssi": "plural regexFindAll mustRegexFindAll regexSplit mustRegexSplit",
    "is": "repeat wrap indent nindent trunc abbrev",
    "iis": "substr abbrevboth",
    "iss": "wrapWith",
    "sis": "splitn",
    "sa": "join kindIs typeIs typeIsLike date",
    "sa*": "printf",
    "i": "until randAlphaNum randAlpha randNumeric randAscii",
    "ii": "randInt",
    "iii": "untilStep .AddDate",
    "i*": "seq",
    "ia": "chunk mustChunk",
    "aif*": "round",
    "sf": "FormatFloat",
    "m": "values urlJoin",
    "ms": "get unset hasKey",
    "msa": "set",
    "sm*": "pluck",
    "m*": "keys merge mustMerge mergeOverwrite mustMergeOverwrite",
    "ms*": "pick omit",
    "aab": "ternary",
    "asa": "countif",
    "sas": "dateInZone date_in_zone",
    "as": "htmlDateInZone",
    "st": "dateModify date_modify mustDateModify must_date_modify",
    "t": """unixEpoch Weekday WeekdayCN WeekdayCN2 ISOWeek ISOYear ISOMonth .Before .After .Equal .Sub""",
    "it": "ISOWeekDate",
}
_SIGNATURES: Final = {name: letters for letters, names in _LISTED.items() for name in names.split()}


def kind_at(function: str, place: int) -> str:
    """The letter of a function's argument; ``a`` where it takes anything."""
    letters = _SIGNATURES.get(function, "a*")
    plain = letters.rstrip("*")
    if place < len(plain):
        return plain[place]
    return plain[-1] if letters.endswith("*") else "a"


def wrong_literal(kind: str, literal: Literal) -> str:
    """What is said of a literal that is no ``kind``; ``""`` when it is one."""
    if literal.value is None:
        return "" if kind in "am" else f"cannot assign nil to {_GO_TYPES[kind]}"
    if kind == "a" or (kind in _CONSTANTS and _is_constant(kind, literal.value)):
        return ""
    if kind in _CONSTANTS:
        return f"expected {_CONSTANTS[kind]}; found {literal.place.text}"
    return f"can't handle {literal.place.text} for arg of type {_GO_TYPES[kind]}"


def _is_constant(kind: str, value: Any) -> bool:
    if kind == "s":
        return isinstance(value, str)
    if isinstance(value, bool) or kind == "b":
        return isinstance(value, bool) and kind == "b"
    if kind == "i":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, int | float)


def wrong_value(kind: str, value: Any) -> str:
    """The same of a value that was worked out."""
    if kind == "a":
        return ""
    if value is NO_VALUE or value is None:
        return "" if kind == "m" else f"invalid value; expected {_GO_TYPES[kind]}"
    if _is_value(kind, value):
        return ""
    return f"wrong type for value; expected {_GO_TYPES[kind]}; got {type_of(value)}"


def _is_value(kind: str, value: Any) -> bool:
    if kind == "i":
        return type(value) is int
    kinds: dict[str, type | tuple[type, ...]] = {"s": str, "f": float, "b": bool, "m": dict, "t": datetime}
    return isinstance(value, kinds[kind]) and not isinstance(value, Record | Int64)
