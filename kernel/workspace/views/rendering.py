"""[core] Showing a view: gather the items, fill their cells, work out what is calculated, put them in order.

What is filled in stays in the database's own values (marked, never stored), so that later steps of the same call find
it, as in the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kernel.workspace.attributes import shown as shown_attributes
from kernel.workspace.views.covers import cover_of
from kernel.workspace.views.database import Database, values_in
from kernel.workspace.views.format import FILLED, LAYOUTS, Json, fields_of
from kernel.workspace.views.moments import STAMP_LENGTH, Broken, Moment, TooShortId
from kernel.workspace.views.rendered import Field, Item, Rendered
from kernel.workspace.views.store import find, save
from kernel.workspace.views.template_cells import fill_templates
from kernel.workspace.views.values import (
    default_value,
    fill_missing,
    format_content,
    new_value,
    text_of,
    time_content,
)
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

# A relation may lead to a database with relations in turn: so deep they are followed.
DEPTH_MAX: Final = 7
STATIC_TEXT: Final = "custom-sy-av-s-text"


@dataclass(slots=True)
class Around:
    """What showing a view needs besides the database: the notes, the time, and the databases met on the way."""

    workspace: Workspace
    moment: Moment
    met: dict[str, Database] = field(default_factory=dict)
    depth: int = 1

    def database(self, database_id: str) -> Database | None:
        known = self.met.get(database_id)
        if known is None:
            known = find(self.workspace, database_id)
            if known is not None:
                self.met[database_id] = known
        return known

    def attributes(self, block_id: str) -> dict[str, str]:
        """A block's attributes; {} if there is no such block."""
        try:
            return shown_attributes(self.workspace.node(block_id)[1].properties)
        except (NotFound, CorruptDocument):
            return {}

    @property
    def is_case_sensitive(self) -> bool:
        return bool(self.workspace.conf.section("search")["caseSensitive"])


def around(workspace: Workspace) -> Around:
    return Around(workspace, Moment.of(workspace))


def render(place: Around, database: Database, view: Json, query: str = "", *, ignores_rows: bool = False) -> Rendered:
    """A view with all its items, neither filtered nor sorted by the view's rules. Raises Broken."""
    nested = Around(place.workspace, place.moment, {database.id: database})
    shown = render_nested(nested, database, view, query, ignores_rows=ignores_rows)
    assert shown is not None, "the first level is not too deep"
    if not ignores_rows:
        database.rendered[shown.view["id"]] = shown
    return shown


def render_nested(
    place: Around, database: Database, view: Json, query: str = "", *, ignores_rows: bool = False
) -> Rendered | None:
    """The same within another; None beyond the depth that is followed."""
    if place.depth > DEPTH_MAX:
        return None
    place.depth += 1
    if view["type"] not in LAYOUTS:
        raise Broken(f"no layout {view['type']}")
    known = database.rendered.get(view["id"])
    if known is not None:
        return known
    shown = Rendered(
        view,
        _fields(place, database, view, keeps_missing=ignores_rows),
        page_size=view["pageSize"],
        group_calc=view["groupCalc"],
        group_hidden=view["groupHidden"],
    )
    if ignores_rows:
        return shown
    shown.items = [_item(place, database, shown, item_id, cells) for item_id, cells in _found(place, database, view)]
    _keep_filled(database, shown)
    _fill_times(place, database, shown)
    from kernel.workspace.views.rollups import fill_relations, fill_rollups

    fill_relations(place, database, shown)
    fill_rollups(place, database, shown)
    fill_templates(place, database, shown)
    _match_query(place, shown, query)
    order_by_hand(view, shown)
    return shown


def _fields(place: Around, database: Database, view: Json, *, keeps_missing: bool) -> list[Field]:
    """The view's fields; those whose key is gone are removed from the view."""
    found = []
    missing = []
    for placed in fields_of(view):
        key = database.key(placed["id"])
        if key is None:
            missing.append(placed["id"])
        else:
            found.append(Field(key, placed, placed["calc"]))
    if missing and not keeps_missing:
        for layout in ("table", "gallery", "kanban"):
            if view[layout] is not None:
                places = fields_of(view, layout)
                places[:] = [one for one in places if one["id"] not in missing]
        save(place.workspace, database)
    return found


def _found(place: Around, database: Database, view: Json) -> list[tuple[str, dict[str, Json]]]:
    """(item, its values by key) of the items that the view, or the group, shows."""
    items: dict[str, dict[str, Json]] = {}
    for column in database.columns():
        for value in values_in(column):
            items.setdefault(value["blockID"], {}).setdefault(column["key"]["id"], value)
    if view["groupItemIds"] is not None:
        items = {item_id: items[item_id] for item_id in view["groupItemIds"] if item_id in items}
    primary = database.primary()
    primary_id = "" if primary is None else primary["key"]["id"]
    for item_id, cells in list(items.items()):
        named = cells.get(primary_id)
        if named is None or named["block"] is None:
            items.pop(item_id, None)
        elif not named["isDetached"]:
            block_id = named["block"]["id"]
            if not block_id:
                items.pop(item_id, None)
            elif not place.workspace.block_exists(block_id):
                # The kernel looks among the items for the id of the block; they seldom have the same.
                items.pop(block_id, None)
    return list(items.items())


