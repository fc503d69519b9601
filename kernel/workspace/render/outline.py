"""[core] getDocOutline: the headings of a document as a tree. Source: siyuan-markdown section 6."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from kernel.workspace.render.dom_inline import inline_dom
from kernel.workspace.tree import Node

# Headings in these are not listed; those in items and super blocks are.
_CLOSED: Final = frozenset({"NodeBlockquote", "NodeCallout"})
_FONT_SIZE: Final = re.compile(r"font-size:.*?;")
_BLANK: Final = "\ue000"  # stands for a blank that must survive the panel
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
    name = inline_dom([shown for child in heading.children if (shown := _shown(child)) is not None])
    name = name.replace(_BLANK, "&nbsp;")
    if style := heading.properties.get("style"):
        name = f'<span style="{_inherited_size(style)}">{name}</span>'
    return name.strip().replace("\n", "")


def _shown(inline: Node) -> Node | None:
    """An inline as an outline has it: texts keep their blanks, escapes are texts, images have no title."""
    if inline.type == "NodeText":
        return Node("NodeText", data=inline.data.replace(" ", _BLANK))
    if inline.type == "NodeBackslash":
        return Node("NodeText", data="".join(child.data for child in inline.children).replace(" ", _BLANK))
    if inline.type not in _AS_DOM:
        return None
    copy = inline.clone()
    for child in list(copy.children):
        if child.type == "NodeLinkTitle":
            child.detach()
    if style := copy.properties.get("style"):
        copy.properties["style"] = _inherited_size(style)
    return copy


def _inherited_size(style: str) -> str:
    return _FONT_SIZE.sub("font-size: inherit;", style)
