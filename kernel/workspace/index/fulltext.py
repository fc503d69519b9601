"""[core] Keeps ``blocks_fts`` true, but only when somebody asks it.

Theory of operation. The full-text table stores no texts of its own (external content): to take a row out, FTS5 must be
told the texts under which it went in. A write therefore only notes those old texts (``stale``: rowid → old texts, or
None for a row that FTS5 has never seen); ``refresh`` settles the notes before the first query that needs them. A fresh
database, or too many notes, is settled by building the table anew, row after row in the order of their numbers: rows
from ``_next`` on are not in it yet, and need no notes. Nobody who never searches pays for the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import apsw

from kernel.workspace.index.limits import STALE_TEXTS_MAX, TEXTS_PER_STEP
from kernel.workspace.index.schema import FTS_COLUMNS

_COLUMNS: Final = ", ".join(FTS_COLUMNS)
_MARKS: Final = ", ".join("?" for _ in FTS_COLUMNS)
_Texts = tuple[Any, ...]


class FullText:
    """The notes about one database. ``is_built``: its table holds every row, as of the notes."""

    def __init__(self, connection: apsw.Connection, *, is_built: bool = False) -> None:
        self._connection = connection
        self._stale: dict[int, _Texts | None] = {}
        # The first row that the table does not hold yet; None: it holds all.
        self._next: int | None = None if is_built else 0

    @property
    def is_built(self) -> bool:
        return self._next is None

    @property
    def holds_rows(self) -> bool:
        """Whether rows that go must be noted with their texts."""
        return self._next != 0

    def forget(self) -> None:
        """Build the table anew when it is next needed."""
        self._next = 0
        self._stale.clear()

    def note_removed(self, rows: Iterable[tuple[int, _Texts]]) -> None:
        """These rows are about to go from ``blocks``, with the texts they have now."""
        for rowid, texts in rows:
            if not self._is_in(rowid):
                continue
            if rowid not in self._stale:
                self._stale[rowid] = texts
            elif self._stale[rowid] is None:
                del self._stale[rowid]
        self._give_up_when_too_many()

    def note_added(self, rowids: Iterable[int]) -> None:
        """These rows have just been put into ``blocks``."""
        if not self.holds_rows:
            return
        for rowid in rowids:
            if self._is_in(rowid):
                self._stale.setdefault(rowid, None)
        self._give_up_when_too_many()

    def refresh(self, *, rows_max: int | None = None) -> bool:
        """Bring the table up to date, or ``rows_max`` rows nearer to it; whether more is left to do."""
        with self._connection:
            self._settle_stale()
            while self._next is not None:
                self._build_step(self._next, rows_max or TEXTS_PER_STEP)
                if rows_max is not None:
                    break
        return self._next is not None

    def _settle_stale(self) -> None:
        execute = self._connection.execute
        for rowid, texts in self._stale.items():
            if texts is not None:
                execute(
                    f"INSERT INTO blocks_fts(blocks_fts, rowid, {_COLUMNS}) VALUES ('delete', ?, {_MARKS})",
                    (rowid, *texts),
                )
            execute(
                f"INSERT INTO blocks_fts(rowid, {_COLUMNS}) SELECT rowid, {_COLUMNS} FROM blocks WHERE rowid = ?",
                (rowid,),
            )
        self._stale.clear()

    def _build_step(self, first: int, rows_max: int) -> None:
        execute = self._connection.execute
        if first == 0:
            execute("INSERT INTO blocks_fts(blocks_fts) VALUES ('delete-all')")
        chosen = "FROM blocks WHERE rowid >= ? ORDER BY rowid LIMIT ?"
        last = execute(f"SELECT max(rowid) FROM (SELECT rowid {chosen})", (first, rows_max)).get
        if last is None:
            self._next = None
            return
        execute(f"INSERT INTO blocks_fts(rowid, {_COLUMNS}) SELECT rowid, {_COLUMNS} {chosen}", (first, rows_max))
        self._next = last + 1

    def _is_in(self, rowid: int) -> bool:
        return self._next is None or rowid < self._next

    def _give_up_when_too_many(self) -> None:
        if len(self._stale) > STALE_TEXTS_MAX:
            self.forget()
