"""A word by its trigrams: the very hits of the full-text table, in the same order, with the same marks and counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.workspace.index.limits import TRIGRAMS_ASKED_MAX
from kernel.workspace.index.rows import Surroundings
from kernel.workspace.index.schema import create, folded_text, prepare
from kernel.workspace.index.writer import Index
from kernel.workspace.search import (
    QUERY_SYNTAX,
    REGEX,
    SQL,
    SearchQuery,
    SearchSettings,
    is_for_trigrams,
    needs_texts,
    search,
    search_by_trigrams,
)
from tests.workspace.test_index import Shelf, document, paragraph
from tests.workspace.test_search import row

# Letters that fold to another, to several, or to one of fewer bytes; quotes, wild cards, a NUL.
TEXT = st.text("abAB\u212aKkİßſs苹果é\"'%_\n-\0😀", max_size=12)
SETTINGS = SearchSettings()


@pytest.fixture(scope="module")
def connection() -> Iterator[apsw.Connection]:
    opened = prepare(apsw.Connection(":memory:"))
    create(opened)
    yield opened
    opened.close()


def fill(connection: apsw.Connection, texts: list[tuple[str, str]]) -> None:
    rows = [row(number, text, name=name) for number, (text, name) in enumerate(texts)]
    connection.execute("DELETE FROM blocks")
    connection.executemany(f"INSERT INTO blocks VALUES ({', '.join('?' * 21)})", rows)
    connection.execute("INSERT INTO blocks_fts(blocks_fts) VALUES ('rebuild')")
    connection.execute("INSERT INTO sisyphus_trigrams(sisyphus_trigrams) VALUES ('delete-all')")
    connection.execute(
        "INSERT INTO sisyphus_trigrams(rowid, texts) "
        "SELECT rowid, sisyphus_folded(content, name, alias, memo, tag) FROM blocks"
    )


@given(texts=st.lists(st.tuples(TEXT, TEXT), max_size=8), word=TEXT, page=st.integers(1, 3), order=st.integers(0, 5))
@settings(max_examples=200, deadline=None)
def test_a_word_is_found_as_the_full_text_table_finds_it(
    connection: apsw.Connection, texts: list[tuple[str, str]], word: str, page: int, order: int
) -> None:
    fill(connection, texts)
    query = SearchQuery(word, order_by=order, page=page, page_size=2)
    if is_for_trigrams(query, SETTINGS):
        found = search_by_trigrams(connection, query, SETTINGS)
        assert found is None or found == search(connection, query, SETTINGS)


def test_pieces_of_a_text_are_found_whatever_their_case(connection: apsw.Connection) -> None:
    fill(connection, [("Lanterns of copper", ""), ("a lan\nter n", ""), ("nothing", "LANTERN"), ("lanter", "")])
    found = search_by_trigrams(connection, SearchQuery("lAnTern"), SETTINGS)
    assert found is not None
    assert found == search(connection, SearchQuery("lAnTern"), SETTINGS)
    assert found.block_count == 2
    assert search_by_trigrams(connection, SearchQuery("lanternx"), SETTINGS) == search(
        connection, SearchQuery("lanternx"), SETTINGS
    )


def test_a_text_that_is_not_shown_whole_is_left_to_the_full_text_table(connection: apsw.Connection) -> None:
    fill(connection, [("lantern " * 100, "")])
    assert search_by_trigrams(connection, SearchQuery("lantern"), SETTINGS) is None


def test_a_word_longer_than_its_trigrams_asked_for_is_found_whole(connection: apsw.Connection) -> None:
    word = "".join(chr(0x4E00 + number) for number in range(TRIGRAMS_ASKED_MAX + 10))
    fill(connection, [(word, ""), (word[:-1], "")])
    found = search_by_trigrams(connection, SearchQuery(word), SETTINGS)
    assert found is not None
    assert found.block_count == 1


def test_a_page_out_of_all_bounds_is_empty(connection: apsw.Connection) -> None:
    query = SearchQuery("lantern", page=1 << 70)
    found = search_by_trigrams(connection, query, SETTINGS)
    assert found == search(connection, query, SETTINGS)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (SearchQuery("abc"), True),
        (SearchQuery("ab"), False),
        (SearchQuery("abc def"), False),
        (SearchQuery(" abc "), True),
        (SearchQuery("a\0b"), False),
        (SearchQuery("abc", order_by=6), False),
        (SearchQuery("abc", order_by=7), False),
        (SearchQuery("abc", method=QUERY_SYNTAX), False),
        (SearchQuery("20240101000000-abcdefg"), False),
    ],
)
def test_only_one_word_of_three_letters_in_no_order_of_rank_is_for_the_trigrams(
    query: SearchQuery, expected: bool
) -> None:
    assert is_for_trigrams(query, SETTINGS) is expected


def test_attribute_lists_are_not_in_the_trigrams() -> None:
    assert not is_for_trigrams(SearchQuery("abc"), SearchSettings.of({"ial": True}))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (SearchQuery("a"), True),
        (SearchQuery("a b"), False),
        (SearchQuery("a b", method=QUERY_SYNTAX), True),
        (SearchQuery("a", method=REGEX), False),
        (SearchQuery("select * from blocks", method=SQL), False),
        (SearchQuery("select * from BLOCKS_FTS", method=SQL), True),
    ],
)
def test_what_reads_the_blocks_themselves_needs_no_full_text_table(query: SearchQuery, expected: bool) -> None:
    assert needs_texts(query) is expected


# --- kept true --------------------------------------------------------------------------------------------------
def rows_with_trigrams(index: Index) -> set[int]:
    """The rows whose texts are long enough to have any."""
    rows = index.connection.execute("SELECT rowid, content FROM blocks")
    return {int(rowid) for rowid, content in rows if len(folded_text(str(content))) >= 3}


def rows_found(index: Index) -> set[int]:
    """Those of them that their first and their last trigram lead to."""
    found = set()
    for rowid, content in list(index.connection.execute("SELECT rowid, content FROM blocks")):
        text = folded_text(str(content))
        if len(text) >= 3:
            found |= set(
                index.connection.execute(
                    "SELECT rowid FROM sisyphus_trigrams WHERE sisyphus_trigrams MATCH ? AND rowid = ?",
                    (f'"{text[:3]}" "{text[-3:]}"', rowid),
                )
            )
    return {int(rowid) for (rowid,) in found}


def counted(index: Index, table: str) -> int:
    return int(index.connection.execute(f"SELECT count(*) FROM {table}").get)


EDIT = st.tuples(st.sampled_from(["change", "drop", "add", "settle", "refresh", "set"]), st.integers(0, 9))


@given(edits=st.lists(EDIT, max_size=15))
@settings(max_examples=30, deadline=None)
def test_the_trigrams_follow_whatever_happens_to_the_documents(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, int]]
) -> None:
    shelf = Shelf()
    tree = shelf.put(document(1, "Plan", *[paragraph(10 + number, f"walrus {number}") for number in range(4)]))
    path: Path = tmp_path_factory.mktemp("trigrams") / "index.db"
    index = Index(lambda: apsw.Connection(str(path)), shelf, Surroundings(shelf.target), now=lambda: shelf.now)
    for step, (kind, at) in enumerate(edits):
        children = tree.root.children
        if kind == "settle":
            index.settle()
        elif kind == "refresh":
            index.trigrams.refresh(rows_max=2)
        elif kind == "add" or not children:
            tree.root.append(paragraph(100 + step, f"otter {step}"))
        elif kind == "change":
            children[at % len(children)].children[0].data = f"seal {step}"
        elif kind == "set":
            index.set_content(children[at % len(children)].id, f"results {step}")
        else:
            children[at % len(children)].detach()
        index.document_changed(tree.id)
    index.settle()
    index.trigrams.refresh()
    assert rows_found(index) == rows_with_trigrams(index)
    assert counted(index, "sisyphus_trigrams") == counted(index, "blocks"), "it holds no others"
    index.close()


def test_a_word_that_has_gone_is_not_found_and_a_new_one_is(tmp_path: Path) -> None:
    shelf = Shelf()
    tree = shelf.put(document(1, "Plan", paragraph(10, "walrus")))
    index = Index(
        lambda: apsw.Connection(str(tmp_path / "a.db")), shelf, Surroundings(shelf.target), now=lambda: shelf.now
    )

    def hits(word: str) -> int:
        index.settle()
        index.trigrams.refresh()
        found = search_by_trigrams(index.connection, SearchQuery(word), SETTINGS)
        assert found is not None
        return found.block_count

    assert (hits("walrus"), hits("otter")) == (1, 0)
    tree.root.children[0].children[0].data = "otter"
    index.document_changed(tree.id)
    assert (hits("walrus"), hits("otter")) == (0, 1)
    assert not index.fulltext.is_built
    index.close()
    again = Index(
        lambda: apsw.Connection(str(tmp_path / "a.db")), shelf, Surroundings(shelf.target), now=lambda: shelf.now
    )
    assert again.trigrams.is_built
    again.rebuild()
    assert not again.trigrams.is_built
    again.close()
