"""[core] The keys of a database: adding, naming, retyping, ordering and removing them; options of select keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernel.workspace.go_struct import ListOf, Mismatch, read
from kernel.workspace.views import item_templates
from kernel.workspace.views.database import Database, ViewError, new_key, option_of, unique, values_in
from kernel.workspace.views.filter_tree import drop_option, rename_option
from kernel.workspace.views.format import (
    KEY_TYPES,
    KEY_VALUES,
    LAYOUTS,
    OPTION,
    Json,
    copied,
    fields_of,
    made,
    new_field,
)
from kernel.workspace.views.grouping import regroup_all, ungroup
from kernel.workspace.views.moments import Broken
from kernel.workspace.views.naming import duplicate_name
from kernel.workspace.views.rendering import Around, around
from kernel.workspace.views.showing import block_view
from kernel.workspace.views.store import drop_relation, find, load, referring, save, tell_reload

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace


def add_key(
    workspace: Workspace, database_id: str, key_id: str, name: str, key_type: str, icon: str, previous_id: str
) -> None:
    """Add a key to a database and all its views; an unknown type adds nothing. Raises ViewError."""
    database = load(workspace, database_id)
    current = database.current_view(database.data["viewID"])
    if key_type in KEY_TYPES:
        key = new_key(key_id, name, key_type, icon)
        if key_type == "rollup":
            key["rollup"] = {"relationKeyID": "", "keyID": "", "calc": {"operator": "", "result": None}}
        database.columns().append(made(KEY_VALUES, key=key))
        for view in database.views():
            for layout in LAYOUTS:
                if view[layout] is not None:
                    _place_field(view, layout, key_id, previous_id, is_first=current["type"] == "table")
    save(workspace, database)


def _place_field(view: Json, layout: str, key_id: str, previous_id: str, *, is_first: bool) -> None:
    """Put a field behind another one; else first in tables, last in cards."""
    fields = fields_of(view, layout)
    at = len(fields)
    if previous_id:
        at = next((index + 1 for index, one in enumerate(fields) if one["id"] == previous_id), at)
    elif layout == "table" and is_first:
        at = 0
    fields.insert(at, new_field(layout, key_id, wrap=view[layout]["wrapField"]))


def drop_field(view: Json, key_id: str) -> None:
    """A key is gone from a view, in every layout it has had."""
    for layout in LAYOUTS:
        if view[layout] is not None:
            fields = fields_of(view, layout)
            fields[:] = [one for one in fields if one["id"] != key_id]


def duplicate_key(workspace: Workspace, database_id: str, key_id: str, copy_id: str) -> None:
    """Copy a key without its values, behind the original. Primary and relation keys are not copied."""
    database = load(workspace, database_id)
    key = database.key(key_id)
    if key is None or key["type"] in ("block", "relation"):
        return
    twin = copied(key)
    twin.update(id=copy_id, name=duplicate_name(key["name"]))
    database.columns().append(made(KEY_VALUES, key=twin))
    for view in database.views():
        fields = fields_of(view)
        at = next((index for index, one in enumerate(fields) if one["id"] == key_id), None)
        if at is not None:
            fields.insert(at + 1, {**copied(fields[at]), "id": copy_id, "calc": None})
    save(workspace, database)


def update_key(workspace: Workspace, database_id: str, key_id: str, name: str, key_type: str) -> None:
    """Give a key a name and a type; its values stay, but show only what they hold for that type. Raises ViewError."""
    database = load(workspace, database_id)
    column = database.column(key_id) if key_type in (*KEY_TYPES, "block") else None
    is_retyped = False
    if column is not None:
        key = column["key"]
        if (key["type"] == "block") != (key_type == "block"):
            is_primary = key["type"] == "block"
            raise ViewError(
                "cannot change type of primary key field" if is_primary else "cannot change field type to primary key"
            )
        is_retyped = key["type"] != key_type
        key.update(name=name.strip(), type=key_type)
        for value in values_in(column):
            value["type"] = key_type
    if is_retyped:
        item_templates.forget_key(database, key_id)
        _ungroup_by(database, key_id)
    save(workspace, database)
    if is_retyped:
        _empty_rollups(workspace, database_id, key_id, drops_calc=True)


def _ungroup_by(database: Database, key_id: str) -> None:
    for view in database.views():
        if view["group"] is not None and view["group"]["field"] == key_id:
            ungroup(view)


def _empty_rollups(workspace: Workspace, database_id: str, key_id: str, *, drops_calc: bool) -> None:
    """Rollups elsewhere that gather from a key which has changed hold nothing any more."""
    for other_id in referring(workspace, database_id):
        other = find(workspace, other_id)
        if other is None:
            continue
        for column in other.columns():
            rule = column["key"]["rollup"]
            if column["key"]["type"] != "rollup" or rule is None or rule["keyID"] != key_id:
                continue
            for value in values_in(column):
                if value["rollup"] is not None:
                    value["rollup"]["contents"] = None
            if drops_calc:
                rule["calc"] = {"operator": "", "result": None}
        regroup_all(around(workspace), other)
        save(workspace, other)
        tell_reload(workspace, other_id)


def remove_key(workspace: Workspace, database_id: str, key_id: str, *, removes_back: bool) -> None:
    """Remove a key with its values; of a two-way relation the other side too, if asked for. Raises ViewError."""
    place = around(workspace)
    database = load(workspace, database_id)
    key = database.required_key(key_id)
    if key["type"] == "block":
        raise ViewError("cannot remove primary key field")
    _ungroup_by(database, key_id)
    database.data["keyValues"] = [column for column in database.columns() if column["key"]["id"] != key_id]
    item_templates.forget_key(database, key_id)
    rule = key["relation"] if key["type"] == "relation" else None
    if rule is not None and rule["isTwoWay"]:
        _part(place, database, rule, removes_back=removes_back)
    for view in database.views():
        drop_field(view, key_id)
    save(workspace, database)
    if rule is not None and rule["avID"] not in ("", database_id):
        tell_reload(workspace, rule["avID"])
    _empty_rollups(workspace, database_id, key_id, drops_calc=False)


def _part(place: Around, database: Database, rule: Json, *, removes_back: bool) -> None:
    """The other side of a two-way relation loses it, or goes."""
    workspace = place.workspace
    target = database if rule["avID"] == database.id else find(workspace, rule["avID"])
    if target is not None:
        back = target.key(rule["backKeyID"])
        back_rule = back["relation"] if back is not None else None
        if back_rule is not None and back_rule["avID"] == database.id and back_rule["isTwoWay"]:
            back_rule.update(isTwoWay=False, backKeyID="")
        if removes_back:
            target.data["keyValues"] = [one for one in target.columns() if one["key"]["id"] != rule["backKeyID"]]
            item_templates.forget_key(target, rule["backKeyID"])
            for view in target.views():
                fields = fields_of(view)
                fields[:] = [one for one in fields if one["id"] != rule["backKeyID"]]
        if target is not database:
            save(workspace, target)
            tell_reload(workspace, target.id)
        if not _relates_to(target, database.id, but=rule["backKeyID"]):
            drop_relation(workspace, target.id, database.id)
    if not _relates_to(database, rule["avID"]):
        drop_relation(workspace, database.id, rule["avID"])


def _relates_to(database: Database, target_id: str, *, but: str = "") -> bool:
    rules = (key["relation"] for key in database.all_keys() if key["type"] == "relation" and key["id"] != but)
    return any(rule is not None and rule["avID"] == target_id for rule in rules)


# --- order -----------------------------------------------------------------------------------------------------------
def sort_key(workspace: Workspace, database_id: str, key_id: str, previous_id: str) -> None:
    """Put a key behind another in the order of a block's panel; first without one. Raises ViewError."""
    if key_id == previous_id:
        return
    database = load(workspace, database_id)
    mend_key_order(database)
    order = database.data["keyIDs"]
    if key_id in order:
        order.remove(key_id)
        order.insert(order.index(previous_id) + 1 if previous_id in order else 0, key_id)
        save(workspace, database)


