"""Light reads of the index are done on the loop; whatever takes many steps, or long ones, goes to a thread."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import apsw
import pytest
import trio

from kernel.siyuan import notes_index
from kernel.siyuan.limits import LIGHT_SEARCH_BLOCKS_MAX, LIGHT_SEARCH_BYTES_MAX, LIGHT_STEPS
from kernel.siyuan.notes_index import is_small, read_in_thread
from kernel.workspace.index.statements import is_light
from tests.siyuan.kernel_in_memory import MemoryKernel


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("select * from blocks where id = '20240101000000-abcdefg'", True),
        ("-- why\nSELECT id FROM blocks ORDER BY updated LIMIT 5", True),
        ("select count(*) from blocks", False),
        ("select * from blocks where content like '%a%'", False),
        ("select * from blocks where content REGEXP 'a'", False),
        ("select * from blocks_fts where blocks_fts match 'a'", False),
        ("values ('a')", False),
        ("pragma table_info('blocks')", False),
    ],
)
def test_a_light_statement_calls_nothing_and_compares_only(statement: str, expected: bool) -> None:
    assert is_light(statement) is expected


async def kernel_with_paragraphs(count: int) -> MemoryKernel:
    made = MemoryKernel()
    await made.document(await made.notebook(), "/doc", "\n\n".join(f"pin {number}" for number in range(count)))
    return made


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What has been sent to threads."""
    sent: list[object] = []
    original = trio.to_thread.run_sync

    async def noting(work: Any, *arguments: Any) -> Any:
        sent.append(work)
        return await original(work, *arguments)

    monkeypatch.setattr(notes_index.trio.to_thread, "run_sync", noting)
    return sent


async def test_a_block_by_its_id_needs_no_thread(threads: list[object]) -> None:
    made = await kernel_with_paragraphs(3)
    for _ in range(LIGHT_STEPS // 50):
        rows = await made.call("query/sql", stmt="select * from blocks where type = 'p' and hpath = '/doc'")
        assert [row["content"] for row in rows] == ["pin 0", "pin 1", "pin 2"]
    assert not threads


async def test_a_statement_of_many_steps_ends_in_a_thread_with_all_its_rows(threads: list[object]) -> None:
    made = await kernel_with_paragraphs(40)
    count = len(await made.call("query/sql", stmt="select id from blocks"))
    statement = "select a.id from blocks a, blocks b limit 100000"
    assert len(await made.call("query/sql", stmt=statement)) == count**2
    assert len(threads) == 1


async def test_a_search_through_little_needs_no_thread(threads: list[object]) -> None:
    made = await kernel_with_paragraphs(3)
    assert (await made.call("search/fullTextSearchBlock", query="pin"))["matchedBlockCount"] == 3
    assert not threads


async def test_a_failure_on_the_way_is_told_and_one_that_ends_the_trial_is_not() -> None:
    made = await kernel_with_paragraphs(1)

    def fails(reader: apsw.Connection) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await read_in_thread(made.kernel, fails, with_texts=False, is_light=True)

    def counts(reader: apsw.Connection) -> int:
        statement = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT max(i) FROM n"
        found: int = reader.execute(statement).get
        assert threading.current_thread() is not threading.main_thread()
        return found

    assert await read_in_thread(made.kernel, counts, with_texts=False, is_light=True) == 5000


@pytest.mark.parametrize(("more", "expected"), [(0, True), (1, False)])
async def test_a_workspace_is_small_up_to_so_many_blocks(more: int, expected: bool) -> None:
    made = await kernel_with_paragraphs(1)
    blocks = made.workspace.blocks
    entry = next(iter(blocks.documents.values()))
    count = LIGHT_SEARCH_BLOCKS_MAX + more - blocks.block_count + len(entry.block_ids)
    blocks.put(replace(entry, block_ids=frozenset(str(number) for number in range(count))))
    assert is_small(made.kernel) is expected


@pytest.mark.parametrize(("more", "expected"), [(0, True), (1, False)])
async def test_a_workspace_is_small_up_to_so_many_bytes(more: int, expected: bool) -> None:
    made = await kernel_with_paragraphs(1)
    blocks = made.workspace.blocks
    entry = next(iter(blocks.documents.values()))
    blocks.put(replace(entry, size=LIGHT_SEARCH_BYTES_MAX + more - blocks.size + entry.size))
    assert is_small(made.kernel) is expected
