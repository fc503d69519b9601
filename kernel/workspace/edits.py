"""[core] One operation on one or two trees: insert, append, prepend, update, delete (siyuan-markdown section 8).

Every function changes loaded trees in place and notes what it touched in the ``Edit``; ``transactions`` saves it or,
when an operation fails, throws all of it away. Moving is ``relocations``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.workspace.events import MAIN, PROTYLE
from kernel.workspace.nodes import CONTAINER_TYPES, LIST_TASK
from kernel.workspace.operations import Operation
from kernel.workspace.refs import degrade_unknown_refs, references_in, targets_in
from kernel.workspace.sections import (
    clear_fold,
    folded_heading_above,
    is_folded,
    level_of,
    mark_folded,
    section_of,
)
from kernel.workspace.stamps import stamp_created
from kernel.workspace.sy import is_hollow
from kernel.workspace.tree import Node
from kernel.workspace.workspace import CorruptDocument, Document, NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

CARET: Final = "\u2038"
FRONT_END_CARET: Final = "<wbr>"
# Attributes that bind a block to a database or a deck: a block put in anew is not bound (av-names is never stored).
_BINDINGS: Final = ("custom-avs", "av-names", "custom-riff-decks")
_STATIC_TEXT: Final = "custom-sy-av-s-text"

CODE_BLOCK_NOT_FOUND: Final = 0
CODE_DATABASE: Final = 3
CODE_MESSAGE: Final = 4


class TransactionError(Exception):
    """An operation that cannot be done: the whole transaction is undone, and the main windows are told."""

    def __init__(self, message: str = "", *, code: int = CODE_BLOCK_NOT_FOUND, block_id: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.block_id = block_id


@dataclass(slots=True)
class Edit:
    """What the operations of one transaction share."""

    workspace: Workspace
    # Editor DOM to blocks; every block has an id.
    parse: Callable[[str], list[Node]]
    # Blocks to editor DOM.
    render: Callable[[list[Node]], str]
    operations: list[Operation]
    documents: dict[str, Document] = field(default_factory=dict)
    changed: dict[str, Node] = field(default_factory=dict)
    # Nodes that are new or changed, so that only their blocks are encoded again; None: too much to name.
    touched: list[Node] | None = field(default_factory=list)
    # Documents whose tree must be read anew once saved: the kernel mends what it reads.
    stale: set[str] = field(default_factory=set)
    # Ids of blocks that a deletion has taken out.
    deleted: list[str] = field(default_factory=list)
    # Blocks that more or fewer blocks refer to now.
    recounted: list[str] = field(default_factory=list)
    # (block, target) of references that were not there before: the kernel learns of them too late to let them follow.
    new_references: set[tuple[str, str]] = field(default_factory=set)
    # Blocks that somebody has just referred to.
    referred: list[str] = field(default_factory=list)
    # Documents that protyle windows must load again.
    reloads: list[str] = field(default_factory=list)

    def document(self, block_id: str) -> Document:
        """The document of a block, to be changed. Raises TransactionError."""
        try:
            document = self.workspace.edit(block_id)
        except (NotFound, CorruptDocument) as error:
            raise TransactionError(block_id=block_id) from error
        self.documents[document.id] = document
        return document

    def block(self, block_id: str) -> tuple[Document, Node]:
        """A block and its document. Raises TransactionError."""
        document = self.document(block_id)
        node = document.node(block_id)
        if node is None:
            raise TransactionError(block_id=block_id)
        return document, node

    def exists(self, block_id: str) -> bool:
        """Whether a block is there by now: one that this transaction took out is gone, unless it came back."""
        if any(block_id in document.nodes for document in self.documents.values()):
            return True
        return block_id not in self.deleted and self.workspace.block_exists(block_id)

    def blocks_of(self, operation: Operation) -> list[Node]:
        """The blocks in an operation's data. Raises TransactionError if there are none."""
        data = operation["data"]
        if not isinstance(data, str):
            raise TransactionError("transaction panic: data is no string", code=CODE_MESSAGE)
        blocks = self.parse(data.replace(FRONT_END_CARET, ""))
        if not blocks:
            raise TransactionError("invalid data tree")
        for block in blocks:
            degrade_unknown_refs(self.exists, block)
        return blocks

    def touch(self, *nodes: Node) -> None:
        if self.touched is not None:
            self.touched += nodes

    def touch_all(self) -> None:
        """More has changed than can be named."""
        self.touched = None

    def put(self, document: Document, node: Node) -> None:
        """Blocks that have just been put into a document: enter them."""
        self.touch(node)
        for below in node.walk():
            is_second = below.id and document.nodes.get(below.id, below) is not below
            if is_second or is_hollow(below):
                self.stale.add(document.id)
        if is_task_item(node) and node.parent is not None and list_kind(node.parent) != LIST_TASK:
            self.stale.add(document.id)
        document.add(node)

    def take(self, document: Document, node: Node) -> None:
        """Take blocks out of a document."""
        parent = node.parent
        assert parent is not None, "a document is never taken out"
        self.touch(parent)
        node.detach()
        document.drop(node)
        if parent.type in CONTAINER_TYPES and parent.type != "NodeDocument":
            self.stale.add(document.id)


