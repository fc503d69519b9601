"""Answers, however they are cut into pieces."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.bench.limits import BODY_BYTES_MAX, HEAD_BYTES_MAX
from kernel.bench.wire import BadAnswer, Reply, ReplyReader, request

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: x\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"
ANSWERS = {
    "counted": (PLAIN, Reply(200, b"hello")),
    "chunked": (CHUNKED, Reply(200, b"hello")),
    "without a body": (b"HTTP/1.1 204 No Content\r\n\r\n", Reply(204, b"")),
    "after a 100": (b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN, Reply(200, b"hello")),
    "the last one": (
        b"HTTP/1.1 503 Busy\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx",
        Reply(503, b"x", True),
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
@given(cuts=st.lists(st.integers(1, 120), max_size=6))
def test_an_answer_is_read_wherever_it_is_cut(name: str, cuts: list[int]) -> None:
    data, expected = ANSWERS[name]
    reader, found = ReplyReader(), []
    edges = [0, *sorted({cut for cut in cuts if cut < len(data)}), len(data)]
    for start, end in itertools.pairwise(edges):
        found.append(reader.feed(data[start:end]))
    assert found[-1] == expected
    assert found[:-1] == [None] * (len(found) - 1)


def test_one_reader_takes_many_answers() -> None:
    reader = ReplyReader()
    assert [reader.feed(one) for one in (PLAIN, CHUNKED, PLAIN)] == [Reply(200, b"hello")] * 3


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    reader = ReplyReader()
    assert reader.feed(b"HTTP/1.0 200 OK\r\n\r\nhel") is None
    assert reader.feed(b"lo") is None
    assert reader.end() == Reply(200, b"hello", True)
    assert ReplyReader().end() is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"SSH-2.0\r\n\r\n", "no status line"),
        (b"x" * (HEAD_BYTES_MAX + 1), "a head of more than"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (BODY_BYTES_MAX + 1), "a body of"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "no chunk size"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % (BODY_BYTES_MAX + 1), "a chunk of"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 1025, "a chunk line without an end"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(BadAnswer, match=reason):
        ReplyReader().feed(data)


def test_the_longest_head_is_still_awaited() -> None:
    assert ReplyReader().feed(b"x" * HEAD_BYTES_MAX) is None


def test_a_request_tells_the_length_of_its_body() -> None:
    assert (
        request("POST", "/p", "h:1", {"A": "b"}, b"xy")
        == b"POST /p HTTP/1.1\r\nHost: h:1\r\nA: b\r\nContent-Length: 2\r\n\r\nxy"
    )
    assert request("GET", "/p", "h:1", {}) == b"GET /p HTTP/1.1\r\nHost: h:1\r\n\r\n"
