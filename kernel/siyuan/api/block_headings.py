"""/api/block: headings with their sections, and the transactions an editor makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.block import found_node
from kernel.siyuan.api.filetree import optional
from kernel.siyuan.arguments import ApiError
from kernel.workspace.attributes import block_not_found
from kernel.workspace.edits import give_id
from kernel.workspace.intake import dom_of_block, dom_of_siblings, parsed_dom
from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.refs import block_ref_counts
from kernel.workspace.sections import clear_fold, is_folded, level_of, section_of

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.tree import Node

LEVEL_MAX: Final = 6


def _heading(call: Call) -> Node | None:
    found = found_node(call, call.arguments.raw_str("id"))
    return found[1] if found is not None and found[1].type == "NodeHeading" else None


def get_heading_children_ids(call: Call) -> Any:
    heading = _heading(call)
    return ([child.id for child in section_of(heading)] or None) if heading is not None else None


def get_heading_children_dom(call: Call) -> Any:
    heading = _heading(call)
    removes_fold = optional(call, "removeFoldAttr", bool, True)
    if heading is None:
        return ""
    copies = [one.clone() for one in (heading, *section_of(heading))]
    if removes_fold:
        clear_fold(copies)
    else:
        for child in copies[1:]:
            child.properties["parent-heading"] = heading.id
    return dom_of_siblings(copies, place=heading)


def append_heading_children(call: Call) -> Any:
    workspace = call.kernel.workspace
    block_id, dom = call.arguments.raw_str("id"), call.arguments.raw_str("childrenDOM")
    heading = _heading(call)
    if heading is None:
        return
    document = workspace.edit(block_id)
    for block in reversed(parsed_dom(workspace, dom)):
        heading.insert_after(block)
        document.add(block)
    workspace.save(document)


def _wanted(call: Call) -> Node | None:
    """The heading a transaction is asked for. Raises ApiError for an unknown block."""
    block_id = call.arguments.raw_str("id")
    if found_node(call, block_id) is None:
        known = call.kernel.workspace.block_exists(block_id)
        message = block_not_found(block_id) if known else "tree not found"
        raise ApiError(message, data={"closeTimeout": 7000})
    return _heading(call)


def get_heading_delete_transaction(call: Call) -> Any:
    heading = _wanted(call)
    if heading is None:
        return None
    undo: list[Operation] = []
    transaction = Transaction([], undo)
    for node in (heading, *section_of(heading)):
        previous = node.previous
        transaction.do.append(Operation(action="delete", id=node.id))
        insert = Operation(
            action="insert",
            id=node.id,
            data=dom_of_block(node),
            parentID=node.parent.id if node.parent is not None else "",
            previousID=previous.id if previous is not None else "",
        )
        undo.append(insert)
    return transaction.to_json()


def get_heading_insert_transaction(call: Call) -> Any:
    heading = _wanted(call)
    if heading is None:
        return None
    undo: list[Operation] = []
    transaction = Transaction([], undo)
    for node in (heading, *section_of(heading)):
        copy = node.clone()
        give_id(copy, call.kernel.workspace.new_id())
        drawn = dom_of_siblings([copy], place=node)
        insert = Operation(action="insert", id=copy.id, data=drawn, context={"ignoreProcess": "true"})
        transaction.do.append(insert)
        undo.append(Operation(action="delete", id=copy.id))
    return transaction.to_json()


def get_heading_level_transaction(call: Call) -> Any:
    call.arguments.raw_str("id")
    level = int(call.arguments.raw_number("level"))
    heading = _wanted(call)
    if heading is None or level_of(heading) == level:
        return None
    change = level - level_of(heading)
    section = [heading, *section_of(heading)]
    headings = [below for node in section for below in node.walk() if below.type == "NodeHeading"]
    counts = block_ref_counts(call.kernel.workspace, [one.id for one in headings])
    undo: list[Operation] = []
    transaction = Transaction([], undo)
    for one in headings:
        copy = one.clone()
        if is_folded(heading):
            clear_fold([copy])
        if count := counts.get(one.id, 0):
            copy.properties["refcount"] = str(count)
        undo.append(Operation(action="update", id=one.id, data=dom_of_siblings([copy], place=one)))
        copy.fields["HeadingLevel"] = max(1, min(LEVEL_MAX, level_of(one) + change))
        transaction.do.append(Operation(action="update", id=one.id, data=dom_of_siblings([copy], place=one)))
    return transaction.to_json()


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/block/getHeadingChildrenIDs": get_heading_children_ids,
    "/api/block/getHeadingChildrenDOM": get_heading_children_dom,
    "/api/block/appendHeadingChildren": append_heading_children,
    "/api/block/getHeadingDeleteTransaction": get_heading_delete_transaction,
    "/api/block/getHeadingInsertTransaction": get_heading_insert_transaction,
    "/api/block/getHeadingLevelTransaction": get_heading_level_transaction,
}