def _item(place: Around, database: Database, shown: Rendered, item_id: str, cells: dict[str, Json]) -> Item:
    item = Item(item_id if shown.fields else "", [], [])
    for one in shown.fields:
        value = cells.get(one.id)
        if value is None:
            if len(item_id) < STAMP_LENGTH:
                raise TooShortId(item_id)
            cell_id = item_id[:STAMP_LENGTH] + place.moment.new_id()[STAMP_LENGTH:]
        else:
            cell_id = value["id"]
        item.cell_ids.append(cell_id)
        item.values.append(_cell(place, one, cell_id, item_id, value))
    if shown.layout != "table":
        cover_of(place, database, shown, item, cells)
    return item


def _cell(place: Around, shown: Field, cell_id: str, item_id: str, value: Json | None) -> Json:
    """A cell as the show begins: numbers formatted, calculated ones anew, the missing empty. Raises Broken."""
    key_type = shown.type
    if key_type in ("template", "created", "updated"):
        value = new_value(key_type, id=cell_id, keyID=shown.id, blockID=item_id)
        if key_type == "template":
            value["template"] = {"content": shown.key["template"]}
        else:
            fill_missing(value, key_type)
        return value
    if value is None:
        rule = shown.key["date"]
        has_time = rule is not None and rule["fillSpecificTime"]
        return default_value(cell_id, shown.id, item_id, key_type, place.moment, has_time=has_time)
    number = value["number"]
    if key_type == "number" and number is not None and number["isNotEmpty"]:
        number["format"] = shown.key["numberFormat"]
        format_content(number)
    fill_missing(value, key_type)
    return value


def _keep_filled(database: Database, shown: Rendered) -> None:
    """Cells that the database has no value for become values of it, marked as filled in."""
    for index, one in enumerate(shown.fields):
        column = database.column(one.id)
        assert column is not None, "fields have a key of the database"
        values = values_in(column)
        known = {value["id"] for value in values}
        for item in shown.items:
            value = item.values[index]
            if value["id"] not in known:
                value[FILLED] = True
                values.append(value)


def _fill_times(place: Around, database: Database, shown: Rendered) -> None:
    """Creation and change times, and the fixed text of blocks that have one."""
    for item in shown.items:
        primary = item.primary
        block_id = primary["block"]["id"] if primary is not None and primary["block"] is not None else ""
        attributes = place.attributes(block_id) if block_id and not (primary or {})["isDetached"] else {}
        for value, one in zip(item.values, shown.fields, strict=True):
            if value["type"] == "block" and value["block"] is not None:
                fixed = attributes.get(f"{STATIC_TEXT}-{database.id}")
                if fixed is not None:
                    value["block"]["content"] = fixed
            elif value["type"] == "created":
                _fill_created(place, one, item, value, attributes)
            elif value["type"] == "updated":
                _fill_updated(place, one, primary, value, attributes)


def _is_day(shown: Field) -> bool:
    rule = shown.key[shown.type]
    return rule is not None and not rule["includeTime"]


def _fill_created(place: Around, shown: Field, item: Item, value: Json, attributes: dict[str, str]) -> None:
    stamp = (attributes.get("id") or item.id)[:STAMP_LENGTH]
    if len(stamp) < STAMP_LENGTH:
        raise TooShortId(item.id)
    made = place.moment.of_stamp(stamp)
    value["created"] = time_content(place.moment.now_ms if made is None else made, place.moment, is_day=_is_day(shown))
    value["created"]["isNotEmpty"] = made is not None


def _fill_updated(place: Around, shown: Field, primary: Json | None, value: Json, attributes: dict[str, str]) -> None:
    stamp = attributes.get("updated", "")
    changed = place.moment.of_stamp(stamp)
    if not stamp and primary is not None:
        changed = primary["block"]["updated"]
    value["updated"] = time_content(
        place.moment.now_ms if changed is None else changed, place.moment, is_day=_is_day(shown)
    )
    value["updated"]["isNotEmpty"] = changed is not None


def _match_query(place: Around, shown: Rendered, query: str) -> None:
    """Keep the items with one cell in which every word of the query is found."""
    words = query.split()
    if not words:
        return
    fold = str if place.is_case_sensitive else str.lower

    def is_hit(value: Json) -> bool:
        text = fold(text_of(value, place.moment))
        return all(fold(word) in text for word in words)

    shown.items = [item for item in shown.items if any(is_hit(value) for value in item.values)]


def order_by_hand(view: Json, shown: Rendered) -> None:
    """The order that people have given the items; those without one stand among the first."""
    places = {item_id: index for index, item_id in enumerate(view["groupItemIds"] or view["itemIds"] or ())}
    shown.items.sort(key=lambda item: (places.get(item.id, 0), item.id))
