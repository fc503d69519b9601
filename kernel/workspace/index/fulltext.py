"""[core] Keeps the tables that are searched for texts true, but only when somebody asks them.

Two tables. ``blocks_fts`` is the kernel's: every letter is a token, so that a phrase finds any piece of a text, and how
long that takes grows with the number of blocks. ``sisyphus_trigrams`` is ours and knows only which rows hold which three
letters in a row: a tenth of the work to build, and it leads to the few rows that may hold a word; the rows then tell.

Theory of operation. Neither table stores texts of its own: to take a row out of the first, FTS5 must be
told the texts under which it went in. A write therefore only notes those old texts (``stale``: rowid → old texts, or
None for a row that FTS5 has never seen); ``refresh`` settles the notes before the first query that needs them. A fresh
database, or too many notes, is settled by building the table anew, row after row in the order of their numbers: rows
from ``_next`` on are not in it yet, and need no notes. Nobody who never searches pays for the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import apsw

from kernel.workspace.index.limits import STALE_TEXTS_MAX, TEXTS_PER_STEP
from kernel.workspace.index.schema import FTS_COLUMNS, TRIGRAM_COLUMNS, TRIGRAM_TABLE

_COLUMNS: Final = ", ".join(FTS_COLUMNS)
_MARKS: Final = ", ".join("?" for _ in FTS_COLUMNS)
_Texts = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TextTable:
    """One of the tables: how its rows are put in (from ``blocks``, by a condition), and one taken out (with its texts)."""

    name: str
    put_in: str
    take_out: str
    takes_texts: bool


LETTERS: Final = TextTable(
    "blocks_fts",
    f"INSERT INTO blocks_fts(rowid, {_COLUMNS}) SELECT rowid, {_COLUMNS} FROM blocks WHERE",
    f"INSERT INTO blocks_fts(blocks_fts, rowid, {_COLUMNS}) VALUES ('delete', ?, {_MARKS})",
    takes_texts=True,
)
TRIGRAMS: Final = TextTable(
    TRIGRAM_TABLE,
    f"INSERT INTO {TRIGRAM_TABLE}(rowid, texts) SELECT rowid, sisyphus_folded({', '.join(TRIGRAM_COLUMNS)}) "
    "FROM blocks WHERE",
    f"DELETE FROM {TRIGRAM_TABLE} WHERE rowid = ?",
    takes_texts=False,
)


class FullText:
    """The notes about one table of one database. ``is_built``: the table holds every row, as of the notes."""

    def __init__(self, connection: apsw.Connection, table: TextTable = LETTERS, *, is_built: bool = False) -> None:
        self._connection = connection
        self.table = table
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
                execute(self.table.take_out, (rowid, *texts) if self.table.takes_texts else (rowid,))
            execute(f"{self.table.put_in} rowid = ?", (rowid,))
        self._stale.clear()

    def _build_step(self, first: int, rows_max: int) -> None:
        execute = self._connection.execute
        if first == 0:
            execute(f"INSERT INTO {self.table.name}({self.table.name}) VALUES ('delete-all')")
        chosen = "rowid >= ? ORDER BY rowid LIMIT ?"
        last = execute(f"SELECT max(rowid) FROM (SELECT rowid FROM blocks WHERE {chosen})", (first, rows_max)).get
        if last is None:
            self._next = None
            return
        execute(f"{self.table.put_in} {chosen}", (first, rows_max))
        self._next = last + 1

    def _is_in(self, rowid: int) -> bool:
        return self._next is None or rowid < self._next

    def _give_up_when_too_many(self) -> None:
        if len(self._stale) > STALE_TEXTS_MAX:
            self.forget()
