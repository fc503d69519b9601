"""[core] Block queries become the blocks they find, for an export. Source: siyuan-markdown section 5."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.render.footnotes import section
from kernel.workspace.render.inlines import NEWLINE_ESCAPE
from kernel.workspace.tree import Node

EMBED_AS_BLOCKS: Final = 0
EMBED_AS_QUOTES: Final = 1
_LEVELS_MAX: Final = 7
# The kernel follows an embed that finds itself until megabytes are made of three lines; ours stops here.
_BLOCKS_MAX: Final = 20_000
# A line end in a text that has been read from Markdown again: it stays one, where others become hard ones.
SOFT_LINE_END: Final = "\ufdd6"
HEADING_ONLY, HEADING_CONTENT_ONLY = 1, 2


@dataclass(slots=True)
class Embeds:
    """Resolves embeds in a tree that is ours to change. ``query`` gives the nodes that a statement finds, in order."""

    query: Callable[[str], list[Node]]
    mode: int = EMBED_AS_QUOTES
    heading_mode: int = 0
    _depth: int = 0
    _made: int = 0
    _seen: set[int] = field(default_factory=set)

    def resolve(self, top: Node) -> None:
        """Replace every embed below ``top`` (or beside it, for a heading's section)."""
        self._depth += 1
        if self._depth > _LEVELS_MAX:
            self._depth -= 1
            return
        tops = list(top.children) if top.type == "NodeDocument" else section(top)
        for child in tops:
            level = _level_above(child)
            for node in list(child.walk()):
                if node.type == "NodeBlockQueryEmbed" and id(node) not in self._seen:
                    self._seen.add(id(node))
                    self._replace(node, level)
        self._depth -= 1

    def _replace(self, embed: Node, level: int) -> None:
        for found in self.query(statement_of(embed)):
            if found.type == "NodeBlockQueryEmbed" or self._made > _BLOCKS_MAX:
                continue
            for insert in self._inserts(found, embed, level):
                embed.insert_before(insert)
                self.resolve(insert)
        embed.detach()

    def _inserts(self, found: Node, embed: Node, level: int) -> list[Node]:
        copies = [_anonymous(node) for node in self._shown(found, embed)]
        self._made += sum(1 for copy in copies for _ in copy.walk())
        if self.mode == EMBED_AS_BLOCKS and found.type in ("NodeDocument", "NodeHeading"):
            _lower_headings(copies, level, deep=found.type == "NodeDocument")
        copies = [_in_list(copy, found) for copy in copies]
        if self.mode == EMBED_AS_BLOCKS or not copies:
            return copies
        return [Node("NodeBlockquote", children=[Node("NodeBlockquoteMarker", data=">"), *copies])]

    def _shown(self, found: Node, embed: Node) -> list[Node]:
        if found.type == "NodeDocument":
            return list(found.children)
        if found.type != "NodeHeading":
            return [found]
        own_mode = embed.properties.get("custom-heading-mode", "")
        mode = int(own_mode) if own_mode in ("0", "1", "2") else self.heading_mode
        if mode == HEADING_ONLY:
            return [found]
        if mode == HEADING_CONTENT_ONLY:
            if found.properties.get("fold") == "1":
                return []
            return [node for node in section(found)[1:] if node.properties.get("heading-fold") != "1"]
        return section(found)


def statement_of(embed: Node) -> str:
    """The SQL of an embed as it is run."""
    for child in embed.children:
        if child.type == "NodeBlockQueryEmbedScript":
            return html.unescape(child.data).replace(NEWLINE_ESCAPE, "\n")
    return ""


def _anonymous(node: Node) -> Node:
    """A copy without ids: what an embed shows is no target of references."""
    copy = node.clone()
    for below in copy.walk():
        if below.type in BLOCK_TYPES:
            below.id = ""
            below.properties = {}
        elif below.type == "NodeTableCell":
            below.data = ""  # it has been read from Markdown again, and counts with its text alone
        elif below.type == "NodeText":
            below.data = below.data.replace("\n", SOFT_LINE_END)
    return copy


def _in_list(copy: Node, found: Node) -> Node:
    if copy.type != "NodeListItem":
        return copy
    parent = found.parent
    return Node("NodeList", fields=dict(parent.fields) if parent is not None else {}, children=[copy])


def _level_above(node: Node) -> int:
    """The level of the heading that stands at or above a block, 1 if none does."""
    if node.parent is None:
        return int(node.fields.get("HeadingLevel", 1)) if node.type == "NodeHeading" else 1
    for sibling in reversed(node.parent.children[: node.index() + 1]):
        if sibling.type == "NodeHeading":
            return int(sibling.fields.get("HeadingLevel", 1))
    return 1


def _lower_headings(copies: list[Node], level: int, *, deep: bool) -> None:
    """Headings of the embedded blocks go below the heading the embed stands under."""
    headings = [node for copy in copies for node in (copy.walk() if deep else (copy,)) if node.type == "NodeHeading"]
    first = next((copy for copy in copies if copy.type == "NodeHeading"), None)
    shift = level - (int(first.fields.get("HeadingLevel", 1)) if first is not None else 0) + 1
    for heading in headings:
        heading.fields["HeadingLevel"] = min(6, max(2, int(heading.fields.get("HeadingLevel", 1)) + shift))
