"""Bug cases of the kind ``task-control``, over real sockets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from tests.cases.conftest import OpenNotes
from tests.cases.test_lanes import until
from tests.support.notes import STORAGE, Notes, code_of, make_notes, preflight, same_notes
from tests.support.process import kernels
from tests.support.tasks import call_task, control, fresh, tasks_url

pytestmark = pytest.mark.wire

READ = "block/getBlockKramdown"
RESULTS_MAX = 128
BIG_CHARS = 1_258_291  # 1.2 MiB


async def test_a18_not_found_does_not_mean_that_it_did_not_happen(open_notes: OpenNotes) -> None:
    """A18 (a): 128 later ends push a commit's result out; the ledger still knows it."""
    async with open_notes() as notes:
        commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="x")
        first = fresh()
        done = await call_task(notes, first, "block", "update", **commit)
        assert done["result"]["structuredContent"]["safety"]["transactionState"] == "committed"
        assert (await control(notes, first, "result"))["resultAvailable"] is True
        for _ in range(RESULTS_MAX - 1):
            await call_task(notes, fresh(), "system", "get_version")
        assert (await control(notes, first, "status"))["found"] is True
        await call_task(notes, fresh(), "system", "get_version")
        told = await control(notes, first, "result")
        assert told["found"] is False
        assert "result" not in told
        assert (await notes.health())["taskResults"]["records"] == RESULTS_MAX
        again = await call_task(notes, fresh(), "block", "update", **commit)
        assert again["result"]["structuredContent"]["replayed"] is True


async def test_a18_a_result_over_one_mebibyte_keeps_its_end_only(open_notes: OpenNotes) -> None:
    """A18 (b)."""
    async with open_notes() as notes:
        big = await notes.api("block/appendBlock", parentID=notes.ids["D"], dataType="markdown", data="x" * BIG_CHARS)
        task = fresh()
        answer = await call_task(notes, task, "block", "get_kramdown", id=big[0]["doOperations"][0]["id"])
        assert len(json.dumps(answer)) > BIG_CHARS
        for operation in ("status", "result"):
            told = await control(notes, task, operation)
            assert (told["found"], told["state"], told["resultAvailable"]) == (True, "done", False)
            assert told["reason"] == "result_too_large"
            assert "result" not in told
        assert (await notes.health())["taskResults"]["bytes"] == 0


async def test_a18_a_result_is_kept_for_ten_minutes(open_notes: OpenNotes) -> None:
    """A18 (c)."""
    async with open_notes() as notes:
        task = fresh()
        await call_task(notes, task, "system", "get_version")
        await notes.advance(10 * 60 - 30)
        assert (await control(notes, task, "result"))["resultAvailable"] is True
        await notes.advance(31)
        assert (await control(notes, task, "result"))["found"] is False


async def test_a18_a_restart_forgets_results(tmp_path: Path) -> None:
    """A18 (d)."""
    async with kernels(tmp_path / "workspace") as start, httpx.AsyncClient(timeout=90) as http:
        notes = await make_notes(await start(), http)
        task = fresh()
        await call_task(notes, task, "system", "get_version")
        assert (await control(notes, task, "status"))["found"] is True
        assert await notes.kernel.stop() == 0
        notes = await same_notes(await start(), http, notes.ids)
        assert (await control(notes, task, "result"))["found"] is False
        assert await notes.kernel.stop() == 0


@pytest.mark.parametrize("task_id", ["3f2504e0-4f89-41d3-9a0c-0305e82c330", "", 7, "not-a-uuid", None, True])
async def test_a21_a_malformed_task_id_runs_nothing(open_notes: OpenNotes, task_id: Any) -> None:
    async with open_notes() as notes:
        answer = await call_task(notes, task_id, "system", "get_version")
        assert (answer["error"]["code"], answer["http"]) == (-32602, 400)
        assert (await notes.health())["queue"]["inFlight"] == 0


async def test_a21_an_id_in_flight_or_finished_is_refused_and_nothing_runs(open_notes: OpenNotes) -> None:
    async with open_notes() as notes, trio.open_nursery() as nursery:
        await notes.hold(READ)
        await notes.watch("system/version")
        task = fresh()
        nursery.start_soon(read_task, notes, task)
        await notes.wait_held(READ)
        assert code_of((await call_task(notes, task, "system", "get_version"))["result"]) == "duplicate_request"
        assert (await control(notes, task, "status"))["state"] == "running"
        await notes.release(READ)
        await until(notes, inFlight=0)
        for same in (task, task.upper()):
            refused = (await call_task(notes, same, "system", "get_version"))["result"]
            assert code_of(refused) == "duplicate_request"
            assert refused["structuredContent"]["writeAttempted"] is False
        assert await notes.count("system/version") == 0
        kept = await control(notes, task.upper(), "result")
        assert "Alpha text" in json.dumps(kept["result"])


async def test_a21_another_credential_finds_nothing(open_notes: OpenNotes) -> None:
    async with open_notes() as notes, trio.open_nursery() as nursery:
        other = {"Authorization": f"Token {notes.kernel.token}"}
        finished, running = fresh(), fresh()
        await call_task(notes, finished, "system", "get_version")
        await notes.hold(READ)
        nursery.start_soon(read_task, notes, running)
        await notes.wait_held(READ)
        for task in (finished, running):
            for operation in ("status", "cancel", "result"):
                told = await control(notes, task, operation, headers=other)
                assert told["found"] is False
                assert "result" not in told
                assert told.get("accepted", False) is False
        assert (await control(notes, running, "status"))["cancelRequested"] is False
        await notes.release(READ)


async def test_a21_control_bodies_are_judged(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        url, task = tasks_url(notes), fresh()
        for body in (b"{", b"", b"[]", b'"x"', b'{"operation":"status"}', b"\xff"):
            assert (await notes.http.post(url, content=body)).status_code == 400
        for operation in ("pause", None, 7, ["status"]):
            assert (await notes.http.post(url, json={"taskId": task, "operation": operation})).status_code == 400
        for method in ("GET", "PUT", "DELETE"):
            assert (await notes.http.request(method, url)).status_code == 405


async def test_a21_changed_permissions_close_the_old_result(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        task = fresh()
        await call_task(notes, task, "block", "get_kramdown", id=notes.ids["P1"])
        assert "Alpha text" in json.dumps(await control(notes, task, "result"))
        await notes.put_file(f"{STORAGE}/notebookPermissions", json.dumps({notes.ids["NB"]: "none"}))
        for operation in ("result", "status", "cancel"):
            told = await control(notes, task, operation)
            assert (told["found"], told["resultAvailable"], told["reason"]) == (True, False, "access_changed")
            assert "Alpha" not in json.dumps(told)


async def test_a21_changed_switches_close_the_old_result(open_notes: OpenNotes) -> None:
    async with open_notes() as notes:
        task = fresh()
        await call_task(notes, task, "system", "get_version")
        await notes.put_file(f"{STORAGE}/mcpToolsConfig", json.dumps({"system": {"enabled": False}}))
        assert (await control(notes, task, "result"))["reason"] == "access_changed"


async def read_task(notes: Notes, task: str) -> None:
    await call_task(notes, task, "block", "get_kramdown", id=notes.ids["P1"])
