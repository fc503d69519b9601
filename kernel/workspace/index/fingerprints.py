"""[core] Which blocks of a document have changed since it was last indexed, without rendering any of them.

A fingerprint is a hash of everything the rows of a top block depend on; it never leaves the process. Strings keep
their hash, so a document that is mostly untouched is compared at the price of walking it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernel.workspace.index.rows import block_ids, heading_parents
from kernel.workspace.tree import Node, Tree


@dataclass(frozen=True, slots=True)
class TopBlock:
    """A child of a document as it was indexed: what it looked like, and the ids of its rows."""

    fingerprint: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document as it was indexed."""

    place: tuple[str, str, str]  # box, path, hpath
    root: int
    tops: dict[str, TopBlock]


@dataclass(frozen=True, slots=True)
class Change:
    """What to do to the rows of a document: drop those of ``dropped_ids``, make those of ``made``."""

    indexed: Indexed
    dropped_ids: list[str]
    made: list[tuple[Node, str]]
    has_new_root: bool
    has_new_place: bool


def changed_since(tree: Tree, before: Indexed | None) -> Change:
    """Compare a document with what was indexed of it (None: nothing was, or nobody knows)."""
    known = before.tops if before is not None else {}
    tops: dict[str, TopBlock] = {}
    dropped: list[str] = []
    made: list[tuple[Node, str]] = []
    for node, parent_id in heading_parents(tree.root):
        fingerprint = _fingerprint(node, parent_id)
        same = known.get(node.id)
        if same is not None and same.fingerprint == fingerprint:
            tops[node.id] = same
            continue
        if same is not None:
            dropped += same.ids
        tops[node.id] = TopBlock(fingerprint, tuple(block_ids(node)))
        made.append((node, parent_id))
    for top_id in known.keys() - tops.keys():
        dropped += known[top_id].ids
    place, root = (tree.box, tree.path, tree.hpath), _root_hash(tree.root)
    return Change(
        Indexed(place, root, tops),
        sorted(dropped),
        made,
        has_new_root=before is None or before.root != root,
        has_new_place=before is not None and before.place != place,
    )


def _fingerprint(top: Node, parent_id: str) -> int:
    """Flat on purpose: this runs over every node of a document after every change of it."""
    parts: list[Any] = [parent_id]
    stack = [top]
    while stack:
        node = stack.pop()
        children = node.children
        parts += (node.type, node.id, node.data, len(children))
        if node.properties:
            parts += node.properties
            parts += node.properties.values()
        if node.fields:
            parts += node.fields
            parts += [repr(value) if isinstance(value, dict | list) else value for value in node.fields.values()]
        if children:
            stack += children
    return hash(tuple(parts))


def _root_hash(root: Node) -> int:
    return hash((root.id, tuple(root.properties.items())))
