"""[core] What a new item holds from the start, so that filter and group let it be seen where it was made."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from kernel.workspace.views.database import Database, option_of, value_in
from kernel.workspace.views.dates import relative_span
from kernel.workspace.views.filter_tree import conditions
from kernel.workspace.views.filtering import filter_items
from kernel.workspace.views.format import Json, cloned_value
from kernel.workspace.views.grouping import DEFAULT, group_key, group_value
from kernel.workspace.views.moments import SECOND_MS, unix_ms
from kernel.workspace.views.rendering import Around
from kernel.workspace.views.rollups import is_gathered_at_home, sources_of
from kernel.workspace.views.showing import render_group
from kernel.workspace.views.sorting import sort_items
from kernel.workspace.views.template_cells import named_keys
from kernel.workspace.views.values import TEXT_TYPES, default_value, empty_content, is_empty

if TYPE_CHECKING:
    from kernel.workspace.views.rendered import Item

_NO_VALUE = ("Is empty", "Is not empty")
# Cells of these say what other cells of their item make them say.
_MADE_OF_OTHERS = ("template", "rollup")
_CALCULATED = ("relation", "template", "rollup", "updated", "created")


def preset_values(
    place: Around,
    database: Database,
    view: Json,
    group: Json,
    previous_id: str,
    item_id: str,
    *,
    is_new: bool,
) -> dict[str, Json]:
    """Key → the value that an item gets from the view's filter and from the group it is put into."""
    return _Presets(place, database, view, group, previous_id, item_id, is_new).values()


class _Presets:
    def __init__(
        self,
        place: Around,
        database: Database,
        view: Json,
        group: Json,
        previous_id: str,
        item_id: str,
        is_new: bool,
    ) -> None:
        self.place, self.database = place, database
        self.view, self.group = view, group
        self.item_id, self.is_new = item_id, is_new
        self.near = _near_item(place, database, view, group, previous_id)
        self.found: dict[str, Json] = {}
        self.filtered: set[str] = set()

    def values(self) -> dict[str, Json]:
        if not self._from_filter():
            self._from_group()
        return self.found

    def _like_near(self, key: Json) -> Json | None:
        """A copy of the neighbour's value."""
        value = self.near.value(key["id"]) if self.near is not None else None
        if value is None:
            return None
        return self._fresh(cloned_value(value), key)

    def _fresh(self, value: Json, key: Json) -> Json:
        now = self.place.moment.now_ms
        value.update(id=self.place.moment.new_id(), keyID=key["id"], blockID=self.item_id)
        value.update(createdAt=now, updatedAt=now + SECOND_MS)
        return value

    # --- filter ------------------------------------------------------------------------------------------------
    def _from_filter(self) -> bool:
        """Values that fit the conditions. Whether a condition on assets has ended it all."""
        for node in conditions(self.view["filters"]):
            self.filtered.add(node["column"])
            key = self.database.key(node["column"])
            if key is None:
                continue
            if key["type"] in _MADE_OF_OTHERS and self.near is not None:
                self._take_near(self._behind(key))
                continue
            if key["type"] == "mAsset":
                if (value := self._like_near(key)) is not None:
                    self.found.setdefault(key["id"], value)
                return True
            value = self._fitting(node, key)
            if value is None and _is_filled_in(node):
                value = self._like_near(key)
            if value is not None:
                if key["type"] == "date":
                    self._date_like_near(value, key)
                self.found[key["id"]] = value
        return False

    def _behind(self, key: Json) -> list[Json]:
        """The keys whose values decide what a calculated one says."""
        if key["type"] == "template":
            return named_keys(self.place, self.database, key)
        return [key] if is_gathered_at_home(self.database, key["id"]) else []

    def _take_near(self, keys: list[Json]) -> None:
        for key in keys:
            value = self._like_near(key)
            if value is not None:
                self.found.setdefault(key["id"], value)

    def _date_like_near(self, value: Json, key: Json) -> None:
        near = self._like_near(key)
        if near is not None:
            value["date"]["isNotTime"] = near["date"]["isNotTime"]
        self._fill_now(value, key)

    def _fill_now(self, value: Json | None, key: Json) -> None:
        if value is not None and key["date"] is not None and key["date"]["autoFillNow"]:
            value["date"].update(content=self.place.moment.now_ms, isNotEmpty=True)

    def _fitting(self, node: Json, key: Json) -> Json | None:
        """A value that fits one condition; None if none can be told."""
        wanted = node["value"]
        if wanted is None or wanted["type"] in _CALCULATED or not _is_filled_in(node):
            return None
        kind, operator = wanted["type"], node["operator"]
        value = self._fresh(cloned_value(wanted), key)
        if kind == "block" or kind in TEXT_TYPES:
            return _fitting_text(value, operator)
        if kind == "number":
            return _fitting_number(value, operator)
        if kind == "date":
            return self._fitting_date(value, node)
        if kind in ("select", "mSelect"):
            return _fitting_options(value, operator, key)
        if kind == "checkbox" and operator in ("Is true", "Is false"):
            value["checkbox"] = {"checked": operator == "Is true"}
        return value

    def _fitting_date(self, value: Json, node: Json) -> Json:
        moment = self.place.moment
        wanted = node["value"]["date"]
        start, end = moment.now, moment.now
        if wanted is not None:
            start, end = moment.local(wanted["content"]), moment.local(wanted["content2"])
        if node["relativeDate"] is not None:
            start, end = relative_span(node["relativeDate"], moment)
        content: Any
        match node["operator"]:
            case "=" | ">=" | "<=":
                content = _at(start)
            case ">":
                content = _at(end + timedelta(hours=24))
            case "<":
                content = _at(start - timedelta(hours=24))
            case "Is between":
                content = _at(self._between(node, start, end))
            case "Is not empty":
                content = _at(moment.now)
            case "Is empty":
                content = {"content": 0}
            case _:
                return value
        value["date"] = {**empty_content("date", has_time=True), **content}
        return value

    def _between(self, node: Json, start: datetime, end: datetime) -> datetime:
        if node["relativeDate2"] is not None:
            start2, end2 = relative_span(node["relativeDate2"], self.place.moment)
            start, end = min(start, start2), max(end, end2)
        else:
            start, end = sorted((start, end))
        now = self.place.moment.now
        return now if start < now < end else start

    # --- group -------------------------------------------------------------------------------------------------
    def _from_group(self) -> None:
        key = group_key(self.database, self.view)
        if key is None:
            return
        key_id = key["id"]
        value = self._like_near(key)
        if key["type"] in ("select", "mSelect"):
            value = self._option_of_group(key, value)
        elif key["type"] in _MADE_OF_OTHERS and self.near is not None:
            self._take_near(self._behind(key))
            return
        elif self.near is not None:
            self._fill_now(value, key)
        elif key_id in self.filtered:
            return
        else:
            value = self._content_of_group(key)
        if value is not None:
            self.found[key_id] = value

    def _option_of_group(self, key: Json, value: Json | None) -> Json | None:
        name = group_value(self.group, self.place.moment)
        option = option_of(key, name)
        if option is None or name == DEFAULT:
            return value
        chosen = {"content": option["name"], "color": option["color"]}
        column = self.database.column(key["id"])
        existing = value_in(column, self.item_id) if column is not None else None
        value = value or self.found.get(key["id"]) or existing
        if value is None:
            value = default_value(self.place.moment.new_id(), key["id"], self.item_id, key["type"], self.place.moment)
            value["mSelect"] = [chosen]
            return value
        selected = value["mSelect"] or []
        if name not in [one["content"] for one in selected]:
            value["mSelect"] = [*selected, chosen] if key["type"] == "mSelect" or not selected else [chosen]
            return value
        kept = [chosen]
        if not self.is_new and existing is not None:
            kept = existing["mSelect"] or []
            if name not in [one["content"] for one in kept]:
                kept.append(chosen)
            existing["mSelect"] = kept
        filtered = self.found.get(key["id"])
        for one in (filtered or {}).get("mSelect") or ():
            if one["content"] not in [other["content"] for other in kept]:
                kept.append(one)
        value["mSelect"] = kept
        return value

    def _content_of_group(self, key: Json) -> Json:
        """The value that names the group, for a group without items."""
        kind = key["type"]
        value = default_value(self.place.moment.new_id(), key["id"], self.item_id, kind, self.place.moment)
        named = self.group["groupVal"]
        if named is not None and named["type"] == "text":
            text = named["text"]["content"]
            text = "" if text == DEFAULT else text
            if kind == "number":
                try:
                    number = float(text.partition(" - ")[0])
                except ValueError:
                    number = 0.0
                value["number"].update(content=int(number) if number.is_integer() else number, isNotEmpty=True)
            elif kind == "block" or kind in ("text", "url", "email", "phone"):
                value[kind]["content"] = text
        elif named is not None and named["type"] == "checkbox" and kind == "checkbox":
            value["checkbox"]["checked"] = named["checkbox"]["checked"]
        return value