def give_id(node: Node, block_id: str) -> None:
    node.id = block_id
    node.properties["id"] = block_id


def is_task_item(node: Node) -> bool:
    return node.type == "NodeListItem" and list_kind(node) == LIST_TASK


def list_kind(node: Node) -> int:
    return int((node.fields.get("ListData") or {}).get("Typ", 0))


def bare_item(edit: Edit, around: Node) -> Node:
    """A list item without marker, as the kernel wraps a block that is put into a list."""
    fresh = edit.workspace.new_id()
    kind = list_kind(around)
    return Node("NodeListItem", id=fresh, properties={"id": fresh}, fields={"ListData": {"Typ": kind} if kind else {}})


# --- insert --------------------------------------------------------------------------------------------------------
def insert(edit: Edit, operation: Operation) -> None:
    """Put blocks before ``nextID``, after ``previousID`` or first into ``parentID``, in this order of precedence."""
    anchors = [operation[name] for name in ("nextID", "previousID", "parentID")]
    known = [anchor for anchor in anchors if anchor and edit.exists(anchor)]
    if not known:
        edit.workspace.emit("reloadui", to=MAIN)
        return
    document = edit.document(known[0])
    blocks = edit.blocks_of(operation)
    first = blocks[0]
    if not is_node_id(first.id):
        give_id(first, edit.workspace.new_id())
    if first.type == "NodeAttributeView" and not is_node_id(str(first.fields.get("AttributeViewID", ""))):
        first.fields["AttributeViewID"] = edit.workspace.new_id()
    anchor = next(anchor for anchor in anchors if anchor)
    node = document.node(anchor)
    if node is None:
        raise TransactionError(block_id=anchor)
    if node.parent is None and (operation["nextID"] or operation["previousID"]):
        raise TransactionError(block_id=anchor)  # nothing stands beside a document
    if operation["nextID"]:
        placed = _insert_before(node, blocks)
    elif operation["previousID"]:
        placed = _insert_after(node, blocks)
    else:
        placed = _insert_into(node, blocks, operation)
    for block in placed:
        edit.put(document, block)
    first = placed[0]
    edit.touch(*stamp_created(first))
    edit.changed[first.id] = first
    unbind(first)
    targets = targets_in(first)
    edit.recounted += [*targets, document.id]
    edit.referred += targets
    edit.new_references.update(*map(references_in, placed))
    operation["id"] = first.id
    operation["parentID"] = first.parent.id if first.parent is not None else ""


def unbind(node: Node) -> None:
    for name in [name for name in node.properties if name in _BINDINGS or name.startswith(_STATIC_TEXT)]:
        del node.properties[name]


def _first_unwrapped(node: Node, blocks: list[Node]) -> list[Node]:
    """Beside an item a list stands for its first item."""
    first = blocks[0]
    beside_item = node.parent is not None and node.parent.type == "NodeList"
    if first.type == "NodeList" and beside_item and first.children:
        return [first.children[0].detach(), *blocks[1:]]
    return blocks


def _insert_before(node: Node, blocks: list[Node]) -> list[Node]:
    blocks = _first_unwrapped(node, blocks)
    for block in blocks:
        node.insert_before(block)
    return blocks


def _insert_after(node: Node, blocks: list[Node]) -> list[Node]:
    if node.type == "NodeHeading" and is_folded(node):
        node = (section_of(node) or [node])[-1]
    blocks = _first_unwrapped(node, blocks)
    for block in reversed(blocks):
        node.insert_after(block)
    return blocks


