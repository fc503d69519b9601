"""[core] Typed records as the kernel's JSON decoder fills them: what fits is taken, the first misfit is named.

The kernel keeps settings in typed records. A given object is laid over a record: unknown keys are left out, keys match
whatever their case, null leaves a plain field alone and empties an optional one, and a value of the wrong type is
skipped while the rest is still taken. The words for the misfit are on the wire (golden ``api2-setting-*``).
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Any, Final

_INTEGERS: Final = {
    "int": (-(2**63), 2**63 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint8": (0, 2**8 - 1),
}
_ZEROS: Final[dict[str, Any]] = {"bool": False, "string": "", "float64": 0, "[]byte": None}
# Doubles are written with all their digits between these; beyond, with an exponent.
_PLAIN_FROM: Final = 1e-6
_PLAIN_BELOW: Final = 1e21


@dataclass(frozen=True, slots=True)
class Scalar:
    """A plain value; ``type_name`` is the kernel's name of its type."""

    type_name: str


@dataclass(frozen=True, slots=True)
class Record:
    """A record type with its fields in the order they are written. ``type_name`` has its package: ``conf.Editor``."""

    type_name: str
    fields: dict[str, Kind] = field(hash=False)
    # Fields left out where they hold nothing.
    omitted_when_zero: frozenset[str] = frozenset()

    @property
    def short_name(self) -> str:
        return self.type_name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; one that was never set is null. ``is_optional``: its items may be null."""

    item: Kind
    is_optional: bool = False

    @property
    def type_name(self) -> str:
        return f"[]{'*' if self.is_optional else ''}{self.item.type_name}"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from text; one that was never set is null. ``name`` is its own type name, where it has one."""

    item: Kind
    name: str = ""

    @property
    def type_name(self) -> str:
        return self.name or f"map[string]{self.item.type_name}"


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be missing: null."""

    item: Kind

    @property
    def type_name(self) -> str:
        return self.item.type_name


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value, kept as it is."""

    type_name: str = "interface {}"


Kind = Scalar | Record | ListOf | MapOf | Optional | Anything

BOOL: Final = Scalar("bool")
TEXT: Final = Scalar("string")
INT: Final = Scalar("int")
INT64: Final = Scalar("int64")
UINT8: Final = Scalar("uint8")
UINT16: Final = Scalar("uint16")
UINT32: Final = Scalar("uint32")
FLOAT: Final = Scalar("float64")
BYTES: Final = Scalar("[]byte")
ANY: Final = Anything()


class Mismatch(ValueError):
    """A value does not fit its type; the message is the kernel's own. ``value`` is what could be taken."""

    def __init__(self, message: str, value: Any) -> None:
        super().__init__(message)
        self.value = value


def zero(kind: Kind) -> Any:
    """The value a field has before anything is said."""
    match kind:
        case Record():
            return {name: zero(of) for name, of in kind.fields.items()}
        case Scalar():
            return _ZEROS.get(kind.type_name, 0)
        case _:
            return None


def read(kind: Kind, given: Any, start: Any = None) -> Any:
    """``given`` laid over ``start`` (the zero value, if None). ``start``'s records are changed in place.

    Raises:
        Mismatch: something does not fit; everything else has been taken all the same.
    """
    reader = _Reader()
    value = reader.value(kind, given, zero(kind) if start is None else start)
    if reader.message is not None:
        raise Mismatch(reader.message, value)
    return value


def as_number(value: float) -> int | float:
    """A number as the kernel holds it: a double; whole ones are written without a point."""
    number = float(value)
    return int(number) if number.is_integer() else number


def number_text(value: float) -> str:
    """A double as the kernel writes it."""
    number = float(value)
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    if _PLAIN_FROM <= abs(number) < _PLAIN_BELOW:
        if number.is_integer():
            return str(int(number))
        text = repr(number)
        return text if "e" not in text else f"{number:.20f}".rstrip("0")
    mantissa, _, exponent = repr(number).partition("e")
    return f"{mantissa.removesuffix('.0')}e{exponent}".replace("e-0", "e-")


