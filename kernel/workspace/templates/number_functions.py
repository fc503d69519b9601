"""[core] Functions on numbers and times, as the Sprig library and the kernel name them."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from kernel.workspace.limits import TEMPLATE_STEPS_MAX
from kernel.workspace.path_template import go_date
from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.moments import added, in_zone, parse_any, parse_duration, unix, weekday
from kernel.workspace.templates.time_layouts import Unread, read_time
from kernel.workspace.templates.values import (
    Int64,
    duration_text,
    float_of,
    float_text,
    int64,
    int64_of,
    int_of,
    text_of,
    whole_number,
)

_DAYS_CN: Final = ("日一二三四五六", "天一二三四五六")
_DECIMALS_DEFAULT: Final = 2
_DECIMALS_MOST: Final = 9
_NOTHING: Final = 1e-9  # a number as small as this has no sign
_MARKS_WITH_THOUSANDS: Final = 2
_THOUSANDS_WIDTH: Final = 4
_ROUNDED: Final = (("y", 31_536_000), ("mo", 2_592_000), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


# Fractions are added, subtracted and multiplied as they are written, with all their digits.
_EXACT: Final = Context(prec=2_000)
_QUOTIENT: Final = Decimal(1).scaleb(-16)


def _product(first: Any, *others: Any) -> Int64:
    return int64(math.prod(int_of(number) for number in (first, *others)))


def _divided(left: Any, right: Any) -> int:
    first, second = int_of(left), int_of(right)
    if second == 0:
        raise FunctionFailed("runtime error: integer divide by zero")
    quotient = abs(first) // abs(second)
    return quotient if (first < 0) == (second < 0) else -quotient


def _mod(left: Any, right: Any) -> Int64:
    return int64(int_of(left) - _divided(left, right) * int_of(right))


def _by_decimals(step: Callable[[Decimal, Decimal], Decimal]) -> Callable[..., float]:
    def worked(first: Any, *others: Any) -> float:
        result = _decimal(first)
        for other in others:
            result = step(result, _decimal(other))
        return float(result)

    return worked


def _decimal(value: Any) -> Decimal:
    number = float_of(value)
    if not math.isfinite(number):
        raise FunctionFailed(f"Cannot create a Decimal from {float_text(number)}")
    return Decimal(repr(number))


def _quotient(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise FunctionFailed("decimal division by 0")
    return _EXACT.divide(left, right).quantize(_QUOTIENT, ROUND_HALF_UP, _EXACT)


def _whole(value: Any, rounded: Callable[[float], int]) -> float:
    number = float_of(value)
    return float(rounded(number)) if math.isfinite(number) else number


def _until(count: Any) -> list[int]:
    size = int_of(count)
    return _stepped(0, size, 1 if size >= 0 else -1)


def _stepped(start: Any, stop: Any, step: Any) -> list[int]:
    first, last, width = int_of(start), int_of(stop), int_of(step)
    if width == 0 or (last < first) != (width < 0):
        return []
    numbers = range(first, last, width)
    if len(numbers) > TEMPLATE_STEPS_MAX:
        raise FunctionFailed(f"more than {TEMPLATE_STEPS_MAX} numbers")
    return list(numbers)


def _seq(*bounds: Any) -> str:
    numbers = [int_of(bound) for bound in bounds]
    if not numbers or len(numbers) > 3:
        return ""
    first = numbers[0] if len(numbers) > 1 else 1
    last = numbers[-1]
    step = numbers[1] if len(numbers) == 3 else (1 if last >= first else -1)
    return " ".join(str(one) for one in _stepped(first, last + (1 if step > 0 else -1), step))


def _round(value: Any, places: int, half: float = 0.5) -> float:
    power = 10.0**places
    shifted = float_of(value) * power
    rest = math.modf(shifted)[0]
    return float(math.ceil(shifted) if rest >= half else math.floor(shifted)) / power


def _log(value: Any, base: Any) -> float:
    above, below = _natural(float_of(value)), _natural(float_of(base))
    if below:
        return above / below
    return math.copysign(math.inf, above) if above else math.nan


def _natural(number: float) -> float:
    """The natural logarithm as the machine has it: of nothing it is endless, below that it is no number."""
    if number > 0:
        return math.log(number)
    return -math.inf if number == 0 else math.nan


def format_float(layout: str, value: float) -> str:
    """A number in a layout of example digits: ``#,###.##``. Raises FunctionFailed."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    sign, thousands, point, precision = _number_layout(layout)
    if precision > _DECIMALS_MOST:
        raise FunctionFailed(f"runtime error: index out of range [{precision}] with length {_DECIMALS_MOST + 1}")
    if abs(value) <= _NOTHING:
        sign = ""
    elif value < 0:
        sign = "-"
    # Half of the last digit is added and the rest cut off, in the machine's floats: 5.25 with one digit is 5.2.
    rest, whole = math.modf(abs(value) + float(f"5e-{precision + 1}"))
    shown = f"{int64_of(whole):,}".replace(",", thousands)
    if not precision:
        return f"{sign}{shown}"
    return f"{sign}{shown}{point}{int(rest * 10**precision):0{precision}}"


