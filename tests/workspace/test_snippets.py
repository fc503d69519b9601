"""Hits marked without the tokenizer: the same marks as ``snippet()`` sets, on any text and phrase."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernel.workspace.index.rows import BlockRow
from kernel.workspace.index.schema import create, prepare
from kernel.workspace.marking import HIT_LEFT, HIT_RIGHT
from kernel.workspace.search import FULL_TEXT_TABLE, SearchQuery, SearchSettings, quoted_query, search, snippets
from kernel.workspace.snippets import SNIPPET_TOKENS, is_shown_whole, marked_hits, with_marks

PLAIN = BlockRow(*[""] * 14, 0, *[""] * 3, 0, "", "")
COLUMNS = SearchSettings().columns
LETTERS = st.text("aAbBİıſßǅ苹果\U0001f600 é-\"'&", max_size=12)


@pytest.fixture(scope="module")
def connection() -> Iterator[apsw.Connection]:
    opened = prepare(apsw.Connection(":memory:"))
    create(opened)
    yield opened
    opened.close()


def joined(row: BlockRow) -> BlockRow:
    """Hits that touch as one: newer SQLites mark them so."""
    return row._replace(**{column: getattr(row, column).replace(HIT_RIGHT + HIT_LEFT, "") for column in SNIPPET_TOKENS})


def by_snippet(connection: apsw.Connection, row: BlockRow, phrase: str) -> list[BlockRow]:
    connection.execute("DELETE FROM blocks")
    connection.execute(f"INSERT INTO blocks VALUES ({', '.join('?' * 21)})", row)
    connection.execute("INSERT INTO blocks_fts(blocks_fts) VALUES ('rebuild')")
    match = f"{{{' '.join(COLUMNS)}}}:({quoted_query(phrase)})"
    statement = f"SELECT {snippets(512)} FROM {FULL_TEXT_TABLE} WHERE {FULL_TEXT_TABLE} MATCH ?"
    return [BlockRow(*found) for found in connection.execute(statement, (match,))]


@given(
    content=LETTERS,
    name=LETTERS,
    tag=LETTERS,
    hpath=LETTERS,
    phrase=st.text("aAbBİßſ果\U0001f600é-\"'", min_size=1, max_size=3),
)
@example("aaaa", "aaa", "aa", "aa", "aa")
@example("abab-ab", "ABA", "", "", "aba")
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_marks_are_those_of_snippet(
    connection: apsw.Connection, content: str, name: str, tag: str, hpath: str, phrase: str
) -> None:
    row = PLAIN._replace(content=content, name=name, tag=tag, hpath=hpath, memo="fcontent a", fcontent="a")
    for found in by_snippet(connection, row, phrase):
        assert joined(with_marks(row, phrase, COLUMNS)) == joined(found)


@pytest.mark.parametrize(
    ("column", "text", "is_whole"),
    [
        ("content", "a" * 512, True),
        ("content", "a" * 513, False),
        ("content", "a\0b", False),
        ("tag", "a" * 64, True),
        ("tag", "a" * 65, False),
    ],
)
def test_a_text_is_shown_whole_up_to_the_length_of_a_snippet(column: str, text: str, is_whole: bool) -> None:
    assert is_shown_whole(PLAIN._replace(**{column: text})) is is_whole


@pytest.mark.parametrize(
    ("text", "phrase", "shown"),
    [("abAB", "ab", "<ab><AB>"), ("ababa", "aba", "<ababa>"), ("x a", "a", "x <a>"), ("İi", "i", "İ<i>")],
)
def test_hits_that_overlap_are_marked_together_and_those_that_touch_are_not(text: str, phrase: str, shown: str) -> None:
    assert marked_hits(text, phrase).replace(HIT_LEFT, "<").replace(HIT_RIGHT, ">") == shown


def test_a_text_without_hits_stays_as_it_is() -> None:
    text = "nothing of it"
    assert marked_hits(text, "x") is text
    assert marked_hits(text, "") is text


def test_a_page_with_a_long_text_is_still_marked(connection: apsw.Connection) -> None:
    by_snippet(connection, PLAIN._replace(content="needle " + "x" * 600, type="p"), "needle")
    found = search(connection, SearchQuery("needle"), SearchSettings())
    assert found.rows[0].content.startswith(f"{HIT_LEFT}needle{HIT_RIGHT} xx")
    assert (found.block_count, found.root_count) == (1, 1)


def test_the_last_page_and_a_full_page_count_all_hits(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM blocks")
    rows = [PLAIN._replace(id=str(number), root_id=str(number % 2), content="pin", type="p") for number in range(5)]
    connection.executemany(f"INSERT INTO blocks VALUES ({', '.join('?' * 21)})", rows)
    connection.execute("INSERT INTO blocks_fts(blocks_fts) VALUES ('rebuild')")
    for page, page_size, shown in ((1, 5, 5), (1, 6, 5), (1, 2, 2), (3, 2, 1), (4, 2, 0)):
        found = search(connection, SearchQuery("pin", page=page, page_size=page_size), SearchSettings())
        assert (len(found.rows), found.block_count, found.root_count) == (shown, 5, 2), page
