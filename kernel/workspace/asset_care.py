"""[core] Looking after assets: which are not used, which are missing, removing and renaming them, their OCR texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kernel.ids import is_node_id
from kernel.json_text import read_json
from kernel.workspace import sy
from kernel.workspace.asset_links import PREFIX, assets_at, assets_of, block_of, cell_assets, title_image
from kernel.workspace.asset_names import filtered_name, raw_extension, with_id
from kernel.workspace.assets import ASSETS, find_asset, is_there, without_query
from kernel.workspace.documents import Refusal, history_dir
from kernel.workspace.names import base_name, clean_path, dir_name, joined_path
from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Workspace

OCR_TEXTS: Final = f"{DATA}/{ASSETS}/ocr-texts.json"
_NEVER_UNUSED: Final = ("ocr-texts.json", "android-notification-texts.txt")
_VIEWS: Final = f"{DATA}/storage/av"
INVALID_NAME: Final = "Do not include symbols \\ / : * ? &quot; &#039; &lt; &gt; |"


@dataclass(frozen=True, slots=True)
class AssetItem:
    """An asset as the lists show it; ``mtime_s`` orders them."""

    item: str
    block_ids: tuple[str, ...] = ()
    mtime_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"item": self.item, "name": base_name(self.item)}
        return shown | ({"blockIDs": list(self.block_ids)} if self.block_ids else {})


# --- what there is ---------------------------------------------------------------------------------------------------
def all_assets(workspace: Workspace) -> dict[str, tuple[str, float]]:
    """Asset path as documents hold it → (file relative to data/, time). Folders end in a slash; hidden ones are left out."""
    found: dict[str, tuple[str, float]] = {}
    for box in boxes(workspace):
        for path, stat in workspace.files.walk(f"{DATA}/{box}"):
            inner = path[len(DATA) + 1 :]
            if f"/{ASSETS}/" in inner and not _is_hidden(inner):
                _enter(found, inner, stat.mtime_s)
    for path, stat in workspace.files.walk(f"{DATA}/{ASSETS}"):
        inner = path[len(DATA) + 1 :]
        if not _is_hidden(inner):
            _enter(found, inner, stat.mtime_s)
    return found


def _enter(found: dict[str, tuple[str, float]], inner: str, mtime_s: float) -> None:
    """A file, and the folders between it and ``assets``."""
    start = inner.index(PREFIX)
    found[inner[start:]] = (inner, mtime_s)
    folder = dir_name(inner)
    while len(folder) > start + len(ASSETS):
        found.setdefault(f"{folder[start:]}/", (folder, mtime_s))
        folder = dir_name(folder)


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def boxes(workspace: Workspace) -> list[str]:
    """Every notebook, closed ones too."""
    return [notebook.id for notebook in workspace.notebooks.listed(int(workspace.conf.file_tree["sort"]))]


def stored_trees(workspace: Workspace, box: str) -> Iterator[Node]:
    """The documents of a notebook as they lie on disk, closed or not. What cannot be read is passed over."""
    for path, _ in workspace.files.walk(f"{DATA}/{box}"):
        if not path.endswith(".sy"):
            continue
        content = workspace.files.read(path)
        if PREFIX.encode() in content or b"NodeAttributeView" in content:
            try:
                yield sy.decode(content)
            except ValueError:
                continue


def database_assets(workspace: Workspace, database_id: str) -> list[str]:
    path = f"{_VIEWS}/{database_id}.json"
    try:
        return cell_assets(read_json(workspace.files.read(path))) if is_node_id(database_id) else []
    except (OSError, ValueError, AttributeError):
        return []


# --- unused and missing ----------------------------------------------------------------------------------------------
def unused_assets(workspace: Workspace) -> list[AssetItem]:
    """Assets no document and no database shows, the newest first."""
    known = all_assets(workspace)
    kept = {path for path in known if path.endswith(_NEVER_UNUSED)}
    for box in boxes(workspace):
        for used in _used_in(workspace, box):
            if used not in known:
                continue
            kept |= {used, f"{used}.sya"} if used.endswith(".pdf") else {used}
            if used.endswith("/"):
                kept |= {path for path in known if path.startswith(used)}
            else:
                kept |= {path for path in known if used.startswith(path)}
    for content in _view_files(workspace).values():
        kept |= {path for path in known if path.encode() in content}
    found = [AssetItem(inner, mtime_s=at) for path, (inner, at) in known.items() if path not in kept]
    return sorted(found, key=lambda one: (one.mtime_s, one.item), reverse=True)


def _used_in(workspace: Workspace, box: str) -> set[str]:
    used: set[str] = set()
    for root in stored_trees(workspace, box):
        used.update(assets_of(root, lambda database_id: database_assets(workspace, database_id)))
        used.add(title_image(root))
    return {path.partition("?")[0] for path in used if path.startswith(PREFIX)}


def _view_files(workspace: Workspace) -> dict[str, bytes]:
    return {
        path: workspace.files.read(path)
        for path, stat in workspace.files.walk(_VIEWS)
        if path.endswith(".json") and is_node_id(stat.name.removesuffix(".json"))
    }


def missing_assets(workspace: Workspace) -> list[AssetItem]:
    """Assets that open documents show and that do not exist, with the blocks that show them."""
    known = all_assets(workspace)
    wanted: dict[str, set[str]] = {}
    for box in boxes(workspace):
        if workspace.notebooks.opened(box) is None:
            continue
        for root in stored_trees(workspace, box):
            for node in root.walk():
                for path in assets_at(node, lambda database_id: database_assets(workspace, database_id)):
                    wanted.setdefault(path.partition("?")[0], set()).add(block_of(node))
            image = title_image(root)
            if image.startswith(PREFIX):
                wanted.setdefault(image.partition("?")[0], set()).add(root.id)
    return [
        AssetItem(path, tuple(sorted(blocks - {""})))
        for path, blocks in sorted(wanted.items())
        if path not in known and not (path.startswith(f"{PREFIX}.") and workspace.files.exists(f"{DATA}/{path}"))
    ]


# --- removing and renaming -------------------------------------------------------------------------------------------
def remove_asset(workspace: Workspace, path: str) -> str:
    """Move one asset into history; the file it was, as the operating system names it.

    The real kernel moves whatever the path names, up to the whole data folder; ours only what lies among assets.

    Raises:
        Refusal: the path names something else that exists.
    """
    place = joined_path(f"/{DATA}", path).removeprefix("/") if not _climbs(path) else ""
    absolute = joined_path(workspace.files.absolute(""), DATA, path)
    if not place or not is_there(workspace.files, place):
        return absolute
    if f"/{ASSETS}/" not in place:
        raise Refusal(f"[{path}] is not an asset path")
    _put_aside(workspace, place)
    forget_text(workspace, path)
    return absolute


def _climbs(path: str) -> bool:
    return clean_path(f"./{path}").startswith("..")


def remove_unused(workspace: Workspace) -> tuple[list[str], int]:
    """Move all unused assets into history: the files they were, and their bytes."""
    removed, size = [], 0
    for item in unused_assets(workspace):
        place = f"{DATA}/{item.item}"
        stat = workspace.files.stat(place)
        if stat is not None:
            below = [one.size for _, one in workspace.files.walk(place)] if stat.is_dir else [stat.size]
            size += sum(below)
            _put_aside(workspace, place)
            forget_text(workspace, item.item)
        removed.append(workspace.files.absolute(place))
    return removed, size


def _put_aside(workspace: Workspace, place: str) -> None:
    workspace.files.copy(place, f"{history_dir(workspace, 'clean')}/{place[len(DATA) + 1 :]}")
    workspace.files.remove(place)


def rename_asset(
    workspace: Workspace, old_path: str, new_name: str, saved: Callable[[str], None] = lambda root_id: None
) -> str:
    """Rename an asset; documents (each is told to ``saved``) and databases follow. The new path, ``""`` where nothing is
    to be done.

    A missing file is no error: the path it would have is answered, as the kernel does.

    Raises:
        Refusal: the name cannot be a file's.
    """
    clean = without_query(old_path)
    name = filtered_name(new_name.strip())
    if not name or base_name(clean) == name:
        return ""
    if name in (".", ".."):
        raise Refusal(INVALID_NAME)
    name = with_id(name + raw_extension(clean), workspace.new_id())
    new_path = joined_path(dir_name(clean), name)
    try:
        found = find_asset(workspace, old_path)
    except Refusal:
        return new_path
    workspace.files.rename(found, joined_path(dir_name(found), name))
    annotations = f"{found}.sya"
    if workspace.files.exists(annotations):
        workspace.files.rename(annotations, f"{joined_path(dir_name(found), name)}.sya")
    for path in _rewrite_documents(workspace, base_name(old_path).encode(), name.encode()):
        saved(base_name(path).removesuffix(".sy"))
    for path, content in _view_files(workspace).items():
        if old_path.encode() in content:
            workspace.files.write(path, content.replace(old_path.encode(), new_path.encode()))
    text = asset_texts(workspace).get(old_path)
    if text:
        set_text(workspace, new_path, text)
    return new_path


def _rewrite_documents(workspace: Workspace, old: bytes, new: bytes) -> list[str]:
    """The files that hold the name, with another in its place."""
    kept = history_dir(workspace, "replace")
    changed = []
    for box in boxes(workspace):
        for path, _ in list(workspace.files.walk(f"{DATA}/{box}")):
            content = workspace.files.read(path) if path.endswith(".sy") else b""
            if old in content:
                workspace.files.write(path, content.replace(old, new))
                workspace.files.write(f"{kept}/{path[len(DATA) + 1 :]}", content.replace(old, new))
                changed.append(path)
    workspace.reload(changed)
    return changed


# --- OCR texts -------------------------------------------------------------------------------------------------------
def asset_texts(workspace: Workspace) -> dict[str, str]:
    """What has been read in images: asset path → text."""
    try:
        texts = read_json(workspace.files.read(OCR_TEXTS))
    except (OSError, ValueError):
        return {}
    return {path: text for path, text in texts.items() if isinstance(text, str)} if isinstance(texts, dict) else {}


def set_text(workspace: Workspace, path: str, text: str) -> None:
    texts = asset_texts(workspace)
    if texts.get(path) != text:
        texts[path] = text
        _write_texts(workspace, texts)


def forget_text(workspace: Workspace, path: str) -> None:
    texts = asset_texts(workspace)
    if texts.pop(path, None) is not None:
        _write_texts(workspace, texts)


def _write_texts(workspace: Workspace, texts: dict[str, str]) -> None:
    content = json.dumps(dict(sorted(texts.items())), ensure_ascii=False, indent=2)
    workspace.files.write(OCR_TEXTS, content.encode())
