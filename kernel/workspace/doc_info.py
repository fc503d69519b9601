"""[core] What a document's own panel shows: attributes, who refers to it, what lies below it (getDocInfo)."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from kernel.json_text import read_json
from kernel.workspace.attributes import shown
from kernel.workspace.names import SUFFIX, without_suffix
from kernel.workspace.notebooks import DATA
from kernel.workspace.refs import block_of, is_block_ref, references_to

if TYPE_CHECKING:
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document, Workspace


def document_info(
    workspace: Workspace, document: Document, asked_id: str, *, counts_refs: bool = True
) -> dict[str, Any]:
    """The panel of the document that holds a block."""
    attributes = shown(document.root.properties)
    _drop_lost_scroll(workspace, attributes)
    refs = referring_blocks(workspace, asked_id) if counts_refs else None
    if refs is not None and asked_id == document.id:
        refs += [block_id for block_id in lost_references(document.root) if block_id not in refs]
    return {
        "id": asked_id,
        "rootID": document.id,
        "name": attributes.get("title", ""),
        "refCount": len(refs or ()),
        "subFileCount": files_below(workspace, document.box, document.path, document.id),
        "refIDs": refs,
        "ial": dict(sorted(attributes.items())),
        "icon": attributes.get("icon", ""),
        "attrViews": None,
    }


def referring_blocks(workspace: Workspace, block_id: str) -> list[str]:
    """The blocks that refer to a block; for a document, to it or to any of its blocks."""
    entry = workspace.blocks.documents.get(block_id)
    wanted = entry.block_ids if entry is not None else (block_id,)
    return list(dict.fromkeys(referring for _, referring, _ in references_to(workspace, wanted)))


def lost_references(root: Node) -> list[str]:
    """The blocks whose references have lost their target, where the kernel takes them for references to their own document:
    its index holds a block without an id for a document with a list, and finds it under the empty id.
    """
    inlines = list(root.walk())
    if all(node.type != "NodeList" for node in inlines):
        return []
    lost = (node for node in inlines if is_block_ref(node) and not node.fields.get("TextMarkBlockRefID"))
    return list(dict.fromkeys(block_of(node).id for node in lost))


def files_below(workspace: Workspace, box: str, path: str, root_id: str) -> int:
    """How many documents lie right below one."""
    folder = f"{DATA}/{box}" + ("" if root_id == box else without_suffix(path))
    if not workspace.files.is_dir(folder):
        return 0
    names = [entry.name for entry in workspace.files.list(folder) if not entry.is_dir]
    return sum(name.endswith(SUFFIX) and name != f"{box}{SUFFIX}" for name in names)


def _drop_lost_scroll(workspace: Workspace, attributes: dict[str, str]) -> None:
    """A scroll position that names a block which is gone is not shown."""
    if not attributes.get("scroll"):
        return
    try:
        place = read_json(html.unescape(attributes["scroll"]))
    except ValueError:
        place = None
    if not isinstance(place, dict):
        del attributes["scroll"]
        return
    named = [place["zoomInId"]] if place.get("zoomInId") else [place.get("startId"), place.get("endId")]
    if any(one is not None and not workspace.block_exists(str(one)) for one in named):
        del attributes["scroll"]