def mend_key_order(database: Database) -> None:
    """Every key has its place in the order, keys that are gone have none."""
    keys = [key["id"] for key in database.all_keys()]
    known = database.data["keyIDs"] or []
    database.data["keyIDs"] = [key_id for key_id in unique([*known, *keys]) if key_id in keys] or None


def sort_field(workspace: Workspace, database_id: str, block_id: str, key_id: str, previous_id: str) -> None:
    """Put a field of a view behind another; first without one. Raises ViewError."""
    if key_id == previous_id:
        return
    database = load(workspace, database_id)
    fields = fields_of(block_view(workspace, database, block_id))
    moved = next((one for one in fields if one["id"] == key_id), None)
    if moved is not None:
        fields.remove(moved)
        at = next((index + 1 for index, one in enumerate(fields) if one["id"] == previous_id), 0)
        fields.insert(at, moved)
    save(workspace, database)


# --- options -----------------------------------------------------------------------------------------------------------
def set_options(workspace: Workspace, database_id: str, key_id: str, given: Any) -> None:
    """Give a key options: new ones are added, known ones take colour and description; else it is their new order."""
    database = load(workspace, database_id)
    try:
        options = read(ListOf(OPTION, is_optional=True), given) or []
    except Mismatch as error:
        raise ViewError(str(error)) from error
    options = [option for option in options if option is not None and option["name"]]
    key = database.key(key_id)
    if not options or key is None:
        return
    known = {option["name"]: option for option in key["options"] or ()}
    fresh = [made(OPTION, **option) for option in options if option["name"] not in known]
    for option in options:
        if option["name"] in known:
            known[option["name"]].update(color=option["color"], desc=option["desc"])
    kept = list(key["options"] or ())
    if not fresh:
        places = {option["name"]: index for index, option in enumerate(options)}
        kept.sort(key=lambda option: places.get(option["name"], 0))
    key["options"] = [*kept, *fresh]
    regroup_all(around(workspace), database)
    save(workspace, database)


