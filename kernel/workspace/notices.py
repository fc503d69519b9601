"""[core] What windows are told about documents in general: how large and how new, how often referred to.

The kernel sends these up to seconds late; here they follow the call's other frames. What they say is worked out when
a window listens, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kernel.workspace.durations import ago, file_size
from kernel.workspace.events import FILETREE, MAIN, Event
from kernel.workspace.names import dir_name

if TYPE_CHECKING:
    from kernel.workspace.blockmap import DocumentEntry
    from kernel.workspace.workspace import Workspace


def document_notices(workspace: Workspace, saved: Iterable[str]) -> list[Event]:
    """The frames for documents that were written: each as often as it was, then those above them, then the index's."""
    own: list[Event] = []
    above: list[Event] = []
    for root_id in saved:
        entry = workspace.blocks.documents.get(root_id)
        if entry is None:
            continue
        own.append(Event("reloadDocInfo", _info_of(workspace, root_id), FILETREE))
        parent = parent_entry(workspace, entry)
        if parent is not None:
            above.append(Event("reloadDocInfo", _info_of(workspace, parent.id), FILETREE))
    return own + above + ([Event("databaseIndexCommit", None, MAIN)] if own else [])


def parent_entry(workspace: Workspace, entry: DocumentEntry) -> DocumentEntry | None:
    """The document above one."""
    folder = dir_name(entry.path)
    return workspace.blocks.at_path(entry.box, f"{folder}.sy") if folder != "/" else None


def _info_of(workspace: Workspace, root_id: str) -> Callable[[], dict[str, Any] | None]:
    return lambda: _info(workspace, root_id)


def _info(workspace: Workspace, root_id: str) -> dict[str, Any] | None:
    from kernel.workspace.attributes import shown
    from kernel.workspace.doc_info import files_below
    from kernel.workspace.doc_tree import time_of

    entry = workspace.blocks.documents.get(root_id)
    if entry is None:
        return None
    attributes = shown(entry.properties)
    now = workspace.clock.local()
    created = time_of(root_id[:14], now) or now
    updated = time_of(attributes.get("updated", ""), now) or created
    return {
        "box": entry.box,
        "rootID": root_id,
        "name": attributes.get("title", ""),
        "alias": attributes.get("alias", ""),
        "name1": attributes.get("name", ""),
        "memo": attributes.get("memo", ""),
        "bookmark": attributes.get("bookmark", ""),
        "size": entry.size,
        "hSize": file_size(entry.size),
        "mtime": int(updated.timestamp()),
        "ctime": int(created.timestamp()),
        "hMtime": f"{updated:%Y-%m-%d %H:%M:%S}, {ago(updated, now)}",
        "hCtime": f"{created:%Y-%m-%d %H:%M:%S}, {ago(created, now)}",
        "subFileCount": files_below(workspace, entry.box, entry.path, root_id),
    }


def ref_count_notices(workspace: Workspace, def_ids: Iterable[str]) -> list[Event]:
    """The frames for blocks that more or fewer blocks refer to now."""
    return [Event("setDefRefCount", _counts_of(workspace, one), MAIN) for one in dict.fromkeys(def_ids)]


def _counts_of(workspace: Workspace, block_id: str) -> Callable[[], dict[str, Any] | None]:
    return lambda: _counts(workspace, block_id)


def _counts(workspace: Workspace, block_id: str) -> dict[str, Any] | None:
    from kernel.workspace.refs import references_to

    entry = workspace.blocks.entry_of(block_id)
    if entry is None:
        return None
    references = references_to(workspace, entry.block_ids | {entry.id})
    root_count = len({referring for _, referring, _ in references})
    own = {referring for _, referring, target in references if target == block_id}
    is_document = block_id == entry.id
    defined = list(dict.fromkeys(target for _, _, target in references)) if is_document else [block_id]
    return {
        "rootID": entry.id,
        "blockID": block_id,
        "refCount": root_count if is_document else len(own),
        "rootRefCount": root_count,
        "defIDs": defined or None,
    }
