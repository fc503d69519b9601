"""[core] Blocks that stand for items: the attribute that binds them, the names at their side, the text they lend."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from kernel.workspace.attributes import change_attributes, shown, tell_attributes
from kernel.workspace.markdown.ial import escape_text
from kernel.workspace.names import escaped_attribute, unescaped_attribute
from kernel.workspace.refs import full_text
from kernel.workspace.views.database import UNTITLED
from kernel.workspace.views.grouping import regroup_all
from kernel.workspace.views.rendering import STATIC_TEXT, around
from kernel.workspace.views.store import exists, find, referring, save, tell_reload
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.edits import Edit
    from kernel.workspace.tree import Node
    from kernel.workspace.views.database import Database
    from kernel.workspace.workspace import Document, Workspace

BOUND_TO: Final = "custom-avs"
NAMES: Final = "av-names"
HIDDEN: Final = "custom-hidden"
# Attributes whose change shows in the item that a block stands for.
_SHOWN_IN_ITEM: Final = ("icon", "name")
_NAME: Final = (
    '<span data-av-id="%s" data-popover-url="/api/av/getMirrorDatabaseBlocks" class="popover__block">%s</span>'
)
_BETWEEN: Final = "&nbsp;"
# The text that a block lends to its item, in code points.
TEXT_RUNES_MAX: Final = 1024

# How a block's attributes are written: at once, or as part of a transaction.
Setter = Callable[["Document", "Node", dict[str, str]], None]


def names_of(workspace: Workspace, bound_to: str) -> str:
    """The names of the databases that a block is bound to, as its side shows them."""
    named = []
    for database_id in bound_to.split(",") if bound_to else ():
        database = find(workspace, database_id)
        name = database.data["name"] if database is not None else ""
        named.append(_NAME % (database_id, escape_text(name or UNTITLED)))
    return _BETWEEN.join(named)


def set_at_once(workspace: Workspace) -> Setter:
    """Write attributes outside a transaction."""

    def put(document: Document, node: Node, values: dict[str, str]) -> None:
        workspace.edit(document.id)
        old = change_attributes(workspace, node, _stored(node, values))
        workspace.save(document, [node])
        tell_bound(workspace, document, node, old, values.get(NAMES, ""))
        workspace.shown_documents.add(node.id)
        follow_attributes(workspace, node, values)

    return put


def _stored(node: Node, values: dict[str, str]) -> dict[str, str]:
    """All attributes of a block as they are to be stored; the names of databases never are."""
    return {name: value for name, value in {**shown(node.properties), **values}.items() if name != NAMES}


def set_in_edit(edit: Edit) -> Setter:
    """Write attributes as part of a transaction."""

    def put(document: Document, node: Node, values: dict[str, str]) -> None:
        edit.document(document.id)
        old = change_attributes(edit.workspace, node, _stored(node, values))
        edit.touch(node)
        tell_bound(edit.workspace, document, node, old, values.get(NAMES, ""))

    return put


def tell_bound(workspace: Workspace, document: Document, node: Node, old: dict[str, str], names: str) -> None:
    """Push what has become of a block's attributes, with the names of the databases that it is bound to."""
    if names:
        workspace.bound_names[node.id] = names
    tell_names(workspace, document, node, old, names)


def tell_names(workspace: Workspace, document: Document, node: Node, old: dict[str, str], names: str) -> None:
    """The same without remembering the names: who asks for the attributes is told those from before."""
    if names:
        node.properties[NAMES] = names
    tell_attributes(workspace, document, node, old)
    node.properties.pop(NAMES, None)


def find_node(workspace: Workspace, block_id: str) -> tuple[Document, Node] | None:
    try:
        return workspace.node(block_id)
    except (NotFound, CorruptDocument):
        return None


def name_databases(workspace: Workspace, nodes: Iterable[Node]) -> None:
    """Give blocks that are drawn (copies) the names of the databases that they are bound to."""
    for node in nodes:
        for below in node.walk():
            names = names_of(workspace, unescaped_attribute(below.properties.get(BOUND_TO, "")))
            if names:
                below.properties[NAMES] = escaped_attribute(names)


