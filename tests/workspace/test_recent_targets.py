"""The blocks that were referred to lately."""

from __future__ import annotations

import pytest

from kernel.workspace import recent_targets as module
from kernel.workspace.recent_targets import PATH, note_targets, recent_targets
from tests.siyuan.kernel_in_memory import MemoryKernel


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a": "x"}'])
def test_a_file_that_cannot_be_read_counts_as_empty(kernel: MemoryKernel, content: bytes) -> None:
    kernel.workspace.files.write(PATH, content)
    assert recent_targets(kernel.workspace) == {}


def test_of_too_many_those_of_long_ago_are_forgotten(kernel: MemoryKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECENT_TARGETS_MAX", 2)
    workspace = kernel.workspace
    note_targets(workspace, [])
    assert recent_targets(workspace) == {}
    for block_id in ("a", "b", "c"):
        note_targets(workspace, [block_id, block_id])
        kernel.clock.advance(5)
    assert set(recent_targets(workspace)) == {"b", "c"}
    assert recent_targets(workspace)["c"] - recent_targets(workspace)["b"] == 5


def test_a_disk_that_takes_no_order_of_offers_costs_only_that(
    kernel: MemoryKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(path: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel.workspace.files, "write", refuses)
    note_targets(kernel.workspace, ["a"])
    assert recent_targets(kernel.workspace) == {}
