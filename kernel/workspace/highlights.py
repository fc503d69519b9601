"""[core] Words that were searched for, marked in the blocks that are shown (getDoc with a query)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kernel.workspace.nodes import BLOCK_TYPES, CONTAINER_TYPES
from kernel.workspace.render.content import plain_content
from kernel.workspace.tree import Node

if TYPE_CHECKING:
    from kernel.workspace.workspace import Document

_MARK = "search-mark"


def keywords_of(document: Document, query: str) -> list[str]:
    """The words of a query as they are written in the document's blocks that hold all of them."""
    words = list(dict.fromkeys(query.split()))
    if not words:
        return []
    pattern = _pattern(words)
    found: dict[str, None] = {}
    for node in document.nodes.values():
        if node.type in CONTAINER_TYPES and node is not document.root:
            continue
        text = plain_content(node)
        if all(word.lower() in text.lower() for word in words):
            found.update(dict.fromkeys(match[0] for match in pattern.finditer(text)))
    return list(found)


def _pattern(words: list[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(re.escape(word) for word in longest_first), re.IGNORECASE)


def highlight(nodes: list[Node], keywords: list[str], block_id: str, root_id: str) -> None:
    """Mark the words in copies of blocks: everywhere if the document was asked for, else in that block only."""
    pattern = _pattern(keywords)
    for node in nodes:
        for below in list(node.walk()):
            is_hit = block_id == root_id or any(one.id == block_id for one in _with_ancestors(below))
            if is_hit and below.type == "NodeText" and below.parent is not None:
                _mark(below, pattern)


def _with_ancestors(node: Node) -> list[Node]:
    found = []
    one: Node | None = node
    while one is not None:
        if one.type in BLOCK_TYPES:
            found.append(one)
        one = one.parent
    return found


def _mark(text: Node, pattern: re.Pattern[str]) -> None:
    pieces: list[Node] = []
    end = 0
    for match in pattern.finditer(text.data):
        if match.start() > end:
            pieces.append(Node("NodeText", data=text.data[end : match.start()]))
        fields = {"TextMarkType": _MARK, "TextMarkTextContent": match[0]}
        pieces.append(Node("NodeTextMark", fields=fields))
        end = match.end()
    if not pieces:
        return
    if end < len(text.data):
        pieces.append(Node("NodeText", data=text.data[end:]))
    for piece in pieces:
        text.insert_before(piece)
    text.detach()
