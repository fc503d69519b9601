"""[core] Markdown from elsewhere: it is stored as it was parsed, without the way through the editor's DOM.

So its files hold what the editor's own never do: entities and escapes, fences of any kind, code without a fence.
"""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from kernel.workspace.markdown.callouts import ICONS
from kernel.workspace.markdown.context import GAP, MarkdownContext
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.markdown.pipeline import name_blocks
from kernel.workspace.tree import Node

# What begins an attribute list, a query and a callout, and what keeps the parser from seeing it: no text holds that.
_SIGNS: Final = re.compile(r"\{(?=[:{])|\[(?=!)")
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


def imported_blocks(text: str, context: MarkdownContext, *, is_plain: bool = False) -> list[Node]:
    """The blocks of a text from elsewhere, all with ids.

    ``is_plain``: the text is in no dialect of notes: it has no attribute lists, queries and callouts, but recordings.

    Raises:
        MarkdownError: text on which the kernel gives up.
    """
    context = replace(context, is_imported=True, unmarked=context.unmarked | {"="})
    blocks = parse_markdown(_SIGNS.sub(lambda sign: sign[0] + GAP, text) if is_plain else text, context=context)
    for block in blocks:
        for node in block.walk():
            if is_plain:
                _show_signs(node)
            _store(node)
            if is_plain and node.type == "NodeHTMLBlock":
                _take_recording(node)
    name_blocks(blocks, context)
    return blocks


def _show_signs(node: Node) -> None:
    """Put signs back together that the parser was not to see as such."""
    node.data = node.data.replace(GAP, "")
    for name, value in node.fields.items():
        if isinstance(value, str) and GAP in value:
            node.fields[name] = value.replace(GAP, "")
    shown, target = node.fields.get("TextMarkTextContent"), unquote(node.fields.get("TextMarkAHref", ""))
    if target and shown == target:
        node.fields["TextMarkAHref"] = target  # an address in angle brackets leads where it says


def _take_recording(node: Node) -> None:
    html = node.data.removeprefix("<div>").removesuffix("</div>").strip()
    for tag, kind in (("<audio", "NodeAudio"), ("<video", "NodeVideo")):
        if html.lower().startswith(tag) and html.endswith(">"):
            node.type, node.data = kind, html


def _store(node: Node) -> None:
    if node.type in _DOM_ONLY:
        node.data = ""
    elif node.type in _MARKERS:
        node.data = _MARKERS[node.type]
    elif node.type == "NodeHeading":
        node.insert(0, Node("NodeHeadingC8hMarker", data="#" * int(node.fields["HeadingLevel"]) + " "))
    elif node.type == "NodeCallout":
        _store_icon(node)
    elif node.type == "NodeBlockquoteMarker":
        node.data = "> "
    elif node.type == "NodeBlockQueryEmbed":
        script = next(child.data for child in node.children if child.type == "NodeBlockQueryEmbedScript")
        node.data = f"{{{{{script}}}}}\n"
    elif node.type == "NodeHTMLBlock":
        node.data = _boxed(node.data.strip())
    elif node.type == "NodeCodeBlock" and node.fields.get("IsFencedCodeBlock"):
        _store_fences(node)


def _store_icon(node: Node) -> None:
    """Only an icon that is written there is stored."""
    if node.fields.get("CalloutIcon") == ICONS.get(str(node.fields.get("CalloutType", ""))):
        node.fields["CalloutIcon"] = ""


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
