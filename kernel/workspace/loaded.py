"""[core] A loaded document: its tree, its blocks by id, and the bytes of what has not changed since it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from itertools import compress
from operator import is_not
from typing import Final

import msgspec

from kernel.workspace import sy
from kernel.workspace.block_ids import NO_IDS, PackedIds
from kernel.workspace.blockmap import refs_in
from kernel.workspace.contents import Pieces
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.tree import Node, Tree

# More blocks than this are dealt with by one walk through all, fewer one by one.
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
    # Blocks put in and taken out (id → node type) since it was saved.
    fresh: dict[str, None] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    # The blocks right below the document that refer to something, as they were last written; None: nobody has looked.
    _targets: dict[Node, Set[str]] | None = None
    # Another object after every change that is saved: what is kept of one state is known by it.
    state: object = field(default_factory=object)

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

    def encode(self, touched: Iterable[Node] | None) -> Pieces:
        """The content of the document's file; ``touched`` None encodes all of it anew.

        A caller that names what it touched names every node whose properties, fields, data or children are new.
        """
        self.state = object()
        children = self.root.children
        if touched is None:
            self._targets = None
            self.encoded = [sy.encode(child) for child in children]
        else:
            self._encode_touched({id(top): top for top in map(self._top, touched)})
        self.written_children = children.copy()
        root = self.root
        head = sy.encode(Node(root.type, id=root.id, data=root.data, properties=root.properties, fields=root.fields))
        return Pieces(head[:-1] + b',"Children":[', self.encoded.copy(), b"]}") if children else Pieces(head)

    def targets(self) -> Set[str]:
        """The ids that the document refers to, as it was last encoded."""
        if self._targets is None:
            self._targets = {}
            for node, content in zip(self.written_children, self.encoded, strict=True):
                self._note_targets(node, content)
        return PackedIds.of(set().union(*self._targets.values())) if self._targets else NO_IDS

    def _note_targets(self, node: Node, content: bytes) -> None:
        if self._targets is None:
            return
        found = refs_in(content)
        if found:
            self._targets[node] = found
        else:
            self._targets.pop(node, None)

    def _encode_touched(self, tops: dict[int, Node]) -> None:
        """Bring ``encoded`` up to date. Comparing lists of nodes is quick: a node equals itself alone."""
        children, before = self.root.children, self.written_children
        count = min(len(children), len(before))
        if children[:count] == before[:count]:
            changed = list(range(count, len(children)))
        elif len(children) == len(before):
            changed = list(compress(range(count), map(is_not, children, before)))
        else:
            known = dict(zip(map(id, before), self.encoded, strict=True))
            self.encoded = [known.get(id(child), b"") for child in children]
            changed = [at for at, content in enumerate(self.encoded) if not content]
        del self.encoded[len(children) :]
        self.encoded += [b""] * (len(children) - len(self.encoded))
        if len(tops) > _LOOKED_UP_ONE_BY_ONE_MAX:
            touched = [at for at, child in enumerate(children) if id(child) in tops]
        else:
            touched = [top.index() for top in tops.values() if top.parent is self.root]
        if self._targets and children != before:
            present = set(children)
            self._targets = {node: found for node, found in self._targets.items() if node in present}
        for at in {*changed, *touched}:
            self.encoded[at] = content = sy.encode(children[at])
            self._note_targets(children[at], content)

    def take_encoded(self, content: bytes) -> None:
        """The file that the document was read from, just as it lies there, gives the bytes of its blocks."""
        self._targets = None
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
                self.fresh[below.id] = None

    def drop(self, node: Node) -> None:
        """Blocks of a subtree that has just been taken out."""
        for below in node.walk():
            if below.id and self.nodes.get(below.id) is below:
                del self.nodes[below.id]
                self.dropped[below.id] = below.type

    def ids_since(self, known: Set[str]) -> tuple[PackedIds, list[str]]:
        """The ids of all its blocks, and those that were not among ``known``, which it had when it was last saved."""
        if isinstance(known, PackedIds) and len(self.fresh) + len(self.dropped) <= _LOOKED_UP_ONE_BY_ONE_MAX:
            added = [one for one in self.fresh if one in self.nodes and one not in known]
            dropped = [one for one in self.dropped if one not in self.nodes and one in known]
            ids = known.changed(added, dropped)
            # Not so where the nodes were changed by others: then all of them are looked at.
            if len(ids) == len(self.nodes):
                return ids, added
        return PackedIds.of(self.nodes.keys()), list(self.nodes.keys() - set(known))


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
