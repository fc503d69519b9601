"""kill -9 of the real kernel at every named point of the write path, restart, replay (R80-R87, R92, decision 27).

A crash rule ends the process by SIGKILL where it stands. Whatever the point: the host write happened at most once, an
answered commit replays as it was answered, and ``outcome_unknown`` stands exactly where the ledger says executing.
"""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.support.notes import Notes, code_of, make_notes, preflight, same_notes
from tests.support.process import kernels

pytestmark = pytest.mark.wire

UPDATE = "/api/block/updateBlock"
# point -> what a replay of the same request id says after the restart, and the text that stands in the block.
IN_DOUBT_WRITTEN = ("outcome_unknown", "new")
IN_DOUBT_UNTOUCHED = ("outcome_unknown", "Alpha text")
EXPECTED = {
    "write.commit.found": ("preflight_lease_invalid", "Alpha text"),
    "write.commit.checked": ("preflight_lease_invalid", "Alpha text"),
    "write.commit.entered": ("preflight_lease_invalid", "Alpha text"),
    "ledger.begin.before": ("preflight_lease_invalid", "Alpha text"),
    "ledger.begin.after": IN_DOUBT_UNTOUCHED,
    "write.commit.begun": IN_DOUBT_UNTOUCHED,
    f"host.before:{UPDATE}": IN_DOUBT_UNTOUCHED,
    f"host.after:{UPDATE}": IN_DOUBT_WRITTEN,
    "write.commit.written": IN_DOUBT_WRITTEN,
    "write.commit.observing": IN_DOUBT_WRITTEN,
    "write.commit.observed": IN_DOUBT_WRITTEN,
    "ledger.settle.before": IN_DOUBT_WRITTEN,
    "ledger.settle.after": ("replayed", "new"),
    "write.commit.settled": ("replayed", "new"),
}


async def crash_and_replay(workspace: Path, point: str) -> tuple[str, str]:
    """Kill at ``point`` during one commit, restart, send the same commit: what it says, and the block's text."""
    async with kernels(workspace) as start, httpx.AsyncClient(timeout=90) as http:
        kernel = await start("--emulator-controls")
        notes = await make_notes(kernel, http)
        commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="new")
        await notes.fault(point, "crash")
        with pytest.raises(httpx.HTTPError):
            await notes.client.tool("block", "update", **commit)
        assert await kernel.process.wait() != 0
        kernel = await start()
        notes = await same_notes(kernel, http, notes.ids)
        text = await notes.text("P1")
        said = await say(notes, commit)
        assert await notes.text("P1") == text, "a replay wrote"
        assert await kernel.stop() == 0
    return said, text


async def say(notes: Notes, commit: dict[str, str]) -> str:
    result = await notes.client.tool("block", "update", **commit)
    if (code := code_of(result)) is not None:
        return code
    content = result["structuredContent"]
    replayed = content.get("replayed", content.get("safety", {}).get("replayed"))
    assert content.get("requestId", content.get("safety", {}).get("requestId")) == commit["requestId"], json.dumps(
        content
    )
    return "replayed" if replayed else "committed"


@pytest.mark.slow
@pytest.mark.parametrize("point", EXPECTED)
async def test_kill_at_a_point_of_the_write_path(point: str, tmp_path: Path) -> None:
    """Never two host writes, never a lost receipt, in doubt exactly between executing and the end state."""
    assert await crash_and_replay(tmp_path / "workspace", point) == EXPECTED[point]


@pytest.mark.parametrize("point", [f"host.after:{UPDATE}", "ledger.settle.after"])
async def test_kill_around_the_host_write(point: str, tmp_path: Path) -> None:
    """The two points that matter most, in every run of the suite."""
    assert await crash_and_replay(tmp_path / "workspace", point) == EXPECTED[point]


@pytest.mark.slow
async def test_three_hundred_kills_at_alternating_points(tmp_path: Path) -> None:
    """300 rounds on one workspace: after each kill the workspace opens, and the write is there once or not at all."""
    points = list(EXPECTED)
    workspace = tmp_path / "workspace"
    async with kernels(workspace) as start, httpx.AsyncClient(timeout=90) as http:
        kernel = await start("--emulator-controls")
        notes = await make_notes(kernel, http)
        text = await notes.text("P1")
        for number in range(300):
            point = points[number % len(points)]
            new = f"text {number}"
            commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data=new)
            await notes.fault(point, "crash")
            with pytest.raises(httpx.HTTPError):
                await notes.client.tool("block", "update", **commit)
            await kernel.process.wait()
            kernel = await start("--emulator-controls")
            notes = await same_notes(kernel, http, notes.ids)
            is_written = EXPECTED[point][1] == "new"
            text = new if is_written else text
            assert await notes.text("P1") == text, point
            assert await say(notes, commit) == EXPECTED[point][0], point
        assert await kernel.stop() == 0
