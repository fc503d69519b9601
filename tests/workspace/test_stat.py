"""How much there is in a workspace, exact and rounded up."""

from __future__ import annotations

import pytest

from kernel.workspace.stat import refresh_stat, rounded_up
from tests.siyuan.kernel_in_memory import MemoryKernel


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, 100), (99, 100), (100, 500), (499, 500), (500, 1000), (19_499, 19_500), (19_500, 20_001), (10**6, 20_001)],
)
def test_a_count_is_shown_as_the_next_step(count: int, shown: int) -> None:
    assert rounded_up(count, (100, 500, 40)) == shown


async def test_documents_blocks_and_where_asked_for_bytes_are_counted(kernel: MemoryKernel) -> None:
    await kernel.document(await kernel.notebook(), "/Doc", "one\n\ntwo")
    workspace = kernel.workspace
    refresh_stat(workspace)
    stat = workspace.conf.section("stat")
    assert (stat["treeCount"], stat["blockCount"], stat["cTreeCount"], stat["cBlockCount"]) == (2, 5, 100, 5000)
    assert stat["assetsSize"] == 0
    workspace.files.write("data/assets/a.bin", b"x" * 1000)
    refresh_stat(workspace, with_sizes=True)
    stat = workspace.conf.section("stat")
    assert stat["assetsSize"] == 1000
    assert stat["dataSize"] == sum(entry.size for _, entry in workspace.files.walk("data"))
    assert stat["cDataSize"] == stat["cAssetsSize"] == 100 * 1024 * 1024
