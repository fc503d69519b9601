"""[core] How much there is in a workspace: ``conf.stat``, exact and rounded up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kernel.workspace.notebooks import DATA

if TYPE_CHECKING:
    from kernel.workspace.workspace import Workspace

_MIB: Final = 1024 * 1024
# least, step, steps: a count is shown as the next step above it, and as one more than the last beyond that
_TREES: Final = (100, 500, 40)
_BLOCKS: Final = (5000, 10_000, 100)
_BYTES: Final = (100 * _MIB, 200 * _MIB, 40)


def refresh_stat(workspace: Workspace, *, with_sizes: bool = False) -> None:
    """Count documents and blocks anew, in place; ``with_sizes`` looks at every file too."""
    trees, blocks = len(workspace.blocks.documents), workspace.blocks.block_count
    stat = workspace.conf.section("stat")
    stat.update(
        treeCount=trees,
        cTreeCount=rounded_up(trees, _TREES),
        blockCount=blocks,
        cBlockCount=rounded_up(blocks, _BLOCKS),
    )
    if with_sizes:
        sizes = [(path, entry.size) for path, entry in workspace.files.walk(DATA)]
        stat.update(
            dataSize=sum(size for _, size in sizes),
            assetsSize=sum(size for path, size in sizes if "/assets/" in path),
        )
    stat.update(cDataSize=rounded_up(stat["dataSize"], _BYTES), cAssetsSize=rounded_up(stat["assetsSize"], _BYTES))


def rounded_up(count: int, scale: tuple[int, int, int]) -> int:
    """The step above a count."""
    least, step, steps = scale
    if count < least:
        return least
    above = (count // step + 1) * step
    return above if above < steps * step else steps * step + 1
