"""[core] Counting and plain texts for templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernel.workspace.intake import context_of
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.render.content import mark_content
from kernel.workspace.render.counts import block_count, counts
from kernel.workspace.render.inlines import mark_text, mark_types
from kernel.workspace.templates.values import Record
from kernel.workspace.tree import Node
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

_PLAIN: Final = frozenset({"NodeText", "NodeLinkText"})
_SHOWN: Final = _PLAIN | {
    "NodeBackslashContent",
    "NodeCodeBlockCode",
    "NodeEmojiAlias",
    "NodeEmojiUnicode",
    "NodeHTMLEntity",
    "NodeMathBlockContent",
}
_NOT_PLAIN: Final = frozenset({"code", "inline-math"})
_TAGS: Final = ("u", "kbd")


def block_stat(workspace: Workspace, block_id: str) -> Record | None:
    """What a block holds; None for an unknown one."""
    try:
        document, node = workspace.node(block_id)
    except (NotFound, CorruptDocument):
        return None
    found = counts(node)
    blocks = block_count(document.root) if node is document.root else 1
    names = ("RuneCount", "WordCount", "LinkCount", "ImageCount", "RefCount", "BlockCount")
    return Record(zip(names, found.stat(blocks).values(), strict=True))


def text_counts(text: str) -> tuple[int, int]:
    """Runes and words of a plain text."""
    found = counts(Node("NodeText", data=text))
    return found.runes, found.words


def content_of(workspace: Workspace, markdown: str) -> str:
    """What Markdown says: code, formulas and memos included, where links lead left out. Lines part some of its blocks."""
    root = Node("NodeDocument", children=_parsed(workspace, markdown))
    said = ""
    pending: list[tuple[Node, bool]] = [(root, True)]
    while pending:
        node, enters = pending.pop()
        if enters:
            said += _shown_words(node)
            pending.append((node, False))
            pending.extend((child, True) for child in reversed(node.children))
        elif node.type in BLOCK_TYPES and _is_parted(node) and len(said[:2].encode()) > 1 and not said.endswith("\n"):
            said += "\n"
    return said


def text_of_markdown(workspace: Workspace, markdown: str) -> str:
    """The plain text of Markdown: only what is neither code nor formula, entity nor emoji; its blocks are not parted."""
    return "".join(_plain_words(node) for block in _parsed(workspace, markdown) for node in block.walk())


def _shown_words(node: Node) -> str:
    """What one node adds to a content."""
    if node.type == "NodeTextMark":
        return _mark_words(node, mark_content(node))
    return node.data if node.type in _SHOWN else ""


def _plain_words(node: Node) -> str:
    """What one node adds to a plain text."""
    if node.type == "NodeTextMark":
        return _mark_words(node, mark_text(node)) if _NOT_PLAIN.isdisjoint(mark_types(node)) else ""
    return node.data if node.type in _PLAIN else ""


def _mark_words(mark: Node, words: str) -> str:
    """Two kinds are written as tags, which are text here; an anchor that was left empty says nothing."""
    if words == mark.fields.get("TextMarkBlockRefID"):
        return ""
    tag = next((tag for tag in _TAGS if tag in mark_types(mark)), "")
    return f"<{tag}>{words}</{tag}>" if tag else words


def _is_parted(block: Node) -> bool:
    """Whether a line ends behind a block: two nodes have to follow it, and lists of attributes count as such."""
    if block.parent is None or block.next is None:
        return False
    return block.type == "NodeListItem" or block.parent.type == "NodeDocument" or block.next.next is not None


def _parsed(workspace: Workspace, markdown: str) -> list[Node]:
    try:
        return parse_markdown(markdown, context=context_of(workspace))
    except MarkdownError:
        return []
