"""[core] Words that were searched for, marked in the blocks that are shown (getDoc with a query)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kernel.workspace.marking import HIT_LEFT, HIT_RIGHT, escaped
from kernel.workspace.nodes import BLOCK_TYPES, CONTAINER_TYPES, KINDS
from kernel.workspace.render.content import plain_content
from kernel.workspace.render.dom import DRAWN_LANGUAGES, code_parts
from kernel.workspace.render.inlines import mark_types
from kernel.workspace.tree import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kernel.workspace.workspace import Document

_MARK: Final = "search-mark"
# Stretches that are drawn by something else than their text.
_UNMARKED: Final = frozenset({"inline-math", "inline-memo"})


def keywords_of(document: Document, query: str, types: frozenset[str] | None = None) -> list[str]:
    """The words of a query as they are written in a document's blocks, in the order of the text.

    ``types``: the kinds of blocks that are looked through, in SQL letters; all but containers where none are named.
    """
    words = list(dict.fromkeys(query.split()))
    if not words:
        return []
    pattern = _pattern(words)
    return words_of(document, lambda text: (match[0] for match in pattern.finditer(text)), types)


def words_of(
    document: Document, finds: Callable[[str], Iterable[str]], types: frozenset[str] | None = None
) -> list[str]:
    """What is found in the texts of a document's blocks; ``types`` as for ``keywords_of``."""
    found: dict[str, None] = {}
    for node in document.nodes.values():
        if types is None:
            is_chosen = node.type not in CONTAINER_TYPES or node is document.root
        else:
            is_chosen = KINDS[node.type].sql_type in types
        if is_chosen:
            found.update(dict.fromkeys(finds(plain_content(node))))
    return list(dict.fromkeys(word.removeprefix("#").removesuffix("#") for word in found if word))


def _pattern(words: list[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(re.escape(word) for word in longest_first), re.IGNORECASE)


def highlight(nodes: list[Node], keywords: list[str], block_id: str, root_id: str) -> None:
    """Mark the words in copies of blocks: everywhere if the document was asked for, else in that block only."""
    pattern, in_text = _pattern(keywords), _pattern([escaped(word) for word in keywords])
    for node in nodes:
        for below in list(node.walk()):
            is_hit = block_id == root_id or any(one.id == block_id for one in _with_ancestors(below))
            if not is_hit or below.parent is None:
                continue
            if below.type == "NodeText":
                _mark(below, in_text)
            elif below.type == "NodeTextMark" and _UNMARKED.isdisjoint(mark_types(below)):
                _mark_in_mark(below, pattern)
            elif below.type == "NodeCodeBlockCode" and code_parts(below.parent)[0] not in DRAWN_LANGUAGES:
                below.data = pattern.sub(lambda match: f"{HIT_LEFT}{match[0]}{HIT_RIGHT}", below.data)


def with_marked_code(dom: str) -> str:
    """Drawn blocks in which the words marked in code are shown, too: code is no place for marks in a tree."""
    return dom.replace(HIT_LEFT, f'<span data-type="{_MARK}">').replace(HIT_RIGHT, "</span>")


def _with_ancestors(node: Node) -> list[Node]:
    found = []
    one: Node | None = node
    while one is not None:
        if one.type in BLOCK_TYPES:
            found.append(one)
        one = one.parent
    return found


def _mark(text: Node, pattern: re.Pattern[str]) -> None:
    # The kernel looks in text that it has made safe for HTML, and leaves it so: it is made safe once more when drawn.
    shown = escaped(text.data)
    pieces: list[Node] = []
    end = 0
    for match in pattern.finditer(shown):
        if match.start() > end:
            pieces.append(Node("NodeText", data=shown[end : match.start()]))
        fields = {"TextMarkType": _MARK, "TextMarkTextContent": match[0]}
        pieces.append(Node("NodeTextMark", fields=fields))
        end = match.end()
    if not pieces:
        return
    if end < len(shown):
        pieces.append(Node("NodeText", data=shown[end:]))
    _replace(text, pieces)


def _mark_in_mark(mark: Node, pattern: re.Pattern[str]) -> None:
    """A stretch with marks of its own is cut, and where the word stands it has one more."""
    text = str(mark.fields.get("TextMarkTextContent", ""))
    kinds = str(mark.fields.get("TextMarkType", ""))
    pieces: list[Node] = []
    end = 0
    for match in pattern.finditer(text):
        if match.start() > end:
            pieces.append(_cut(mark, text[end : match.start()], kinds))
        pieces.append(_cut(mark, match[0], f"{kinds} {_MARK}"))
        end = match.end()
    if not pieces:
        return
    if end < len(text):
        pieces.append(_cut(mark, text[end:], kinds))
    _replace(mark, pieces)


def _cut(mark: Node, text: str, kinds: str) -> Node:
    piece = mark.clone()
    piece.fields.update(TextMarkType=kinds, TextMarkTextContent=text)
    return piece


def _replace(node: Node, pieces: list[Node]) -> None:
    for piece in pieces:
        node.insert_before(piece)
    node.detach()
