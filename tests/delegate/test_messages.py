"""What a delegate says and hears, byte by byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.delegate.messages import (
    AnswerLost,
    EventReader,
    Refused,
    answered,
    control,
    header_value,
    is_answer,
    question_of,
    read_message,
    result_of,
    rpc,
)
from kernel.mcp.classify import classify
from kernel.mcp.elicitation import FIELD, QUESTION, question
from kernel.mcp.heads import decode_wrapped, read_head
from kernel.mcp.jsonrpc import parse
from kernel.mcp.modern_era import META_TASK, MODERN_METHODS, read_envelope
from kernel.wire import Headers

META = "io.modelcontextprotocol/"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "fs", "arguments": {"action": "read"}}),
        ("tools/call", {"name": "文档", "arguments": {}, "_meta": {META_TASK: "0b0d7c3e-1111-4111-8111-111111111111"}}),
        ("resources/read", {"uri": "siyuan://help/tool-overview"}),
        ("tools/list", {}),
        ("server/discover", {"_meta": {f"{META}clientCapabilities": {"elicitation": {}}}}),
    ],
)
def test_what_is_said_passes_the_coordinators_own_ladder(method: str, params: dict[str, Any]) -> None:
    post = rpc("/r", 5, method, params)
    assert post.path == "/r/mcp"
    head = read_head(Headers([(name.lower(), value) for name, value in post.headers.items()]))
    modern = classify(head, parse(post.body), MODERN_METHODS, {})
    envelope = read_envelope(modern)  # type: ignore[arg-type]
    assert envelope.has_form is (method == "server/discover")
    assert envelope.task_id == params.get("_meta", {}).get(META_TASK)


@pytest.mark.parametrize("text", ["fs", "块", " x", "=?base64?eA==?=", "a\nb"])
def test_a_header_carries_any_name(text: str) -> None:
    value = header_value(text)
    assert value.isascii()
    assert value.isprintable()
    assert decode_wrapped(value) == text


def test_a_control_request_names_task_and_operation() -> None:
    post = control("/r", "t", "cancel")
    assert (post.path, json.loads(post.body)) == ("/r/tasks", {"taskId": "t", "operation": "cancel"})


def test_the_names_of_the_kernels_question_are_the_kernels() -> None:
    asked = {"resultType": "input_required", **question("Remove it?", "state")}
    assert question_of(asked) == "Remove it?"
    accepted = answered({"name": "fs"}, asked, "accept")
    assert accepted["inputResponses"] == {QUESTION: {"action": "accept", "content": {FIELD: True}}}
    assert (accepted["requestState"], accepted["name"]) == ("state", "fs")
    assert answered({}, asked, "decline")["inputResponses"] == {QUESTION: {"action": "decline"}}


@pytest.mark.parametrize(
    "result",
    [
        {"content": []},
        {"resultType": "complete"},
        {"resultType": "input_required"},
        {"resultType": "input_required", "inputRequests": {"other": {"method": "elicitation/create"}}},
        {"resultType": "input_required", "inputRequests": {QUESTION: {"method": "sampling/createMessage"}}},
    ],
)
def test_what_asks_nothing_that_we_can_answer_is_no_question(result: dict[str, Any]) -> None:
    assert question_of(result) is None


def test_a_question_without_words_is_still_a_question() -> None:
    request = {"method": "elicitation/create", "params": None}
    assert question_of({"resultType": "input_required", "inputRequests": {QUESTION: request}}) == ""


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_events_are_read_whatever_the_pieces_are(size: int, end: bytes) -> None:
    lines = [
        b": keep-alive",
        b"",
        b"event: message",
        b'data: {"a":',
        b"data: 1}",
        b"",
        b"data: no JSON",
        b"",
        b'data:"\xe5\x9d\x97"',
        b"",
        b"data: 7",
    ]
    stream = end.join(lines)
    reader = EventReader()
    messages = [found for start in range(0, len(stream), size) for found in reader.feed(stream[start : start + size])]
    assert messages == [{"a": 1}, "块"]  # the last event is not whole


@pytest.mark.parametrize(
    ("message", "is_ours"),
    [
        ({"id": 1, "result": {}}, True),
        ({"id": 1, "error": {}}, True),
        ({"id": "1", "result": {}}, False),
        ({"id": True, "result": {}}, False),
        ({"id": 1, "method": "x"}, False),
        ({"id": 1}, False),
        ([], False),
        (None, False),
    ],
)
def test_an_answer_bears_our_id_and_its_type(message: Any, is_ours: bool) -> None:
    assert is_answer(message, 1) is is_ours


@pytest.mark.parametrize(
    ("status", "message", "failure", "words"),
    [
        (200, {"id": 1, "error": {"code": -32603, "message": "Internal error"}}, AnswerLost, "Internal error"),
        (400, {"id": 1, "error": {"code": -32602, "message": "Invalid params"}}, Refused, "Invalid params"),
        (404, {"id": 1, "error": {"code": -32601}}, Refused, "no message"),
        (503, {"error": {"code": -32603, "message": "Too many"}}, Refused, "Too many"),
        (401, {"code": -1, "msg": "Auth failed"}, Refused, "HTTP 401: Auth failed"),
        (503, {"error": "kernel_coordinator_disabled", "message": "off"}, Refused, "HTTP 503: off"),
        (404, None, Refused, "HTTP 404"),
        (500, None, AnswerLost, "HTTP 500"),
        (502, {"message": "proxy"}, AnswerLost, "HTTP 502"),
        (200, None, AnswerLost, "HTTP 200"),
        (200, {"code": -1}, AnswerLost, "HTTP 200"),
        (200, {"id": 2, "result": {}}, AnswerLost, "HTTP 200"),
        (200, {"id": 1, "result": None}, AnswerLost, "HTTP 200"),
        (302, "found", AnswerLost, "HTTP 302"),
    ],
)
def test_an_answer_without_a_result_is_certain_or_it_is_lost(
    status: int, message: Any, failure: type[Exception], words: str
) -> None:
    """Only what cannot have run anything counts as refused."""
    with pytest.raises(failure, match=words):
        result_of(status, message, 1)


def test_a_result_is_a_result_and_html_is_no_json() -> None:
    assert result_of(200, {"id": 1, "result": {"content": []}}, 1) == {"content": []}
    assert read_message(b"<html>") is None
    assert read_message(b"\xff") is None


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_events_come_out_whole_however_they_are_cut(size: int) -> None:
    stream = (
        b': hello\r\n\r\ndata: {"a": 1}\n\ndata: {"b":\ndata:  2}\r\n\r\nevent: x\ndata: no JSON\n\ndata: {"c": 3}\n'
    )
    reader = EventReader()
    found = [one for at in range(0, len(stream), size) for one in reader.feed(stream[at : at + size])]
    assert found == [{"a": 1}, {"b": 2}]
    assert reader.feed(b"\n") == [{"c": 3}]
