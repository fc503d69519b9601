"""[core] Adding items to a database, copying them, removing them, and exchanging the blocks they stand for."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.workspace.documents import history_dir
from kernel.workspace.go_struct import Mismatch, read
from kernel.workspace.views.binding import (
    Setter,
    bind,
    bound_node,
    find_node,
    item_text,
    refresh_referring,
    release,
    unbind,
)
from kernel.workspace.views.cells import ADDED, know_options, mirror_relation
from kernel.workspace.views.database import Database, ViewError, value_in, values_in, view_not_found
from kernel.workspace.views.format import VALUE, Json, cloned_value
from kernel.workspace.views.grouping import DEFAULT, group_by_id, group_value, regroup_all
from kernel.workspace.views.item_templates import forget_items
from kernel.workspace.views.moments import SECOND_MS, Broken, Moment
from kernel.workspace.views.presets import preset_values
from kernel.workspace.views.rendering import Around, around
from kernel.workspace.views.showing import block_view
from kernel.workspace.views.store import find, load, mirrors, path_of, referring, save, tell_reload
from kernel.workspace.views.values import content_of, is_filled, keep, member_of, new_value

if TYPE_CHECKING:
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document, Workspace

# Fields whose cells are made when they are shown: they are not copied.
_NEVER_COPIED: Final = ("block", "rollup", "created", "updated")


@dataclass(frozen=True, slots=True)
class Where:
    """Where new items go: the block that shows the database, its view and group, the item they follow."""

    block_id: str = ""
    view_id: str = ""
    group_id: str = ""
    previous_id: str = ""
    ignores_presets: bool = False


@dataclass(slots=True)
class NewItem:
    """An item to come: detached with a text, or standing for a block."""

    item_id: str
    is_detached: bool
    content: str = ""
    document: Document | None = None
    node: Node | None = None

    @property
    def block_id(self) -> str:
        return "" if self.node is None else self.node.id


def add_items(workspace: Workspace, put: Setter, database_id: str, sources: list[dict[str, Any]], where: Where) -> None:
    """Add items, the last one first, so that they stand in the order given.

    Raises:
        ViewError, NotFound: no such database, view or block; what stands before it in the order has been added.
        Broken: a source of another form.
    """
    moment = Moment.of(workspace)
    for source in reversed(sources):
        item = _source_item(workspace, source)
        if item is not None:
            _add(Around(workspace, moment), put, database_id, item, source, where)


def _source_item(workspace: Workspace, source: dict[str, Any]) -> NewItem | None:
    item_id = source.get("itemID")
    item_id = workspace.new_id() if item_id is None else item_id
    is_detached, content = source.get("isDetached"), source.get("content")
    content = "" if content is None else content
    if not isinstance(item_id, str) or not isinstance(is_detached, bool) or not isinstance(content, str):
        raise Broken("a source of another form")
    if is_detached:
        return NewItem(item_id or workspace.new_id(), True, content)
    block_id = source.get("id")
    if not isinstance(block_id, str):
        raise Broken("a source without a block")
    if not is_node_id(block_id):
        return None
    document, node = bound_node(workspace, block_id)
    return NewItem(item_id, False, content, document, node)


def _add(place: Around, put: Setter, database_id: str, item: NewItem, source: dict[str, Any], where: Where) -> None:
    workspace = place.workspace
    database = load(workspace, database_id)
    icon = ""
    if item.node is not None:
        icon, text = item_text(workspace, item.node)
        item.content = html.unescape(text)
    if _is_known(place, put, database, item, icon, source):
        return
    column = database.primary()
    if column is None:
        raise Broken("a database without a primary key")
    now = place.moment.now_ms
    block = {"id": item.block_id, "icon": icon, "content": item.content, "created": now, "updated": now}
    value = new_value("block", id=place.moment.new_id(), keyID=column["key"]["id"], blockID=item.item_id, block=block)
    value.update(isDetached=item.is_detached, createdAt=now, updatedAt=now)
    values_in(column).append(value)
    view = block_view(workspace, database, where.block_id)
    if where.view_id:
        chosen = database.view(where.view_id)
        if chosen is None:
            raise view_not_found()
        view = chosen
    if not where.ignores_presets:
        group = group_by_id(view, where.group_id) if where.group_id else view
        if group is None:
            raise Broken(f"no group {where.group_id}")
        fill_presets(place, database, view, group, where.previous_id, item.item_id, is_new=True)
    _fill_dates(place, database, item)
    if item.node is not None and item.document is not None:
        bind(workspace, put, database_id, item.document, item.node)
    for one in database.views():
        _put_in_order(one, item.item_id, where.previous_id, is_first=not where.previous_id)
    regroup_all(place, database)
    save(workspace, database)


def _is_known(place: Around, put: Setter, database: Database, item: NewItem, icon: str, source: dict[str, Any]) -> bool:
    """A block that is there already is bound once more; the windows are told."""
    known = database.item_of_block(item.block_id) if item.block_id else None
    if known is None or item.document is None or item.node is None:
        return False
    bind(place.workspace, put, database.id, item.document, item.node)
    known.update(isDetached=False, updatedAt=place.moment.now_ms)
    known["block"].update(icon=icon, content=item.content)
    save(place.workspace, database)
    text = f"This block has already been added to the database [{html.escape(database.name, quote=True)}]"
    told = {"id": place.workspace.ids.text(7), "closeTimeout": 5000}
    place.workspace.emit("msg", told, to=("main",), msg=text)
    source["itemID"] = known["blockID"]
    return True


def _put_in_order(view: Json, item_id: str, previous_id: str, *, is_first: bool) -> None:
    """Take an item into the order of a view and its groups: first, behind another, or last."""
    for holder, name in [(view, "itemIds"), *((group, "groupItemIds") for group in view["groups"] or ())]:
        ids = list(holder[name] or ())
        at = ids.index(previous_id) + 1 if previous_id in ids else 0 if is_first else len(ids)
        holder[name] = [*ids[:at], item_id, *ids[at:]]


def _fill_dates(place: Around, database: Database, item: NewItem) -> None:
    """Dates that are filled with the present for new items."""
    now = place.moment.now_ms
    for column in database.columns():
        key, rule = column["key"], column["key"]["date"]
        if key["type"] != "date" or rule is None or not rule["autoFillNow"]:
            continue
        value = value_in(column, item.item_id)
        if value is None:
            value = new_value("date", id=place.moment.new_id(), keyID=key["id"], blockID=item.item_id)
            value["isDetached"] = item.is_detached
            values_in(column).append(value)
        elif not is_filled(value):
            continue
        keep(value)
        value.update(createdAt=now, updatedAt=now + SECOND_MS)
        date = value["date"] or {"hasEndDate": False, "content2": 0, "isNotEmpty2": False, "formattedContent": ""}
        value["date"] = {**date, "content": now, "isNotEmpty": True, "isNotTime": not rule["fillSpecificTime"]}


def fill_presets(
    place: Around,
    database: Database,
    view: Json,
    group: Json,
    previous_id: str,
    item_id: str,
    *,
    is_new: bool,
) -> None:
    """Give an item what the view's filter and the group want of it."""
    presets = preset_values(place, database, view, group, previous_id, item_id, is_new=is_new)
    name = group_value(group, place.moment)
    for key_id, value in presets.items():
        column = database.column(key_id)
        value["blockID"] = item_id
        kind = value["type"]
        if column is None or kind == "rollup":
            continue
        key = column["key"]
        if kind in ("select", "mSelect") and not value["mSelect"] and name != DEFAULT:
            option = next((one for one in key["options"] or () if one["name"] == name), None)
            if option is not None:
                value["mSelect"] = [{"content": option["name"], "color": option["color"]}]
        if kind == "relation" and key["relation"] is not None and key["relation"]["isTwoWay"]:
            mirror_relation(place, database, key, value, ADDED, [])
        existing = value_in(column, item_id)
        if existing is None:
            values_in(column).append(value)
        elif existing["type"] != "block" or existing["isDetached"]:
            keep(existing)
            existing[member_of(key["type"])] = content_of(value, key["type"])


