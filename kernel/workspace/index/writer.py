"""[core] The index of one workspace: follows the documents, a step behind, and is true whenever it is asked.

Theory of operation. A write tells the index only *that* a document changed (``document_changed``); the rows are made
when a query comes (``settle``), from the tree as it then is. So a burst of edits is indexed once, and an edit costs
nothing while nobody asks. With a lag the index waits that long after the first untold change: queries then see the
past, as those of the real kernel do (decision 44). Used from the event loop's thread; users' statements run on
readers of their own.

The database outlives the process: ``sisyphus_indexed`` says from which content each document's rows were made, in the
same transaction as the rows, so that the next start indexes only what differs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

import apsw

from kernel.workspace.index.fingerprints import Change, Indexed, changed_since
from kernel.workspace.index.fulltext import LETTERS, TRIGRAMS, FullText
from kernel.workspace.index.limits import (
    EMBED_CONTENT_DELAY_S,
    IDS_PER_STATEMENT_MAX,
    KNOWN_TOP_BLOCKS_MAX,
    READERS_MAX,
)
from kernel.workspace.index.rows import RowBuilder, Rows, Surroundings
from kernel.workspace.index.schema import FTS_COLUMNS, INDEXED, create, is_current, prepare
from kernel.workspace.tree import Tree

_BY_ROOT: Final = ("blocks", "spans", "assets", "attributes", "refs", "file_annotation_refs")
_TEXTS: Final = ", ".join(FTS_COLUMNS)
_PLACED: Final = ("blocks", "spans", "attributes", "refs", "file_annotation_refs")


class Library(Protocol):
    """Where the index reads the documents."""

    def tree(self, root_id: str) -> Tree | None:
        """A document as it stands now; None if it is gone or cannot be read."""
        ...

    def pieces(self, tree: Tree) -> Sequence[bytes] | None:
        """The bytes of a tree's children as the file holds them, one for each; None where they are not at hand."""
        ...

    def is_at_hand(self, root_id: str) -> bool:
        """Whether somebody works with a document: it may change again soon."""
        ...

    def roots(self) -> Iterator[str]:
        """The ids of all documents."""
        ...

    def place(self, root_id: str) -> tuple[str, str, str] | None:
        """Notebook, path and path of titles of a document; None if there is none."""
        ...

    def digest(self, root_id: str) -> bytes:
        """A fingerprint of a document's file; empty where the tree is not just what the file says."""
        ...

    def below(self, box: str, path: str) -> Iterator[str]:
        """The ids of the documents below a document's path."""
        ...


