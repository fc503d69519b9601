"""[core] The tables of the index, as the kernel has them, and how a connection is prepared for them.

The index is a copy of what the files say: it may be thrown away at any time and is never the only place of anything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

import apsw

from kernel.workspace.index.limits import READER_CACHE_KIB, WRITER_CACHE_KIB
from kernel.workspace.patterns import compiled

# Letters whose size and lower case are remembered.
_LETTERS_KEPT_MAX: Final = 8192
# What the kernel calls the version of its database.
SCHEMA_VERSION: Final = "1"
# The file of another version is thrown away and built anew: one more for every change of a table or of how rows are made.
INDEX_VERSION: Final = 2
# Which documents the rows were made from (a digest of the file, see ``catalog``), and whether the full-text table is whole.
_BOOKKEEPING: Final = (
    "CREATE TABLE sisyphus_indexed (root_id TEXT PRIMARY KEY, box TEXT, path TEXT, hpath TEXT, digest BLOB) WITHOUT ROWID",
    "CREATE TABLE sisyphus_state (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
)
BLOCK_COLUMNS: Final = (
    "id, parent_id, root_id, hash, box, path, hpath, name, alias, memo, tag, content, fcontent, markdown, length, "
    "type, subtype, ial, sort, created, updated"
)
FTS_COLUMNS: Final = ("name", "alias", "memo", "tag", "content", "fcontent", "ial")
_FTS_DECLARATION: Final = ", ".join(
    column if column in FTS_COLUMNS else f"{column} UNINDEXED" for column in BLOCK_COLUMNS.split(", ")
)
# Which rows hold which three letters in a row (folded), to find the few that may hold a word: see ``fulltext``.
TRIGRAM_TABLE: Final = "sisyphus_trigrams"
TRIGRAM_COLUMNS: Final = ("content", "name", "alias", "memo", "tag")
TABLES: Final[dict[str, str]] = {
    "stat": "key, value",
    "blocks": BLOCK_COLUMNS,
    "spans": "id, block_id, root_id, box, path, content, markdown, type, ial",
    "assets": "id, block_id, root_id, box, docpath, path, name, title, hash",
    "attributes": "id, name, value, type, block_id, root_id, box, path",
    "refs": (
        "id, def_block_id, def_block_parent_id, def_block_root_id, def_block_path, block_id, root_id, box, path, "
        "content, markdown, type"
    ),
    "file_annotation_refs": "id, file_path, annotation_id, block_id, root_id, box, path, content, type",
    "block_embeddings": (
        "id TEXT PRIMARY KEY, root_id TEXT, box TEXT, path TEXT, embedding BLOB, model TEXT, content_len INTEGER, "
        "updated TEXT, fail_count INTEGER NOT NULL DEFAULT 0, last_tried INTEGER NOT NULL DEFAULT 0, "
        "ignored_type INTEGER NOT NULL DEFAULT 0"
    ),
}
INDEXED: Final = (
    ("blocks", "id"),
    ("blocks", "parent_id"),
    ("blocks", "root_id"),
    ("spans", "root_id"),
    ("assets", "root_id"),
    ("attributes", "block_id"),
    ("attributes", "root_id"),
    ("refs", "root_id"),
    ("refs", "def_block_id"),
    ("block_embeddings", "root_id"),
)
_PRAGMAS: Final = (
    "journal_mode = WAL",
    # The rows of the last moments may be lost with the power; the file stays whole.
    "synchronous = NORMAL",
    "temp_store = MEMORY",
    "case_sensitive_like = OFF",
)


def create(connection: apsw.Connection) -> None:
    """Make all tables anew in an empty database."""
    with connection:
        for table, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
        for table, column in INDEXED:
            connection.execute(f"CREATE INDEX idx_{table}_{column} ON {table}({column})")
        connection.execute(
            f"CREATE VIRTUAL TABLE blocks_fts USING fts5({_FTS_DECLARATION}, content='blocks', content_rowid='rowid', "
            'tokenize="siyuan case_insensitive")'
        )
        connection.execute(
            f"CREATE VIRTUAL TABLE {TRIGRAM_TABLE} USING fts5(texts, content='', contentless_delete=1, detail=none, "
            "tokenize='trigram case_sensitive 1')"
        )
        connection.execute("INSERT INTO stat VALUES ('siyuan_database_ver', ?)", (SCHEMA_VERSION,))
        for statement in _BOOKKEEPING:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {INDEX_VERSION}")


def is_current(connection: apsw.Connection) -> bool:
    """Whether the database is an index of this version, left by an earlier run."""
    return bool(connection.pragma("user_version") == INDEX_VERSION)


def prepare(connection: apsw.Connection, *, is_reader: bool = False) -> apsw.Connection:
    """Give a connection the tokenizer and functions of the kernel; a reader cannot write."""
    # A quoted name that is no column is a text: the kernel's statements live on it.
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 1)
    connection.register_fts5_tokenizer("siyuan", _tokenizer)
    connection.create_scalar_function("regexp", _regexp, 2, deterministic=True)
    connection.create_scalar_function("sisyphus_folded", _folded_texts, deterministic=True)
    connection.create_scalar_function("sisyphus_holds", _holds, deterministic=True)
    connection.set_busy_timeout(7000)
    for pragma in (*_PRAGMAS, f"cache_size = -{READER_CACHE_KIB if is_reader else WRITER_CACHE_KIB}"):
        connection.execute(f"PRAGMA {pragma}")
    if is_reader:
        connection.execute("PRAGMA query_only = ON")
    return connection


def _regexp(*values: Any) -> bool:
    pattern, text = values
    return compiled(str(pattern).replace("\\\\", "\\")).matches(str(text))


def _folded_texts(*texts: Any) -> str:
    """Texts as the trigrams are taken from them, told apart. A NUL would end them."""
    return folded_text("\n".join(map(str, texts))).replace("\0", "\n")


def _holds(*values: Any) -> bool:
    """Whether one of the texts holds the first, which is folded."""
    wanted, *texts = values
    return any(text and wanted in folded_text(str(text)) for text in texts)


def _tokenizer(connection: apsw.Connection, arguments: list[str]) -> Callable[[bytes, int, str | None], Any]:
    """Every character is a token, so a phrase finds any piece of a text."""
    is_folding = "case_insensitive" in arguments

    def tokens(text: bytes, reason: int, locale: str | None) -> list[tuple[int, int, str]]:
        letters = text.decode("utf-8", "replace")
        if text.isascii():
            # One byte each, and lower case letter by letter: nothing needs a loop of ours.
            count = len(letters)
            return list(zip(range(count), range(1, count + 1), letters.lower() if is_folding else letters, strict=True))
        ends = list(accumulate(map(_utf8_bytes, letters)))
        shown = map(folded, letters) if is_folding else letters
        return list(zip([0, *ends[:-1]], ends, shown, strict=True))

    return tokens


@lru_cache(maxsize=_LETTERS_KEPT_MAX)
def _utf8_bytes(letter: str) -> int:
    return len(letter.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=_LETTERS_KEPT_MAX)
def folded(letter: str) -> str:
    """One character as the index compares it: lower case where that is one character."""
    lower = letter.lower()
    return lower if len(lower) == 1 else letter


def folded_text(text: str) -> str:
    """A text, character for character, as the index compares it."""
    return text.lower() if text.isascii() else "".join(map(folded, text))
