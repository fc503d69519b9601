"""[core] Functions on numbers and times, as the Sprig library and the kernel name them."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from kernel.workspace.limits import TEMPLATE_STEPS_MAX
from kernel.workspace.path_template import go_date
from kernel.workspace.templates.execution import FunctionFailed
from kernel.workspace.templates.moments import added, in_zone, parse_any, parse_duration, parse_moment, weekday
from kernel.workspace.templates.values import duration_text, float_of, int64_of, int_of, text_of

_DAYS_CN: Final = ("日一二三四五六", "天一二三四五六")
_DECIMALS_DEFAULT: Final = 2
_DECIMALS_MOST: Final = 9
_MARKS_WITH_THOUSANDS: Final = 2
_THOUSANDS_WIDTH: Final = 4
_ROUNDED: Final = (("y", 31_536_000), ("mo", 2_592_000), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


def _product(numbers: tuple[Any, ...], of: Callable[[Any], Any]) -> Any:
    result = of(numbers[0])
    for number in numbers[1:]:
        result *= of(number)
    return result


def _divided(left: Any, right: Any) -> int:
    first, second = int_of(left), int_of(right)
    if second == 0:
        raise FunctionFailed("runtime error: integer divide by zero")
    quotient = abs(first) // abs(second)
    return quotient if (first < 0) == (second < 0) else -quotient


def _mod(left: Any, right: Any) -> int:
    return int_of(left) - _divided(left, right) * int_of(right)


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


def _round(value: Any, places: Any, half: Any = 0.5) -> float:
    number, digits = float_of(value), int_of(places)
    if half != 0.5:
        scaled = number * 10**digits
        whole = math.floor(scaled)
        return float((whole + 1 if scaled - whole >= float_of(half) else whole) / 10**digits)
    return float(Decimal(repr(number)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


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


def format_float(layout: Any, value: Any) -> str:
    """A number in a layout of example digits: ``#,###.##``. Raises FunctionFailed."""
    sign, thousands, point, precision = _number_layout(text_of(layout))
    number = float_of(value)
    if number < 0:
        sign = "-"
    # Half of the last digit is added and the rest cut off, in the machine's floats: 5.25 with one digit is 5.2.
    rest, whole = math.modf(abs(number) + float(f"5e-{precision + 1}"))
    shown = f"{int(whole):,}".replace(",", thousands)
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


def _modified(span: Any, moment: Any, now: datetime, *, must: bool = False) -> datetime:
    found = parse_duration(text_of(span))
    if found is None:
        if must:
            raise FunctionFailed(f'time: invalid duration "{text_of(span)}"')
        return _moment(moment, now)
    return _moment(moment, now) + found


def _to_date(layout: Any, text: Any, now: datetime, *, must: bool = False) -> datetime:
    found = parse_moment(text_of(layout), text_of(text), now.tzinfo or UTC)
    if found is None and must:
        raise FunctionFailed(f'parsing time "{text_of(text)}" as "{text_of(layout)}": cannot parse')
    return found if found is not None else datetime(1, 1, 1, tzinfo=UTC)


def _duration(seconds: Any) -> str:
    return duration_text(timedelta(seconds=int_of(seconds)))


def _duration_round(value: Any, now: datetime) -> str:
    if isinstance(value, datetime):
        seconds = int((now - value).total_seconds())
    elif isinstance(value, timedelta):
        seconds = int(value.total_seconds())
    else:
        found = parse_duration(text_of(value))
        seconds = int(found.total_seconds()) if found is not None else int_of(value) // 1_000_000_000
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
        "dateModify": lambda span, value: _modified(span, value, now),
        "date_modify": lambda span, value: _modified(span, value, now),
        "mustDateModify": lambda span, value: _modified(span, value, now, must=True),
        "must_date_modify": lambda span, value: _modified(span, value, now, must=True),
        "toDate": lambda layout, text: _to_date(layout, text, now),
        "mustToDate": lambda layout, text: _to_date(layout, text, now, must=True),
        "unixEpoch": lambda value: str(int(_moment(value, now).timestamp() // 1)),
        "ago": lambda value: duration_text(timedelta(seconds=round((now - _moment(value, now)).total_seconds()))),
        "duration": _duration,
        "durationRound": lambda value: _duration_round(value, now),
        "parseTime": lambda text: parse_any(text_of(text), now),
        "Weekday": lambda value: int(weekday(_moment(value, now))),
        "WeekdayCN": lambda value: _DAYS_CN[0][weekday(_moment(value, now))],
        "WeekdayCN2": lambda value: _DAYS_CN[1][weekday(_moment(value, now))],
        "ISOWeek": lambda value: _moment(value, now).isocalendar().week,
        "ISOYear": lambda value: _moment(value, now).isocalendar().year,
        "ISOMonth": lambda value: _iso_month(_moment(value, now)),
        "ISOWeekDate": lambda day, value: _iso_week_date(day, _moment(value, now)),
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
    "add": lambda *numbers: sum(int_of(number) for number in numbers),
    "add1": lambda number: int_of(number) + 1,
    "sub": lambda left, right: int_of(left) - int_of(right),
    "mul": lambda *numbers: _product(numbers, int_of),
    "div": _divided,
    "mod": _mod,
    "addf": lambda *numbers: math.fsum(float_of(number) for number in numbers),
    "add1f": lambda number: float_of(number) + 1.0,
    "subf": lambda first, *others: float_of(first) - math.fsum(float_of(number) for number in others),
    "mulf": lambda *numbers: float(_product(numbers, float_of)),
    "divf": lambda first, *others: float_of(first) / float(_product(others, float_of)),
    "max": lambda *numbers: max(int_of(number) for number in numbers),
    "biggest": lambda *numbers: max(int_of(number) for number in numbers),
    "min": lambda *numbers: min(int_of(number) for number in numbers),
    "maxf": lambda *numbers: max(float_of(number) for number in numbers),
    "minf": lambda *numbers: min(float_of(number) for number in numbers),
    "ceil": lambda number: float(math.ceil(float_of(number))),
    "floor": lambda number: float(math.floor(float_of(number))),
    "round": _round,
    "int": int_of,
    "int64": int_of,
    "atoi": int_of,
    "float64": float_of,
    "toDecimal": lambda number: int(text_of(number), 8) if text_of(number).isdecimal() else 0,
    "until": _until,
    "untilStep": _stepped,
    "seq": _seq,
    "pow": lambda base, power: int64_of(_powered(base, power)),
    "powf": _powered,
    "log": lambda value, base: int64_of(_log(value, base)),
    "logf": _log,
    "FormatFloat": format_float,
}
