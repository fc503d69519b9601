"""[core] Counting and plain texts for templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.workspace.intake import context_of
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.render.content import plain_content
from kernel.workspace.render.counts import block_count, counts
from kernel.workspace.render.inlines import visible_text
from kernel.workspace.templates.values import Record
from kernel.workspace.tree import Node
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace


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
    """Markdown without its marks; links and code included."""
    return "".join(plain_content(block) for block in _parsed(workspace, markdown))


def text_of_markdown(workspace: Workspace, markdown: str) -> str:
    """The plain text of Markdown."""
    return "".join(visible_text(block) for block in _parsed(workspace, markdown))


def _parsed(workspace: Workspace, markdown: str) -> list[Node]:
    try:
        return parse_markdown(markdown, context=context_of(workspace))
    except MarkdownError:
        return []