def _number_layout(layout: str) -> tuple[str, str, str, int]:
    """The sign of positive numbers, what parts thousands, the decimal point, how many digits stand behind it."""
    if not layout:
        return "", ",", ".", _DECIMALS_DEFAULT
    marks = [at for at, char in enumerate(layout) if char not in "#0"]
    sign = ""
    if marks and marks[0] == 0:
        if layout[0] != "+":
            raise FunctionFailed("FormatFloat(): invalid positive sign directive")
        sign = "+"
        del marks[0]
    thousands = ""
    if len(marks) == _MARKS_WITH_THOUSANDS:
        if marks[1] - marks[0] != _THOUSANDS_WIDTH:
            raise FunctionFailed("FormatFloat(): thousands separator directive must be followed by 3 digit-specifiers")
        thousands = layout[marks.pop(0)]
    if len(marks) == 1:
        return sign, thousands, layout[marks[0]], len(layout) - marks[0] - 1
    return sign, thousands, ".", _DECIMALS_MOST


# --- times -----------------------------------------------------------------------------------------------------------
def _moment(value: Any, now: datetime) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, tz=now.tzinfo or UTC)
    return now


def _modified(span: str, moment: datetime, *, must: bool = False) -> datetime:
    found = parse_duration(span)
    if found is None and must:
        raise FunctionFailed(f'time: invalid duration "{span}"')
    return moment + (found or timedelta())


def _to_date(layout: str, text: str, now: datetime, *, must: bool = False) -> datetime:
    try:
        return read_time(layout, text, now.tzinfo or UTC)
    except Unread as error:
        if must:
            raise FunctionFailed(str(error)) from None
        return datetime(1, 1, 1, tzinfo=UTC)


def _duration(seconds: Any) -> str:
    """Only a text and an int64 are seconds; a number as it is written is none."""
    count = (whole_number(seconds, 10) or 0) if isinstance(seconds, str) else 0
    return duration_text(timedelta(seconds=int(seconds) if isinstance(seconds, Int64) else count))


def _duration_round(value: Any, now: datetime) -> str:
    """Of a text, an int64 of nanoseconds, or the time since a moment; anything else is no time."""
    seconds = 0
    if isinstance(value, datetime):
        seconds = int((now - value).total_seconds())
    elif isinstance(value, str):
        seconds = int((parse_duration(value) or timedelta()).total_seconds())
    elif isinstance(value, Int64):
        seconds = int(value / 1_000_000_000)
    for unit, size in _ROUNDED:
        if abs(seconds) >= size:
            return f"{abs(seconds) // size}{unit}"
    return "0s"


def _iso_month(moment: datetime) -> int:
    return (moment + timedelta(days=4 - moment.isoweekday())).month


def _iso_week_date(day: Any, moment: datetime) -> datetime:
    return added(moment, 0, 0, int_of(day) - moment.isoweekday())


