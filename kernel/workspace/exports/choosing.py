"""[core] Which documents an export holds: those asked for, those below them, those that they refer to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernel.workspace.render.export_links import referred_ids
from kernel.workspace.views.store import find
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document, Workspace


def chosen_documents(workspace: Workspace, block_ids: Iterable[str], *, has_sub_documents: bool) -> list[str]:
    """The documents of these blocks, and where asked for all below them; unknown blocks are left out."""
    found: dict[str, None] = {}
    for block_id in block_ids:
        entry = workspace.blocks.entry_of(block_id)
        if entry is None:
            continue
        found[entry.id] = None
        if has_sub_documents:
            blocks = workspace.blocks
            below = blocks.in_box(entry.box) if entry.id == entry.box else blocks.below(entry.box, entry.path)
            found |= {one.id: None for one in sorted(below, key=lambda one: one.path.split("/"))}
    return list(found)


def with_related(
    workspace: Workspace, root_ids: Iterable[str], *, has_related: bool
) -> tuple[list[str], frozenset[str]]:
    """The documents with those they refer to, and so on, where asked for; and every block that is referred to."""
    found: dict[str, None] = {}
    def_ids: set[str] = set()
    # Depth first, as they are met.
    waiting = list(reversed(list(root_ids)))
    while waiting:
        root_id = waiting.pop()
        if root_id in found:
            continue
        document = readable(workspace, root_id)
        if document is None:
            continue
        found[root_id] = None
        related = []
        for def_id, written_id in _targets(workspace, document.root):
            entry = workspace.blocks.entry_of(def_id)
            if entry is not None:
                def_ids.add(written_id)
                related.append(entry.id)
        if has_related:
            waiting += reversed(related)
    return list(found), frozenset(def_ids)


def _targets(workspace: Workspace, root: Node) -> Iterable[tuple[str, str]]:
    """The blocks that a tree, or a database in it, names, and the ids under which they are noted."""
    yield from ((def_id, def_id) for def_id in referred_ids(root))
    for node in root.walk():
        if node.type != "NodeAttributeView":
            continue
        database = find(workspace, str(node.fields.get("AttributeViewID", "")))
        for value in database.bound_items() if database is not None else ():
            yield str(value["block"]["id"]), str(value["blockID"])


def readable(workspace: Workspace, root_id: str) -> Document | None:
    """A document, None where there is none or it cannot be read."""
    try:
        return workspace.document(root_id)
    except (NotFound, CorruptDocument, FileNotFoundError):
        return None
