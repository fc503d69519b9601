"""[core] Relations and rollups: what an item is related to in another database, and what is gathered from there."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.views.database import Database, value_in
from kernel.workspace.views.format import Json, cloned_value
from kernel.workspace.views.numbers import to_float
from kernel.workspace.views.rendering import Around, render, render_nested
from kernel.workspace.views.values import (
    content_of,
    date_content,
    default_value,
    format_content,
    last_bound,
    new_value,
    number_content,
    text_of,
    time_content,
)

if TYPE_CHECKING:
    from kernel.workspace.views.rendered import Rendered

PERCENT: Final = "percent"


def fill_relations(place: Around, database: Database, shown: Rendered) -> None:
    """Give every relation the primary values of the items it names; those that are gone are left out."""
    for index, one in enumerate(shown.fields):
        if one.type != "relation":
            continue
        target = place.database(one.key["relation"]["avID"]) if one.key["relation"] is not None else None
        primaries = {value["blockID"]: value for value in target.items()} if target is not None else {}
        for item in shown.items:
            relation = item.values[index]["relation"]
            named = [primaries[item_id] for item_id in relation["blockIDs"] or () if item_id in primaries]
            relation["contents"] = named or None


def sources_of(place: Around, database: Database) -> dict[str, Rendered | None]:
    """Rollup key → the shown view of the database it gathers from, where calculated cells are gathered."""
    found: dict[str, Rendered | None] = {}
    for key in database.all_keys():
        target, target_key = _target(place, database, key)
        if target is not None and target_key is not None:
            is_shown = _needs_view(database, target, target_key)
            found[key["id"]] = render(place, target, target.views()[0]) if is_shown and target.views() else None
    return found


def _needs_view(database: Database, target: Database, target_key: Json) -> bool:
    kinds = ("updated", "created", "relation")
    return target_key["type"] == "template" or (target.id != database.id and target_key["type"] in kinds)


def _target(place: Around, database: Database, key: Json) -> tuple[Database | None, Json | None]:
    """The database and the key that a rollup gathers from."""
    rule = key["rollup"]
    if key["type"] != "rollup" or rule is None:
        return None, None
    relation = database.key(rule["relationKeyID"])
    if relation is None or relation["relation"] is None:
        return None, None
    target = place.database(relation["relation"]["avID"])
    return target, None if target is None else target.key(rule["keyID"])


def is_gathered_at_home(database: Database, key_id: str) -> bool:
    """Whether a rollup gathers a key from its own database."""
    for key in database.all_keys():
        rule = key["rollup"] if key["type"] == "rollup" else None
        relation = database.key(rule["relationKeyID"]) if rule is not None and rule["keyID"] == key_id else None
        if relation is not None and relation["relation"] is not None and relation["relation"]["avID"] == database.id:
            return True
    return False


def fill_rollups(place: Around, database: Database, shown: Rendered) -> None:
    """Gather what every rollup shows.

    The views come first: drawing one gives the items of its database the cells that they lack, for all rollups.
    """
    views: dict[int, Rendered | None] = {}
    for index, one in enumerate(shown.fields):
        target, target_key = _target(place, database, one.key)
        if target is None or target_key is None:
            continue
        needs_view = _needs_view(database, target, target_key) and target.views()
        views[index] = render_nested(place, target, target.views()[0]) if needs_view else None
    for item in shown.items:
        for index, view in views.items():
            gather(place, database, shown.fields[index].key, item.id, item.values[index], view)


def gather(
    place: Around, database: Database, key: Json, item_id: str, value: Json, view: Rendered | None
) -> Json | None:
    """Fill one rollup cell; the relation value it follows, None if there is nothing to follow."""
    target, target_key = _target(place, database, key)
    related = database.value(key["rollup"]["relationKeyID"], item_id) if key["rollup"] is not None else None
    if target is None or target_key is None or related is None or related["relation"] is None:
        return None
    contents = _contents(place, target, target_key, related["relation"]["blockIDs"] or (), view)
    calc = key["rollup"]["calc"]
    if calc is not None:
        contents = calculated(contents, calc["operator"], target_key, place)
    value["rollup"]["contents"] = contents or None
    return related


def _contents(
    place: Around, target: Database, key: Json, item_ids: list[str] | tuple[()], view: Rendered | None
) -> list[Json]:
    column = target.column(key["id"])
    assert column is not None, "the key was found in this database"
    found = []
    for item_id in item_ids:
        value = value_in(column, item_id)
        if view is not None and key["type"] in ("template", "updated", "created"):
            value = view.value(item_id, key["id"])
        if value is None:
            if key["type"] == "checkbox":
                # A box that nobody has touched counts as not ticked.
                fresh = place.moment.new_id()
                found.append(default_value(fresh, key["id"], item_id, "checkbox", place.moment))
            continue
        if content_of(value, key["type"]) is None:
            continue
        if key["type"] == "number":
            value["number"]["format"] = key["numberFormat"]
            format_content(value["number"])
        found.append(cloned_value(value))
    return found


# --- what is calculated from what was gathered -----------------------------------------------------------------------
def calculated(contents: list[Json], operator: str, key: Json, place: Around) -> list[Json]:
    """The gathered values after a rollup's calculation; as they are, if it yields nothing."""
    texts = [text_of(value, place.moment) for value in contents]
    total = len(contents)
    number_format = key["numberFormat"]
    match operator:
        case "Unique values":
            return _unique(contents, place)
        case "Count all" if key["type"] == "relation":
            return _number(sum(len(value["relation"]["blockIDs"] or ()) for value in contents if value["relation"]))
        case "Count all" | "Count values":
            return _number(total)
        case "Count unique values":
            return _number(len(set(texts)))
        case "Count empty":
            return _number(texts.count(""))
        case "Count not empty":
            return _number(total - texts.count(""))
        case "Percent empty" if total:
            return _number(texts.count("") / total, PERCENT)
        case "Percent not empty" if total:
            return _number((total - texts.count("")) / total, PERCENT)
        case "Percent unique values" if total:
            return _number(len(set(texts)) / total, PERCENT)
        case "Sum" | "Average" | "Median" | "Min" | "Max":
            result = _of_numbers([_as_number(value, place) for value in contents], operator)
            return contents if result is None else _number(result, number_format)
        case "Range" | "Earliest" | "Latest":
            return _of_times(contents, operator, key, place)
        case "Checked" | "Unchecked" | "Percent checked" | "Percent unchecked":
            return _of_boxes(contents, operator)
        case _:
            return contents


