"""[core] The tree of documents as it is listed: what lies below a document, in which order (siyuan-api A2, C4)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.json_text import read_json
from kernel.workspace.blockmap import DocumentEntry, head_of
from kernel.workspace.durations import ago, file_size
from kernel.workspace.events import MAIN
from kernel.workspace.flashcards.counts import NO_CARDS, CardCounts
from kernel.workspace.names import SUFFIX, dir_name, is_reserved, tree_id, unescaped_attribute, without_suffix
from kernel.workspace.notebooks import DATA, SORT_AS_TREE, SORT_CUSTOM, SORT_UNASSIGNED, compare_names, natural_key
from kernel.workspace.refs import document_ref_counts

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

BUILT_IN_ORDERS: Final = frozenset(range(15))


@dataclass(slots=True)
class ListedDocument:
    """One document of a listing."""

    id: str
    path: str
    properties: dict[str, str]
    size: int
    sub_file_count: int = 0
    ref_count: int = 0
    sort: int = 0
    cards: CardCounts = NO_CARDS

    def attribute(self, name: str) -> str:
        return unescaped_attribute(self.properties.get(name, ""))

    @property
    def updated(self) -> str:
        return self.properties.get("updated") or self.id[:14]

    def to_json(self, now: datetime) -> dict[str, Any]:
        created = time_of(self.id[:14], now)
        updated = time_of(self.updated, now) or created
        shown = {
            "path": self.path,
            "name": self.attribute("title"),
            "titleEmpty": True,
            "icon": self.attribute("icon"),
            "name1": self.attribute("name"),
            "alias": self.attribute("alias"),
            "memo": self.attribute("memo"),
            "bookmark": self.attribute("bookmark"),
            "id": self.id,
            "count": self.ref_count,
            "size": self.size,
            "hSize": file_size(self.size),
            "mtime": int(updated.timestamp()) if updated else 0,
            "ctime": int(created.timestamp()) if created else 0,
            "hMtime": f"{updated:%Y-%m-%d %H:%M:%S}, {ago(updated, now)}" if updated else "",
            "hCtime": f"{created:%Y-%m-%d %H:%M:%S}, {ago(created, now)}" if created else "",
            "sort": self.sort,
            "subFileCount": self.sub_file_count,
            **self.cards.to_json(),
        }
        if self.properties.get("custom-sy-title-empty") != "true":
            del shown["titleEmpty"]
        return shown


def time_of(stamp: str, now: datetime) -> datetime | None:
    """A 14-digit stamp as a local time; None if it is none."""
    try:
        return datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=now.tzinfo)
    except ValueError:
        return None


def effective_order(workspace: Workspace, box: str, asked: int = SORT_UNASSIGNED) -> int:
    """The order asked for, else the notebook's own, else that of the file tree."""
    if asked != SORT_UNASSIGNED:
        return asked
    own = int(workspace.box(box).conf["sortMode"])
    return int(workspace.conf.file_tree["sort"]) if own == SORT_AS_TREE else own


def list_documents(
    workspace: Workspace, box: str, path: str, *, order: int = SORT_UNASSIGNED, shows_hidden: bool = False
) -> list[ListedDocument]:
    """The documents right below ``path`` (``/``, ``/id.sy`` or ``/id``), sorted.

    Raises:
        NotFound: the notebook is not open.
        OSError: there is no such folder.
    """
    order = effective_order(workspace, box, order)
    found = _below(workspace, box, path, shows_hidden)
    counts = document_ref_counts(workspace, [listed.id for listed in found])
    for listed in found:
        listed.ref_count = counts.get(listed.id, 0)
    if order == SORT_CUSTOM:
        values = read_sort(workspace, box)
        for listed in found:
            listed.sort = values.get(listed.id, 0)
        _later_ones_first(workspace, found)
    return _sorted(found, order)