def remove_option(workspace: Workspace, database_id: str, key_id: str, name: str) -> None:
    """Remove an option from its key, from values, filters and templates. Raises ViewError."""
    database = load(workspace, database_id)
    key = database.required_key(key_id)
    key["options"] = [option for option in key["options"] or () if option["name"] != name]
    item_templates.forget_option(database, key_id, name)
    column = database.column(key_id)
    for value in values_in(column) if column is not None else ():
        if value["mSelect"] is not None:
            value["mSelect"] = [one for one in value["mSelect"] if one["content"] != name]
    for view in database.views():
        drop_option(view, key_id, name)
    regroup_all(around(workspace), database)
    save(workspace, database)


def change_option(workspace: Workspace, database_id: str, key_id: str, given: Any) -> None:
    """Rename an option, give it a colour and a description; values and filters follow. Raises ViewError, Broken."""
    database = load(workspace, database_id)
    key = database.required_key(key_id)
    if not isinstance(given, dict):
        raise Broken("an option change of another form")
    old, new, desc, color = (given.get(name) for name in ("oldName", "newName", "newDesc", "newColor"))
    if not all(isinstance(one, str) for one in (old, new, desc, color)):
        raise Broken("an option change of another form")
    old, new, desc, color = str(old).strip(), str(new).strip(), str(desc).strip(), str(color)
    existing = option_of(key, new) if old != new else None
    if existing is not None:
        color = existing["color"]
    if old != new:
        item_templates.rename_option(database, key_id, old, new, color)
    option = option_of(key, old)
    if existing is None and option is not None:
        option.update(name=new, color=color, desc=desc)
    column = database.column(key_id)
    for value in values_in(column) if column is not None else ():
        _change_selected(value, old, new, color)
    for view in database.views():
        rename_option(view, key_id, old, new, color)
    regroup_all(around(workspace), database)
    save(workspace, database)


def _change_selected(value: Json, old: str, new: str, color: str) -> None:
    selected = value["mSelect"] or []
    if old != new and any(one["content"] == new for one in selected):
        value["mSelect"] = [one for one in selected if one["content"] != old]
        return
    for one in selected:
        if one["content"] == old:
            one.update(content=new, color=color)
            return
