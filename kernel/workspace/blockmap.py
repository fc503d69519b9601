"""[core] Where every block lives: block id → document, document → notebook, paths, title. Rebuilt from the files at start.

Titles are kept unescaped. Order of entry is kept, for the kernel answers "the first" of several equal paths of titles.
What every query asks of all documents together (how many blocks, which are hidden) is counted as they come and go, so
that no query walks through them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from kernel.workspace.backend import Stamp
from kernel.workspace.block_ids import NO_IDS, Holders, PackedIds
from kernel.workspace.contents import Pieces
from kernel.workspace.limits import DOCUMENTS_ENTERED_MAX, LATELY_FOUND_MAX, LEFT_OUT_IDS_MAX
from kernel.workspace.names import dir_name, tree_id, unescaped_attribute, without_suffix

_ID_MEMBER: Final = re.compile(rb'"ID"\s*:\s*"([^"\\]{1,64})"')
_REF_MEMBER: Final = re.compile(rb'"TextMarkBlockRefID"\s*:\s*"([^"\\]{1,64})"')
_EMBED_MEMBER: Final = re.compile(rb'"NodeBlockQueryEmbedScript"\s*,\s*"Data"\s*:\s*"((?:[^"\\]|\\.)*)"')
_ID: Final = re.compile(rb"\d{14}-[0-9a-z]{7}")
UNTITLED: Final = "Untitled"


@dataclass(slots=True)
class DocumentEntry:
    """One document. ``properties`` are the root's, entity-escaped as stored; ``size`` is that of the file in bytes.

    ``content`` is a digest of the file's content, or what was written, which knows it; empty where the tree in memory is
    not just what the file says. ``stamp`` is the file's as it was read, None when it has been written since. ``order``
    counts the documents as they were entered.
    """

    id: str
    box: str
    path: str
    properties: dict[str, str]
    size: int = 0
    hpath: str = ""
    block_ids: Set[str] = NO_IDS
    ref_ids: Set[str] = NO_IDS
    content: bytes | Pieces = b""
    stamp: Stamp | None = None
    order: int = 0

    @property
    def title(self) -> str:
        return unescaped_attribute(self.properties.get("title", ""))

    @property
    def is_hidden(self) -> bool:
        return self.properties.get("custom-hidden") == "true"

    @property
    def digest(self) -> bytes:
        """Of the file's content; empty where the tree in memory is not just what the file says."""
        return self.content if isinstance(self.content, bytes) else self.content.digest


class LeftOut(NamedTuple):
    """A block that its document no longer holds; ``order`` is the document's."""

    root_id: str
    order: int
    type: str


