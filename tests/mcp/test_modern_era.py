"""The modern envelope and the listen filter."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.mcp.classify import META_CAPABILITIES, META_VERSION, ModernRequest
from kernel.mcp.jsonrpc import ProtocolError, Request
from kernel.mcp.modern_era import (
    LOG_LEVELS,
    META_CLIENT,
    META_LOG_LEVEL,
    META_TASK,
    MODERN_METHODS,
    Discover,
    Listen,
    client_name,
    reaches,
    read_envelope,
    read_operation,
)
from kernel.mcp.params import SHARED_METHODS, ListTools

TASK = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


def modern(method: str = "tools/list", params: dict[str, Any] | None = None, **meta: Any) -> ModernRequest:
    full = {META_VERSION: "2026-07-28", META_CAPABILITIES: {}, **meta}
    return ModernRequest(Request(1, method, params or {}), params or {}, full)


def test_the_era_has_its_own_method_table() -> None:
    own = {"server/discover", "subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel"}
    assert set(MODERN_METHODS) == {*SHARED_METHODS, *own}
    assert read_operation(modern("server/discover")) == Discover()
    assert read_operation(modern()) == ListTools()


def test_an_envelope_is_read_whole() -> None:
    envelope = read_envelope(
        modern(
            **{
                META_CAPABILITIES: {"elicitation": {}, "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": []}}},
                META_CLIENT: {"name": "c", "version": "1"},
                META_LOG_LEVEL: "warning",
                "progressToken": 0,
                META_TASK: TASK.upper(),
                "traceparent": "00-x",
            }
        )
    )
    assert (envelope.has_form, envelope.has_apps) == (True, True)
    assert (envelope.log_level, envelope.progress_token) == ("warning", 0)
    assert envelope.task_id == TASK
    assert client_name(envelope.client_info) == "c/1"


@pytest.mark.parametrize(
    "meta",
    [
        {META_CAPABILITIES: []},
        {META_CAPABILITIES: None},
        {META_LOG_LEVEL: "loud"},
        {META_LOG_LEVEL: 5},
        {META_LOG_LEVEL: []},
        {"progressToken": True},
        {"progressToken": 1.5},
        {"progressToken": {}},
        {META_TASK: None},
        {META_TASK: ""},
        {META_TASK: 7},
        {META_TASK: "not-a-uuid"},
        {META_TASK: TASK[:35]},
        {META_TASK: "{" + TASK + "}"},
        {META_TASK: TASK.replace("-", "")},
    ],
)
def test_a_malformed_envelope_is_invalid_params(meta: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_envelope(modern(**meta))
    assert caught.value.code == -32602


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ({"name": "c", "version": "1"}, "c/1"),
        ({"name": "c"}, "c"),
        ({"name": 5}, ""),
        ("c", ""),
        ([], ""),
        (None, ""),
    ],
)
def test_a_client_of_any_shape_is_served_under_the_name_it_has(info: Any, name: str) -> None:
    assert client_name(read_envelope(modern(**{META_CLIENT: info})).client_info) == name


@pytest.mark.parametrize(
    ("notifications", "expected"),
    [
        ({}, Listen(wants_tools=False, wants_prompts=False)),
        ({"toolsListChanged": True}, Listen(wants_tools=True, wants_prompts=False)),
        (
            {"promptsListChanged": True, "resourcesListChanged": True, "resourceSubscriptions": ["u"], "taskIds": []},
            Listen(wants_tools=False, wants_prompts=True),
        ),
    ],
)
def test_a_listen_filter_is_read(notifications: dict[str, Any], expected: Listen) -> None:
    assert read_operation(modern("subscriptions/listen", {"notifications": notifications})) == expected


@pytest.mark.parametrize(
    "notifications",
    [
        None,
        [],
        "x",
        {"toolsListChanged": "yes"},
        {"resourceSubscriptions": "u"},
        {"resourceSubscriptions": [5]},
        {"taskIds": "u"},
    ],
)
def test_a_malformed_listen_filter_is_invalid_params(notifications: Any) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_operation(modern("subscriptions/listen", {"notifications": notifications}))
    assert caught.value.code == -32602


def test_levels_are_ordered_and_nothing_reaches_a_client_that_did_not_ask() -> None:
    for index, level in enumerate(LOG_LEVELS):
        assert not reaches(level, None)
        assert [reaches(other, level) for other in LOG_LEVELS] == [other >= index for other in range(len(LOG_LEVELS))]
