"""/api/filetree, changing: create, rename, move, remove, sort documents (siyuan-api A2; kernel-facts 16)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.filetree import checked_id, optional, raise_tree_not_found
from kernel.siyuan.api.messages import clear_message, show_message
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.dispatch import Envelope
from kernel.siyuan.progress import PROCESSING, covered
from kernel.workspace.attributes import change_attributes, shown, tell_attributes
from kernel.workspace.boxes import box_json, rename_box
from kernel.workspace.daily_notes import daily_note
from kernel.workspace.doc_tree import change_sort
from kernel.workspace.documents import (
    QUERY_FAILED,
    Refusal,
    create_by_hpath,
    create_document,
    created,
    duplicate_document,
    remove_document,
    rename_document,
    tell_removed,
)
from kernel.workspace.intake import markdown_blocks
from kernel.workspace.limits import TITLE_RUNES_MAX
from kernel.workspace.markdown.context import MarkdownError
from kernel.workspace.moves import (
    document_to_heading,
    heading_to_document,
    item_to_document,
    move_documents,
    remove_documents,
)
from kernel.workspace.names import base_name, dir_name, joined_path, tree_id
from kernel.workspace.workspace import NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.tree import Node

_IN_TITLE: Final = re.compile("\r\n|\r|\n|\u2028|\u2029|\t|/")
_LONG: Final = {"closeTimeout": 7000}
_SHORT: Final = {"closeTimeout": 5000}


def blocks_of_markdown(call: Call, markdown: str, document_id: str) -> list[Node]:
    """The blocks of a whole document. Raises Panic where the kernel's parser would."""
    try:
        return markdown_blocks(call.kernel.workspace, markdown, document_id=document_id)
    except MarkdownError as error:
        raise Panic(str(error)) from error


def _box(call: Call, box: str) -> dict[str, Any]:
    return box_json(call.kernel.workspace, call.kernel.workspace.box(box))


def create_doc_with_md(call: Call) -> Any:
    workspace = call.kernel.workspace
    box = checked_id(call, "notebook")
    tags = optional(call, "tags", str, "")
    parent_id = optional(call, "parentID", str, "")
    document_id = optional(call, "id", str, "") or workspace.new_id()
    given, markdown = call.arguments.raw_str("path"), call.arguments.raw_str("markdown")
    optional(call, "withMath", bool, False)
    optional(call, "clippingHref", str, "")
    name = _IN_TITLE.sub("", base_name(given))[:TITLE_RUNES_MAX]
    hpath = joined_path(dir_name(given), name)
    hpath = hpath if hpath.startswith("/") else f"/{hpath}"
    if workspace.notebooks.opened(box) is None:
        raise ApiError(QUERY_FAILED)
    blocks = blocks_of_markdown(call, markdown, document_id)
    is_title_empty = optional(call, "titleEmpty", bool, False)
    document = create_by_hpath(
        workspace, box, hpath, blocks, document_id=document_id, parent_id=parent_id, is_title_empty=is_title_empty
    )
    workspace.edit(document.id)
    old = shown(document.root.properties)
    tags = ",".join(tag.strip() for tag in tags.replace("，", ",").split(","))
    change_attributes(workspace, document.root, {"tags": tags})
    workspace.save(document)
    workspace.shown_documents.add(document.id)
    tell_attributes(workspace, document, document.root, old)
    created(workspace, document)
    _tell_created(call, box, document.path)
    return document.id


def create_doc(call: Call) -> Any:
    workspace = call.kernel.workspace
    arguments = call.arguments
    box, path = arguments.raw_str("notebook"), arguments.raw_str("path")
    title, markdown = arguments.raw_str("title"), arguments.raw_str("md")
    sorts = optional(call, "sorts", list, [])
    if not all(isinstance(one, str) for one in sorts):
        raise Panic("sorts")
    try:
        if workspace.notebooks.opened(box) is None:
            raise Refusal(QUERY_FAILED)
        blocks = blocks_of_markdown(call, markdown, tree_id(path))
        document = create_document(workspace, box, path, title, blocks)
    except (Refusal, NotFound) as error:
        raise ApiError(str(error), data=_LONG) from error
    if sorts:
        change_sort(workspace, box, sorts)
    else:
        created(workspace, document)
    _tell_created(call, box, path)
    return {"id": document.id}


def _tell_created(call: Call, box: str, path: str) -> None:
    lists = call.arguments.get("listDocTree")
    told = {"box": _box(call, box), "path": path, "listDocTree": lists is True}
    call.kernel.workspace.emit("create", told)


def create_daily_note(call: Call) -> Any:
    workspace = call.kernel.workspace
    box = call.arguments.raw_str("notebook")
    try:
        document, was_there = daily_note(workspace, box, call.kernel.state.get("render_template"))
    except NotFound as error:
        return Envelope(1, str(error), None)
    if not was_there:
        app = optional(call, "app", str, "")
        workspace.emit("createdailynote", {"box": _box(call, box), "path": document.path}, app=app)
    return {"id": document.id}


def _rename(call: Call, box: str, path: str, title: str) -> None:
    workspace = call.kernel.workspace
    notebook = workspace.notebooks.opened(box)
    if notebook is not None and tree_id(path) == box:
        rename_box(workspace, box, title)
        workspace.emit("renamenotebook", {"box": box, "name": workspace.box(box).name})
        return
    rename_document(workspace, box, path, title)


def rename_doc(call: Call) -> Any:
    box = checked_id(call, "notebook")
    path, title = call.arguments.raw_str("path"), call.arguments.raw_str("title")
    _rename(call, box, path, title)


