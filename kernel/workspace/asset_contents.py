"""[core] The texts of asset files, to be searched: an index of its own, filled when somebody asks (siyuan-api A6).

Only files that are text are read; documents of other programs (PDF, office formats) are not taken apart.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import apsw

from kernel.workspace.index.schema import prepare
from kernel.workspace.index.statements import check_query
from kernel.workspace.marking import HIT_LEFT, HIT_RIGHT
from kernel.workspace.patterns import PatternInvalid, compiled
from kernel.workspace.search import QUERY_SYNTAX, REGEX, SQL, quoted_query, visible_query

TABLE: Final = "asset_contents_fts_case_insensitive"
TEXT_BYTES_MAX: Final = 4 * 1024 * 1024  # larger files are not searched
TEXT_SUFFIXES: Final = frozenset(
    [
        ".txt",
        ".md",
        ".markdown",
        ".json",
        ".log",
        ".sql",
        ".html",
        ".xml",
        ".java",
        ".h",
        ".c",
        ".cpp",
        ".go",
        ".rs",
        ".swift",
        ".kt",
        ".py",
        ".php",
        ".js",
        ".css",
        ".ts",
        ".sh",
        ".bat",
        ".cmd",
        ".ini",
        ".yaml",
        ".rst",
        ".adoc",
        ".textile",
        ".opml",
        ".org",
        ".wiki",
        ".cs",
    ]
)
_COLUMNS: Final = "id, name, ext, path, size, updated, content"
_SEARCHED: Final = "{name content}"
_OWN_ID: Final = re.compile(r"-\d{14}-[0-9a-z]{7}(?=\.[^.]*$|$)")
_OWN_LIMIT: Final = re.compile(r"\s+limit\s+\d+(?:\s+offset\s+\d+)?\s*$", re.IGNORECASE)
_OWN_OFFSET: Final = re.compile(r"\soffset\s+\d+\s*$", re.IGNORECASE)
_ALL_COLUMNS: Final = re.compile(r"^select \* ", re.IGNORECASE)
_ORDERS: Final = {1: "rank ASC", 2: "updated ASC", 3: "updated DESC"}


@dataclass(frozen=True, slots=True)
class AssetFile:
    """One file below ``data/assets``: its path as documents name it, size in bytes, Unix seconds of its change."""

    path: str
    size: int
    updated: int


@dataclass(frozen=True, slots=True)
class AssetText:
    """One hit."""

    id: str
    name: str
    ext: str
    path: str
    size: int
    updated: int
    content: str


def shown_name(path: str) -> str:
    """A file's name without the id that an upload gave it."""
    return _OWN_ID.sub("", posixpath.basename(path))


