"""A kernel in memory whose statements run at once instead of in a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel


async def _inline(work: Callable[[], Any]) -> Any:
    return work()


@pytest.fixture
def kernel() -> MemoryKernel:
    kernel = MemoryKernel()
    kernel.kernel.state["statement_runner"] = _inline
    return kernel
