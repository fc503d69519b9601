"""[core] Kept versions: what lies in ``history/``, finding it again, putting it back."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from kernel.ids import is_node_id
from kernel.workspace import sy
from kernel.workspace.blockmap import head_of
from kernel.workspace.documents import Refusal, keep_version
from kernel.workspace.names import clean_path, dir_name, tree_id
from kernel.workspace.notebooks import DATA
from kernel.workspace.render.content import plain_content

if TYPE_CHECKING:
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Workspace

HISTORY: Final = "history"
DOCUMENT_NAME, DOCUMENT_CONTENT, ASSET, DOCUMENT_ID, DATABASE = range(5)
_MOMENT: Final = re.compile(r"(\d{4}-\d{2}-\d{2}-\d{6})-(.+)")
_STAMP: Final = "%Y-%m-%d-%H%M%S"


@dataclass(frozen=True, slots=True)
class Kept:
    """One kept file. ``created`` in Unix seconds, ``path`` relative to the workspace."""

    created: int
    operation: str
    box: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """What is looked for: ``operation`` and ``box`` may be ``""`` or ``all``."""

    text: str = ""
    kind: int = DOCUMENT_NAME
    operation: str = ""
    box: str = ""


def kept_files(workspace: Workspace, query: HistoryQuery, created: int | None = None) -> list[Kept]:
    """The kept files a query finds, the latest first; ``created`` chooses one moment."""
    files = workspace.files
    if not files.is_dir(HISTORY):
        return []
    found: list[Kept] = []
    for entry in files.list(HISTORY):
        moment = _MOMENT.fullmatch(entry.name)
        if moment is None or not entry.is_dir:
            continue
        at = _seconds(workspace, moment[1])
        if at is None or (created is not None and at != created):
            continue
        if query.operation not in ("", "all", moment[2]):
            continue
        found += _in_folder(workspace, query, f"{HISTORY}/{entry.name}", at, moment[2])
    return sorted(found, key=lambda one: -one.created)


def _seconds(workspace: Workspace, text: str) -> int | None:
    try:
        moment = datetime.strptime(text, _STAMP).replace(tzinfo=workspace.clock.local().tzinfo)
    except ValueError:
        return None
    return int(moment.timestamp())


def _in_folder(workspace: Workspace, query: HistoryQuery, folder: str, at: int, operation: str) -> Iterator[Kept]:
    for path, _ in workspace.files.walk(folder):
        inner = path[len(folder) + 1 :]
        box = inner.partition("/")[0]
        if query.kind in (DOCUMENT_NAME, DOCUMENT_CONTENT, DOCUMENT_ID):
            if not inner.endswith(".sy") or query.box not in ("", "%", box):
                continue
            title = _matching_title(workspace, query, path)
            if title is not None:
                yield Kept(at, operation, box, path, title)
        elif (query.kind == ASSET and inner.startswith("assets/") and query.text.lower() in inner.lower()) or (
            query.kind == DATABASE and inner.startswith("storage/av/") and query.text.lower() in inner.lower()
        ):
            yield Kept(at, operation, "", path, inner.rpartition("/")[2])


def _matching_title(workspace: Workspace, query: HistoryQuery, path: str) -> str | None:
    """The title of a kept document that the query means; None for any other."""
    try:
        content = workspace.files.read(path)
        root_id, properties = head_of(content)
        title = html.unescape(properties.get("title", ""))
        if query.kind == DOCUMENT_ID:
            return title if query.text in ("", root_id) else None
        if query.text.lower() in title.lower():
            return title
        if query.kind == DOCUMENT_CONTENT and query.text.lower() in _text_of(sy.decode(content)).lower():
            return title
    except (ValueError, OSError):
        return None
    return None


def _text_of(root: Node) -> str:
    return "\n".join(plain_content(block) for block in root.children)


# --- one kept document -----------------------------------------------------------------------------------------------
def inside_history(path: str) -> str:
    """A kept file's path, relative to the workspace. Raises Refusal outside of it."""
    inner = clean_path(f"./{path.lstrip('/')}")
    if inner.startswith(".."):
        raise Refusal(f"history path [{path}] is not in workspace")
    return inner


def kept_tree(workspace: Workspace, path: str) -> Node | None:
    """A kept document; None for anything that is none."""
    try:
        inner = inside_history(path)
        if not inner.startswith(f"{HISTORY}/") or not inner.endswith(".sy"):
            return None
        return sy.decode(workspace.files.read(inner))
    except (Refusal, ValueError, OSError):
        return None


def keep_document(workspace: Workspace, block_id: str) -> None:
    """Keep a document as it is now. Raises NotFound."""
    keep_version(workspace, workspace.entry(block_id).id, "update")


def restore_document(workspace: Workspace, path: str) -> None:
    """Put a kept document back: where it stands now, or where it stood; its present version is kept.

    Raises:
        Refusal: there is no such kept document, or its notebook is not open.
    """
    inner = inside_history(path)
    if not workspace.files.exists(inner):
        raise Refusal(f"history path [{path}] not exist")
    root = kept_tree(workspace, path)
    if root is None:
        raise Refusal(f"history path [{path}] not exist")
    box, place = inner.split("/", 3)[2], "/" + inner.split("/", 3)[3]
    present = workspace.blocks.documents.get(root.id)
    if present is not None:
        keep_version(workspace, present.id, "update")
        box, place = present.box, present.path
    elif workspace.notebooks.opened(box) is None:
        raise Refusal("Query notebook failed")
    elif dir_name(place) != "/" and workspace.blocks.at_path(box, f"{dir_name(place)}.sy") is None:
        place = f"/{tree_id(place)}.sy"
    workspace.files.write(f"{DATA}/{box}{place}", workspace.files.read(inner))
    workspace.reload([f"{DATA}/{box}{place}"])


def restore_files(workspace: Workspace, path: str) -> None:
    """Put a kept asset or database back. Raises Refusal."""
    inner = inside_history(path)
    parts = inner.split("/", 2)
    if len(parts) < 3 or parts[0] != HISTORY or not workspace.files.exists(inner):
        raise Refusal(f"history path [{path}] not exist")
    workspace.files.copy(inner, f"{DATA}/{parts[2]}")


def removed_notebooks(workspace: Workspace) -> list[tuple[int, str, str]]:
    """Whole notebooks that were removed: (Unix seconds, notebook, path), the latest first."""
    found = []
    for entry in workspace.files.list(HISTORY) if workspace.files.is_dir(HISTORY) else []:
        moment = _MOMENT.fullmatch(entry.name)
        at = _seconds(workspace, moment[1]) if moment is not None and moment[2] == "delete" else None
        if at is None:
            continue
        for box in workspace.files.list(f"{HISTORY}/{entry.name}"):
            conf = f"{HISTORY}/{entry.name}/{box.name}/.siyuan/conf.json"
            if is_node_id(box.name) and workspace.files.exists(conf):
                found.append((at, box.name, f"{HISTORY}/{entry.name}/{box.name}"))
    return sorted(found, reverse=True)


def clear_history(workspace: Workspace) -> None:
    """Forget all kept versions."""
    if workspace.files.is_dir(HISTORY):
        workspace.files.remove(HISTORY)
    workspace.files.make_dir(HISTORY)
