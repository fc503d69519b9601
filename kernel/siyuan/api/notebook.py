"""/api/notebook: the notebooks of the workspace (siyuan-api A1; kernel-facts 15)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from kernel.siyuan.api.messages import clear_message, show_message
from kernel.siyuan.arguments import ApiError, Panic
from kernel.siyuan.onboarding import pending, prepare_if_empty
from kernel.workspace.boxes import (
    box_json,
    change_box_sort,
    close_box,
    create_box,
    list_boxes,
    open_box,
    remove_box,
    rename_box,
    set_box_conf,
    set_box_icon,
)
from kernel.workspace.doc_tree import time_of
from kernel.workspace.documents import Refusal
from kernel.workspace.durations import ago, file_size
from kernel.workspace.flashcards.counts import CardCounter
from kernel.workspace.notebooks import DATA, BoxConfError

if TYPE_CHECKING:
    from kernel.siyuan.dispatch import ApiHandler
    from kernel.siyuan.kernel import Call
    from kernel.workspace.workspace import Workspace

OPENING: Final = "Opening, please wait..."


def ls_notebooks(call: Call) -> Any:
    workspace = call.kernel.workspace
    flashcard = call.arguments.get("flashcard")
    if flashcard is not None and not isinstance(flashcard, bool):
        raise Panic("flashcard")
    if flashcard:
        listed = _with_cards(workspace)
    else:
        listed = [box_json(workspace, notebook, counts=True) for notebook in list_boxes(workspace)]
    return {"notebooks": listed or (None if flashcard else []), "boxDocEnabled": workspace.conf.is_box_doc_enabled}


def _with_cards(workspace: Workspace) -> list[dict[str, Any]]:
    """The open notebooks that hold cards, and how many."""
    counter = CardCounter(workspace)
    counted = [(one, counter.in_box(one.id)) for one in list_boxes(workspace) if not one.is_closed]
    return [{**box_json(workspace, one), **counts.to_json()} for one, counts in counted if counts.total]


def open_notebook(call: Call) -> Any:
    workspace = call.kernel.workspace
    box = _checked_box(call)
    message = show_message(call, OPENING, 15 * 60 * 1000)
    try:
        is_open_already = open_box(workspace, box)
        told = {"box": box_json(workspace, workspace.box(box)), "existed": is_open_already}
        workspace.emit("mount", told)
    finally:
        clear_message(call, message)


def close_notebook(call: Call) -> Any:
    box = _raw_box(call)
    close_box(call.kernel.workspace, box)
    call.kernel.workspace.emit("closeBox", {"box": box})


def create_notebook(call: Call) -> Any:
    workspace = call.kernel.workspace
    name = call.arguments.required_str("name", may_be_empty=True)
    notebook = create_box(workspace, name)
    workspace.emit("createnotebook", {"box": box_json(workspace, notebook), "existed": False})
    return {"notebook": box_json(workspace, notebook)}


def rename_notebook(call: Call) -> Any:
    workspace = call.kernel.workspace
    box = call.arguments.required_str("notebook")
    name = call.arguments.required_str("name", may_be_empty=True)
    _check_pattern(call, box)
    try:
        rename_box(workspace, box, name)
    except Refusal as refusal:
        raise ApiError(str(refusal), data={"closeTimeout": 5000}) from refusal
    workspace.emit("renamenotebook", {"box": box, "name": name})


def remove_notebook(call: Call) -> Any:
    workspace = call.kernel.workspace
    box = _checked_box(call)
    remove_box(workspace, box)
    workspace.emit("removeBox", {"box": box})
    if prepare_if_empty(call.kernel):
        workspace.conf.save()
        workspace.emit("onboarding", pending())


def set_notebook_icon(call: Call) -> Any:
    box = call.arguments.required_str("notebook")
    set_box_icon(call.kernel.workspace, box, call.arguments.required_str("icon", may_be_empty=True))


def change_sort_notebook(call: Call) -> Any:
    change_box_sort(call.kernel.workspace, call.arguments.raw_str_list("notebooks"))


def get_notebook_conf(call: Call) -> Any:
    box = _raw_box(call)
    notebook = call.kernel.workspace.notebooks.get(box)
    if notebook is None:
        raise ApiError(f"notebook [{box}] not found")
    return {"box": box, "name": notebook.name, "conf": notebook.conf}


def set_notebook_conf(call: Call) -> Any:
    box = _raw_box(call)
    try:
        return set_box_conf(call.kernel.workspace, box, call.arguments.get("conf"))
    except BoxConfError as error:
        raise ApiError(str(error)) from error


def get_notebook_info(call: Call) -> Any:
    workspace = call.kernel.workspace
    box = _checked_box(call)
    notebook = workspace.notebooks.opened(box)
    if notebook is None:
        raise ApiError(f"notebook [{box}] not found")
    now = workspace.clock.local()
    created = time_of(box[:14], now) or now
    # The notebook's own document has a size and a time, but is none of its documents.
    kept = {entry.id: workspace.files.stat(f"{DATA}/{box}{entry.path}") for entry in workspace.blocks.in_box(box)}
    stats = [stat for stat in kept.values() if stat is not None]
    changed = max((datetime.fromtimestamp(stat.mtime_s, tz=now.tzinfo) for stat in stats), default=created)
    changed = max(changed, created)
    size = sum(stat.size for stat in stats)
    info = {
        "id": box,
        "name": notebook.name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        "docCount": len(kept.keys() - {box}),
        "size": size,
        "hSize": file_size(size),
        "mtime": int(changed.timestamp()),
        "ctime": int(created.timestamp()),
        "hMtime": f"{changed:%Y-%m-%d %H:%M:%S}, {ago(changed, now)}",
        "hCtime": f"{created:%Y-%m-%d %H:%M:%S}, {ago(created, now)}",
    }
    return {"boxInfo": info}


def _checked_box(call: Call) -> str:
    box = call.arguments.required_str("notebook")
    _check_pattern(call, box)
    return box


def _raw_box(call: Call) -> str:
    box = call.arguments.raw_str("notebook")
    _check_pattern(call, box)
    return box


def _check_pattern(call: Call, box: str) -> None:
    from kernel.ids import is_node_id

    if not is_node_id(box):
        raise ApiError("invalid ID argument")


HANDLERS: Final[dict[str, ApiHandler]] = {
    "/api/notebook/lsNotebooks": ls_notebooks,
    "/api/notebook/openNotebook": open_notebook,
    "/api/notebook/closeNotebook": close_notebook,
    "/api/notebook/createNotebook": create_notebook,
    "/api/notebook/renameNotebook": rename_notebook,
    "/api/notebook/removeNotebook": remove_notebook,
    "/api/notebook/setNotebookIcon": set_notebook_icon,
    "/api/notebook/changeSortNotebook": change_sort_notebook,
    "/api/notebook/getNotebookConf": get_notebook_conf,
    "/api/notebook/setNotebookConf": set_notebook_conf,
    "/api/notebook/getNotebookInfo": get_notebook_info,
}
