"""[core] Changing cells: what is given is laid over what is there; options, bound blocks and relations follow."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.go_struct import Mismatch, read
from kernel.workspace.views.binding import (
    Setter,
    bind,
    find_node,
    item_text,
    refresh_referring,
    unbind,
)
from kernel.workspace.views.database import Database, ViewError, option_of, unique, value_in, values_in
from kernel.workspace.views.format import OPTION, VALUE, Json, made
from kernel.workspace.views.grouping import regroup_all
from kernel.workspace.views.moments import SECOND_MS, Broken
from kernel.workspace.views.rendering import STATIC_TEXT, Around
from kernel.workspace.views.store import find, save, tell_reload
from kernel.workspace.views.values import empty_content, format_content, keep, new_value, touch

if TYPE_CHECKING:
    from collections.abc import Sequence

COLORS: Final = 14
# What a change does to a relation.
UNCHANGED: Final = 0
ADDED: Final = 1
REMOVED: Final = 2


def set_cell(place: Around, database: Database, key_id: str, item_id: str, given: Any, put: Setter) -> Json:
    """Give a cell a value; it is stored, and the value as it then stands is returned.

    Raises:
        ViewError: what is given is no value.
        Broken: there is no such key.
    """
    column = database.column(key_id)
    if column is None:
        raise Broken(f"no key {key_id}")
    key = column["key"]
    now = place.moment.now_ms
    item = next((value for value in database.items() if value["blockID"] == item_id), None)
    was_detached = item is None or item["isDetached"]
    old_block = item["block"]["id"] if item is not None else ""
    value = value_in(column, item_id)
    if value is None:
        value = new_value(
            key["type"], id=place.moment.new_id(), keyID=key_id, blockID=item_id, createdAt=now, updatedAt=now
        )
        values_in(column).append(value)
    value["type"] = key["type"]
    is_primary = key["type"] == "block"
    old_related = list((value["relation"] or {}).get("blockIDs") or ()) if key["type"] == "relation" else []
    try:
        read(VALUE, given, value)
    except Mismatch as error:
        raise ViewError(str(error)) from error
    keep(value)
    if not _tidy(place, value, key):
        return value
    mode = _relation_mode(value, old_related)
    if is_primary:
        _follow_block(place, put, database, value, was_detached=was_detached, old_block=old_block)
    if item is not None:
        item["block"]["updated"] = now
        touch(item, now)
        if is_primary:
            item["isDetached"] = value["isDetached"]
    touch(value, now)
    if key["type"] == "relation" and key["relation"] is not None and key["relation"]["isTwoWay"]:
        mirror_relation(place, database, key, value, mode, old_related)
    regroup_all(place, database)
    save(place.workspace, database)
    if mode != UNCHANGED and key["relation"] is not None and key["relation"]["avID"] not in ("", database.id):
        tell_reload(place.workspace, key["relation"]["avID"])
    refresh_referring(place.workspace, database.id)
    return value


def _tidy(place: Around, value: Json, key: Json) -> bool:
    """Put a value in order. False if nothing is left of it: then the kernel stops without storing it."""
    kind = value["type"]
    number, date = value["number"], value["date"]
    if kind == "number" and number is not None:
        if not number["isNotEmpty"]:
            number.update(content=0)
        format_content(number)
    elif kind == "date" and date is not None and not date["isNotEmpty"]:
        date.update(content=0, formattedContent="")
    elif kind in ("select", "mSelect") and value["mSelect"]:
        value["mSelect"] = [one for one in value["mSelect"] if one["content"]] or None
        if value["mSelect"] is None:
            return False
        know_options(key, value["mSelect"], some_color(place))
    elif kind == "relation":
        if value["relation"] is None:
            raise Broken("a relation without a relation")
        value["relation"].update(contents=None, blockIDs=unique(value["relation"]["blockIDs"] or ()) or None)
    return True


def some_color(place: Around) -> str:
    """The colour of an option that comes without one."""
    return str(1 + place.workspace.ids.entropy(1)[0] % COLORS)


def know_options(key: Json, chosen: list[Json], color: str) -> None:
    """Options that are new are added to the key; known ones keep their colour."""
    for one in chosen:
        option = option_of(key, one["content"])
        if option is None:
            added = made(OPTION, name=one["content"], color=one["color"] or color)
            key["options"] = [*(key["options"] or ()), added]
        else:
            one["color"] = option["color"]


def _relation_mode(value: Json, old: list[str]) -> int:
    if value["type"] != "relation":
        return UNCHANGED
    new = value["relation"]["blockIDs"] or []
    if old == new:
        return UNCHANGED
    return REMOVED if len(old) > len(new) else ADDED


def _follow_block(
    place: Around, put: Setter, database: Database, value: Json, *, was_detached: bool, old_block: str
) -> None:
    """A primary value has changed: the block it stands for is bound, unbound, exchanged or given a text."""
    workspace, block = place.workspace, value["block"]
    if block is None:
        raise Broken("a primary value without a block")
    if was_detached:
        if not value["isDetached"]:
            _bind_known(place, put, database.id, block["id"])
        return
    if value["isDetached"]:
        unbind(workspace, put, database.id, block["id"])
        block["id"] = ""
    elif old_block != block["id"]:
        unbind(workspace, put, database.id, old_block)
        _bind_known(place, put, database.id, block["id"])
        block["content"] = html.unescape(block["content"])
    else:
        _fix_text(place, put, database, block)


def _bind_known(place: Around, put: Setter, database_id: str, block_id: str) -> None:
    found = find_node(place.workspace, block_id)
    if found is not None:
        bind(place.workspace, put, database_id, *found)


def _fix_text(place: Around, put: Setter, database: Database, block: Json) -> None:
    """A text given to a bound item is kept at the block; an empty one lets it follow the block again."""
    text = block["content"].strip()
    found = find_node(place.workspace, block["id"])
    if found is None:
        block["content"] = text
        return
    block["content"] = text or item_text(place.workspace, found[1])[1]
    put(*found, {f"{STATIC_TEXT}-{database.id}": text})


# --- relations -------------------------------------------------------------------------------------------------------
def mirror_relation(place: Around, database: Database, key: Json, value: Json, mode: int, old: Sequence[str]) -> None:
    """A two-way relation has changed: the items it names, or names no more, say so too."""
    rule = key["relation"]
    target = database if rule["avID"] == database.id else find(place.workspace, rule["avID"])
    if target is None:
        return
    column = target.column(rule["backKeyID"])
    new = value["relation"]["blockIDs"] or []
    if column is not None and mode == ADDED:
        for item_id in [one for one in new if one not in old]:
            add_related(place, column, item_id, value["blockID"])
    elif column is not None and mode == REMOVED:
        for item_id in [one for one in old if one not in new]:
            back = value_in(column, item_id)
            if back is not None and back["relation"] is not None:
                if (related := back["relation"]["blockIDs"]) is not None:
                    # The last one leaves an empty list behind, not nothing.
                    back["relation"]["blockIDs"] = [one for one in related if one != value["blockID"]]
                touch(back, place.moment.now_ms)
    if target is not database:
        regroup_all(place, target)
        save(place.workspace, target)


def add_related(place: Around, column: Json, item_id: str, related_id: str) -> Json:
    """An item is related to one more; its relation value."""
    value = value_in(column, item_id)
    if value is None:
        now = place.moment.now_ms
        value = new_value("relation", id=place.moment.new_id(), keyID=column["key"]["id"], blockID=item_id)
        value.update(createdAt=now, updatedAt=now + SECOND_MS)
        values_in(column).append(value)
    if value["relation"] is None:
        value["relation"] = empty_content("relation")
    value["relation"]["blockIDs"] = unique([*(value["relation"]["blockIDs"] or ()), related_id])
    return value
