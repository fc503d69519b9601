"""Answers as a plan changes them, and a request that comes twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.faults.plan import Rule
from kernel.faults.trigger import FaultInjected
from kernel.http.faulty import SecondDelivery, injected, is_event_stream, shuffled_answer
from kernel.wire import Answer, ClientGone, Headers, Request, Response, StreamResponse

KRAMDOWN = "text\n{: " + " ".join(f'k{number}="{number}"' for number in range(9)) + "}"


async def nothing(_writer: Any) -> None:
    return


def test_attributes_change_their_order_and_nothing_else_does() -> None:
    body = {"data": {"kramdown": KRAMDOWN, "more": "笔记"}}
    answer = Response(200, (("a", "b"),), json.dumps(body).encode(), closes=True)
    changed = [shuffled_answer(answer, str(seed)) for seed in range(4)]
    told = []
    for one in changed:
        assert isinstance(one, Response)
        assert (one.status, one.headers, one.closes) == (200, (("a", "b"),), True)
        told.append(json.loads(one.body.decode("utf-8", "surrogatepass"))["data"]["kramdown"])
    assert len(set(told)) > 1
    assert {"".join(sorted(one)) for one in told} == {"".join(sorted(KRAMDOWN))}


@pytest.mark.parametrize(
    "answer",
    [
        Response(200, (), b""),
        Response(200, (), b"no JSON"),
        Response(200, (), b"[" * 100_000),
        StreamResponse(200, (), nothing),
    ],
)
def test_what_is_no_json_stays_as_it_is(answer: Answer) -> None:
    assert shuffled_answer(answer, "1") is answer


async def test_a_second_delivery_has_its_body_already_and_nobody_who_leaves() -> None:
    request = Request("POST", "/x", "/x", "", Headers(), b"body")
    again = SecondDelivery(request)
    assert again.request is request
    with pytest.raises(ClientGone, match="delivered once"):
        [piece async for piece in again.chunks()]
    left: list[int] = []
    with again.watch_disconnect(lambda: left.append(1)):
        pass
    assert left == []


@pytest.mark.parametrize(
    ("rule", "status", "retry"),
    [
        (Rule("http.request.read", "fail", status=503, retry_after_s=7), 503, "7"),
        (Rule("http.request.read", "fail"), 500, None),
    ],
)
def test_a_planned_failure_is_an_answer_that_ends_the_connection(rule: Rule, status: int, retry: str | None) -> None:
    answer = injected(FaultInjected(rule))
    assert (answer.status, answer.closes, dict(answer.headers).get("Retry-After")) == (status, True, retry)
    assert rule.message.encode() in answer.body


def test_an_event_stream_is_known_by_its_type() -> None:
    assert is_event_stream(StreamResponse(200, (("Content-Type", "text/event-stream; charset=utf-8"),), nothing))
    assert not is_event_stream(StreamResponse(200, (("Content-Type", "text/plain"),), nothing))
    assert not is_event_stream(StreamResponse(200, (), nothing))
