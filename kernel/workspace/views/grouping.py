"""[core] Groups of a view: which there are, which items stand in each, and what is remembered when they are made anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.views.database import Database, is_grouped, option_of
from kernel.workspace.views.format import Json, new_view
from kernel.workspace.views.moments import Broken
from kernel.workspace.views.numbers import plain_number
from kernel.workspace.views.rendering import Around, render
from kernel.workspace.views.values import CHECKED, is_empty, new_value, text_of

if TYPE_CHECKING:
    from kernel.workspace.views.moments import Moment
    from kernel.workspace.views.rendered import Item

# How values are put into groups.
BY_VALUE: Final = 0
BY_RANGE: Final = 1
BY_RELATIVE_DATE: Final = 2
BY_DAY: Final = 3
BY_WEEK: Final = 4
BY_MONTH: Final = 5
BY_YEAR: Final = 6
DATE_METHODS: Final = (BY_RELATIVE_DATE, BY_DAY, BY_WEEK, BY_MONTH, BY_YEAR)
DATE_TYPES: Final = ("date", "created", "updated")
# Where values that are no times stand when they are put into groups by time.
_TIME_OF_NOTHING: Final = {
    BY_RELATIVE_DATE: "0001-01",
    BY_DAY: "0001-01-01",
    BY_WEEK: "1-W01",
    BY_MONTH: "0001-01",
    BY_YEAR: "0001",
}
# How groups are ordered.
ASCENDING: Final = 0
DESCENDING: Final = 1
BY_HAND: Final = 2
BY_OPTION: Final = 3
# What is hidden: nothing, empty groups, or what people have hidden.
SHOWN: Final = 0
HIDDEN_EMPTY: Final = 1
HIDDEN_BY_HAND: Final = 2
UNSORTED: Final = -1

DEFAULT: Final = "_@default@_"
OUT_OF_RANGE: Final = "_@notInRange@_"
LAST_30_DAYS: Final = "_@last30Days@_"
LAST_7_DAYS: Final = "_@last7Days@_"
YESTERDAY: Final = "_@yesterday@_"
TODAY: Final = "_@today@_"
TOMORROW: Final = "_@tomorrow@_"
NEXT_7_DAYS: Final = "_@next7Days@_"
NEXT_30_DAYS: Final = "_@next30Days@_"


@dataclass(frozen=True, slots=True)
class _State:
    """What is kept of a group when the groups are made anew."""

    id: str
    is_folded: bool
    hidden: int
    sort: int
    item_ids: tuple[str, ...]


def group_key(database: Database, view: Json) -> Json | None:
    """The key that a view is grouped by."""
    return database.key(view["group"]["field"]) if is_grouped(view) else None


def group_value(group: Json, moment: Moment) -> str:
    """What names a group: an option, a text, a number's range, a date."""
    return text_of(group["groupVal"], moment, is_formatted=False)


def group_by_value(view: Json, value: str, moment: Moment) -> Json | None:
    return next((group for group in view["groups"] or () if group_value(group, moment) == value), None)


def group_by_id(view: Json, group_id: str) -> Json | None:
    return next((group for group in view["groups"] or () if group["id"] == group_id), None)


def regroup_all(place: Around, database: Database) -> None:
    """Make the groups of every grouped view anew."""
    for view in database.views():
        if group_key(database, view) is not None:
            regroup(place, database, view)


def regroup(place: Around, database: Database, view: Json) -> None:
    """Make the groups of a view anew; those that were there keep their id, place, order and folding."""
    if not is_grouped(view):
        return
    states = states_of(view, place.moment)
    view["groups"] = None
    shown = render(place, database, view)
    key = group_key(database, view)
    if key is None:
        return
    if view["group"]["method"] == BY_RANGE and view["group"]["range"] is None:
        return
    items = _in_group_order(shown.items, view["group"], key, place.moment)
    members = _Sorter(place, database, view["group"], key).members(items)
    _add_empty_groups(members, key)
    view["groups"] = [_group(place, database, view, key, value, ids) for value, ids in members.items()]
    view["groupCreated"] = place.moment.now_ms
    restore_states(view, states, place.moment)


def _in_group_order(items: list[Item], rule: Json, key: Json, moment: Moment) -> list[Item]:
    field = rule["field"]
    method = rule["method"]

    def by_value(item: Item) -> Any:
        return text_of(item.value(field), moment, is_formatted=False)

    def by_content(item: Item) -> Any:
        return _content(item.value(field), "number" if method == BY_RANGE else key["type"])

    if method == BY_VALUE:
        return list(items) if rule["order"] == BY_HAND else sorted(items, key=by_value)
    if len(items) > 1 and (method == BY_RANGE or (method in DATE_METHODS and key["type"] in DATE_TYPES)):
        return sorted(items, key=by_content)
    return list(items)


def _content(value: Json | None, kind: str) -> Any:
    """The number or the time in a value. Raises Broken for a value of another kind."""
    if value is None or not value.get(kind):
        raise Broken(f"a value without {kind}")
    return value[kind]["content"]


