"""Task control over a real process: cancels, commits, lost connections, questions, both prefixes (R227-R253)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from kernel.plugin_routes import LONG_PREFIX
from tests.support.notes import STORAGE, Notes, code_of, make_notes, preflight
from tests.support.process import running_kernel
from tests.support.tasks import call_task, control, fresh

pytestmark = pytest.mark.wire

READ = "block/getBlockKramdown"
UPDATE = "block/updateBlock"


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with (
        running_kernel(tmp_path / "workspace", "--emulator-controls") as kernel,
        httpx.AsyncClient(timeout=90) as http,
    ):
        yield await make_notes(kernel, http)


class Pending:
    """A call on its way, and its answer."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {}
        self.done = trio.Event()

    async def run(self, notes: Notes, task: str, tool: str, action: str, arguments: dict[str, Any]) -> None:
        self.answer = await call_task(notes, task, tool, action, **arguments)
        self.done.set()


async def until_state(notes: Notes, task: str, state: str) -> dict[str, Any]:
    with trio.fail_after(90):
        while (told := await control(notes, task, "status"))["state"] != state:  # noqa: ASYNC110 - another process
            await trio.sleep(0.01)
    return told


async def test_a_running_read_is_cancelled_by_its_task_id(notes: Notes, nursery: trio.Nursery) -> None:
    await notes.hold(READ)
    task, pending = fresh(), Pending()
    nursery.start_soon(pending.run, notes, task, "block", "get_kramdown", {"id": notes.ids["P1"]})
    await notes.wait_held(READ)
    assert (await control(notes, task, "status"))["state"] == "running"
    told = await control(notes, task, "cancel")
    assert (told["found"], told["accepted"], told["cancelRequested"], told["committing"]) == (True, True, True, False)
    await pending.done.wait()
    assert code_of(pending.answer["result"]) == "request_cancelled"
    # The host call has not ended: the answer is there, the slot is not free.
    queue = (await notes.health())["queue"]
    assert (queue["cancelledRunning"], queue["readsRunning"]) == (1, 1)
    kept = await control(notes, task, "result")
    assert (kept["state"], kept["cancelRequested"]) == ("done", True)
    assert code_of(kept["result"]) == "request_cancelled"
    assert (await control(notes, task, "cancel"))["accepted"] is False
    await notes.release(READ)


async def test_behind_the_commit_boundary_a_cancel_is_refused_and_the_result_is_kept(
    notes: Notes, nursery: trio.Nursery
) -> None:
    commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="new")
    await notes.hold(UPDATE)
    task, pending = fresh(), Pending()
    nursery.start_soon(pending.run, notes, task, "block", "update", commit)
    await notes.wait_held(UPDATE)
    told = await control(notes, task, "status")
    assert (told["state"], told["cancelRequested"], told["committing"]) == ("running", False, True)
    told = await control(notes, task, "cancel")
    assert (told["accepted"], told["committing"], told["cancelRequested"]) == (False, True, False)
    await notes.release(UPDATE)
    await pending.done.wait()
    result = pending.answer["result"]
    assert result["structuredContent"]["safety"]["transactionState"] == "committed"
    kept = (await control(notes, task, "result"))["result"]
    assert kept["structuredContent"] == result["structuredContent"]
    assert kept["content"] == result["content"]
    again = await call_task(notes, fresh(), "block", "update", **commit)
    assert again["result"]["structuredContent"]["replayed"] is True


async def test_a_call_with_a_task_id_outlives_its_connection(notes: Notes, nursery: trio.Nursery) -> None:
    """Decision 13: without one, closing the stream is a cancel."""
    await notes.hold(READ)
    task = fresh()
    with trio.CancelScope() as scope:
        nursery.start_soon(leave_when_held, notes, scope)
        async with httpx.AsyncClient(timeout=90) as leaving:
            await call_task(notes, task, "block", "get_kramdown", http=leaving, id=notes.ids["P1"])
    assert scope.cancelled_caught
    assert (await control(notes, task, "result"))["state"] == "running"
    await notes.release(READ)
    await until_state(notes, task, "done")
    result = (await control(notes, task, "result"))["result"]
    assert "Alpha text" in result["structuredContent"]["kramdown"]


async def leave_when_held(notes: Notes, scope: trio.CancelScope) -> None:
    await notes.wait_held(READ)
    scope.cancel()


async def test_a_lost_answer_is_fetched_by_its_task_id(notes: Notes) -> None:
    """The answer of the call is dropped at the edge of HTTP; the result is asked for at /tasks (R246-R249)."""
    commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="lost")
    task = fresh()
    await notes.fault("http.answer.before", "drop")
    with pytest.raises(httpx.HTTPError):
        await call_task(notes, task, "block", "update", **commit)
    kept = await control(notes, task, "result")
    assert kept["result"]["structuredContent"]["safety"]["transactionState"] == "committed"


