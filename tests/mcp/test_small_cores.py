"""Capabilities, dressed results, HTTP answers, principals: small pure modules."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.mcp.answers import ACCEPTED, answer, method_not_allowed, refusal
from kernel.mcp.capabilities import Offer, declares, has_apps, has_form_elicitation, missing_capability
from kernel.mcp.heads import read_head
from kernel.mcp.jsonrpc import ProtocolError
from kernel.mcp.principals import LOCAL, principal_of
from kernel.mcp.results import CACHE_TTL_MS, HandshakeDress, ModernDress, tool_result
from kernel.tools.service import ToolResult
from kernel.wire import Headers, Request
from tests.mcp.world import drain

UI = "io.modelcontextprotocol/ui"
SERVER = "io.modelcontextprotocol/serverInfo"


@pytest.mark.parametrize(
    ("capabilities", "has_form"),
    [
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"form": {}, "url": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": {"form": None}}, False),
        ({"elicitation": True}, False),
        ({"elicitation": None}, False),
        ({}, False),
    ],
)
def test_form_support_is_an_empty_declaration_or_a_form(capabilities: dict[str, Any], has_form: bool) -> None:
    assert has_form_elicitation(capabilities) is has_form


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [({"extensions": {UI: {}}}, True), ({"extensions": {UI: None}}, False), ({"extensions": []}, False), ({}, False)],
)
def test_apps_are_an_extension_of_the_client(capabilities: dict[str, Any], expected: bool) -> None:
    assert has_apps(capabilities) is expected


def test_a_missing_capability_is_named_as_an_object() -> None:
    error = missing_capability({"sampling": {}})
    assert (error.code, error.status) == (-32021, 400)
    assert error.data == {"requiredCapabilities": {"sampling": {}}}
    assert declares({"sampling": {}}, "sampling")
    assert not declares({"sampling": True}, "sampling")


def test_the_offer_is_the_same_in_both_eras_but_for_what_only_one_has() -> None:
    product = Offer()
    shared = {**product.modern(), "extensions": dict(product.modern()["extensions"])}
    assert shared["extensions"].pop("io.modelcontextprotocol/tasks") == {}
    assert product.handshake() == shared
    assert set(product.modern()) == {"tools", "resources", "prompts", "completions", "logging", "extensions"}
    assert product.modern()["tools"] == {"listChanged": True}
    assert product.modern()["extensions"]["io.siyuan.sisyphus/task-control"] == {
        "version": "2",
        "terminalResults": True,
    }
    fixtures = Offer(has_prompt_changes=True, has_resource_subscriptions=True)
    assert fixtures.handshake()["resources"] == {"subscribe": True}
    assert fixtures.modern()["resources"] == {}
    assert fixtures.modern()["prompts"] == {"listChanged": True}


def test_discovery_and_initialize_carry_instructions_where_there_are_any() -> None:
    offer = Offer()
    assert offer.discover("")["supportedVersions"] == ["2026-07-28"]
    assert "instructions" not in offer.discover("")
    assert "instructions" not in offer.initialized("2025-11-25", "")
    assert offer.discover("x")["instructions"] == "x"
    assert offer.initialized("2025-11-25", "x")["instructions"] == "x"
    assert offer.initialized("2025-11-25", "")["serverInfo"]["name"] == "sisyphus-kernel"


# --- results ---


def test_a_tool_result_says_only_what_it_has() -> None:
    assert tool_result(ToolResult([])) == {"content": []}
    full = tool_result(ToolResult([{"type": "text"}], {"a": 1}, is_error=True, meta={"k": 1}))
    assert full == {"content": [{"type": "text"}], "structuredContent": {"a": 1}, "isError": True, "_meta": {"k": 1}}


@pytest.mark.parametrize("method", [*CACHE_TTL_MS, "tools/call", "prompts/get", "completion/complete"])
def test_modern_results_have_a_type_and_a_server_and_the_cacheable_ones_their_hints(method: str) -> None:
    dressed = ModernDress({"name": "s"}).complete(method, {"a": 1})
    assert dressed["resultType"] == "complete"
    assert dressed["_meta"][SERVER] == {"name": "s"}
    assert ("ttlMs" in dressed) == ("cacheScope" in dressed) == (method in CACHE_TTL_MS)


def test_a_handlers_own_meta_is_kept() -> None:
    dress = ModernDress({"name": "s"})
    assert dress.complete("tools/call", {"_meta": {"k": 1, SERVER: "own"}})["_meta"] == {"k": 1, SERVER: "own"}
    assert dress.complete("tools/call", {})["_meta"] == {SERVER: {"name": "s"}}


def test_a_question_is_dressed_without_cache_hints() -> None:
    asked = ModernDress({"name": "s"}).question({"requestState": "x"})
    assert asked == {"resultType": "input_required", "requestState": "x", "_meta": {SERVER: {"name": "s"}}}


def test_the_handshake_wire_has_no_modern_words() -> None:
    dress = HandshakeDress()
    assert dress.complete("tools/list", {"tools": []}) == {"tools": []}
    assert dress.complete("tools/call", {"_meta": {"k": 1}}) == {"_meta": {"k": 1}}
    assert dress.complete("tools/call", {"a": 1, "_meta": {SERVER: {}, "k": 1}}) == {"a": 1, "_meta": {"k": 1}}
    assert dress.complete("tools/call", {"a": 1, "_meta": {SERVER: {}}}) == {"a": 1}
    with pytest.raises(AssertionError):
        dress.question({})


def test_errors_have_their_status_in_one_era_and_200_in_the_other() -> None:
    error = ProtocolError(-32601, "no")
    assert ModernDress({}).status(error) == 404
    assert HandshakeDress().status(error) == 200
    assert ModernDress({}).resource_not_found("u").code == -32602
    assert HandshakeDress().resource_not_found("u").code == -32002
    assert ModernDress({}).resource_not_found("u").data == {"uri": "u"}


# --- answers ---


async def test_an_answer_takes_the_form_the_client_takes() -> None:
    json_only = read_head(Headers([("accept", "application/json")]))
    events_only = read_head(Headers([("accept", "text/event-stream")]))
    plain = await drain(answer(json_only, b"{}", headers=(("X", "y"),)))
    assert (plain.status, plain.headers, plain.body) == (200, {"content-type": "application/json", "x": "y"}, b"{}")
    event = await drain(answer(events_only, b"{}"))
    assert event.body == b"event: message\ndata: {}\n\n"
    assert event.headers["content-type"] == "text/event-stream"
    assert "no-cache" in event.headers["cache-control"]
    assert event.headers["x-accel-buffering"] == "no"
    failed = await drain(answer(events_only, b"{}", 404))
    assert failed.headers["content-type"] == "application/json"


async def test_refusals_carry_status_headers_and_body() -> None:
    error = ProtocolError(-32000, "busy", request_id=0, headers=(("Retry-After", "1"),))
    reply = await drain(refusal(error))
    assert (reply.status, reply.headers["retry-after"], reply.message["id"]) == (503, "1", 0)
    assert (ACCEPTED.status, ACCEPTED.body) == (202, b"")
    assert method_not_allowed("POST").headers == (("Allow", "POST"),)


# --- principals ---


def principal(headers: list[tuple[str, str]], query: str = "") -> str:
    return principal_of(Request("POST", "/", "/", query, Headers(headers)))


def test_a_principal_is_the_credential_however_it_is_sent() -> None:
    assert principal([]) == principal([], "a=1") == principal([], "token=") == LOCAL
    token = principal([("authorization", "Token abc")])
    assert token != LOCAL
    assert "abc" not in token
    assert token == principal([("authorization", "bearer  abc")]) == principal([], "x=1&token=abc")
    assert token != principal([("authorization", "Token abd")])
    assert principal([("authorization", "Basic abc")]) not in (token, LOCAL)
