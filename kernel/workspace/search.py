"""[core] Full-text search over the index: by keyword, by query syntax, by SQL, by regular expression (siyuan-api A6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import apsw

from kernel.ids import is_node_id
from kernel.workspace.index.limits import TRIGRAMS_ASKED_MAX
from kernel.workspace.index.rows import BlockRow
from kernel.workspace.index.schema import BLOCK_COLUMNS, TRIGRAM_COLUMNS, TRIGRAM_TABLE, folded_text
from kernel.workspace.marking import HIT_LEFT, HIT_RIGHT
from kernel.workspace.names import without_invisible
from kernel.workspace.patterns import Pattern, PatternInvalid, compiled
from kernel.workspace.snippets import SNIPPET_TOKENS, is_shown_whole, with_marks

KEYWORD, QUERY_SYNTAX, SQL, REGEX = 0, 1, 2, 3
FULL_TEXT_TABLE: Final = "blocks_fts"
_TRIGRAM: Final = 3
# Block kinds of a search, in SQL letters; True are searched when the caller names none.
_KINDS: Final[dict[str, tuple[str, bool]]] = {
    "document": ("d", True),
    "heading": ("h", True),
    "list": ("l", False),
    "listItem": ("i", False),
    "codeBlock": ("c", True),
    "mathBlock": ("m", True),
    "table": ("t", True),
    "blockquote": ("b", False),
    "superBlock": ("s", False),
    "paragraph": ("p", True),
    "htmlBlock": ("html", True),
    "embedBlock": ("query_embed", False),
    "databaseBlock": ("av", True),
    "audioBlock": ("audio", False),
    "videoBlock": ("video", False),
    "iframeBlock": ("iframe", False),
    "widgetBlock": ("widget", False),
    "callout": ("callout", False),
}
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS: Final = ("o", "u", "t")
_BOX_PATH: Final = re.compile(r"(?:/\d{14}-[0-9a-z]{7})*(?:/\d{14}-[0-9a-z]{7}(?:\.sy)?)?/?")
_KEPT_BLANKS: Final = "　\u2002\u2003\t"
_COUNT: Final = "SELECT COUNT(id), COUNT(DISTINCT(root_id)) FROM"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The parts of ``conf.search`` that decide here. ``kinds``: what is searched when the caller names nothing."""

    limit: int = 64
    is_case_sensitive: bool = False
    columns: tuple[str, ...] = ("content", "name", "alias", "memo", "tag")
    kinds: frozenset[str] = frozenset(name for name, (_, is_default) in _KINDS.items() if is_default)

    @classmethod
    def of(cls, conf: dict[str, Any]) -> SearchSettings:
        """Read the section; keys that are missing have the kernel's defaults."""
        try:
            return _settings_of(tuple(conf.items()))
        except TypeError:  # a value that no setting has
            return cls._read(conf)

    @classmethod
    def _read(cls, conf: dict[str, Any]) -> SearchSettings:
        extra = {"name": True, "alias": True, "memo": True, "ial": False}
        columns = ("content", *[name for name, default in extra.items() if conf.get(name, default)], "tag")
        conf_names = {"htmlBlock": "htmlBlock", "iframeBlock": "iframeBlock"}
        kinds = frozenset(
            name for name, (_, is_default) in _KINDS.items() if conf.get(conf_names.get(name, name), is_default)
        )
        return cls(int(conf.get("limit", 64)), bool(conf.get("caseSensitive", False)), columns, kinds)


@lru_cache(maxsize=4)
def _settings_of(items: tuple[tuple[str, Any], ...]) -> SearchSettings:
    return SearchSettings._read(dict(items))


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for, and where. ``types`` None: the settings' kinds."""

    text: str
    boxes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    types: frozenset[str] | None = None
    subtypes: frozenset[str] = frozenset()
    method: int = KEYWORD
    order_by: int = 0
    page: int = 1
    page_size: int = 32


@dataclass(slots=True)
class Found:
    """One page of hits and the counts over all pages. ``keywords`` are to be marked by whoever shows them."""

    rows: list[BlockRow] = field(default_factory=list)
    block_count: int = 0
    root_count: int = 0
    is_by_document: bool = False
    keywords: tuple[str, ...] = ()