# --- with values, and copies -----------------------------------------------------------------------------------------
def append_with_values(workspace: Workspace, database_id: str, rows: list[list[Json]]) -> None:
    """Add detached items at the end, each with the given values. Raises ViewError, Broken."""
    place = around(workspace)
    database = load(workspace, database_id)
    now = place.moment.now_ms
    added = []
    for row in rows:
        if not row:
            raise Broken("an item without values")
        item_id = row[0]["blockID"] or place.moment.new_id()
        added.append(item_id)
        for value in row:
            _take_value(place, database, value, item_id, now)
    for view in database.views():
        view["itemIds"] = [*(view["itemIds"] or ()), *added]
    regroup_all(place, database)
    save(workspace, database)
    tell_reload(workspace, database_id)


def _take_value(place: Around, database: Database, value: Json, item_id: str, now: int) -> None:
    column = database.column(value["keyID"])
    if column is None:
        raise ViewError(f"key [{value['keyID']}] not found")
    kind = column["key"]["type"]
    value.update(id=place.moment.new_id(), blockID=item_id, type=kind, isDetached=True, createdAt=now, updatedAt=now)
    if kind == "block":
        if value["block"] is None:
            raise Broken("a primary value without a block")
        value["block"].update(created=now, updated=now, id="")
    values_in(column).append(value)
    if kind in ("select", "mSelect") and value["mSelect"]:
        know_options(column["key"], value["mSelect"], "")


