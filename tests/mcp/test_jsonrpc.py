"""JSON-RPC messages from bytes: ids by type and presence, envelopes, batches, and what is no JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.mcp.jsonrpc import (
    HTTP_STATUS,
    Batch,
    Notification,
    ProtocolError,
    Reply,
    Request,
    encode,
    is_request_id,
    notification_message,
    parse,
    parse_value,
    request_message,
    sse_event,
)
from kernel.mcp.limits import BATCH_ENTRIES_MAX, JSON_DEPTH_MAX


def message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def refused(body: bytes) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        parse(body)
    return caught.value


@pytest.mark.parametrize("id", [0, 1, -5, "", "a", "5", 2**53 + 1, 10**30])
def test_an_id_is_kept_with_its_type_and_value(id: int | str) -> None:
    parsed = parse(message(id=id, method="ping"))
    assert isinstance(parsed, Request)
    assert parsed.id == id
    assert type(parsed.id) is type(id)
    assert json.loads(encode(request_message(parsed.id, "ping", {})))["id"] == id


@pytest.mark.parametrize("id", [None, True, False, 1.5, 1.0, [], {}])
def test_a_present_id_of_another_type_is_a_broken_request_and_never_a_notification(id: Any) -> None:
    error = refused(message(id=id, method="tools/list"))
    assert (error.code, error.status) == (-32600, 400)
    assert "id" not in error.object()
    assert not is_request_id(id)


def test_a_message_without_the_key_is_a_notification_whatever_its_parameters() -> None:
    assert parse(message(method="x")) == Notification("x", None)
    assert parse(message(method="x", params={"a": 1})) == Notification("x", {"a": 1})
    assert parse(message(method="x", params=[1])) == Notification("x", None)


@pytest.mark.parametrize(
    ("body", "code", "id"),
    [
        (b"", -32700, None),
        (b"{", -32700, None),
        (b"nonsense", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":Infinity}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e400}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"9" * 5000 + b"}}", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud83d tail"}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\udc00":1}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xff"}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","extra":"\xff"}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', -32700, None),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700, None),
        (b"3", -32600, None),
        (b'"x"', -32600, None),
        (b"null", -32600, None),
        (b"[]", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
        (b'{"id":1,"method":"ping"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":"a"}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1),
        (b'{"jsonrpc":"2.0","method":5}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', -32600, 1),
        (b'{"jsonrpc":"2.0","result":{}}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602, 1),
        (b'{"jsonrpc":"2.0","id":0,"method":"ping","params":null}', -32602, 0),
    ],
)
def test_a_broken_body_is_refused_and_its_id_echoed_where_it_can_be_read(body: bytes, code: int, id: Any) -> None:
    error = refused(body)
    assert (error.code, error.status) == (code, 400)
    assert error.object().get("id") == id
    assert ("id" in error.object()) == (id is not None)


def test_leading_white_space_does_not_change_a_message() -> None:
    assert parse(b' \n{"jsonrpc":"2.0","id":1,"method":"ping"}') == Request(1, "ping", None)


def test_a_posted_response_is_a_reply() -> None:
    assert parse(message(id=3, result={"ok": True})) == Reply(3, {"ok": True})
    error = parse(message(id="s", error={"code": 1, "message": "x"}))
    assert isinstance(error, Reply)
    assert error.error == {"code": 1, "message": "x"}


def nested(depth: int, opening: str, closing: str, innermost: str) -> bytes:
    # The message itself is the first level, params the second.
    inner = opening * (depth - 2) + innermost + closing * (depth - 2)
    return f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{inner}}}}}'.encode()


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_bounded_at_the_limit_and_one_past_it(opening: str, closing: str) -> None:
    assert isinstance(parse(nested(JSON_DEPTH_MAX, opening, closing, "1")), Request)
    assert refused(nested(JSON_DEPTH_MAX + 1, opening, closing, "1")).code == -32700


def test_hopeless_nesting_is_a_parse_error_and_no_crash() -> None:
    assert refused(nested(100_000, "[", "]", "")).code == -32700
    assert refused(b"[" * 100_000 + b"]" * 100_000).code == -32700


def test_a_wide_message_is_not_deep() -> None:
    wide = message(id=1, method="ping", params={"x": [[] for _ in range(500)]})
    assert isinstance(parse(wide), Request)


def test_a_batch_keeps_its_broken_entries_as_errors() -> None:
    parsed = parse(
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"n"},7,{"jsonrpc":"2.0","id":2}]'
    )
    assert isinstance(parsed, Batch)
    request, notification, scalar, no_method = parsed.entries
    assert request == Request(1, "ping", None)
    assert notification == Notification("n", None)
    assert isinstance(scalar, ProtocolError)
    assert "id" not in scalar.object()
    assert isinstance(no_method, ProtocolError)
    assert no_method.object()["id"] == 2


def test_a_batch_is_bounded_at_the_limit_and_one_past_it() -> None:
    entry = {"jsonrpc": "2.0", "method": "n"}
    assert isinstance(parse(json.dumps([entry] * BATCH_ENTRIES_MAX).encode()), Batch)
    assert refused(json.dumps([entry] * (BATCH_ENTRIES_MAX + 1)).encode()).code == -32600


def test_an_error_may_carry_data_and_a_status_of_its_own() -> None:
    error = ProtocolError(-32600, "no", data={"a": 1}, status=404)
    assert error.object() == {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no", "data": {"a": 1}}}
    assert error.status == 404
    assert ProtocolError(-32601, "no").status == HTTP_STATUS[-32601] == 404


def test_an_event_is_one_data_line() -> None:
    event = sse_event(notification_message("n", {"text": "a\nb"}))
    assert event.startswith(b"event: message\ndata: {")
    assert event.endswith(b"}\n\n")
    assert event.count(b"\n") == 3
    assert json.loads(event.split(b"data: ")[1]) == {"jsonrpc": "2.0", "method": "n", "params": {"text": "a\nb"}}
    assert notification_message("n") == {"jsonrpc": "2.0", "method": "n"}


def test_our_own_values_are_read_back() -> None:
    assert parse_value(b'{"a":[1,2]}') == {"a": [1, 2]}


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_refusal(body: bytes) -> None:
    code = 0
    try:
        parse(body)
    except ProtocolError as error:
        code = error.code
    assert code in (0, -32700, -32600, -32602)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(st.integers() | st.text(st.characters(exclude_categories=["Cs"])), st.dictionaries(st.text("abc"), values))
def test_a_well_formed_request_survives(id: int | str, params: dict[str, Any]) -> None:
    if isinstance(id, int) and abs(id) >= 10**300:
        return
    parsed = parse(message(id=id, method="m", params=params))
    assert parsed == Request(id, "m", params)