def rename_doc_by_id(call: Call) -> Any:
    if call.arguments.get("id") is None:
        return
    block_id = checked_id(call, "id")
    title = call.arguments.raw_str("title")
    try:
        entry = call.kernel.workspace.entry(block_id)
    except NotFound as error:
        raise raise_tree_not_found(error) from error
    _rename(call, entry.box, entry.path, title)


def duplicate_doc(call: Call) -> Any:
    workspace = call.kernel.workspace
    block_id = call.arguments.raw_str("id")
    try:
        workspace.document(block_id)
    except NotFound as error:
        raise raise_tree_not_found(error) from error
    message = show_message(call, PROCESSING, 30000)
    made = duplicate_document(workspace, block_id)
    told = {"box": _box(call, made["notebook"]), "path": made["path"], "listDocTree": True}
    workspace.emit("create", told)
    clear_message(call, message)
    return made


def remove_doc(call: Call) -> Any:
    box = checked_id(call, "notebook")
    path = call.arguments.raw_str("path")
    remove_document(call.kernel.workspace, box, path)
    tell_removed(call.kernel.workspace, [(box, path)])


def remove_doc_by_id(call: Call) -> Any:
    workspace = call.kernel.workspace
    block_id = checked_id(call, "id")
    try:
        entry = workspace.entry(block_id)
    except NotFound as error:
        raise raise_tree_not_found(error) from error
    remove_document(workspace, entry.box, entry.path)
    tell_removed(workspace, [(entry.box, entry.path)])


def remove_docs(call: Call) -> Any:
    paths = call.arguments.raw_str_list("paths")
    with covered(call.kernel.workspace, PROCESSING):
        remove_documents(call.kernel.workspace, paths)


def move_docs(call: Call) -> Any:
    paths = call.arguments.raw_str_list("fromPaths")
    to_path = call.arguments.raw_str("toPath")
    box = checked_id(call, "toNotebook")
    _move(call, paths, box, to_path)


def move_docs_by_id(call: Call) -> Any:
    workspace = call.kernel.workspace
    paths = []
    ids = call.arguments.raw_list("fromIDs")
    for one in ids:
        if not isinstance(one, str):
            raise Panic("fromIDs")
        call.arguments.values["id"] = one
        checked_id(call, "id")
    to_id = checked_id(call, "toID")
    try:
        paths = list(dict.fromkeys(workspace.entry(one).path for one in ids))
    except NotFound as error:
        raise raise_tree_not_found(error) from error
    target = workspace.blocks.entry_of(to_id)
    if target is not None:
        _move(call, paths, target.box, target.path)
    elif workspace.notebooks.opened(to_id) is not None:
        _move(call, paths, to_id, "/")
    else:
        raise ApiError(f"can't found box or tree by id [{to_id}]", data=_LONG)


def _move(call: Call, paths: list[str], box: str, to_path: str) -> None:
    try:
        move_documents(call.kernel.workspace, paths, box, to_path, call.arguments.get("callback"))
    except (Refusal, NotFound) as error:
        raise ApiError(str(error), data=_LONG) from error


def change_sort_of_docs(call: Call) -> Any:
    box = call.arguments.raw_str("notebook")
    paths = call.arguments.raw_str_list("paths")
    if call.kernel.workspace.notebooks.opened(box) is None and paths:
        raise Panic("notebook")
    change_sort(call.kernel.workspace, box, paths)


def heading_2_doc(call: Call) -> Any:
    _split_off(call, "srcHeadingID", "heading2doc")


def li_2_doc(call: Call) -> Any:
    _split_off(call, "srcListItemID", "li2doc")


def _split_off(call: Call, id_name: str, cmd: str) -> None:
    workspace = call.kernel.workspace
    block_id, box = call.arguments.raw_str(id_name), call.arguments.raw_str("targetNoteBook")
    to_path = optional(call, "targetPath", str, "")
    previous = optional(call, "previousPath", str, "")
    to_top = optional(call, "toTop", bool, False)
    split = heading_to_document if cmd == "heading2doc" else item_to_document
    try:
        root_id, path = split(workspace, block_id, box, to_path, previous, to_top)
    except (Refusal, NotFound) as error:
        raise ApiError(str(error), data=_SHORT) from error
    workspace.emit(cmd, {"box": _box(call, box), "path": path, "srcRootBlockID": root_id})


def doc_2_heading(call: Call) -> Any:
    source, target = call.arguments.raw_str("srcID"), call.arguments.raw_str("targetID")
    after = call.arguments.raw_bool("after")
    try:
        box, path = document_to_heading(call.kernel.workspace, source, target, after)
    except (Refusal, NotFound) as error:
        raise ApiError(str(error), data=_SHORT) from error
    return {"srcTreeBox": box, "srcTreePath": path}


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/filetree/createDocWithMd": create_doc_with_md,
    "/api/filetree/createDoc": create_doc,
    "/api/filetree/createDailyNote": create_daily_note,
    "/api/filetree/renameDoc": rename_doc,
    "/api/filetree/renameDocByID": rename_doc_by_id,
    "/api/filetree/duplicateDoc": duplicate_doc,
    "/api/filetree/removeDoc": remove_doc,
    "/api/filetree/removeDocByID": remove_doc_by_id,
    "/api/filetree/removeDocs": remove_docs,
    "/api/filetree/moveDocs": move_docs,
    "/api/filetree/moveDocsByID": move_docs_by_id,
    "/api/filetree/changeSort": change_sort_of_docs,
    "/api/filetree/heading2Doc": heading_2_doc,
    "/api/filetree/li2Doc": li_2_doc,
    "/api/filetree/doc2Heading": doc_2_heading,
}
