"""[core] An archive of exported documents (.sy.zip) becomes documents, all with new ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.json_text import read_json
from kernel.workspace import sy
from kernel.workspace.boxes import create_box
from kernel.workspace.doc_tree import read_sort, write_sort
from kernel.workspace.documents import Refusal
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.notebooks import DATA
from kernel.workspace.tree import Tree

if TYPE_CHECKING:
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Workspace

INVALID: Final = "Please check whether the .sy.zip is valid"
NO_NOTEBOOK: Final = "Query notebook failed"
_CONF: Final = ".siyuan/conf.json"
_SORT: Final = ".siyuan/sort.json"
_META: Final = ".siyuan/boxDoc.json"
_KEPT_CONF: Final = (
    "icon",
    "refCreateSavePath",
    "docCreateSavePath",
    "dailyNoteSavePath",
    "dailyNoteTemplatePath",
    "sortMode",
)


@dataclass(frozen=True, slots=True)
class SyArchive:
    """The files of an archive below its one folder, and that folder's name."""

    name: str
    files: dict[str, bytes]

    @property
    def is_notebook(self) -> bool:
        """Whether a whole notebook was exported."""
        return _CONF in self.files or _META in self.files


def read_archive(files: dict[str, bytes]) -> SyArchive:
    """An archive's files as they were unpacked. Raises Refusal where they are no exported documents."""
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != 1 or not any(path.endswith(".sy") for path in files):
        raise Refusal(INVALID)
    name = tops.pop()
    if any(path == name for path in files) or (name.startswith("data-20") and len(name) == len("data-20230321175442")):
        raise Refusal(INVALID)
    return SyArchive(name, {path[len(name) + 1 :]: content for path, content in files.items()})


def import_archive(workspace: Workspace, archive: SyArchive, box: str, folder: str) -> int:
    """Bring the documents in below ``folder``; how many.

    Raises:
        Refusal: a document that cannot be read; nothing has been brought in.
        NotFound: the notebook is not open.
    """
    workspace.box(box)
    trees = {path: _decoded(path, content) for path, content in archive.files.items() if path.endswith(".sy")}
    renamed = _renamed(workspace, trees, box if _box_document(archive) else "", archive)
    views = {
        path: workspace.new_id()
        for path in archive.files
        if path.startswith("storage/av/") and is_node_id(path[len("storage/av/") :].removesuffix(".json"))
    }
    names = renamed | {path[len("storage/av/") :].removesuffix(".json"): fresh for path, fresh in views.items()}
    for path, content in archive.files.items():
        if path in views:
            workspace.files.write(f"{DATA}/storage/av/{views[path]}.json", _replaced(content, names))
        elif path.startswith(("assets/", "emojis/")) and not workspace.files.exists(f"{DATA}/{path}"):
            workspace.files.write(f"{DATA}/{path}", content)
    for path in sorted(trees, key=lambda one: one.count("/")):
        _add(workspace, trees[path], box, _moved(path, folder, renamed), names)
    _import_sort(workspace, archive, box, renamed)
    return len(trees)


def import_notebook(workspace: Workspace, archive: SyArchive) -> str:
    """Bring a whole notebook in as a new one; its id. Raises Refusal."""
    conf = _json(archive.files.get(_CONF))
    box = create_box(workspace, str(conf.get("name") or archive.name)).id
    known = workspace.box(box)
    kept: dict[str, Any] = {name: conf[name] for name in _KEPT_CONF if name in conf}
    workspace.notebooks.save(box, {**known.conf, **kept})
    import_archive(workspace, archive, box, "")
    return box


def _decoded(path: str, content: bytes) -> Node:
    try:
        return sy.decode(content)
    except ValueError as error:
        raise Refusal(f"parse .sy [{path}] failed: {error}") from error


def _box_document(archive: SyArchive) -> str:
    found = _json(archive.files.get(_META)).get("boxDocID")
    return str(found) if isinstance(found, str) else ""


def _renamed(workspace: Workspace, trees: dict[str, Node], box: str, archive: SyArchive) -> dict[str, str]:
    """Old id → new id, of the same second; the notebook's own document becomes that of the new notebook."""
    own = _box_document(archive) if box else ""
    renamed: dict[str, str] = {}
    for root in trees.values():
        for node in root.walk():
            if node.type in BLOCK_TYPES and is_node_id(node.id):
                renamed[node.id] = box if own and node.id == own else node.id[:15] + workspace.ids.text(7).lower()
    return renamed


def _moved(path: str, folder: str, renamed: dict[str, str]) -> str:
    parts = path.removesuffix(".sy").split("/")
    return f"{folder}/{'/'.join(renamed.get(part, part) for part in parts)}.sy"


def _add(workspace: Workspace, root: Node, box: str, path: str, names: dict[str, str]) -> None:
    content = _replaced(sy.encode(root), names)
    fresh = sy.decode(content)
    if fresh.id == box:
        fresh.properties["custom-hidden"] = "true"
        path = f"/{box}.sy"
        if workspace.blocks.root_of(box) == box:
            workspace.removed(box)
    else:
        fresh.properties.pop("custom-hidden", None)
    workspace.add(Tree(fresh, box=box, path=path))


def _replaced(content: bytes, names: dict[str, str]) -> bytes:
    """Ids are long and never part of a word: they are replaced wherever they stand."""
    for old, new in names.items():
        content = content.replace(old.encode(), new.encode())
    return content


def _import_sort(workspace: Workspace, archive: SyArchive, box: str, renamed: dict[str, str]) -> None:
    values = read_sort(workspace, box)
    for old, place in _json(archive.files.get(_SORT)).items():
        if old in renamed and isinstance(place, int):
            values[renamed[old]] = place
    write_sort(workspace, box, values)


def _json(content: bytes | None) -> dict[str, Any]:
    try:
        found = read_json(content or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
