"""A delegated call against a scripted coordinator: sent once, recovered or in doubt, cancelled through the side door."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import trio
from trio.testing import MockClock

from kernel.delegate.coordinator import Coordinator
from kernel.delegate.limits import (
    ANSWER_BYTES_MAX,
    CANCEL_REQUESTS_MAX,
    RESULT_QUERIES_MAX,
    RESULT_QUERY_APART_S,
    RESULT_QUERY_S_MAX,
    SILENCE_S_MAX,
)
from kernel.delegate.messages import META, META_TASK, AnswerLost, Refused
from kernel.errors import ToolError
from kernel.mcp.elicitation import QUESTION, question
from tests.delegate.world import (
    BREAK,
    ROUTE,
    Asked,
    Said,
    World,
    code_of,
    events,
    open_world,
    result,
    said,
    tool_result,
)


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with open_world(monkeypatch) as opened:
        yield opened


async def answers(asked: Asked) -> Said:
    return said(tool_result(asked, success=True))


async def streams(asked: Asked) -> Said:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    return events(progress, tool_result(asked, success=True))


async def hangs(_asked: Asked) -> Said:
    await trio.sleep_forever()
    raise AssertionError


def kept(**told: Any) -> Said:
    return said({"found": True, "state": "done", "result": {"content": [], "structuredContent": told}})


GONE = said({"found": False, "state": None})
RUNNING = said({"found": True, "state": "running", "cancelRequested": False})


@pytest.mark.parametrize("answer", [answers, streams])
async def test_a_call_carries_credential_and_task_id_on_the_private_route(
    autojump_clock: MockClock, world: World, answer: Any
) -> None:
    world.coordinator.on("/mcp", answer)
    heard: list[Any] = []
    told = await world.call(hear=heard.append, request_id="7")
    assert told["structuredContent"] == {"success": True}
    (asked,) = world.coordinator.asked
    assert asked.path == f"{ROUTE}/mcp"
    assert asked.headers["authorization"] == "Bearer secret"
    assert asked.json["id"] == "7"
    assert UUID(asked.json["params"]["_meta"][META_TASK]).version == 4
    assert [one["method"] for one in heard] == (["notifications/progress"] if answer is streams else [])


async def test_every_call_has_an_id_of_its_own_unless_it_brings_one(autojump_clock: MockClock, world: World) -> None:
    """R245."""
    world.coordinator.on("/mcp", answers)
    await world.call()
    await world.call()
    await world.call(task_id="brought")
    ids = [one.json["params"]["_meta"][META_TASK] for one in world.coordinator.asked]
    assert len(set(ids)) == 3
    assert ids[2] == "brought"


# --- nobody, somebody else ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("can_write", "code"), [(True, "write_coordinator_unavailable"), (False, "host_unavailable")])
async def test_without_a_coordinator_nothing_is_sent_anywhere(
    autojump_clock: MockClock, world: World, can_write: bool, code: str
) -> None:
    """R139, R144."""
    world.discovery.found = None
    assert code_of(await world.call(can_write=can_write)) == code
    assert world.coordinator.asked == []


async def test_a_coordinator_that_takes_no_connection_is_unavailable_and_not_asked_again(
    autojump_clock: MockClock, world: World
) -> None:
    """R145: refused before connecting; no retry."""
    world.coordinator.is_there = False
    told = await world.call()
    assert code_of(told) == "write_coordinator_unavailable"
    assert told["structuredContent"]["writeAttempted"] is False


@pytest.mark.parametrize("status", [401, 404, 429, 503])
async def test_a_request_that_was_turned_away_was_not_carried_out(
    autojump_clock: MockClock, world: World, status: int
) -> None:
    world.coordinator.on("/mcp", said({"message": "no"}, status))
    told = await world.call()
    assert code_of(told) == "write_coordinator_unavailable"
    assert f"HTTP {status}" in told["structuredContent"]["error"]["message"]
    assert len(world.coordinator.asked) == 1


@pytest.mark.parametrize(
    ("greeting", "words"),
    [
        (
            said({"id": 1, "error": {"code": -32022, "message": "x", "data": {"supported": ["2026-10-01"]}}}, 400),
            "speaks 2026-10-01",
        ),
        (
            said({"id": 1, "result": {"supportedVersions": ["2026-10-01", "2027-01-01"]}}),
            "speaks 2026-10-01, 2027-01-01",
        ),
        (said({"id": 1, "result": {}}), "no revision that it names"),
        (said({"id": 1, "error": {"code": -32601, "message": "Method not found"}}, 404), "Method not found"),
        (Said(200, (b"<html>router</html>",)), "HTTP 200"),
        (said({"message": "no"}, 404), "HTTP 404: no"),
        (BREAK, "closed"),
    ],
)
async def test_who_does_not_speak_our_revision_gets_no_call(
    autojump_clock: MockClock, world: World, greeting: Said, words: str
) -> None:
    """F03: both sides are named, and there is no falling back; nor is a stranger at the address sent anything."""
    world.coordinator.on("discover", greeting)
    told = await world.call()
    assert code_of(told) == "write_coordinator_unavailable"
    assert words in told["structuredContent"]["error"]["message"]
    assert world.coordinator.asked == []
    assert len(world.coordinator.greetings) == 1


async def test_a_coordinator_is_greeted_once(autojump_clock: MockClock, world: World) -> None:
    world.coordinator.on("/mcp", answers)
    await world.call()
    await world.call()
    assert (len(world.coordinator.greetings), len(world.coordinator.asked)) == (1, 2)


async def test_a_malformed_call_is_the_callers_own_error(autojump_clock: MockClock, world: World) -> None:
    async def refuse(asked: Asked) -> Said:
        return said({"jsonrpc": "2.0", "id": asked.json["id"], "error": {"code": -32602, "message": "no name"}}, 400)

    world.coordinator.on("/mcp", refuse)
    with pytest.raises(Refused, match="no name"):
        await world.call()


async def test_another_owner_than_at_the_first_write_is_told_and_gets_nothing(
    autojump_clock: MockClock, world: World
) -> None:
    """R149."""
    world.coordinator.on("/mcp", answers)
    assert code_of(await world.call()) is None
    world.discovery.found = Coordinator("http://127.0.0.1:9999")
    assert code_of(await world.call()) == "write_coordinator_changed"
    assert len(world.coordinator.asked) == 1
    assert code_of(await world.call(can_write=False, is_coordinated=True)) == "write_coordinator_changed"
    # Reading there is no danger, and the old owner is still welcome.
    assert code_of(await world.call(can_write=False)) is None
    world.discovery.found = Coordinator("http://127.0.0.1:6806", "secret")
    assert code_of(await world.call()) is None


async def test_the_owner_of_a_preflight_is_the_owner_of_its_write(autojump_clock: MockClock, world: World) -> None:
    """R149: between the two another kernel took the place."""
    world.coordinator.on("/mcp", answers)
    assert code_of(await world.call(can_write=False, is_coordinated=True)) is None
    world.discovery.found = Coordinator("http://127.0.0.1:9999")
    assert code_of(await world.call()) == "write_coordinator_changed"
    assert len(world.coordinator.asked) == 1


async def test_a_preflight_without_a_coordinator_is_a_write_without_one(
    autojump_clock: MockClock, world: World
) -> None:
    world.discovery.found = None
    told = await world.call(can_write=False, is_coordinated=True)
    assert code_of(told) == "write_coordinator_unavailable"


# --- a lost answer -----------------------------------------------------------------------------------------------
LOST = [
    pytest.param(BREAK, id="closed without an answer"),
    pytest.param(Said(200, (b'{"jsonrpc"',), breaks=True), id="closed in the middle"),
    pytest.param(Said(200, (b'{"jsonrpc": "2.0", "id": 1}',)), id="no result"),
    pytest.param(Said(200, (b"<html>proxy</html>",)), id="HTML"),
    pytest.param(said({}, 502), id="a proxy's error"),
    pytest.param(events({"method": "notifications/progress"}), id="a stream without its answer"),
    pytest.param(events(breaks=True), id="a stream that breaks"),
    pytest.param(hangs, id="silence"),
]


@pytest.mark.parametrize("lost", LOST)
async def test_a_lost_answer_is_fetched_from_the_same_coordinator_and_not_sent_again(
    autojump_clock: MockClock, world: World, lost: Any
) -> None:
    """R146, R246-R250."""
    world.coordinator.on("/mcp", lost)
    world.coordinator.on("/tasks", GONE, RUNNING, kept(success=True))
    told = await world.call()
    assert told["structuredContent"] == {"success": True}
    assert len(world.coordinator.calls()) == 1
    assert world.coordinator.operations() == ["result"] * RESULT_QUERIES_MAX
    (call,) = world.coordinator.calls()
    task_id = call.json["params"]["_meta"][META_TASK]
    assert all(one.json["taskId"] == task_id for one in world.coordinator.calls("/tasks"))
    assert all(one.headers["authorization"] == "Bearer secret" for one in world.coordinator.asked)


@pytest.mark.parametrize(
    ("replies", "queries"),
    [
        ((GONE,), 3),
        ((RUNNING,), 3),
        ((said({"found": True, "state": "done", "resultAvailable": False, "reason": "result_too_large"}),), 1),
        ((said({"found": True, "state": "done", "resultAvailable": False, "reason": "access_changed"}),), 1),
        ((BREAK,), 3),
        ((said({"error": "x"}, 500),), 3),
    ],
)
async def test_what_cannot_be_fetched_is_unknown_and_told_with_its_id(
    autojump_clock: MockClock, world: World, replies: tuple[Said, ...], queries: int
) -> None:
    """R251."""
    world.coordinator.on("/mcp", BREAK)
    world.coordinator.on("/tasks", *replies)
    told = await world.call()
    assert code_of(told) == "outcome_unknown"
    (call,) = world.coordinator.calls()
    assert told["structuredContent"]["error"]["taskId"] == call.json["params"]["_meta"][META_TASK]
    assert told["structuredContent"]["writeAttempted"] is True
    assert len(world.coordinator.calls("/tasks")) == queries


async def test_a_query_that_hangs_is_given_up_after_two_seconds(autojump_clock: MockClock, world: World) -> None:
    """R247, R248."""
    world.coordinator.on("/mcp", BREAK)
    world.coordinator.on("/tasks", hangs)
    started = trio.current_time()
    assert code_of(await world.call()) == "outcome_unknown"
    spent = trio.current_time() - started
    assert spent == pytest.approx(RESULT_QUERIES_MAX * RESULT_QUERY_S_MAX + 2 * RESULT_QUERY_APART_S)


async def test_a_coordinator_that_goes_away_after_the_call_leaves_it_unknown(
    autojump_clock: MockClock, world: World
) -> None:
    async def fall(_asked: Asked) -> Said:
        world.coordinator.is_there = False
        return BREAK

    world.coordinator.on("/mcp", fall)
    assert code_of(await world.call()) == "outcome_unknown"
    assert len(world.coordinator.asked) == 1


async def test_silence_is_borne_for_its_bound_and_no_longer(autojump_clock: MockClock, world: World) -> None:
    async def late(asked: Asked) -> Said:
        await trio.sleep(SILENCE_S_MAX - 1)
        return said(tool_result(asked, success=True))

    world.coordinator.on("/mcp", late)
    assert code_of(await world.call()) is None
    world.coordinator.on("/mcp", hangs)
    world.coordinator.on("/tasks", GONE)
    assert code_of(await world.call()) == "outcome_unknown"


async def test_an_answer_longer_than_its_bound_is_lost(
    autojump_clock: MockClock, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernel.delegate.delegate.ANSWER_BYTES_MAX", 100)
    world.coordinator.on("/mcp", events({"method": "x", "params": "y" * 200}))
    world.coordinator.on("/tasks", GONE)
    assert ANSWER_BYTES_MAX > 100
    assert code_of(await world.call()) == "outcome_unknown"


# --- the kernel's question ---------------------------------------------------------------------------------------
async def asks(asked: Asked) -> Said:
    if "requestState" in asked.json["params"]:
        return said(tool_result(asked, said=asked.json["params"]["inputResponses"][QUESTION]["action"]))
    return said(result(asked, resultType="input_required", **question("Remove it?", "state")))


@pytest.mark.parametrize("word", ["accept", "decline", "cancel"])
async def test_the_kernels_question_is_answered_by_its_delegate_under_the_same_task(
    autojump_clock: MockClock, world: World, word: str
) -> None:
    """R134."""
    world.coordinator.on("/mcp", asks)
    words: list[str] = []

    async def ask(asked: str) -> str:
        words.append(asked)
        return word

    told = await world.call(ask=ask)
    assert (told["structuredContent"], words) == ({"said": word}, ["Remove it?"])
    first, second = world.coordinator.calls()
    assert first.json["params"]["_meta"] == second.json["params"]["_meta"]
    assert first.json["params"]["_meta"][f"{META}clientCapabilities"] == {"elicitation": {}}
    assert second.json["params"]["requestState"] == "state"


async def test_without_somebody_to_ask_no_form_is_declared_and_a_question_goes_to_the_caller(
    autojump_clock: MockClock, world: World
) -> None:
    world.coordinator.on("/mcp", asks)
    told = await world.call()
    assert told["resultType"] == "input_required"
    (asked,) = world.coordinator.calls()
    assert asked.json["params"]["_meta"][f"{META}clientCapabilities"] == {}


# --- cancel ------------------------------------------------------------------------------------------------------
async def test_a_cancel_goes_to_the_control_route_until_it_is_known_and_the_answer_is_waited_for(
    autojump_clock: MockClock, world: World
) -> None:
    """R218-R220."""
    cancel, stopped = trio.Event(), trio.Event()

    async def runs(asked: Asked) -> Said:
        cancel.set()
        await stopped.wait()
        return said(tool_result(asked, stopped=True))

    async def stop(_asked: Asked) -> Said:
        stopped.set()
        return said({"found": True, "state": "running", "accepted": True})

    world.coordinator.on("/mcp", runs)
    world.coordinator.on("/tasks", GONE, GONE, stop)
    told = await world.call(cancel=cancel)
    assert told["structuredContent"] == {"stopped": True}
    assert world.coordinator.operations() == ["cancel"] * 3
    assert len(world.coordinator.calls()) == 1


async def test_a_cancel_that_is_never_known_is_asked_for_ten_times(autojump_clock: MockClock, world: World) -> None:
    cancel = trio.Event()

    async def runs(asked: Asked) -> Said:
        cancel.set()
        await trio.sleep(30)
        return said(tool_result(asked, success=True))

    world.coordinator.on("/mcp", runs)
    world.coordinator.on("/tasks", GONE)
    assert code_of(await world.call(cancel=cancel)) is None
    assert len(world.coordinator.calls("/tasks")) == CANCEL_REQUESTS_MAX


async def test_a_call_cancelled_before_it_was_sent_is_not_sent(autojump_clock: MockClock, world: World) -> None:
    cancel = trio.Event()
    cancel.set()
    assert code_of(await world.call(cancel=cancel)) == "request_cancelled"
    assert world.coordinator.asked == []


async def test_a_call_cancelled_while_a_silent_coordinator_is_greeted_is_not_sent(
    autojump_clock: MockClock, world: World
) -> None:
    cancel = trio.Event()

    async def is_silent(asked: Asked) -> Said:
        cancel.set()
        return await hangs(asked)

    world.coordinator.on("discover", is_silent)
    started = trio.current_time()
    assert code_of(await world.call(cancel=cancel)) == "request_cancelled"
    assert trio.current_time() == started
    assert world.coordinator.asked == []  # the greeting apart


async def test_a_cancel_while_the_question_stands_is_its_answer(autojump_clock: MockClock, world: World) -> None:
    cancel = trio.Event()

    async def asks_and_is_cancelled(asked: Asked) -> Said:
        cancel.set()
        return await asks(asked)

    async def ask(_words: str) -> str:
        raise AssertionError("nobody is asked any more")

    world.coordinator.on("/mcp", asks_and_is_cancelled)
    world.coordinator.on("/tasks", GONE)
    told = await world.call(cancel=cancel, ask=ask)
    assert told["structuredContent"] == {"said": "cancel"}


# --- beside the tools --------------------------------------------------------------------------------------------
async def test_other_requests_are_sent_once_and_fail_as_what_they_are(autojump_clock: MockClock, world: World) -> None:
    async def lists(asked: Asked) -> Said:
        return said(result(asked, tools=[]))

    world.coordinator.on("/mcp", lists, BREAK)
    assert await world.delegate.request("tools/list", {}) == {"tools": []}
    with pytest.raises(AnswerLost):
        await world.delegate.request("tools/list", {})
    world.coordinator.is_there = False
    with pytest.raises(ToolError, match="does not answer"):
        await world.delegate.request("tools/list", {})
    assert len(world.coordinator.asked) == 2
