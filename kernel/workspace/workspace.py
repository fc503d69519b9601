"""[core] A SiYuan workspace: files, settings, notebooks, loaded documents, and the map from blocks to documents.

The façade every /api family works on. It lives on one thread and does nothing slower than reading a file; what it
writes is pending until a shell settles it (``files``). Loaded trees are the only copy that edits touch: a handler
takes one with ``edit``, changes it, and ``save``s it; what it took and did not save is thrown away by ``end_call``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

from kernel.workspace import sy
from kernel.workspace.block_ids import NO_IDS, PackedIds
from kernel.workspace.blockmap import BlockMap, DocumentEntry
from kernel.workspace.catalog import Catalog, write_catalog
from kernel.workspace.conf import CONF_PATH, Conf
from kernel.workspace.contents import Pieces
from kernel.workspace.events import ALL, FILETREE, Event
from kernel.workspace.file_backends import on_disk
from kernel.workspace.files import Files, StorageError, is_temporary
from kernel.workspace.limits import LOADED_NODES_MAX
from kernel.workspace.loaded import Document, decoded, loaded_document
from kernel.workspace.names import SUFFIX, dir_name, tree_id
from kernel.workspace.notebooks import DATA, Notebook, Notebooks
from kernel.workspace.notices import document_notices, ref_count_notices
from kernel.workspace.renderings import Renderings
from kernel.workspace.tree import Node, Tree

if TYPE_CHECKING:
    from kernel.clock import Clock
    from kernel.ids import IdSource

TOKEN_LENGTH: Final = 16
_DATA_FOLDERS: Final = ("assets", "emojis", "plugins", "public", "storage", "templates", "widgets")
_LAYOUT: Final = ("data", "temp", *(f"data/{name}" for name in _DATA_FOLDERS))


class TreeObserver(Protocol):
    """Who wants to know that a document changed (the index). Told at once; the tree is read when it is needed."""

    def document_changed(self, root_id: str) -> None:
        """Its content, attributes, path or title are new."""
        ...

    def document_removed(self, root_id: str) -> None:
        """It is gone, or its notebook is closed."""
        ...


class NotFound(LookupError):
    """No such notebook, document or block; the message is the kernel's own word for it."""


class CorruptDocument(ValueError):
    """A .sy file that cannot be read. It is left as it is, never overwritten."""


