"""Answers that carry files: types, names, conditions, ranges (measured on the kernel)."""

from __future__ import annotations

import pytest

from kernel.siyuan.file_answers import (
    FileContent,
    RangeInvalid,
    file_answer,
    http_date,
    is_error_text,
    listing,
    parse_ranges,
)
from kernel.siyuan.media_types import attachment, sniffed, type_of
from kernel.wire import Headers, Response

MTIME_S = 1_700_000_000.5
HELLO = FileContent("a.txt", b"hello\n", MTIME_S)


def asked(method: str = "GET", **headers: str) -> Response:
    return file_answer(
        method, Headers((name.replace("_", "-").lower(), value) for name, value in headers.items()), HELLO
    )


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.md", b"", "text/markdown; charset=utf-8"),
        ("a.JSON", b"", "application/json"),
        ("a.sy", b"", "application/json"),
        ("a.png", b"", "image/png"),
        ("a.unknown", b"hello", "text/plain; charset=utf-8"),
        ("a.unknown", b"\0\1", "application/octet-stream"),
        ("noext", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("noext", b" \n<!DOCTYPE html>", "text/html; charset=utf-8"),
        ("noext", b"<br ", "text/html; charset=utf-8"),
        ("noext", b"<brx", "text/plain; charset=utf-8"),
        ("noext", b" <?xml ", "text/xml; charset=utf-8"),
        ("noext", b"RIFF....WEBPVP8 ", "image/webp"),
        ("noext", b"RIFF....else", "text/plain; charset=utf-8"),
        ("noext", b"\0\0\0\x18ftypmp42", "video/mp4"),
        ("noext", b"\xef\xbb\xbfx", "text/plain; charset=utf-8"),
        ("noext", b"", "text/plain; charset=utf-8"),
    ],
)
def test_a_type_comes_from_the_name_else_from_the_first_bytes(name: str, head: bytes, expected: str) -> None:
    assert type_of(name, head) == expected


def test_only_the_first_bytes_are_looked_at() -> None:
    assert sniffed(b"x" * 512 + b"\0") == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.txt", "attachment; filename=plain.txt"),
        ("a b.txt", 'attachment; filename="a b.txt"'),
        ('q"\\.txt', 'attachment; filename="q\\"\\\\.txt"'),
        ("你 a.txt", "attachment; filename*=utf-8''%E4%BD%A0%20a.txt"),
    ],
)
def test_a_file_is_saved_under_its_name(name: str, expected: str) -> None:
    assert attachment(name) == expected


def test_a_whole_file_says_that_it_can_be_had_in_parts() -> None:
    answer = asked()
    assert (answer.status, answer.body) == (200, b"hello\n")
    headers = dict(answer.headers)
    assert headers["Accept-Ranges"] == "bytes"
    assert headers["Last-Modified"] == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert "ETag" not in headers


AFTER, BEFORE = http_date(MTIME_S + 60), http_date(MTIME_S - 60)


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"If_Modified_Since": http_date(MTIME_S)}, 304),
        ("GET", {"If_Modified_Since": AFTER}, 304),
        ("GET", {"If_Modified_Since": BEFORE}, 200),
        ("GET", {"If_Modified_Since": "yesterday"}, 200),
        ("POST", {"If_Modified_Since": AFTER}, 200),
        ("GET", {"If_None_Match": "*"}, 304),
        ("POST", {"If_None_Match": "*"}, 412),
        ("GET", {"If_None_Match": '"x"', "If_Modified_Since": AFTER}, 200),
        ("GET", {"If_Match": "*"}, 200),
        ("GET", {"If_Match": '"x", *'}, 200),
        ("GET", {"If_Match": '"x"'}, 412),
        ("GET", {"If_Unmodified_Since": BEFORE}, 412),
        ("GET", {"If_Unmodified_Since": AFTER}, 200),
        ("GET", {"If_Match": "*", "If_Unmodified_Since": BEFORE}, 200),
    ],
)
def test_conditions_are_judged_in_their_order(method: str, headers: dict[str, str], status: int) -> None:
    assert asked(method, **headers).status == status


@pytest.mark.parametrize(
    ("header", "status", "body", "span"),
    [
        ("bytes=0-1", 206, b"he", "bytes 0-1/6"),
        ("bytes=-2", 206, b"o\n", "bytes 4-5/6"),
        ("bytes=-99", 206, b"hello\n", "bytes 0-5/6"),
        ("bytes=3-", 206, b"lo\n", "bytes 3-5/6"),
        ("bytes=0-99", 206, b"hello\n", "bytes 0-5/6"),
        ("bytes= 1 - 2 ,", 206, b"el", "bytes 1-2/6"),
        ("bytes=9-", 416, b"invalid range: failed to overlap\n", "bytes */6"),
        ("bytes=x", 416, b"invalid range\n", None),
        ("items=0-1", 416, b"invalid range\n", None),
        ("bytes=4-2", 416, b"invalid range\n", None),
        ("bytes=-", 416, b"invalid range\n", None),
        ("bytes=0-100,0-100", 200, b"hello\n", None),
        ("", 200, b"hello\n", None),
    ],
)
def test_parts_of_a_file(header: str, status: int, body: bytes, span: str | None) -> None:
    answer = asked(Range=header)
    assert (answer.status, answer.body, dict(answer.headers).get("Content-Range")) == (status, body, span)
    assert is_error_text(answer) is (status == 416)


def test_several_parts_come_as_one_message() -> None:
    answer = asked(Range="bytes=0-0,2-3,9-")
    kind, _, boundary = dict(answer.headers)["Content-Type"].partition("; boundary=")
    assert (answer.status, kind) == (206, "multipart/byteranges")
    parts = answer.body.split(f"--{boundary}".encode())
    assert parts[1] == b"\r\nContent-Range: bytes 0-0/6\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nh\r\n"
    assert parts[2].endswith(b"\r\n\r\nll\r\n")
    assert parts[3] == b"--\r\n"


def test_many_small_parts_are_answered_with_the_whole() -> None:
    assert len(parse_ranges("bytes=" + ",".join(["0-0"] * 100), 1000)) == 100
    assert parse_ranges("bytes=" + ",".join(["0-0"] * 101), 1000) == []


def test_an_empty_file_has_no_part_to_miss() -> None:
    assert parse_ranges("bytes=0-", 0) == []
    with pytest.raises(RangeInvalid):
        parse_ranges("bytes=a-", 0)


@pytest.mark.parametrize(("date", "status"), [(http_date(MTIME_S), 206), (AFTER, 200), ('"tag"', 200)])
def test_a_part_of_an_older_version_is_not_sent(date: str, status: int) -> None:
    assert asked(Range="bytes=0-1", If_Range=date).status == status


def test_a_folder_is_a_page_of_links() -> None:
    page = listing(200, ["d/", "a:b.txt", "<x> é.txt"], MTIME_S).body.decode()
    assert '<a href="d/">d/</a>\n<a href="./a:b.txt">a:b.txt</a>\n' in page
    assert '<a href="%3Cx%3E%20%C3%A9.txt">&lt;x&gt; é.txt</a>' in page
