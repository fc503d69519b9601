"""[core] Keeps ``blocks_fts`` true, but only when somebody asks it.

Theory of operation. The full-text table stores no texts of its own (external content): to take a row out, FTS5 must be
told the texts under which it went in. A write therefore only notes those old texts (``stale``: rowid → old texts, or
None for a row that FTS5 has never seen); ``refresh`` settles the notes before the first query that needs them. A fresh
database, or too many notes, is settled by one rebuild. Nobody who never searches pays for the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import apsw

from kernel.workspace.index.limits import STALE_TEXTS_MAX
from kernel.workspace.index.schema import FTS_COLUMNS

_COLUMNS: Final = ", ".join(FTS_COLUMNS)
_MARKS: Final = ", ".join("?" for _ in FTS_COLUMNS)
_Texts = tuple[Any, ...]


class FullText:
    """The notes about one database. ``is_built`` is False until the first ``refresh``."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._stale: dict[int, _Texts | None] = {}
        self.is_built = False

    def note_removed(self, rows: Iterable[tuple[int, _Texts]]) -> None:
        """These rows are about to go from ``blocks``, with the texts they have now."""
        if not self.is_built:
            return
        for rowid, texts in rows:
            if rowid not in self._stale:
                self._stale[rowid] = texts
            elif self._stale[rowid] is None:
                del self._stale[rowid]
        self._give_up_when_too_many()

    def note_added(self, rowids: Iterable[int]) -> None:
        """These rows have just been put into ``blocks``."""
        if not self.is_built:
            return
        for rowid in rowids:
            self._stale.setdefault(rowid, None)
        self._give_up_when_too_many()

    def refresh(self) -> None:
        """Bring the table up to date."""
        execute = self._connection.execute
        with self._connection:
            if not self.is_built:
                execute("INSERT INTO blocks_fts(blocks_fts) VALUES ('rebuild')")
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
        self.is_built = True
        self._stale.clear()

    def _give_up_when_too_many(self) -> None:
        if len(self._stale) > STALE_TEXTS_MAX:
            self.is_built = False
            self._stale.clear()