class _Filter:
    """A condition on rows with its bound values."""

    def __init__(self, query: SearchQuery, settings: SearchSettings, hidden_roots: Sequence[str]) -> None:
        parts = [type_condition(query, settings)]
        values: list[str] = []
        if query.boxes:
            parts.append(_any("box = ?", len(query.boxes)))
            values += query.boxes
        if hidden_roots:
            parts.append(f"root_id NOT IN ({', '.join('?' for _ in hidden_roots)})")
            values += hidden_roots
        if query.paths:
            parts.append(_any("path LIKE ?", len(query.paths)))
            values += [f"{path}%" for path in query.paths]
        self.condition = " AND ".join(parts)
        self.values = tuple(values)


def is_box_path(box: str, path: str) -> bool:
    """Whether a search may be narrowed to this notebook and document path."""
    return is_node_id(box) and (path in ("", "/") or _BOX_PATH.fullmatch(path) is not None)


def visible_query(text: str) -> str:
    """The query without characters that nobody sees; the blanks of other scripts are kept."""
    parts = re.split(f"([{_KEPT_BLANKS}\u200d])", text)
    kept = "".join(part if part and part in f"{_KEPT_BLANKS}\u200d" else without_invisible(part) for part in parts)
    return kept.replace("\u200d#", "#")


def quoted_query(text: str) -> str:
    """Words as FTS5 strings."""
    if not text.strip():
        return f'"{text}"'
    doubled = text.replace('"', '""')
    if " " in text.strip():
        return " ".join(f'"{part.strip()}"' for part in doubled.split(" "))
    return f'"{doubled}"'


def search(
    connection: apsw.Connection, query: SearchQuery, settings: SearchSettings, hidden_roots: Iterable[str] = ()
) -> Found:
    """Find blocks. A query that SQLite or the pattern compiler refuses finds nothing."""
    if not query.text:
        return Found()
    text = visible_query(query.text)
    try:
        if query.method == SQL:
            return _by_sql(connection, query.text, query.page, query.page_size)
        if is_node_id(text) and query.method != REGEX:
            if text in set(hidden_roots):
                return Found()
            return _by_sql(connection, f"SELECT * FROM blocks WHERE id = '{text}'", query.page, query.page_size)
        chosen = _Filter(query, settings, list(hidden_roots))
        if query.method == REGEX:
            return _by_regex(connection, text, query, settings, chosen)
        if query.method == QUERY_SYNTAX:
            return _by_fts(connection, text, text, query, settings, chosen)
        if _is_one_word(text):
            return _by_fts(connection, text, quoted_query(text), query, settings, chosen, phrase=text)
        return _by_document(connection, text, query, settings, chosen)
    except apsw.Error:
        words = text.strip().split(" ")
        return Found(is_by_document=query.method not in (QUERY_SYNTAX, SQL, REGEX) and len(words) > 1)


def needs_texts(query: SearchQuery) -> bool:
    """Whether ``search`` looks into the full-text table; the other ways read the blocks themselves."""
    if query.method == SQL:
        return "_fts" in query.text.lower()
    return query.method == QUERY_SYNTAX or (query.method == KEYWORD and _is_one_word(visible_query(query.text)))


def is_for_trigrams(query: SearchQuery, settings: SearchSettings) -> bool:
    """Whether ``search_by_trigrams`` can be asked: for one word of three letters or more, not in order of rank."""
    text = visible_query(query.text)
    return (
        query.method == KEYWORD
        and query.order_by not in (6, 7)
        and len(text) >= _TRIGRAM
        and _is_one_word(text)
        and not is_node_id(text)
        and set(settings.columns) <= set(TRIGRAM_COLUMNS)
    )


