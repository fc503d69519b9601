"""[core] The order of a view's items by its sort rules."""

from __future__ import annotations

from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.notebooks import compare_names
from kernel.workspace.views.moments import unix_ms
from kernel.workspace.views.numbers import to_float
from kernel.workspace.views.values import is_edited, is_empty, text_of

if TYPE_CHECKING:
    from kernel.workspace.views.database import Database
    from kernel.workspace.views.format import Json
    from kernel.workspace.views.moments import Moment
    from kernel.workspace.views.rendered import Item, Rendered

ASCENDING: Final = "ASC"


def sort_items(database: Database, shown: Rendered, moment: Moment) -> None:
    """Sort by the rules of the view; items that nobody has given any content stay behind, the oldest first."""
    rules = []
    for rule in shown.view["sorts"] or ():
        index = next((at for at, one in enumerate(shown.fields) if one.id == rule["column"]), None)
        if index is not None:
            rules.append((index, rule["order"] == ASCENDING))
    if not shown.view["sorts"]:
        return
    options = {index: _option_order(database, shown.fields[index].id) for index, _ in rules}
    edited = [item for item in shown.items if _takes_part(item, rules)]
    others = [item for item in shown.items if not _takes_part(item, rules)]
    others.sort(key=_made_at)

    def compare(one: Item, other: Item) -> int:
        for index, is_ascending in rules:
            first, second = one.values[index], other.values[index]
            is_blank = is_empty(first), is_empty(second)
            if any(is_blank):
                if is_blank[0] != is_blank[1]:
                    return 1 if is_blank[0] else -1
                continue
            result = compare_values(first, second, options[index], moment)
            if result:
                return result if is_ascending else -result
        return _made_at(one) - _made_at(other)

    edited.sort(key=cmp_to_key(compare))
    shown.items = edited + others


def _option_order(database: Database, key_id: str) -> dict[str, int]:
    key = database.key(key_id)
    options = key["options"] if key is not None else None
    return {option["name"]: index for index, option in enumerate(options or ())}


def _takes_part(item: Item, rules: list[tuple[int, bool]]) -> bool:
    primary = item.primary
    for index, _ in rules:
        value = item.values[index]
        if is_edited(value) or (value["type"] == "checkbox" and primary is not None and is_edited(primary)):
            return True
    return False


def _made_at(item: Item) -> int:
    primary = item.primary
    return 0 if primary is None else int(primary["createdAt"])


def compare_values(one: Json, other: Json, option_order: dict[str, int], moment: Moment) -> int:
    """Below, equal or above 0, as for two values of the same type."""
    kind = one["type"]
    match kind:
        case "number" | "created" | "updated":
            return _sign(one[kind]["content"], other[kind]["content"])
        case "date":
            return _sign(_day_or_time(one["date"], moment), _day_or_time(other["date"], moment))
        case "select" | "mSelect":
            return _compare_options(one["mSelect"] or (), other["mSelect"] or (), option_order)
        case "checkbox":
            return _sign(one["checkbox"]["checked"], other["checkbox"]["checked"])
        case "url" | "email" | "phone":
            return _sign(one[kind]["content"], other[kind]["content"])
        case "relation" | "rollup":
            return _compare_contents(one, other, moment)
        case "template":
            first, second = to_float(one[kind]["content"]), to_float(other[kind]["content"])
            if first is not None and second is not None:
                return _sign(first, second)
            return _compare_texts(one[kind]["content"], other[kind]["content"])
        case "mAsset":
            texts = ["".join(asset["content"] for asset in value["mAsset"] or ()) for value in (one, other)]
            return _compare_texts(*texts)
        case "block" | "text":
            return _compare_texts(one[kind]["content"], other[kind]["content"])
        case _:
            return 0


def _sign(one: Any, other: Any) -> int:
    return int((one > other) - (one < other))


def _compare_texts(one: str, other: str) -> int:
    return 0 if one == other else compare_names(one, other)


def _day_or_time(date: Json, moment: Moment) -> int:
    if not date["isNotTime"]:
        return int(date["content"])
    return unix_ms(moment.local(date["content"]).replace(hour=0, minute=0, second=0, microsecond=0))


def _compare_options(one: Any, other: Any, order: dict[str, int]) -> int:
    for first, second in zip(one, other, strict=False):
        difference = order.get(first["content"], 0) - order.get(second["content"], 0)
        if difference:
            return int(difference)
        if first["content"] != second["content"]:
            return _sign(first["content"], second["content"])
    return 0


def _compare_contents(one: Json, other: Json, moment: Moment) -> int:
    kind = one["type"]
    both = [value[kind]["contents"] or [] for value in (one, other)]
    if all(contents and contents[0]["type"] == "number" for contents in both):
        numbers = [to_float(text_of(contents[0], moment, is_formatted=False)) for contents in both]
        if numbers[0] is not None and numbers[1] is not None:
            return _sign(numbers[0], numbers[1])
    texts = [" ".join(text_of(value, moment) for value in contents).strip() for contents in both]
    return _compare_texts(*texts)