# --- binding -------------------------------------------------------------------------------------------------------
def bind(workspace: Workspace, put: Setter, database_id: str, document: Document, node: Node) -> None:
    """A block stands for an item of a database."""
    bound = [one for one in _bound_to(node) if one]
    bound_to = ",".join(dict.fromkeys([*bound, database_id]))
    put(document, node, _with_names(workspace, bound_to))


def unbind(workspace: Workspace, put: Setter, database_id: str, block_id: str) -> None:
    """A block stands for no item of a database any more."""
    found = find_node(workspace, block_id)
    if found is None or not _bound_to(found[1])[0]:
        return
    rest = [one for one in _bound_to(found[1]) if one != database_id]
    put(*found, _with_names(workspace, ",".join(rest)))


def release(workspace: Workspace, put: Setter, database_id: str, document: Document, node: Node) -> None:
    """The same when the item is removed: databases that are gone are forgotten too, hidden documents are shown."""
    values: dict[str, str] = {}
    if node.type == "NodeDocument" and document.id != document.box:
        values[HIDDEN] = ""
    rest = [one for one in _bound_to(node) if one != database_id and exists(workspace, one)]
    values |= _with_names(workspace, ",".join(rest))
    put(document, node, values)


def _bound_to(node: Node) -> list[str]:
    return unescaped_attribute(node.properties.get(BOUND_TO, "")).split(",")


def _with_names(workspace: Workspace, bound_to: str) -> dict[str, str]:
    return {BOUND_TO: bound_to, NAMES: names_of(workspace, bound_to)}


# --- what an item shows of its block -------------------------------------------------------------------------------
def item_text(workspace: Workspace, node: Node, database_id: str = "") -> tuple[str, str]:
    """(icon, text) that a block lends to its item."""
    icon = unescaped_attribute(node.properties.get("icon", ""))
    fixed = unescaped_attribute(node.properties.get(f"{STATIC_TEXT}-{database_id}", "")) if database_id else ""
    name = unescaped_attribute(node.properties.get("name", "")).strip()
    text = name or _own_text(workspace, node).strip()
    return icon, fixed or text or UNTITLED


def _own_text(workspace: Workspace, node: Node) -> str:
    if node.type == "NodeAttributeView":
        shown_database = find(workspace, str(node.fields.get("AttributeViewID", "")))
        name = shown_database.data["name"] if shown_database is not None else ""
        return str(name or full_text(node))
    text = html.unescape(full_text(node))
    return text if len(text) <= TEXT_RUNES_MAX else f"{text[:TEXT_RUNES_MAX]}..."


def follow_attributes(workspace: Workspace, node: Node, values: Iterable[str]) -> None:
    """Attributes of a block have changed: items that show them follow."""
    names = [name.lower() for name in values]
    if any(name in _SHOWN_IN_ITEM or name.startswith(STATIC_TEXT) for name in names):
        follow_blocks(workspace, [node])


def follow_blocks(workspace: Workspace, changed: Iterable[Node]) -> None:
    """Blocks have another text or icon: the items that they and the blocks around them stand for follow."""
    nodes = {node.id: node for node in changed}
    for node in list(nodes.values()):
        parent = node.parent
        while parent is not None and parent.type != "NodeDocument":
            nodes[parent.id] = parent
            parent = parent.parent
    for node in nodes.values():
        for database_id in _bound_to(node):
            database = find(workspace, database_id) if database_id else None
            if database is not None and _follow(workspace, database, node):
                save(workspace, database)
                tell_reload(workspace, database.id)
                refresh_referring(workspace, database.id)


def _follow(workspace: Workspace, database: Database, node: Node) -> bool:
    value = database.item_of_block(node.id)
    if value is None:
        return False
    icon, text = item_text(workspace, node, database.id)
    has_changed = (icon, text) != (value["block"]["icon"], value["block"]["content"])
    value["block"].update(icon=icon, content=text)
    return has_changed


def refresh_referring(workspace: Workspace, database_id: str) -> None:
    """Databases with a relation to this one show something else now."""
    for other_id in referring(workspace, database_id):
        other = find(workspace, other_id) if other_id != database_id else None
        if other is not None:
            regroup_all(around(workspace), other)
            save(workspace, other)
            tell_reload(workspace, other_id)


def bound_node(workspace: Workspace, block_id: str) -> tuple[Document, Node]:
    """A block that is to stand for an item. Raises NotFound."""
    return workspace.node(block_id)
