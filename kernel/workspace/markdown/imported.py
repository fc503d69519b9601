"""[core] Markdown from elsewhere: it is stored as it was parsed, without the way through the editor's DOM.

So its files hold what the editor's own never do: entities and escapes, fences of any kind, code without a fence.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Final

from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.markdown.pipeline import name_blocks
from kernel.workspace.tree import Node

# What the parser keeps for the DOM: no file holds it.
_DOM_ONLY: Final = frozenset({"NodeImage", "NodeBackslash", "NodeBr", "NodeEmoji"})
_MARKERS: Final = {
    "NodeBang": "!",
    "NodeOpenBracket": "[",
    "NodeCloseBracket": "]",
    "NodeOpenParen": "(",
    "NodeCloseParen": ")",
    "NodeLinkSpace": " ",
}


def imported_blocks(text: str, context: MarkdownContext) -> list[Node]:
    """The blocks of a text from elsewhere, all with ids.

    Raises:
        MarkdownError: text on which the kernel gives up.
    """
    context = replace(context, is_imported=True)
    blocks = parse_markdown(text, context=context)
    for block in blocks:
        for node in block.walk():
            _store(node)
    name_blocks(blocks, context)
    return blocks


def _store(node: Node) -> None:
    if node.type in _DOM_ONLY:
        node.data = ""
    elif node.type in _MARKERS:
        node.data = _MARKERS[node.type]
    elif node.type == "NodeHeading":
        node.insert(0, Node("NodeHeadingC8hMarker", data="#" * int(node.fields["HeadingLevel"]) + " "))
    elif node.type == "NodeBlockquoteMarker":
        node.data = "> "
    elif node.type == "NodeBlockQueryEmbed":
        script = next(child.data for child in node.children if child.type == "NodeBlockQueryEmbedScript")
        node.data = f"{{{{{script}}}}}\n"
    elif node.type == "NodeHTMLBlock":
        node.data = _boxed(node.data.strip())
    elif node.type == "NodeCodeBlock" and node.fields.get("IsFencedCodeBlock"):
        _store_fences(node)


def _boxed(html: str) -> str:
    """HTML stands in a ``<div>``."""
    opening = "" if html.startswith("<div>") else "<div>\n"
    return f"{opening}{html}" if html.endswith("</div>") else f"{opening}{html}\n</div>"


def _store_fences(node: Node) -> None:
    fence = node.children[0].data
    encoded = base64.b64encode(fence.encode()).decode()
    fields = {"CodeBlockFenceChar": ord(fence[0]), "CodeBlockFenceLen": len(fence)}
    node.fields |= fields | {"CodeBlockOpenFence": encoded, "CodeBlockCloseFence": encoded}
    for child in node.children:
        if child.type in ("NodeCodeBlockFenceOpenMarker", "NodeCodeBlockFenceCloseMarker"):
            child.fields["CodeBlockFenceLen"] = len(fence)
        elif child.type == "NodeCodeBlockFenceInfoMarker" and "CodeBlockInfo" in child.fields:
            node.fields["CodeBlockInfo"] = child.fields["CodeBlockInfo"]
