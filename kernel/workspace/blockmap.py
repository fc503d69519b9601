"""[core] Where every block lives: block id → document, document → notebook, paths, title. Rebuilt from the files at start.

Titles are kept unescaped. Order of entry is kept, for the kernel answers "the first" of several equal paths of titles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from kernel.workspace.files import Stamp
from kernel.workspace.limits import LEFT_OUT_IDS_MAX
from kernel.workspace.names import dir_name, tree_id, unescaped_attribute, without_suffix

_ID_MEMBER: Final = re.compile(rb'"ID"\s*:\s*"([^"\\]{1,64})"')
_REF_MEMBER: Final = re.compile(rb'"TextMarkBlockRefID"\s*:\s*"([^"\\]{1,64})"')
_EMBED_MEMBER: Final = re.compile(rb'"NodeBlockQueryEmbedScript"\s*,\s*"Data"\s*:\s*"((?:[^"\\]|\\.)*)"')
_ID: Final = re.compile(rb"\d{14}-[0-9a-z]{7}")
UNTITLED: Final = "Untitled"


@dataclass(slots=True)
class DocumentEntry:
    """One document. ``properties`` are the root's, entity-escaped as stored; ``size`` is that of the file in bytes.

    ``digest`` is of the file's content, empty where the tree in memory is not just what the file says. ``stamp`` is the
    file's as it was read, None when it has been written since. ``order`` counts the documents as they were entered.
    """

    id: str
    box: str
    path: str
    properties: dict[str, str]
    size: int = 0
    hpath: str = ""
    block_ids: frozenset[str] = frozenset()
    ref_ids: frozenset[str] = frozenset()
    digest: bytes = b""
    stamp: Stamp | None = None
    order: int = 0

    @property
    def title(self) -> str:
        return unescaped_attribute(self.properties.get("title", ""))

    @property
    def is_hidden(self) -> bool:
        return self.properties.get("custom-hidden") == "true"


class LeftOut(NamedTuple):
    """A block that its document no longer holds."""

    root_id: str
    type: str


@dataclass(slots=True)
class BlockMap:
    """All blocks of the open notebooks, and ids that still lead to a document which no longer holds them.

    The kernel forgets the ids of what is deleted, but not of what an update of a container has left out: such an id goes
    on naming its document, in which the block is then not found.
    """

    documents: dict[str, DocumentEntry] = field(default_factory=dict)
    _roots: dict[str, str] = field(default_factory=dict)
    _by_hpath: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _by_path: dict[tuple[str, str], str] = field(default_factory=dict)
    _referrers: dict[str, set[str]] = field(default_factory=dict)
    _left_out: dict[str, LeftOut] = field(default_factory=dict)  # in order of leaving, oldest first
    # Notebook and folder → every document somewhere below it.
    _below: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _entered: int = 0

    # --- asking ------------------------------------------------------------------------------------------------
    def root_of(self, block_id: str) -> str | None:
        """The document that holds a block (a document holds itself), or did until an update left it out."""
        root = self._roots.get(block_id)
        if root is None and block_id in self._left_out:
            return self._left_out[block_id].root_id
        return root

    def type_left_out(self, block_id: str) -> str | None:
        """The node type of a block that an update has left out, as long as its id is remembered."""
        return self._left_out[block_id].type if block_id in self._left_out else None

    def entry_of(self, block_id: str) -> DocumentEntry | None:
        root = self.root_of(block_id)
        return None if root is None else self.documents.get(root)

    def at_path(self, box: str, path: str) -> DocumentEntry | None:
        root = self._by_path.get((box, path))
        return None if root is None else self.documents.get(root)

    def at_hpath(self, box: str, hpath: str) -> list[DocumentEntry]:
        """The documents whose path of titles is ``hpath``, the first known first."""
        return [self.documents[root] for root in self._by_hpath.get((box, hpath), ())]

    def below(self, box: str, path: str) -> Iterator[DocumentEntry]:
        """The document at ``path`` and every one below it, the first known first."""
        found = set(self._below.get((box, without_suffix(path)), ()))
        here = self._by_path.get((box, path))
        if here is not None:
            found.add(here)
        yield from sorted((self.documents[root_id] for root_id in found), key=_order)

    def in_box(self, box: str) -> list[DocumentEntry]:
        return [entry for entry in self.documents.values() if entry.box == box]

    def referrers(self, def_ids: Iterable[str]) -> list[str]:
        """The documents that hold a reference to one of the ids."""
        found: dict[str, None] = {}
        for def_id in def_ids:
            found.update(dict.fromkeys(sorted(self._referrers.get(def_id, ()))))
        return list(found)

    # --- changing ----------------------------------------------------------------------------------------------
    def put(self, entry: DocumentEntry) -> None:
        """Enter a document, or replace what was known of it."""
        known = self.documents.get(entry.id)
        if known is not None:
            self._forget_members(known, but=entry)
        self._entered += 1
        entry.order = known.order if known is not None else self._entered
        self.documents[entry.id] = entry
        self._place(entry)
        for block_id in entry.block_ids - (known.block_ids if known is not None else frozenset()):
            self._roots[block_id] = entry.id
        self._roots[entry.id] = entry.id
        for def_id in entry.ref_ids - (known.ref_ids if known is not None else frozenset()):
            self._referrers.setdefault(def_id, set()).add(entry.id)
        is_same_place = known is not None and (known.box, known.path, known.title) == (
            entry.box,
            entry.path,
            entry.title,
        )
        if is_same_place and known is not None:
            entry.hpath = known.hpath
        else:
            if known is not None:
                self._forget_hpath(known)
            self._rename(entry)

    def remove(self, root_id: str) -> None:
        entry = self.documents.pop(root_id, None)
        if entry is not None:
            self._forget_members(entry)
            self._forget_hpath(entry)
            for block_id in [one for one, left in self._left_out.items() if left.root_id == root_id]:
                del self._left_out[block_id]

    def deleted(self, block_ids: Iterable[str]) -> None:
        """Blocks are gone for good: their ids name nothing any more."""
        for block_id in block_ids:
            self._left_out.pop(block_id, None)

    def leave_out(self, root_id: str, types: dict[str, str]) -> None:
        """A document no longer holds these blocks (id → node type), and nobody has deleted them."""
        for block_id, type_ in types.items():
            self._left_out[block_id] = LeftOut(root_id, type_)
        while len(self._left_out) > LEFT_OUT_IDS_MAX:
            del self._left_out[next(iter(self._left_out))]

    def move(self, root_id: str, box: str, path: str) -> None:
        """A document lies elsewhere now; its children are moved by calls of their own."""
        entry = self.documents[root_id]
        self._forget_hpath(entry)
        self._displace(entry)
        entry.box, entry.path, entry.stamp = box, path, None
        self._place(entry)
        self._set_hpath(entry)

    def _rename(self, entry: DocumentEntry) -> None:
        self._set_hpath(entry)
        for below in list(self.below(entry.box, entry.path)):
            if below is not entry:
                self._forget_hpath(below)
                self._set_hpath(below)

    def _set_hpath(self, entry: DocumentEntry) -> None:
        titles = [entry.title]
        path = entry.path
        while (parent := dir_name(path)) not in ("/", "."):
            above = self.documents.get(tree_id(parent))
            titles.append(above.title if above is not None and above.title else UNTITLED)
            path = parent
        entry.hpath = "/" + "/".join(reversed(titles))
        self._by_hpath.setdefault((entry.box, entry.hpath), []).append(entry.id)

    def _forget_hpath(self, entry: DocumentEntry) -> None:
        same = self._by_hpath.get((entry.box, entry.hpath), [])
        if entry.id in same:
            same.remove(entry.id)
            if not same:
                del self._by_hpath[entry.box, entry.hpath]

    def _forget_members(self, entry: DocumentEntry, *, but: DocumentEntry | None = None) -> None:
        kept_blocks = (but.block_ids | {but.id}) if but is not None else frozenset()
        for block_id in (entry.block_ids | {entry.id}) - kept_blocks:
            # A block that has moved to another document since belongs to that one.
            if self._roots.get(block_id) == entry.id:
                del self._roots[block_id]
        for def_id in entry.ref_ids - (but.ref_ids if but is not None else frozenset()):
            referrers = self._referrers.get(def_id)
            if referrers is not None:
                referrers.discard(entry.id)
                if not referrers:
                    del self._referrers[def_id]
        self._displace(entry)

    def _place(self, entry: DocumentEntry) -> None:
        self._by_path[entry.box, entry.path] = entry.id
        for folder in _folders_above(entry.path):
            self._below.setdefault((entry.box, folder), set()).add(entry.id)

    def _displace(self, entry: DocumentEntry) -> None:
        if self._by_path.get((entry.box, entry.path)) == entry.id:
            del self._by_path[entry.box, entry.path]
        for folder in _folders_above(entry.path):
            below = self._below.get((entry.box, folder))
            if below is not None:
                below.discard(entry.id)
                if not below:
                    del self._below[entry.box, folder]


def _order(entry: DocumentEntry) -> int:
    return entry.order


def _folders_above(path: str) -> Iterator[str]:
    """``/a``, ``/a/b`` of ``/a/b/c.sy``."""
    end = path.find("/", 1)
    while end > 0:
        yield path[:end]
        end = path.find("/", end + 1)


class _Head(msgspec.Struct):
    """What a listing needs of a .sy file: nothing of its content is built."""

    ID: str = ""
    Type: str = ""
    Properties: dict[str, str] = {}


def head_of(content: bytes) -> tuple[str, dict[str, str]]:
    """The id and the (stored) properties of the document in the bytes of a .sy file.

    Raises:
        ValueError: not a readable document.
    """
    try:
        head = msgspec.json.decode(content, type=_Head)
    except msgspec.MsgspecError as error:
        raise ValueError(f"the file is not a document: {error}") from error
    except RecursionError as error:
        raise ValueError("the file is nested too deeply") from error
    if head.Type != "NodeDocument" or not head.ID:
        raise ValueError("the file is not a document: its top node is not a NodeDocument with an ID")
    return head.ID, head.Properties


def ids_in(content: bytes) -> frozenset[str]:
    """The block ids in the bytes of a .sy file. Inside a string a quote is escaped, so only members match."""
    return frozenset(found.decode("utf-8", "replace") for found in _ID_MEMBER.findall(content))


def refs_in(content: bytes) -> frozenset[str]:
    """The ids that the references and the embeds' statements in a .sy file point to."""
    # Most documents refer to nothing: two plain searches spare them the patterns.
    found = set(_REF_MEMBER.findall(content)) if b'"TextMarkBlockRefID"' in content else set()
    if b'"NodeBlockQueryEmbedScript"' in content:
        for statement in _EMBED_MEMBER.findall(content):
            found.update(_ID.findall(statement))
    return frozenset(one.decode("utf-8", "replace") for one in found)
