"""[core] The workspace's door to the Markdown engine: text and editor DOM in, blocks out, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.tree import Node

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace


def context_of(workspace: Workspace) -> MarkdownContext:
    """What a parse needs to know of this workspace."""
    return MarkdownContext(new_id=workspace.new_id, known_id=workspace.block_exists)


def markdown_dom(workspace: Workspace, markdown: str) -> str:
    """The editor DOM of Markdown, as block calls hand it on. Raises MarkdownError."""
    from kernel.workspace.markdown.pipeline import markdown_to_dom

    return markdown_to_dom(markdown, context_of(workspace))


def markdown_blocks(workspace: Workspace, markdown: str) -> list[Node]:
    """The blocks of a document's Markdown, through the editor DOM as the kernel goes. Raises MarkdownError."""
    from kernel.workspace.markdown.pipeline import markdown_to_blocks

    return markdown_to_blocks(markdown, context_of(workspace))


def parsed_dom(workspace: Workspace, dom: str) -> list[Node]:
    """The blocks in editor DOM."""
    from kernel.workspace.markdown.pipeline import dom_to_blocks

    return dom_to_blocks(dom, context_of(workspace))


def dom_of_blocks(blocks: list[Node], *, first_index: int | None = None) -> str:
    """Editor DOM of blocks; ``first_index`` numbers those at the top."""
    from kernel.workspace.render.dom import render_dom

    return render_dom(blocks, first_index=first_index)


def dom_of_block(node: Node) -> str:
    """Editor DOM of one block as getBlockDOM gives it."""
    from kernel.workspace.render.dom import render_dom

    return render_dom([node], first_index=1)


def kramdown_of(node: Node, mode: str) -> str:
    """Kramdown of one block, ``md`` or ``textmark``."""
    from kernel.workspace.render.kramdown import render_kramdown

    return render_kramdown(node, mode)
