"""[core] Markdown in SiYuan's dialect to nodes, before they pass the editor's DOM. The whole import is in ``pipeline``."""

from __future__ import annotations

from kernel.workspace.markdown.assemble import assemble
from kernel.workspace.markdown.blocks import parse_blocks
from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.tree import Node


def parse_markdown(text: str, *, context: MarkdownContext, keep_empty: bool = False) -> list[Node]:
    """The blocks of ``text``. They may still hold what no file stores: breaks, entities, emoji as characters.

    Raises:
        MarkdownError: an attribute list with an id on which the kernel gives up.
    """
    return assemble(parse_blocks(text, context), context, keep_empty=keep_empty)