def _insert_into(node: Node, blocks: list[Node], operation: Operation) -> list[Node]:
    first, *rest = blocks
    if node.type == "NodeSuperBlock":
        node.children[1].insert_after(first)
        return [first]
    if first.type == "NodeList" and first.children and operation.id == first.children[0].id != first.id:
        first = first.children[0].detach()
    if is_task_item(node):
        node.children[0].insert_after(first)
        for block in rest:
            node.children[0].insert_after(block)
        return [first, *rest]
    for block in reversed([first, *rest]):
        if node.type in CONTAINER_TYPES:
            node.insert(0, block)
        else:
            node.insert_after(block)
    return [first, *rest]


# --- append and prepend --------------------------------------------------------------------------------------------
def append_insert(edit: Edit, operation: Operation) -> None:
    """Put blocks at the end of a container (a heading: at the end of its section)."""
    _insert_at_end(edit, operation, is_append=True)


def prepend_insert(edit: Edit, operation: Operation) -> None:
    """Put blocks at the start of a container."""
    _insert_at_end(edit, operation, is_append=False)


def _insert_at_end(edit: Edit, operation: Operation, *, is_append: bool) -> None:
    parent_id = operation["parentID"]
    if not edit.exists(parent_id):
        edit.workspace.emit("reloadui", to=MAIN)
        return
    document, node = edit.block(parent_id)
    blocks = edit.blocks_of(operation)
    first = blocks[0]
    place = _append_one if is_append else _prepend_one
    is_container = node.type in CONTAINER_TYPES
    section = section_of(node) if is_append and node.type == "NodeHeading" else []
    ordered = blocks if is_container and is_append else list(reversed(blocks))
    for block in ordered:
        if is_container:
            place(edit, document, node, block)
        else:
            (section[-1] if section else node).insert_after(block)
            edit.put(document, block)
        edit.touch(*stamp_created(block))
        edit.changed[block.id] = block
        edit.new_references.update(references_in(block))
    if first is not ordered[-1]:
        edit.touch(*stamp_created(first))
    edit.changed[first.id] = first
    operation["id"] = first.id
    operation["action"] = "insert"
    operation["parentID"] = first.parent.id if first.parent is not None else ""
    if first.parent is not None and (previous := first.previous) is not None:
        operation["previousID"] = previous.id


def _append_one(edit: Edit, document: Document, node: Node, block: Node) -> None:
    if node.type == "NodeList":
        for item in _as_items(edit, node, block):
            node.append(item)
            edit.put(document, item)
    elif node.type == "NodeSuperBlock":
        node.children[-1].insert_before(block)
        edit.put(document, block)
    else:
        node.append(block)
        edit.put(document, block)


def _prepend_one(edit: Edit, document: Document, node: Node, block: Node) -> None:
    if node.type == "NodeList":
        for item in reversed(_as_items(edit, node, block)):
            node.insert(0, item)
            edit.put(document, item)
    elif node.type == "NodeSuperBlock":
        layout = next((child for child in node.children if child.type == "NodeSuperBlockLayoutMarker"), None)
        (layout or node.children[0]).insert_after(block)
        edit.put(document, block)
    else:
        node.insert(0, block)
        edit.put(document, block)


def _as_items(edit: Edit, around: Node, block: Node) -> list[Node]:
    """What goes into a list: the items of a list, or the block wrapped in a bare item."""
    if block.type == "NodeList":
        return [child.detach() for child in list(block.children)]
    item = bare_item(edit, around)
    item.append(block)
    return [item]


# --- update --------------------------------------------------------------------------------------------------------
def update(edit: Edit, operation: Operation) -> None:
    """Put the first block of the data in the place of a block."""
    data = operation["data"]
    if not isinstance(data, str) or not data.replace(FRONT_END_CARET, ""):
        raise TransactionError("update data is invalid", code=CODE_MESSAGE, block_id=operation.id)
    document, old = edit.block(operation.id)
    if old.parent is None:
        raise TransactionError("transaction panic: a document is not updated", code=CODE_MESSAGE)
    blocks = edit.parse(data.replace(FRONT_END_CARET, ""))
    if not blocks:
        raise TransactionError("block not found", block_id=operation.id)
    new = blocks[0]
    if new.type == "NodeList" and old.parent.type == "NodeList" and new.children:
        new = new.children[0].detach()
    tidy_updated(edit, new)
    targets, old_targets = targets_in(new), targets_in(old)
    if targets != old_targets:
        edit.recounted += [*old_targets, *targets]
        edit.referred += [target for target in targets if target not in old_targets]
        edit.new_references.update(set(references_in(new)).difference(references_in(old)))
    if old.type in CONTAINER_TYPES:
        keep_folded_sections(new, old)
        edit.touch(old)
    _replace(edit, document, old, new, data)
    edit.touch(*stamp_created(new))
    edit.changed[new.id] = new


