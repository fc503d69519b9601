"""[core] Moving documents: to another place, into a heading, or out of one (siyuan-api A2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.workspace.doc_tree import (
    append_to_sort,
    insert_into_sort,
    list_documents,
    prepend_to_sort,
    read_sort,
    remove_from_sort,
    tell_sort_changed,
    write_sort,
)
from kernel.workspace.documents import (
    BOX_DOCUMENT_FIXED,
    QUERY_FAILED,
    TOO_DEEP,
    Refusal,
    drop_empty_folder,
    inside_box,
    keep_version,
    new_paragraph,
    remove_document,
    tell_removed,
)
from kernel.workspace.events import FILETREE, MAIN
from kernel.workspace.limits import DOCUMENT_LEVELS_MAX
from kernel.workspace.names import (
    dir_name,
    escaped_attribute,
    joined_path,
    tree_id,
    unescaped_attribute,
    without_suffix,
)
from kernel.workspace.nodes import MARKER_TYPES
from kernel.workspace.notebooks import DATA
from kernel.workspace.refs import ref_text
from kernel.workspace.render.content import first_leaf, plain_content
from kernel.workspace.sections import clear_fold, level_at, level_of, section_of, top_level
from kernel.workspace.sy import is_hollow
from kernel.workspace.tree import Node, Tree
from kernel.workspace.workspace import Document, NotFound

if TYPE_CHECKING:
    from kernel.workspace.blockmap import DocumentEntry
    from kernel.workspace.workspace import Workspace

LEVEL_MAX: Final = 6
HAS_CHILDREN: Final = "Cannot be converted to heading when including sub-documents"
SLASH_REPLACED: Final = "The document title cannot contain / and has been replaced with _"


def entries_at(workspace: Workspace, paths: Iterable[str]) -> list[DocumentEntry]:
    """The documents that storage paths name by their last part. Raises NotFound (``block not found``)."""
    found: dict[str, DocumentEntry] = {}
    for path in paths:
        entry = workspace.blocks.documents.get(tree_id(path))
        if entry is None:
            raise NotFound("block not found")
        found[entry.id] = entry
    if not found:
        raise NotFound("block not found")
    return list(found.values())


def outermost(entries: list[DocumentEntry]) -> list[DocumentEntry]:
    """Without those that lie below another of them."""
    folders = [f"{entry.box}{without_suffix(entry.path)}/" for entry in entries]
    return [entry for entry in entries if not any(f"{entry.box}{entry.path}".startswith(folder) for folder in folders)]


# --- to another place ----------------------------------------------------------------------------------------------
def move_documents(workspace: Workspace, from_paths: list[str], box: str, to_path: str, callback: Any = None) -> None:
    """Move documents with all below them under another document, or to a notebook's top (``/``).

    Raises:
        Refusal, NotFound: nothing has been moved.
    """
    if workspace.notebooks.opened(box) is None:
        raise Refusal(QUERY_FAILED)
    to_path = "/" if to_path == f"/{box}.sy" else inside_box(box, to_path)
    entries = outermost(entries_at(workspace, from_paths))
    entries = [entry for entry in entries if not _is_inside(to_path, entry)]
    if any(entry.id == entry.box for entry in entries):
        raise Refusal(BOX_DOCUMENT_FIXED)
    if len(entries) == 1 and entries[0].box == box and _is_there_already(entries[0].path, to_path):
        return
    for entry in entries:
        if to_path.count("/") + _depth(workspace, entry) > DOCUMENT_LEVELS_MAX - 1 and not _may_go_deeper(workspace):
            raise Refusal(TOO_DEEP)
    if to_path != "/" and workspace.blocks.at_path(box, to_path) is None:
        raise NotFound("block not found")
    for entry in entries:
        _move_one(workspace, entry, box, to_path, callback)


def _may_go_deeper(workspace: Workspace) -> bool:
    return bool(workspace.conf.file_tree["allowCreateDeeper"])


def _is_inside(path: str, entry: DocumentEntry) -> bool:
    return path == entry.path or path.startswith(f"{without_suffix(entry.path)}/")


def _is_there_already(path: str, to_path: str) -> bool:
    parent = dir_name(path)
    return (to_path == "/" and parent == "/") or f"{parent}.sy" == to_path


def _depth(workspace: Workspace, entry: DocumentEntry) -> int:
    """How many levels of documents lie below a document."""
    own = entry.path.count("/")
    return max((below.path.count("/") - own for below in workspace.blocks.below(entry.box, entry.path)), default=0)


def _move_one(workspace: Workspace, entry: DocumentEntry, box: str, to_path: str, callback: Any) -> None:
    source_box, source = entry.box, entry.path
    folder = "/" if to_path == "/" else without_suffix(to_path)
    target = joined_path(folder, f"{entry.id}.sy")
    below = [one for one in workspace.blocks.below(source_box, source) if one is not entry]
    files = workspace.files
    if files.is_dir(f"{DATA}/{source_box}{without_suffix(source)}"):
        files.rename(f"{DATA}/{source_box}{without_suffix(source)}", f"{DATA}/{box}{without_suffix(target)}")
    files.rename(f"{DATA}/{source_box}{source}", f"{DATA}/{box}{target}")
    drop_empty_folder(workspace, source_box, dir_name(source))
    if source_box != box:
        _take_sort_along(workspace, source_box, box, [entry.id, *(one.id for one in below)])
    workspace.moved(entry.id, box, target)
    told = []
    for one in sorted(below, key=lambda one: one.path):
        place = without_suffix(target) + one.path[len(without_suffix(source)) :]
        told.append(_move_told(source_box, one.path, box, f"{dir_name(place)}.sy", place))
        workspace.moved(one.id, box, place)
    told.append(_move_told(source_box, source, box, to_path, target))
    if source_box != box:
        listed = list_documents(workspace, box, dir_name(target))
        tell_sort_changed(workspace, {one.id: one.sort for one in listed})
    for data in told:
        workspace.emit("moveDoc", data, callback=callback)
    _tell_boxes(workspace, source_box, source, box, to_path)


def _move_told(from_box: str, from_path: str, to_box: str, to_path: str, new_path: str) -> dict[str, str]:
    return {
        "fromNotebook": from_box,
        "fromPath": from_path,
        "toNotebook": to_box,
        "toPath": to_path,
        "newPath": new_path,
    }


def _take_sort_along(workspace: Workspace, source: str, target: str, ids: list[str]) -> None:
    places = read_sort(workspace, source)
    moved = {one: places.get(one, 0) for one in ids}
    write_sort(workspace, target, {**read_sort(workspace, target), **moved})


def _tell_boxes(workspace: Workspace, source_box: str, source: str, box: str, to_path: str) -> None:
    was_on_top = dir_name(source) == "/"
    if was_on_top:
        workspace.emit("reloadNotebookInfo", source_box, to=FILETREE)
    if to_path == "/" and (source_box != box or not was_on_top):
        workspace.emit("reloadNotebookInfo", box, to=FILETREE)


def remove_documents(workspace: Workspace, paths: list[str]) -> None:
    """Move several documents into history. Raises Refusal, NotFound."""
    entries = outermost(entries_at(workspace, paths))
    if any(entry.id == entry.box for entry in entries):
        raise Refusal(BOX_DOCUMENT_FIXED)
    places = [(entry.box, entry.path) for entry in entries]
    for box, path in places:
        remove_document(workspace, box, path)
    tell_removed(workspace, places)


# --- out of a heading or an item -----------------------------------------------------------------------------------
def heading_to_document(
    workspace: Workspace, heading_id: str, box: str, to_path: str, previous_path: str, to_top: bool
) -> tuple[str, str]:
    """A heading with its section becomes a document; (document it came from, path of the new one).

    Raises NotFound (``block not found``).
    """
    source, heading = _source(workspace, heading_id, "NodeHeading")
    title = ref_text(Node(heading.type, fields=heading.fields, children=heading.clone().children))
    if "/" in title:
        title = title.replace("/", "_")
        data = {"id": workspace.ids.text(7), "closeTimeout": 7000}
        workspace.emit("msg", data, to=MAIN, msg=SLASH_REPLACED)
    path = _place_of(workspace, heading_id, box, to_path, previous_path)
    section = section_of(heading)
    clear_fold([heading, *section])
    top = min((level_of(child) for child in section if level_of(child)), default=0)
    for child in section:
        if level_of(child):
            child.fields["HeadingLevel"] = min(LEVEL_MAX, level_of(child) - top + 2)
        child.detach()
        source.drop(child)
    properties = {**heading.properties, "type": "doc", "id": heading_id, "title": escaped_attribute(title)}
    heading.detach()
    _split_off(workspace, source, section, properties, box, path, previous_path, to_top)
    return source.id, path


def item_to_document(
    workspace: Workspace, item_id: str, box: str, to_path: str, previous_path: str, to_top: bool
) -> tuple[str, str]:
    """A list item becomes a document of its children; the same results."""
    source, item = _source(workspace, item_id, "NodeListItem")
    first = first_leaf(item)
    title = plain_content(first).strip().replace("/", "") if first is not None else ""
    path = _place_of(workspace, item_id, box, to_path, previous_path)
    children = [child for child in item.children if child.type not in MARKER_TYPES]
    children = children or [new_paragraph(workspace.new_id())]
    source.drop(item)
    for child in children:
        if child.parent is not None:
            child.detach()
    properties = {**item.properties, "type": "doc", "id": item_id, "title": escaped_attribute(title)}
    properties.pop("fold", None)
    parent = item.parent
    item.detach()
    if parent is not None and not parent.children and parent.parent is not None:
        source.drop(parent)
        parent.detach()
    _split_off(workspace, source, children, properties, box, path, previous_path, to_top)
    return source.id, path


def _source(workspace: Workspace, block_id: str, kind: str) -> tuple[Document, Node]:
    """The block and its document. The kernel takes any block, and loses what is in it; here it must be of the kind."""
    try:
        document = workspace.edit(block_id)
    except NotFound as error:
        raise NotFound("block not found") from error
    node = document.node(block_id)
    if node is None or node.parent is None or node.type != kind:
        raise NotFound("block not found")
    return document, node


def _place_of(workspace: Workspace, block_id: str, box: str, to_path: str, previous_path: str) -> str:
    """The storage path of a document that is split off: beside ``previous_path``, or under ``to_path``."""
    to_path = "/" if to_path == f"/{box}.sy" else inside_box(box, to_path)
    if previous_path:
        if workspace.blocks.at_path(box, previous_path) is None:
            raise NotFound("block not found")
        folder = dir_name(previous_path)
    else:
        folder = "/" if to_path == "/" else without_suffix(to_path)
    if folder != "/" and workspace.blocks.at_path(box, f"{folder}.sy") is None:
        raise NotFound("block not found")
    return joined_path(folder, f"{block_id}.sy")


def _split_off(
    workspace: Workspace,
    source: Document,
    blocks: list[Node],
    properties: dict[str, str],
    box: str,
    path: str,
    previous_path: str,
    to_top: bool,
) -> None:
    now = workspace.now_stamp()
    source.root.properties["updated"] = now
    if not source.root.children:
        paragraph = new_paragraph(workspace.new_id())
        source.root.append(paragraph)
        source.add(paragraph)
    source.nodes.pop(tree_id(path), None)
    workspace.save(source)
    if any(map(is_hollow, source.nodes.values())):
        workspace.reread(source.id)  # an item that is left empty is not there for the next reader
    properties["updated"] = now
    properties.pop("custom-hidden", None)
    root = Node("NodeDocument", id=tree_id(path), properties=properties, fields={"Spec": "2"})
    for block in blocks or [new_paragraph(workspace.new_id())]:
        root.append(block)
    # Its place comes first, as in the kernel: the order is told only if it starts with a document already known.
    if previous_path:
        insert_into_sort(workspace, box, previous_path, root.id)
    elif to_top:
        prepend_to_sort(workspace, box, dir_name(path), root.id)
    else:
        append_to_sort(workspace, box, dir_name(path), root.id)
    workspace.add(Tree(root, box=box, path=path))


# --- into a heading ------------------------------------------------------------------------------------------------
def document_to_heading(workspace: Workspace, source_id: str, target_id: str, after: bool) -> tuple[str, str]:
    """A document without children becomes a heading beside a block; (notebook, path) where it was, empty where an id
    is none or the block is unknown: then nothing is done.

    Raises:
        NotFound: the document is unknown (``block not found``).
        Refusal: it has children, or is a notebook's own.
    """
    if not is_node_id(source_id) or not is_node_id(target_id):
        return "", ""
    try:
        source = workspace.edit(source_id)
    except NotFound as error:
        raise NotFound("block not found") from error
    if source.id == source.box:
        raise Refusal(BOX_DOCUMENT_FIXED)
    folder = f"{DATA}/{source.box}{without_suffix(source.path)}"
    if workspace.files.is_dir(folder) and workspace.files.list(folder):
        raise Refusal(HAS_CHILDREN)
    if not workspace.block_exists(target_id):
        return "", ""
    target = workspace.edit(target_id)
    pivot = target.node(target_id)
    if pivot is None or pivot.parent is None or target is source:
        raise NotFound("block not found")
    keep_version(workspace, source.id, "update")
    if pivot.type == "NodeListItem":
        pivot = pivot.children[-1]
    box, path = source.box, source.path
    _graft(workspace, source, target, pivot, after)
    workspace.files.remove(f"{DATA}/{box}{path}")
    workspace.removed(source.id)
    remove_from_sort(workspace, box, [source.id])
    drop_empty_folder(workspace, box, dir_name(path))
    workspace.emit("removeDoc", {"ids": [source.id]})
    target.root.properties["updated"] = workspace.now_stamp()
    workspace.save(target)
    return box, path


def _graft(workspace: Workspace, source: Document, target: Document, pivot: Node, after: bool) -> None:
    level = level_at(pivot)
    change = level - top_level(source.root) + 1
    heading_level = level
    if pivot.type == "NodeHeading":
        if after:
            pivot = (section_of(pivot) or [pivot])[-1]
    else:
        heading_level += 1
        change += 1
    heading = _as_heading(workspace, source, min(LEVEL_MAX, heading_level))
    blocks = list(source.root.children)
    for block in blocks:
        if level_of(block):
            block.fields["HeadingLevel"] = min(LEVEL_MAX, level_of(block) + change)
        block.detach()
    placed = [heading, *blocks]
    for block in reversed(placed) if after else placed:
        if after:
            pivot.insert_after(block)
        else:
            pivot.insert_before(block)
        target.add(block)


def _as_heading(workspace: Workspace, source: Document, level: int) -> Node:
    properties = {
        name: value for name, value in source.root.properties.items() if name not in ("scroll", "type", "tags", "title")
    }
    properties["updated"] = workspace.now_stamp()
    tags = [tag for tag in unescaped_attribute(source.root.properties.get("tags", "")).split(",") if tag]
    if tags:
        source.root.insert(0, _tag_line(workspace, tags))
    title = Node("NodeText", data=unescaped_attribute(source.root.properties.get("title", "")))
    return Node("NodeHeading", id=source.id, properties=properties, fields={"HeadingLevel": level}, children=[title])


def _tag_line(workspace: Workspace, tags: list[str]) -> Node:
    paragraph = new_paragraph(workspace.new_id())
    for place, tag in enumerate(tags):
        if place:
            paragraph.append(Node("NodeText", data=" "))
        mark = {"TextMarkType": "tag", "TextMarkTextContent": escaped_attribute(tag)}
        paragraph.append(Node("NodeTextMark", fields=mark))
    return paragraph