def time_functions(now: datetime) -> dict[str, Callable[..., Any]]:
    """The functions that know what time it is."""

    def in_place(layout: Any, value: Any, zone: Any) -> str:
        return go_date(in_zone(_moment(value, now), text_of(zone)), text_of(layout))

    def shown(layout: Any, value: Any) -> str:
        return go_date(_moment(value, now).astimezone(now.tzinfo), text_of(layout))

    return {
        "now": lambda: now,
        "date": shown,
        "dateInZone": in_place,
        "date_in_zone": in_place,
        "htmlDate": lambda value: shown("2006-01-02", value),
        "htmlDateInZone": lambda value, zone: in_place("2006-01-02", value, zone),
        "dateModify": _modified,
        "date_modify": _modified,
        "mustDateModify": lambda span, value: _modified(span, value, must=True),
        "must_date_modify": lambda span, value: _modified(span, value, must=True),
        "toDate": lambda layout, text: _to_date(layout, text, now),
        "mustToDate": lambda layout, text: _to_date(layout, text, now, must=True),
        "unixEpoch": lambda value: str(unix(value)),
        "ago": lambda value: duration_text(timedelta(seconds=round((now - _moment(value, now)).total_seconds()))),
        "duration": _duration,
        "durationRound": lambda value: _duration_round(value, now),
        "parseTime": lambda text: parse_any(text_of(text), now),
        "Weekday": lambda value: int(weekday(value)),
        "WeekdayCN": lambda value: _DAYS_CN[0][weekday(value)],
        "WeekdayCN2": lambda value: _DAYS_CN[1][weekday(value)],
        "ISOWeek": lambda value: value.isocalendar().week,
        "ISOYear": lambda value: value.isocalendar().year,
        "ISOMonth": _iso_month,
        "ISOWeekDate": _iso_week_date,
    }


def _powered(base: Any, power: Any) -> float:
    number, exponent = float_of(base), float_of(power)
    is_odd = exponent % 2 == 1
    try:
        return math.pow(number, exponent)
    except OverflowError:
        return -math.inf if number < 0 and is_odd else math.inf
    except ValueError:  # a root of a negative number, or nothing divided by nothing
        return math.inf if number == 0 else math.nan


NUMBER_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda *numbers: int64(sum(int_of(number) for number in numbers)),
    "add1": lambda number: int64(int_of(number) + 1),
    "sub": lambda left, right: int64(int_of(left) - int_of(right)),
    "mul": _product,
    "div": lambda left, right: int64(_divided(left, right)),
    "mod": _mod,
    "addf": lambda *numbers: _by_decimals(_EXACT.add)(0, *numbers),
    "add1f": lambda number: _by_decimals(_EXACT.add)(number, 1),
    "subf": _by_decimals(_EXACT.subtract),
    "mulf": _by_decimals(_EXACT.multiply),
    "divf": _by_decimals(_quotient),
    "max": lambda first, *others: int64(max(int_of(number) for number in (first, *others))),
    "biggest": lambda first, *others: int64(max(int_of(number) for number in (first, *others))),
    "min": lambda first, *others: int64(min(int_of(number) for number in (first, *others))),
    "maxf": lambda first, *others: max(float_of(number) for number in (first, *others)),
    "minf": lambda first, *others: min(float_of(number) for number in (first, *others)),
    "ceil": lambda number: _whole(number, math.ceil),
    "floor": lambda number: _whole(number, math.floor),
    "round": _round,
    "int": int_of,
    "int64": lambda number: int64(int_of(number)),
    "atoi": lambda text: whole_number(text, 10) or 0,
    "float64": float_of,
    "toDecimal": lambda number: int64(whole_number(text_of(number), 8) or 0),
    "until": _until,
    "untilStep": _stepped,
    "seq": _seq,
    "pow": lambda base, power: Int64(int64_of(_powered(base, power))),
    "powf": _powered,
    "log": lambda value, base: Int64(int64_of(_log(value, base))),
    "logf": _log,
    "FormatFloat": format_float,
}