def tidy_updated(edit: Edit, new: Node) -> None:
    """What an update drops: empty inline maths, unknown targets, blank lines of an HTML block."""
    degrade_unknown_refs(edit.exists, new)
    for node in list(new.walk()):
        types = str(node.fields.get("TextMarkType", "")).split()
        if "inline-math" in types and not str(node.fields.get("TextMarkInlineMathContent", "")).strip():
            node.detach()
    if new.type == "NodeHTMLBlock":
        new.data = "\n".join(line for line in new.data.split("\n") if line.strip())


def keep_folded_sections(new: Node, old: Node) -> None:
    """A folded heading in the new container brings the section that the editor did not send."""
    sections = {node.id: section_of(node) for node in old.walk() if node.type == "NodeHeading" and is_folded(node)}
    for heading in [node for node in new.walk() if node.type == "NodeHeading" and is_folded(node)]:
        for child in reversed(sections.get(heading.id, [])):
            child.detach()
            heading.insert_after(child)


def _replace(edit: Edit, document: Document, old: Node, new: Node, data: str) -> None:
    old_level, new_level = level_of(old), level_of(new)
    folded_above = folded_heading_above(old)
    old.insert_after(new)
    edit.take(document, old)
    edit.stale.discard(document.id)
    edit.put(document, new)
    if old_level > 0 and (not new_level or old_level < new_level):
        # The heading has become less: what it now falls under must not hide it.
        now_above = folded_heading_above(new)
        if now_above is not None and (folded_above is None or folded_above is not now_above):
            edit.touch_all()
            clear_fold([*section_of(now_above), now_above])
            told = {"id": now_above.id, "currentNodeID": new.id}
            edit.workspace.emit("unfoldHeading", told, to=PROTYLE)
    if folded_above is not None and new_level and new_level <= level_of(folded_above):
        _show_again(edit, new, folded_above, data)


def _show_again(edit: Edit, new: Node, folded_above: Node, data: str) -> None:
    """A heading that has outgrown the folded one above it becomes visible in the editors."""
    if len(edit.operations) == 2 and edit.operations[1].action == "foldHeading":
        edit.touch_all()
        mark_folded(section_of(new))
        new.properties["fold"] = "1"
        data = edit.render([new])
    shown = Operation(action="insert", id=new.id, previousID=folded_above.id, data=data)
    gone = Operation(action="delete", id=new.id)
    told = [{"timestamp": 0, "doOperations": [shown.to_json()], "undoOperations": [gone.to_json()]}]
    edit.workspace.emit("transactions", told)


# --- delete --------------------------------------------------------------------------------------------------------
def delete(edit: Edit, operation: Operation) -> None:
    """Take a block out; an item that is left empty gets an empty paragraph. An unknown block: nothing."""
    if not edit.workspace.block_exists(operation.id):
        return
    document = edit.document(operation.id)
    node = document.node(operation.id)
    if node is None or node.parent is None:
        return
    parent = node.parent
    edit.take(document, node)
    if parent.type == "NodeListItem" and not parent.children:
        follows = any(other.action == "insert" and other["parentID"] == parent.id for other in edit.operations)
        if not follows:
            fresh = edit.workspace.new_id()
            paragraph = Node("NodeParagraph", id=fresh, properties={"id": fresh, "updated": fresh[:14]})
            parent.append(paragraph)
            edit.put(document, paragraph)
    edit.changed.pop(node.id, None)
    edit.deleted += [below.id for below in node.walk() if below.id]
    edit.recounted += [*targets_in(node), document.id]


def set_updated(edit: Edit, operation: Operation) -> None:
    """Give a block the time it says it was changed at."""
    if not edit.workspace.block_exists(operation.id):
        return
    _, node = edit.block(operation.id)
    data: Any = operation["data"]
    if not isinstance(data, str):
        raise TransactionError("transaction panic: data is no string", code=CODE_MESSAGE)
    node.properties["updated"] = data
    edit.touch(*stamp_created(node))
    edit.changed[node.id] = node
