"""Handshake rules: initialize, the method table, batches per revision."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.mcp.handshake_era import (
    HANDSHAKE_METHODS,
    SUBSCRIPTION_METHODS,
    Ping,
    SetLevel,
    Subscribe,
    check_batch,
    read_initialize,
    session_missing,
    session_not_found,
    sessionless_revision,
)
from kernel.mcp.jsonrpc import Batch, Notification, ProtocolError, Request
from kernel.mcp.modern_era import LOG_LEVELS
from kernel.mcp.params import SHARED_METHODS
from kernel.mcp.versions import HANDSHAKE_REVISIONS, LATEST_HANDSHAKE, MODERN, is_handshake, negotiate

GOOD = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


def test_the_era_has_its_own_method_table() -> None:
    assert set(HANDSHAKE_METHODS) == {*SHARED_METHODS, "ping", "logging/setLevel"}
    assert HANDSHAKE_METHODS["ping"]({}) == Ping()
    assert SUBSCRIPTION_METHODS["resources/subscribe"]({"uri": "u"}) == Subscribe("u", is_wanted=True)
    assert SUBSCRIPTION_METHODS["resources/unsubscribe"]({"uri": "u"}) == Subscribe("u", is_wanted=False)


@pytest.mark.parametrize("level", LOG_LEVELS)
def test_a_known_level_is_set(level: str) -> None:
    assert HANDSHAKE_METHODS["logging/setLevel"]({"level": level}) == SetLevel(level)


@pytest.mark.parametrize("params", [{}, {"level": "loud"}, {"level": 5}])
def test_an_unknown_level_is_invalid_params(params: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as caught:
        HANDSHAKE_METHODS["logging/setLevel"](params)
    assert caught.value.code == -32602


def test_initialize_is_read_and_negotiated() -> None:
    asked = read_initialize(GOOD)
    assert asked.revision.name == "2025-06-18"
    assert asked.client_info == GOOD["clientInfo"]


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {**GOOD, "protocolVersion": 5},
        {key: value for key, value in GOOD.items() if key != "capabilities"},
        {**GOOD, "clientInfo": []},
    ],
)
def test_initialize_without_its_three_members_is_invalid_params(params: dict[str, Any] | None) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_initialize(params)
    assert caught.value.code == -32602


@pytest.mark.parametrize("asked", [*HANDSHAKE_REVISIONS, MODERN, "1999-01-01", ""])
def test_negotiation_answers_the_same_revision_or_the_latest(asked: str) -> None:
    assert negotiate(asked).name == (asked if asked in HANDSHAKE_REVISIONS else LATEST_HANDSHAKE)
    assert is_handshake(asked) is (asked in HANDSHAKE_REVISIONS)
    assert is_handshake(None)


PING = Request(1, "ping", None)


@pytest.mark.parametrize("name", HANDSHAKE_REVISIONS)
def test_batches_exist_in_one_revision_only_and_only_in_a_session(name: str) -> None:
    batch = Batch((PING, Notification("n", None)))
    revision = HANDSHAKE_REVISIONS[name]
    if name == "2025-03-26":
        check_batch(batch, revision, has_session=True)
    else:
        with pytest.raises(ProtocolError) as caught:
            check_batch(batch, revision, has_session=True)
        assert (caught.value.code, caught.value.status) == (-32600, 400)
    with pytest.raises(ProtocolError):
        check_batch(batch, revision, has_session=False)


def test_initialize_is_no_part_of_a_batch() -> None:
    with pytest.raises(ProtocolError) as caught:
        check_batch(Batch((PING, Request(2, "initialize", GOOD))), HANDSHAKE_REVISIONS["2025-03-26"], has_session=True)
    assert caught.value.code == -32600


def test_requests_outside_a_session_speak_what_their_header_says() -> None:
    assert sessionless_revision(None).name == "2025-03-26"
    assert sessionless_revision("2025-11-25").name == "2025-11-25"


def test_session_refusals_have_statuses_of_their_own() -> None:
    assert session_not_found().status == 404
    assert session_missing().status == 400
