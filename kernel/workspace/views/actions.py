"""[core] The operations on databases that ``/api/transactions`` knows, and what deeds on blocks mean for databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace import edits
from kernel.workspace.attributes import attributes_of
from kernel.workspace.documents import Refusal
from kernel.workspace.edits import CODE_DATABASE, CODE_MESSAGE, Edit, TransactionError
from kernel.workspace.limits import TITLE_RUNES_MAX
from kernel.workspace.views import columns, items, layouts, relations, view_options
from kernel.workspace.views.binding import NAMES, bind, find_node, names_of, set_in_edit, tell_names, unbind
from kernel.workspace.views.cells import set_cell
from kernel.workspace.views.database import values_in
from kernel.workspace.views.group_order import sort_groups
from kernel.workspace.views.grouping import BY_HAND, group_by_id, regroup_all
from kernel.workspace.views.item_order import sort_item
from kernel.workspace.views.item_templates import set_templates
from kernel.workspace.views.moments import Broken
from kernel.workspace.views.rendering import around
from kernel.workspace.views.showing import VIEW_ATTRIBUTE, block_view
from kernel.workspace.views.store import (
    find,
    is_mirrored,
    load,
    note_hidden,
    note_shown,
    referring,
    save,
    tell_reload,
)
from kernel.workspace.workspace import NotFound

if TYPE_CHECKING:
    from kernel.workspace.operations import Operation
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document, Workspace

Action = Callable[[Edit, "Operation"], None]


def _guarded(act: Action) -> Action:
    """An action whose refusals are those of a transaction."""

    def guarded(edit: Edit, operation: Operation) -> None:
        try:
            act(edit, operation)
        except (Refusal, NotFound) as error:
            raise TransactionError(str(error), code=CODE_DATABASE, block_id=operation["avID"]) from error
        except Broken as error:
            raise TransactionError(f"transaction panic: {error}", code=CODE_MESSAGE) from error

    return guarded


# --- items and cells ---------------------------------------------------------------------------------------------------
def _insert_items(edit: Edit, operation: Operation) -> None:
    where = items.Where(
        operation["blockID"],
        operation["viewID"],
        operation["groupID"],
        operation["previousID"],
        bool(operation["ignoreDefaultFill"]),
    )
    sources = operation["srcs"] or []
    items.add_items(edit.workspace, set_in_edit(edit), operation["avID"], sources, where)


def _remove_items(edit: Edit, operation: Operation) -> None:
    items.remove_items(edit.workspace, set_in_edit(edit), operation["avID"], list(operation["srcIDs"] or ()))


def _duplicate_item(edit: Edit, operation: Operation) -> None:
    sources = operation["srcIDs"] or [""]
    if not sources[0]:
        raise TransactionError("source row id is empty", code=CODE_DATABASE, block_id=operation["avID"])
    items.duplicate_item(edit.workspace, operation["avID"], sources[0], operation["previousID"], operation.id)


def _replace_block(edit: Edit, operation: Operation) -> None:
    database = load(edit.workspace, operation["avID"])
    target, is_duplicate = items.replace_block(
        around(edit.workspace),
        database,
        set_in_edit(edit),
        operation["previousID"],
        operation["nextID"],
        is_detached=bool(operation["isDetached"]),
    )
    save(edit.workspace, database)
    operation["retData"] = {"targetItemID": target, "duplicate": is_duplicate}


def _set_cell(edit: Edit, operation: Operation) -> None:
    place = around(edit.workspace)
    database = load(edit.workspace, operation["avID"])
    set_cell(place, database, operation["keyID"], operation["rowID"], operation["data"], set_in_edit(edit))


def _sort_item(edit: Edit, operation: Operation) -> None:
    sort_item(edit.workspace, operation)


# --- keys ----------------------------------------------------------------------------------------------------------------
def _add_key(edit: Edit, operation: Operation) -> None:
    icon = operation["data"]
    if icon is not None and not isinstance(icon, str):
        raise Broken("data is no string")
    columns.add_key(
        edit.workspace,
        operation["avID"],
        operation.id,
        operation["name"],
        operation["type"],
        icon or "",
        operation["previousID"],
    )


def _update_key(edit: Edit, operation: Operation) -> None:
    columns.update_key(edit.workspace, operation["avID"], operation.id, operation["name"], operation["type"])


def _remove_key(edit: Edit, operation: Operation) -> None:
    columns.remove_key(edit.workspace, operation["avID"], operation.id, removes_back=bool(operation["removeDest"]))


def _duplicate_key(edit: Edit, operation: Operation) -> None:
    columns.duplicate_key(edit.workspace, operation["avID"], operation["keyID"], operation["nextID"])


def _sort_key(edit: Edit, operation: Operation) -> None:
    columns.sort_key(edit.workspace, operation["avID"], operation.id, operation["previousID"])


def _sort_field(edit: Edit, operation: Operation) -> None:
    columns.sort_field(edit.workspace, operation["avID"], operation["blockID"], operation.id, operation["previousID"])


def _set_options(edit: Edit, operation: Operation) -> None:
    columns.set_options(edit.workspace, operation["avID"], operation.id, operation["data"])


def _change_option(edit: Edit, operation: Operation) -> None:
    columns.change_option(edit.workspace, operation["avID"], operation.id, operation["data"])


def _remove_option(edit: Edit, operation: Operation) -> None:
    name = operation["data"]
    if not isinstance(name, str):
        raise Broken("data is no string")
    columns.remove_option(edit.workspace, operation["avID"], operation.id, name)


def _set_relation(edit: Edit, operation: Operation) -> None:
    relations.set_relation(edit.workspace, operation)


def _set_rollup(edit: Edit, operation: Operation) -> None:
    relations.set_rollup(
        edit.workspace,
        operation["avID"],
        operation.id,
        operation["parentID"],
        operation["keyID"],
        operation["data"],
    )


# --- views ---------------------------------------------------------------------------------------------------------------
def _add_view(edit: Edit, operation: Operation) -> None:
    put = set_in_edit(edit)
    layouts.add_view(edit.workspace, put, operation["avID"], operation.id, operation["blockID"], operation["layout"])


def _duplicate_view(edit: Edit, operation: Operation) -> None:
    put = set_in_edit(edit)
    layouts.duplicate_view(
        edit.workspace, put, operation["avID"], operation["previousID"], operation.id, operation["blockID"]
    )


def _remove_view(edit: Edit, operation: Operation) -> None:
    shown = layouts.remove_view(edit.workspace, set_in_edit(edit), operation["avID"], operation["blockID"])
    if shown:
        operation["retData"] = shown


def _sort_view(edit: Edit, operation: Operation) -> None:
    layouts.sort_view(edit.workspace, operation["avID"], operation.id, operation["previousID"])


def _set_block_view(edit: Edit, operation: Operation) -> None:
    put = set_in_edit(edit)
    layouts.set_block_view(edit.workspace, put, operation["blockID"], operation["avID"], operation.id)


def _change_layout(edit: Edit, operation: Operation) -> None:
    put = set_in_edit(edit)
    layouts.change_layout(edit.workspace, put, operation["blockID"], operation["avID"], operation["layout"])


def _listed(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise Broken("data is no list")
    return data


def _set_filters(edit: Edit, operation: Operation) -> None:
    layouts.set_filters(edit.workspace, operation["avID"], operation["blockID"], _listed(operation["data"]))


def _set_sorts(edit: Edit, operation: Operation) -> None:
    layouts.set_sorts(edit.workspace, operation["avID"], operation["blockID"], _listed(operation["data"]))


def _set_group(edit: Edit, operation: Operation) -> None:
    if operation["data"] is None:
        raise Broken("data is nothing")
    layouts.set_group(edit.workspace, operation["avID"], operation["blockID"], operation["data"])


def _sort_group(edit: Edit, operation: Operation) -> None:
    """Put a group of a view behind another, by hand from now on."""
    place = around(edit.workspace)
    database = load(edit.workspace, operation["avID"])
    view = block_view(edit.workspace, database, operation["blockID"])
    if view["group"] is None:
        raise Broken("a view without groups")
    sort_groups(database, view, place.moment)
    group = group_by_id(view, operation.id)
    if group is None:
        return
    view["group"]["order"] = BY_HAND
    others = [one for one in view["groups"] if one is not group]
    at = next((index + 1 for index, one in enumerate(others) if one["id"] == operation["previousID"]), 0)
    view["groups"] = [*others[:at], group, *others[at:]]
    for index, one in enumerate(view["groups"]):
        one["groupSort"] = index
    save(edit.workspace, database)


# --- the database --------------------------------------------------------------------------------------------------------
def _set_name(edit: Edit, operation: Operation) -> None:
    """Give a database a name; the blocks bound to it show it."""
    workspace, name = edit.workspace, operation["data"]
    database = load(workspace, operation.id)
    if not isinstance(name, str):
        raise Broken("data is no string")
    database.data["name"] = name.strip().replace("\n", " ")[:TITLE_RUNES_MAX]
    save(workspace, database)
    for value in database.bound_items():
        found = find_node(workspace, value["block"]["id"])
        if found is not None:
            old = attributes_of(workspace, found[1].id)
            names = names_of(workspace, old.get("custom-avs", ""))
            tell_names(workspace, *found, {key: one for key, one in old.items() if key != NAMES}, names)


def _set_templates(edit: Edit, operation: Operation) -> None:
    database = load(edit.workspace, operation["avID"])
    set_templates(database, operation["data"])
    save(edit.workspace, database)
    tell_reload(edit.workspace, database.id)


# --- deeds on blocks -----------------------------------------------------------------------------------------------------
def _entering(act: Action) -> Action:
    """Blocks that are inserted or updated show databases, and change what stands for them (appended ones do not)."""

    def entering(edit: Edit, operation: Operation) -> None:
        act(edit, operation)
        found = _changed(edit, operation.id)
        if found is None:
            return
        document, node = found
        _note_databases(edit, node)
        if operation.action == "update":
            edit.workspace.bound_names.pop(operation.id, None)
        elif node.type == "NodeAttributeView":
            _bind_again(edit, str(node.fields.get("AttributeViewID", "")))
        _show_current_view(edit, document, node)

    return entering


def _changed(edit: Edit, block_id: str) -> tuple[Document, Node] | None:
    """A block that this transaction has changed; others know it only when the transaction is done."""
    for document in edit.documents.values():
        node = document.node(block_id)
        if node is not None:
            return document, node
    return None


def _databases_in(node: Node) -> list[tuple[str, Node]]:
    found = (
        (str(one.fields.get("AttributeViewID", "")), one) for one in node.walk() if one.type == "NodeAttributeView"
    )
    return [(database_id, one) for database_id, one in found if database_id]


def _note_databases(edit: Edit, node: Node) -> None:
    """Databases that blocks show, or that blocks in or around this one are bound to, are shown anew."""
    workspace = edit.workspace
    affected = [one for one, shown in _databases_in(node) if note_shown(workspace, one, shown.id)]
    around_node: list[Node] = list(node.walk())
    parent = node.parent
    while parent is not None and parent.type != "NodeDocument":
        around_node += parent.walk()
        parent = parent.parent
    for one in around_node:
        affected += [bound for bound in one.properties.get("custom-avs", "").split(",") if bound]
    affected += [source for one in affected for source in referring(workspace, one)]
    for database_id in dict.fromkeys(affected):
        database = find(workspace, database_id)
        if database is not None:
            regroup_all(around(workspace), database)
            save(workspace, database)
        tell_reload(workspace, database_id)


def _bind_again(edit: Edit, database_id: str) -> None:
    """A database comes in: the blocks that stand for its items are bound once more."""
    database = find(edit.workspace, database_id)
    for value in list(database.bound_items()) if database is not None else ():
        found = find_node(edit.workspace, value["block"]["id"])
        if found is not None:
            bind(edit.workspace, set_in_edit(edit), database_id, *found)


def _show_current_view(edit: Edit, document: Document, node: Node) -> None:
    if node.type != "NodeAttributeView":
        return
    database = find(edit.workspace, str(node.fields.get("AttributeViewID", "")))
    view = database.view(database.data["viewID"]) if database is not None else None
    if view is None:
        return
    node.fields["AttributeViewType"] = view["type"]
    edit.touch(node)
    if not node.properties.get(VIEW_ATTRIBUTE):
        set_in_edit(edit)(document, node, {VIEW_ATTRIBUTE: view["id"]})


def _delete(edit: Edit, operation: Operation) -> None:
    """Items of blocks that go, go with them; blocks bound to a database that no block shows any more are released."""
    found = find_node(edit.workspace, operation.id)
    gone = list(found[1].walk()) if found is not None else []
    edits.delete(edit, operation)
    if found is None:
        return
    workspace = edit.workspace
    changed = [database_id for node in gone for database_id in _drop_items(workspace, node)]
    for database_id, node in [one for shown in gone for one in _databases_in_self(shown)]:
        was_mirrored = is_mirrored(workspace, database_id)
        if note_hidden(workspace, database_id, node.id):
            changed.append(database_id)
        database = None if was_mirrored else find(workspace, database_id)
        for value in list(database.bound_items()) if database is not None else ():
            unbind(workspace, set_in_edit(edit), database_id, value["block"]["id"])
    for database_id in dict.fromkeys(changed):
        tell_reload(workspace, database_id)


def _databases_in_self(node: Node) -> list[tuple[str, Node]]:
    database_id = str(node.fields.get("AttributeViewID", "")) if node.type == "NodeAttributeView" else ""
    return [(database_id, node)] if database_id else []


def _drop_items(workspace: Workspace, node: Node) -> list[str]:
    """The databases that have lost the item that a block stood for."""
    changed = []
    for database_id in node.properties.get("custom-avs", "").split(","):
        database = find(workspace, database_id) if database_id else None
        column = database.primary() if database is not None else None
        if database is None or column is None:
            continue
        values = values_in(column)
        kept = [value for value in values if value["block"] is None or value["block"]["id"] != node.id]
        if len(kept) != len(values):
            column["values"] = kept
            regroup_all(around(workspace), database)
            save(workspace, database)
            changed.append(database_id)
    return changed


def _simple(act: Callable[[Workspace, Operation], None]) -> Action:
    return _guarded(lambda edit, operation: act(edit.workspace, operation))


ACTIONS: Final[dict[str, Action]] = {
    **{name: _simple(view_options.change_view) for name in view_options.VIEW_CHANGES},
    **{name: _simple(view_options.change_key) for name in view_options.KEY_CHANGES},
    **{name: _simple(view_options.change_named_view) for name in view_options.NAMED_VIEW_CHANGES},
    "syncAttrViewTableColWidth": _simple(view_options.spread_width),
    "insertAttrViewBlock": _guarded(_insert_items),
    "removeAttrViewBlock": _guarded(_remove_items),
    "duplicateAttrViewRow": _guarded(_duplicate_item),
    "replaceAttrViewBlock": _guarded(_replace_block),
    "updateAttrViewCell": _guarded(_set_cell),
    "sortAttrViewRow": _guarded(_sort_item),
    "addAttrViewCol": _guarded(_add_key),
    "updateAttrViewCol": _guarded(_update_key),
    "removeAttrViewCol": _guarded(_remove_key),
    "duplicateAttrViewKey": _guarded(_duplicate_key),
    "sortAttrViewKey": _guarded(_sort_key),
    "sortAttrViewCol": _guarded(_sort_field),
    "updateAttrViewColOptions": _guarded(_set_options),
    "updateAttrViewColOption": _guarded(_change_option),
    "removeAttrViewColOption": _guarded(_remove_option),
    "updateAttrViewColRelation": _guarded(_set_relation),
    "updateAttrViewColRollup": _guarded(_set_rollup),
    "addAttrViewView": _guarded(_add_view),
    "duplicateAttrViewView": _guarded(_duplicate_view),
    "removeAttrViewView": _guarded(_remove_view),
    "sortAttrViewView": _guarded(_sort_view),
    "setAttrViewBlockView": _guarded(_set_block_view),
    "changeAttrViewLayout": _guarded(_change_layout),
    "setAttrViewFilters": _guarded(_set_filters),
    "setAttrViewSorts": _guarded(_set_sorts),
    "setAttrViewGroup": _guarded(_set_group),
    "sortAttrViewGroup": _guarded(_sort_group),
    "setAttrViewName": _guarded(_set_name),
    "setAttrViewNewItemTemplates": _guarded(_set_templates),
    "insert": _entering(edits.insert),
    "update": _entering(edits.update),
    "delete": _delete,
}
