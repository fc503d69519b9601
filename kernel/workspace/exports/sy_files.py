"""[core] Documents as they are stored, with all that belongs to them: assets, databases, flashcards, order, emoji."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from kernel.workspace import sy
from kernel.workspace.asset_care import all_assets
from kernel.workspace.asset_links import PREFIX, assets_of, title_image
from kernel.workspace.assets import without_query
from kernel.workspace.doc_tree import read_sort
from kernel.workspace.exports.choosing import readable, with_related
from kernel.workspace.flashcards.decks import BUILT_IN, Deck, encoded_deck, load_deck
from kernel.workspace.names import joined_path
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.notebooks import DATA, written_conf
from kernel.workspace.views.database import values_in
from kernel.workspace.views.store import find, path_of

if TYPE_CHECKING:
    from kernel.workspace.tree import Node
    from kernel.workspace.workspace import Document, Workspace

_EMOJI: Final = re.compile(r'src="/?(emojis/[^"]+)"')
_ANNOTATIONS: Final = ".sya"
_STORAGE: Final = f"{DATA}/"


def sy_files(
    workspace: Workspace, box: str, root_ids: list[str], folder: str, *, has_related: bool, has_conf: bool = False
) -> dict[str, bytes | None]:
    """The files of an archive. ``folder``: what of the documents' paths is left out; ``has_conf``: a whole notebook."""
    chosen = [one for root_id in root_ids if (one := readable(workspace, root_id)) is not None and one.box == box]
    own_ids = {document.id for document in chosen}
    related_ids, _ = with_related(workspace, [document.id for document in chosen], has_related=has_related)
    related = [
        one for root_id in related_ids if root_id not in own_ids and (one := readable(workspace, root_id)) is not None
    ]
    entries: dict[str, bytes | None] = {}
    if has_conf:
        entries |= _notebook(workspace, box)
    for document in chosen:
        entries[document.path.removeprefix(folder).removeprefix("/")] = sy.encode(document.root)
    for document in related:
        entries[f"{document.id}.sy"] = sy.encode(document.root)
    documents = [*chosen, *related]
    entries |= _assets(workspace, documents)
    entries |= _databases(workspace, documents)
    entries |= _flashcards(workspace, documents)
    places = read_sort(workspace, box)
    kept = {document.id: places[document.id] for document in documents if document.id in places}
    if kept:
        entries[".siyuan/sort.json"] = json.dumps(dict(sorted(kept.items())), separators=(",", ":")).encode()
    return entries


def _notebook(workspace: Workspace, box: str) -> dict[str, bytes | None]:
    """What is told of a notebook: its settings, without what only this workspace knows."""
    plain = {"sort": 0, "closed": True, "refCreateSaveBox": "", "docCreateSaveBox": "", "encrypted": False}
    conf = {**workspace.box(box).conf, **plain, "boxCrypt": None}
    entries: dict[str, bytes | None] = {".siyuan/conf.json": written_conf(conf)}
    meta = f"{DATA}/{box}/.siyuan/boxDoc.json"
    if workspace.files.exists(meta):
        entries[".siyuan/boxDoc.json"] = workspace.files.read(meta)
    return entries


# --- assets ----------------------------------------------------------------------------------------------------------
def _assets(workspace: Workspace, documents: list[Document]) -> dict[str, bytes | None]:
    known = all_assets(workspace)
    entries: dict[str, bytes | None] = {}
    for document in documents:
        image = title_image(document.root)
        for path in [*assets_of(document.root), *([image] if image.startswith(PREFIX) else [])]:
            entries |= _asset(workspace, known, path.replace("%20", " "))
        for emoji in emoji_in(document.root):
            if workspace.files.exists(f"{DATA}/{emoji}"):
                entries[emoji] = workspace.files.read(f"{DATA}/{emoji}")
    return entries


def _asset(workspace: Workspace, known: dict[str, tuple[str, float]], path: str) -> dict[str, bytes | None]:
    """An asset's file, or the files of its folder, and the annotations of a PDF."""
    path = without_query(path)
    found = known.get(path)
    if found is None:
        return {}
    files, source = workspace.files, f"{DATA}/{found[0]}"
    if files.is_dir(source):
        below = [one for one, stat in files.walk(source) if not stat.is_dir]
        return {path.rstrip("/") + one[len(source) :]: files.read(one) for one in below}
    entries: dict[str, bytes | None] = {path: files.read(source)}
    if source.lower().endswith(".pdf") and files.exists(source + _ANNOTATIONS):
        entries[path + _ANNOTATIONS] = files.read(source + _ANNOTATIONS)
    return entries


def emoji_in(root: Node) -> list[str]:
    """The pictures of emoji that a tree shows, relative to data/, each once."""
    found: dict[str, None] = {}
    icon = root.properties.get("icon", "")
    if "." in icon:
        found[joined_path("emojis", icon)] = None
    for node in root.walk():
        if node.type == "NodeEmojiImg":
            found |= dict.fromkeys(_EMOJI.findall(node.data or ""))
    return list(found)


# --- databases -------------------------------------------------------------------------------------------------------
def _databases(workspace: Workspace, documents: list[Document]) -> dict[str, bytes | None]:
    known = all_assets(workspace)
    entries: dict[str, bytes | None] = {}
    waiting = [found for document in documents for found in _database_ids(document.root)]
    while waiting:
        database_id = waiting.pop(0)
        path = path_of(database_id)
        database = find(workspace, database_id)
        if path.removeprefix(_STORAGE) in entries or database is None:
            continue
        entries[path.removeprefix(_STORAGE)] = workspace.files.read(path)
        for column in database.columns():
            if column["key"]["type"] == "relation" and column["key"]["relation"]:
                waiting.append(str(column["key"]["relation"]["avID"]))
            for value in values_in(column) if column["key"]["type"] == "mAsset" else ():
                for asset in value["mAsset"] or ():
                    entries |= _asset(workspace, known, str(asset["content"]))
    return entries


def _database_ids(root: Node) -> list[str]:
    """The databases that a tree shows, or whose items its blocks are."""
    found: dict[str, None] = {}
    for node in root.walk():
        if node.type == "NodeAttributeView":
            found[str(node.fields.get("AttributeViewID", ""))] = None
        if node.type in BLOCK_TYPES:
            found |= {one.strip(): None for one in node.properties.get("custom-avs", "").split(",") if one.strip()}
    return list(found)


# --- flashcards ------------------------------------------------------------------------------------------------------
def _flashcards(workspace: Workspace, documents: list[Document]) -> dict[str, bytes | None]:
    """The cards of these documents as new ones of the built-in deck."""
    deck = load_deck(workspace, BUILT_IN)
    if deck is None:
        return {}
    ids = frozenset(node.id for document in documents for node in document.root.walk() if node.id)
    cards = {card.id: card for card in deck.of_blocks(ids)}
    if not cards:
        return {}
    now_ms = workspace.clock.wall_ms()
    return {
        f"storage/riff/{name}": content
        for name, content in encoded_deck(Deck(BUILT_IN, BUILT_IN, now_ms, now_ms, cards)).items()
    }