def read_value(given: Any) -> Json:
    """A value from a call. Raises ViewError."""
    try:
        value: Json = read(VALUE, given)
    except Mismatch as error:
        raise ViewError(str(error)) from error
    return value


def duplicate_item(workspace: Workspace, database_id: str, source_id: str, previous_id: str, item_id: str) -> list[str]:
    """Copy an item as a detached one; databases whose relations now name it too. Raises ViewError."""
    place = around(workspace)
    database = load(workspace, database_id)
    primary = database.primary()
    source = database.item(source_id)
    if primary is None or source is None:
        raise ViewError(f"source row [{source_id}] not found in attribute view [{database_id}]")
    item_id = item_id or place.moment.new_id()
    now = place.moment.now_ms
    block = {"id": "", "icon": "", "content": source["block"]["content"], "created": now, "updated": now}
    value = new_value("block", id=place.moment.new_id(), keyID=primary["key"]["id"], blockID=item_id, block=block)
    value.update(isDetached=True, createdAt=now, updatedAt=now)
    values_in(primary).append(value)
    touched = []
    for column in database.columns():
        original = value_in(column, source_id)
        if column["key"]["type"] in _NEVER_COPIED or original is None:
            continue
        touched += _copy_cell(place, database, column, original, item_id)
    for view in database.views():
        _put_in_order(view, item_id, previous_id, is_first=False)
    regroup_all(place, database)
    save(workspace, database)
    for one in touched:
        tell_reload(workspace, one)
    return touched


def _copy_cell(place: Around, database: Database, column: Json, original: Json, item_id: str) -> list[str]:
    """Copy one cell; the other databases that this has changed."""
    now, key = place.moment.now_ms, column["key"]
    value = cloned_value(original)
    value.update(id=place.moment.new_id(), blockID=item_id, isDetached=False, createdAt=now, updatedAt=now)
    if value["relation"] is not None:
        value["relation"]["contents"] = None
    if value["type"] in ("select", "mSelect") and value["mSelect"]:
        know_options(key, value["mSelect"], "")
    values_in(column).append(value)
    rule = key["relation"]
    if value["type"] != "relation" or rule is None or not rule["isTwoWay"] or not value["relation"]["blockIDs"]:
        return []
    mirror_relation(place, database, key, value, ADDED, [])
    return [] if rule["avID"] == database.id else [rule["avID"]]


