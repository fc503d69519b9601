"""Bug cases of kind K: documents, paths and SQL of the emulated kernel, called as its API is called."""

from __future__ import annotations

import pytest
import trio

from tests.cases.test_kernel_blocks import fixture
from tests.siyuan.kernel_in_memory import MemoryKernel

_DOCUMENTS = 70
_ROWS_DEFAULT = 64


async def test_k01_paths_of_titles_move_and_remove_nothing() -> None:
    fx = await fixture()
    alpha = await fx.kernel.document(fx.box, "/Alpha", "here")
    for path, arguments in (
        ("filetree/removeDoc", {"notebook": fx.box, "path": "/Alpha"}),
        ("filetree/moveDocs", {"fromPaths": ["/Alpha"], "toNotebook": fx.box, "toPath": "/Plan"}),
    ):
        await fx.kernel.answer(path, **arguments)
        assert await fx.kernel.texts(alpha) == ["here"]
        assert (await fx.kernel.call("filetree/getPathByID", id=alpha))["path"] == f"/{alpha}.sy"


async def test_k02_parallel_documents_share_their_parents() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook("Box")
    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(kernel.document, box, f"/2026/01/n{number}", "x")
    for hpath, count in (("/2026", 1), ("/2026/01", 1)):
        assert len(await kernel.call("filetree/getIDsByHPath", notebook=box, path=hpath)) == count
    [month] = await kernel.call("filetree/getIDsByHPath", notebook=box, path="/2026/01")
    path = (await kernel.call("filetree/getPathByID", id=month))["path"]
    listed = await kernel.call("filetree/listDocsByPath", notebook=box, path=path)
    assert sorted(file["name"] for file in listed["files"]) == sorted(f"n{number}" for number in range(20))


async def test_k02_the_same_path_twice_is_two_documents_and_a_child_has_one_parent() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook("Box")
    twins = [await kernel.document(box, "/Twin", "x") for _ in range(2)]
    assert sorted(await kernel.call("filetree/getIDsByHPath", notebook=box, path="/Twin")) == sorted(twins)
    child = await kernel.document(box, "/Twin/child", "x")
    path = (await kernel.call("filetree/getPathByID", id=child))["path"]
    assert path in [f"/{twin}/{child}.sy" for twin in twins]


async def test_k04_what_was_written_is_found_after_a_flush() -> None:
    fx = await fixture()
    await fx.kernel.call("block/appendBlock", dataType="markdown", data="needle", parentID=fx.document)
    await fx.kernel.call("sqlite/flushTransaction")
    rows = await fx.kernel.call("query/sql", stmt="select content from blocks where content='needle' limit 9")
    assert [row["content"] for row in rows] == ["needle"]


@pytest.fixture(scope="module")
def many() -> MemoryKernel:
    """A notebook with more documents than a query gives by default."""
    kernel = MemoryKernel()

    async def fill() -> None:
        box = await kernel.notebook("Many")
        for number in range(_DOCUMENTS):
            await kernel.document(box, f"/d{number}", "x limit y")

    trio.run(fill)
    return kernel


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("SELECT id FROM blocks WHERE type='d'", _ROWS_DEFAULT),
        ("select id from blocks where type='d'", _ROWS_DEFAULT),
        ("SELECT id FROM blocks WHERE type='d';", _ROWS_DEFAULT),
        ("SELECT id FROM blocks WHERE type='d' LIMIT 66", 66),
        ("SELECT id FROM blocks WHERE type='d' LIMIT 10000", _DOCUMENTS + 1),
        ("SELECT id FROM blocks WHERE content LIKE '%limit%'", _ROWS_DEFAULT),
        ("SELECT id FROM blocks WHERE id IN (SELECT id FROM blocks WHERE type='d' LIMIT 10000)", _ROWS_DEFAULT),
    ],
)
async def test_k05_only_a_limit_of_its_own_gives_more_than_the_default(
    many: MemoryKernel, statement: str, count: int
) -> None:
    assert len(await many.call("query/sql", stmt=statement)) == count