def _near_item(place: Around, database: Database, view: Json, group: Json, previous_id: str) -> Item | None:
    """The item after which the new one is put; the first one, if it is put at the top."""
    sources = sources_of(place, database)
    shown = render_group(place, database, view, group)
    filter_items(place, database, shown, sources)
    sort_items(database, shown, place.moment)
    if not previous_id:
        return shown.items[0] if shown.items else None
    return next((item for item in shown.items if item.id == previous_id), None)


def _is_filled_in(node: Json) -> bool:
    """Whether a condition says what it compares with."""
    if node["value"] is None:
        return False
    return node["operator"] in _NO_VALUE or node["relativeDate"] is not None or not is_empty(node["value"])


def _at(when: datetime) -> Json:
    return {"content": unix_ms(when), "isNotEmpty": True}


def _fitting_text(value: Json, operator: str) -> Json | None:
    if operator == "Is not empty":
        return None
    content = value[value["type"]]
    if operator in ("!=", "Does not contains", "Is empty"):
        content["content"] = ""
    if value["type"] == "block":
        content.update(id="", icon="", created=value["createdAt"], updated=value["updatedAt"])
    return value


def _fitting_number(value: Json, operator: str) -> Json:
    number = value["number"]["content"] if value["number"] else 0
    content = {
        "=": number,
        ">": number + 1,
        ">=": number,
        "<": number - 1,
        "<=": number,
        "Is not empty": 0,
    }.get(operator)
    number_record = empty_content("number")
    if content is not None:
        number_record.update(content=content, isNotEmpty=True)
    value["number"] = number_record
    return value


def _fitting_options(value: Json, operator: str, key: Json) -> Json | None:
    options, wanted = key["options"] or [], value["mSelect"] or []
    if operator in ("=", "Contains"):
        if wanted:
            value["mSelect"] = [dict(wanted[0])]
        elif operator == "=":
            value["mSelect"] = [{"content": "", "color": options[0]["color"] if options else "1"}]
        return value
    if operator == "Is empty":
        value["mSelect"] = []
        return value
    if operator == "Is not empty" and options:
        value["mSelect"] = [{"content": options[0]["name"], "color": options[0]["color"]}]
        return value
    return None
