"""[core] Assets: the files documents show. Where they lie, how they come in, how their paths are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from kernel.ids import is_node_id
from kernel.workspace.asset_names import extension, last_id, raw_extension, upload_name, with_id, without_id
from kernel.workspace.documents import Refusal
from kernel.workspace.files import UnsafePath
from kernel.workspace.names import base_name, clean_path, dir_name, joined_path
from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.workspace.files import Files
    from kernel.workspace.workspace import Workspace

ASSETS: Final = "assets"
INSERT_FAILED: Final = "Failed to insert asset file, please reopen the document"
QUERY_ASSET_FAILED: Final = "Query asset failed [{}]"


def folder_of(workspace: Workspace, block_id: str) -> str:
    """Where the assets of a block's document lie: beside it, in its notebook, or in the common folder.

    Raises:
        Refusal: no such block.
    """
    entry = workspace.blocks.entry_of(block_id)
    if entry is None:
        raise Refusal(INSERT_FAILED)
    box = f"{DATA}/{entry.box}"
    for folder in (joined_path(box, dir_name(entry.path), ASSETS), f"{box}/{ASSETS}"):
        if workspace.files.is_dir(folder):
            return folder
    return f"{DATA}/{ASSETS}"


def store_uploads(
    workspace: Workspace,
    files: Iterable[tuple[str, bytes]],
    folder: str,
    shown_folder: str,
    *,
    skips_duplicates: bool = False,
) -> dict[str, str]:
    """Put uploaded files (name, content) into ``folder``; name → path as documents show it.

    A file of the same name and content that is there already is used again. ``skips_duplicates``: so is one whose
    name begins alike, whatever it holds; then the files after it are passed over, as the kernel does.
    """
    stored: dict[str, str] = {}
    for given, content in files:
        base, name = base_name(given), upload_name(base_name(given))
        known = same_asset(workspace.files, name, content, folder, shown_folder)
        if known is not None:
            stored[base] = known
            continue
        own_id = last_id(base) if is_node_id(last_id(base)) else ""
        if skips_duplicates:
            alike = _alike(workspace.files, folder, name, own_id)
            if alike is not None:
                stored[base] = joined_path(shown_folder, alike).removeprefix("/")
                break
        name = with_id(name, own_id or workspace.new_id())
        workspace.files.write(f"{folder}/{name}", content)
        stored[base] = joined_path(shown_folder, name).removeprefix("/")
    return stored


def same_asset(files: Files, name: str, content: bytes, folder: str, shown_folder: str) -> str | None:
    """The path of an asset with this name (ids and case aside) and this content. Empty files are never the same."""
    if not content:
        return None
    common = f"{DATA}/{ASSETS}"
    places = [(common, ASSETS)] if is_inside(folder, common) else [(common, ASSETS), (folder, shown_folder)]
    for top, shown in places:
        for path, stat in files.walk(top):
            if stat.size != len(content) or without_id(stat.name).lower() != name.lower():
                continue
            if files.read(path) == content:
                return joined_path(shown, path[len(top) + 1 :]).removeprefix("/")
    return None


def is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _alike(files: Files, folder: str, name: str, own_id: str) -> str | None:
    suffix = raw_extension(name)
    if own_id and own_id != last_id(name):
        # The name was cut; its id still tells it.
        begin, end = "", f"{own_id}{suffix}"
    else:
        begin, end = name.removesuffix(suffix) if suffix else name, suffix
    if not files.is_dir(folder):
        return None
    found = (entry.name for entry in files.list(folder))
    return next((one for one in found if _spans(one, begin, end)), None)


def _spans(name: str, begin: str, end: str) -> bool:
    return len(name) >= len(begin) + len(end) and name.startswith(begin) and name.endswith(end)


# --- paths as documents hold them ------------------------------------------------------------------------------------
def without_query(path: str) -> str:
    return path.strip().partition("?")[0]


def find_asset(workspace: Workspace, path: str) -> str:
    """The file, relative to the workspace, that an asset path of a document means.

    Raises:
        Refusal: it is no asset path, or there is no such file.
    """
    given, _, query = path.strip().partition("?")
    box = (parse_qs(query).get("box") or [""])[0].strip()
    relative = clean_path(given)
    if relative in (".", "..") or relative.startswith(("../", "/")):
        raise Refusal(f"[{relative}] is not an asset path")
    if not relative.startswith(f"{ASSETS}/"):
        raise Refusal(f"[{relative}] is not an asset path (must start with assets/)")
    if box and not is_node_id(box):
        raise Refusal(f"[{box}] is not a box id")
    found = _located(workspace, relative, box)
    if found is None:
        raise Refusal(QUERY_ASSET_FAILED.format(relative))
    return found


def _located(workspace: Workspace, relative: str, box: str) -> str | None:
    files = workspace.files
    places = [f"{DATA}/{box}/{relative}"] if box else []
    for place in [*places, f"{DATA}/{relative}"]:
        if is_there(files, place):
            return place
    for notebook in workspace.notebooks.listed(int(workspace.conf.file_tree["sort"])):
        for found, _ in files.walk(f"{DATA}/{notebook.id}"):
            if found.endswith(relative) and is_there(files, found):
                return found
    return None


def is_there(files: Files, path: str) -> bool:
    """Whether something lies there that is not a link out of the workspace."""
    try:
        if files.stat(path) is None:
            return False
    except UnsafePath:
        return False
    top = os.path.realpath(files.absolute(""))
    return os.path.realpath(files.absolute(path)).startswith(f"{top}{os.sep}")


def suffix_of(path: str) -> str:
    """The extension of an asset path, its query aside."""
    return extension(without_query(path))
