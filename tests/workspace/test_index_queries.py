"""Questions to the index: tags, bookmarks, the newest paragraphs; statements spelled as SQLite would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import apsw
import pytest

from kernel.siyuan.notes_index import settled_index
from kernel.workspace.index.queries import (
    all_tag_labels,
    bookmark_labels,
    bookmarked,
    ids_by_anchor,
    recent_paragraphs,
    rows_or_none,
    tag_labels,
    tagged_roots,
)
from kernel.workspace.index.spelling import respelled, tokens
from kernel.workspace.index.statements import StatementRefused, check_query
from tests.siyuan.kernel_in_memory import MemoryKernel


async def run_now(work: Callable[[], Any]) -> Any:
    return work()


async def filled() -> tuple[MemoryKernel, str, list[str]]:
    kernel = MemoryKernel()
    kernel.kernel.state["statement_runner"] = run_now
    root_id = await kernel.document(await kernel.notebook(), "/Doc", "one #big# #big/small#\n\ntwo #other#\n\nthree")
    blocks = await kernel.children(root_id)
    for block, label in zip(blocks, ("b", "a", "a"), strict=True):
        await kernel.call("attr/setBlockAttrs", id=block, attrs={"bookmark": label})
    return kernel, root_id, blocks


async def test_labels_and_bookmarks_are_found() -> None:
    kernel, root_id, blocks = await filled()
    connection = (await settled_index(kernel.kernel)).connection
    assert sorted(all_tag_labels(connection)) == ["big", "big/small", "other"]
    assert tag_labels(connection, "big", 9) == ["big", "big/small"]
    assert tag_labels(connection, "big", 1) == ["big"]
    assert tagged_roots(connection, "other") == [root_id]
    assert tagged_roots(connection, "none") == []
    assert bookmark_labels(connection) == ["a", "b"]
    assert {row.id for row in bookmarked(connection)} == set(blocks)
    assert {row.id for row in recent_paragraphs(connection, 2)} < set(blocks)


async def test_a_pattern_that_is_more_than_sqlite_takes_finds_nothing() -> None:
    kernel, _, _ = await filled()
    connection = (await settled_index(kernel.kernel)).connection
    assert tag_labels(connection, "%x" * 30_000, 9) == []
    assert rows_or_none(connection, "SELECT ?", ("a",)) == [("a",)]


@pytest.fixture
def reader() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE blocks (id, content)")
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (" \n", "SQL statement is empty"),
        ("DELETE FROM blocks", "SQL statement is not a read-only query"),
        ("SELECT 1; SELECT 2", "SQL statement is not single"),
        ("SELECT a FROM nowhere", "no such table: nowhere"),
    ],
)
def test_a_block_query_is_one_statement_that_reads(reader: apsw.Connection, statement: str, message: str) -> None:
    with pytest.raises(StatementRefused, match=message):
        check_query(reader, statement)
    check_query(reader, "SELECT * FROM blocks")


@pytest.mark.parametrize(
    ("statement", "spelled"),
    [
        ('select "a""b" from `c``d`', 'SELECT "a""b" FROM "c`d"'),
        ("select [a b] from t", 'SELECT "a b" FROM "t"'),
        ("select a from t order by a collate nocase", 'SELECT "a" FROM "t" ORDER BY "a" collate nocase'),
        ("left(1, 2)", "left(1, 2)"),
        ("select count(a) from t", 'SELECT count("a") FROM "t"'),
        (
            "select * from t where a = (select max(b) from t)",
            'SELECT * FROM "t" WHERE "a" = (SELECT max("b") FROM "t")',
        ),
        ("select count(*) from t", 'SELECT count(*) FROM "t"'),
    ],
)
def test_names_are_quoted_and_words_are_not(statement: str, spelled: str) -> None:
    assert respelled(tokens(statement) or []) == spelled


async def test_what_an_anchor_or_a_name_leads_to_is_found() -> None:
    kernel, root_id, blocks = await filled()
    await kernel.document(await kernel.notebook("More"), "/Source", f"see (({blocks[0]} 'An_chor'))")
    await kernel.call("attr/setBlockAttrs", id=blocks[1], attrs={"name": "an_chor"})
    connection = (await settled_index(kernel.kernel)).connection
    both = sorted(blocks[:2], reverse=True)
    assert ids_by_anchor(connection, "AN_CHOR", is_case_sensitive=False) == both
    assert ids_by_anchor(connection, "anXchor", is_case_sensitive=False) == []
    assert ids_by_anchor(connection, "An_chor", is_case_sensitive=True) == blocks[:1]
    assert ids_by_anchor(connection, "Doc", is_case_sensitive=True) == [root_id]
