"""[core] Numbers of databases as the kernel writes them in each format."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from kernel.workspace.go_struct import number_text

# Groups of digits and the decimal point: as in English, and where a currency's own language differs.
_ENGLISH: Final = (",", ".")
_GERMAN: Final = (".", ",")
_SPACED: Final = ("\u00a0", ",")
# Format (and its former name): the sign in front, separators, decimals.
_CURRENCIES: Final[dict[str, tuple[str, tuple[str, str], int]]] = {
    "USD": ("$", _ENGLISH, 2),
    "CNY": ("CN¥", _ENGLISH, 2),
    "EUR": ("€", _GERMAN, 2),
    "GBP": ("£", _ENGLISH, 2),
    "JPY": ("¥", _ENGLISH, 0),
    "RUB": ("₽", _SPACED, 2),
    "INR": ("₹", _ENGLISH, 2),
    "KRW": ("₩", _ENGLISH, 0),
    "TRY": ("₺", _GERMAN, 2),
    "CAD": ("CA$", _ENGLISH, 2),
    "CHF": ("CHF", _SPACED, 2),
    "THB": ("฿", _ENGLISH, 2),
    "AUD": ("A$", _ENGLISH, 2),
    "HKD": ("HK$", _ENGLISH, 2),
    "TWD": ("NT$", _ENGLISH, 2),
    "MOP": ("MOP$", _ENGLISH, 2),
    "SGD": ("S$", _ENGLISH, 2),
    "NZD": ("NZ$", _ENGLISH, 2),
    "ILS": ("ILS₪", _ENGLISH, 2),
    "SKK": ("SKK", _SPACED, 2),
}
_FORMER_NAMES: Final = {
    "usDollar": "USD",
    "yuan": "CNY",
    "euro": "EUR",
    "pound": "GBP",
    "yen": "JPY",
    "ruble": "RUB",
    "rupee": "INR",
    "won": "KRW",
    "turkishLira": "TRY",
    "canadianDollar": "CAD",
    "franc": "CHF",
}
# In Indian numbers only the last group has three digits.
_INDIAN: Final = "INR"
_RIGHT_TO_LEFT: Final = "ILS"
_LEFT_TO_RIGHT_MARK: Final = "\u200e"


def format_number(number: float, kind: str) -> str:
    """A number in a format; an unknown format shows all its digits."""
    if kind == "commas":
        return _stripped(f"{number:,.6f}")
    if kind == "percent":
        return f"{_stripped(f'{number * 100:.2f}')}%"
    kind = _FORMER_NAMES.get(kind, kind)
    if kind not in _CURRENCIES:
        return plain_number(number)
    sign, (group, point), decimals = _CURRENCIES[kind]
    whole, _, fraction = f"{abs(number):.{decimals}f}".partition(".")
    digits = _grouped(whole, group, 2 if kind == _INDIAN else 3)
    minus = "-" if math.copysign(1, number) < 0 else ""
    if minus and kind == _RIGHT_TO_LEFT:
        minus = f"{_LEFT_TO_RIGHT_MARK}-"
    return f"{sign}{minus}{digits}{point}{fraction}" if decimals else f"{sign}{minus}{digits}"


def short_number(number: float) -> str:
    """A number with at most five decimals, as results of calculations show it."""
    return _stripped(f"{number:.5f}")


def plain_number(number: float) -> str:
    """A number with all its digits, never with an exponent."""
    if isinstance(number, float) and not math.isfinite(number):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(number, "NaN")
    return f"{Decimal(number_text(number)):f}"


def to_float(text: str) -> float | None:
    """The number that a text holds among other signs; None if it holds none."""
    kept = "".join(char for char in text if char.isdigit() or char in ".-")
    try:
        return float(kept)
    except ValueError:
        return None


def _stripped(text: str) -> str:
    return text.rstrip("0").rstrip(".")


def _grouped(whole: str, separator: str, upper_size: int) -> str:
    groups = [whole[-3:]]
    rest = whole[:-3]
    while rest:
        groups.insert(0, rest[-upper_size:])
        rest = rest[:-upper_size]
    return separator.join(groups)