# --- removing --------------------------------------------------------------------------------------------------------
def remove_items(workspace: Workspace, put: Setter, database_id: str, item_ids: list[str]) -> None:
    """Remove items; the blocks they stand for are released. Raises ViewError."""
    place = around(workspace)
    database = load(workspace, database_id)
    targets = []
    for column in database.columns():
        gone = [value for value in values_in(column) if value["blockID"] in item_ids]
        if gone and column["key"]["type"] == "relation" and column["key"]["relation"] is not None:
            targets.append(column["key"]["relation"]["avID"])
        for value in gone:
            if not value["isDetached"] and value["block"] is not None:
                found = find_node(workspace, value["block"]["id"])
                if found is not None:
                    release(workspace, put, database_id, *found)
        column["values"] = [value for value in values_in(column) if value["blockID"] not in item_ids]
    for view in database.views():
        view["itemIds"] = [one for one in view["itemIds"] or () if one not in item_ids]
    forget_items(database, database_id, item_ids)
    regroup_all(place, database)
    save(workspace, database)
    _forget_in_templates(workspace, database_id, item_ids)
    refresh_referring(workspace, database_id)
    for target in dict.fromkeys(targets):
        if target and target != database_id:
            tell_reload(workspace, target)
    _keep_history(workspace, database_id)


def _forget_in_templates(workspace: Workspace, database_id: str, item_ids: list[str]) -> None:
    for other_id in referring(workspace, database_id):
        other = find(workspace, other_id) if other_id != database_id else None
        if other is not None and forget_items(other, database_id, item_ids):
            save(workspace, other)
            tell_reload(workspace, other_id)


def _keep_history(workspace: Workspace, database_id: str) -> None:
    """The documents that show the database, and the database, as they are now, go into history."""
    folder = history_dir(workspace, "update")
    for block_id in mirrors(workspace, database_id):
        entry = workspace.blocks.entry_of(block_id)
        if entry is not None:
            workspace.files.copy(f"data/{entry.box}{entry.path}", f"{folder}/{entry.box}{entry.path}")
    workspace.files.copy(path_of(database_id), f"{folder}/storage/av/{database_id}.json")


# --- exchanging the block ----------------------------------------------------------------------------------------------
def replace_block(
    place: Around, database: Database, put: Setter, old_id: str, new_id: str, *, is_detached: bool
) -> tuple[str, bool]:
    """Let an item stand for another block, or for none: (the item, whether it was there already)."""
    workspace = place.workspace
    found = None if is_detached else find_node(workspace, new_id)
    known = database.item_of_block(new_id) if found is not None else None
    if found is not None and known is not None:
        bind(workspace, put, database.id, *found)
        icon, text = item_text(workspace, found[1])
        known.update(isDetached=False, updatedAt=place.moment.now_ms)
        known["block"].update(icon=icon, content=html.unescape(text))
        regroup_all(place, database)
        return known["blockID"], known["blockID"] != old_id
    for value in database.items():
        if value["blockID"] != old_id:
            continue
        value["isDetached"] = is_detached
        block = value["block"]
        if is_detached:
            block["id"] = ""
            continue
        if block["id"] and block["id"] != new_id:
            unbind(workspace, put, database.id, block["id"])
        icon, text = "", ""
        if found is not None:
            bind(workspace, put, database.id, *found)
            icon, text = item_text(workspace, found[1])
        block.update(id=new_id, icon=icon, content=html.unescape(text))
        refresh_referring(workspace, database.id)
    regroup_all(place, database)
    return old_id, False
