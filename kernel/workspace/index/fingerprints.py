"""[core] Which blocks of a document have changed since it was last indexed, without rendering any of them.

A fingerprint is a hash of everything the rows of a top block depend on; it never leaves the process. Where the bytes of
the blocks are at hand, as the document's file holds them, they are what is hashed: bytes keep their hash, so of a
document of thousands of blocks, one of them changed, nothing else is looked at by a loop of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import ne
from typing import Any, Final

from kernel.workspace.index.rows import block_ids, heading_parents
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.tree import Node, Tree

# More changes than this are found by one walk through all.
_IN_PLACE_MAX: Final = 16


@dataclass(frozen=True, slots=True)
class TopBlock:
    """A child of a document as it was indexed: what it looked like, and the ids of its rows."""

    fingerprint: int
    ids: tuple[str, ...]
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document as it was indexed."""

    place: tuple[str, str, str]  # box, path, hpath
    root: int
    tops: dict[str, TopBlock]
    # Where the bytes of its children were at hand: their hashes, and the ids of the children.
    prints: list[int] = field(default_factory=list)
    children: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Change:
    """What to do to the rows of a document: drop those of ``dropped_ids``, make those of ``made``."""

    indexed: Indexed
    dropped_ids: list[str]
    made: list[tuple[Node, str]]
    has_new_root: bool
    has_new_place: bool


def changed_since(tree: Tree, before: Indexed | None, pieces: Sequence[bytes] | None = None) -> Change:
    """Compare a document with what was indexed of it (None: nothing was, or nobody knows).

    ``pieces``: the bytes of its children, one for each, if they are at hand.
    """
    prints = list(map(hash, pieces)) if pieces is not None else []
    if before is not None and before.prints and len(prints) >= len(before.prints):
        found = _changed_in_place(tree, before, prints)
        if found is not None:
            return found
    by_node = dict(zip(map(id, tree.root.children), prints, strict=True)) if prints else {}
    known = before.tops if before is not None else {}
    tops: dict[str, TopBlock] = {}
    dropped: list[str] = []
    made: list[tuple[Node, str]] = []
    for node, parent_id in heading_parents(tree.root):
        fingerprint = hash((parent_id, by_node[id(node)])) if by_node else _fingerprint(node, parent_id)
        same = known.get(node.id)
        if same is not None and same.fingerprint == fingerprint:
            tops[node.id] = same
            continue
        if same is not None:
            dropped += same.ids
        tops[node.id] = TopBlock(fingerprint, tuple(block_ids(node)), node.type == "NodeHeading")
        made.append((node, parent_id))
    for top_id in known.keys() - tops.keys():
        dropped += known[top_id].ids
    return _change(tree, before, tops, dropped, made, prints)


def _changed_in_place(tree: Tree, before: Indexed, prints: list[int]) -> Change | None:
    """The same, where children were changed in their places or came at the end; None where more has happened, or where
    the sections of headings may have changed."""
    children, count = tree.root.children, len(before.prints)
    places = [*compress(range(count), map(ne, before.prints, prints)), *range(count, len(prints))]
    old_ids = [before.children[place] for place in places if place < count]
    fresh = [children[place] for place in places]
    tops = before.tops.copy()
    gone = [tops.pop(one, None) for one in old_ids]
    is_plain = (
        len(fresh) <= _IN_PLACE_MAX
        and not any(top is None or top.is_heading for top in gone)
        and all(node.id and node.type in BLOCK_TYPES and node.type != "NodeHeading" for node in fresh)
        and len({node.id for node in fresh}) == len(fresh)
        and not any(node.id in tops for node in fresh)
    )
    if not is_plain:
        return None
    made = []
    for place, node in zip(places, fresh, strict=True):
        parent_id = next((one.id for one in reversed(children[:place]) if one.type == "NodeHeading"), tree.id)
        tops[node.id] = TopBlock(hash((parent_id, prints[place])), tuple(block_ids(node)))
        made.append((node, parent_id))
    return _change(tree, before, tops, [one for top in gone if top is not None for one in top.ids], made, prints)


def _change(
    tree: Tree,
    before: Indexed | None,
    tops: dict[str, TopBlock],
    dropped: list[str],
    made: list[tuple[Node, str]],
    prints: list[int],
) -> Change:
    place, root = (tree.box, tree.path, tree.hpath), _root_hash(tree.root)
    children = [child.id for child in tree.root.children] if prints else []
    return Change(
        Indexed(place, root, tops, prints, children),
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
