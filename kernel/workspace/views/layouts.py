"""[core] The views of a database: adding, copying, removing and ordering them; layout, filter, sorts and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernel.workspace.go_struct import Mismatch, read
from kernel.workspace.views.binding import Setter, find_node
from kernel.workspace.views.database import Database, ViewError, is_grouped, view_not_found
from kernel.workspace.views.filter_tree import as_root, check_depth
from kernel.workspace.views.format import (
    FILTERS,
    GROUP,
    LAYOUTS,
    SORTS,
    VIEW_NAMES,
    Json,
    copied,
    fields_of,
    made,
    new_field,
    new_layout,
    new_view,
)
from kernel.workspace.views.group_order import sort_by_option
from kernel.workspace.views.grouping import (
    BY_HAND,
    BY_OPTION,
    HIDDEN_EMPTY,
    SHOWN,
    group_by_value,
    group_key,
    regroup_all,
    restore_states,
    states_of,
)
from kernel.workspace.views.naming import duplicate_name
from kernel.workspace.views.rendering import Around, around
from kernel.workspace.views.showing import (
    VIEW_ATTRIBUTE,
    Question,
    block_view,
    board_key,
    finish,
    render_group,
    view_of_block,
)
from kernel.workspace.views.store import load, mirrors, save, tell_reload
from kernel.workspace.views.values import CHECKED

if TYPE_CHECKING:
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document, Workspace


# --- blocks show views ---------------------------------------------------------------------------------------------
def show_in_block(put: Setter, document: Document, node: Node, view: Json) -> None:
    """A database block shows a view."""
    node.fields["AttributeViewType"] = view["type"]
    put(document, node, {VIEW_ATTRIBUTE: view["id"]})


def set_block_view(workspace: Workspace, put: Setter, block_id: str, database_id: str, view_id: str) -> None:
    """Let a database block show a view, which becomes the current one. Raises ViewError, NotFound."""
    database = load(workspace, database_id)
    if database.data["viewID"] != view_id:
        database.data["viewID"] = view_id
        save(workspace, database)
    view = database.view(view_id)
    if view is None:
        raise view_not_found()
    show_in_block(put, *workspace.node(block_id), view)


# --- layout ----------------------------------------------------------------------------------------------------------
def change_layout(workspace: Workspace, put: Setter, block_id: str, database_id: str, layout: str) -> None:
    """Show a block's view in another layout; what it was in others is kept. Raises ViewError, Broken."""
    place = around(workspace)
    database = load(workspace, database_id)
    view = block_view(workspace, database, block_id)
    if view["type"] == layout:
        return
    former, view["type"] = view["type"], layout
    if layout in LAYOUTS:
        if view["name"] in VIEW_NAMES.values():
            view["name"] = VIEW_NAMES[layout]
        if view[layout] is None:
            view[layout] = new_layout(layout, place.moment.new_id())
            fields_of(view).extend(new_field(layout, one["id"]) for one in fields_of(view, former))
            if layout == "kanban" and not is_grouped(view):
                group_by(place, database, view, made(GROUP, field=board_key(place, database)["id"]))
    for mirror_id in mirrors(workspace, database_id):
        found = find_node(workspace, mirror_id)
        if mirror_id == block_id:
            database.data["viewID"] = view["id"]
        if found is not None and (mirror_id == block_id or view_of_block(workspace, mirror_id) == view["id"]):
            show_in_block(put, *found, view)
    regroup_all(place, database)
    save(workspace, database)
    tell_reload(workspace, database_id)


# --- views -------------------------------------------------------------------------------------------------------------
def add_view(workspace: Workspace, put: Setter, database_id: str, view_id: str, block_id: str, layout: str) -> None:
    """Add a view with the fields of the first; a block shows it. Raises ViewError."""
    place = around(workspace)
    database = load(workspace, database_id)
    if not database.views():
        return
    layout = layout or "table"
    if layout not in LAYOUTS:
        raise ViewError("wrong layout type")
    first = database.views()[0]
    view = new_view(layout, view_id, place.moment.new_id())
    keeps_look = layout == first["type"] == "table"
    for one in fields_of(first):
        look = {"width": one["width"], "align": one["align"]} if keeps_look else {}
        fields_of(view).append(new_field(layout, one["id"], **look))
    view["itemIds"] = list(first["itemIds"] or ())
    database.data["viewID"] = view_id
    database.views().append(view)
    if layout == "kanban":
        group_by(place, database, view, made(GROUP, field=board_key(place, database)["id"]))
    found = find_node(workspace, block_id)
    if found is None:
        return
    show_in_block(put, *found, view)
    save(workspace, database)


