"""[core] What is done with whole notebooks: create, open, close, rename, remove, and their own hidden document (C5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.workspace.attributes import shown, tell_attributes
from kernel.workspace.doc_tree import sub_file_count
from kernel.workspace.documents import Refusal, history_dir, new_tree, rename_document
from kernel.workspace.events import MAIN
from kernel.workspace.limits import TITLE_RUNES_MAX
from kernel.workspace.names import escaped_attribute, normalized_title, trimmed_path
from kernel.workspace.notebooks import DATA, Notebook, merged_box_conf, new_box_conf
from kernel.workspace.workspace import NotFound

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

UNTITLED: Final = "Untitled"
QUERY_FAILED: Final = "Query notebook failed"
TITLE_TOO_LONG: Final = "Maximum length is limited to 512 characters"
NO_DAILY_NOTE_PATH: Final = "Please specify the daily note save path in the Notebook Settings"
NOT_A_FOLDER: Final = "can not open file, just support open folder only"


def box_json(workspace: Workspace, notebook: Notebook, *, counts: bool = False) -> dict[str, Any]:
    """A notebook as the API shows it; ``counts`` fills in how many documents lie at its top."""
    is_counted = counts and not notebook.is_closed and workspace.conf.is_box_doc_enabled
    return notebook.to_json(sub_file_count(workspace, notebook.id, "/") if is_counted else 0)


def list_boxes(workspace: Workspace) -> list[Notebook]:
    return workspace.notebooks.listed(int(workspace.conf.file_tree["sort"]))


def create_box(workspace: Workspace, name: str) -> Notebook:
    """A new, open notebook; those there are renumbered 1, 2, … and it stands first with 0.

    Raises:
        Refusal: the name is too long.
    """
    name = _checked_name(name)
    for place, notebook in enumerate(list_boxes(workspace), 1):
        if notebook.conf["sort"] != place:
            workspace.notebooks.save(notebook.id, {**notebook.conf, "sort": place})
    box = workspace.new_id()
    workspace.notebooks.save(box, {**new_box_conf(), "name": name, "closed": False})
    ensure_box_document(workspace, box)
    return workspace.box(box)


def open_box(workspace: Workspace, box: str) -> bool:
    """Open a notebook; whether it was open already.

    Raises:
        Refusal: there is no such folder.
    """
    if not workspace.files.is_dir(f"{DATA}/{box}"):
        raise Refusal(NOT_A_FOLDER)
    if workspace.notebooks.opened(box) is not None:
        return True
    known = workspace.notebooks.get(box)
    workspace.notebooks.save(box, {**(known.conf if known is not None else new_box_conf()), "closed": False})
    workspace.scan(box)
    ensure_box_document(workspace, box)
    return False


def close_box(workspace: Workspace, box: str) -> None:
    """Close a notebook: its blocks vanish from every read. No complaint if it is closed or unknown."""
    notebook = workspace.notebooks.opened(box)
    if notebook is not None:
        workspace.notebooks.save(box, {**notebook.conf, "closed": True})
        workspace.unscan(box)


def rename_box(workspace: Workspace, box: str, name: str) -> None:
    """Rename an open notebook and the document that stands for it. Raises Refusal."""
    notebook = workspace.notebooks.opened(box)
    if notebook is None:
        raise Refusal(QUERY_FAILED)
    name = _checked_name(name)
    workspace.notebooks.save(box, {**notebook.conf, "name": name})
    if workspace.blocks.root_of(box) == box:
        rename_document(workspace, box, f"/{box}.sy", name)


def remove_box(workspace: Workspace, box: str) -> None:
    """Move a notebook into history; its assets go to the common folder. No complaint if there is none."""
    folder = f"{DATA}/{box}"
    if not workspace.files.exists(folder):
        return
    close_box(workspace, box)
    for path, _ in list(workspace.files.walk(folder)):
        inner = path[len(folder) + 1 :]
        if "assets" in inner.split("/")[:-1]:
            asset = inner.split("assets/", 1)[1]
            workspace.files.copy(path, f"{DATA}/assets/{asset}")
    workspace.files.merge(folder, f"{history_dir(workspace, 'delete')}/{box}")
    workspace.notebooks.forget_one(box)


def set_box_icon(workspace: Workspace, box: str, icon: str) -> None:
    """Give a notebook, and its document, an icon. An unknown notebook is passed over."""
    notebook = workspace.notebooks.get(box) if is_node_id(box) else None
    if notebook is None:
        return
    workspace.notebooks.save(box, {**notebook.conf, "icon": icon})
    if workspace.blocks.root_of(box) != box:
        return
    document = workspace.edit(box)
    old = shown(document.root.properties)
    _set_or_drop(document.root.properties, "icon", escaped_attribute(icon))
    document.root.properties["updated"] = workspace.now_stamp()
    workspace.save(document)
    tell_attributes(workspace, document, document.root, old)


def set_box_conf(workspace: Workspace, box: str, changes: Any) -> dict[str, Any]:
    """Change a notebook's configuration; what comes out of it.

    Raises:
        Refusal: a daily note path that names no document.
        BoxConfError: a member of the wrong type.
        NotFound: no such notebook.
    """
    notebook = workspace.notebooks.get(box)
    if notebook is None:
        raise NotFound(f"notebook [{box}] not found")
    conf = merged_box_conf(notebook.conf, changes)
    for name in ("docCreateSavePath", "refCreateSavePath", "dailyNoteSavePath", "dailyNoteTemplatePath"):
        conf[name] = trimmed_path(conf[name])
    if conf["dailyNoteSavePath"] and not conf["dailyNoteSavePath"].startswith("/"):
        conf["dailyNoteSavePath"] = f"/{conf['dailyNoteSavePath']}"
    if conf["dailyNoteSavePath"] == "/":
        raise Refusal(NO_DAILY_NOTE_PATH)
    template = conf["dailyNoteTemplatePath"]
    if template:
        template = template if template.endswith(".md") else f"{template}.md"
        conf["dailyNoteTemplatePath"] = template if template.startswith("/") else f"/{template}"
    was_closed = notebook.is_closed
    workspace.notebooks.save(box, conf)
    if was_closed != bool(conf["closed"]):
        workspace.unscan(box) if conf["closed"] else workspace.scan(box)
    return conf


def change_box_sort(workspace: Workspace, boxes: list[str]) -> None:
    """Number the notebooks in the given order."""
    for place, box in enumerate(boxes, 1):
        notebook = workspace.notebooks.get(box)
        if notebook is not None:
            workspace.notebooks.save(box, {**notebook.conf, "sort": place})
    opened = [notebook.id for notebook in list_boxes(workspace) if not notebook.is_closed]
    workspace.emit("notebookSortChanged", {"notebookIDs": opened}, to=MAIN)


def ensure_box_document(workspace: Workspace, box: str) -> None:
    """Every open notebook has a hidden document of its own id, titled as the notebook (C5)."""
    if not workspace.conf.is_box_doc_enabled:
        return
    notebook = workspace.box(box)
    title = normalized_title(notebook.name) or UNTITLED
    if workspace.blocks.root_of(box) != box:
        if workspace.files.exists(f"{DATA}/{box}/{box}.sy"):
            return  # unreadable: it stays as it is
        tree = new_tree(workspace, box, f"/{box}.sy", title)
        tree.root.properties["custom-hidden"] = "true"
        _set_or_drop(tree.root.properties, "icon", escaped_attribute(str(notebook.conf["icon"])))
        workspace.add(tree)
    else:
        _reconcile(workspace, box, title, escaped_attribute(str(notebook.conf["icon"])))
    workspace.notebooks.write_box_document_meta(box)


def _reconcile(workspace: Workspace, box: str, title: str, icon: str) -> None:
    document = workspace.edit(box)
    properties = document.root.properties
    wanted = {**properties, "title": escaped_attribute(title), "custom-hidden": "true"}
    _set_or_drop(wanted, "icon", icon)
    if wanted != properties:
        wanted["updated"] = workspace.now_stamp()
        document.root.properties = wanted
        workspace.save(document)


def _set_or_drop(properties: dict[str, str], name: str, value: str) -> None:
    if value:
        properties[name] = value
    else:
        properties.pop(name, None)


def _checked_name(name: str) -> str:
    name = normalized_title(name) or UNTITLED
    if len(name) > TITLE_RUNES_MAX:
        raise Refusal(TITLE_TOO_LONG)
    return name