@dataclass(slots=True)
class Workspace:
    """One open workspace."""

    files: Files
    conf: Conf
    notebooks: Notebooks
    clock: Clock
    ids: IdSource
    blocks: BlockMap = field(default_factory=BlockMap)
    # Documents that cannot be read: "<notebook><path>" -> why. They stay on disk as they are.
    corrupt: dict[str, str] = field(default_factory=dict)
    observers: list[TreeObserver] = field(default_factory=list)
    # Documents whose attributes have been shown, and what is still shown of those renamed since (see ``attributes``).
    shown_documents: set[str] = field(default_factory=set)
    kept_attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    # Blocks bound to databases → the names shown at their side, until their attributes are written anew.
    bound_names: dict[str, str] = field(default_factory=dict)
    # Database id → digest of what this process has written: it needs no second check when it is read.
    view_files: dict[str, bytes] = field(default_factory=dict)
    # What the last run knew, while the workspace is opened.
    catalog: Catalog = field(default_factory=lambda: Catalog({}, wall_ms=0))
    # What was made of whole documents lately.
    renderings: Renderings = field(default_factory=Renderings)
    _loaded: OrderedDict[str, Document] = field(default_factory=OrderedDict)
    _loaded_nodes: int = 0
    _taken: set[str] = field(default_factory=set)
    _events: list[Event] = field(default_factory=list)
    _saved: list[str] = field(default_factory=list)
    _recounted: list[str] = field(default_factory=list)

    # --- opening -----------------------------------------------------------------------------------------------
    @classmethod
    def open(cls, path: str, *, clock: Clock, ids: IdSource, files: Files | None = None) -> Workspace:
        """Open the workspace in a folder; an empty or missing folder becomes a fresh one.

        Raises:
            StorageError: the folder cannot be written.
        """
        store = files if files is not None else on_disk(path, wall_ms=clock.wall_ms)
        for folder in _LAYOUT:
            if not store.is_dir(folder):
                store.make_dir(folder)
        conf = Conf.load(
            store,
            new_id=lambda: ids.node_id(clock.local()),
            new_uuid=lambda: str(UUID(bytes=ids.entropy(16), version=4)),
        )
        if not conf.token:
            conf.section("api")["token"] = ids.text(TOKEN_LENGTH)
        conf.save()
        workspace = cls(store, conf, Notebooks(store), clock, ids)
        workspace.catalog = Catalog.read(store, wall_ms=clock.wall_ms())
        for notebook in workspace.notebooks.listed(int(workspace.conf.file_tree["sort"])):
            if not notebook.is_closed:
                workspace.scan(notebook.id)
        workspace.catalog = Catalog({}, wall_ms=0)
        store.flush()
        return workspace

    def close(self) -> None:
        """Keep for the next start what is known of the files. All writes have settled."""
        write_catalog(self.files, self.blocks.documents.values())

    def scan(self, box: str) -> None:
        """Enter every document of a notebook into the map. What cannot be read is reported in ``corrupt``."""
        prefix = f"{DATA}/{box}"
        found = [(path, entry) for path, entry in self.files.walk(prefix) if path.endswith(SUFFIX)]
        # Parents before children, so that paths of titles are known in one pass.
        for path, _ in sorted(found, key=lambda one: (one[0].count("/"), one[0])):
            self._enter(box, path[len(prefix) :])

    def unscan(self, box: str) -> None:
        """Forget the documents of a notebook (closed or removed)."""
        for entry in self.blocks.in_box(box):
            self._forget(entry.id)

    def now_stamp(self) -> str:
        """The local time as the kernel stamps it: yyyyMMddHHmmss."""
        return f"{self.clock.local():%Y%m%d%H%M%S}"

    def new_id(self) -> str:
        return self.ids.node_id(self.clock.local())

    # --- finding -----------------------------------------------------------------------------------------------
    def box(self, box: str) -> Notebook:
        """An open notebook. Raises NotFound (``notebook not found``)."""
        found = self.notebooks.opened(box)
        if found is None:
            raise NotFound("notebook not found")
        return found

    def entry(self, block_id: str) -> DocumentEntry:
        """The document that holds a block. Raises NotFound (``tree not found``)."""
        found = self.blocks.entry_of(block_id)
        if found is None:
            raise NotFound("tree not found")
        return found

    def document(self, block_id: str) -> Document:
        """The loaded document that holds a block, to be read.

        Raises:
            NotFound: there is none (``tree not found``).
            CorruptDocument: its file cannot be read.
        """
        entry = self.entry(block_id)
        loaded = self._loaded.get(entry.id)
        if loaded is None:
            loaded = self._load(entry)
        self._loaded.move_to_end(entry.id)
        return loaded

    def glance(self, root_id: str) -> Document:
        """A document that is read once, by its own id: it is not kept for that. Raises as ``document`` does."""
        loaded = self._loaded.get(root_id)
        return loaded if loaded is not None else self._read(self.entry(root_id))

    def is_loaded(self, root_id: str) -> bool:
        """Whether a document is at hand, for somebody works with it."""
        return root_id in self._loaded

    def rendered(self, document: Document, form: str, render: Callable[[], str]) -> str:
        """What ``render`` makes of a whole document, which says by ``form`` how: made once for each state of it."""
        if document.id in self._taken:
            return render()  # it may be half changed
        return self.renderings.get(document, form, render)

    def edit(self, block_id: str) -> Document:
        """The same, to be changed: ``save`` it, or it is thrown away at the end of the call."""
        document = self.document(block_id)
        self._taken.add(document.id)
        return document

    def node(self, block_id: str) -> tuple[Document, Node]:
        """A block and its document. Raises NotFound."""
        document = self.document(block_id)
        node = document.node(block_id)
        if node is None:
            raise NotFound("block not found")
        return document, node

    def block_exists(self, block_id: str) -> bool:
        return self.blocks.root_of(block_id) is not None

    def documents(self, box: str | None = None) -> Iterator[Document]:
        """Every readable document of the open notebooks, or of one, one after the other: to be read, not kept."""
        for entry in list(self.blocks.documents.values()):
            if box is None or entry.box == box:
                try:
                    yield self.glance(entry.id)
                except (CorruptDocument, NotFound):
                    continue

    # --- changing ----------------------------------------------------------------------------------------------
    def save(self, document: Document, touched: Iterable[Node] | None = None) -> None:
        """Write a document as it now stands; the map and the observers follow. ``touched``: see ``Document.encode``."""
        document.written = None
        content = document.encode(touched)
        self.files.write(f"{DATA}/{document.box}{document.path}", content)
        self._taken.discard(document.id)
        self._saved.append(document.id)
        self.kept_attributes.pop(document.id, None)
        self._put(document, len(content), document.targets(), content)

    def add(self, tree: Tree) -> Document:
        """Write a new document; what stands in it is what the next reader sees."""
        document = loaded_document(tree)
        self._remember(document)
        self._taken.add(document.id)
        self.save(document)
        if any(sy.is_hollow(node) for node in document.nodes.values()):
            self.reread(document.id)
            document = self._loaded[document.id]
            tree = document.tree
        self.tell_top_changed(tree.box, tree.path)
        tree.hpath = self.blocks.documents[document.id].hpath
        return document

    def moved(self, root_id: str, box: str, path: str) -> None:
        """A document's file now lies at another place (the files have been moved already)."""
        self.blocks.move(root_id, box, path)
        loaded = self._loaded.get(root_id)
        if loaded is not None:
            loaded.tree.box, loaded.tree.path = box, path
            loaded.tree.hpath = self.blocks.documents[root_id].hpath
        self._saved.append(root_id)
        self._tell_changed(root_id)

    def recount(self, def_ids: Iterable[str]) -> None:
        """References to these blocks have come or gone: windows are told their numbers."""
        self._recounted += def_ids

    def tell_top_changed(self, box: str, path: str) -> None:
        """A document has come to, or gone from, a notebook's top: its row in the file tree counts anew."""
        if dir_name(path) == "/" and tree_id(path) != box:
            self.emit("reloadNotebookInfo", box, to=FILETREE)

    def note_saved(self, root_id: str) -> None:
        """Windows are told of a document anew (something below it has come or gone)."""
        self._saved.append(root_id)

    def removed(self, root_id: str) -> None:
        """A document's file is gone (moved to history already)."""
        self._forget(root_id)

    def emit(self, cmd: str, data: Any = None, *, to: tuple[str, ...] = ALL, **rest: Any) -> None:
        """Tell the listening windows something, once the call's writes are on disk."""
        self._events.append(Event(cmd, data, to, **rest))

    def take_events(self) -> list[Event]:
        """What has been told since the last time, then what it means for documents and references."""
        if not (self._events or self._saved or self._recounted):
            return []
        events, self._events = self._events, []
        events += document_notices(self, self._saved)
        events += ref_count_notices(self, self._recounted)
        self._saved, self._recounted = [], []
        return events

    def event_count(self) -> int:
        return len(self._events)

    def drop_events_after(self, count: int) -> None:
        """Take back what has been told since ``event_count`` was ``count``: it has not happened after all."""
        del self._events[count:]

    def forget_tree(self, root_id: str) -> None:
        """Throw away a loaded tree with the changes that are not saved."""
        self._evict(root_id)
        self._taken.discard(root_id)

    def reread(self, root_id: str) -> None:
        """Read a document anew from its file, as the kernel mends it on reading; the map follows."""
        entry = self.blocks.documents.get(root_id)
        if entry is None:
            return
        written = self._loaded.get(root_id)
        self._evict(root_id)
        document = self._load(entry)
        if written is not None:
            document.dropped = {one: node.type for one, node in written.nodes.items()}
            if any(sy.is_hollow(node) for node in written.nodes.values()):
                document.written = written.tree
        self._put(document, entry.size, entry.ref_ids, self.blocks.documents[root_id].content)

    def end_call(self) -> None:
        """A handler is through, well or badly: trees that it took but did not save are read anew when needed."""
        for root_id in self._taken:
            self._evict(root_id)
        self._taken.clear()

    def reload(self, paths: Iterable[str]) -> None:
        """Forget what memory holds of these files and take the disk's word (a write was refused, or came from outside)."""
        for path in paths:
            if path == CONF_PATH:
                self.conf.reload()
            elif path.endswith("/.siyuan/conf.json"):
                self.notebooks.forget()
            elif path.endswith(SUFFIX) and path.startswith(f"{DATA}/"):
                box, _, inner = path[len(DATA) + 1 :].partition("/")
                self._reload_document(box, f"/{inner}")
        self._events.clear()

    # --- inside ------------------------------------------------------------------------------------------------
    def _enter(self, box: str, path: str) -> None:
        """Take one file into the map."""
        if is_temporary(path.rpartition("/")[2]):
            return
        try:
            entry = self.catalog.entry(self.files, box, path)
        except (ValueError, OSError) as error:
            self.corrupt[f"{box}{path}"] = str(error)
            return
        if (twin := self._twin(entry)) is not None:
            if not (_is_named_after_itself(entry) and not _is_named_after_itself(twin)):
                self._tell_twin(entry, twin)
                return
            self._forget(twin.id)
            self._tell_twin(twin, entry)
        self.blocks.put(entry)
        self._tell_changed(entry.id)

    def _twin(self, entry: DocumentEntry) -> DocumentEntry | None:
        """The document of the same id in another file: a copy made on the disk. One of the two can be served."""
        known = self.blocks.documents.get(entry.id)
        if known is None or (known.box, known.path) == (entry.box, entry.path):
            return None
        return known if self.files.exists(f"{DATA}/{known.box}{known.path}") else None

    def _tell_twin(self, left_out: DocumentEntry, served: DocumentEntry) -> None:
        words = f"it holds document {served.id}, and so does {served.box}{served.path}"
        self.corrupt[f"{left_out.box}{left_out.path}"] = words

    def _reload_document(self, box: str, path: str) -> None:
        known = self.blocks.at_path(box, path)
        if known is not None:
            self._forget(known.id)
        self.corrupt.pop(f"{box}{path}", None)
        if self.notebooks.opened(box) is not None and self.files.exists(f"{DATA}/{box}{path}"):
            self._enter(box, path)

    def _load(self, entry: DocumentEntry) -> Document:
        document = self._read(entry)
        self._remember(document)
        return document

    def _read(self, entry: DocumentEntry) -> Document:
        drawn: list[str] = []

        def new_id() -> str:
            drawn.append(self.new_id())
            return drawn[-1]

        try:
            content = self.files.read(f"{DATA}/{entry.box}{entry.path}")
            root, is_as_stored = decoded(content, new_id)
        except sy.SyError as error:
            self.corrupt[f"{entry.box}{entry.path}"] = str(error)
            raise CorruptDocument(str(error)) from error
        except FileNotFoundError as error:
            raise NotFound("tree not found") from error
        document = loaded_document(Tree(root, box=entry.box, path=entry.path, hpath=entry.hpath))
        document.holds_hollow = any(sy.is_hollow(node) for node in document.nodes.values())
        if is_as_stored:
            document.take_encoded(content)
        else:
            # With ids of its own, what memory holds is not just what the file says.
            vouched = b"" if drawn else entry.content
            self.blocks.put(replace(entry, block_ids=PackedIds.of(document.nodes), content=vouched))
        if drawn:
            # Ids that stand in no file: whoever asks next must be given the same.
            self._remember(document)
        return document

    def _remember(self, document: Document) -> None:
        self._evict(document.id)
        self._loaded[document.id] = document
        self._loaded_nodes += document.size
        while self._loaded_nodes > LOADED_NODES_MAX and len(self._loaded) > 1:
            oldest = next(root_id for root_id in self._loaded if root_id != document.id)
            if oldest in self._taken:
                break
            self._evict(oldest)

    def _evict(self, root_id: str) -> None:
        gone = self._loaded.pop(root_id, None)
        if gone is not None:
            self._loaded_nodes -= gone.size

    def _put(self, document: Document, size: int, ref_ids: Set[str], content: bytes | Pieces) -> None:
        properties = dict(document.root.properties)
        known = self.blocks.documents.get(document.id)
        ids, added = document.ids_since(known.block_ids if known is not None else NO_IDS)
        place = (document.id, document.box, document.path)
        entry = DocumentEntry(*place, properties, size, block_ids=ids, ref_ids=ref_ids, content=content)
        self.blocks.put(entry, added=added)
        self.blocks.leave_out(
            document.id, {one: type_ for one, type_ in document.dropped.items() if one not in document.nodes}
        )
        document.fresh.clear()
        document.dropped.clear()
        document.tree.hpath = self.blocks.documents[document.id].hpath
        self._tell_changed(document.id)

    def _forget(self, root_id: str) -> None:
        self._evict(root_id)
        self._taken.discard(root_id)
        self.blocks.remove(root_id)
        self.shown_documents.discard(root_id)
        self.kept_attributes.pop(root_id, None)
        for observer in self.observers:
            observer.document_removed(root_id)

    def _tell_changed(self, root_id: str) -> None:
        for observer in self.observers:
            observer.document_changed(root_id)


def _is_named_after_itself(entry: DocumentEntry) -> bool:
    return entry.path.endswith(f"/{entry.id}{SUFFIX}")


__all__ = [
    "CorruptDocument",
    "Document",
    "NotFound",
    "StorageError",
    "TreeObserver",
    "Workspace",
    "loaded_document",
]
