"""What a restart keeps and what it does not (R282, R283): the queue, leases, sessions, results and uploads are gone, a
write in doubt stays in doubt and is never written again."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
import trio

from tests.cases.test_uploads import staged, upload
from tests.support.notes import Notes, code_of, make_notes, preflight, same_notes
from tests.support.process import kernels
from tests.support.tasks import call_task, control, fresh

pytestmark = pytest.mark.wire

UPDATE = "block/updateBlock"


async def test_a_restart_forgets_what_was_in_memory(tmp_path: Path) -> None:
    async with kernels(tmp_path / "workspace") as start, httpx.AsyncClient(timeout=90) as http:
        notes = await make_notes(await start(), http)
        await notes.client.open()
        session, task = notes.client.session, fresh()
        await call_task(notes, task, "system", "get_version")
        commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="late")
        assert (await upload(notes, b"abc")).status_code == 200
        assert await notes.kernel.stop() == 0

        notes = await same_notes(await start(), http, notes.ids)
        notes.client.session = session
        with pytest.raises(AssertionError, match="404"):
            await notes.client.old(7, "tools/list")
        assert (await control(notes, task, "result"))["found"] is False
        assert code_of(await notes.client.tool("block", "update", **commit)) == "preflight_lease_invalid"
        assert await notes.text("P1") == "Alpha text"
        assert await staged(notes) == {"items": 0, "bytes": 0}
        health = await notes.health()
        assert health["queue"]["inFlight"] == 0
        assert (health["events"]["sessions"], health["taskResults"]["records"]) == (0, 0)
        again = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="late")
        assert code_of(await notes.client.tool("block", "update", **again)) is None
        assert await notes.text("P1") == "late"
        assert await notes.kernel.stop() == 0


async def test_a_write_in_doubt_at_the_end_is_in_doubt_after_it_and_the_queue_behind_it_is_gone(tmp_path: Path) -> None:
    async with kernels(tmp_path / "workspace") as start, httpx.AsyncClient(timeout=90) as http:
        notes = await make_notes(await start("--emulator-controls"), http)
        first = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="first")
        second = await preflight(notes, "block", "update", id=notes.ids["P2"], dataType="markdown", data="second")
        await notes.hold(UPDATE)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(send_and_lose, notes, first)
            await notes.wait_held(UPDATE)
            nursery.start_soon(send_and_lose, notes, second)
            with trio.fail_after(90):
                while (await notes.health())["queue"]["exclusiveQueued"] != 1:  # noqa: ASYNC110 - another process
                    await trio.sleep(0.01)
            notes.kernel.kill()
        await notes.kernel.process.wait()

        notes = await same_notes(await start(), http, notes.ids)
        assert code_of(await notes.client.tool("block", "update", **first)) == "outcome_unknown"
        assert code_of(await notes.client.tool("block", "update", **second)) == "preflight_lease_invalid"
        assert (await notes.text("P1"), await notes.text("P2")) == ("Alpha text", "Beta text")
        assert await notes.kernel.stop() == 0


async def send_and_lose(notes: Notes, commit: dict[str, str]) -> None:
    with pytest.raises((httpx.HTTPError, json.JSONDecodeError)):
        await notes.client.tool("block", "update", **commit)