def search_by_trigrams(
    connection: apsw.Connection, query: SearchQuery, settings: SearchSettings, hidden_roots: Iterable[str] = ()
) -> Found | None:
    """What ``search`` finds, for a query that ``is_for_trigrams``; None where only ``search`` can show the hits."""
    text = visible_query(query.text)
    wanted = folded_text(text)
    chosen = _Filter(query, settings, list(hidden_roots))
    where = (
        f"rowid IN (SELECT rowid FROM {TRIGRAM_TABLE} WHERE {TRIGRAM_TABLE} MATCH ?) "
        f"AND sisyphus_holds(?, {', '.join(settings.columns)}) AND {chosen.condition}"
    )
    values = (_trigrams(wanted), wanted, *chosen.values)
    order, order_values = _order(text, query.method, query.order_by)
    offset = (query.page - 1) * query.page_size
    limited = f"WHERE {where} {order} LIMIT {query.page_size} OFFSET {offset}"
    try:
        rows = block_rows(connection, f"SELECT {BLOCK_COLUMNS} FROM blocks {limited}", (*values, *order_values))
        if not all(map(is_shown_whole, rows)):
            return None
        rows = [with_marks(row, text, settings.columns) for row in rows]
        if not offset and len(rows) < query.page_size:
            return Found(rows, len(rows), len({row.root_id for row in rows}))
        return Found(rows, *_one(connection, f"{_COUNT} blocks WHERE {where}", values))
    except apsw.Error:
        return Found()


def _is_one_word(text: str) -> bool:
    return len(text.strip().split(" ")) < 2


def _trigrams(wanted: str) -> str:
    """The FTS5 expression for texts that hold every three letters in a row of a word, or the first of them."""
    starts = range(min(len(wanted) - _TRIGRAM + 1, TRIGRAMS_ASKED_MAX))
    parts = dict.fromkeys(wanted[start : start + _TRIGRAM].replace('"', '""') for start in starts)
    return " ".join(f'"{part}"' for part in parts)


# --- the four ways --------------------------------------------------------------------------------------------
def _by_fts(
    connection: apsw.Connection,
    text: str,
    match: str,
    query: SearchQuery,
    settings: SearchSettings,
    chosen: _Filter,
    *,
    phrase: str = "",
) -> Found:
    """``phrase``: what ``match`` looks for, where it is just that."""
    columns = "{" + " ".join(settings.columns) + "}"
    expression = f"{columns}:({match})"
    where = f"({FULL_TEXT_TABLE} MATCH ?) AND {chosen.condition}"
    order, order_values = _order(text, query.method, query.order_by)
    offset = (query.page - 1) * query.page_size
    limited = f"FROM {FULL_TEXT_TABLE} WHERE {where} {order} LIMIT {query.page_size} OFFSET {offset}"
    values = (expression, *chosen.values, *order_values)
    rows = block_rows(connection, f"SELECT {BLOCK_COLUMNS} {limited}", values) if phrase else []
    if rows and all(map(is_shown_whole, rows)):
        rows = [with_marks(row, phrase, settings.columns) for row in rows]
    elif rows or not phrase:
        rows = block_rows(connection, f"SELECT {snippets(512)} {limited}", values)
    if not offset and len(rows) < query.page_size:
        return Found(rows, len(rows), len({row.root_id for row in rows}))
    blocks, roots = _one(connection, f"{_COUNT} {FULL_TEXT_TABLE} WHERE {where}", (expression, *chosen.values))
    return Found(rows, blocks, roots)


