"""Routing headers: types, repeats, wrapped values."""

from __future__ import annotations

import base64

import pytest

from kernel.mcp.heads import decode_wrapped, read_head
from kernel.wire import Headers


def wrapped(value: bytes) -> str:
    return f"=?base64?{base64.b64encode(value).decode()}?="


@pytest.mark.parametrize(
    ("raw", "decoded"),
    [
        ("plain", "plain"),
        ("", ""),
        (wrapped("文件".encode()), "文件"),
        (wrapped(b""), ""),
        ("=?base64?YQ", "=?base64?YQ"),  # no suffix: literal
        ("YQ==?=", "YQ==?="),  # no prefix: literal
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?="),  # the marker is exact: literal
        ("=?base64?YQ?=", None),  # padding missing
        ("=?base64?Y===?=", None),
        ("=?base64?Y!==?=", None),  # not of the alphabet
        ("=?base64?YR==?=", None),  # not canonical: the last bits are not zero
        ("=?base64?Y Q==?=", None),
        (wrapped(b"\xff\xfe"), None),  # not UTF-8
        ("=?base64?é?=", None),
    ],
)
def test_a_header_value_is_unwrapped_only_if_it_is_canonical(raw: str, decoded: str | None) -> None:
    assert decode_wrapped(raw) == decoded


@pytest.mark.parametrize(
    ("accept", "json", "events"),
    [
        (None, True, False),
        ("*/*", True, True),
        ("application/*", True, False),
        ("text/*", False, True),
        ("application/json", True, False),
        ("text/event-stream", False, True),
        ("TEXT/Event-Stream , Application/JSON", True, True),
        ("application/json;q=0, text/event-stream", False, True),
        ("application/json; charset=utf-8; q=0.5", True, False),
        ("application/json;q=wrong", True, False),
        ("*/*;q=0, application/json", True, False),
        ("text/html", False, False),
        ("", False, False),
    ],
)
def test_accept_says_which_types_the_client_takes(accept: str | None, json: bool, events: bool) -> None:
    head = read_head(Headers([] if accept is None else [("accept", accept)]))
    assert (head.takes_json, head.takes_events) == (json, events)


def test_several_accept_headers_are_one_list() -> None:
    head = read_head(Headers([("accept", "application/json"), ("accept", "text/event-stream")]))
    assert (head.takes_json, head.takes_events) == (True, True)


@pytest.mark.parametrize(
    ("value", "is_json"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("text/plain", False),
        ("application/json-seq", False),
        (None, False),
    ],
)
def test_the_content_type_is_json_or_it_is_not(value: str | None, is_json: bool) -> None:
    assert read_head(Headers([] if value is None else [("content-type", value)])).has_json_body is is_json


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
def test_a_repeated_routing_header_is_named_even_if_both_values_agree(name: str) -> None:
    assert read_head(Headers([(name, "a"), (name, "a")])).repeated == name


def test_the_first_repeat_is_the_one_that_is_named_and_other_headers_may_repeat() -> None:
    head = read_head(
        Headers(
            [("content-type", "a"), ("content-type", "b"), ("mcp-name", "x"), ("mcp-name", "y"), ("mcp-method", "m")]
        )
    )
    assert head.repeated == "mcp-name"
    assert read_head(Headers([("content-type", "a"), ("content-type", "b")])).repeated is None
    twice = [("mcp-name", "x"), ("mcp-name", "y"), ("mcp-method", "m"), ("mcp-method", "n")]
    assert read_head(Headers(twice)).repeated == "mcp-name"


def test_a_head_says_its_version_method_name_and_parameters() -> None:
    head = read_head(
        Headers(
            [
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", wrapped("é".encode())),
                ("mcp-param-region", "eu"),
                ("mcp-param-region", "us"),
                ("authorization", "Token secret"),
            ]
        )
    )
    assert (head.version, head.method, head.name, head.has_bad_name) == ("2026-07-28", "tools/call", "é", False)
    assert head.parameters == (("mcp-param-region", "eu"), ("mcp-param-region", "us"))


def test_a_malformed_name_is_marked_and_an_absent_one_is_not() -> None:
    assert read_head(Headers([("mcp-name", "=?base64?!?=")])).has_bad_name
    assert not read_head(Headers([])).has_bad_name


def test_equal_heads_are_read_once_and_credentials_are_not_part_of_them() -> None:
    one = read_head(Headers([("mcp-method", "a"), ("authorization", "Token x")]))
    two = read_head(Headers([("authorization", "Token y"), ("mcp-method", "a")]))
    assert one is two
