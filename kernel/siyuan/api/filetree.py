"""/api/filetree, reading: paths, listings, the tree of ids, search by title (siyuan-api A2)."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.siyuan.arguments import ApiError, Panic
from kernel.workspace.boxes import list_boxes
from kernel.workspace.doc_search import search_documents
from kernel.workspace.doc_tree import list_documents
from kernel.workspace.documents import QUERY_FAILED
from kernel.workspace.files import UnsafePath
from kernel.workspace.flashcards.counts import CardCounter
from kernel.workspace.names import SUFFIX, clean_path, tree_id
from kernel.workspace.notebooks import DATA, SORT_UNASSIGNED
from kernel.workspace.path_template import TemplateError, render_path_template
from kernel.workspace.workspace import NotFound

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Workspace

LIST_HINT: Final = (
    "Only list the first [%d] sub-documents, if you need to adjust, "
    "please modify [Settings - Documents - Maximum number to list]"
)


def checked_id(call: Call, name: str) -> str:
    """An unchecked string argument that must have the form of an id."""
    value = call.arguments.raw_str(name)
    if not is_node_id(value):
        raise ApiError("invalid ID argument")
    return value


def optional(call: Call, name: str, kind: type | tuple[type, ...], default: Any) -> Any:
    """An unchecked argument that may be missing or null. Raises Panic if it is of another type."""
    value = call.arguments.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Panic(name)
    return value


def list_doc_tree(call: Call) -> Any:
    workspace = call.kernel.workspace
    box = checked_id(call, "notebook")
    path = call.arguments.raw_str("path").removesuffix(SUFFIX)
    if ".." in path:
        raise ApiError("path must not contain '..'")
    inner = clean_path(f"/{path}").strip("/")
    if not inner:
        raise ApiError("path escapes notebook directory")
    folder = f"{DATA}/{box}/{inner}"
    if not workspace.files.is_dir(folder):
        reason = "not a directory" if workspace.files.exists(folder) else "no such file or directory"
        raise ApiError(f"open {workspace.files.absolute(folder)}: {reason}")
    return {"tree": _id_tree(workspace, folder, set(), is_top=True) or None}


def _id_tree(workspace: Workspace, folder: str, seen: set[str], *, is_top: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for entry in workspace.files.list(folder):
        document_id = entry.name if entry.is_dir else entry.name.removesuffix(SUFFIX)
        if entry.name.startswith(".") or ((entry.is_dir or is_top) and not is_node_id(document_id)):
            continue
        if not entry.is_dir:
            if document_id not in seen:
                found.append({"id": document_id})
            seen.add(document_id)
            continue
        seen.add(document_id)
        node: dict[str, Any] = {"id": document_id}
        found.append(node)
        children = _id_tree(workspace, f"{folder}/{entry.name}", seen, is_top=False)
        if children:
            node["children"] = children
    return found


def list_docs_by_path(call: Call) -> Any:
    workspace = call.kernel.workspace
    box, path = call.arguments.raw_str("notebook"), call.arguments.raw_str("path")
    if ".." in path:
        raise ApiError("path must not contain '..' and must be relative")
    order = int(optional(call, "sort", (int, float), SORT_UNASSIGNED))
    counter = CardCounter(workspace) if optional(call, "flashcard", bool, False) else None
    count_max = optional(call, "maxListCount", (int, float), workspace.conf.file_tree["maxListCount"])
    count_max = math.inf if count_max <= 0 else int(count_max)
    shows_hidden = optional(call, "showHidden", bool, False)
    if workspace.notebooks.opened(box) is None:
        raise ApiError(QUERY_FAILED)
    listed = _listed(workspace, box, path, order, shows_hidden)
    if counter is not None:
        for one in listed:
            one.cards = counter.below(one.id)
        listed = [one for one in listed if one.cards.total]
    shown = listed if len(listed) <= count_max else listed[: int(count_max)]
    if len(listed) > len(shown) and not optional(call, "ignoreMaxListHint", bool, False):
        from kernel.siyuan.api.messages import show_message

        show_message(call, LIST_HINT % len(shown), 7000)
    now = workspace.clock.local()
    files = [one.to_json(now) for one in shown]
    if not path.startswith("/"):
        # They are named as they were asked for.
        files = [{**one, "path": str(one["path"]).removeprefix("/")} for one in files]
    return {"box": box, "path": path, "files": files}


def _listed(workspace: Workspace, box: str, path: str, order: int, shows_hidden: bool) -> Any:
    try:
        return list_documents(
            workspace, box, path if path.startswith("/") else f"/{path}", order=order, shows_hidden=shows_hidden
        )
    except OSError as error:
        where = workspace.files.absolute(f"{DATA}/{box}/{path.strip('/')}".rstrip("/"))
        raise ApiError(f"open {where}: {os.strerror(error.errno or 0).lower()}") from error
    except UnsafePath as error:
        raise ApiError(f"path [{path}] escapes box directory") from error


def get_hpath_by_path(call: Call) -> Any:
    workspace = call.kernel.workspace
    box, path = checked_id(call, "notebook"), call.arguments.raw_str("path")
    is_open = workspace.notebooks.opened(box) is not None
    if path == "/" or (is_open and tree_id(path) == box):
        return "/"
    entry = workspace.blocks.at_path(box, path)
    if entry is None:
        raise ApiError("block not found")
    return entry.hpath


def get_hpaths_by_paths(call: Call) -> Any:
    workspace = call.kernel.workspace
    hpaths = []
    for path in dict.fromkeys(call.arguments.raw_str_list("paths")):
        entry = workspace.blocks.documents.get(tree_id(path))
        if entry is not None:
            name = workspace.box(entry.box).name
            hpaths.append(name if entry.id == entry.box else name + entry.hpath)
    return hpaths or None


def get_hpath_by_id(call: Call) -> Any:
    entry = call.kernel.workspace.entry(checked_id(call, "id"))
    return "/" if entry.id == entry.box else entry.hpath


def get_path_by_id(call: Call) -> Any:
    entry = call.kernel.workspace.entry(checked_id(call, "id"))
    return {"path": entry.path, "notebook": entry.box}


def get_full_hpath_by_id(call: Call) -> Any:
    if call.arguments.get("id") is None:
        return None
    workspace = call.kernel.workspace
    entry = workspace.entry(call.arguments.raw_str("id"))
    name = workspace.box(entry.box).name
    return name if entry.id == entry.box else name + entry.hpath


def get_ids_by_hpath(call: Call) -> Any:
    if call.arguments.get("path") is None or call.arguments.get("notebook") is None:
        return None
    workspace = call.kernel.workspace
    box, path = checked_id(call, "notebook"), call.arguments.raw_str("path")
    if path == "/" and workspace.conf.is_box_doc_enabled and workspace.notebooks.opened(box) is not None:
        return [box]
    return [entry.id for entry in workspace.blocks.at_hpath(box, path)]


def search_docs(call: Call) -> Any:
    workspace = call.kernel.workspace
    flashcard = optional(call, "flashcard", bool, False)
    excluded = optional(call, "excludeIDs", list, [])
    if not all(isinstance(one, str) for one in excluded):
        raise Panic("excludeIDs")
    keyword = call.arguments.raw_str("k")
    found = search_documents(workspace, keyword, excluded, list_boxes(workspace))
    return _with_cards(workspace, found) if flashcard else found


def _with_cards(workspace: Workspace, found: list[dict[str, str]]) -> list[dict[str, str]]:
    """Those that hold cards, and how many."""
    counter = CardCounter(workspace)
    counted = []
    for one in found:
        counts = counter.in_box(one["box"]) if one["path"] == "/" else counter.below(tree_id(one["path"]))
        if counts.total:
            counted.append({**one, **counts.to_texts()})
    return counted


def _save_path(call: Call, kind: str) -> Any:
    """Where new documents of a kind go: the notebook's own setting, else the workspace's."""
    workspace = call.kernel.workspace
    box = call.arguments.raw_str("notebook")
    settings = workspace.conf.file_tree
    notebook = workspace.notebooks.opened(box)
    own = notebook.conf if notebook is not None else settings
    target = str(own[f"{kind}SaveBox"]) if notebook is not None else ""
    template = str(own[f"{kind}SavePath"])
    if not target and not template:
        target = str(settings[f"{kind}SaveBox"])
    if target and workspace.notebooks.opened(target) is None:
        target = box
    target = target or box
    template = template or str(settings[f"{kind}SavePath"])
    return _rendered(call, target, template.strip() if kind == "docCreate" else template, box)


def _rendered(call: Call, target: str, template: str, box: str) -> dict[str, str]:
    if target != box and template and not template.startswith("/"):
        template = f"/{template}"
    try:
        path = render_path_template(template, call.kernel.clock.local())
    except TemplateError as error:
        raise ApiError(str(error)) from error
    return {"box": target, "path": path}


def get_doc_create_save_path(call: Call) -> Any:
    return _save_path(call, "docCreate")


def get_ref_create_save_path(call: Call) -> Any:
    return _save_path(call, "refCreate")


def get_shorthand_save_path(call: Call) -> Any:
    box = call.arguments.raw_str("notebook")
    settings = call.kernel.workspace.conf.file_tree
    return _rendered(call, str(settings["shorthandSaveBox"]) or box, str(settings["shorthandSavePath"]), box)


def upsert_indexes(call: Call) -> Any:
    """Documents that came from outside are read (``/<notebook>/<path>.sy``)."""
    call.kernel.workspace.reload(f"{DATA}/{path.lstrip('/')}" for path in call.arguments.raw_str_list("paths"))


def remove_indexes(call: Call) -> Any:
    workspace = call.kernel.workspace
    for path in call.arguments.raw_str_list("paths"):
        root_id = tree_id(path)
        if root_id in workspace.blocks.documents:
            workspace.removed(root_id)


def raise_tree_not_found(error: NotFound) -> ApiError:
    """The error with the hint how long a window shows it."""
    return ApiError(str(error), data={"closeTimeout": 7000})


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/filetree/listDocTree": list_doc_tree,
    "/api/filetree/listDocsByPath": list_docs_by_path,
    "/api/filetree/getHPathByPath": get_hpath_by_path,
    "/api/filetree/getHPathsByPaths": get_hpaths_by_paths,
    "/api/filetree/getHPathByID": get_hpath_by_id,
    "/api/filetree/getPathByID": get_path_by_id,
    "/api/filetree/getFullHPathByID": get_full_hpath_by_id,
    "/api/filetree/getIDsByHPath": get_ids_by_hpath,
    "/api/filetree/searchDocs": search_docs,
    "/api/filetree/getDocCreateSavePath": get_doc_create_save_path,
    "/api/filetree/getRefCreateSavePath": get_ref_create_save_path,
    "/api/filetree/getShorthandSavePath": get_shorthand_save_path,
    "/api/filetree/upsertIndexes": upsert_indexes,
    "/api/filetree/removeIndexes": remove_indexes,
}
