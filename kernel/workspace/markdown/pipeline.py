"""[core] The one way in: Markdown or the editor's DOM to the blocks that a document stores (section 0).

Markdown → tree → editor DOM → HTML parser → stored tree. What the DOM cannot carry is lost, as in the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kernel.workspace.html_memory import remembered_dom
from kernel.workspace.markdown.context import MarkdownContext, MarkdownError
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.render.dom import render_dom
from kernel.workspace.tree import Node

ROOT_INDEX_FIRST: Final = 1  # data-node-index of the first block of an import
_MEDIA: Final = ((".mp3", "NodeAudio", "audio"), (".mp4", "NodeVideo", "video"))


@dataclass(frozen=True, slots=True)
class ImportedBlocks:
    """The blocks to store, and the DOM that the operation answers with."""

    dom: str
    blocks: list[Node]


def markdown_to_blocks(
    text: str, context: MarkdownContext, *, keep_empty: bool = False, media_links: bool = False
) -> ImportedBlocks:
    """Import Markdown; of none at all, one empty paragraph.

    ``keep_empty``: attribute lists without a block keep an empty paragraph (the block routes). ``media_links``: a
    paragraph that begins with a link to a recording becomes an audio or video block (``createDocWithMd``).

    Raises:
        MarkdownError: text on which the kernel gives up.
    """
    parsed = parse_markdown(text, context=context, keep_empty=keep_empty)
    _check_images(parsed)
    first_index = ROOT_INDEX_FIRST if parsed else None
    if not parsed:
        fresh = context.new_id()
        parsed = [Node("NodeParagraph", id=fresh, properties={"id": fresh, "updated": fresh[:14]})]
    dom = render_dom(parsed, first_index=first_index, parsed=True)
    imported = dom_to_blocks(dom, context)
    if media_links:
        _replace_media_links(imported.blocks)
    return ImportedBlocks(dom, imported.blocks)


def dom_to_blocks(dom: str, context: MarkdownContext) -> ImportedBlocks:
    """Import the editor's DOM.

    Raises:
        MarkdownError: DOM on which the kernel gives up.
    """
    blocks = remembered_dom(dom, context)
    name_blocks(blocks, context)
    _drop_unknown_refs(blocks, context)
    return ImportedBlocks(dom, blocks)


def _walk(blocks: Iterable[Node]) -> Iterable[Node]:
    for block in blocks:
        yield from block.walk()


def _check_images(blocks: list[Node]) -> None:
    for node in _walk(blocks):
        if node.type == "NodeImage" and all(child.type != "NodeLinkDest" for child in node.children):
            raise MarkdownError("an image without a source")


def name_blocks(blocks: list[Node], context: MarkdownContext) -> None:
    """Blocks without an id, and later ones with an id that is used already, get fresh ids."""
    seen: set[str] = set()
    for node in _walk(blocks):
        if node.type not in BLOCK_TYPES:
            continue
        if not node.id or node.id in seen:
            node.id = context.new_id()
        seen.add(node.id)
        if node.properties.get("id") != node.id:
            node.properties["id"] = node.id


def _drop_unknown_refs(blocks: list[Node], context: MarkdownContext) -> None:
    """A ref to a block that exists nowhere is stored without its id, its anchor trimmed."""
    own = {node.id for node in _walk(blocks) if node.id}
    for node in _walk(blocks):
        target = node.fields.get("TextMarkBlockRefID")
        if target and target not in own and not context.known_id(target):
            node.fields["TextMarkBlockRefID"] = node.fields["TextMarkBlockRefSubtype"] = ""
            node.fields["TextMarkTextContent"] = str(node.fields.get("TextMarkTextContent", "")).strip()


def _replace_media_links(blocks: list[Node]) -> None:
    for position, block in enumerate(blocks):
        replacement = _media_block(block)
        if replacement is not None:
            replacement.parent = block.parent
            blocks[position] = replacement
            continue
        for node in list(block.walk()):
            media = _media_block(node)
            if media is not None and node.parent is not None and node is not block:
                node.parent.children[node.index()] = media
                media.parent = node.parent


def _media_block(block: Node) -> Node | None:
    """The audio or video block that a paragraph becomes when it begins with a link to a recording."""
    first = block.children[0] if block.type == "NodeParagraph" and block.children else None
    if first is None or "a" not in first.fields.get("TextMarkType", "").split(" "):
        return None
    href = str(first.fields.get("TextMarkAHref", ""))
    for suffix, type_, tag in _MEDIA:
        if href.endswith(suffix):
            data = f'<{tag} controls="controls" src="{href}" data-src="{href}"></{tag}>'
            return Node(type_, id=block.id, data=data, properties={"id": block.id, "updated": block.id[:14]})
    return None