@dataclass(slots=True)
class BlockMap:
    """All blocks of the open notebooks, and ids that still lead to a document which no longer holds them.

    The kernel forgets the ids of what is deleted, but not of what an update of a container has left out: such an id goes
    on naming its document, in which the block is then not found.
    """

    documents: dict[str, DocumentEntry] = field(default_factory=dict)
    # Over all documents: blocks, bytes, those that no search shows, and those that refer to something.
    block_count: int = 0
    size: int = 0
    hidden: dict[str, None] = field(default_factory=dict)
    _referring: dict[str, None] = field(default_factory=dict)
    # The documents in the order they were entered, gone ones too: what ``Holders`` leads to.
    _numbered: list[str] = field(default_factory=list)
    _holders: Holders = field(default_factory=Holders)
    _referrers: Holders = field(default_factory=Holders)
    _by_hpath: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _by_path: dict[tuple[str, str], str] = field(default_factory=dict)
    # What was looked for since the map last changed: one call asks for one block again and again.
    _lately: dict[str, DocumentEntry] = field(default_factory=dict)
    _left_out: dict[str, LeftOut] = field(default_factory=dict)  # in order of leaving, oldest first
    # Notebook and folder → every document somewhere below it; the folder of all is "".
    _below: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    # --- asking ------------------------------------------------------------------------------------------------
    def root_of(self, block_id: str) -> str | None:
        """The document that holds a block (a document holds itself), or did until an update left it out."""
        entry = self._holder(block_id)
        if entry is not None:
            return entry.id
        left = self._left(block_id)
        return None if left is None else left.root_id

    def type_left_out(self, block_id: str) -> str | None:
        """The node type of a block that an update has left out, as long as its id is remembered."""
        left = self._left(block_id)
        return None if left is None else left.type

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
        """The documents of a notebook, the first known first."""
        return sorted((self.documents[root_id] for root_id in self._below.get((box, ""), ())), key=_order)

    def boxes(self) -> list[str]:
        """The notebooks that hold documents."""
        return [box for box, folder in self._below if not folder]

    def referring(self) -> list[DocumentEntry]:
        """The documents that refer to something, the first known first."""
        return sorted((self.documents[root_id] for root_id in self._referring), key=_order)

    def referrers(self, def_ids: Iterable[str]) -> list[str]:
        """The documents that hold a reference to one of the ids."""
        if not self._referring:
            return []
        found: dict[str, None] = {}
        for def_id in def_ids:
            candidates = self._numbers(self._referrers.candidates(def_id))
            found.update(dict.fromkeys(sorted(entry.id for entry in candidates if def_id in entry.ref_ids)))
        return list(found)

    def left_out_of(self, root_ids: Collection[str]) -> list[str]:
        """The ids that updates of these documents have left out."""
        return [one for one, left in self._left_out.items() if left.root_id in root_ids and self._left(one)]

    # --- changing ----------------------------------------------------------------------------------------------
    def put(self, entry: DocumentEntry, *, added: Collection[str] | None = None) -> None:
        """Enter a document, or replace what was known of it. ``added``: its ids that were not known, where one knows."""
        known = self.documents.get(entry.id)
        if known is None:
            entry.order = self._next_number(entry.id)
            self._enter(entry, entry.block_ids, entry.ref_ids)
            self._place(entry)
            self._rename(entry)
            return
        entry.order = known.order
        if added is None:
            added = set(entry.block_ids).difference(known.block_ids)
        self._count(known, -1)
        self._enter(entry, added, set(entry.ref_ids).difference(known.ref_ids))
        if (known.box, known.path) != (entry.box, entry.path):
            self._displace(known)
            self._place(entry)
        if (known.box, known.path, known.title) == (entry.box, entry.path, entry.title):
            entry.hpath = known.hpath
        else:
            self._forget_hpath(known)
            self._rename(entry)

    def remove(self, root_id: str) -> None:
        self._lately.clear()
        entry = self.documents.pop(root_id, None)
        if entry is not None:
            self._count(entry, -1)
            self._displace(entry)
            self._forget_hpath(entry)

    def deleted(self, block_ids: Iterable[str]) -> None:
        """Blocks are gone for good: their ids name nothing any more."""
        for block_id in block_ids:
            self._left_out.pop(block_id, None)

    def leave_out(self, root_id: str, types: dict[str, str]) -> None:
        """A document no longer holds these blocks (id → node type), and nobody has deleted them."""
        order = self.documents[root_id].order
        for block_id, type_ in types.items():
            self._left_out[block_id] = LeftOut(root_id, order, type_)
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

    # --- inside ------------------------------------------------------------------------------------------------
    def _holder(self, block_id: str) -> DocumentEntry | None:
        entry = self.documents.get(block_id) or self._lately.get(block_id)
        if entry is not None:
            return entry
        for entry in self._numbers(self._holders.candidates(block_id)):
            if block_id in entry.block_ids:
                if len(self._lately) == LATELY_FOUND_MAX:
                    self._lately.clear()
                self._lately[block_id] = entry
                return entry
        return None

    def _numbers(self, numbers: list[int]) -> Iterator[DocumentEntry]:
        """The documents with these numbers that are still there."""
        for number in numbers:
            entry = self.documents.get(self._numbered[number])
            if entry is not None:
                yield entry

    def _left(self, block_id: str) -> LeftOut | None:
        """A block left out by a document that has been there ever since."""
        left = self._left_out.get(block_id)
        entry = None if left is None else self.documents.get(left.root_id)
        return left if left is not None and entry is not None and entry.order == left.order else None

    def _next_number(self, root_id: str) -> int:
        if len(self._numbered) > DOCUMENTS_ENTERED_MAX:
            self._number_anew()
        self._numbered.append(root_id)
        return len(self._numbered) - 1

    def _number_anew(self) -> None:
        """Forget the numbers of documents that are gone."""
        self._left_out.clear()
        self._numbered, self._holders, self._referrers = [], Holders(), Holders()
        for entry in self.documents.values():
            entry.order = len(self._numbered)
            self._numbered.append(entry.id)
            self._holders.add(entry.block_ids, entry.order)
            self._referrers.add(entry.ref_ids, entry.order)

    def _enter(self, entry: DocumentEntry, new_ids: Collection[str], new_refs: Collection[str]) -> None:
        self.documents[entry.id] = entry
        self._lately.clear()
        self._count(entry, 1)
        self._holders.add(new_ids, entry.order)
        self._referrers.add(new_refs, entry.order)

    def _count(self, entry: DocumentEntry, sign: int) -> None:
        self.block_count += sign * len(entry.block_ids)
        self.size += sign * entry.size
        for kept, applies in ((self.hidden, entry.is_hidden), (self._referring, bool(entry.ref_ids))):
            if applies and sign > 0:
                kept[entry.id] = None
            elif applies:
                kept.pop(entry.id, None)

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
    """``""``, ``/a``, ``/a/b`` of ``/a/b/c.sy``."""
    yield ""
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


def ids_in(content: bytes) -> PackedIds:
    """The block ids in the bytes of a .sy file. Inside a string a quote is escaped, so only members match."""
    return PackedIds.of(found.decode("utf-8", "replace") for found in _ID_MEMBER.findall(content))


def refs_in(content: bytes) -> PackedIds:
    """The ids that the references and the embeds' statements in a .sy file point to."""
    # Most documents refer to nothing: two plain searches spare them the patterns.
    found = set(_REF_MEMBER.findall(content)) if b'"TextMarkBlockRefID"' in content else set()
    if b'"NodeBlockQueryEmbedScript"' in content:
        for statement in _EMBED_MEMBER.findall(content):
            found.update(_ID.findall(statement))
    return PackedIds.of(one.decode("utf-8", "replace") for one in found) if found else NO_IDS