def _later_ones_first(workspace: Workspace, found: list[ListedDocument]) -> None:
    """Ids tell seconds; of documents of one second this run knows which came later."""
    if len({one.id[:14] for one in found}) < len(found):
        known = workspace.blocks.documents
        found.sort(key=lambda one: known[one.id].order if one.id in known else -1, reverse=True)


def _below(workspace: Workspace, box: str, path: str, shows_hidden: bool) -> list[ListedDocument]:
    folder = f"{DATA}/{box}{without_suffix(path)}".rstrip("/")
    if path.endswith(SUFFIX) and not workspace.files.is_dir(folder):
        return []
    entries = workspace.files.list(folder)
    names = {entry.name: entry for entry in entries if not is_reserved(entry.name)}
    inner = folder[len(f"{DATA}/{box}") :]
    found = []
    for name, entry in names.items():
        if entry.is_dir:
            continue
        document_id = name.removesuffix(SUFFIX)
        is_box_document = not inner and document_id == box
        if not name.endswith(SUFFIX) or not is_node_id(document_id) or is_box_document:
            continue
        properties = properties_at(workspace, box, f"{inner}/{name}")
        if properties is None or (not shows_hidden and properties.get("custom-hidden") == "true"):
            continue
        listed = ListedDocument(properties.get("id", document_id), f"{inner}/{name}", properties, entry.size)
        has_folder = document_id in names and names[document_id].is_dir
        listed.sub_file_count = sub_file_count(workspace, box, f"{inner}/{document_id}") if has_folder else 0
        found.append(listed)
    return found


def sub_file_count(workspace: Workspace, box: str, folder: str) -> int:
    """How many documents lie right in a folder of a notebook, hidden ones and the notebook's own left out."""
    count = 0
    for entry in workspace.files.list(f"{DATA}/{box}{folder}".rstrip("/")):
        if entry.is_dir or not entry.name.endswith(SUFFIX):
            continue
        if folder in ("", "/") and (tree_id(entry.name) == box or not is_node_id(tree_id(entry.name))):
            continue
        properties = properties_at(workspace, box, f"{folder.rstrip('/')}/{entry.name}") or {}
        count += properties.get("custom-hidden") != "true"
    return count


def properties_at(workspace: Workspace, box: str, path: str) -> dict[str, str] | None:
    """The root attributes of the document in a file, None if the file is no document."""
    known: DocumentEntry | None = workspace.blocks.at_path(box, path)
    if known is not None:
        return known.properties
    try:
        return head_of(workspace.files.read(f"{DATA}/{box}{path}"))[1]
    except (ValueError, OSError):
        return None


def _sorted(found: list[ListedDocument], order: int) -> list[ListedDocument]:
    is_descending = order in (1, 3, 5, 8, 10, 12, 14)
    if order in (0, 1):
        by_name = cmp_to_key(compare_names)
        return sorted(found, key=lambda one: by_name(one.attribute("title")), reverse=is_descending)
    if order == SORT_CUSTOM:
        newest_first = sorted(found, key=lambda one: -int(one.id[:14]))
        return sorted(newest_first, key=lambda one: one.sort)
    keys: dict[int, Any] = {
        1: lambda one: one.updated,
        2: lambda one: natural_key(one.attribute("title")),
        3: lambda one: one.ref_count,
        4: lambda one: one.id[:14],
        5: lambda one: one.size,
        6: lambda one: one.sub_file_count,
    }
    # 2/3 updated, 4/5 natural name, 7/8 references, 9/10 created, 11/12 size, 13/14 documents below.
    group = order // 2 if order < SORT_CUSTOM else (order - 1) // 2
    key = keys.get(group)
    return sorted(found, key=key, reverse=is_descending) if key is not None and order in BUILT_IN_ORDERS else found


# --- sort.json -----------------------------------------------------------------------------------------------------
def _sort_path(box: str) -> str:
    return f"{DATA}/{box}/.siyuan/sort.json"


