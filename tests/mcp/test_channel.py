"""One POST's way back: order, bounds, and questions to handshake clients."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
import trio.testing

from kernel.mcp.channel import ClientRefused, InputRequired, PostChannel
from kernel.mcp.jsonrpc import Reply
from kernel.mcp.limits import EVENTS_BUFFERED_MAX, SERVER_REQUEST_S_MAX
from kernel.mcp.patience import Patience
from kernel.mcp.sessions import Session
from kernel.mcp.versions import negotiate
from tests.mcp.world import ListWriter


def session() -> Session:
    return Session("s", "local", negotiate("2025-11-25"), {}, {}, 0.0)


def channel(**options: Any) -> PostChannel:
    return PostChannel(**{"takes_events": True, "capabilities": {}, "progress_token": "p", **options})


def events(writer: ListWriter) -> list[Any]:
    text = b"".join(writer.sent).decode()
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


async def test_everything_is_written_in_order_and_the_answer_last() -> None:
    post = channel()
    post.progress(1)
    assert post.answer is None
    post.progress(2, 5, "two")
    post.finish(b'{"id":1}')
    post.progress(3)  # after the answer: dropped
    assert post.answer is None
    writer = ListWriter()
    await post.produce(writer)
    assert [event.get("params", event) for event in events(writer)] == [
        {"progressToken": "p", "progress": 1},
        {"progressToken": "p", "progress": 2, "total": 5, "message": "two"},
        {"id": 1},
    ]


async def test_a_client_that_does_not_read_loses_notifications_and_never_its_answer() -> None:
    post = channel()
    for step in range(EVENTS_BUFFERED_MAX + 10):
        post.progress(step)
    post.finish(b"{}")
    writer = ListWriter()
    await post.produce(writer)
    assert len(events(writer)) == EVENTS_BUFFERED_MAX + 1
    assert events(writer)[-1] == {}


async def test_finishing_tells_whoever_holds_something_and_happens_once() -> None:
    told: list[int] = []
    post = channel()
    post.on_finish = lambda: told.append(1)
    post.finish(b"{}", 400)
    assert (told, post.status, post.answer) == ([1], 400, b"{}")
    await post.wait()  # there is something to send already
    with pytest.raises(AssertionError):
        post.finish(b"{}")


async def test_a_question_is_answered_by_the_reply_of_its_id() -> None:
    place = session()
    post = channel(session=place)
    answers: list[Any] = []

    async def ask() -> None:
        answers.append(await post.ask("elicitation/create", {"message": "?"}))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(place.awaiting) == [1, 2]
        for number in (2, 1):
            place.awaiting.pop(number)(Reply(number, {"number": number}))
    assert sorted(answer["number"] for answer in answers) == [1, 2]
    assert place.awaiting == {}


async def test_a_question_may_be_refused_or_never_answered(autojump_clock: trio.testing.MockClock) -> None:
    place = session()
    post = channel(session=place)
    async with trio.open_nursery() as nursery:

        async def refuse() -> None:
            await trio.sleep(1)
            place.awaiting.pop(1)(Reply(1, error={"code": -1, "message": "no"}))

        nursery.start_soon(refuse)
        with pytest.raises(ClientRefused, match="no"):
            await post.ask("sampling/createMessage", {})
    began = trio.current_time()
    with pytest.raises(ClientRefused, match="no reply"):
        await post.ask("sampling/createMessage", {})
    assert trio.current_time() - began == pytest.approx(SERVER_REQUEST_S_MAX)
    post.finish(b"{}")
    writer = ListWriter()
    await post.produce(writer)
    assert [event.get("method") for event in events(writer)][2] == "notifications/cancelled"


@pytest.mark.parametrize("options", [{"session": None}, {"takes_events": False}])
async def test_who_has_no_session_or_no_stream_cannot_be_asked(options: dict[str, Any]) -> None:
    post = channel(**{"session": session(), **options})
    with pytest.raises(ClientRefused):
        await post.ask("elicitation/create", {})


def test_an_input_required_result_holds_requests_or_a_state_or_both() -> None:
    assert InputRequired({"a": {}}, "s").result() == {"inputRequests": {"a": {}}, "requestState": "s"}
    assert InputRequired({}, "s").result() == {"requestState": "s"}
    assert InputRequired({"a": {}}).result() == {"inputRequests": {"a": {}}}


def test_capabilities_are_this_requests_own() -> None:
    post = channel(capabilities={"sampling": {}})
    assert post.declares("sampling")
    assert not post.declares("elicitation")


async def test_the_sweep_sleeps_while_nobody_waits(autojump_clock: trio.testing.MockClock) -> None:
    patience = Patience()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(patience.run)
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(2):
            post = channel()
            patience.enter(post)
            with trio.fail_after(1):
                await post.wait()
            assert post.is_watched
            with trio.fail_after(20):
                await post.wait()
            assert post.is_impatient
            patience.leave(post)
            patience.leave(post)
            assert len(patience) == 0
            await trio.sleep(1)
        nursery.cancel_scope.cancel()
