"""[core] Word counts: getBlocksWordCount and getTreeStat. Source: siyuan-markdown section 6."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.render.inlines import NEWLINE_ESCAPE, is_mark, mark_text
from kernel.workspace.tree import Node

_COUNTED: Final = frozenset(
    {"NodeText", "NodeLinkText", "NodeCodeBlockCode", "NodeMathBlockContent", "NodeEmojiAlias", "NodeFootnotesRef"}
)
_ASCII_RUNES: Final = 128


@dataclass(frozen=True, slots=True)
class TextCounts:
    """What a text holds. Counts of runes, words, links, images and references."""

    runes: int = 0
    words: int = 0
    links: int = 0
    images: int = 0
    refs: int = 0

    def __add__(self, other: TextCounts) -> TextCounts:
        return TextCounts(
            self.runes + other.runes,
            self.words + other.words,
            self.links + other.links,
            self.images + other.images,
            self.refs + other.refs,
        )

    def stat(self, block_count: int) -> dict[str, int]:
        """The ``stat`` object of the answer."""
        return {
            "runeCount": self.runes,
            "wordCount": self.words,
            "linkCount": self.links,
            "imageCount": self.images,
            "refCount": self.refs,
            "blockCount": block_count,
        }


def counts(node: Node) -> TextCounts:
    """The counts of a block and everything below it."""
    parts: list[str] = []
    links = images = refs = 0
    for below in node.walk():
        if below.type in _COUNTED:
            parts.append(below.data)
        elif below.type == "NodeTextMark":
            parts.append(_counted_text(below))
            links += is_mark(below, "a")
            refs += is_mark(below, "block-ref") or is_mark(below, "file-annotation-ref")
        elif below.type == "NodeImage":
            images += 1
        elif below.type in BLOCK_TYPES:
            parts.append(" ")
    runes, words = _count("".join(parts))
    return TextCounts(runes, words, links, images, refs)


def block_count(root: Node) -> int:
    """How many blocks are below a node."""
    return sum(1 for node in root.walk() if node.type in BLOCK_TYPES) - 1


def total(nodes: Iterable[Node]) -> TextCounts:
    """The counts of several blocks together."""
    result = TextCounts()
    for node in nodes:
        result += counts(node)
    return result


def _counted_text(mark: Node) -> str:
    if text := mark_text(mark):
        return text
    formula = str(mark.fields.get("TextMarkInlineMathContent", ""))
    return (formula or str(mark.fields.get("TextMarkInlineMemoContent", ""))).replace(NEWLINE_ESCAPE, " ")


def _count(text: str) -> tuple[int, int]:
    """Runes that are not blank, and words: every non-ASCII rune is one, and so is each run of ASCII between blanks."""
    runes = words = 0
    for word in text.split():
        runes += len(word)
        was_ascii = False
        for letter in word:
            is_ascii = ord(letter) < _ASCII_RUNES
            words += not (is_ascii and was_ascii)
            was_ascii = is_ascii
    return runes, words
