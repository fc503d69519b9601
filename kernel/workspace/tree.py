"""The one tree of the notes: what the parser makes, the codec stores and every renderer walks. No I/O, no rules.

A node is a block, an inline or a marker, told apart by ``type`` (``NodeParagraph`` …; the table is ``nodes.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Node:
    """One node. ``fields`` holds what ``.sy`` stores besides ID, Type, Data, Properties and Children."""

    __slots__ = ("_place", "children", "data", "fields", "id", "parent", "properties", "type")

    def __init__(
        self,
        type: str,
        *,
        id: str = "",
        data: str = "",
        properties: dict[str, str] | None = None,
        fields: dict[str, Any] | None = None,
        children: list[Node] | None = None,
    ) -> None:
        self.type = type
        self.id = id
        self.data = data
        # Attributes as stored in .sy (entity-escaped values); blocks carry id and updated here too.
        self.properties: dict[str, str] = properties if properties is not None else {}
        # .sy field names: HeadingLevel, TextMarkType, ListData, CalloutType …
        self.fields: dict[str, Any] = fields if fields is not None else {}
        self.parent: Node | None = None
        # Where among its siblings it stood when somebody last knew: looked at first.
        self._place = 0
        self.children: list[Node] = []
        for child in children or ():
            self.append(child)

    def append(self, child: Node) -> None:
        child.parent, child._place = self, len(self.children)
        self.children.append(child)

    def insert(self, index: int, child: Node) -> None:
        child.parent, child._place = self, index
        self.children.insert(index, child)

    def index(self) -> int:
        """Position among the siblings. Raises LookupError for a root."""
        if self.parent is None:
            raise LookupError("a root has no siblings")
        siblings, place = self.parent.children, self._place
        # Where it stood, or one beside it: a sibling before it has come or gone.
        for at in (place, place - 1, place + 1):
            if 0 <= at < len(siblings) and siblings[at] is self:
                self._place = at
                return at
        # Nodes have no equality of their own: the list compares identities, without a loop of ours.
        try:
            self._place = siblings.index(self)
        except ValueError:
            raise LookupError("a node that is not among its parent's children") from None
        return self._place

    def detach(self) -> Node:
        """Take the node out of its parent; it keeps its own children."""
        if self.parent is not None:
            del self.parent.children[self.index()]
            self.parent = None
        return self

    def insert_after(self, sibling: Node) -> None:
        """Put ``sibling`` right after this node."""
        assert self.parent is not None, "a root has no siblings"
        self.parent.insert(self.index() + 1, sibling)

    def insert_before(self, sibling: Node) -> None:
        """Put ``sibling`` right before this node."""
        assert self.parent is not None, "a root has no siblings"
        self.parent.insert(self.index(), sibling)

    @property
    def previous(self) -> Node | None:
        if self.parent is None or (index := self.index()) == 0:
            return None
        return self.parent.children[index - 1]

    @property
    def next(self) -> Node | None:
        if self.parent is None:
            return None
        index = self.index() + 1
        return self.parent.children[index] if index < len(self.parent.children) else None

    def walk(self) -> Iterator[Node]:
        """This node and everything below it, in document order. Iterative: depth is not bounded by the stack."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def clone(self) -> Node:
        """A deep copy without a parent."""
        copy = Node(self.type, id=self.id, data=self.data, properties=dict(self.properties), fields=dict(self.fields))
        stack = [(self, copy)]
        while stack:
            source, target = stack.pop()
            for child in source.children:
                twin = Node(
                    child.type,
                    id=child.id,
                    data=child.data,
                    properties=dict(child.properties),
                    fields=dict(child.fields),
                )
                target.append(twin)
                stack.append((child, twin))
        return copy

    def __repr__(self) -> str:
        return f"<{self.type} {self.id or self.data[:20]!r}>"


class Tree:
    """One document: where it lives and its root (a NodeDocument, whose id is the document's)."""

    __slots__ = ("box", "hpath", "path", "root")

    def __init__(self, root: Node, *, box: str, path: str, hpath: str = "") -> None:
        self.root = root
        self.box = box  # notebook id
        self.path = path  # storage path inside the notebook: /<id>/<id>.sy
        self.hpath = hpath  # path of titles: /Plan/Week

    @property
    def id(self) -> str:
        return self.root.id
