"""What a line on standard input means, in both eras."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import ToolError
from kernel.mcp.jsonrpc import Batch, Notification, ProtocolError, Request
from kernel.stdio.limits import IN_FLIGHT_MAX
from kernel.stdio.session import Kind, Session, can_write, change_told, is_coordinated

META = "io.modelcontextprotocol/"
MODERN = {"_meta": {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {"elicitation": {}}}}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}, "extensions": {"io.modelcontextprotocol/ui": {}}},
    "clientInfo": {"name": "c", "version": "1"},
}


def opened(version: str = "2025-11-25") -> Session:
    session = Session()
    session.admit(Request(0, "initialize", {**INITIALIZE, "protocolVersion": version}))
    session.end(0)
    session.is_initialized = True
    return session


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("tools/call", Kind.TOOL),
        ("tools/list", Kind.REQUEST),
        ("server/discover", Kind.REQUEST),
        ("ping", Kind.REQUEST),
    ],
)
def test_a_modern_request_is_forwarded_as_it_is(method: str, kind: Kind) -> None:
    """Whatever it asks: the coordinator judges it."""
    params = {**MODERN, "name": "fs", "arguments": {}}
    task = Session().admit(Request("a", method, params))
    assert (task.kind, task.is_modern, task.params) == (kind, True, params)


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("tools/call", {"name": "fs", "arguments": {}}, Kind.TOOL),
        ("tools/list", None, Kind.REQUEST),
        ("ping", None, Kind.LOCAL),
        ("logging/setLevel", {"level": "info"}, Kind.LOCAL),
    ],
)
def test_a_handshake_request_is_put_into_the_modern_envelope(method: str, params: Any, kind: Kind) -> None:
    session = opened()
    session.log_level = "warning"
    task = session.admit(Request(1, method, params))
    assert (task.kind, task.is_modern) == (kind, False)
    if kind is not Kind.LOCAL:
        meta = task.params["_meta"]
        # R133: that era's convention is confirm:true, so its form is not declared.
        assert meta[f"{META}clientCapabilities"] == {"extensions": {"io.modelcontextprotocol/ui": {}}}
        assert meta[f"{META}clientInfo"] == {"name": "c", "version": "1"}
        assert meta[f"{META}logLevel"] == "warning"


def test_a_progress_token_stays_and_a_level_is_kept() -> None:
    session = opened()
    session.admit(Request(1, "logging/setLevel", {"level": "error"}))
    task = session.admit(Request(2, "tools/list", {"_meta": {"progressToken": 7}}))
    assert task.params["_meta"]["progressToken"] == 7
    assert task.params["_meta"][f"{META}logLevel"] == "error"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (Request(1, "no/such", None), -32601),
        (Request(1, "server/discover", None), -32601),
        (Request(1, "tools/call", {"name": 5}), -32602),
        (Request(1, "logging/setLevel", {"level": "loud"}), -32602),
        (Request(1, "initialize", {}), -32602),
        (Request(1, "tools/list", {"cursor": "x"}), -32602),
    ],
)
def test_what_the_era_does_not_know_is_refused_with_its_id(request_: Request, code: int) -> None:
    with pytest.raises(ProtocolError) as caught:
        opened().admit(request_)
    assert (caught.value.code, caught.value.object()["id"]) == (code, 1)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"])
def test_initialize_is_answered_with_a_revision_that_is_spoken_here(version: str) -> None:
    welcome = opened(version).welcome("Read first.")
    assert welcome["protocolVersion"] == (version if version[0] == "2" else "2025-11-25")
    assert welcome["instructions"] == "Read first."
    # Its control route is HTTP: a stdio client cannot reach it.
    assert list(welcome["capabilities"]["extensions"]) == ["io.modelcontextprotocol/ui"]


def test_ids_differ_by_type_and_one_in_flight_is_not_taken_again() -> None:
    """Decision 14, R213."""
    session = opened()
    for request_id in (5, "5", 0, ""):
        session.admit(Request(request_id, "tools/call", {"name": "fs"}))
        assert session.cancelled_id(cancel(request_id)) == (type(request_id), request_id)
    with pytest.raises(ToolError) as caught:
        session.admit(Request(5, "tools/call", {"name": "fs"}))
    assert caught.value.code == "duplicate_request"
    with pytest.raises(ProtocolError, match="in flight"):
        session.admit(Request(5, "tools/list", None))
    session.end(5)
    assert session.cancelled_id(cancel(5)) is None
    session.admit(Request(5, "tools/call", {"name": "fs"}))


def cancel(request_id: Any) -> Notification:
    return Notification("notifications/cancelled", {"requestId": request_id})


@pytest.mark.parametrize(
    "notification",
    [
        cancel(1.0),
        cancel(True),
        cancel(None),
        cancel("1"),
        cancel(2),
        Notification("notifications/cancelled", None),
        Notification("x", {"requestId": 1}),
    ],
)
def test_a_cancel_that_names_nothing_in_flight_is_ignored(notification: Notification) -> None:
    session = opened()
    session.admit(Request(1, "tools/list", None))
    assert session.cancelled_id(notification) is None


def test_256_requests_may_be_unanswered_and_the_next_is_told_so() -> None:
    session = opened()
    for number in range(IN_FLIGHT_MAX):
        session.admit(Request(number, "ping", None))
    with pytest.raises(ProtocolError) as caught:
        session.admit(Request("one more", "ping", None))
    assert caught.value.code == -32000


def test_batches_exist_in_one_revision() -> None:
    batch = Batch((Request(1, "ping", None),))
    opened("2025-03-26").check_batch(batch)
    for session in (opened(), Session()):
        with pytest.raises(ProtocolError):
            session.check_batch(batch)


def test_answers_lose_the_modern_words_in_the_handshake_era_only() -> None:
    session = opened()
    result = {
        "resultType": "complete",
        "ttlMs": 5,
        "cacheScope": "private",
        "tools": [],
        "_meta": {f"{META}serverInfo": {}, "own": 1},
    }
    handshake = session.admit(Request(1, "tools/list", None))
    assert session.undress(handshake, result) == {"tools": [], "_meta": {"own": 1}}
    assert session.undress(handshake, {"tools": []}) == {"tools": []}
    modern = session.admit(Request(2, "tools/list", MODERN))
    assert session.undress(modern, result) == result


def test_discovery_offers_what_works_over_stdio() -> None:
    session = Session()
    task = session.admit(Request(1, "server/discover", MODERN))
    extensions = {
        "io.siyuan.sisyphus/task-control": {},
        "io.modelcontextprotocol/ui": {},
        "io.modelcontextprotocol/tasks": {},
    }
    told = session.undress(task, {"capabilities": {"tools": {}, "extensions": extensions}, "instructions": "x"})
    assert told == {
        "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/ui": {}}},
        "instructions": "x",
    }
    assert session.undress(task, {"x": 1}) == {"x": 1}


def test_a_missing_resource_has_the_code_of_its_era() -> None:
    session = opened()
    error = {"code": -32602, "message": "Resource not found"}
    handshake = session.admit(Request(1, "resources/read", {"uri": "x:"}))
    assert session.error_of(handshake, error)["code"] == -32002
    assert session.error_of(session.admit(Request(2, "resources/read", MODERN)), error)["code"] == -32602
    assert session.error_of(session.admit(Request(3, "tools/list", None)), error)["code"] == -32602


@pytest.mark.parametrize(
    ("params", "may_write"),
    [
        ({"name": "fs", "arguments": {"action": "read"}}, False),
        ({"name": "fs", "arguments": {"action": "rm"}}, True),
        ({"name": "fs", "arguments": {"action": "delete"}}, True),
        ({"name": "fs", "arguments": {"action": "rm", "validateOnly": True}}, False),
        ({"name": "fs", "arguments": {"action": "rm", "validateOnly": "true"}}, True),
        ({"name": "fs", "arguments": {"action": "help"}}, False),
        ({"name": "fs", "arguments": {"action": "no such"}}, True),
        ({"name": "fs"}, False),
        ({"name": "no such", "arguments": {"action": "x"}}, False),
        ({"name": "file", "arguments": {"action": "export_resources"}}, True),
        ({"name": "av", "arguments": {"action": "render"}}, False),
        ({"name": "av", "arguments": {"action": "render", "createIfNotExist": True}}, True),
        ({"name": "extension", "arguments": {"action": "list"}}, False),
        ({"name": "extension", "arguments": {"action": "plugin__a__b"}}, True),
        ({"name": "extension", "arguments": {"action": "plugin__a__b", "validateOnly": True}}, True),
        ({"name": "extension", "arguments": {"action": "help"}}, False),
        ({"arguments": 5}, False),
    ],
)
def test_whether_a_lost_call_may_have_written(params: dict[str, Any], may_write: bool) -> None:
    assert can_write(params) is may_write
    is_preflight = (params.get("arguments") or {}).get("validateOnly") is True if "name" in params else False
    # A preflight goes to the one coordinator too, and writes nothing.
    assert is_coordinated(params) is (may_write or is_preflight)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {}}},
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
        ),
        ({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}, None),
        (5, None),
    ],
)
def test_a_change_is_told_without_the_marks_of_its_stream(message: Any, told: Any) -> None:
    assert change_told(message) == told
