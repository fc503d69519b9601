"""[core] What is asked about single blocks: children, path from the document, neighbours, place (siyuan-api A3)."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.index.rows import subtype
from kernel.workspace.names import unescaped_attribute
from kernel.workspace.nodes import BLOCK_TYPES, CONTAINER_TYPES, KINDS
from kernel.workspace.refs import block_text, first_leaf_or_self
from kernel.workspace.render.content import ViewText, no_view_text, plain_content, stripped
from kernel.workspace.render.std_markdown import std_markdown
from kernel.workspace.sections import heading_above, is_folded, level_of, previous_siblings, section_of
from kernel.workspace.tree import Node
from kernel.workspace.workspace import Document

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

NAME_RUNES_MAX: Final = 1024
_NO_HEADING: Final = 16
_GROUPS: Final = frozenset({"NodeList", "NodeSuperBlock", "NodeBlockquote", "NodeCallout"})


def child_block(node: Node, view_text: ViewText = no_view_text) -> dict[str, str]:
    """One block as getChildBlocks lists it; empty members are left out. ``view_text``: what a database says."""
    members = {
        "id": node.id,
        "type": KINDS[node.type].sql_type,
        "subType": subtype(node),
        "content": stripped(plain_content(node, view_text=view_text)),
        "markdown": stripped(std_markdown(node)),
    }
    return {name: value for name, value in members.items() if value or name in ("id", "type")}


def children_of(node: Node) -> list[Node]:
    """The blocks in a container, or in a heading's section."""
    if node.type == "NodeHeading":
        return [child for child in section_of(node) if child.type in BLOCK_TYPES]
    if node.type not in CONTAINER_TYPES:
        return []
    return [child for child in node.children if child.type in BLOCK_TYPES]


# --- the way from the document -------------------------------------------------------------------------------------
def breadcrumb(workspace: Workspace, document: Document, node: Node) -> list[dict[str, Any]]:
    """The document, the headings and the containers above a block, and the block itself without a name."""
    path: list[dict[str, Any]] = []
    level = _NO_HEADING
    one: Node | None = node
    while one is not None:
        name = "" if one is node else crumb_name(workspace, document, one)
        if one.type == "NodeHeading":
            level = level_of(one)
        if _is_crumb(one, node):
            path.insert(0, _crumb(one, name))
        if one.type != "NodeDocument" and one.type in CONTAINER_TYPES:
            level = _NO_HEADING
        for sibling in previous_siblings(one):
            heading = _heading_in(sibling)
            if heading is None or level_of(heading) >= level or _is_in_item(heading):
                continue
            level = level_of(heading)
            path.insert(0, _crumb(heading, _escaped_once(block_text(heading)[:NAME_RUNES_MAX])))
        one = one.parent
    return path


def _crumb(node: Node, name: str) -> dict[str, Any]:
    return {"id": node.id, "name": name, "type": node.type, "subType": subtype(node), "children": None}


def crumb_name(workspace: Workspace, document: Document, node: Node) -> str:
    """How a block is named where the place of another is shown."""
    if node.type == "NodeDocument":
        box = workspace.box(document.box)
        name = box.name if document.id == document.box else box.name + document.tree.hpath
        return _escaped_once(name)
    name = unescaped_attribute(node.properties.get("name", ""))
    if not name:
        leaf = first_leaf_or_self(node)
        name = block_text(leaf)[:NAME_RUNES_MAX] if leaf is not None else ""
    return _escaped_once(name)


def _escaped_once(text: str) -> str:
    text = html.unescape(text.replace("\u2038", ""))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _is_crumb(one: Node, node: Node) -> bool:
    if one.type in _GROUPS:
        return one is node
    parent = one.parent
    if one.type == "NodeParagraph" and parent is not None and parent.type == "NodeListItem" and one.next is None:
        previous = one.previous
        return not (previous is None or previous.type == "NodeTaskListItemMarker")
    return True


def _heading_in(node: Node) -> Node | None:
    """The node if it is a heading, or the last heading in a super block."""
    if node.type == "NodeSuperBlock":
        headings = [below for below in node.walk() if below.type == "NodeHeading"]
        return headings[-1] if headings else None
    return node if node.type == "NodeHeading" else None


def _is_in_item(node: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.type == "NodeListItem":
            return True
        parent = parent.parent
    return False


# --- neighbours ----------------------------------------------------------------------------------------------------
def _block(node: Node | None, step: str) -> Node | None:
    while node is not None and not (node.id and node.type in BLOCK_TYPES):
        node = getattr(node, step)
    return node


def tree_info(node: Node) -> dict[str, str]:
    """A block with its parent and its neighbours, each with its type."""
    members = {"id": node.id, "type": node.type}
    neighbours = (
        ("parent", _block(node.parent, "parent")),
        ("previous", _block(node.previous, "previous")),
        ("next", _block(node.next, "next")),
    )
    for name, found in neighbours:
        members[f"{name}ID"] = found.id if found is not None else ""
        members[f"{name}Type"] = found.type if found is not None else ""
    return members


def relevant_ids(node: Node) -> dict[str, str]:
    around = (("parentID", node.parent), ("previousID", node.previous), ("nextID", node.next))
    return {name: found.id if found is not None else "" for name, found in around}


def sibling_ids(node: Node) -> dict[str, str]:
    """Where an editor goes from a block: its parent, and what stands before and after (lists count by item)."""
    parent, previous, following = _siblings(node)
    ids = {"parent": parent, "next": following, "previous": previous}
    return {name: found.id if found is not None else "" for name, found in ids.items()}


def _siblings(node: Node) -> tuple[Node | None, Node | None, Node | None]:
    items = _items_around(node)
    is_in_list = any(one.type == "NodeList" for one in _ancestors(node))
    if not is_in_list:
        parent = node.parent
        if parent is None:
            return None, None, None
        return parent, parent.previous or node.previous, parent.next or node.next
    if node.type != "NodeListItem" and node.parent is not None and node.parent.type != "NodeList":
        inner = items[0]
        if len(items) == 1:
            return inner, inner.previous, inner.next
        outer = items[1]
        return outer, inner.previous or outer.previous, inner.next or outer.next
    parent = node.parent
    if node.type == "NodeListItem" and parent is not None:
        parent = parent.parent
    return (parent, node.previous, node.next) if parent is not None else (None, None, None)


def _ancestors(node: Node) -> list[Node]:
    found = []
    parent = node.parent
    while parent is not None:
        found.append(parent)
        parent = parent.parent
    return found


def _items_around(node: Node) -> list[Node]:
    return [one for one in _ancestors(node) if one.type == "NodeListItem"]


# --- place and fold ------------------------------------------------------------------------------------------------
def top_index(document: Document, node: Node) -> int:
    """The place, from 1, of the block right below the document in which a node stands; 0 for the document."""
    top = node
    while top.parent is not None and top.parent is not document.root:
        top = top.parent
    return top.index() + 1 if top.parent is not None else 0


def unfolded_parent_id(node: Node) -> str:
    """The outermost folded block of the unbroken run above a block, or the block itself."""
    found = node.id
    above = heading_above(node)
    while above is not None and above.type != "NodeDocument" and is_folded(above):
        found = above.id
        above = heading_above(above)
    return found


def is_block_folded(node: Node) -> bool:
    """Whether a block, or a heading or container above it, is folded."""
    one: Node | None = node
    while one is not None:
        if is_folded(one):
            return True
        one = heading_above(one)
    return False
