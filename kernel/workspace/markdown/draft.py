"""[core] A block while its lines are still being read. Becomes a Node once the document is complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kernel.workspace.markdown.ial import Attributes
from kernel.workspace.tree import Node

ATTRIBUTE_LIST: Final = "AttributeList"  # a draft's own kind: a line {: …} that belongs to the block before it

_TEXT_HOLDERS: Final = frozenset(
    {
        "NodeParagraph",
        "NodeCodeBlock",
        "NodeHTMLBlock",
        "NodeMathBlock",
        "NodeBlockQueryEmbed",
        "NodeIFrame",
        "NodeWidget",
        "NodeVideo",
        "NodeAudio",
        "NodeAttributeView",
    }
)
_CHILDLESS: Final = (_TEXT_HOLDERS - {"NodeBlockQueryEmbed"}) | {"NodeThematicBreak", "NodeTable"}
CONTAINERS: Final = frozenset(
    {"NodeDocument", "NodeBlockquote", "NodeCallout", "NodeList", "NodeListItem", "NodeSuperBlock"}
)


@dataclass(slots=True)
class ListMarker:
    """What the first line of an item says of it and, for the first item, of its list."""

    typ: int
    bullet: str = ""
    delimiter: str = ""
    start: int = 0
    offset: int = 0  # columns before the marker, relative to the container
    padding: int = 0  # columns from the marker's start to the item's text
    number: int = -1

    def continues(self, other: ListMarker) -> bool:
        """Whether an item marked ``other`` belongs to the list marked so."""
        return (self.typ, self.bullet, self.delimiter) == (other.typ, other.bullet, other.delimiter)


class Draft:
    """One open or closed block. ``text`` is None where the kernel has no text at all (it then drops a paragraph)."""

    __slots__ = (
        "attributes",
        "children",
        "closed",
        "fence",
        "fields",
        "html_kind",
        "identity",
        "indent",
        "inlines",
        "kind",
        "line",
        "marker",
        "parent",
        "pieces",
        "text",
    )

    def __init__(self, kind: str, text: str | None = None) -> None:
        self.kind = kind
        self.text = text
        self.pieces: list[str] = []
        self.children: list[Draft] = []
        self.parent: Draft | None = None
        self.closed = False
        self.attributes: Attributes | None = None
        self.identity = ""
        self.fields: dict[str, object] = {}
        self.fence = ""  # the opening fence of a code block
        self.html_kind = 0
        self.indent = 0  # blanks before a fence: as many may be taken off the lines below it
        self.line = 0  # the number of its first line
        self.marker: ListMarker | None = None
        self.inlines: list[Node] | None = None

    @property
    def holds_text(self) -> bool:
        return self.kind in _TEXT_HOLDERS

    def can_contain(self, kind: str) -> bool:
        if self.kind in _CHILDLESS:
            return False
        if self.kind == "NodeList":
            return kind == "NodeListItem"
        if self.kind == "NodeSuperBlock":
            return not (self.children and self.children[-1].kind == "NodeSuperBlockCloseMarker")
        return kind != "NodeListItem"

    def append(self, child: Draft) -> Draft:
        child.parent = self
        self.children.append(child)
        return child

    def insert_after(self, sibling: Draft) -> None:
        assert self.parent is not None, "the document has no siblings"
        sibling.parent = self.parent
        self.parent.children.insert(self.index() + 1, sibling)

    def index(self) -> int:
        """Position in the parent, looked for from the end: blocks are touched while they are the last ones."""
        assert self.parent is not None, "the document has no siblings"
        siblings = self.parent.children
        return next(position for position in range(len(siblings) - 1, -1, -1) if siblings[position] is self)

    def detach(self) -> None:
        assert self.parent is not None, "the document has no siblings"
        del self.parent.children[self.index()]
        self.parent = None

    def gather(self) -> str:
        """The lines added so far as one text; from here on ``text`` holds it."""
        if self.pieces:
            self.text = (self.text or "") + "".join(self.pieces)
            self.pieces.clear()
        return self.text or ""

    def within(self, kind: str) -> bool:
        """Whether an ancestor is of ``kind``."""
        parent = self.parent
        while parent is not None:
            if parent.kind == kind:
                return True
            parent = parent.parent
        return False
