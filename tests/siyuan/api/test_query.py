"""/api/query: what a user's statement answers, and how far behind the index may be."""

from __future__ import annotations

from functools import partial
from typing import Any

import trio

from tests.siyuan.kernel_in_memory import MemoryKernel


async def _rows(kernel: MemoryKernel, statement: str) -> Any:
    return await kernel.call("query/sql", stmt=statement)


async def test_a_block_is_found_as_soon_as_it_is_written(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "One **two** #tag#\n\n- [ ] item")
    rows = await _rows(kernel, f"SELECT type, content, tag FROM blocks WHERE root_id = '{root_id}' ORDER BY sort, id")
    assert {(row["type"], row["content"], row["tag"]) for row in rows} == {
        ("d", "Doc", ""),
        ("p", "One two #tag#", "#tag#"),
        ("l", " item", ""),
        ("i", " item", ""),
        ("p", "item", ""),
    }


async def test_changes_moves_and_removals_reach_the_index(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    first, second = await kernel.document(box, "/One", "text"), await kernel.document(box, "/Two", "other")
    (block_id,) = await kernel.children(first)
    await _rows(kernel, "SELECT 1")
    await kernel.call("block/updateBlock", id=block_id, dataType="markdown", data="changed")
    assert await _rows(kernel, f"SELECT content FROM blocks WHERE id = '{block_id}'") == [{"content": "changed"}]
    await kernel.call("filetree/moveDocsByID", fromIDs=[first], toID=second)
    (row,) = await _rows(kernel, f"SELECT hpath, path FROM blocks WHERE id = '{block_id}'")
    assert row == {"hpath": "/Two/One", "path": f"/{second}/{first}.sy"}
    await kernel.call("filetree/renameDocByID", id=second, title="New")
    assert await _rows(kernel, f"SELECT hpath FROM blocks WHERE id = '{block_id}'") == [{"hpath": "/New/One"}]
    await kernel.call("filetree/removeDocByID", id=first)
    assert await _rows(kernel, f"SELECT id FROM blocks WHERE root_id = '{first}'") == []


async def test_a_closed_notebook_is_not_found(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "text")
    assert await _rows(kernel, "SELECT count(*) AS n FROM blocks WHERE content = 'text'") == [{"n": 1}]
    await kernel.call("notebook/closeNotebook", notebook=box)
    assert await _rows(kernel, "SELECT count(*) AS n FROM blocks WHERE content = 'text'") == [{"n": 0}]
    await kernel.call("notebook/openNotebook", notebook=box)
    assert await _rows(kernel, "SELECT count(*) AS n FROM blocks WHERE content = 'text'") == [{"n": 1}]


async def test_the_index_is_as_far_behind_as_it_was_told_to_be(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    kernel.kernel.options.index_lag_s = 2.0
    await kernel.document(box, "/Doc", "late")
    await _rows(kernel, "SELECT 1")
    kernel.clock.advance(1.999)
    assert await _rows(kernel, "SELECT id FROM blocks WHERE content = 'late'") == []
    kernel.clock.advance(0.002)
    assert len(await _rows(kernel, "SELECT id FROM blocks WHERE content = 'late'")) == 1


async def test_the_full_text_table_follows_the_blocks(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "needle")
    (block_id,) = await kernel.children(root_id)
    statement = "SELECT id FROM blocks_fts WHERE blocks_fts MATCH 'content:eedl'"
    assert await _rows(kernel, statement) == [{"id": block_id}]
    await kernel.call("block/updateBlock", id=block_id, dataType="markdown", data="hay")
    assert await _rows(kernel, statement) == []


async def test_what_a_statement_may_not_be_is_said_in_the_kernels_words(kernel: MemoryKernel) -> None:
    answer = await kernel.answer("query/sql", stmt="SELECT * FROM nowhere")
    assert (answer.code, answer.data) == (1, None)
    assert "no such table: nowhere" in answer.msg
    assert await kernel.refusal("query/sql", stmt="SELECT 1; SELECT 2")
    assert await kernel.refusal("query/sql", stmt="")


async def test_writing_leaves_everything_as_it_is(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "text")
    await kernel.answer("query/sql", stmt="DELETE FROM blocks")
    assert await _rows(kernel, "SELECT count(*) AS n FROM blocks WHERE content = 'text'") == [{"n": 1}]


async def test_without_a_limit_so_many_rows_are_answered_as_the_settings_say(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "\n\n".join("p" for _ in range(80)))
    assert len(await _rows(kernel, "SELECT id FROM blocks WHERE type = 'p'")) == 64
    assert len(await _rows(kernel, "SELECT id FROM blocks WHERE type = 'p' LIMIT 70")) == 70


async def test_a_thread_runs_the_statement_when_nothing_else_is_said() -> None:
    kernel = MemoryKernel()
    assert await _rows(kernel, "SELECT 1 AS one") == [{"one": 1}]


async def test_two_kernels_in_one_process_have_indexes_of_their_own(kernel: MemoryKernel) -> None:
    other = MemoryKernel()
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "mine")
    assert len(await _rows(kernel, "SELECT id FROM blocks WHERE content = 'mine'")) == 1
    assert await _rows(other, "SELECT id FROM blocks WHERE content = 'mine'") == []


async def test_an_endless_statement_ends_with_the_task_that_waits_for_it() -> None:
    kernel = MemoryKernel()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(kernel.call, "query/sql", stmt=endless))
            while not trio.to_thread.current_default_thread_limiter().borrowed_tokens:
                await trio.lowlevel.checkpoint()
            scope.cancel()
    assert scope.cancelled_caught
    assert await _rows(kernel, "SELECT 1 AS one") == [{"one": 1}]


async def test_a_row_names_its_columns_in_the_order_of_the_alphabet(kernel: MemoryKernel) -> None:
    (row,) = await _rows(kernel, "SELECT 1 AS b, 2 AS a, 3 AS c, 4 AS B")
    assert list(row.items()) == [("B", 4), ("a", 2), ("b", 1), ("c", 3)]


async def test_what_was_flushed_is_indexed_as_it_stood_then(kernel: MemoryKernel) -> None:
    """The text of a database belongs to its block's row, and the block has not changed since."""
    database, view = (
        "20240101000000-dbdbdb1",
        '<div data-type="NodeAttributeView" data-av-id="{}" data-av-type="table"></div>',
    )
    box = await kernel.notebook()
    shown = view.format(database)
    root_id = await kernel.document(box, "/Doc", f"{shown}\n\nplain")
    statement = f"SELECT content FROM blocks WHERE root_id = '{root_id}' AND type = 'av'"
    await kernel.call("sqlite/flushTransaction")
    block_id = (await kernel.children(root_id))[0]
    await kernel.call("av/renderAttributeView", id=database, blockID=block_id)
    row = {
        "id": "20240101000000-rowrow1",
        "itemID": "20240101000000-rowrow1",
        "isDetached": True,
        "content": "first row",
    }
    await kernel.call("av/addAttributeViewBlocks", avID=database, blockID=block_id, srcs=[row])
    await kernel.call("sqlite/flushTransaction")
    assert await _rows(kernel, statement) == [{"content": ""}]
    await kernel.call("attr/setBlockAttrs", id=block_id, attrs={"memo": "seen"})
    (now,) = await _rows(kernel, statement)
    assert "first row" in now["content"]