def _by_document(
    connection: apsw.Connection, text: str, query: SearchQuery, settings: SearchSettings, chosen: _Filter
) -> Found:
    """Several words: documents that hold them all, and in each the blocks that do."""
    words = text.split(" ")
    texts = "||".join(settings.columns)
    likes = [f"%{word}%" for word in words]
    together = " AND ".join(f"GROUP_CONCAT({texts}) LIKE ?" for _ in words)
    alone = " AND ".join(f"({texts}) LIKE ?" for _ in words)
    rank = " + ".join("(docContent LIKE ?)" for _ in words)
    limit = f"LIMIT {query.page_size} OFFSET {(query.page - 1) * query.page_size}"
    documents = (
        f"SELECT root_id, MAX(CASE WHEN type = 'd' THEN ({texts}) END) AS docContent FROM blocks "
        f"WHERE {chosen.condition} GROUP BY root_id HAVING {together} ORDER BY ({rank}) DESC, MAX(updated) DESC"
    )
    order, order_values = _document_order(text, query)
    statement = (
        f"WITH documents AS ({documents}) SELECT {BLOCK_COLUMNS}, "
        f"(CASE WHEN root_id IN (SELECT root_id FROM documents) AND ({alone}) THEN 1 ELSE 0 END) AS blockSort "
        f"FROM blocks WHERE {chosen.condition} AND (id IN (SELECT root_id FROM documents {limit}) OR "
        f"(root_id IN (SELECT root_id FROM documents {limit}) AND ({alone}))) {order}"
    )
    document_values = (*chosen.values, *likes, *likes)
    values = (*document_values, *likes, *chosen.values, *likes, *order_values)
    try:
        rows = [BlockRow(*row[:-1]) for row in connection.execute(statement, values)]
    except apsw.SQLError:
        rows = []
    count = 0
    if rows:
        count = _one(connection, f"WITH documents AS ({documents}) SELECT COUNT(*), 0 FROM documents", document_values)[
            0
        ]
    return Found(rows, count, count, True, tuple(dict.fromkeys(words)))


def _by_regex(
    connection: apsw.Connection, pattern: str, query: SearchQuery, settings: SearchSettings, chosen: _Filter
) -> Found:
    try:
        expression = compiled(pattern)
    except PatternInvalid:
        return Found()
    where = f"{_any_column(settings)} AND {chosen.condition}"
    values = (*[pattern for _ in settings.columns], *chosen.values)
    order, order_values = _order(pattern, query.method, query.order_by)
    rows: list[BlockRow] = []
    skipped = (query.page - 1) * query.page_size
    statement = f"SELECT {BLOCK_COLUMNS} FROM blocks WHERE {where} {order}"
    for number, row in enumerate(connection.execute(statement, (*values, *order_values)), start=1):
        hit = _with_hits(BlockRow(*row), expression, settings) if number > skipped else None
        if hit is not None:
            rows.append(hit)
            if len(rows) >= query.page_size:
                break
    blocks, roots = _one(connection, f"{_COUNT} blocks WHERE {where}", values)
    return Found(rows, blocks, roots)


def _by_sql(connection: apsw.Connection, statement: str, page: int, page_size: int) -> Found:
    text = statement.strip().rstrip(";")
    unlimited, own_limit = _without_limit(text)
    size = own_limit or page_size
    rows = block_rows(connection, f"{unlimited} LIMIT {size} OFFSET {(page - 1) * size}")
    if not rows:
        return Found()
    try:
        blocks, roots = _one(connection, f"{_COUNT} ({unlimited})")
    except apsw.Error:
        blocks, roots = len(rows), len({row.root_id for row in rows})
    return Found(rows, blocks, roots)


def sql_types(kinds: Iterable[str]) -> frozenset[str]:
    """The letters of these kinds of blocks, as the index has them."""
    return frozenset(_KINDS[name][0] for name in kinds if name in _KINDS)


# --- pieces of statements -------------------------------------------------------------------------------------
def type_condition(query: SearchQuery, settings: SearchSettings) -> str:
    kinds = settings.kinds if query.types is None else query.types
    headings = [name for name in _HEADINGS if name in query.subtypes]
    lists = [name for name in _LISTS if name in query.subtypes]
    plain: list[str] = []
    clauses: list[str] = []
    for name, (letter, _) in _KINDS.items():
        if name not in kinds:
            continue
        narrowed = headings if letter == "h" else lists if letter in ("l", "i") else []
        if narrowed:
            clauses.append(f"(type = '{letter}' AND subtype IN ({_literals(narrowed)}))")
        else:
            plain.append(letter)
    if plain:
        clauses.insert(0, f"type IN ({_literals(plain)})")
    return f"({' OR '.join(clauses)})" if clauses else "(1 = 0)"


