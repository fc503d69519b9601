"""[core] Questions about databases that show no view: which there are, their keys and items, what a block is bound to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.attributes import attributes_of
from kernel.workspace.documents import history_dir
from kernel.workspace.go_struct import written
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.views.binding import BOUND_TO, bind, find_node, release, set_at_once, unbind
from kernel.workspace.views.columns import mend_key_order
from kernel.workspace.views.database import Database, values_in
from kernel.workspace.views.format import DATABASE, KEY_VALUES, Json
from kernel.workspace.views.moments import Broken
from kernel.workspace.views.rendering import around, render
from kernel.workspace.views.showing import view_to_show
from kernel.workspace.views.similarity import similarity
from kernel.workspace.views.store import (
    all_ids,
    decoded,
    find,
    load,
    mirrors,
    note_shown,
    path_of,
    referring,
    save,
    shown_in,
)
from kernel.workspace.views.values import text_of

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

SEARCH_RESULTS_MAX: Final = 12
UNUSED_LISTED_MAX: Final = 512
PAGE_SIZE: Final = 16


# --- items and keys --------------------------------------------------------------------------------------------------
def primary_values(workspace: Workspace, database_id: str, keyword: str, page: int, page_size: int) -> Json:
    """Items by their text, those changed last first. Raises ViewError, Broken."""
    place = around(workspace)
    database = load(workspace, database_id)
    column = database.primary()
    if column is None:
        raise Broken("a database without a primary key")
    found = [
        value
        for value in values_in(column)
        if (value["isDetached"] or workspace.block_exists(value["block"]["id"]))
        and keyword.lower() in text_of(value, place.moment).lower()
    ]
    found.sort(key=lambda value: -value["block"]["updated"])
    size = page_size if page_size > 0 else PAGE_SIZE
    start = (page - 1) * size
    if start < 0 or start > len(found):
        raise Broken("a page that is not there")
    rows = written(KEY_VALUES, {"key": column["key"], "values": found[start : start + size]})
    return {"name": database.name, "blockIDs": mirrors(workspace, database_id), "rows": rows}


def item_ids(workspace: Workspace, database_id: str, block_ids: list[str]) -> dict[str, str]:
    """Block → the item it stands for; "" for none."""
    database = find(workspace, database_id)
    bound = {value["block"]["id"]: value["blockID"] for value in database.items()} if database is not None else {}
    return {block_id: bound.get(block_id, "") for block_id in block_ids}


def block_ids(workspace: Workspace, database_id: str, asked: list[str]) -> dict[str, str]:
    """Item → the block that stands for it; "" for none."""
    database = find(workspace, database_id)
    bound = {value["blockID"]: value["block"]["id"] for value in database.items()} if database is not None else {}
    return {item_id: bound.get(item_id, "") for item_id in asked}


def item_keys(workspace: Workspace, database_id: str, item_id: str, value_id: str) -> list[Json]:
    """What an item of a database holds, as the panel shows it."""
    database = find(workspace, database_id)
    if database is None:
        return []
    if database.item(item_id) is None and value_id:
        item_id = next((value["blockID"] for value in database.items() if value["id"] == value_id), item_id)
    if database.item(item_id) is None:
        return []
    return [_panel(workspace, database, item_id, "", keeps_empty=False)]


def block_keys(workspace: Workspace, block_id: str) -> list[Json]:
    """What the items that a block stands for hold, database by database."""
    found: list[Json] = []
    bound_to = attributes_of(workspace, block_id).get(BOUND_TO, "")
    for database_id in bound_to.split(",") if bound_to else ():
        database = find(workspace, database_id)
        if database is None:
            continue
        item = database.item_of_block(block_id)
        if item is None:
            # A block that was cut and pasted carries the attribute, but has another id.
            unbind(workspace, set_at_once(workspace), database_id, block_id)
            return found
        if not _find_mirrors(workspace, database_id):
            release(workspace, set_at_once(workspace), database_id, *workspace.node(block_id))
            continue
        found.append(_panel(workspace, database, item["blockID"], block_id, keeps_empty=True))
    return found


def _find_mirrors(workspace: Workspace, database_id: str) -> bool:
    """Whether a block shows a database; blocks that nobody has noted are looked for."""
    if mirrors(workspace, database_id):
        return True
    for document in workspace.documents():
        for node in document.root.walk():
            if node.fields.get("AttributeViewID") == database_id and node.type == "NodeAttributeView":
                note_shown(workspace, database_id, node.id)
    return bool(mirrors(workspace, database_id))


def _panel(workspace: Workspace, database: Database, item_id: str, block_id: str, *, keeps_empty: bool) -> Json:
    view = view_to_show(workspace, database, "", block_id)
    render(around(workspace), database, view)
    columns = []
    for column in database.columns():
        values = [value for value in values_in(column) if value["blockID"] == item_id]
        if column["key"]["type"] != "lineNumber" and (values or keeps_empty):
            columns.append({"key": column["key"], "values": values})
    told = [written(KEY_VALUES, column) for column in columns]
    mend_key_order(database)
    order = {key_id: index for index, key_id in enumerate(database.data["keyIDs"] or ())}
    told.sort(key=lambda column: order.get(column["key"]["id"], 0))
    save(workspace, database)
    return {
        "avID": database.id,
        "avName": database.name,
        "blockIDs": mirrors(workspace, database.id),
        "keyValues": told,
    }


# --- backlinks -------------------------------------------------------------------------------------------------------
def backlinks(workspace: Workspace, block_id: str, database_id: str, item_id: str, value_id: str) -> Json:
    """Items of other databases that relate to one item, or to the items that a block stands for."""
    found: dict[tuple[str, str], Json] = {}
    for target_id, target_item in _backlink_targets(workspace, block_id, database_id, item_id, value_id):
        for source_id in referring(workspace, target_id):
            source = find(workspace, source_id)
            if source is not None:
                _add_backlinks(workspace, source, target_id, target_item, found)
    items = sorted(found.values(), key=lambda one: (one["avName"], one["title"], one["itemID"]))
    return {"total": len(items), "items": items}


def _backlink_targets(
    workspace: Workspace, block_id: str, database_id: str, item_id: str, value_id: str
) -> list[tuple[str, str]]:
    if database_id and (item_id or value_id):
        database = find(workspace, database_id)
        for value in database.items() if database is not None else ():
            if value["blockID"] == item_id or (value_id and value["id"] == value_id):
                return [(database_id, value["blockID"])]
        return []
    targets = []
    for bound_id in attributes_of(workspace, block_id).get(BOUND_TO, "").split(","):
        database = find(workspace, bound_id)
        item = database.item_of_block(block_id) if database is not None else None
        if item is not None:
            targets.append((bound_id, item["blockID"]))
    return targets


def _add_backlinks(
    workspace: Workspace, source: Database, target_id: str, target_item: str, found: dict[tuple[str, str], Json]
) -> None:
    for column in source.columns():
        key, rule = column["key"], column["key"]["relation"]
        if key["type"] != "relation" or rule is None or rule["avID"] != target_id:
            continue
        relation = {"keyID": key["id"], "keyName": key["name"], "targetAvID": target_id, "targetItemID": target_item}
        for value in values_in(column):
            item = source.item(value["blockID"])
            if item is None or target_item not in ((value["relation"] or {}).get("blockIDs") or ()):
                continue
            place = (source.id, value["blockID"])
            if place not in found:
                found[place] = _backlink(workspace, source, item)
            if relation not in found[place]["relations"]:
                found[place]["relations"].append(relation)


def _backlink(workspace: Workspace, source: Database, item: Json) -> Json:
    entries = {block_id: workspace.blocks.entry_of(block_id) for block_id in mirrors(workspace, source.id)}
    ordered = sorted(
        entries, key=lambda one: (getattr(entries[one], "hpath", ""), getattr(entries[one], "box", ""), one)
    )
    first = entries[ordered[0]] if ordered else None
    block = item["block"]
    return {
        "avID": source.id,
        "avName": source.name,
        "blockIDs": ordered,
        "databaseBlockID": ordered[0] if ordered else "",
        "boxID": first.box if first is not None else "",
        "databasePath": first.hpath if first is not None else "",
        "itemID": item["blockID"],
        "valueID": item["id"],
        "title": block["content"],
        "icon": block["icon"],
        "boundBlockID": block["id"],
        "isDetached": item["isDetached"] or not block["id"],
        "relations": [],
    }


# --- which there are -------------------------------------------------------------------------------------------------
def search(workspace: Workspace, keyword: str, excluded: list[str]) -> list[Json]:
    """Databases whose name holds every word, the most alike first; without words those changed last."""
    words = keyword.split()
    shown = shown_in(workspace)
    hits: list[tuple[float, float, str, str]] = []
    for database_id in all_ids(workspace):
        database = find(workspace, database_id) if database_id in shown and database_id not in excluded else None
        if database is None:
            continue
        name = database.data["name"]
        if all(word.lower() in name.lower() for word in words):
            stat = workspace.files.stat(path_of(database_id))
            score = sum(similarity(name, word) for word in words)
            hits.append((-score, -(stat.mtime_s if stat is not None else 0.0), database_id, name))
    hits.sort(key=lambda hit: hit[:2])
    results = (_search_result(workspace, shown[hit[2]], hit[2], hit[3]) for hit in hits[:SEARCH_RESULTS_MAX])
    return [result for result in results if result is not None]


def _search_result(workspace: Workspace, block_ids: list[str], database_id: str, name: str) -> Json | None:
    database = find(workspace, database_id)
    for block_id in block_ids:
        found = find_node(workspace, block_id)
        if database is None or found is None or found[1].type != "NodeAttributeView":
            continue
        entry = workspace.blocks.documents[found[0].id]
        notebook = workspace.notebooks.opened(entry.box)
        hpath = (notebook.name if notebook is not None else "") + entry.hpath
        head = {"avID": database_id, "avName": name}
        place = {"blockID": block_id, "hPath": hpath}
        children = [
            {**head, "viewName": view["name"], "viewID": view["id"], "viewLayout": view["type"], **place}
            for view in database.views()
        ]
        result: Json = {**head, "viewName": "", "viewID": "", "viewLayout": "", **place}
        return {**result, "children": children} if children else result
    return None


def unused(workspace: Workspace) -> list[Json]:
    """Databases that no document and no template shows or names, nor any that leads to them; the newest first."""
    known = all_ids(workspace)
    used = _named_in_documents(workspace, set(known)) | _named_in_templates(workspace, known)
    found = []
    for database_id in known:
        if not _is_reached(workspace, database_id, used, set()):
            stat = workspace.files.stat(path_of(database_id))
            database = find(workspace, database_id)
            name = database.data["name"] if database is not None else ""
            found.append((stat.mtime_s if stat is not None else 0.0, database_id, name))
    return [{"item": database_id, "name": name} for _, database_id, name in sorted(found, reverse=True)]


def _named_in_documents(workspace: Workspace, known: set[str]) -> set[str]:
    used: set[str] = set()
    for document in workspace.documents():
        for node in document.root.walk():
            if node.type == "NodeAttributeView":
                used.add(str(node.fields.get("AttributeViewID", "")))
            for value in node.properties.values():
                used |= known.intersection(re.findall(r"\d{14}-[0-9a-z]{7}", unescaped_attribute(value)))
    return used


def _named_in_templates(workspace: Workspace, known: list[str]) -> set[str]:
    used: set[str] = set()
    for path, _ in workspace.files.walk("data/templates"):
        content = workspace.files.read(path)
        used |= {database_id for database_id in known if database_id.encode() in content}
    return used


def _is_reached(workspace: Workspace, database_id: str, used: set[str], seen: set[str]) -> bool:
    if database_id in used:
        return True
    seen.add(database_id)
    sources = [one for one in referring(workspace, database_id) if one not in seen]
    return any(_is_reached(workspace, one, used, seen) for one in sources)


def remove_unused(workspace: Workspace, database_ids: list[str]) -> list[tuple[str, int]]:
    """Move databases into history: (path, bytes) of each that was there."""
    folder = f"{history_dir(workspace, 'clean')}/storage/av"
    gone = []
    for database_id in database_ids:
        path = path_of(database_id)
        stat = workspace.files.stat(path)
        if stat is None:
            continue
        workspace.files.copy(path, f"{folder}/{database_id}.json")
        workspace.files.remove(path)
        workspace.view_files.pop(database_id, None)
        gone.append((workspace.files.absolute(path), stat.size))
    return gone


def duplicate(workspace: Workspace, database_id: str) -> tuple[str, str]:
    """Copy a database: its new id, and the id of a block to show it, which is in no document yet. Raises ViewError."""
    place = around(workspace)
    database = load(workspace, database_id)
    copy_id, block_id = place.moment.new_id(), place.moment.new_id()
    text = workspace.files.read(path_of(database_id)).decode().replace(database_id, copy_id)
    twin = decoded(workspace, text.encode())
    note_shown(workspace, copy_id, block_id)
    if twin.data["name"]:
        twin.data["name"] = f"{database.data['name']} (Duplicated {place.moment.now:%Y-%m-%d %H:%M:%S})"
    for key in twin.all_keys():
        if key["relation"] is not None and key["relation"]["isTwoWay"]:
            key["relation"].update(isTwoWay=False, backKeyID="")
    save(workspace, twin)
    put = set_at_once(workspace)
    for value in twin.bound_items():
        found = find_node(workspace, value["block"]["id"])
        if found is not None:
            bind(workspace, put, copy_id, *found)
    return copy_id, block_id


def database_json(database: Database) -> Any:
    """A database as its file says it."""
    return written(DATABASE, database.data)
