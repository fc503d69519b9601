"""[core] The order of a view's groups, and their names on screen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kernel.workspace.notebooks import natural_key
from kernel.workspace.views.database import Database
from kernel.workspace.views.grouping import (
    BY_HAND,
    BY_OPTION,
    BY_RELATIVE_DATE,
    DEFAULT,
    DESCENDING,
    LAST_7_DAYS,
    LAST_30_DAYS,
    NEXT_7_DAYS,
    NEXT_30_DAYS,
    OUT_OF_RANGE,
    TODAY,
    TOMORROW,
    YESTERDAY,
    group_by_value,
    group_key,
    group_value,
)

if TYPE_CHECKING:
    from kernel.workspace.views.format import Json
    from kernel.workspace.views.moments import Moment

_NAMES: Final = {
    OUT_OF_RANGE: "Out of range",
    LAST_30_DAYS: "Last 30 days",
    LAST_7_DAYS: "Last 7 days",
    YESTERDAY: "Yesterday",
    TODAY: "Today",
    TOMORROW: "Tomorrow",
    NEXT_7_DAYS: "Next 7 days",
    NEXT_30_DAYS: "Next 30 days",
}
# Days around today, from the past to the future.
_AROUND_TODAY: Final = (LAST_30_DAYS, LAST_7_DAYS, YESTERDAY, TODAY, TOMORROW, NEXT_7_DAYS, NEXT_30_DAYS)
_MONTH: Final = re.compile(r"\d{4}-\d{2}")


def name_groups(database: Database, view: Json, moment: Moment) -> None:
    """Give the groups the names that are shown."""
    key = group_key(database, view)
    for group in view["groups"] or ():
        value = group_value(group, moment)
        group["name"] = _NAMES.get(value, value)
        if value == DEFAULT and key is not None:
            group["name"] = f"Field [{key['name']}] is empty"


def sort_groups(database: Database, view: Json, moment: Moment) -> None:
    """Put the groups in the order that the view's rule wants; the group without a value is last."""
    rule, groups = view["group"], view["groups"] or []
    if rule["order"] == BY_HAND:
        groups.sort(key=lambda group: group["groupSort"])
        return
    if rule["order"] == BY_OPTION and rule["method"] != BY_RELATIVE_DATE:
        key = group_key(database, view)
        if key is not None and key["type"] in ("select", "mSelect"):
            sort_by_option(view, key, moment)
        return
    last = group_by_value(view, DEFAULT, moment)
    others = [group for group in groups if group is not last]
    if rule["method"] == BY_RELATIVE_DATE:
        others = _by_relative_date(others, moment)
        if rule["order"] == DESCENDING:
            others.reverse()
    else:
        others.sort(key=lambda group: natural_key(group_value(group, moment)), reverse=rule["order"] == DESCENDING)
    view["groups"] = others if last is None else [*others, last]


def sort_by_option(view: Json, key: Json, moment: Moment) -> None:
    """The order of the options; the group without a value is last."""
    places = {option["name"]: index for index, option in enumerate(key["options"] or ())}
    last = group_by_value(view, DEFAULT, moment)
    others = [group for group in view["groups"] or () if group is not last]
    others.sort(key=lambda group: places.get(group_value(group, moment), 0))
    view["groups"] = others if last is None else [*others, last]


def _by_relative_date(groups: list[Json], moment: Moment) -> list[Json]:
    """Months before today, the days around today, months after."""
    values = {id(group): group_value(group, moment) for group in groups}
    months = sorted((one for one in groups if _MONTH.fullmatch(values[id(one)])), key=lambda one: values[id(one)])
    this_month = f"{moment.today.year:04d}-{moment.today:%m}"
    past = [group for group in months if values[id(group)] < this_month]
    near = [group for value in _AROUND_TODAY for group in groups if values[id(group)] == value]
    return [*past, *near, *months[len(past) :]]