class Index:
    """The SQL copy of the documents. ``connect`` opens the database, empty or as an earlier index left it."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        library: Library,
        surroundings: Surroundings,
        *,
        now: Callable[[], float],
        lag_s: float = 0.0,
    ) -> None:
        self._connect = connect
        self._library = library
        self._surroundings = surroundings
        self._now = now
        self.lag_s = lag_s
        self.connection = prepare(connect())
        self._due: dict[str, float] = {}
        # Of the documents indexed last: what their blocks looked like.
        self._known: OrderedDict[str, Indexed] = OrderedDict()
        self._known_tops = 0
        built: set[str] = set()
        if is_current(self.connection):
            built = self._take_over()
        else:
            create(self.connection)
            for root_id in library.roots():
                self.document_changed(root_id)
        self.fulltext, self.trigrams = (
            FullText(self.connection, table, is_built=table.name in built) for table in (LETTERS, TRIGRAMS)
        )
        self._contents: dict[str, tuple[str, float]] = {}
        self._readers: list[apsw.Connection] = []

    # --- what the workspace tells ----------------------------------------------------------------------------
    def document_changed(self, root_id: str) -> None:
        """Its content, attributes, path or title are new."""
        self._due.setdefault(root_id, self._now())

    def document_removed(self, root_id: str) -> None:
        """It is gone, or its notebook is closed."""
        self._due.setdefault(root_id, self._now())

    def note_content(self, block_id: str, text: str) -> None:
        """A block query has been shown with these results: its row says so a little later, as in the kernel."""
        self._contents[block_id] = (text, self._now())

    def set_content(self, block_id: str, text: str) -> None:
        """The same, at once."""
        with self.connection:
            self._set_content(block_id, text)

    # --- being true ------------------------------------------------------------------------------------------
    def settle(self, *, documents_max: int | None = None) -> bool:
        """Index what has changed and is older than the lag; whether more of it is left."""
        horizon = self._now() - self.lag_s
        return self._settle([root_id for root_id, since in self._due.items() if since <= horizon], documents_max)

    def flush(self) -> None:
        """Index all that has changed, lag or no lag."""
        self._settle(list(self._due), None)
        self._settle_contents(self._now())

    def rebuild(self) -> None:
        """Throw every row away; all documents are indexed anew."""
        with self.connection:
            for table in (*_BY_ROOT, "sisyphus_indexed"):
                self.connection.execute(f"DELETE FROM {table}")
        self._known.clear()
        self._known_tops = 0
        for text_table in self._text_tables:
            text_table.forget()
        for root_id in self._library.roots():
            self.document_changed(root_id)

    def _take_over(self) -> set[str]:
        """What differs from the rows of an earlier run is due; which of its text tables are whole."""
        seen = set()
        for root_id, *place, digest in self.connection.execute("SELECT * FROM sisyphus_indexed"):
            seen.add(root_id)
            if self._library.place(root_id) != tuple(place) or digest != self._library.digest(root_id) or not digest:
                self.document_changed(root_id)
        for root_id in self._library.roots():
            if root_id not in seen:
                self.document_changed(root_id)
        # From now on the tables may fall behind; ``close`` says again that they are whole.
        with self.connection:
            gone = list(self.connection.execute("DELETE FROM sisyphus_state RETURNING name"))
        return {str(row[0]) for row in gone}

    def _settle(self, due: Sequence[str], documents_max: int | None) -> bool:
        if not due:
            self._settle_contents(self._now() - EMBED_CONTENT_DELAY_S)
            return False
        taken = due if documents_max is None else due[:documents_max]
        with self.connection:
            for root_id in taken:
                del self._due[root_id]
                self._index(root_id)
        self._settle_contents(self._now() - EMBED_CONTENT_DELAY_S)
        # Paths of titles below a renamed document have changed without a word: they became due just now.
        return len(taken) < len(due) or any(since <= self._now() - self.lag_s for since in self._due.values())

    def _index(self, root_id: str) -> None:
        tree = self._library.tree(root_id)
        if tree is None:
            self._drop_document(root_id)
            return
        before = self._known.get(root_id)
        place = before.place if before is not None else self._drop_document(root_id)
        change = changed_since(tree, before, self._library.pieces(tree))
        if place is not None and place != change.indexed.place:
            if before is not None:
                self._move(root_id, tree)
            for below in self._library.below(tree.box, tree.path):
                self._due.setdefault(below, self._now() - self.lag_s)
        self._apply(tree, change)
        self._remember(root_id, change.indexed)

    def _remember(self, root_id: str, indexed: Indexed) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO sisyphus_indexed VALUES (?, ?, ?, ?, ?)",
            (root_id, *indexed.place, self._library.digest(root_id)),
        )
        self._forget(root_id)
        if not self._library.is_at_hand(root_id):
            return  # of what nobody works with, nothing is kept: a change of it is indexed whole, once
        self._known[root_id] = indexed
        self._known_tops += len(indexed.tops)
        while self._known_tops > KNOWN_TOP_BLOCKS_MAX and len(self._known) > 1:
            self._forget(next(iter(self._known)))

    def _forget(self, root_id: str) -> None:
        known = self._known.pop(root_id, None)
        if known is not None:
            self._known_tops -= len(known.tops)

    def _apply(self, tree: Tree, change: Change) -> None:
        builder = RowBuilder(tree, self._surroundings)
        dropped = list(change.dropped_ids)
        if change.has_new_root:
            dropped.append(tree.id)
            builder.add_document_row()
        for node, parent_id in change.made:
            builder.add_subtree(node, parent_id)
        self._drop_blocks(tree.id, dropped)
        self._insert(builder.rows)

    def _settle_contents(self, horizon: float) -> None:
        ripe = [(block_id, text) for block_id, (text, since) in self._contents.items() if since <= horizon]
        if not ripe:
            return
        with self.connection:
            for block_id, text in ripe:
                self._set_content(block_id, text)
                del self._contents[block_id]

    def _set_content(self, block_id: str, text: str) -> None:
        self._forget_texts("id = ?", (block_id,))
        self.connection.execute("UPDATE blocks SET content = ? WHERE id = ?", (text, block_id))
        rowids = [row[0] for row in self.connection.execute("SELECT rowid FROM blocks WHERE id = ?", (block_id,))]
        for table in self._text_tables:
            table.note_added(rowids)

    # --- rows ------------------------------------------------------------------------------------------------
    def _insert(self, rows: Rows) -> None:
        execute = self.connection.execute
        added: list[int] = []
        for row in rows.blocks:
            execute(f"INSERT INTO blocks VALUES ({_marks(row)})", row)
            added.append(self.connection.last_insert_rowid())
        for text_table in self._text_tables:
            text_table.note_added(added)
        for table, found in (
            ("spans", rows.spans),
            ("assets", rows.assets),
            ("attributes", rows.attributes),
            ("refs", rows.refs),
            ("file_annotation_refs", rows.annotation_refs),
        ):
            if found:
                self.connection.executemany(f"INSERT INTO {table} VALUES ({_marks(found[0])})", found)

    def _drop_blocks(self, root_id: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), IDS_PER_STATEMENT_MAX):
            some = ids[start : start + IDS_PER_STATEMENT_MAX]
            # The plus keeps SQLite from walking through all rows of the document to find a few.
            chosen = f"{{}} IN ({_marks(some)}) AND {{}}root_id = ?"
            self._forget_texts(chosen.format("id", "+"), (*some, root_id))
            for table in _BY_ROOT:
                column = "id" if table == "blocks" else "block_id"
                plus = "+" if (table, column) in INDEXED else ""
                self.connection.execute(f"DELETE FROM {table} WHERE {chosen.format(column, plus)}", (*some, root_id))

    def _drop_document(self, root_id: str) -> tuple[str, str, str] | None:
        """Take the rows of a document out; the place that they named, None if there are none."""
        self._forget(root_id)
        place: tuple[str, str, str] | None = None
        for place in self.connection.execute(  # noqa: B007 - the one row, if there is one
            "DELETE FROM sisyphus_indexed WHERE root_id = ? RETURNING box, path, hpath", (root_id,)
        ):
            pass
        if place is not None:
            self._forget_texts("root_id = ?", (root_id,))
            for table in _BY_ROOT:
                self.connection.execute(f"DELETE FROM {table} WHERE root_id = ?", (root_id,))
        return place

    def _forget_texts(self, condition: str, values: tuple[str, ...]) -> None:
        """The text tables are told of rows that are about to go."""
        if any(table.holds_rows for table in self._text_tables):
            columns = _TEXTS if self.fulltext.holds_rows else "NULL"
            rows = list(self.connection.execute(f"SELECT rowid, {columns} FROM blocks WHERE {condition}", values))
            for table in self._text_tables:
                if table.holds_rows:
                    table.note_removed((row[0], row[1:]) for row in rows)

    def _move(self, root_id: str, tree: Tree) -> None:
        """Other paths for the rows that stay as they are; the texts of the full-text index hold no paths."""
        for table in _PLACED:
            self.connection.execute(
                f"UPDATE {table} SET box = ?, path = ? WHERE root_id = ?", (tree.box, tree.path, root_id)
            )
        self.connection.execute("UPDATE blocks SET hpath = ? WHERE root_id = ?", (tree.hpath, root_id))
        self.connection.execute(
            "UPDATE assets SET box = ?, docpath = ? WHERE root_id = ?", (tree.box, tree.path, root_id)
        )

    @property
    def _text_tables(self) -> tuple[FullText, FullText]:
        return self.fulltext, self.trigrams

    # --- readers ---------------------------------------------------------------------------------------------
    def take_reader(self) -> apsw.Connection:
        """A read-only connection for one user's statement, to be given back."""
        return self._readers.pop() if self._readers else prepare(self._connect(), is_reader=True)

    def give_back(self, reader: apsw.Connection) -> None:
        """A statement has ended; its connection may serve the next."""
        if len(self._readers) < READERS_MAX:
            self._readers.append(reader)
        else:
            reader.close()

    def close(self) -> None:
        """Close every connection. The database stays for the next start."""
        for table in self._text_tables:
            if table.is_built:
                table.refresh()
                with self.connection:
                    self.connection.execute("INSERT OR REPLACE INTO sisyphus_state VALUES (?, 1)", (table.table.name,))
        for connection in (*self._readers, self.connection):
            connection.close()
        self._readers.clear()


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" for _ in values)
