"""A kernel in memory with a document that shows two databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.views.world import Databases


async def _inline(work: Callable[[], Any]) -> Any:
    return work()


@pytest.fixture
def kernel() -> MemoryKernel:
    """Its statements run at once instead of in a thread."""
    kernel = MemoryKernel()
    kernel.kernel.state["statement_runner"] = _inline
    return kernel


@pytest.fixture
async def av(kernel: MemoryKernel) -> Databases:
    return await Databases(kernel).open(texts=("first text", "second text"))
