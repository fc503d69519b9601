"""[core] What a view calculates below its fields: counts, shares, sums, dates; and for its groups."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.views.format import CALC, Json, made
from kernel.workspace.views.numbers import to_float
from kernel.workspace.views.values import date_content, last_bound, new_value, number_content, text_of, time_content

if TYPE_CHECKING:
    from kernel.workspace.views.database import Database
    from kernel.workspace.views.moments import Moment
    from kernel.workspace.views.rendered import Field, Rendered

PERCENT: Final = "percent"
_TIMES: Final = ("date", "created", "updated")
# These count a cell as filled when it has its part, even an empty one.
_HELD_IS_FILLED: Final = ("relation", "rollup", "created", "updated")


def calculate(database: Database, shown: Rendered, moment: Moment) -> None:
    """Work out the result of every field's calculation, and of the groups' own."""
    for index, one in enumerate(shown.fields):
        if one.calc is not None and one.calc["operator"]:
            _calculate_field(shown, one, index, moment)
    rule = shown.group_calc
    if rule is None or database.key(rule["field"]) is None:
        return
    index = next((at for at, one in enumerate(shown.fields) if one.id == rule["field"]), -1)
    if index < 0:
        return
    one = shown.fields[index]
    calc = one.calc
    if calc is None:
        one.calc = rule["calc"] or made(CALC)
        _calculate_field(shown, one, 0 if shown.layout == "table" else index, moment)
        calc, one.calc = one.calc, None
    shown.group_calc = {"field": rule["field"], "calc": calc}


def _calculate_field(shown: Rendered, one: Field, index: int, moment: Moment) -> None:
    calc = one.calc
    assert calc is not None, "only fields with a calculation come here"
    result = _result(one, calc["operator"], [item.values[index] for item in shown.items], moment)
    if result is not None:
        calc["result"] = result


def _number(number: float, number_format: str = "") -> Json:
    return new_value("", number=number_content(number, number_format))


def _result(one: Field, operator: str, values: list[Json], moment: Moment) -> Json | None:
    """The result of an operator over the cells of a field; None if it has none."""
    if one.type == "lineNumber":
        return None
    if operator == "Count all":
        return _number(len(values))
    if one.type == "checkbox":
        return _boxes(operator, values)
    if operator in ("Count values", "Count unique values", "Percent unique values") or "empty" in operator:
        return _counts(one.type, operator, values, moment)
    if one.type in _TIMES and operator in ("Earliest", "Latest", "Range"):
        return _times(one, operator, values, moment)
    if one.type in ("number", "template", "rollup"):
        return _sums(one, operator, _numbers(one.type, values, moment))
    return None


def _counts(kind: str, operator: str, values: list[Json], moment: Moment) -> Json | None:
    entries = [_entries(kind, value, moment) for value in values]
    filled = sum(1 for one in entries if one)
    total = len(values)
    match operator:
        case "Count values":
            if kind in ("mSelect", "mAsset"):
                return _number(sum(len(one) for one in entries))
            held = sum(1 for value in values if value[kind] is not None) if kind in _HELD_IS_FILLED else filled
            return _number(held)
        case "Count unique values":
            return _number(len({entry for one in entries for entry in one}))
        case "Count empty":
            return _number(total - filled)
        case "Count not empty":
            return _number(filled)
    if not total:
        return None
    match operator:
        case "Percent empty":
            return _number((total - filled) / total, PERCENT)
        case "Percent not empty":
            return _number(filled / total, PERCENT)
        case "Percent unique values":
            return _number(len({entry for one in entries for entry in one}) / total, PERCENT)
        case _:
            return None


def _entries(kind: str, value: Json, moment: Moment) -> list[Any]:
    """What a cell holds, piece by piece; nothing if it is empty."""
    held = value.get("mSelect" if kind == "select" else kind)
    if not held:
        return []
    match kind:
        case "select":
            return [held[0]["content"]] if held[0]["content"] else []
        case "mSelect" | "mAsset":
            return [one["content"] for one in held]
        case "relation":
            return list(held["blockIDs"] or ())
        case "rollup":
            return [entry for one in held["contents"] or () for entry in _rolled(one, moment)]
        case "number" | "date":
            return [held["content"]] if held["isNotEmpty"] else []
        case _:
            return [held["content"]] if held["content"] else []


def _rolled(value: Json, moment: Moment) -> list[str]:
    match value["type"]:
        case "relation":
            return [text_of(one, moment) for one in value["relation"]["contents"] or ()]
        case "mSelect" | "mAsset":
            return [one["content"] for one in value[value["type"]] or ()]
        case _:
            return [text_of(value, moment)]


def _boxes(operator: str, values: list[Json]) -> Json | None:
    checked = sum(1 for value in values if value["checkbox"] is not None and value["checkbox"]["checked"])
    held = sum(1 for value in values if value["checkbox"] is not None)
    count = checked if operator.endswith(("Checked", " checked")) else held - checked
    if operator in ("Checked", "Unchecked"):
        return _number(count)
    if operator in ("Percent checked", "Percent unchecked") and values:
        return _number(count / len(values), PERCENT)
    return None


def _numbers(kind: str, values: list[Json], moment: Moment) -> list[float]:
    found: list[float] = []
    for value in values:
        if kind == "number":
            number = value["number"]
            if number is not None and number["isNotEmpty"]:
                found.append(number["content"])
        elif kind == "template":
            if value["template"] is not None and value["template"]["content"]:
                found.append(to_float(value["template"]["content"]) or 0.0)
        else:
            contents = (value["rollup"] or {}).get("contents") or ()
            found += [to_float(text_of(one, moment, is_formatted=False)) or 0.0 for one in contents]
    return found


def _sums(one: Field, operator: str, numbers: list[float]) -> Json | None:
    if operator == "Sum":
        return _number(math.fsum(numbers), one.key["numberFormat"])
    if not numbers:
        return None
    match operator:
        case "Average":
            result = math.fsum(numbers) / len(numbers)
        case "Median":
            result = statistics.median(numbers)
        case "Min":
            result = min(numbers)
        case "Max":
            result = max(numbers)
        case "Range":
            result = max(numbers) - min(numbers)
        case _:
            return None
    return _number(result, one.key["numberFormat"])


def _times(one: Field, operator: str, values: list[Json], moment: Moment) -> Json | None:
    kind = one.type
    times = [value[kind] for value in values if value[kind] and (kind != "date" or value[kind]["isNotEmpty"])]
    times = [time for time in times if time["content"]]
    if not times:
        return None
    first, last = min(times, key=_start), max(times, key=_start)
    picked = last if operator == "Latest" else first
    second = last["content"] if operator == "Range" else 0
    is_range = operator == "Range"
    if kind == "date":
        look = last_bound(times) if is_range else picked
        dated = {**look, "content": picked["content"], "content2": second}
        return new_value("", date=date_content(dated, moment, is_duration=is_range))
    rule = one.key[kind]
    is_day = rule is not None and not rule["includeTime"]
    content = time_content(picked["content"], moment, second=second, is_day=is_day, is_duration=is_range)
    return new_value("", **{kind: content})


def _start(time: Json) -> int:
    return int(time["content"])
