"""Tool ``system``: what is told of the kernel, how deep, and what never."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.notes import Notes, open_notes


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_notes(tmp_path) as opened:
        yield opened


async def test_version_time_workspace_and_network_are_told(notes: Notes) -> None:
    assert await notes.call("system", "get_version") == {"version": "3.7.3"}
    time = await notes.call("system", "get_current_time")
    assert (time["currentTime"], time["iso"]) == (notes.memory.clock.wall_ms(), "2026-03-01T09:00:00.000Z")
    assert "workspaceDir" in await notes.call("system", "workspace_info")
    assert isinstance(await notes.call("system", "network"), dict)


async def test_the_configuration_is_summed_up_to_the_depth_and_number_asked_for(notes: Notes) -> None:
    whole = await notes.call("system", "conf", maxItems=3)
    assert (whole["mode"], len(whole["topLevelKeys"]), whole["truncatedTopLevelKeys"]) == ("summary", 3, True)
    assert set(whole["summary"]) == set(whole["topLevelKeys"])
    shallow = await notes.call("system", "conf", mode="get", keyPath="editor", maxDepth=1, maxItems=2)
    assert shallow["value"]["type"] == "object"
    assert (len(shallow["value"]["keys"]), shallow["value"]["truncated"]) == (2, True)
    one = await notes.call("system", "conf", keyPath="editor.fontSize")
    assert (one["mode"], one["value"]) == ("get", {"type": "number", "value": 16, "truncated": False})
    missing = await notes.refused("system", "conf", mode="get", keyPath="editor.none")
    assert (missing["code"], "editor.none" in missing["message"]) == ("not_found", True)


@pytest.mark.parametrize(
    ("conf", "path", "value"),
    [
        ({"a": [1, "x", None]}, "a", {"type": "array", "length": 3, "truncated": True, "value": [
            {"type": "number", "value": 1, "truncated": False}, {"type": "string", "value": "x", "truncated": False}]}),
        ({"a": [1, "x", None]}, "a.2", {"type": "null", "value": None, "truncated": False}),
        ({"a": {"b": True}}, "a.b", {"type": "boolean", "value": True, "truncated": False}),
        ({"a": "x" * 201}, "a", {"type": "string", "length": 201, "value": "x" * 200, "truncated": True}),
        ({"a": "x" * 200}, "a", {"type": "string", "value": "x" * 200, "truncated": False}),
        ({"apiToken": {"x": 1}}, "apiToken.x", {"type": "string", "value": "[REDACTED]", "truncated": False}),
        ({"user": {"accessAuthCode": "s"}}, "user", {"type": "object", "keys": ["accessAuthCode"], "truncated": False,
            "value": {"accessAuthCode": {"type": "string", "value": "[REDACTED]", "truncated": False}}}),
    ],
)  # fmt: skip
async def test_a_value_is_told_with_its_type_and_secrets_never(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, conf: dict[str, Any], path: str, value: Any
) -> None:
    original = type(notes.host).call

    async def call(host: Any, asked: str, arguments: Any = None) -> Any:
        return {"conf": conf} if asked == "/api/system/getConf" else await original(host, asked, arguments)

    monkeypatch.setattr(type(notes.host), "call", call)
    told = await notes.call("system", "conf", mode="get", keyPath=path, maxItems=2)
    assert told["value"] == value


@pytest.mark.parametrize(("level", "code"), [("info", 0), ("error", -1)])
async def test_a_notification_is_pushed_to_the_windows(notes: Notes, level: str, code: int) -> None:
    notes.memory.frames.clear()
    told = await notes.call("system", "notify", msg="Look here", level=level)
    assert told["level"] == level
    assert [(frame["code"], frame["msg"]) for frame in notes.memory.frames if frame["msg"]] == [(code, "Look here")]


async def test_a_synchronisation_is_asked_for_and_its_answer_told(notes: Notes) -> None:
    result = await notes.raw("system", {"action": "perform_sync"})
    told = result.structured or {}
    assert told.get("ok") is True or told["error"]["code"] == "api_error"
