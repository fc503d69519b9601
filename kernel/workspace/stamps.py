"""[core] ``updated``: which blocks a change stamps, and with what (siyuan-markdown section 8)."""

from __future__ import annotations

from kernel.ids import is_node_id
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.sections import ancestors_with_headings
from kernel.workspace.tree import Node

STAMP_LENGTH = 14


def created_stamp(block_id: str) -> str:
    """The time in an id; the id itself if it has none."""
    return block_id.partition("-")[0] if "-" in block_id else block_id


def is_stamp(text: str) -> bool:
    return len(text) == STAMP_LENGTH and text.isdecimal()


def stamp_created(node: Node) -> list[Node]:
    """A block put into a tree: it and its children get the times of their ids where they have none, and what it
    stands in is as new as the block itself. Returns what has been stamped."""
    for below in node.walk():
        if below.type in BLOCK_TYPES and not below.properties.get("updated") and is_node_id(below.id):
            below.properties["updated"] = created_stamp(below.id)
    created = created_stamp(node.id)
    updated = node.properties.get("updated", "")
    if not is_stamp(updated):
        node.properties["updated"] = updated = created
    updated = max(updated, created)
    parents = ancestors_with_headings(node)
    for parent in parents:
        parent.properties["updated"] = updated
    return [node, *parents]


def stamp_changed(node: Node, now: str) -> list[Node]:
    """A block that was changed now, with all it stands in. Returns what has been stamped."""
    node.properties["updated"] = now
    parents = ancestors_with_headings(node)
    for parent in parents:
        parent.properties["updated"] = now
    return [node, *parents]