async def test_a_question_to_the_user_is_no_end(notes: Notes) -> None:
    """R242: the id of a call that was answered with input_required is free for the answer."""
    task = fresh()
    await notes.put_file(f"{STORAGE}/mcpToolsConfig", json.dumps({"block": {"actions": {"delete": True}}}))
    commit = await preflight(notes, "block", "delete", id=notes.ids["P3"])
    asked = await call_task(notes, task, "block", "delete", capabilities={"elicitation": {}}, **commit)
    assert asked["result"]["resultType"] == "input_required"
    assert (await control(notes, task, "result"))["found"] is False
    name = next(iter(asked["result"]["inputRequests"]))
    answered = {
        "requestState": asked["result"]["requestState"],
        "inputResponses": {name: {"action": "accept", "content": {"confirm": True}}},
    }
    done = await call_task(notes, task, "block", "delete", capabilities={"elicitation": {}}, more=answered, **commit)
    assert done["result"]["structuredContent"]["safety"]["transactionState"] == "committed", done
    assert (await control(notes, task, "result"))["resultAvailable"] is True


async def test_refusals_are_results_too(notes: Notes) -> None:
    task = fresh()
    answer = await call_task(notes, task, "block", "get_kramdown")
    assert code_of(answer["result"]) == "validation_error"
    assert code_of((await control(notes, task, "result"))["result"]) == "validation_error"


async def test_both_prefixes_share_one_table(notes: Notes) -> None:
    task = fresh()
    await call_task(notes, task, "system", "get_version")
    url = notes.kernel.url + LONG_PREFIX + "/tasks"
    answer = await notes.http.post(url, json={"taskId": task, "operation": "status"})
    assert answer.json()["found"] is True
    assert answer.headers["cache-control"] == "no-store"


async def test_health_counts_and_tells_nothing_else(notes: Notes) -> None:
    task = fresh()
    secret = {"Authorization": f"Bearer {notes.kernel.token}"}
    await call_task(notes, task, "block", "get_kramdown", id=notes.ids["P1"])
    health = (await notes.http.get(notes.kernel.mcp.replace("/mcp", "/health"), headers=secret)).json()
    assert health["taskResults"]["records"] == 1
    assert health["taskResults"]["bytes"] > 0
    assert health["readBudget"]["maxRequests"] == 128
    assert health["kernelOptions"]["readRetries"] == 3
    assert (health["uploadsInFlight"], health["events"]["sessions"]) == (0, 0)
    text = json.dumps(health)
    for private in (task, notes.kernel.token, "Alpha", notes.ids["P1"]):
        assert private not in text


async def test_health_needs_the_kernels_credential_and_tells_the_options_in_force(notes: Notes) -> None:
    url = notes.kernel.mcp.replace("/mcp", "/health")
    assert (await notes.http.get(url, headers={"Authorization": "Token wrong"})).status_code == 401
    assert (await notes.http.get(url, headers={"Origin": "http://app.test:8000"})).status_code == 403
    options = {"readMaxRequests": 9999, "readMaxMiB": 2.9, "allowedOrigins": ["http://app.test:8000", "http://x/", "*"]}
    await notes.put_file(f"{STORAGE}/mcpHttpSettings", json.dumps({"kernelOptions": options}))
    told = (await notes.http.get(url)).json()["kernelOptions"]
    assert (told["readMaxRequests"], told["readMaxMiB"]) == (512, 2)
    assert told["allowedOrigins"] == ["http://app.test:8000"]
    assert (await notes.http.get(url, headers={"Origin": "http://app.test:8000"})).status_code == 200
    assert (await notes.http.get(url, headers={"Origin": "http://other.test"})).status_code == 403


async def test_an_endpoint_that_is_switched_off_answers_503_on_every_route(notes: Notes) -> None:
    await notes.put_file(f"{STORAGE}/mcpHttpSettings", json.dumps({"kernelEndpointEnabled": False}))
    base = notes.kernel.mcp.removesuffix("/mcp")
    for method, name in (("GET", "health"), ("POST", "mcp"), ("POST", "tasks"), ("POST", "transfer/upload")):
        answer = await notes.http.request(method, f"{base}/{name}")
        assert (answer.status_code, answer.json()["error"]) == (503, "kernel_coordinator_disabled"), name
    await notes.put_file(f"{STORAGE}/mcpHttpSettings", json.dumps({"kernelEndpointEnabled": True}))
    assert (await notes.health())["ok"] is True
