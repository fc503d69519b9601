"""How the official endpoint reads a message, names a tool and agrees on a version."""

from __future__ import annotations

import pytest

from kernel.siyuan.native_mcp.protocol import (
    Unreadable,
    agreed_version,
    error,
    introduction,
    is_known,
    read_message,
    result,
    text_result,
    tool_named,
)


def test_member_names_count_in_any_case_and_the_last_one_wins() -> None:
    message = read_message(
        b'{"JSONRPC":"1.0","jsonRpc":"2.0","Method":"ping","id":1,"other":5,"PARAMS":{"a":[{"b":1}]}}'
    )
    assert (message.jsonrpc, message.method, message.id) == ("2.0", "ping", 1)
    assert message.params == {"a": [{"b": 1}]}
    assert message.is_valid


@pytest.mark.parametrize("body", [b'{"jsonrpc":"2.0","method":"ping"}', b'{"jsonrpc":"2.0","method":"ping","id":null}'])
def test_a_missing_id_and_a_null_one_make_a_notification(body: bytes) -> None:
    assert read_message(body).is_notification


@pytest.mark.parametrize("identifier", [b"0", b'""', b"true", b"1.5", b"[]", b"{}"])
def test_any_other_id_asks_for_an_answer(identifier: bytes) -> None:
    assert not read_message(b'{"jsonrpc":"2.0","method":"ping","id":' + identifier + b"}").is_notification


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{bad",
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'"text"',
        b"5",
        b"{} {}",
        b'{"jsonrpc":2}',
        b'{"method":["ping"]}',
        b'{"id":NaN}',
        b'{"id":1e400}',
        b"[" * 100_000,
    ],
)
def test_what_is_not_one_object_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read_message(body)


@pytest.mark.parametrize("body", [b"null", b"{}", b'{"jsonrpc":null,"method":null}', b'{"jsonrpc":"2.0"}'])
def test_a_readable_message_may_still_be_invalid(body: bytes) -> None:
    assert not read_message(body).is_valid


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("block", "block"),
        (" Block ", "block"),
        ("siyuan_block", "block"),
        ("SIYUAN_BLOCK", "block"),
        ("siyuan_siyuan_block", None),
        ("blocks", None),
        ("", None),
    ],
)
def test_blanks_case_and_a_prefix_do_not_count_in_a_tools_name(wanted: str, found: str | None) -> None:
    assert tool_named(["attr", "block"], wanted) == found


def test_a_known_version_is_agreed_on_and_any_other_is_the_default() -> None:
    assert agreed_version({"protocolVersion": "2024-11-05"}) == "2024-11-05"
    assert agreed_version({"protocolVersion": "2026-07-28"}) == "2026-07-28"
    assert [
        agreed_version(one) for one in ({"protocolVersion": "1999-01-01"}, {"protocolVersion": 5}, {}, None, [])
    ] == ["2025-06-18"] * 5


def test_each_way_of_talking_has_methods_of_its_own() -> None:
    assert not is_known("initialize", is_stateless=True)
    assert not is_known("server/discover", is_stateless=False)
    assert is_known("tools/call", is_stateless=True)
    assert not is_known("TOOLS/LIST", is_stateless=True)


def test_only_a_failure_carries_the_mark_of_one() -> None:
    assert text_result("a") == {"content": [{"type": "text", "text": "a"}]}
    assert text_result("a", is_error=True)["isError"] is True


@pytest.mark.parametrize(
    ("digits", "read"),
    [
        ("9007199254740993", 9007199254740992),
        ("12345678901234567890", 12345678901234567000),
        ("1000000000000000000000", 1e21),
        ("-9007199254740993", -9007199254740992),
    ],
)
def test_a_whole_number_beyond_a_double_is_the_nearest_one(digits: str, read: float) -> None:
    assert read_message(f'{{"jsonrpc":"2.0","method":"ping","id":{digits}}}'.encode()).id == read


def test_an_answer_repeats_the_id_it_is_for() -> None:
    message = read_message(b'{"jsonrpc":"2.0","method":"ping","id":"7"}')
    assert result(message, {}) == {"jsonrpc": "2.0", "result": {}, "id": "7"}
    assert error(None, (-32700, "Parse error")) == {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "Parse error"},
        "id": None,
    }


def test_the_endpoint_introduces_itself_with_the_agreed_version() -> None:
    said = introduction("2025-06-18")
    assert said["protocolVersion"] == "2025-06-18"
    assert said["serverInfo"] == {"name": "SiYuan", "version": "3.7.3"}
    assert said["capabilities"] == {"tools": {"listChanged": False}}
