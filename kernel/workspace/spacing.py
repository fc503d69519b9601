"""[core] Blanks between scripts: Chinese, Japanese and Korean beside Latin letters and digits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kernel.workspace.tree import Node

_EAST: Final = r"\u2e80-\u2fdf\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WEST: Final = r"A-Za-z0-9\u00c0-\u024f"
_BETWEEN: Final = re.compile(f"(?<=[{_EAST}])(?=[{_WEST}])|(?<=[{_WEST}])(?=[{_EAST}])")
# What has an edge of its own; a blank stands outside of it.
_EDGED: Final = frozenset({"code", "kbd", "tag", "inline-math"})


def spaced(text: str) -> str:
    """The text with a blank wherever the scripts meet."""
    return _BETWEEN.sub(" ", text)


def space_document(root: Node) -> bool:
    """Put blanks into the text of a document, in place; whether anything changed."""
    is_changed = False
    for node in root.walk():
        if node.type == "NodeText":
            better = spaced(node.data)
            is_changed |= better != node.data
            node.data = better
        elif node.type == "NodeTextMark" and not _EDGED & set(str(node.fields.get("TextMarkType", "")).split(" ")):
            content = node.fields.get("TextMarkTextContent")
            if isinstance(content, str):
                node.fields["TextMarkTextContent"] = spaced(content)
                is_changed |= node.fields["TextMarkTextContent"] != content
    return is_changed


def network_images(root: Node) -> list[str]:
    """The addresses of images that lie elsewhere, in the order they stand."""
    addresses = [
        part.data
        for node in root.walk()
        if node.type == "NodeImage"
        for part in node.children
        if part.type == "NodeLinkDest"
    ]
    return [address for address in addresses if address.lower().startswith(("http://", "https://", "//"))]
