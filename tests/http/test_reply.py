"""Reply heads: exact bytes, and the one place that refuses to write a header that breaks the framing."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from kernel.http import reply
from kernel.wire import Response

DATE = b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"


@pytest.mark.parametrize(
    ("response", "is_head", "closes", "expected"),
    [
        (
            Response(200, (("A", "b"),), b"xy"),
            False,
            False,
            b"HTTP/1.1 200 OK\r\nA: b\r\n" + DATE + b"Content-Length: 2\r\n\r\nxy",
        ),
        (Response(200, (), b"xy"), True, False, b"HTTP/1.1 200 OK\r\n" + DATE + b"Content-Length: 2\r\n\r\n"),
        (
            Response(413, (), b""),
            False,
            True,
            b"HTTP/1.1 413 Request Entity Too Large\r\n" + DATE + b"Content-Length: 0\r\nConnection: close\r\n\r\n",
        ),
        (Response(204, (), b"dropped"), False, False, b"HTTP/1.1 204 No Content\r\n" + DATE + b"\r\n"),
        (Response(304, ()), False, False, b"HTTP/1.1 304 Not Modified\r\n" + DATE + b"\r\n"),
        (Response(299, ()), False, False, b"HTTP/1.1 299 \r\n" + DATE + b"Content-Length: 0\r\n\r\n"),
    ],
)
def test_a_whole_reply_is_one_bytes_object(response: Response, is_head: bool, closes: bool, expected: bytes) -> None:
    assert reply.whole(response, wall_s=0, is_head=is_head, closes=closes) == expected


def test_a_streamed_head_says_how_its_body_ends() -> None:
    chunked = reply.stream_head(200, (), wall_s=0, is_chunked=True, closes=False)
    assert chunked == b"HTTP/1.1 200 OK\r\n" + DATE + b"Transfer-Encoding: chunked\r\n\r\n"
    closing = reply.stream_head(200, (), wall_s=0, is_chunked=False, closes=True)
    assert closing == b"HTTP/1.1 200 OK\r\n" + DATE + b"Connection: close\r\n\r\n"


@pytest.mark.parametrize(
    "header",
    [
        ("X", "a\r\nB: c"),
        ("X", "a\nb"),
        ("X", "a\0"),
        ("X", "a\x7f"),
        ("X\r\n", "a"),
        ("X:", "a"),
        ("", "a"),
        ("Ä", "a"),
        ("Connection", "close"),
        ("transfer-encoding", "chunked"),
        ("Date", "now"),
    ],
)
def test_headers_that_break_the_framing_are_refused(header: tuple[str, str]) -> None:
    with pytest.raises(reply.HeaderInvalid):
        reply.header_block((header,))


def test_values_may_hold_tabs_and_any_letters() -> None:
    assert reply.header_block((("X", "a\té 你"),)) == "X: a\té 你\r\n".encode()


def test_chunks_are_framed_and_an_empty_one_is_nothing() -> None:
    assert reply.chunk(b"x" * 16) == b"10\r\n" + b"x" * 16 + b"\r\n"
    assert reply.chunk(b"") == b""


def test_the_declared_length_is_found_in_any_case() -> None:
    assert reply.declared_length((("A", "b"), ("content-LENGTH", "7"))) == 7
    assert reply.declared_length((("A", "b"),)) is None


@pytest.mark.parametrize("wall_s", [0, 951_782_399, 951_782_400, 1_772_355_600, 1_798_761_599, 253_402_300_799, -1])
def test_a_date_is_written_as_the_standard_library_writes_it(wall_s: int) -> None:
    assert reply.http_date(wall_s) == format_datetime(datetime.fromtimestamp(wall_s, tz=UTC), usegmt=True)
