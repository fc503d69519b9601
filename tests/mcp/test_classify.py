"""The validation ladder, rung by rung, and the choice of an era."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.mcp.classify import (
    Dropped,
    HandshakeMessage,
    HeaderParameter,
    ModernRequest,
    check_transport,
    classify,
    header_parameters,
)
from kernel.mcp.heads import read_head
from kernel.mcp.jsonrpc import Batch, Notification, ProtocolError, Reply, Request, parse
from kernel.mcp.modern_era import MODERN_METHODS
from kernel.wire import Headers
from tests.mcp.world import CC, MODERN, PV, modern_body, modern_headers, old_headers

MIRRORED = {
    "t": [
        HeaderParameter("mcp-param-region", ("region",), "string"),
        HeaderParameter("mcp-param-deep", ("a", "count"), "integer"),
        HeaderParameter("mcp-param-flag", ("flag",), "boolean"),
    ]
}


def judge(headers: list[tuple[str, str]], body: bytes, mirrored: Any = None) -> Any:
    head = read_head(Headers((name.lower(), value) for name, value in headers))
    return classify(head, parse(body), MODERN_METHODS, mirrored or {})


def refused(headers: list[tuple[str, str]], body: bytes, mirrored: Any = None) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        judge(headers, body, mirrored)
    return caught.value


def message(method: str, params: Any = None, id: Any = 1) -> bytes:
    full = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        full["params"] = params
    return json.dumps(full).encode()


CALL = {"name": "t", "arguments": {}}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("content-type", "application/json")], None),
        ([("content-type", "application/json"), ("accept", "text/event-stream")], None),
        ([("content-type", "text/plain"), ("accept", "*/*")], 415),
        ([("accept", "*/*")], 415),
        ([("content-type", "application/json"), ("accept", "text/html")], 406),
    ],
)
def test_the_transport_is_judged_before_the_body(headers: list[tuple[str, str]], status: int | None) -> None:
    head = read_head(Headers(headers))
    if status is None:
        check_transport(head)
        return
    with pytest.raises(ProtocolError) as caught:
        check_transport(head)
    assert caught.value.status == status


def test_a_modern_request_passes_with_its_parameters_and_meta() -> None:
    kind = judge(modern_headers("tools/call", CALL), modern_body("tools/call", CALL))
    assert isinstance(kind, ModernRequest)
    assert kind.params["name"] == "t"
    assert kind.meta == {PV: MODERN, CC: {}}


META = {PV: MODERN, CC: {}}


@pytest.mark.parametrize(
    ("case", "headers", "body", "code", "status"),
    [
        ("no params", modern_headers("tools/list"), message("tools/list"), -32602, 400),
        ("empty params", modern_headers("tools/list"), message("tools/list", {}), -32602, 400),
        ("_meta null", modern_headers("tools/list"), message("tools/list", {"_meta": None}), -32602, 400),
        ("_meta array", modern_headers("tools/list"), message("tools/list", {"_meta": []}), -32602, 400),
        ("no version", modern_headers("tools/list"), message("tools/list", {"_meta": {CC: {}}}), -32602, 400),
        ("no capabilities", modern_headers("tools/list"), message("tools/list", {"_meta": {PV: MODERN}}), -32602, 400),
        (
            "version no string",
            modern_headers("tools/list"),
            message("tools/list", {"_meta": {PV: 5, CC: {}}}),
            -32602,
            400,
        ),
        (
            "no version header",
            modern_headers("tools/list", extra={"MCP-Protocol-Version": None}),
            modern_body("tools/list"),
            -32020,
            400,
        ),
        (
            "handshake header, modern body",
            modern_headers("tools/list", extra={"MCP-Protocol-Version": "2025-11-25"}),
            modern_body("tools/list"),
            -32020,
            400,
        ),
        (
            "modern header, unknown body",
            modern_headers("tools/list"),
            modern_body("tools/list", meta={PV: "v999.0.0"}),
            -32020,
            400,
        ),
        (
            "unknown header, modern body",
            modern_headers("tools/list", extra={"MCP-Protocol-Version": "v999.0.0"}),
            modern_body("tools/list"),
            -32020,
            400,
        ),
        (
            "unknown version in both",
            modern_headers("tools/list", extra={"MCP-Protocol-Version": "v999.0.0"}),
            modern_body("tools/list", meta={PV: "v999.0.0"}),
            -32022,
            400,
        ),
        (
            "handshake version in both",
            modern_headers("tools/list", extra={"MCP-Protocol-Version": "2025-06-18"}),
            modern_body("tools/list", meta={PV: "2025-06-18"}),
            -32022,
            400,
        ),
        (
            "no method header",
            modern_headers("tools/list", extra={"Mcp-Method": None}),
            modern_body("tools/list"),
            -32020,
            400,
        ),
        (
            "other case of the method",
            modern_headers("tools/list", extra={"Mcp-Method": "TOOLS/LIST"}),
            modern_body("tools/list"),
            -32020,
            400,
        ),
        (
            "no name header",
            modern_headers("tools/call", CALL, extra={"Mcp-Name": None}),
            modern_body("tools/call", CALL),
            -32020,
            400,
        ),
        (
            "other name",
            modern_headers("tools/call", CALL, extra={"Mcp-Name": "T"}),
            modern_body("tools/call", CALL),
            -32020,
            400,
        ),
        (
            "malformed wrapped name",
            modern_headers("tools/call", CALL, extra={"Mcp-Name": "=?base64?dA?="}),
            modern_body("tools/call", CALL),
            -32020,
            400,
        ),
        ("unknown method", modern_headers("no/such"), modern_body("no/such"), -32601, 404),
        ("initialize", modern_headers("initialize"), modern_body("initialize"), -32601, 404),
        ("ping", modern_headers("ping"), modern_body("ping"), -32601, 404),
        ("setLevel", modern_headers("logging/setLevel"), modern_body("logging/setLevel"), -32601, 404),
        ("subscribe", modern_headers("resources/subscribe"), modern_body("resources/subscribe"), -32601, 404),
        ("unsubscribe", modern_headers("resources/unsubscribe"), modern_body("resources/unsubscribe"), -32601, 404),
        ("initialize without meta", modern_headers("initialize"), message("initialize", {}), -32602, 400),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_rung_refuses_with_its_own_code(
    case: str, headers: list[tuple[str, str]], body: bytes, code: int, status: int
) -> None:
    error = refused(headers, body)
    assert (error.code, error.status, error.request_id) == (code, status, 1), case


def test_the_rungs_are_tried_in_order() -> None:
    everything_wrong = modern_headers("tools/list", extra={"MCP-Protocol-Version": "v9", "Mcp-Method": "x"})
    # Missing fields come before the comparison, the comparison before the version, the version before the method.
    assert refused(everything_wrong, message("no/such", {})).code == -32602
    assert refused(everything_wrong, modern_body("no/such")).code == -32020
    unknown_version = modern_headers("no/such", extra={"MCP-Protocol-Version": "v9"})
    assert refused(unknown_version, modern_body("no/such", meta={PV: "v9"})).code == -32022
    twice = [*modern_headers("tools/list"), ("MCP-Protocol-Version", MODERN)]
    assert refused(twice, message("tools/list", {})).code == -32020


def test_an_unsupported_version_says_what_is_served_and_echoes_what_was_asked() -> None:
    headers = modern_headers("tools/list", extra={"MCP-Protocol-Version": "2031-01-01"})
    error = refused(headers, modern_body("tools/list", meta={PV: "2031-01-01"}))
    assert error.message == "Unsupported protocol version"
    assert error.data == {"supported": [MODERN], "requested": "2031-01-01"}


def test_an_unknown_version_of_a_handshake_client_is_called_by_its_name() -> None:
    error = refused(old_headers("s", {"MCP-Protocol-Version": "1999-01-01"}), message("tools/list", {}))
    assert error.code == -32602
    assert "Unsupported protocol version" in error.message
    assert error.data == {"missing": [PV, CC]}


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_a_repeated_routing_header_cannot_mirror_anything(name: str) -> None:
    headers = modern_headers("tools/call", CALL)
    value = dict(headers)[name]
    assert refused([*headers, (name, value)], modern_body("tools/call", CALL)).code == -32020


def test_names_and_uris_may_be_wrapped_and_are_not_demanded_where_the_body_has_none() -> None:
    params = {"uri": "help://é"}
    headers = modern_headers("resources/read", extra={"Mcp-Name": "=?base64?aGVscDovL8OpPz0=?="})
    assert refused(headers, modern_body("resources/read", params)).code == -32020
    headers = modern_headers("resources/read", extra={"Mcp-Name": "=?base64?aGVscDovL8Op?="})
    assert isinstance(judge(headers, modern_body("resources/read", params)), ModernRequest)
    for body_params in ({}, {"name": 5}):
        kind = judge(modern_headers("tools/call"), modern_body("tools/call", body_params))
        assert isinstance(kind, ModernRequest)


def test_header_names_are_compared_without_case() -> None:
    headers = [(name.upper(), value) for name, value in modern_headers("tools/list")]
    assert isinstance(judge(headers, modern_body("tools/list")), ModernRequest)


@pytest.mark.parametrize(
    ("arguments", "headers", "is_accepted"),
    [
        ({}, [], True),
        ({"region": None}, [], True),
        ({"region": "eu"}, [("Mcp-Param-Region", "eu")], True),
        ({"region": "eu"}, [("mcp-param-REGION", "=?base64?ZXU=?=")], True),
        ({"region": "=?base64?ZXU="}, [("Mcp-Param-Region", "=?base64?ZXU=")], True),
        ({"region": "eu"}, [], False),
        ({"region": "eu"}, [("Mcp-Param-Region", "us")], False),
        ({"region": "eu"}, [("Mcp-Param-Region", "=?base64?ZXU?=")], False),
        ({"region": "eu"}, [("Mcp-Param-Region", "=?base64?Z!U=?=")], False),
        ({"region": "eu"}, [("Mcp-Param-Region", "eu"), ("Mcp-Param-Region", "eu")], False),
        ({"region": None}, [("Mcp-Param-Region", "eu")], False),
        ({}, [("Mcp-Param-Region", "eu")], False),
        ({}, [("Mcp-Param-Other", "x")], True),
        ({"a": {"count": 42}}, [("Mcp-Param-Deep", "42")], True),
        ({"a": {"count": 42}}, [("Mcp-Param-Deep", "42.0")], True),
        ({"a": {"count": -3}}, [("Mcp-Param-Deep", "-3")], True),
        ({"a": {"count": 42}}, [("Mcp-Param-Deep", "43")], False),
        ({"a": {"count": 42}}, [("Mcp-Param-Deep", "many")], False),
        ({"a": {"count": "42"}}, [("Mcp-Param-Deep", "42")], True),
        ({"a": 5}, [], True),
        ({"flag": True}, [("Mcp-Param-Flag", "true")], True),
        ({"flag": False}, [("Mcp-Param-Flag", "false")], True),
        ({"flag": True}, [("Mcp-Param-Flag", "True")], False),
        ({"flag": "true"}, [("Mcp-Param-Flag", "true")], False),
        ({"region": True}, [("Mcp-Param-Region", "true")], True),
    ],
)
def test_mirrored_arguments_must_equal_their_headers(
    arguments: dict[str, Any], headers: list[tuple[str, str]], is_accepted: bool
) -> None:
    params = {"name": "t", "arguments": arguments}
    all_headers = [*modern_headers("tools/call", params), *headers]
    body = modern_body("tools/call", params)
    if is_accepted:
        assert isinstance(judge(all_headers, body, MIRRORED), ModernRequest)
    else:
        assert refused(all_headers, body, MIRRORED).code == -32020


def test_other_tools_and_methods_mirror_nothing() -> None:
    params = {"name": "other", "arguments": {"region": "eu"}}
    assert isinstance(
        judge(modern_headers("tools/call", params), modern_body("tools/call", params), MIRRORED), ModernRequest
    )
    assert isinstance(judge(modern_headers("tools/list"), modern_body("tools/list"), MIRRORED), ModernRequest)


def test_annotations_are_found_through_properties_only() -> None:
    tool = {
        "name": "t",
        "inputSchema": {
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "a": {"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Deep"}}},
                "flag": {"type": "boolean", "x-mcp-header": "Flag"},
                "list": {"type": "array", "items": {"properties": {"no": {"x-mcp-header": "No"}}}},
            },
        },
    }
    assert header_parameters([tool, {"name": "plain", "inputSchema": {"type": "object"}}]) == MIRRORED


# --- the choice of an era ---


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (None, message("tools/list")),
        (None, message("tools/list", {"_meta": {"progressToken": 1}})),
        ("2024-11-05", message("ping")),
        ("2025-03-26", message("ping")),
        ("2025-06-18", message("ping")),
        ("2025-11-25", message("ping")),
        (None, message("initialize", {"_meta": META})),  # initialize selects the handshake whatever its meta says
        ("2025-11-25", message("initialize", {})),
        (None, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()),
        (None, json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode()),
        (None, b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
    ],
)
def test_everything_without_modern_signs_follows_the_session_rules(version: str | None, body: bytes) -> None:
    headers = [] if version is None else [("mcp-protocol-version", version)]
    kind = judge(headers, body)
    assert isinstance(kind, HandshakeMessage)
    assert kind.header_version == version
    assert isinstance(kind.message, Request | Notification | Reply | Batch)


def test_a_modern_notification_is_accepted_and_dropped() -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}).encode()
    assert isinstance(judge(modern_headers("x"), body), Dropped)
    assert refused(modern_headers("x", extra={"MCP-Protocol-Version": "v9"}), body).code == -32022
    assert refused([*modern_headers("x"), ("mcp-protocol-version", MODERN)], body).code == -32020


@pytest.mark.parametrize(
    "body", [b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b'{"jsonrpc":"2.0","id":1,"result":{}}']
)
def test_the_modern_era_takes_no_batches_and_no_responses(body: bytes) -> None:
    error = refused(modern_headers("x"), body)
    assert (error.code, error.status) == (-32600, 400)
    assert "id" not in error.object()
