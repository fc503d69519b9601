"""[core] Relation and rollup keys: what they lead to, and the two-way ones' other side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernel.workspace.go_struct import Mismatch, read
from kernel.workspace.views import item_templates
from kernel.workspace.views.cells import add_related
from kernel.workspace.views.database import Database, ViewError, new_key, values_in
from kernel.workspace.views.filter_tree import drop_conditions
from kernel.workspace.views.format import KEY_VALUES, ROLLUP, Json, fields_of, made, new_field
from kernel.workspace.views.grouping import regroup_all
from kernel.workspace.views.rendering import Around, around
from kernel.workspace.views.store import drop_relation, find, load, note_relation, save, tell_reload

if TYPE_CHECKING:
    from kernel.workspace.operations import Operation
    from kernel.workspace.workspace import Workspace


def set_rollup(
    workspace: Workspace, database_id: str, key_id: str, relation_id: str, target_id: str, data: Any
) -> None:
    """Let a rollup gather a key of the database that a relation leads to. Raises ViewError."""
    database = load(workspace, database_id)
    key = database.key(key_id)
    if key is None or data is None:
        return
    calc = data.get("calc") if isinstance(data, dict) else None
    try:
        key["rollup"] = read(ROLLUP, {"relationKeyID": relation_id, "keyID": target_id, "calc": calc})
    except Mismatch as error:
        raise ViewError(str(error)) from error
    for view in database.views():
        drop_conditions(view, lambda node: node["column"] != key_id)
    save(workspace, database)


def set_relation(workspace: Workspace, operation: Operation) -> None:
    """Let a relation key lead to a database, one way or two ways. Raises ViewError.

    Of the operation: ``avID`` and ``keyID`` the relation, ``id`` the other database, ``isTwoWay`` and
    ``backRelationKeyID`` the way back, ``format`` the relation's name, ``name`` that of the way back.
    """
    place = around(workspace)
    source = load(workspace, operation["avID"])
    target = load(workspace, operation.id)
    if source.id == target.id:
        target = source
    key = source.key(operation["keyID"])
    former = ""
    if key is not None:
        former = _leave(workspace, source, target, key)
        back_id = operation["backRelationKeyID"] if operation["isTwoWay"] else ""
        key["relation"] = {"avID": operation.id, "isTwoWay": operation["isTwoWay"], "backKeyID": back_id}
        key["name"] = operation["format"]
    if former != operation.id:
        item_templates.forget_key(source, operation["keyID"])
    _set_way_back(place, source, target, operation)
    regroup_all(place, source)
    save(workspace, source)
    if target is not source:
        regroup_all(place, target)
        save(workspace, target)
        tell_reload(workspace, target.id)
    note_relation(workspace, source.id, target.id)
    if operation["isTwoWay"] and target is not source:
        note_relation(workspace, target.id, source.id)
    if former not in ("", operation.id, source.id):
        tell_reload(workspace, former)


def _leave(workspace: Workspace, source: Database, target: Database, key: Json) -> str:
    """Part from the database that a relation has led to so far; its id."""
    rule = key["relation"]
    if rule is None:
        return ""
    if rule["isTwoWay"]:
        other = target if rule["avID"] == target.id else find(workspace, rule["avID"])
        back = other.key(rule["backKeyID"]) if other is not None else None
        if back is not None and back["relation"] is not None and back["relation"]["avID"] == source.id:
            back["relation"].update(isTwoWay=False, backKeyID="")
        if other is not None and other is not target:
            save(workspace, other)
    drop_relation(workspace, source.id, rule["avID"])
    return str(rule["avID"])


def _set_way_back(place: Around, source: Database, target: Database, operation: Operation) -> None:
    back_id, is_two_way = operation["backRelationKeyID"], operation["isTwoWay"]
    name = operation["name"].strip() or f"{source.data['name']} {operation['format']}".strip()
    rule = {"avID": operation["avID"], "isTwoWay": is_two_way, "backKeyID": operation["keyID"] if is_two_way else ""}
    back = target.key(back_id)
    if back is not None:
        back["relation"] = rule
        if is_two_way:
            back["name"] = name
        return
    if not is_two_way:
        return
    key = new_key(back_id, name, "relation")
    key["relation"] = rule
    column = made(KEY_VALUES, key=key)
    target.columns().append(column)
    for view in target.views():
        fields_of(view).append(new_field(view["type"], back_id))
    own = source.column(operation["keyID"])
    for value in values_in(own) if own is not None else ():
        for item_id in (value["relation"] or {}).get("blockIDs") or ():
            add_related(place, column, item_id, value["blockID"])