def duplicate_view(
    workspace: Workspace, put: Setter, database_id: str, source_id: str, view_id: str, block_id: str
) -> None:
    """Copy a view; a block shows the copy. Raises ViewError."""
    place = around(workspace)
    database = load(workspace, database_id)
    source = database.view(source_id)
    found = find_node(workspace, block_id)
    if source is None or found is None:
        raise ViewError("")
    layout = source["type"]
    twin = new_view(layout, view_id, place.moment.new_id())
    show_in_block(put, *found, twin)
    for name in ("icon", "hideAttrViewName", "desc", "pageSize"):
        twin[name] = source[name]
    twin["name"] = duplicate_name(source["name"])
    for name in ("filters", "sorts", "itemIds", "group"):
        twin[name] = copied(source[name]) if source[name] is not None else None
    for name, value in source[layout].items():
        if name not in ("id", "spec", "filters", "sorts", "pageSize", "rowIds", "cardIds", "cardAspectRatio"):
            twin[layout][name] = copied(value) if isinstance(value, list) else value
    if layout != "table":
        for one in fields_of(twin):
            one["calc"] = None
    database.views().append(twin)
    database.data["viewID"] = view_id
    if twin["group"] is not None:
        twin["groupItemIds"] = source["groupItemIds"]
        regroup_all(place, database)
    save(workspace, database)


def remove_view(workspace: Workspace, put: Setter, database_id: str, block_id: str) -> str:
    """Remove the view that a block shows, never the last; the layout of the one shown instead ("" for none)."""
    database = load(workspace, database_id)
    if len(database.views()) <= 1:
        return ""
    gone = block_view(workspace, database, block_id)
    at = database.views().index(gone)
    database.views().remove(gone)
    view = database.views()[max(0, at - 1)]
    database.data["viewID"] = view["id"]
    save(workspace, database)
    for mirror_id in mirrors(workspace, database_id):
        found = find_node(workspace, mirror_id)
        if found is not None and view_of_block(workspace, mirror_id) == gone["id"]:
            show_in_block(put, *found, view)
    return str(view["type"])


def sort_view(workspace: Workspace, database_id: str, view_id: str, previous_id: str) -> None:
    """Put a view behind another; first without one. Raises ViewError."""
    database = load(workspace, database_id)
    view = database.view(view_id)
    if view is None:
        raise ViewError("view not found")
    if view_id == previous_id:
        return
    views = database.views()
    views.remove(view)
    views.insert(next((at + 1 for at, one in enumerate(views) if one["id"] == previous_id), 0), view)
    save(workspace, database)


# --- rules -------------------------------------------------------------------------------------------------------------
def set_filters(workspace: Workspace, database_id: str, block_id: str, given: list[Any]) -> None:
    """Give a view another filter. Raises ViewError."""
    database = load(workspace, database_id)
    view = block_view(workspace, database, block_id)
    try:
        root = as_root(read(FILTERS, given) or [])
    except Mismatch as error:
        raise ViewError(str(error)) from error
    check_depth(root)
    view["filters"] = root
    save(workspace, database)


def set_sorts(workspace: Workspace, database_id: str, block_id: str, given: list[Any]) -> None:
    """Give a view other sort rules. Raises ViewError."""
    database = load(workspace, database_id)
    view = block_view(workspace, database, block_id)
    try:
        view["sorts"] = read(SORTS, given)
    except Mismatch as error:
        raise ViewError(str(error)) from error
    save(workspace, database)


def set_group(workspace: Workspace, database_id: str, block_id: str, given: Any) -> None:
    """Group a view by another rule. Raises ViewError."""
    try:
        rule = read(GROUP, given)
    except Mismatch as error:
        raise ViewError(str(error)) from error
    database = load(workspace, database_id)
    view = block_view(workspace, database, block_id)
    group_by(around(workspace), database, view, rule)
    save(workspace, database)
    tell_reload(workspace, database_id)


def group_by(place: Around, database: Database, view: Json, rule: Json) -> None:
    """Group a view by a rule; a new key brings the order that suits its type."""
    former = view["group"]
    hid_empty = former is not None and former["hideEmpty"]
    states = states_of(view, place.moment)
    view["group"] = rule
    regroup_all(place, database)
    restore_states(view, states, place.moment)
    if rule["hideEmpty"] != hid_empty:
        _hide_empty(place, database, view, hides=rule["hideEmpty"])
    if former is None or former["field"] != rule["field"]:
        _suit_order(database, view, place)
        for index, group in enumerate(view["groups"] or ()):
            group["groupSort"] = index


def _hide_empty(place: Around, database: Database, view: Json, *, hides: bool) -> None:
    before, after = (SHOWN, HIDDEN_EMPTY) if hides else (HIDDEN_EMPTY, SHOWN)
    for group in view["groups"] or ():
        shown = render_group(place, database, view, group)
        finish(place, database, view, shown, Question())
        if group["groupHidden"] == before and not shown.items:
            group["groupHidden"] = after


def _suit_order(database: Database, view: Json, place: Around) -> None:
    key = group_key(database, view)
    if key is None:
        return
    if key["type"] in ("select", "mSelect"):
        view["group"]["order"] = BY_OPTION
        sort_by_option(view, key, place.moment)
    elif key["type"] == "checkbox":
        view["group"]["order"] = BY_HAND
        found = [group_by_value(view, value, place.moment) for value in (CHECKED, "")]
        view["groups"] = [group for group in found if group is not None]