def plain(value: Any) -> Any:
    """Any JSON value with its numbers as the kernel holds them."""
    match value:
        case bool() | str() | None:
            return value
        case int() | float():
            return as_number(value)
        case list():
            return [plain(item) for item in value]
        case _:
            return {key: plain(item) for key, item in value.items()}


def written(kind: Kind, value: Any) -> Any:
    """A value as it is written: fields that are left out where they hold nothing are gone."""
    match kind:
        case Optional():
            return None if value is None else written(kind.item, value)
        case Record():
            return {
                name: written(of, value[name])
                for name, of in kind.fields.items()
                if name not in kind.omitted_when_zero or value[name] not in ("", 0, None, [], {})
            }
        case ListOf():
            return None if value is None else [None if one is None else written(kind.item, one) for one in value]
        case MapOf():
            return None if value is None else {key: written(kind.item, one) for key, one in value.items()}
        case _:
            return value


class _Reader:
    """One reading: where it stands, and the first misfit."""

    def __init__(self) -> None:
        self.message: str | None = None
        self._record: Record | None = None
        self._path: list[str] = []

    def value(self, kind: Kind, given: Any, start: Any) -> Any:
        match kind:
            case Optional():
                if given is None:
                    return None
                return self.value(kind.item, given, copy.deepcopy(zero(kind.item)) if start is None else start)
            case Record():
                return self._fields(kind, given, start)
            case ListOf():
                return self._items(kind, given, start)
            case MapOf():
                return self._entries(kind, given, start)
            case Scalar():
                return self._scalar(kind, given, start)
            case _:
                return plain(given)

    def _fields(self, kind: Record, given: Any, start: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(given, dict):
            self._misfit(kind, given)
            return start
        folded = {name.casefold(): name for name in kind.fields}
        outer, self._record = self._record, kind
        for key in sorted(given, key=lambda key: key.encode("utf-8", "replace")):
            name = key if key in kind.fields else folded.get(key.casefold())
            if name is None:
                continue
            self._path.append(name)
            start[name] = self.value(kind.fields[name], given[key], start.get(name))
            self._path.pop()
        self._record = outer
        return start

    def _items(self, kind: ListOf, given: Any, start: Any) -> Any:
        if given is None:
            return None
        if not isinstance(given, list):
            self._misfit(kind, given)
            return start
        item = Optional(kind.item) if kind.is_optional else kind.item
        return [self.value(item, one, zero(item)) for one in given]

    def _entries(self, kind: MapOf, given: Any, start: Any) -> Any:
        if given is None:
            return None
        if not isinstance(given, dict):
            self._misfit(kind, given)
            return start
        entries: dict[str, Any] = dict(start or {})
        for key in sorted(given, key=lambda key: key.encode("utf-8", "replace")):
            entries[key] = self.value(kind.item, given[key], zero(kind.item))
        return entries

    def _scalar(self, kind: Scalar, given: Any, start: Any) -> Any:
        if given is None:
            return None if kind is BYTES else start
        name = kind.type_name
        if isinstance(given, bool):
            fits = name == "bool"
        elif isinstance(given, str):
            fits = name in ("string", "[]byte")
        elif isinstance(given, int | float):
            if name in _INTEGERS:
                return self._integer(kind, given, start)
            fits = name == "float64"
            given = as_number(given)
        else:
            fits = False
        if not fits:
            self._misfit(kind, given)
        return given if fits else start

    def _integer(self, kind: Scalar, given: float, start: Any) -> Any:
        number = as_number(given)
        low, high = _INTEGERS[kind.type_name]
        # Numbers arrive as doubles: one that is written with an exponent is no integer, however whole.
        if isinstance(number, int) and abs(number) < _PLAIN_BELOW and low <= number <= high:
            return number
        self._say(f"number {number_text(given)}", kind)
        return start

    def _misfit(self, kind: Kind, given: Any) -> None:
        if given is not None:
            self._say(_kind_word(given), kind)

    def _say(self, what: str, kind: Kind) -> None:
        if self.message is not None:
            return
        where = "Go value"
        if self._record is not None:
            where = f"Go struct field {self._record.short_name}.{'.'.join(self._path)}"
        self.message = f"json: cannot unmarshal {what} into {where} of type {kind.type_name}"


def _kind_word(given: Any) -> str:
    match given:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