class _Sorter:
    """Puts items into groups; ranges of numbers are stepped through in the order of the items."""

    def __init__(self, place: Around, database: Database, rule: Json, key: Json) -> None:
        self.moment = place.moment
        self.rule = rule
        self.key = key
        span = rule["range"]
        self.start = span["numStart"] if span else 0
        self.end = self.start + span["numStep"] if span else 0
        related = key["relation"]
        self.has_target = (
            key["type"] == "relation"
            and related is not None
            and bool(database.id == related["avID"] or place.database(related["avID"]))
        )

    def members(self, items: list[Item]) -> dict[str, list[str]]:
        """Group → its items."""
        found: dict[str, list[str]] = {}
        for item in items:
            for value in self._values(item):
                found.setdefault(value, []).append(item.id)
        return found

    def _values(self, item: Item) -> list[str]:
        value = item.value(self.rule["field"])
        if value is None or is_empty(value, ignores_blanks=True):
            return [DEFAULT]
        method = self.rule["method"]
        if method == BY_RANGE:
            return [self._range(_content(value, "number"))]
        if method in DATE_METHODS:
            is_time = value["type"] in DATE_TYPES
            return [self._date(_content(value, value["type"]))] if is_time else [_TIME_OF_NOTHING[method]]
        if method != BY_VALUE:
            return [""]
        if self.key["type"] in ("select", "mSelect"):
            return [one["content"] for one in value["mSelect"]]
        if self.key["type"] == "relation":
            return list(value["relation"]["blockIDs"] or ()) if self.has_target else []
        return [text_of(value, self.moment, is_formatted=False)]

    def _range(self, number: float) -> str:
        span = self.rule["range"]
        if not span["numStart"] <= number <= span["numEnd"]:
            return OUT_OF_RANGE
        while self.end <= span["numEnd"] and self.end <= number and span["numStep"] > 0:
            self.start += span["numStep"]
            self.end += span["numStep"]
        if self.start <= number < self.end:
            return f"{plain_number(self.start)} - {plain_number(self.end)}"
        return ""

    def _date(self, unix: int) -> str:
        when = self.moment.local(unix)
        match self.rule["method"]:
            case 3:
                return self.moment.day_text(unix)
            case 4:
                year, week, _ = when.isocalendar()
                return f"{year}-W{week:02d}"
            case 5:
                return f"{when.year:04d}-{when:%m}"
            case 6:
                return f"{when.year:04d}"
        return self._relative(unix)

    def _relative(self, unix: int) -> str:
        when, today = self.moment.local(unix), self.moment.today

        def day(offset: int) -> Any:
            return today + timedelta(days=offset)

        if when < day(-30) or when > day(30):
            return f"{when.year:04d}-{when:%m}"
        for bound, name in ((-7, LAST_30_DAYS), (-1, LAST_7_DAYS), (0, YESTERDAY), (1, TODAY)):
            if when < day(bound):
                return name
        if when > day(7):
            return NEXT_30_DAYS
        return NEXT_7_DAYS if when >= day(2) else TOMORROW


def _add_empty_groups(members: dict[str, list[str]], key: Json) -> None:
    """Groups that are there even without items: every option, ticked and not ticked, and what has no value."""
    if key["type"] in ("select", "mSelect"):
        for option in key["options"] or ():
            members.setdefault(option["name"], [])
    if key["type"] == "checkbox":
        for value in ("", CHECKED):
            members.setdefault(value, [])
    else:
        members[DEFAULT] = members.pop(DEFAULT, [])


def _group(place: Around, database: Database, view: Json, key: Json, value: str, item_ids: list[str]) -> Json:
    group = new_view(view["type"], place.moment.new_id(), place.moment.new_id())
    named = new_value("text", text={"content": value})
    if key["type"] in ("select", "mSelect") and (option := option_of(key, value)) is not None:
        named = new_value("select", mSelect=[{"content": option["name"], "color": option["color"]}])
    elif key["type"] == "relation" and value != DEFAULT:
        target = database if key["relation"]["avID"] == database.id else place.database(key["relation"]["avID"])
        primary = target.item(value) if target is not None else None
        contents = [primary] if primary is not None else None
        named = new_value("relation", relation={"blockIDs": [value], "contents": contents})
    elif key["type"] == "checkbox":
        named = new_value("checkbox", checkbox={"checked": bool(value)})
    group.update(
        name="", groupItemIds=item_ids, groupHidden=HIDDEN_EMPTY, groupKey=key, groupVal=named, groupSort=UNSORTED
    )
    return group


# --- what is remembered --------------------------------------------------------------------------------------------
def states_of(view: Json, moment: Moment) -> dict[str, _State]:
    """What is to be kept of each group, by its value."""
    if not is_grouped(view):
        return {}
    states = {}
    for group in view["groups"] or ():
        if group["type"] == "kanban":
            # The columns of a board are never folded.
            group["groupFolded"] = False
        states[group_value(group, moment)] = _State(
            group["id"],
            group["groupFolded"],
            group["groupHidden"],
            group["groupSort"],
            tuple(group["groupItemIds"] or ()),
        )
    return states


def restore_states(view: Json, states: dict[str, _State], moment: Moment) -> None:
    """Give groups back what they had; new ones follow, and the one without a value is last of all."""
    groups: list[Json] = view["groups"] or []
    for group in groups:
        state = states.get(group_value(group, moment))
        if state is None:
            continue
        group.update(id=state.id, groupFolded=state.is_folded, groupHidden=state.hidden, groupSort=state.sort)
        order = {item_id: index for index, item_id in enumerate(state.item_ids)}
        group["groupItemIds"].sort(key=lambda item_id: order.get(item_id, 0))
    last = group_by_value(view, DEFAULT, moment)
    if last is not None and last["groupSort"] == UNSORTED:
        groups = [group for group in groups if group is not last]
    else:
        last = None
    for index, group in enumerate(groups):
        if group["groupSort"] == UNSORTED:
            group["groupSort"] = index
    if last is not None:
        groups.append(last)
        last["groupSort"] = len(groups) - 1
    view["groups"] = groups


def ungroup(view: Json) -> None:
    view.update(group=None, groups=None, groupCreated=0)
