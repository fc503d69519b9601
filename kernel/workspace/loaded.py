"""[core] A loaded document: its tree, its blocks by id, and the bytes of what has not changed since it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from kernel.workspace import sy
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.tree import Node, Tree

# More blocks than this are found by one walk through all, fewer by a search for each.
_LOOKED_UP_ONE_BY_ONE_MAX: Final = 8


class _StoredChildren(msgspec.Struct):
    Children: list[msgspec.Raw] = []


@dataclass(slots=True)
class Document:
    """A loaded document: its tree and where each block stands in it."""

    tree: Tree
    nodes: dict[str, Node]
    size: int = 0  # nodes of any kind, as a measure of memory
    # The blocks right below the document as they were last written, and the bytes of each: what was not touched is not
    # encoded again.
    written_children: list[Node] = field(default_factory=list)
    encoded: list[bytes] = field(default_factory=list)
    # Whether containers stand in it that the next reader of its file will not see.
    holds_hollow: bool = False
    # The tree in its file, where that holds blocks that its readers do not see: the index tells of it.
    written: Tree | None = None
    # Blocks taken out since it was saved: id → node type.
    dropped: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.tree.root.id

    @property
    def root(self) -> Node:
        return self.tree.root

    @property
    def box(self) -> str:
        return self.tree.box

    @property
    def path(self) -> str:
        return self.tree.path

    def node(self, block_id: str) -> Node | None:
        return self.nodes.get(block_id)

    def encode(self, touched: Iterable[Node] | None) -> bytes:
        """The bytes of the document's file; ``touched`` None encodes all of it anew.

        A caller that names what it touched names every node whose properties, fields, data or children are new.
        """
        children = self.root.children
        if touched is None:
            self.encoded = [sy.encode(child) for child in children]
        else:
            self._encode_touched({id(top): top for top in map(self._top, touched)})
        self.written_children = children.copy()
        root = self.root
        head = sy.encode(Node(root.type, id=root.id, data=root.data, properties=root.properties, fields=root.fields))
        return b'%s,"Children":[%s]}' % (head[:-1], b",".join(self.encoded)) if children else head

    def _encode_touched(self, tops: dict[int, Node]) -> None:
        """Bring ``encoded`` up to date. Comparing lists of nodes is quick: a node equals itself alone."""
        children, before = self.root.children, self.written_children
        count = min(len(children), len(before))
        if children[:count] == before[:count]:
            changed = list(range(count, len(children)))
        elif len(children) == len(before):
            changed = [at for at, (now, then) in enumerate(zip(children, before, strict=True)) if now is not then]
        else:
            known = dict(zip(map(id, before), self.encoded, strict=True))
            self.encoded = [known.get(id(child), b"") for child in children]
            changed = [at for at, content in enumerate(self.encoded) if not content]
        del self.encoded[len(children) :]
        self.encoded += [b""] * (len(children) - len(self.encoded))
        if len(tops) > _LOOKED_UP_ONE_BY_ONE_MAX:
            touched = [at for at, child in enumerate(children) if id(child) in tops]
        else:
            touched = [children.index(top) for top in tops.values() if top in children]
        for at in {*changed, *touched}:
            self.encoded[at] = sy.encode(children[at])

    def take_encoded(self, content: bytes) -> None:
        """The file that the document was read from, just as it lies there, gives the bytes of its blocks."""
        stored = msgspec.json.decode(content, type=_StoredChildren).Children
        if len(stored) == len(self.root.children):
            self.written_children, self.encoded = self.root.children.copy(), [bytes(raw) for raw in stored]

    def _top(self, node: Node) -> Node:
        while node.parent is not None and node.parent is not self.root:
            node = node.parent
        return node

    def add(self, node: Node) -> None:
        """Blocks of a subtree that has just been put into the tree."""
        for below in node.walk():
            if below.id:
                self.nodes[below.id] = below

    def drop(self, node: Node) -> None:
        """Blocks of a subtree that has just been taken out."""
        for below in node.walk():
            if below.id and self.nodes.get(below.id) is below:
                del self.nodes[below.id]
                self.dropped[below.id] = below.type


def decoded(content: bytes, new_id: Callable[[], str]) -> tuple[Node, bool]:
    """The tree in a file, mended as the kernel mends it, and whether nothing had to be mended. Raises SyError."""
    try:
        root = sy.decode(content)
    except sy.DuplicateId:
        return sy.decode(content, new_id=new_id), False
    return root, not sy.repair(root, new_id)


def loaded_document(tree: Tree) -> Document:
    """A tree with its blocks by id."""
    nodes: dict[str, Node] = {}
    size = 0
    for node in tree.root.walk():
        size += 1
        if node.id and node.type in BLOCK_TYPES:
            nodes.setdefault(node.id, node)
    return Document(tree, nodes, size)
