"""[core] exportMdHTML: an exported tree as a page, straight from the tree. Source: the recorded kernel.

The preview prints its tree as Markdown and reads it once more; this page is written from what the editor would show, so
that tags and what is left of references stay marks, lists say where they start, and a title is named by its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kernel.workspace.nodes import LIST_ORDERED, LIST_TASK
from kernel.workspace.render.content import plain_content
from kernel.workspace.render.footnotes import DEFINITIONS_BEGIN, DEFINITIONS_END, shown_reference
from kernel.workspace.render.inlines import ZERO_WIDTH, is_mark
from kernel.workspace.render.preview import Page
from kernel.workspace.tree import Node

_HEADING: Final = "NodeHeading"


def saved_page(exported: Node) -> str:
    """The HTML of a tree that was exported as the editor shows it (``export.exported_tree``)."""
    return _SavedPage(exported).page()


def _names(exported: Node) -> dict[int, str]:
    """Headings by their words, those that come again with a dash more."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for node in exported.walk():
        if node.type != _HEADING:
            continue
        name = "".join(char if char.isalpha() or char.isdigit() else "-" for char in plain_content(node).lstrip("#"))
        while name in taken:
            name += "-"
        taken.add(name)
        names[id(node)] = name
    return names


class _SavedPage(Page):
    def __init__(self, exported: Node) -> None:
        super().__init__(list(exported.children))
        self.document_id = exported.id
        self.names = _names(exported)
        definitions = [
            one for block in exported.children if block.type == "NodeFootnotesDefBlock" for one in block.children
        ]
        self.places = {one.data: place for place, one in enumerate(definitions, start=1)}

    def block(self, node: Node) -> None:
        if node.type == "NodeFootnotesDefBlock":
            self._footnotes(node)
        else:
            super().block(node)

    def _footnotes(self, block: Node) -> None:
        self.put(DEFINITIONS_BEGIN)
        for definition in block.children:
            self.put("<li>")
            self.blocks(definition)
            self.put("</li>\n")
        self.put(DEFINITIONS_END)

    def heading(self, node: Node) -> None:
        """A title has no id of its own."""
        if node.id in ("", self.document_id):
            node.properties = {**node.properties, "id": self.names[id(node)]}
            node.id = node.properties["id"]
        super().heading(node)

    def list_tag(self, node: Node) -> tuple[str, str]:
        data = node.fields.get("ListData") or {}
        kind, bullet, start = data.get("Typ", 0), data.get("BulletChar", 0), data.get("Start", 0)
        if kind == LIST_ORDERED:
            first = next((child for child in node.children if child.type == "NodeListItem"), None)
            start = ((first.fields.get("ListData") or {}) if first is not None else {}).get("Num", start or 1)
        tag = "ol" if kind == LIST_ORDERED or (kind == LIST_TASK and not bullet) else "ul"
        return tag, f' start="{start}"' if not bullet and start != 1 else ""

    def inlines(self, nodes: Sequence[Node]) -> None:
        after_code = False
        for node in nodes:
            if node.type == "NodeFootnotesRef":
                self._reference(node)
            elif node.type == "NodeText" and after_code:
                super().inlines([Node("NodeText", data=node.data.removeprefix(ZERO_WIDTH))])
            else:
                super().inlines([node])
            after_code = is_mark(node, "code")

    def _reference(self, node: Node) -> None:
        place = self.places.get(node.data)
        if place is not None:
            self.put(shown_reference(place, node.data.removeprefix("^")))

    def text(self, node: Node) -> None:
        self.escaped(node)

    def tag_mark(self, node: Node, text: str) -> None:
        self.plain_mark(node, text)
