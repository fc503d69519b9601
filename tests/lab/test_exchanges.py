"""Recorded bytes as exchanges, and recordings as files."""

from __future__ import annotations

import json
from math import inf
from typing import Any

import pytest

from kernel.lab.calls import calls_of
from kernel.lab.exchanges import exchanges_of
from kernel.lab.recording import Piece, RecordingInvalid, head_line, piece_line, read_recording

BODY = json.dumps(
    {"id": 1, "method": "tools/call", "params": {"name": "fs", "arguments": {"action": "ls", "path": "/"}}}
).encode()
REQUEST = b"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
RESULT = json.dumps({"id": 1, "result": {"structuredContent": {"a": 1}}}).encode()
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def pieces(*told: tuple[Any, ...]) -> list[Piece]:
    """(side, bytes or kind) pieces of one connection, a second apart."""
    return [
        Piece(1, float(at), side, "data", what) if isinstance(what, bytes) else Piece(1, float(at), side, what)
        for at, (side, what) in enumerate(told)
    ]


def test_requests_and_answers_of_a_kept_connection_are_paired_in_order() -> None:
    found = exchanges_of(
        pieces(
            ("client", REQUEST[:-5]),
            ("client", REQUEST[-5:] + REQUEST),
            ("kernel", ANSWER[:20]),
            ("kernel", ANSWER[20:] + ANSWER),
        )
    )
    assert [(one.number, one.sent_s, one.status, one.answer, one.ended_s) for one in found] == [
        (1, 0.0, 200, b"{}", 3.0),
        (2, 1.0, 200, b"{}", 3.0),
    ]
    assert all(one.body == BODY and one.is_whole and not one.is_lost for one in found)


@pytest.mark.parametrize(
    ("ending", "by", "is_reset"),
    [(("kernel", "end"), "kernel", False), (("kernel", "reset"), "kernel", True), (("client", "end"), "client", False)],
)
@pytest.mark.parametrize("answer", [b"", ANSWER[:-1]])
def test_a_lost_answer_says_who_ended_it(ending: Any, by: str, is_reset: bool, answer: bytes) -> None:
    (found,) = exchanges_of(pieces(("client", REQUEST), ("kernel", answer), ending))
    assert (found.is_lost, found.ended_by, found.is_reset, found.ended_s) == (True, by, is_reset, 2.0)
    (call,), _ = calls_of([found])
    assert (call.outcome, call.kind, call.named(), call.told()) == ("lost", "read", "fs.ls read", "no answer")


def test_an_answer_that_has_not_ended_is_nobodys_fault_yet() -> None:
    (found,) = exchanges_of(pieces(("client", REQUEST)))
    assert (found.is_lost, found.ended_by, found.ended_s) == (True, "", inf)


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    (found,) = exchanges_of(pieces(("client", REQUEST), ("kernel", head + RESULT), ("kernel", "end")))
    assert found.is_whole
    assert calls_of([found])[0][0].facts == {"a": 1}


def test_a_stream_that_was_cut_behind_its_answer_has_answered() -> None:
    frame = b"data:" + RESULT + b"\n\n"
    chunk = b"%x\r\n%b\r\n" % (len(frame), frame)
    (found,) = exchanges_of(pieces(("client", REQUEST), ("kernel", STREAM + chunk), ("kernel", "reset")))
    assert found.is_lost
    assert calls_of([found])[0][0].outcome == "ok"


def test_what_is_not_http_is_passed_over() -> None:
    assert exchanges_of(pieces(("client", b"\x16\x03\x01 hello\r\n\r\n"), ("kernel", b"?"), ("client", "end"))) == []


def test_a_request_that_was_not_sent_to_its_end_is_no_call() -> None:
    found = exchanges_of(pieces(("client", REQUEST[:-3]), ("kernel", "reset")))
    assert [one.is_request_whole for one in found] == [False]
    assert calls_of(found) == ([], [])


@pytest.mark.parametrize(
    ("status", "body", "outcome", "code"),
    [
        (503, b"busy", "refused", "HTTP 503"),
        (200, b'{"id":1,"error":{"code":-32602}}', "refused", "JSON-RPC -32602"),
        (400, b'{"id":1,"error":5}', "refused", "HTTP 400"),
        (200, b'{"id":2,"result":{}}', "lost", ""),
        (200, b"half an ans", "lost", ""),
        (200, b'{"id":1,"result":{"isError":true}}', "error", ""),
        (200, b'{"id":1,"result":{}}', "ok", ""),
    ],
)
def test_an_answer_is_read_for_what_it_says(status: int, body: bytes, outcome: str, code: str) -> None:
    answer = b"HTTP/1.1 %d X\r\nRetry-After: x\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body
    (call,), _ = calls_of(exchanges_of(pieces(("client", REQUEST), ("kernel", answer))))
    assert (call.outcome, call.code, call.retry_after_s) == (outcome, code, 0.0)


def test_a_recording_is_read_as_it_was_written() -> None:
    told = pieces(("client", "open"), ("client", REQUEST), ("kernel", b"\x00\xff"), ("kernel", "reset"))
    lines = [head_line("http://h"), *map(piece_line, told)]
    assert list(read_recording(lines)) == told


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        ([], 1, "the file is empty"),
        (["{}"], 1, "not a recording of version 1"),
        (["[]"], 1, "not a recording of version 1"),
        ([head_line("h"), "no"], 2, "not JSON"),
        ([head_line("h"), "5"], 2, "not a piece"),
        ([head_line("h"), '{"side":"client","kind":"melt"}'], 2, "not a piece"),
        ([head_line("h"), '{"side":"client","kind":"data","c":1,"at":true}'], 2, "a piece has"),
        ([head_line("h"), '{"side":"client","kind":"data","c":1,"at":1,"data":"*"}'], 2, "data is not base64"),
    ],
)
def test_what_is_no_recording_is_told_its_line(lines: list[str], line: int, reason: str) -> None:
    with pytest.raises(RecordingInvalid, match=reason) as caught:
        list(read_recording(lines))
    assert caught.value.line == line
