"""[core] Swapping a block that holds a reference with the block that it refers to, wherever both stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernel.workspace.sections import section_of
from kernel.workspace.tree import Node

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace


def swap_blocks(workspace: Workspace, ref_id: str, def_id: str, *, includes_children: bool) -> bool:
    """Put each in the other's place; an item stands in a list wherever it goes. False where one of them is a document.

    ``includes_children``: a heading takes its section along, an item the items below it.

    Raises:
        NotFound: there is no such block.
    """
    workspace.entry(ref_id)
    workspace.entry(def_id)
    ref_document, def_document = workspace.edit(ref_id), workspace.edit(def_id)
    ref, definition = _unit(ref_document.node(ref_id)), _unit(def_document.node(def_id))
    if ref is None or definition is None or ref is definition:
        return False
    stamp = workspace.now_stamp()
    children = _children(definition, includes_children=includes_children)
    for node in (ref, definition):
        node.properties["updated"] = stamp
    pivot = Node("NodeParagraph")
    ref.insert_before(pivot)
    _exchange(workspace, ref, definition, pivot, children, includes_children=includes_children)
    pivot.detach()
    for document in {document.id: document for document in (ref_document, def_document)}.values():
        document.nodes.clear()
        document.add(document.root)
        document.root.properties["updated"] = stamp
        workspace.save(document)
    return True


def _unit(node: Node | None) -> Node | None:
    """The item whose block it is, else the block itself."""
    if node is None or node.parent is None:
        return None
    return node.parent if node.parent.type == "NodeListItem" else node


def _children(definition: Node, *, includes_children: bool) -> list[Node]:
    if definition.type == "NodeListItem":
        return [child for child in definition.children if child.type == "NodeList"]
    return section_of(definition) if definition.type == "NodeHeading" and includes_children else []


def _exchange(
    workspace: Workspace, ref: Node, definition: Node, pivot: Node, children: list[Node], *, includes_children: bool
) -> None:
    """The reference goes behind the definition, the definition behind the pivot that stands where the reference was."""
    kind = _list_data(definition if definition.type == "NodeListItem" else ref)
    if definition.type == "NodeListItem":
        if ref.type == "NodeListItem":
            definition.insert_after(_taken(ref))
            item = ref
            pivot.insert_after(_taken(definition))
        else:
            item = _made(workspace, "NodeListItem", kind, _taken(ref))
            definition.insert_after(item)
            pivot.insert_after(_made(workspace, "NodeList", kind, _taken(definition)))
        for child in children if not includes_children else ():
            item.append(_taken(child))
        return
    if ref.type == "NodeListItem":
        definition.insert_after(_made(workspace, "NodeList", kind, _taken(ref)))
        pivot.insert_after(_made(workspace, "NodeListItem", kind, _taken(definition)))
    else:
        definition.insert_after(_taken(ref))
        pivot.insert_after(_taken(definition))
    for child in reversed(children):
        definition.insert_after(_taken(child))


def _taken(node: Node) -> Node:
    node.detach()
    return node


def _made(workspace: Workspace, kind: str, data: dict[str, Any], child: Node) -> Node:
    new_id = workspace.new_id()
    properties = {"id": new_id, "updated": new_id[:14]}
    return Node(kind, id=new_id, properties=properties, fields={"ListData": dict(data)}, children=[child])


def _list_data(item: Node) -> dict[str, Any]:
    """What a list or an item made for it says of its kind."""
    data = (item.parent.fields if item.parent is not None else item.fields).get("ListData") or {}
    return {"Typ": data["Typ"]} if data.get("Typ") else {}
