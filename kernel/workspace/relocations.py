"""[core] Operations that take a block from one place to another: move, append, folding (siyuan-markdown section 8)."""

from __future__ import annotations

from kernel.workspace.documents import keep_version
from kernel.workspace.edits import Edit, TransactionError, is_task_item, list_kind
from kernel.workspace.operations import Operation
from kernel.workspace.refs import block_ref_counts
from kernel.workspace.sections import (
    HEADING_FOLD,
    clear_fold,
    folded_heading_above,
    is_folded,
    mark_folded,
    section_of,
    unfold,
)
from kernel.workspace.stamps import stamp_changed
from kernel.workspace.tree import Node
from kernel.workspace.workspace import Document


def move(edit: Edit, operation: Operation) -> None:
    """Put a block (a folded heading: with its section) after ``previousID``, or first into ``parentID``."""
    source, node = edit.block(operation.id)
    if node.parent is None:
        raise TransactionError("transaction panic: a document is not moved", code=4)
    keep_version(edit.workspace, source.id, "update")
    section = folded_section(node)
    if (operation["context"] or {}).get("removeFold") == "true":
        node.properties.pop("heading-fold", None)
        node.properties.pop("fold", None)
    target_id = operation["previousID"] or operation["parentID"]
    if operation.id == target_id:
        return
    target_document, target = edit.block(target_id)
    if operation["previousID"]:
        target = _end_of_fold(target)
    # The end of a fold may be the block itself: it is where it should be.
    if target is node or any(child is target for child in section) or _is_inside(target, node):
        return
    emptied = node.parent if _is_only_item(node) else None
    moved = [node, *section]
    if operation["previousID"]:
        _place_after(edit, source, target_document, target, moved)
    else:
        _place_first(edit, source, target_document, target, moved)
    if emptied is not None:
        edit.take(source, emptied)
    edit.touch(*stamp_changed(node, edit.workspace.now_stamp()))
    edit.changed[node.id] = node
    source.root.properties["updated"] = edit.workspace.now_stamp()


def folded_section(node: Node) -> list[Node]:
    """What a folded heading hides, and takes along."""
    if node.type != "NodeHeading" or not is_folded(node):
        return []
    return [child for child in section_of(node) if child.properties.get(HEADING_FOLD) == "1"]


def _end_of_fold(target: Node) -> Node:
    section = folded_section(target)
    return section[-1] if section else target


def _is_inside(node: Node, container: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent is container:
            return True
        parent = parent.parent
    return False


def _is_only_item(node: Node) -> bool:
    return node.type == "NodeListItem" and node.parent is not None and len(node.parent.children) == 1


def _take_all(edit: Edit, source: Document, moved: list[Node]) -> None:
    for node in moved:
        edit.take(source, node)


def _place_after(edit: Edit, source: Document, document: Document, target: Node, moved: list[Node]) -> None:
    _take_all(edit, source, moved)
    for node in reversed(moved):
        target.insert_after(node)
        edit.put(document, node)


def _place_first(edit: Edit, source: Document, document: Document, target: Node, moved: list[Node]) -> None:
    if target.type == "NodeSuperBlock":
        _place_after(edit, source, document, target.children[1], moved)
        return
    if is_task_item(target):
        _place_after(edit, source, document, target.children[0], moved)
        return
    _take_all(edit, source, moved)
    for node in reversed(moved):
        target.insert(0, node)
        edit.put(document, node)


def append(edit: Edit, operation: Operation) -> None:
    """Put an existing block at the end of another document; an item goes into a list there."""
    source, node = edit.block(operation.id)
    if node.type == "NodeDocument" or operation.id == operation["parentID"]:
        return
    section = section_of(node) if node.type == "NodeHeading" and is_folded(node) else []
    target = edit.document(operation["parentID"])
    emptied = node.parent if _is_only_item(node) else None
    _take_all(edit, source, [node, *section])
    if node.type == "NodeListItem":
        _list_at_end(edit, target, node).append(node)
    else:
        target.root.append(node)
    edit.put(target, node)
    for child in section:
        target.root.append(child)
        edit.put(target, child)
    if emptied is not None:
        edit.take(source, emptied)


def _list_at_end(edit: Edit, document: Document, item: Node) -> Node:
    last = document.root.children[-1] if document.root.children else None
    if last is not None and last.type == "NodeList":
        return last
    fresh = edit.workspace.new_id()
    kind = list_kind(item)
    made = Node("NodeList", id=fresh, properties={"id": fresh}, fields={"ListData": {"Typ": kind} if kind else {}})
    document.root.append(made)
    document.add(made)
    return made


def fold_heading(edit: Edit, operation: Operation) -> None:
    """Hide a heading's section; ``retData`` is the ids of its blocks."""
    _, heading = edit.block(operation.id)
    section = section_of(heading)
    edit.touch_all()
    mark_folded(section)
    heading.properties["fold"] = "1"
    operation["retData"] = [child.id for child in section]


def unfold_heading(edit: Edit, operation: Operation) -> None:
    """Show a heading's section, and that of the folded heading it stands under; ``retData`` is the section's DOM."""
    document, heading = edit.block(operation.id)
    edit.touch_all()
    above = folded_heading_above(heading)
    if above is not None:
        clear_fold([*section_of(above), above])
        edit.reloads.append(document.id)
    shown = unfold(heading)
    nodes = [below for child in shown for below in child.walk() if below.id]
    counts = block_ref_counts(edit.workspace, [node.id for node in nodes])
    counted = [node for node in nodes if counts.get(node.id)]
    for node in counted:
        node.properties["refcount"] = str(counts[node.id])
    operation["retData"] = edit.render(shown)
    for node in counted:
        del node.properties["refcount"]
