"""[core] getDocOutline: the headings of a document as a tree. Source: siyuan-markdown section 6."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.render.inline_dom import inline_dom
from kernel.workspace.tree import Node

# Headings in these are not listed; those in items and super blocks are.
_CLOSED: Final = frozenset({"NodeBlockquote", "NodeCallout"})
_FONT_SIZE: Final = re.compile(r"font-size:.*?;")
_AS_DOM: Final = frozenset({"NodeTextMark", "NodeEmoji", "NodeImage"})


@dataclass(slots=True)
class OutlineHeading:
    """One heading with the headings below it. ``name`` is inline DOM."""

    id: str
    level: int
    name: str
    children: list[OutlineHeading] = field(default_factory=list)


def outline(root: Node, *, title: str = "") -> list[OutlineHeading]:
    """The top headings of a document; with ``title`` (a preview with its title) that comes first, as an h1."""
    top: list[OutlineHeading] = []
    above: list[OutlineHeading] = []
    if title:
        top.append(OutlineHeading(root.id, 1, html.escape(title).replace(" ", "&nbsp;")))
        above.append(top[0])
    for node in _headings(root):
        heading = OutlineHeading(node.id, int(node.fields.get("HeadingLevel", 1)), heading_name(node))
        while above and above[-1].level >= heading.level:
            above.pop()
        (above[-1].children if above else top).append(heading)
        above.append(heading)
    return top


def _headings(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "NodeHeading":
            yield node
        elif node.type not in _CLOSED:
            stack.extend(reversed(node.children))


def heading_name(heading: Node) -> str:
    """The inline DOM of a heading, or of any block, as outlines show it."""
    parts: list[str] = []
    stack = list(reversed(heading.children))
    while stack:
        node = stack.pop()
        if node.type in _AS_DOM:
            parts.append(inline_dom(node if node.type != "NodeImage" else _without_title(node)))
        elif node.type == "NodeText":
            parts.append(html.escape(node.data).replace("&#x27;", "'").replace(" ", "&nbsp;"))
        else:
            stack.extend(reversed(node.children))
    name = "".join(parts)
    if style := heading.properties.get("style"):
        name = f'<span style="{_inherited_size(style)}">{name}</span>'
    return name.strip().replace("\n", "")


def _without_title(image: Node) -> Node:
    """The title of an image is no part of an outline. The copy stands where the image stands."""
    shown = image.clone()
    for child in list(shown.children):
        if child.type == "NodeLinkTitle":
            child.detach()
    place = Node("NodeParagraph", children=[Node("NodeText")] if image.previous is not None else [])
    place.append(shown)
    if image.next is not None:
        place.append(image.next.clone())
    return shown


def _inherited_size(style: str) -> str:
    return _FONT_SIZE.sub("font-size: inherit;", style)
