"""[core] The workspace's door to the Markdown engine: text and editor DOM in, blocks out, and the way back.

Markdown always goes through the editor's DOM, as in the kernel: what the DOM cannot carry is lost (siyuan-markdown 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from kernel.workspace.markdown.context import ALL_MARKED, MarkdownContext, Unmarked
from kernel.workspace.markdown.pipeline import ROOT_INDEX_FIRST, dom_to_blocks, markdown_to_blocks
from kernel.workspace.render.dom import render_dom
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.tree import Node

if TYPE_CHECKING:
    from kernel.workspace.loaded import Document
    from kernel.workspace.workspace import Workspace

Mode = Literal["md", "textmark"]
# conf.editor.markdown: the switch of each inline marker.
_SWITCHES: Final = {
    "inlineAsterisk": "*",
    "inlineUnderscore": "_",
    "inlineSup": "^",
    "inlineSub": "~",
    "inlineTag": "#",
    "inlineMath": "$",
    "inlineStrikethrough": "~~",
    "inlineMark": "=",
}


def context_of(workspace: Workspace) -> MarkdownContext:
    """What a parse needs to know of this workspace."""
    return MarkdownContext(new_id=workspace.new_id, known_id=workspace.block_exists, unmarked=_unmarked(workspace))


def _unmarked(workspace: Workspace) -> Unmarked:
    """The inline markers that the editor's settings have switched off."""
    switches = workspace.conf.section("editor").get("markdown")
    if not isinstance(switches, dict):
        return ALL_MARKED
    return frozenset(marker for name, marker in _SWITCHES.items() if switches.get(name) is False)


def markdown_dom(workspace: Workspace, markdown: str) -> str:
    """The editor DOM of Markdown, as block calls hand it on; of no blocks at all, one empty paragraph.

    Raises:
        MarkdownError: the kernel gives up on it.
    """
    return markdown_to_blocks(markdown, context_of(workspace), keep_empty=True).dom


def markdown_blocks(workspace: Workspace, markdown: str, *, document_id: str = "") -> list[Node]:
    """The blocks of a document's Markdown, which may refer to the document itself. Raises MarkdownError."""
    context = context_of(workspace)
    if document_id:
        context = replace(context, known_id=lambda one: one == document_id or workspace.block_exists(one))
    return markdown_to_blocks(markdown, context, media_links=True).blocks


def parsed_dom(workspace: Workspace, dom: str, *, keeps_unknown_refs: bool = False) -> list[Node]:
    """The blocks in editor DOM; refs to nothing lose their id unless they are kept. Raises MarkdownError."""
    context = context_of(workspace)
    if keeps_unknown_refs:
        context = replace(context, known_id=lambda _: True)
    return dom_to_blocks(dom, context).blocks


def dom_of_blocks(blocks: Sequence[Node], *, first_index: int | None = None) -> str:
    """Editor DOM of blocks; ``first_index`` numbers those at the top."""
    return render_dom(blocks, first_index=first_index)


def dom_of_block(node: Node) -> str:
    """Editor DOM of one block as getBlockDOM gives it."""
    if node.type == "NodeDocument":
        return render_dom(node.children, first_index=ROOT_INDEX_FIRST)
    return dom_of_siblings([node])


def dom_of_siblings(nodes: Sequence[Node], *, place: Node | None = None) -> str:
    """Editor DOM of blocks that stand side by side; those right below a document are numbered.

    ``place`` is the first block as it stands in its document, where ``nodes`` are copies.
    """
    first = place or next(iter(nodes), None)
    is_top = first is not None and first.parent is not None and first.parent.type == "NodeDocument"
    return render_dom(nodes, first_index=ROOT_INDEX_FIRST if is_top else None)


def kramdown_of(workspace: Workspace, document: Document, node: Node, mode: Mode) -> str:
    """Kramdown of one block of a document, or of all of it."""
    if node is document.root:
        return workspace.rendered(document, mode, lambda: render_kramdown(node, mode=mode))
    return render_kramdown(node, mode=mode)