def read_sort(workspace: Workspace, box: str) -> dict[str, int]:
    """The user's order: document id → place. An unreadable file counts as empty."""
    path = _sort_path(box)
    if not workspace.files.exists(path):
        return {}
    try:
        values = read_json(workspace.files.read(path))
    except ValueError:
        return {}
    if not isinstance(values, dict):
        return {}
    return {key: int(value) for key, value in values.items() if isinstance(value, int | float)}


def write_sort(workspace: Workspace, box: str, values: dict[str, int]) -> None:
    content = json.dumps(dict(sorted(values.items())), separators=(",", ":")).encode()
    workspace.files.write(_sort_path(box), content)


def change_sort(workspace: Workspace, box: str, paths: list[str]) -> None:
    """Put the documents of one folder in the given order; those not named go after them."""
    if not paths:
        return
    workspace.box(box)
    places = {tree_id(path): place for place, path in enumerate(paths, 1)}
    next_place = len(paths) + 1
    folder = dir_name(paths[0]).rstrip("/")
    changed: dict[str, int] = {}
    try:
        entries = workspace.files.list(f"{DATA}/{box}{folder}")
    except OSError:
        entries = []
    for entry in entries:
        if not entry.name.endswith(SUFFIX):
            continue
        document_id = tree_id(entry.name)
        if not (place := places.get(document_id, 0)):
            place, next_place = next_place, next_place + 1
        changed[document_id] = place
    write_sort(workspace, box, {**read_sort(workspace, box), **changed})
    tell_sort_changed(workspace, changed)


def append_to_sort(workspace: Workspace, box: str, folder: str, document_id: str) -> None:
    """A new document goes to the end of its folder (or to its top, if the settings say so)."""
    _add_to_sort(workspace, box, folder, document_id, at_top=bool(workspace.conf.file_tree["createDocAtTop"]))


def prepend_to_sort(workspace: Workspace, box: str, folder: str, document_id: str) -> None:
    """A new document goes to the top of its folder."""
    _add_to_sort(workspace, box, folder, document_id, at_top=True)


def _add_to_sort(workspace: Workspace, box: str, folder: str, document_id: str, *, at_top: bool) -> None:
    order = effective_order(workspace, box)
    is_there = workspace.files.is_dir(f"{DATA}/{box}{folder}".rstrip("/"))
    listed = list_documents(workspace, box, folder, order=order) if is_there else []
    if order != SORT_CUSTOM:
        place = -1 if at_top and listed else int(bool(listed))
    elif not listed:
        place = 0
    else:
        place = listed[0].sort - 1 if at_top else listed[-1].sort + 1
    write_sort(workspace, box, {**read_sort(workspace, box), document_id: place})
    shown = listed[:1] if at_top else listed
    tell_sort_changed(workspace, {**{one.id: one.sort for one in shown}, document_id: place})


def insert_into_sort(workspace: Workspace, box: str, previous_path: str, document_id: str) -> None:
    """A new document goes right after the one at ``previous_path``."""
    values = read_sort(workspace, box)
    told: dict[str, int] = {}
    place = 0
    for listed in list_documents(workspace, box, dir_name(previous_path)):
        values[listed.id] = place
        if listed.id == tree_id(previous_path):
            place += 1
            values[document_id] = place
        place += 1
        told[listed.id] = place
    write_sort(workspace, box, values)
    tell_sort_changed(workspace, told)


def remove_from_sort(workspace: Workspace, box: str, ids: list[str]) -> None:
    if workspace.files.exists(_sort_path(box)):
        values = read_sort(workspace, box)
        write_sort(workspace, box, {key: value for key, value in values.items() if key not in ids})


def tell_sort_changed(workspace: Workspace, places: dict[str, int]) -> None:
    """Push the new order of a folder to the main windows."""
    if not places:
        return
    ids = sorted(places, key=lambda one: places[one])
    entry = workspace.blocks.entry_of(ids[0])
    if entry is not None:
        data = {"parentPath": dir_name(entry.path), "childIDs": ids}
        workspace.emit("filetreeSortChanged", data, to=MAIN)