def _order(text: str, method: int, order_by: int) -> tuple[str, tuple[str, ...]]:
    fixed = {1: "created ASC", 2: "created DESC", 3: "updated ASC", 4: "updated DESC"}
    if order_by in fixed:
        return f"ORDER BY {fixed[order_by]}", ()
    if order_by in (6, 7) and method not in (KEYWORD, QUERY_SYNTAX):
        return f"ORDER BY sort {'DESC' if order_by == 6 else 'ASC'}, updated DESC", ()
    if order_by == 6:
        return "ORDER BY rank DESC", ()
    if order_by == 7:
        cases = "WHEN content = ? AND type = 'd' THEN 10 WHEN content = ? AND type = 'h' THEN 20"
        return f"ORDER BY CASE {cases} ELSE 65535 END ASC, rank", (text, text)
    clause, values = _closeness(text)
    return f"ORDER BY {clause}, sort ASC, updated DESC", values


def _document_order(text: str, query: SearchQuery) -> tuple[str, tuple[str, ...]]:
    order, values = _order(text, query.method, query.order_by)
    # An order that has nothing to do with how close a hit is; one by its rank, which is none here, finds nothing.
    if query.order_by in (1, 2, 3, 4, 7) or (query.order_by == 6 and query.method not in (KEYWORD, QUERY_SYNTAX)):
        return order, values
    clause, values = _closeness(text)
    block_sort = "ASC" if query.order_by == 6 else "DESC"
    return f"ORDER BY {clause}, blockSort {block_sort}, sort ASC, updated DESC", values


def _closeness(text: str) -> tuple[str, tuple[str, ...]]:
    """Whole names first, then titles, then headings."""
    like = f"%{text}%"
    cases = (
        ("name = ?", text, 10),
        ("alias = ?", text, 20),
        ("content = ? AND type = 'd'", text, 30),
        ("content LIKE ? AND type = 'd'", like, 40),
        ("name LIKE ?", like, 50),
        ("alias LIKE ?", like, 60),
        ("content = ? AND type = 'h'", text, 70),
        ("content LIKE ? AND type = 'h'", like, 80),
    )
    clause = "CASE " + " ".join(f"WHEN {when} THEN {rank}" for when, _, rank in cases) + " ELSE 65535 END ASC"
    return clause, tuple(value for _, value, _ in cases)


def snippets(tokens: int) -> str:
    marks = f"'{HIT_LEFT}', '{HIT_RIGHT}', '...'"
    shown = []
    for number, column in enumerate(BLOCK_COLUMNS.split(", ")):
        if column in SNIPPET_TOKENS:
            size = min(tokens, SNIPPET_TOKENS[column])
            shown.append(f"snippet({FULL_TEXT_TABLE}, {number}, {marks}, {size}) AS {column}")
        else:
            shown.append(column)
    return ", ".join(shown)


def _any(condition: str, count: int) -> str:
    return "(" + " OR ".join(condition for _ in range(count)) + ")"


def _any_column(settings: SearchSettings) -> str:
    return "(" + " OR ".join(f"{column} REGEXP ?" for column in settings.columns) + ")"


def _literals(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


def _with_hits(row: BlockRow, pattern: Pattern, settings: SearchSettings) -> BlockRow | None:
    hits = {
        column: pattern.replaced(text, lambda hit: f"{HIT_LEFT}{hit}{HIT_RIGHT}")
        for column in settings.columns
        if column != "tag" and pattern.matches(text := str(getattr(row, column)))
    }
    return BlockRow(**{**row._asdict(), **hits}) if hits else None


def _without_limit(statement: str) -> tuple[str, int]:
    """A statement without its outer LIMIT, and the number in it (0 without one)."""
    found = re.search(r"\slimit\s+(\d+)(?:\s*(?:,|offset)\s*\d+)?\s*$", statement, re.IGNORECASE)
    if found is None:
        return statement, 0
    return statement[: found.start()], int(found.group(1)) or 32


def block_rows(connection: apsw.Connection, statement: str, values: tuple[Any, ...] = ()) -> list[BlockRow]:
    """Rows that are blocks; a statement that gives other columns finds nothing."""
    columns = len(BlockRow._fields)
    return [BlockRow(*row) for row in connection.execute(statement, values) if len(row) == columns]


def _one(connection: apsw.Connection, statement: str, values: tuple[Any, ...] = ()) -> tuple[int, int]:
    first, second = next(iter(connection.execute(statement, values)))
    return int(first), int(second)
