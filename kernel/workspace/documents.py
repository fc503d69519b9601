"""[core] Documents as wholes: create, rename, remove, duplicate (siyuan-api A2). Moving them is ``moves``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.workspace.doc_tree import append_to_sort, insert_into_sort, remove_from_sort
from kernel.workspace.events import FILETREE
from kernel.workspace.limits import DOCUMENT_LEVELS_MAX, TITLE_RUNES_MAX
from kernel.workspace.marking import escaped
from kernel.workspace.names import (
    base_name,
    dir_name,
    escaped_attribute,
    joined_path,
    normalized_title,
    tree_id,
    trimmed_path,
    unescaped_attribute,
    without_suffix,
)
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.notebooks import DATA
from kernel.workspace.operations import Operation, Transaction
from kernel.workspace.recent_targets import note_targets
from kernel.workspace.refs import refresh_anchors, targets_in
from kernel.workspace.tree import Node, Tree
from kernel.workspace.workspace import CorruptDocument, Document, NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

UNTITLED: Final = "Untitled"
TITLE_TOO_LONG: Final = "Maximum length is limited to 512 characters"
DUPLICATED: Final = "Duplicated filename"
TOO_DEEP: Final = "The current settings do not allow the creation of sub-documents under a document 7 levels deep"
HIDDEN_NAME: Final = "Cannot create a file starting with ."
BOX_DOCUMENT_FIXED: Final = "The top-level notebook document cannot be removed or moved"
QUERY_FAILED: Final = "Query notebook failed"
TITLE_EMPTY: Final = "custom-sy-title-empty"
_NEVER_DUPLICATED: Final = ("custom-avs", "av-names", "custom-riff-decks")


class Refusal(Exception):
    """The kernel says no, in its own words."""


def new_tree(workspace: Workspace, box: str, path: str, title: str) -> Tree:
    """An empty document: its title and one empty paragraph."""
    root_id = tree_id(path)
    properties = {"id": root_id, "title": escaped_attribute(title), "type": "doc", "updated": stamp_of(root_id)}
    root = Node("NodeDocument", id=root_id, properties=properties, fields={"Spec": "2"})
    root.append(new_paragraph(workspace.new_id()))
    return Tree(root, box=box, path=path)


def new_paragraph(block_id: str) -> Node:
    return Node("NodeParagraph", id=block_id, properties={"id": block_id, "updated": block_id[:14]})


def stamp_of(block_id: str) -> str:
    """The time inside an id: its first part."""
    return block_id.split("-", 1)[0] if "-" in block_id else block_id


def create_document(
    workspace: Workspace, box: str, path: str, title: str, blocks: list[Node], *, is_title_empty: bool = False
) -> Document:
    """A document at a storage path (``/parent/id.sy``) from parsed blocks.

    Raises:
        Refusal: the title is too long, the path taken or too deep.
        NotFound: the parent document or the notebook is unknown.
    """
    workspace.box(box)
    path = inside_box(box, path)
    title, is_empty = _titled(title)
    hpath_parent(workspace, path)
    _check_place(workspace, box, path)
    tree = new_tree(workspace, box, path, title)
    if is_empty or is_title_empty:
        tree.root.properties[TITLE_EMPTY] = "true"
    if blocks:
        tree.root.children.clear()
        for block in blocks:
            tree.root.append(block)
    document = workspace.add(tree)
    tell_added(workspace, document.id)
    return document


def tell_added(workspace: Workspace, root_id: str) -> None:
    """A new document has been saved; the kernel makes it by a transaction of its own."""
    note_targets(workspace, targets_in(workspace.document(root_id).root))
    source = Transaction([Operation(action="create")])
    workspace.emit("savedoc", {"rootID": root_id, "type": "tx", "sources": [source.to_json()]})


def _titled(title: str) -> tuple[str, bool]:
    title = normalized_title(title)
    if len(title) > TITLE_RUNES_MAX:
        raise Refusal(TITLE_TOO_LONG)
    return (title, False) if title else (UNTITLED, True)


def _check_place(workspace: Workspace, box: str, path: str) -> None:
    if base_name(path).strip().startswith("."):
        raise Refusal(HIDDEN_NAME)
    if path.count("/") > DOCUMENT_LEVELS_MAX and not workspace.conf.file_tree["allowCreateDeeper"]:
        raise Refusal(TOO_DEEP)
    if workspace.files.exists(f"{DATA}/{box}{path}"):
        raise Refusal(DUPLICATED)


def inside_box(box: str, path: str) -> str:
    """A path below the notebook's own document is a path at the notebook's top."""
    prefix = f"/{box}/"
    return f"/{path[len(prefix) :]}" if path.startswith(prefix) else path


def hpath_parent(workspace: Workspace, path: str) -> str:
    """The path of titles of the document above. Raises NotFound (``block not found``)."""
    folder = dir_name(path)
    if folder == "/":
        return "/"
    entry = workspace.blocks.entry_of(base_name(folder))
    if entry is None:
        raise NotFound("block not found")
    return entry.hpath


def create_by_hpath(
    workspace: Workspace,
    box: str,
    hpath: str,
    blocks: list[Node],
    *,
    document_id: str,
    parent_id: str = "",
    is_title_empty: bool = False,
) -> Document:
    """A document at a path of titles; the documents on the way that are missing are made empty.

    The last part always makes a new document, even if one of that title is there.
    """
    hpath = trimmed_path(hpath.removesuffix(".sy"))
    name = hpath.rpartition("/")[2]
    path = _path_below(workspace, box, hpath, parent_id)
    if path is None:
        path = _make_parents(workspace, box, hpath.split("/")[1:-1])
    return create_document(workspace, box, f"{path}/{document_id}.sy", name, blocks, is_title_empty=is_title_empty)


def _path_below(workspace: Workspace, box: str, hpath: str, parent_id: str) -> str | None:
    """The folder of the parent that the call names, if it stands where the path of titles says."""
    if not parent_id:
        return None
    if parent_id == box:
        return ""
    parent = workspace.blocks.documents.get(parent_id)
    if parent is None or parent.box != box or parent.hpath != hpath.rpartition("/")[0]:
        return None
    return without_suffix(parent.path)


def _make_parents(workspace: Workspace, box: str, titles: list[str]) -> str:
    known: list[str] = []
    walked = ""
    for title in titles:
        walked += f"/{title}"
        found = workspace.blocks.at_hpath(box, walked)
        if not found:
            break
        known.append(found[0].id)
    path = "".join(f"/{root_id}" for root_id in known)
    for title in titles[len(known) :]:
        path += f"/{workspace.new_id()}"
        create_document(workspace, box, f"{path}.sy", title, [])
    return path


def created(workspace: Workspace, document: Document) -> None:
    """A new document takes its place in the order of its folder."""
    append_to_sort(workspace, document.box, dir_name(document.path), document.id)


def rename_document(workspace: Workspace, box: str, path: str, title: str) -> None:
    """Give a document another title; the references to it follow.

    Raises:
        NotFound: no such document, in the words of the operating system.
        Refusal: the title is too long, or the notebook is closed.
    """
    if workspace.notebooks.opened(box) is None:
        raise Refusal(QUERY_FAILED)
    entry = workspace.blocks.at_path(box, path)
    if entry is None:
        raise NotFound(_why_not_there(workspace, box, path))
    title, is_empty = _titled(title)
    document = workspace.edit(entry.id)
    properties = document.root.properties
    is_same = unescaped_attribute(properties.get("title", "")) == title
    if is_same and (properties.get(TITLE_EMPTY) == "true") == is_empty:
        return
    # The kernel goes on showing the attributes it has shown once (see ``attributes.attributes_of``).
    kept = workspace.kept_attributes.get(entry.id)
    if kept is None and entry.id in workspace.shown_documents:
        kept = {name: unescaped_attribute(value) for name, value in properties.items()}
    properties["title"] = escaped_attribute(title)
    if is_empty:
        properties[TITLE_EMPTY] = "true"
    else:
        properties.pop(TITLE_EMPTY, None)
    properties["updated"] = workspace.now_stamp()
    workspace.save(document)
    if kept is not None:
        workspace.kept_attributes[entry.id] = kept
    shown = escaped(unescaped_attribute(properties.get("name", "")).strip() or title)
    told = {"box": box, "id": entry.id, "path": path, "title": title, "empty": is_empty, "refText": shown}
    workspace.emit("rename", told)
    refresh_anchors(workspace, [document.root])


def _why_not_there(workspace: Workspace, box: str, path: str) -> str:
    if ".." in path.split("/"):
        return f"path [{path}] must not contain '..'"
    inner = f"{DATA}/{box}/{path.strip('/')}".rstrip("/")
    where = workspace.files.absolute(inner)
    is_folder = workspace.files.is_dir(inner)
    return f"read {where}: is a directory" if is_folder else f"open {where}: no such file or directory"


def history_dir(workspace: Workspace, operation: str) -> str:
    """Where what is about to be lost is kept: ``history/2026-03-01-090000-delete``."""
    return f"history/{workspace.clock.local():%Y-%m-%d-%H%M%S}-{operation}"


def keep_version(workspace: Workspace, root_id: str, operation: str) -> None:
    """Copy a document as it is on disk into history, before something turns it over."""
    entry = workspace.blocks.documents[root_id]
    workspace.files.copy(
        f"{DATA}/{entry.box}{entry.path}", f"{history_dir(workspace, operation)}/{entry.box}{entry.path}"
    )


def remove_document(workspace: Workspace, box: str, path: str) -> list[str]:
    """Move a document and all below it into history; the ids that are gone.

    Raises:
        NotFound: ``notebook not found`` or ``block not found``.
        Refusal: it is the notebook's own document.
    """
    workspace.box(box)
    if tree_id(path) == box:
        raise Refusal(BOX_DOCUMENT_FIXED)
    entry = workspace.blocks.at_path(box, path)
    if entry is None:
        raise NotFound("block not found")
    gone = [below.id for below in workspace.blocks.below(box, path)]
    kept = f"{history_dir(workspace, 'delete')}/{box}"
    folder = without_suffix(path)
    if workspace.files.is_dir(f"{DATA}/{box}{folder}"):
        workspace.files.merge(f"{DATA}/{box}{folder}", f"{kept}{folder}")
    workspace.files.merge(f"{DATA}/{box}{path}", f"{kept}{path}")
    for root_id in gone:
        workspace.removed(root_id)
    remove_from_sort(workspace, box, gone)
    drop_empty_folder(workspace, box, dir_name(path))
    workspace.emit("removeDoc", {"ids": gone})
    return gone


def tell_removed(workspace: Workspace, places: list[tuple[str, str]]) -> None:
    """What lay above removed documents (notebook, path) shows fewer of them."""
    boxes: dict[str, None] = {}
    for box, path in places:
        parent = workspace.blocks.at_path(box, f"{dir_name(path)}.sy")
        if parent is not None:
            workspace.note_saved(parent.id)
        elif dir_name(path) == "/":
            boxes[box] = None
    for box in boxes:
        workspace.emit("reloadNotebookInfo", box, to=FILETREE)


def drop_empty_folder(workspace: Workspace, box: str, folder: str) -> None:
    """A document without children has no folder."""
    where = f"{DATA}/{box}{folder}"
    if folder != "/" and workspace.files.is_dir(where) and not workspace.files.list(where):
        workspace.files.remove(where)


def duplicate_document(workspace: Workspace, block_id: str) -> dict[str, Any]:
    """A copy beside the document, every block with a new id. Raises NotFound."""
    source = workspace.document(block_id)
    root = source.root.clone()
    title = unescaped_attribute(root.properties.get("title", ""))
    suffix = "" if title == UNTITLED else f" (Duplicated {workspace.clock.local():%Y-%m-%d %H:%M:%S})"
    root_id = workspace.new_id()
    _renumber(workspace, root, root_id)
    root.properties.update(id=root_id, title=escaped_attribute(title + suffix))
    for name in ("scroll", "custom-hidden") if source.id == source.box else ("scroll",):
        root.properties.pop(name, None)
    path = joined_path(dir_name(source.path), f"{root_id}.sy")
    hpath = f"{source.tree.hpath} {suffix}"
    # Its place is made before its file is there: it does not count among those that are listed.
    insert_into_sort(workspace, source.box, source.path, root_id)
    workspace.add(Tree(root, box=source.box, path=path))
    tell_added(workspace, root_id)
    return {"id": root_id, "notebook": source.box, "path": path, "hPath": hpath}


def _renumber(workspace: Workspace, root: Node, root_id: str) -> None:
    """New ids for all blocks; references inside the copy follow them."""
    renamed: dict[str, str] = {}
    for node in root.walk():
        if node.type not in BLOCK_TYPES:
            continue
        for name in [name for name in node.properties if name in _NEVER_DUPLICATED or _is_static_text(name)]:
            del node.properties[name]
        if node is not root:
            fresh = workspace.new_id()
            renamed[node.id] = fresh
            node.id = node.properties["id"] = fresh
    root.id = root_id
    for node in root.walk():
        target = node.fields.get("TextMarkBlockRefID")
        if target in renamed:
            node.fields["TextMarkBlockRefID"] = renamed[target]


def _is_static_text(name: str) -> bool:
    return name.startswith("custom-sy-av-s-text")


def document_or_none(workspace: Workspace, block_id: str) -> Document | None:
    try:
        return workspace.document(block_id)
    except (NotFound, CorruptDocument):
        return None
