"""[core] What the /api families ask of the index again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import apsw

from kernel.workspace.index.limits import IDS_PER_STATEMENT_MAX
from kernel.workspace.index.rows import BlockRow
from kernel.workspace.index.schema import BLOCK_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAG_TYPES: Final = "(type = 'tag' OR (type LIKE 'textmark %' AND ' ' || type || ' ' LIKE '% tag %'))"

_TITLES_MAX: Final = 32


def rows_or_none(connection: apsw.Connection, statement: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
    """The rows of a statement that somebody's words are part of; none where they are more than SQLite takes (a pattern
    of 50,000 bytes, a thousand conditions). The kernel writes that into its log, and answers that it found nothing."""
    try:
        return list(connection.execute(statement, tuple(values)))
    except apsw.SQLError:
        return []


def blocks_by_id(connection: apsw.Connection, ids: Sequence[str]) -> list[BlockRow]:
    """The rows of these blocks in the order of the ids; unknown ids are left out."""
    found: dict[str, BlockRow] = {}
    for some in _batches(ids):
        statement = f"SELECT {BLOCK_COLUMNS} FROM blocks WHERE id IN ({', '.join('?' for _ in some)})"
        for values in connection.execute(statement, tuple(some)):
            row = BlockRow(*values)
            found.setdefault(row.id, row)
    return [found[block_id] for block_id in ids if block_id in found]


def ref_counts(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, int]:
    """Block id → how many references there are to it."""
    counts: dict[str, int] = {}
    for some in _batches(ids):
        statement = (
            "SELECT def_block_id, COUNT(*) FROM refs "
            f"WHERE def_block_id IN ({', '.join('?' for _ in some)}) GROUP BY def_block_id"
        )
        for def_id, count in connection.execute(statement, tuple(some)):
            counts[str(def_id)] = int(count)
    return counts


def document_ref_count(connection: apsw.Connection, root_id: str) -> int:
    """How many references lead to a document or a block of it."""
    statement = "SELECT def_block_id FROM refs WHERE def_block_root_id = ?"
    return sum(1 for _ in connection.execute(statement, (root_id,)))


def tag_labels(connection: apsw.Connection, keyword: str, limit: int) -> list[str]:
    """The labels that contain a keyword, one for every use."""
    statement = f"SELECT content FROM spans WHERE {_TAG_TYPES} AND content LIKE ? ORDER BY rowid LIMIT {limit}"
    return [str(row[0]) for row in rows_or_none(connection, statement, (f"%{keyword}%",))]


def all_tag_labels(connection: apsw.Connection) -> list[str]:
    """Every use of every label."""
    return [str(row[0]) for row in connection.execute(f"SELECT content FROM spans WHERE {_TAG_TYPES}")]


def tagged_roots(connection: apsw.Connection, label: str) -> list[str]:
    """The documents that use a label or one below it."""
    statement = f"SELECT DISTINCT root_id FROM spans WHERE {_TAG_TYPES} AND content LIKE ? ORDER BY root_id"
    return [str(row[0]) for row in rows_or_none(connection, statement, (f"%{label}%",))]


def bookmarked(connection: apsw.Connection) -> list[BlockRow]:
    """The rows of all blocks with a bookmark."""
    statement = "SELECT DISTINCT block_id FROM attributes WHERE name = 'bookmark' ORDER BY rowid"
    return blocks_by_id(connection, [str(row[0]) for row in connection.execute(statement)])


def bookmark_labels(connection: apsw.Connection) -> list[str]:
    """Every bookmark once."""
    statement = "SELECT DISTINCT value FROM attributes WHERE name = 'bookmark' ORDER BY value"
    return [str(row[0]) for row in connection.execute(statement)]


def recent_paragraphs(connection: apsw.Connection, limit: int) -> list[BlockRow]:
    """The paragraphs changed last, the last first."""
    statement = f"SELECT {BLOCK_COLUMNS} FROM blocks WHERE type = 'p' AND length > 1 ORDER BY updated DESC LIMIT ?"
    return [BlockRow(*row) for row in connection.execute(statement, (limit,))]


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), IDS_PER_STATEMENT_MAX):
        yield ids[start : start + IDS_PER_STATEMENT_MAX]


def ids_by_anchor(connection: apsw.Connection, anchor: str, *, is_case_sensitive: bool) -> list[str]:
    """What references with this very anchor point to, and blocks of this name, alias or title; the youngest id first.

    Of two references of one block to another the index knows the first.
    """
    same = "= ?" if is_case_sensitive else "LIKE ? ESCAPE '\\'"
    escaped = "".join(f"\\{char}" if char in "\\%_" else char for char in anchor)
    word = anchor if is_case_sensitive else escaped
    statement = (
        f"SELECT def_block_id FROM refs WHERE content {same} "
        f"UNION SELECT id FROM blocks WHERE name {same} OR (',' || alias || ',') LIKE ? ESCAPE '\\' "
        f"UNION SELECT id FROM (SELECT id FROM blocks WHERE type = 'd' AND content {same} LIMIT {_TITLES_MAX})"
    )
    rows = rows_or_none(connection, statement, (word, word, f"%,{escaped},%", word))
    return sorted((str(row[0]) for row in rows), reverse=True)
