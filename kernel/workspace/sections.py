"""[core] Headings and what stands under them: sections, the nearest heading above, folding. Siblings only, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Final

from kernel.workspace.nodes import BLOCK_TYPES, CONTAINER_TYPES, MARKER_TYPES
from kernel.workspace.tree import Node

BELOW_ALL: Final = 7  # a level under which any heading counts
FOLD: Final = "fold"
HEADING_FOLD: Final = "heading-fold"
_type: Final = attrgetter("type")


def level_of(node: Node) -> int:
    """A heading's level; 0 for any other block."""
    return int(node.fields.get("HeadingLevel", 0)) if node.type == "NodeHeading" else 0


def is_folded(node: Node) -> bool:
    return node.properties.get(FOLD) == "1"


def section_of(heading: Node) -> list[Node]:
    """The blocks after a heading up to the next one of its level or higher."""
    if heading.parent is None:
        return []
    level = level_of(heading)
    found = []
    for sibling in heading.parent.children[heading.index() + 1 :]:
        if sibling.type == "NodeHeading" and level_of(sibling) <= level:
            break
        if sibling.type not in MARKER_TYPES:
            found.append(sibling)
    return found


def previous_siblings(node: Node) -> Iterator[Node]:
    """The siblings before a node, the nearest first."""
    if node.parent is not None:
        yield from reversed(node.parent.children[: node.index()])


def headings_before(node: Node) -> list[Node]:
    """The headings among the siblings before a node, the nearest first."""
    if node.parent is None:
        return []
    before = node.parent.children[: node.index()]
    # Most documents have no headings, or few: told without a loop of ours.
    if "NodeHeading" not in map(_type, before):
        return []
    return [sibling for sibling in reversed(before) if sibling.type == "NodeHeading"]


def heading_above(node: Node) -> Node | None:
    """The heading whose section a block stands in, else its parent."""
    level = level_of(node) if node.type == "NodeHeading" else BELOW_ALL
    for sibling in headings_before(node):
        if level_of(sibling) < level:
            return sibling
    return node.parent


def folded_heading_above(node: Node) -> Node | None:
    """The topmost folded heading whose section hides a block."""
    level = level_of(node) if node.type == "NodeHeading" else BELOW_ALL
    found = None
    for sibling in headings_before(node):
        sibling_level = level_of(sibling)
        if sibling_level >= level:
            continue
        level = sibling_level
        if is_folded(sibling) and (node.type != "NodeHeading" or sibling_level < level_of(node)):
            found = sibling
    return found


def ancestors_with_headings(node: Node) -> list[Node]:
    """Every container above a block, and every heading whose section it or one of those stands in."""
    found = []
    below: Node | None = node
    while below is not None and below.parent is not None:
        level = level_of(below) if below.type == "NodeHeading" else BELOW_ALL
        for sibling in headings_before(below):
            if level_of(sibling) >= level:
                break
            found.append(sibling)
            level = level_of(sibling)
        found.append(below.parent)
        below = below.parent
    return found


def blocks_below(nodes: Iterable[Node]) -> Iterator[Node]:
    """Every block of some subtrees, their roots included."""
    for node in nodes:
        for below in node.walk():
            if below.type in BLOCK_TYPES:
                yield below


def mark_folded(nodes: Iterable[Node]) -> None:
    """Hide blocks under a folded heading."""
    for block in blocks_below(nodes):
        block.properties[FOLD] = "1"
        block.properties[HEADING_FOLD] = "1"


def clear_fold(nodes: Iterable[Node]) -> None:
    for node in nodes:
        for below in node.walk():
            below.properties.pop(FOLD, None)
            below.properties.pop(HEADING_FOLD, None)


def unfold(heading: Node) -> list[Node]:
    """Open a heading and everything in its section; the section."""
    section = section_of(heading)
    clear_fold(section)
    heading.properties.pop(FOLD, None)
    heading.properties.pop(HEADING_FOLD, None)
    return section


def hidden_by_fold(parent: Node) -> set[int]:
    """The children of a container, at any depth, that a folded heading hides (``id()`` of the topmost of each)."""
    hidden: set[int] = set()
    stack = [parent]
    while stack:
        folded_levels: list[int] = []
        for child in stack.pop().children:
            level = level_of(child)
            if level:
                while folded_levels and folded_levels[-1] >= level:
                    folded_levels.pop()
            is_hidden = bool(folded_levels)
            if level and is_folded(child):
                folded_levels.append(level)
            if is_hidden:
                hidden.add(id(child))
            elif child.type in CONTAINER_TYPES:
                stack.append(child)
    return hidden


def level_at(node: Node) -> int:
    """The level of the nearest heading at or before a block among its siblings; 0 if there is none."""
    for sibling in (node, *previous_siblings(node)):
        if level_of(sibling):
            return level_of(sibling)
    return 0


def top_level(root: Node) -> int:
    """The highest heading level among the blocks right below; 0 without headings."""
    return min((level_of(child) for child in root.children if level_of(child)), default=0)
