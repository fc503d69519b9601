"""[core] Go's Sprintf: verbs with their flags, width and precision, on the values that templates have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from kernel.workspace.templates.values import (
    NO_VALUE,
    Named,
    Record,
    float_text,
    nanoseconds,
    printed,
    quoted,
    type_of,
)

_VERB: Final = re.compile(r"%([-+# 0]*)(\d+|\*)?(?:\.(\*|\d*))?(?:\[(\d+)\])?(.?)", re.DOTALL)
_BASES: Final = {"b": ("b", "0b"), "o": ("o", "0"), "x": ("x", "0x"), "X": ("X", "0X"), "O": ("o", "0o")}
_PRECISION_DEFAULT: Final = 6


@dataclass(frozen=True, slots=True)
class _Verb:
    letter: str
    flags: str
    width: int
    precision: int | None

    def padded(self, text: str, *, is_number: bool = False) -> str:
        if "-" in self.flags:
            return text.ljust(self.width)
        if "0" not in self.flags:
            return text.rjust(self.width)
        sign = text[:1] if is_number and text[:1] in ("-", "+") else ""
        return sign + text[len(sign) :].rjust(self.width - len(sign), "0")

    def signed(self, text: str) -> str:
        """A number with the sign or blank that positive ones may have."""
        if text.startswith("-"):
            return text
        return ("+" if "+" in self.flags else " " if " " in self.flags else "") + text


class _Layout:
    """One layout being filled; ``at`` is the value that the next verb takes."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self.at = 0
        self.is_reordered = False

    def verb(self, found: re.Match[str]) -> str:
        flags, width, precision, index, letter = found.groups()
        if not letter:
            return "%!(NOVERB)"
        columns, wrong_width = self._measure(width)
        digits, wrong_precision = self._measure(precision)
        if index:
            self.at, self.is_reordered = int(index) - 1, True
        lead = ("%!(BADWIDTH)" if wrong_width else "") + ("%!(BADPREC)" if wrong_precision else "")
        if letter == "%":
            return f"{lead}%"
        if not 0 <= self.at < len(self.values):
            return f"{lead}%!{letter}({'BADINDEX' if index else 'MISSING'})"
        self.at += 1
        if letter == "v":
            flags = flags.replace("+", "")  # asks for the names of a struct's fields, not for signs
        if columns is not None and columns < 0:
            flags, columns = f"{flags}-", -columns
        return lead + _formatted(self.values[self.at - 1], _Verb(letter, flags, columns or 0, digits))

    def _measure(self, given: str | None) -> tuple[int | None, bool]:
        """A width or precision, which a star takes from the values, and whether that was none."""
        if given != "*":
            return (int(given or 0) if given is not None else None), False
        value = self.values[self.at] if self.at < len(self.values) else None
        self.at += 1
        return (value, False) if isinstance(value, int) and not isinstance(value, bool) else (None, True)

    def rest(self) -> str:
        """What is said of values that no verb took."""
        extra = self.values[self.at :]
        if not extra or self.is_reordered:
            return ""
        shown = (printed(one) if one is None or one is NO_VALUE else f"{type_of(one)}={printed(one)}" for one in extra)
        return f"%!(EXTRA {', '.join(shown)})"


def sprintf(layout: str, *values: Any) -> str:
    """Go's Sprintf; what a layout does wrong is said in the text itself."""
    filled = _Layout(values)
    return _VERB.sub(filled.verb, layout) + filled.rest()


def _formatted(value: Any, verb: _Verb, *, is_inner: bool = False) -> str:
    if verb.letter == "T":
        return verb.padded(type_of(value))
    if value is None or value is NO_VALUE:
        return verb.padded("<nil>") if verb.letter == "v" or is_inner else f"%!{verb.letter}(<nil>)"
    if isinstance(value, list | tuple):
        items = [_formatted(one, verb, is_inner=True) for one in value]
        return f"{type_of(value)}{{{', '.join(items)}}}" if _is_go_syntax(verb) else f"[{' '.join(items)}]"
    if isinstance(value, dict) and not isinstance(value, Record):
        items = [
            f"{_formatted(key, verb)}:{_formatted(value[key], verb, is_inner=True)}"
            for key in sorted(value, key=printed)
        ]
        return f"{type_of(value)}{{{', '.join(items)}}}" if _is_go_syntax(verb) else f"map[{' '.join(items)}]"
    text = _single(value, verb)
    return text if text is not None else f"%!{verb.letter}({type_of(value)}={printed(value)})"


def _is_go_syntax(verb: _Verb) -> bool:
    return verb.letter == "v" and "#" in verb.flags


def _single(value: Any, verb: _Verb) -> str | None:
    """One plain value, None where the verb is not for its kind."""
    if isinstance(value, bool):
        return verb.padded(printed(value)) if verb.letter in "vt" else None
    if isinstance(value, timedelta) and verb.letter in "dxXob":
        return _whole(nanoseconds(value), verb)
    if isinstance(value, int):
        is_named = isinstance(value, Named) and verb.letter in "vsqxX"
        return _text(str(value), verb) if is_named else _whole(value, verb)
    if isinstance(value, float):
        return _fraction(value, verb)
    return _text(printed(value), verb)


def _whole(value: int, verb: _Verb) -> str | None:
    match verb.letter:
        case "v" | "d":
            return verb.padded(verb.signed(str(int(value))), is_number=True)
        case "b" | "o" | "x" | "X" | "O":
            base, prefix = _BASES[verb.letter]
            shown = format(abs(value), base)
            lead = prefix if "#" in verb.flags or verb.letter == "O" else ""
            return verb.padded(verb.signed(f"{'-' if value < 0 else ''}{lead}{shown}"), is_number=True)
        case "c":
            return verb.padded(chr(value))
        case "q":
            return verb.padded(quoted(chr(value), "'"))
        case "U":
            return verb.padded(f"U+{value:04X}" + (f" '{chr(value)}'" if "#" in verb.flags else ""))
    return None


def _fraction(value: float, verb: _Verb) -> str | None:
    if verb.letter in "vgG":
        shown = float_text(value) if verb.precision is None else format(value, f".{max(verb.precision, 1)}g")
        shown = shown.upper() if verb.letter == "G" else shown
    elif verb.letter in "eEfF":
        digits = _PRECISION_DEFAULT if verb.precision is None else verb.precision
        shown = format(value, f".{digits}{verb.letter}")
    else:
        return None
    return verb.padded(verb.signed(shown), is_number=True)


def _text(text: str, verb: _Verb) -> str | None:
    cut = text if verb.precision is None else text[: verb.precision]
    match verb.letter:
        case "v" | "s":
            return verb.padded(quoted(cut, '"') if _is_go_syntax(verb) else cut)
        case "q":
            return verb.padded(quoted(cut, '"', is_ascii="+" in verb.flags))
        case "x" | "X":
            shown = text.encode()[: verb.precision].hex(*" " if " " in verb.flags else ())
            return verb.padded(shown.upper() if verb.letter == "X" else shown)
    return None
