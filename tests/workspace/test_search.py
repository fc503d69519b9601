"""Full-text search over rows: the four ways, their order, their filters; marking; references being typed."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest

from kernel.workspace.block_json import block_json, with_notebook_name, without_own_title
from kernel.workspace.index.rows import BlockRow
from kernel.workspace.index.schema import create, prepare
from kernel.workspace.marking import HIT_LEFT, HIT_RIGHT, enclosed, marked, shortened
from kernel.workspace.reference_search import search_for_reference
from kernel.workspace.search import (
    QUERY_SYNTAX,
    REGEX,
    SQL,
    Found,
    SearchQuery,
    SearchSettings,
    is_box_path,
    quoted_query,
    search,
    visible_query,
)

ROOT = "20240101000000-rootaaa"
OTHER = "20240101000001-rootbbb"
BOX = "20240101000000-boxboxb"


def row(number: int, content: str, kind: str = "p", *, root: str = ROOT, name: str = "", subtype: str = "") -> BlockRow:
    identity = root if kind == "d" else f"202401010001{number:02d}-abcdefg"
    sort = {"d": 0, "h": 5, "l": 20}.get(kind, 10)
    ial = f'{{: id="{identity}"}}'
    return BlockRow(
        identity, "", root, "", BOX, f"/{root}.sy", "/Doc", name, "", "", "", content, "", content, len(content), kind,
        subtype, ial, sort, "", f"2024010100{number:04d}",
    )  # fmt: skip


ROWS = [
    row(0, "Apple pie", "d"),
    row(1, "apple banana"),
    row(2, "cherry apple", "h", subtype="h2"),
    row(3, "apple list", "l", subtype="u"),
    row(4, "苹果 <b>apple</b>"),
    row(5, "Other", "d", root=OTHER),
    row(6, "banana only", root=OTHER, name="fruit"),
]


@pytest.fixture(scope="module")
def connection() -> Iterator[apsw.Connection]:
    opened = prepare(apsw.Connection(":memory:"))
    create(opened)
    opened.executemany(f"INSERT INTO blocks VALUES ({', '.join('?' * 21)})", ROWS)
    opened.execute("INSERT INTO blocks_fts(blocks_fts) VALUES ('rebuild')")
    yield opened
    opened.close()


def find(connection: apsw.Connection, text: str, **options: object) -> Found:
    return search(connection, SearchQuery(text, **options), SearchSettings())  # type: ignore[arg-type]


def shown(found: Found) -> list[str]:
    return [hit.content.replace(HIT_LEFT, "<").replace(HIT_RIGHT, ">") for hit in found.rows]


def test_a_keyword_finds_titles_first_then_headings_then_the_rest(connection: apsw.Connection) -> None:
    found = find(connection, "apple")
    assert shown(found) == ["<Apple> pie", "cherry <apple>", "苹果 <b><apple></b>", "<apple> banana"]
    assert (found.block_count, found.root_count, found.is_by_document) == (4, 1, False)


def test_kinds_that_are_named_replace_the_usual_ones(connection: apsw.Connection) -> None:
    assert shown(find(connection, "apple", types=frozenset({"list"}))) == ["<apple> list"]
    assert shown(find(connection, "apple", types=frozenset())) == []
    chosen = find(connection, "apple", types=frozenset({"heading", "list"}), subtypes=frozenset({"h1", "u"}))
    assert shown(chosen) == ["<apple> list"]


def test_a_search_is_narrowed_to_notebooks_and_paths(connection: apsw.Connection) -> None:
    assert shown(find(connection, "banana", paths=(f"/{OTHER}",))) == ["<banana> only"]
    assert shown(find(connection, "banana", boxes=("20240101000000-another",))) == []


def test_hidden_documents_are_not_found(connection: apsw.Connection) -> None:
    found = search(connection, SearchQuery("banana"), SearchSettings(), [OTHER])
    assert shown(found) == ["apple <banana>".replace("banana", "banana")]
    assert search(connection, SearchQuery(OTHER), SearchSettings(), [OTHER]).rows == []


def test_several_words_are_looked_for_in_whole_documents(connection: apsw.Connection) -> None:
    found = find(connection, "apple cherry")
    assert found.is_by_document
    assert found.keywords == ("apple", "cherry")
    assert [hit.content for hit in found.rows] == ["cherry apple", "Apple pie"]
    assert (found.block_count, found.root_count) == (1, 1)


def test_query_syntax_is_that_of_the_full_text_table(connection: apsw.Connection) -> None:
    assert shown(find(connection, "cherry OR fruit", method=QUERY_SYNTAX)) == ["<cherry> apple", "banana only"]
    assert shown(find(connection, "apple AND (", method=QUERY_SYNTAX)) == []


def test_a_regular_expression_marks_what_it_matched(connection: apsw.Connection) -> None:
    assert shown(find(connection, "a.p+le b", method=REGEX)) == ["<apple b>anana"]
    assert find(connection, "[", method=REGEX) == Found()


def test_sql_gives_blocks_and_counts_without_its_own_limit(connection: apsw.Connection) -> None:
    found = find(connection, "select * from blocks where content like '%apple%' order by id limit 2", method=SQL)
    assert len(found.rows) == 2
    assert found.block_count == 5
    assert find(connection, "select id from blocks", method=SQL) == Found()
    assert find(connection, "selec", method=SQL) == Found()


def test_an_id_finds_its_block(connection: apsw.Connection) -> None:
    assert shown(find(connection, ROWS[3].id)) == ["apple list"]


def test_pages_do_not_overlap(connection: apsw.Connection) -> None:
    first, second = (find(connection, "apple", page=page, page_size=3) for page in (1, 2))
    assert len(first.rows) == 3
    assert len(second.rows) == 1
    assert first.block_count == second.block_count == 4


@pytest.mark.parametrize(("order_by", "first"), [(3, "Apple pie"), (4, "苹果 <b>apple</b>")])
def test_hits_are_sorted_as_asked(connection: apsw.Connection, order_by: int, first: str) -> None:
    assert (
        find(connection, "apple", order_by=order_by).rows[0].content.replace(HIT_LEFT, "").replace(HIT_RIGHT, "")
        == first
    )


def test_quotes_in_a_keyword_break_nothing(connection: apsw.Connection) -> None:
    for text in ("it's", 'say "x"', "'; drop table blocks; --", "%", "\u200b"):
        assert find(connection, text).rows == []


def test_a_reference_is_offered_for_names_and_texts(connection: apsw.Connection) -> None:
    offered = search_for_reference(connection, "fruit", SearchSettings(), {})
    assert [hit.id for hit in offered] == [ROWS[6].id]
    assert search_for_reference(connection, f"(({ROWS[1].id}", SearchSettings(), {})[0].id == ROWS[1].id
    assert search_for_reference(connection, "", SearchSettings(), {}) == []


@pytest.mark.parametrize(
    ("box", "path", "is_valid"),
    [
        (BOX, "", True),
        (BOX, "/", True),
        (BOX, f"/{ROOT}.sy", True),
        (BOX, f"/{ROOT}/{OTHER}", True),
        (BOX, "/x' or 1=1", False),
        (BOX, f"/{ROOT}.sy/{OTHER}", False),
        ("bad", "", False),
    ],
)
def test_places_that_are_no_ids_are_refused(box: str, path: str, is_valid: bool) -> None:
    assert is_box_path(box, path) == is_valid


def test_a_query_loses_what_nobody_sees_but_not_its_blanks() -> None:
    assert visible_query("a\u200bb　c\td") == "ab　c\td"
    assert quoted_query('two "words"') == '"two" """words"""'
    assert quoted_query("  ") == '"  "'


def test_hits_are_marked_in_escaped_text() -> None:
    assert enclosed("a <b> & B", ["b"]) == "a &lt;<mark>b</mark>&gt; &amp; <mark>B</mark>"
    assert enclosed("lt < gt", ["lt", "gt"]) == "<mark>lt</mark> &lt; <mark>gt</mark>"
    assert enclosed("Case case", ["case"], is_case_sensitive=True) == "Case <mark>case</mark>"
    assert marked(f"x {HIT_LEFT}<y>{HIT_RIGHT}", (), 10) == "x <mark>&lt;y&gt;</mark>"
    assert marked("0123456789 hit", ["hit"], 3) == "...789 <mark>hit</mark>"


def test_long_texts_are_cut_where_the_first_hit_is_still_seen() -> None:
    assert shortened("a" * 6, 5) == "aaaaa..."
    late = "b" * 6000 + "<mark>x</mark>"
    assert "<mark>x</mark>" in shortened(late)


def test_a_document_shows_the_path_it_lies_in() -> None:
    blocks = [block_json(ROWS[0]), block_json(ROWS[1])]
    without_own_title(blocks)
    with_notebook_name(blocks, {BOX: "Notes"})
    assert [block["hPath"] for block in blocks] == ["Notes/", "Notes/Doc"]
    assert blocks[0]["type"] == "NodeDocument"
    assert blocks[0]["ial"] == {"id": ROOT}


def test_a_setting_of_an_unknown_kind_changes_nothing() -> None:
    assert SearchSettings.of({"limit": 12, "unknown": ["a list"]}) == SearchSettings.of({"limit": 12})
