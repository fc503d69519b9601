"""[core] /api/query/sql: which statements are run, how, and what their rows look like. Source: siyuan-api C8, kernel-facts 19.

A statement of a user only ever reads: a write is prepared, so that its mistakes are told, and not carried out. (The
real kernel does the same by accident: it never steps a statement that gives no columns.)
"""

from __future__ import annotations

import base64
import math
import re
from typing import Any, Final

import apsw

from kernel.workspace.index.spelling import Token, has_outer_limit, respelled, tokens

_QUERIES: Final = frozenset({"SELECT", "WITH", "VALUES"})
_LIMIT_WORD: Final = re.compile(r"[ \n\t]limit ", re.IGNORECASE)
_TAIL: Final = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|\Z))*", re.DOTALL)
# A pragma that sets something, or does something: not for users.
_READING_PRAGMA: Final = re.compile(
    r"\s*pragma\s+(?:\w+\.)?(?:(?:table_info|table_xinfo|table_list|index_list|index_info|index_xinfo|"
    r"foreign_key_list)\s*\(.*\)|(?!incremental_vacuum|optimize|wal_checkpoint|shrink_memory)\w+)\s*;?\s*$",
    re.IGNORECASE | re.DOTALL,
)
# Functions, subqueries, patterns, virtual tables: one step of SQLite's machine may do much, or its steps hide in others.
_HEAVY: Final = re.compile(r"\(|_fts|\b(?:like|glob|regexp|match)\b", re.IGNORECASE)
ROWS_DEFAULT: Final = 64  # rows of a statement without LIMIT, unless conf.search.limit says otherwise
STEP_ERRORS: Final = (apsw.Error,)
Row = dict[str, Any]


class StatementRefused(ValueError):
    """The rules of the mode do not allow the statement (code -1)."""


class StatementFailed(ValueError):
    """SQLite refuses the statement (code 1); the message is SQLite's own."""


class Unencodable(ValueError):
    """A row holds a number that JSON cannot say."""


def check(statement: str, mode: str) -> None:
    """Raises StatementRefused when the mode does not allow the statement."""
    if mode not in ("", "readonly", "multiple"):
        raise StatementRefused("unknown [mode]")
    if mode != "multiple" and has_several(statement):
        raise StatementRefused("SQL statement is not single")
    if mode == "readonly" and first_word(statement) not in ("SELECT", "WITH"):
        raise StatementRefused("SQL statement is not a read-only query")


def check_query(reader: apsw.Connection, statement: str) -> None:
    """Raises StatementRefused for what a block query may not be: empty, several, writing, or wrong."""
    if not statement.strip():
        raise StatementRefused("SQL statement is empty")
    check(statement, "readonly")
    _prepare_only(reader, statement, StatementRefused)


def has_several(statement: str) -> bool:
    """Whether something other than blanks and comments follows a semicolon."""
    return bool(statement[len(first_statement(statement)) :].strip())


def first_statement(statement: str) -> str:
    """The text up to the first semicolon that ends a statement; what cannot be read counts as one statement."""
    text = statement.strip()
    while text.endswith(";"):
        text = text.rstrip(";").strip()
    position = 0
    quote = ""
    while position < len(text):
        letter, pair = text[position], text[position : position + 2]
        if quote:
            if text.startswith(quote, position):
                position += len(quote) - 1
                quote = ""
        elif letter in "'\"`":
            quote = letter
        elif letter == "[":
            quote = "]"
        elif pair == "--":
            quote = "\n"
        elif pair == "/*":
            quote = "*/"
            position += 1
        elif letter == ";":
            tail = _TAIL.match(text, position + 1)
            if tail is not None and tail.end() < len(text):
                return text[: position + 1]
        position += 1
    return statement


def first_word(statement: str) -> str:
    """The first word in capitals, ``""`` if there is none."""
    tail = _TAIL.match(statement)
    found = re.match(r"[^\W\d_]+", statement[tail.end() if tail else 0 :])
    return found.group().upper() if found else ""


def is_light(statement: str) -> bool:
    """Whether no step of the statement takes long; how many there are is another matter."""
    return _HEAVY.search(statement) is None and first_word(statement) == "SELECT"


def run(reader: apsw.Connection, statement: str, mode: str, limit: int) -> list[Row] | None:
    """The rows of one statement, None where the kernel gives null. ``limit`` counts when the statement has none.

    Raises:
        StatementRefused: the readonly mode, and SQLite refuses the statement.
        StatementFailed: SQLite refuses the statement.
    """
    if mode == "readonly":
        _prepare_only(reader, statement, StatementRefused)
    text = first_statement(statement) if mode == "multiple" else statement
    words = tokens(text)
    if words is not None and not words:
        return None
    if first_word(text) not in _QUERIES:
        return _run_other(reader, text, limit)
    spelled = respelled([word for word in words if word.text != ";"]) if words is not None else None
    if spelled is None or words is None:
        rows = _rows(reader, text, limit if not _LIMIT_WORD.search(text) else None)
        return rows or None
    return _run_respelled(reader, text, spelled, words, limit)


def _run_respelled(reader: apsw.Connection, text: str, spelled: str, words: list[Token], limit: int) -> list[Row]:
    bounded = spelled if has_outer_limit(words) else f"{spelled} LIMIT {limit}"
    try:
        return _rows(reader, bounded, None)
    except StatementFailed:
        # Not what the kernel's printer would have made, or wrong: the user's own words, and SQLite's own complaint.
        return _rows(reader, f"{text} LIMIT {limit}", None)


def _run_other(reader: apsw.Connection, text: str, limit: int) -> list[Row] | None:
    word = first_word(text)
    if word == "EXPLAIN" or (word == "PRAGMA" and _READING_PRAGMA.match(text)):
        return _rows(reader, text, limit) or None
    if word != "PRAGMA":
        _prepare_only(reader, text, StatementFailed)
    return None


def _prepare_only(reader: apsw.Connection, text: str, failure: type[StatementRefused] | type[StatementFailed]) -> None:
    cursor = reader.cursor()
    cursor.exec_trace = lambda _cursor, _sql, _bindings: False
    try:
        cursor.execute(text)
    except apsw.ExecTraceAbort:
        return
    except apsw.Error as error:
        raise failure(str(error)) from error
    finally:
        cursor.close(True)


def _rows(reader: apsw.Connection, text: str, limit: int | None) -> list[Row]:
    """Step a statement; a fault on the way ends it early, as the kernel does. ``limit`` + 1 rows at most."""
    cursor = reader.cursor()
    started: list[bool] = []

    def note_start(*_: object) -> bool:
        started.append(True)
        return True

    cursor.exec_trace = note_start
    rows: list[Row] = []
    columns: list[tuple[str, int]] = []
    try:
        for values in cursor.execute(text):
            columns = columns or _by_name(cursor)
            rows.append({name: _value(values[place]) for name, place in columns})
            if limit is not None and len(rows) > limit:
                break
    except apsw.Error as error:
        if not started:
            raise StatementFailed(str(error)) from error
    finally:
        cursor.close(True)
    return rows


def _by_name(cursor: apsw.Cursor) -> list[tuple[str, int]]:
    """Name and place of each column, by name, as the kernel writes a row; of two with one name the later counts."""
    return sorted((column[0], place) for place, column in enumerate(cursor.get_description()))


def _value(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Unencodable("a number without bounds")
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value