class AssetContents:
    """The index; ``read`` gives the bytes of an asset."""

    def __init__(self) -> None:
        self._connection = prepare(apsw.Connection(":memory:"))
        uncounted = "id UNINDEXED, name, ext, path, size UNINDEXED, updated UNINDEXED, content"
        self._connection.execute(
            f'CREATE VIRTUAL TABLE {TABLE} USING fts5({uncounted}, tokenize="siyuan case_insensitive")'
        )
        self._known: dict[str, AssetFile] = {}
        # An id is kept while a file changes: a window asks for the text of a hit some time after the search.
        self._ids: dict[str, str] = {}

    def stale(self, files: Iterable[AssetFile]) -> list[AssetFile]:
        """Forget what is gone or changed; the files that are to be read anew."""
        current = {file.path: file for file in files if is_text(file)}
        for path, known in list(self._known.items()):
            if current.get(path) != known:
                self._connection.execute(f"DELETE FROM {TABLE} WHERE path = ?", (path,))
                del self._known[path]
        return [file for path, file in current.items() if path not in self._known]

    def put(self, file: AssetFile, content: bytes) -> None:
        """Enter the text of one file."""
        asset_id = self._ids.setdefault(file.path, _id_of(file))
        name, ext = shown_name(file.path), posixpath.splitext(file.path)[1].lower()
        row = (asset_id, name, ext, file.path, file.size, file.updated, content.decode("utf-8", "replace"))
        self._connection.execute(f"INSERT INTO {TABLE} VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._known[file.path] = file

    def search(
        self, query: str, types: frozenset[str] | None, method: int, order_by: int, page: int, page_size: int
    ) -> tuple[list[AssetText], int]:
        """A page of hits and how many there are. What SQLite refuses finds nothing.

        Raises StatementRefused: the caller's own SQL is not one reading statement.
        """
        query = query.strip()
        if method == SQL:
            return self._by_sql(visible_query(query).strip(), page, page_size)
        condition, values = self._condition(query, method)
        if types is not None and types:
            condition += f" AND ext IN ({', '.join('?' for _ in types)})"
            values += tuple(sorted(types))
        elif types is not None:
            condition += " AND 1 = 0"
        shown = _COLUMNS
        if method != REGEX:
            shown = _COLUMNS.replace("content", f"snippet({TABLE}, 6, '{HIT_LEFT}', '{HIT_RIGHT}', '...', 64)")
        paging = f"LIMIT {page_size} OFFSET {(page - 1) * page_size}"
        order = f"ORDER BY {_ORDERS.get(order_by, 'rank DESC')}"
        try:
            rows = list(
                self._connection.execute(f"SELECT {shown} FROM {TABLE} WHERE {condition} {order} {paging}", values)
            )
            count = next(iter(self._connection.execute(f"SELECT COUNT(*) FROM {TABLE} WHERE {condition}", values)))[0]
        except apsw.Error:
            return [], 0
        return [AssetText(*row) for row in rows], int(count)

    def _by_sql(self, statement: str, page: int, page_size: int) -> tuple[list[AssetText], int]:
        """The caller's own statement: its rows, if it asks for whole ones, and a page of them unless it says which."""
        check_query(self._connection, statement)
        statement = statement.rstrip(";")
        shown = statement if _OWN_LIMIT.search(statement) else f"{statement} LIMIT {page_size}"
        paged = shown if _OWN_OFFSET.search(shown) else f"{shown} OFFSET {(page - 1) * page_size}"
        try:
            rows = [row for row in self._connection.execute(paged) if len(row) == len(_COLUMNS.split(","))]
            if not rows:
                return [], 0
            counted = _ALL_COLUMNS.sub("SELECT COUNT(path) ", _OWN_LIMIT.sub("", statement), count=1)
            count = next(iter(self._connection.execute(counted)))[0] if counted != statement else 0
        except apsw.Error:
            return [], 0
        return [AssetText(*row) for row in rows], int(count)

    def by_id(self, asset_id: str, query: str, method: int) -> AssetText | None:
        """One text, with the hits of a query marked."""
        shown = _COLUMNS.replace("content", f"highlight({TABLE}, 6, '{HIT_LEFT}', '{HIT_RIGHT}')")
        condition = "id = ?"
        values: tuple[str, ...] = (asset_id,)
        if query and method in (0, QUERY_SYNTAX):
            match = query if method == QUERY_SYNTAX else quoted_query(query)
            condition, values = f"id = ? AND {TABLE} MATCH ?", (asset_id, f"{_SEARCHED}:({match})")
        return self._first(f"SELECT {shown} FROM {TABLE} WHERE {condition}", values)

    def by_path(self, path: str) -> AssetText | None:
        return self._first(f"SELECT {_COLUMNS} FROM {TABLE} WHERE path = ?", (path,))

    def _condition(self, query: str, method: int) -> tuple[str, tuple[Any, ...]]:
        if method == REGEX:
            pattern = visible_query(query)
            try:
                compiled(pattern)
            except PatternInvalid:
                return "1 = 0", ()
            return "(name REGEXP ? OR content REGEXP ?)", (pattern, pattern)
        if not query:
            return "1 = 0", ()
        match = query if method == QUERY_SYNTAX else quoted_query(query)
        return f"{TABLE} MATCH ?", (f"{_SEARCHED}:({visible_query(match)})",)

    def _first(self, statement: str, values: tuple[Any, ...]) -> AssetText | None:
        try:
            row = next(iter(self._connection.execute(statement, values)), None)
        except apsw.Error:
            return None
        return AssetText(*row) if row is not None else None


def _id_of(file: AssetFile) -> str:
    stamp = datetime.fromtimestamp(file.updated, tz=UTC).strftime("%Y%m%d%H%M%S")
    digest = int.from_bytes(hashlib.sha256(file.path.encode()).digest()[:8], "big")
    letters = "".join("0123456789abcdefghijklmnopqrstuvwxyz"[digest // 36**place % 36] for place in range(7))
    return f"{stamp}-{letters}"


def is_text(file: AssetFile) -> bool:
    """Whether the content of a file is searched."""
    return posixpath.splitext(file.path)[1].lower() in TEXT_SUFFIXES and file.size <= TEXT_BYTES_MAX
