"""Every key of kernelOptions on a whole kernel: what it changes, and that the next call already follows it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import trio.testing

from kernel.host.base import HostUnavailable
from kernel.tools.configuration import HTTP_FILE, KernelOptions, read_configuration
from tests.tools.notes import Notes, open_notes

MIB = 1 << 20
# name: default, least, greatest (upstream-core 1.3).
NUMBERS = {
    "readMaxRequests": (128, 16, 512),
    "readMaxMiB": (8, 1, 64),
    "readTimeoutMs": (30_000, 1_000, 120_000),
    "readRetries": (3, 0, 3),
    "templateMaxMiB": (16, 1, 32),
}


def in_force(name: str, value: Any) -> Any:
    content = json.dumps({"kernelOptions": {name: value}}).encode()
    return read_configuration(None, content).options.as_json()[name]


def test_the_table_has_every_key() -> None:
    assert set(KernelOptions().as_json()) == {*NUMBERS, "allowedOrigins"}


@pytest.mark.parametrize(("name", "bounds"), NUMBERS.items())
def test_a_number_is_floored_and_kept_in_its_bounds(name: str, bounds: tuple[int, int, int]) -> None:
    default, least, greatest = bounds
    for value in (None, "7", True, [], {}, float("nan"), float("inf"), -float("inf")):
        assert in_force(name, value) == default, value
    for value, expected in (
        (least, least),
        (least - 1, least),
        (greatest, greatest),
        (greatest + 1, greatest),
        (least + 0.9, least),
        (-1e300, least),
        (1e300, greatest),
    ):
        assert in_force(name, value) == expected, value


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_notes(tmp_path) as opened:
        yield opened


async def put(notes: Notes, **options: Any) -> None:
    await notes.host.write_file(HTTP_FILE, json.dumps({"kernelOptions": options}).encode())


async def code(notes: Notes, tool: str, action: str, **arguments: Any) -> str | None:
    result = await notes.raw(tool, {"action": action, **arguments})
    return str((result.structured or {})["error"]["code"]) if result.is_error else None


async def test_the_number_of_host_calls_is_hot(notes: Notes) -> None:
    box = await notes.memory.notebook("Nb")
    document = await notes.memory.document(box, "/Doc", "\n\n".join(f"p{index}" for index in range(20)))
    ids = [row["id"] for row in await notes.memory.call("block/getChildBlocks", id=document)]
    assert await code(notes, "block", "batch_kramdown", ids=ids) is None
    await put(notes, readMaxRequests=16)
    assert await code(notes, "block", "batch_kramdown", ids=ids) == "read_budget_exceeded"
    await put(notes)
    assert await code(notes, "block", "batch_kramdown", ids=ids) is None


async def test_the_bytes_of_a_read_are_hot(notes: Notes) -> None:
    box = await notes.memory.notebook("Nb")
    document = await notes.memory.document(box, "/Doc", "x" * (MIB + 1))
    assert await code(notes, "block", "get_kramdown", id=document) is None
    await put(notes, readMaxMiB=1)
    assert await code(notes, "block", "get_kramdown", id=document) == "read_budget_exceeded"


async def test_the_deadline_of_a_read_is_hot(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    box = await notes.memory.notebook("Nb")
    document = await notes.memory.document(box, "/Doc", "text")
    call = notes.host.call

    async def slow(path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        notes.memory.clock.advance(2)
        return await call(path, arguments)

    monkeypatch.setattr(notes.host, "call", slow)
    assert await code(notes, "block", "get_kramdown", id=document) is None
    await put(notes, readTimeoutMs=1000)
    assert await code(notes, "block", "get_kramdown", id=document) == "read_deadline_exceeded"


async def test_the_number_of_retries_is_hot(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    box = await notes.memory.notebook("Nb")
    document = await notes.memory.document(box, "/Doc", "text")
    call, failures = notes.host.call, [0]

    async def flaky(path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        if failures[0] and path == "/api/block/getBlockKramdown":
            failures[0] -= 1
            raise HostUnavailable("gone", path=path)
        return await call(path, arguments)

    monkeypatch.setattr(notes.host, "call", flaky)
    for retries, lost, expected in ((3, 3, None), (3, 4, "host_unavailable"), (1, 1, None), (0, 1, "host_unavailable")):
        await put(notes, readRetries=retries)
        failures[0] = lost
        assert await code(notes, "block", "get_kramdown", id=document) == expected, (retries, lost)
        failures[0] = 0


async def test_the_length_of_a_template_is_hot(notes: Notes) -> None:
    text = "x" * (MIB + 1)
    await put(notes, templateMaxMiB=1)
    assert await code(notes, "file", "create_template", path="long.md", markdown=text) == "too_large"
    assert await code(notes, "file", "create_template", path="fits.md", markdown=text[:-1]) is None
    await put(notes, templateMaxMiB=2)
    assert await code(notes, "file", "create_template", path="long.md", markdown=text) is None
