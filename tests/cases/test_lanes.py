"""Bug cases of the kinds ``lane``, ``cancel-outcome`` and ``cancel-target``, over real sockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
import trio

from tests.cases.conftest import OpenNotes
from tests.support.client import messages_of, modern_message
from tests.support.notes import Notes, code_of, preflight

pytestmark = pytest.mark.wire

READ = "block/getBlockKramdown"
BATCH_READ = "block/getBlockKramdowns"
UPDATE = "block/updateBlock"


async def until_queue(notes: Notes, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until /health shows a queue of which ``is_so`` holds."""
    with trio.fail_after(90):
        while True:
            queue = dict((await notes.health())["queue"])
            if is_so(queue):
                return queue
            await trio.sleep(0.01)


async def until(notes: Notes, **counts: int) -> dict[str, Any]:
    """Wait until /health shows these counts of its queue."""
    return await until_queue(notes, lambda queue: all(queue[name] == count for name, count in counts.items()))


class Calls:
    """Calls in flight, and what each was answered, by name."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._answered: dict[Any, trio.Event] = {}
        self.results: dict[Any, dict[str, Any]] = {}

    def start(self, name: Any, notes: Notes, identifier: Any, tool: str, action: str, **arguments: Any) -> None:
        """Send an OLD call and go on."""
        done = self._answered[name] = trio.Event()

        async def run() -> None:
            result = await notes.client.tool(tool, action, era="old", identifier=identifier, **arguments)
            self.results[name] = result
            done.set()

        self._nursery.start_soon(run)

    async def answer(self, name: Any) -> dict[str, Any]:
        with trio.fail_after(90):
            await self._answered[name].wait()
        return self.results[name]


def assert_cancelled(result: dict[str, Any]) -> None:
    """request_cancelled, with nothing attempted."""
    assert code_of(result) == "request_cancelled"
    content = result["structuredContent"]
    assert (content["writeAttempted"], content["writeExecuted"]) == (False, False)


async def test_a02_a_queued_write_that_was_cancelled_never_runs(open_notes: OpenNotes) -> None:
    """The cancelled one answers at once, the others keep their order, its own commit still works later."""
    async with open_notes() as notes, trio.open_nursery() as nursery:
        await notes.client.open()
        commits = {
            name: await preflight(notes, "block", "update", id=notes.ids[block], dataType="markdown", data=text)
            for name, block, text in (("W1", "P1", "one"), ("W2", "P2", "two"), ("W3", "P3", "three"))
        }
        await notes.watch(UPDATE)
        await notes.hold(UPDATE)
        calls = Calls(nursery)
        for queued, (name, identifier) in enumerate((("W1", 11), ("W2", 12), ("W3", 13))):
            calls.start(name, notes, identifier, "block", "update", **commits[name])
            await until(notes, exclusiveRunning=1, exclusiveQueued=queued)
        await notes.wait_held(UPDATE)
        calls.start("read", notes, 14, "block", "get_kramdown", id=notes.ids["P3"])
        assert code_of(await calls.answer("read")) is None
        assert (await notes.client.cancel(12)).status_code == 202
        assert_cancelled(await calls.answer("W2"))
        assert "W1" not in calls.results
        await until(notes, exclusiveQueued=1)
        await notes.release(UPDATE)
        for name in ("W1", "W3"):
            assert (await calls.answer(name))["structuredContent"]["safety"]["transactionState"] == "committed"
        assert await notes.count(UPDATE) == 2
        late = await notes.client.tool("block", "update", **commits["W2"])
        assert late["structuredContent"]["safety"]["transactionState"] == "committed"
        assert [await notes.text(name) for name in ("P1", "P2", "P3")] == ["one", "two", "three"]


async def test_a03_a_bound_ends_the_wait_and_not_the_work(open_notes: OpenNotes) -> None:
    """A answers at its bound; B's host write starts only after A's host call has really ended."""
    async with open_notes("--commit-bound", "200ms") as notes, trio.open_nursery() as nursery:
        await notes.client.open()
        first = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="a")
        second = await preflight(notes, "block", "update", id=notes.ids["P2"], dataType="markdown", data="b")
        await notes.watch(UPDATE)
        await notes.hold(UPDATE)
        answer = await notes.client.tool("block", "update", era="old", **first)
        assert code_of(answer) == "outcome_unknown"
        assert answer["structuredContent"]["writeAttempted"] is True
        assert answer["structuredContent"]["error"]["safeToRetry"] is False
        calls = Calls(nursery)
        calls.start("B", notes, 2, "block", "update", **second)
        await until(notes, overrunRunning=1, exclusiveQueued=1)
        assert await notes.count(UPDATE) == 1
        await notes.release(UPDATE)
        assert code_of(await calls.answer("B")) is None
        assert await notes.text("P2") == "b"
        again = await notes.client.tool("block", "update", **first)
        assert code_of(again) in (None, "outcome_unknown")
        assert await notes.count(UPDATE) == 2


@pytest.mark.parametrize("identifier", [0, "", "a", -1])
async def test_a05_every_id_can_be_cancelled(open_notes: OpenNotes, identifier: Any) -> None:
    """0 and the empty string are ids like any other."""
    async with open_notes() as notes, trio.open_nursery() as nursery:
        await notes.client.open()
        await notes.hold(READ)
        calls = Calls(nursery)
        calls.start("call", notes, identifier, "block", "get_kramdown", id=notes.ids["P1"])
        await notes.wait_held(READ)
        assert (await notes.client.cancel(identifier)).status_code == 202
        assert_cancelled(await calls.answer("call"))
        await notes.release(READ)
        await until(notes, inFlight=0)


async def test_a06_number_and_string_ids_are_apart(open_notes: OpenNotes) -> None:
    """5 and "5" are two calls; true and 1.0 cancel nothing."""
    async with open_notes() as notes, trio.open_nursery() as nursery:
        await notes.client.open()
        await notes.hold(READ, times=2)
        calls = Calls(nursery)
        calls.start("number", notes, 5, "block", "get_kramdown", id=notes.ids["P1"])
        calls.start("text", notes, "5", "block", "get_kramdown", id=notes.ids["P1"])
        await notes.wait_held(READ, 2)
        await notes.client.cancel("5")
        assert_cancelled(await calls.answer("text"))
        await notes.release(READ)
        assert code_of(await calls.answer("number")) is None
        await notes.hold(READ)
        calls.start("one", notes, 1, "block", "get_kramdown", id=notes.ids["P1"])
        await notes.wait_held(READ)
        for stranger in (True, 1.0):
            assert (await notes.client.cancel(stranger)).status_code == 202
        await notes.release(READ)
        assert code_of(await calls.answer("one")) is None


async def test_a12_before_the_boundary_a_cancel_wins_and_after_it_never(open_notes: OpenNotes) -> None:
    """(a) nothing happened and the commit works later; (b) the write goes on and is answered."""
    async with open_notes() as notes, trio.open_nursery() as nursery:
        await notes.client.open()
        commit = await preflight(notes, "block", "update", id=notes.ids["P1"], dataType="markdown", data="new")
        await notes.watch(UPDATE)
        await notes.fault("write.commit.checked", "hold", name="checked")
        calls = Calls(nursery)
        calls.start("a", notes, 41, "block", "update", **commit)
        await notes.wait_held("checked")
        await notes.client.cancel(41)
        assert_cancelled(await calls.answer("a"))
        await notes.release("checked")
        assert await notes.count(UPDATE) == 0
        await notes.hold(UPDATE)
        calls.start("b", notes, 42, "block", "update", **commit)
        await notes.wait_held(UPDATE)
        await until(notes, committing=1)
        await notes.client.cancel(42)
        await notes.release(UPDATE)
        assert (await calls.answer("b"))["structuredContent"]["safety"]["transactionState"] == "committed"
        assert await notes.count(UPDATE) == 1
        assert await notes.text("P1") == "new"


async def test_a15_the_129th_call_is_refused_and_dropped_ones_make_room(open_notes: OpenNotes) -> None:
    """4 run, 124 wait; the next is refused with nothing executed; 50 dropped connections free 50 places."""
    async with open_notes() as notes:
        await notes.hold(READ, times=500)
        finished: list[dict[str, Any]] = []

        async def call(scope: trio.CancelScope) -> None:
            headers, body = modern_message(1, "tools/call", _read_of(notes))
            with scope:
                # A call that has waited long is answered by an event stream.
                *_, answer = messages_of(await notes.http.post(notes.kernel.mcp, headers=headers, json=body))
                finished.append(answer["result"])

        async with trio.open_nursery() as nursery:
            scopes = [trio.CancelScope() for _ in range(128)]
            for scope in scopes:
                nursery.start_soon(call, scope)
            await until(notes, inFlight=128, readsRunning=4, queued=124, capacity=128)
            refused = await notes.client.tool("block", "get_kramdown", id=notes.ids["P1"])
            assert code_of(refused) == "queue_full"
            content = refused["structuredContent"]
            assert content["writeAttempted"] is False
            assert isinstance(content["error"].get("retryAfterMs", content.get("retryAfterMs")), int)
            for scope in scopes[-50:]:
                scope.cancel()
            # Who of the 50 had a slot already keeps it until its host call ends (decision 12).
            queue = await until_queue(notes, lambda queue: queue["inFlight"] - queue["cancelledRunning"] == 78)
            assert queue["readsRunning"] == 4
            for _ in range(50 - queue["cancelledRunning"]):
                nursery.start_soon(call, trio.CancelScope())
            await until(notes, inFlight=128)
            with trio.fail_after(90):
                while len(finished) < 128 - queue["cancelledRunning"]:
                    await notes.release(READ)
                    await trio.sleep(0.02)
        assert all(code_of(result) is None for result in finished)
        await until(notes, inFlight=0, queued=0)


def _read_of(notes: Notes) -> dict[str, Any]:
    return {"name": "block", "arguments": {"action": "get_kramdown", "id": notes.ids["P1"]}}


async def test_a01_a_cancel_at_the_moment_of_the_answer_gives_one_answer(open_notes: OpenNotes) -> None:
    """Release and cancel together, again and again: one answer each time, and nothing left in flight."""
    async with open_notes() as notes:
        await notes.client.open()
        for round_number in range(20):
            await notes.hold(READ)
            async with trio.open_nursery() as nursery:
                calls = Calls(nursery)
                calls.start("call", notes, 7, "block", "get_kramdown", id=notes.ids["P1"])
                await notes.wait_held(READ)
                nursery.start_soon(notes.release, READ)
                if round_number % 2:
                    await trio.sleep(0.001 * round_number)
                assert (await notes.client.cancel(7)).status_code == 202
                assert code_of(await calls.answer("call")) in (None, "request_cancelled")
            assert code_of(await notes.client.tool("system", "get_version", era="old", identifier=8)) is None
            await until(notes, inFlight=0)


async def test_a08_unknown_and_late_cancels_do_nothing(open_notes: OpenNotes) -> None:
    """Each is taken with 202 and an empty body; the next call works."""
    async with open_notes() as notes:
        await notes.client.open()
        assert code_of(await notes.client.tool("system", "get_version", era="old", identifier=21)) is None
        answers: list[httpx.Response] = [await notes.client.cancel(999)]
        answers += [await notes.client.cancel(21) for _ in range(5)]
        answers.append(await notes.client.notify("notifications/cancelled"))
        answers.append(await notes.client.notify("notifications/cancelled", {}))
        assert [(answer.status_code, answer.content) for answer in answers] == [(202, b"")] * len(answers)
        assert code_of(await notes.client.tool("system", "get_version", era="old", identifier=22)) is None
