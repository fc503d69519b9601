"""[core] JSON request bodies as the kernel reads them: one value, trailing bytes ignored, its own words for what is wrong.

msgspec reads the usual body. What it refuses is read again here, leniently where the kernel is (broken UTF-8, lone
surrogates, bytes behind the value), and otherwise the reason is found in the kernel's wording, which clients see.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import msgspec

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BIG_EXPONENT: Final = re.compile(rb"-?\d+(?:\.\d+)?[eE]\+?\d{3,}")
_SPACE: Final = " \t\r\n"
_decode: Final = msgspec.json.Decoder().decode


class BodyUnreadable(ValueError):
    """The body is not a JSON object; the message is the kernel's own."""


def read_object(body: bytes) -> dict[str, Any]:
    """The arguments in a request body; ``null`` is an empty object.

    Raises:
        BodyUnreadable: empty, broken, or another kind of value.
    """
    try:
        value = _decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        value = _read_leniently(body)
    _refuse_too_large_numbers(body, value)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BodyUnreadable(f"json: cannot unmarshal {_kind(value)} into Go value of type map[string]interface {{}}")
    return value


def _refuse_too_large_numbers(body: bytes, value: Any) -> None:
    """Numbers are doubles to the kernel; one that is none is named."""
    for found in _BIG_EXPONENT.finditer(body):
        if math.isinf(float(found[0])) and _has_infinity(value):
            raise BodyUnreadable(f"json: cannot unmarshal number {found[0].decode()} into Go value of type float64")


def _has_infinity(value: Any) -> bool:
    match value:
        case float():
            return math.isinf(value)
        case list():
            return any(_has_infinity(item) for item in value)
        case dict():
            return any(_has_infinity(item) for item in value.values())
        case _:
            return False


def _read_leniently(body: bytes) -> Any:
    if body.startswith(_BYTE_ORDER_MARK):
        raise BodyUnreadable("invalid character 'ï' looking for beginning of value")
    text = body.decode("utf-8", "replace")
    start = len(text) - len(text.lstrip(_SPACE))
    if start == len(text):
        raise BodyUnreadable("the request body is empty or truncated (EOF)")
    try:
        Checker(text).check(start)
        value, _ = _PYTHON.raw_decode(text, start)
        return _without_surrogates(value)
    except RecursionError:
        # The kernel goes 10,000 deep; nobody else needs more than Python's stack holds.
        raise BodyUnreadable("exceeded max depth") from None


def _refuse_constant(name: str) -> Any:  # pragma: no cover - the checker has refused it before
    raise BodyUnreadable(f"invalid character {name[0]!r} looking for beginning of value")


_PYTHON: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def _without_surrogates(value: Any) -> Any:
    """Half a surrogate pair becomes the replacement character, as the kernel's decoder makes it."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "number"


class Checker:
    """Walks one value and names the first wrong character the way the kernel's scanner does."""

    def __init__(self, text: str) -> None:
        self._text = text

    def check(self, start: int) -> int:
        """The position behind the value. Raises BodyUnreadable."""
        return self._value(start)

    # --- values ----------------------------------------------------------------------------------------------
    def _value(self, at: int) -> int:
        at = self._skip(at)
        char = self._char(at)
        match char:
            case "{":
                return self._object(at + 1)
            case "[":
                return self._array(at + 1)
            case '"':
                return self._string(at + 1)
            case "t" | "f" | "n":
                return self._literal(at, {"t": "true", "f": "false", "n": "null"}[char])
            case _ if char == "-" or (char.isdecimal() and char.isascii()):
                return self._number(at)
            case _:
                raise self._unexpected(at, "looking for beginning of value")

    def _object(self, at: int) -> int:
        at = self._skip(at)
        if self._char(at) == "}":
            return at + 1
        while True:
            at = self._skip(at)
            if self._char(at) != '"':
                raise self._unexpected(at, "looking for beginning of object key string")
            at = self._skip(self._string(at + 1))
            if self._char(at) != ":":
                raise self._unexpected(at, "after object key")
            at = self._skip(self._value(at + 1))
            char = self._char(at)
            if char == "}":
                return at + 1
            if char != ",":
                raise self._unexpected(at, "after object key:value pair")
            at += 1

    def _array(self, at: int) -> int:
        at = self._skip(at)
        if self._char(at) == "]":
            return at + 1
        while True:
            at = self._skip(self._value(at))
            char = self._char(at)
            if char == "]":
                return at + 1
            if char != ",":
                raise self._unexpected(at, "after array element")
            at += 1

    def _string(self, at: int) -> int:
        while True:
            char = self._char(at)
            if char == '"':
                return at + 1
            if char < " ":
                raise self._unexpected(at, "in string literal")
            at = self._escape(at + 1) if char == "\\" else at + 1

    def _escape(self, at: int) -> int:
        char = self._char(at)
        if char == "u":
            for offset in range(1, 5):
                if self._char(at + offset) not in "0123456789abcdefABCDEF":
                    raise self._unexpected(at + offset, r"in \u hexadecimal character escape")
            return at + 5
        if char not in 'bfnrt\\/"':
            raise self._unexpected(at, "in string escape code")
        return at + 1

    def _literal(self, at: int, word: str) -> int:
        for offset, expected in enumerate(word):
            if self._char(at + offset) != expected:
                raise self._unexpected(at + offset, f"in literal {word} (expecting {_quoted(expected)})")
        return at + len(word)

    def _number(self, at: int) -> int:
        if self._text[at] == "-":
            at += 1
            if not self._is_digit(at):
                raise self._unexpected(at, "in numeric literal")
        at = at + 1 if self._text[at] == "0" else self._digits(at)
        if self._text[at : at + 1] == ".":
            at += 1
            if not self._is_digit(at):
                raise self._unexpected(at, "after decimal point in numeric literal")
            at = self._digits(at)
        if self._text[at : at + 1] in ("e", "E"):
            at += 1
            if self._text[at : at + 1] in ("+", "-"):
                at += 1
            if not self._is_digit(at):
                raise self._unexpected(at, "in exponent of numeric literal")
            at = self._digits(at)
        return at

    # --- characters ------------------------------------------------------------------------------------------
    def _is_digit(self, at: int) -> bool:
        return "0" <= self._char(at) <= "9"

    def _digits(self, at: int) -> int:
        while "0" <= self._text[at : at + 1] <= "9" and at < len(self._text):
            at += 1
        return at

    def _skip(self, at: int) -> int:
        while at < len(self._text) and self._text[at] in _SPACE:
            at += 1
        return at

    def _char(self, at: int) -> str:
        if at >= len(self._text):
            raise BodyUnreadable("unexpected EOF")
        return self._text[at]

    def _unexpected(self, at: int, context: str) -> BodyUnreadable:
        # The kernel's scanner sees bytes: of a longer character it names the first one.
        first = chr(self._text[at].encode("utf-8", "replace")[0])
        return BodyUnreadable(f"invalid character {_quoted(first)} {context}")


def _quoted(char: str) -> str:
    if char == "'":
        return r"'\''"
    if char == '"':
        return "'\"'"
    named = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "\b": r"\b", "\f": r"\f", "\v": r"\v", "\a": r"\a"}
    if char in named:
        return f"'{named[char]}'"
    if char < " " or char == "\x7f":
        return f"'\\x{ord(char):02x}'"
    return f"'{char}'" if char.isprintable() else f"'\\u{ord(char):04x}'"