def _number(number: float, number_format: str = "") -> list[Json]:
    return [new_value("number", number=number_content(number, number_format))]


def _as_number(value: Json, place: Around) -> float:
    number = value["number"]
    if value["type"] == "number" and number is not None and number["isNotEmpty"]:
        return float(number["content"])
    return to_float(text_of(value, place.moment, is_formatted=False)) or 0.0


def _of_numbers(numbers: list[float], operator: str) -> float | None:
    if not numbers:
        return 0.0 if operator == "Sum" else None
    match operator:
        case "Sum":
            return math.fsum(numbers)
        case "Average":
            return math.fsum(numbers) / len(numbers)
        case "Median":
            return statistics.median(numbers)
        case "Min":
            return min(numbers)
        case _:
            return max(numbers)


def _of_times(contents: list[Json], operator: str, key: Json, place: Around) -> list[Json]:
    """Earliest, latest, or how far they are apart; of other values the range of their numbers."""
    kind = contents[0]["type"] if contents else ""
    if operator == "Range" and len(contents) < 2:
        return contents
    if kind not in ("date", "created", "updated"):
        if operator != "Range":
            return contents
        numbers = [_as_number(value, place) for value in contents]
        return _number(max(numbers) - min(numbers), key["numberFormat"])
    times = [value[kind] for value in contents if value["type"] == kind and value[kind] and value[kind]["isNotEmpty"]]
    if not times:
        return contents
    first, last = min(times, key=_start), max(times, key=_start)
    picked, second = (last, 0) if operator == "Latest" else (first, last["content"] if operator == "Range" else 0)
    is_range = operator == "Range"
    if kind == "date":
        look = last_bound(times) if is_range else picked
        dated = {**look, "content": picked["content"], "content2": second}
        content = date_content(dated, place.moment, is_duration=is_range)
    else:
        rule = key[kind]
        is_day = rule is not None and not rule["includeTime"]
        content = time_content(picked["content"], place.moment, second=second, is_day=is_day, is_duration=is_range)
    return [new_value(kind, **{kind: content})]


def _start(time: Json) -> int:
    return int(time["content"])


def _of_boxes(contents: list[Json], operator: str) -> list[Json]:
    boxes = [value["checkbox"]["checked"] for value in contents if value["checkbox"] is not None]
    wanted = "nchecked" not in operator
    count = boxes.count(wanted)
    if not operator.startswith("Percent"):
        return _number(count)
    return _number(count * 100 // len(contents)) if contents else contents


def _unique(contents: list[Json], place: Around) -> list[Json]:
    """Each text once; in lists, each entry once."""
    seen: set[str] = set()

    def fresh(entries: list[Json] | None, said: Any) -> list[Json]:
        kept = []
        for entry in entries or ():
            text = said(entry)
            if text not in seen:
                seen.add(text)
                kept.append(entry)
        return kept

    found = []
    for value in contents:
        match value["type"]:
            case "relation":
                entries = fresh(value["relation"]["contents"], lambda entry: text_of(entry, place.moment))
                value["relation"]["contents"] = entries
            case "mSelect" | "mAsset":
                entries = fresh(value[value["type"]], lambda entry: entry["content"])
                value[value["type"]] = entries
            case _:
                entries = fresh([value], lambda entry: text_of(entry, place.moment))
        if entries:
            found.append(value)
    return found
