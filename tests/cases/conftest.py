"""Each case gets its own kernel process, with FX in it and the emulator's controls on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.notes import Notes, make_notes
from tests.support.process import running_kernel

OpenNotes = Callable[..., AbstractAsyncContextManager[Notes]]


@pytest.fixture
def open_notes(tmp_path: Path) -> OpenNotes:
    """``async with open_notes(*options) as notes``."""

    @asynccontextmanager
    async def opened(*options: str) -> AsyncIterator[Notes]:
        limits = httpx.Limits(max_connections=400)
        async with (
            running_kernel(tmp_path / "workspace", "--emulator-controls", *options) as kernel,
            httpx.AsyncClient(timeout=90, limits=limits) as http,
        ):
            yield await make_notes(kernel, http)

    return opened
