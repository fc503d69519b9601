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
    whole = await notes.call("system", "conf", maxItems=2)
    assert (whole["mode"], whole["topLevelKeys"], whole["truncatedTopLevelKeys"]) == (
        "summary",
        ["conf", "isPublish"],
        1,
    )
    assert whole["summary"]["entries"]["isPublish"] == {"type": "primitive", "value": False, "truncated": False}
    assert len(whole["summary"]["entries"]["conf"]["keysPreview"]) == 2
    shallow = await notes.call("system", "conf", mode="get", keyPath="conf.editor", maxDepth=1, maxItems=2)
    assert (shallow["value"]["type"], len(shallow["value"]["entries"]), shallow["value"]["truncated"]) == (
        "object",
        2,
        True,
    )
    one = await notes.call("system", "conf", mode="get", keyPath="conf.editor.fontSize")
    assert (one["mode"], one["value"]) == ("get", {"type": "primitive", "value": 16, "truncated": False})
    for path in ("conf.editor.none", "editor", "conf.langs[999]", None):
        missing = await notes.refused("system", "conf", mode="get", **({"keyPath": path} if path else {}))
        assert missing["type"] == "internal_error", path


@pytest.mark.parametrize(
    ("conf", "path", "value"),
    [
        ({"a": [1, "x", None]}, "conf.a", {"type": "array", "length": 3, "truncated": True, "omittedItems": 1, "items": [
            {"type": "primitive", "value": 1, "truncated": False}, {"type": "primitive", "value": "x", "truncated": False}]}),
        ({"a": [[1, None, True]]}, "conf.a", {"type": "array", "length": 1, "truncated": False, "omittedItems": 0, "items": [
            {"type": "array", "length": 3, "sampleTypes": ["number", "null"], "truncated": True, "omittedItems": 1}]}),
        ({"a": [[True, "s", {}], []]}, "conf.a[0]", {"type": "array", "length": 3, "truncated": True, "omittedItems": 1, "items": [
            {"type": "primitive", "value": True, "truncated": False}, {"type": "primitive", "value": "s", "truncated": False}]}),
        ({"a": [[True]]}, "conf", {"type": "object", "keyCount": 1, "truncated": False, "omittedKeys": 0, "entries": {
            "a": {"type": "array", "length": 1, "sampleTypes": ["array"], "truncated": True, "omittedItems": 0}}}),
        ({"a": [True]}, "conf", {"type": "object", "keyCount": 1, "truncated": False, "omittedKeys": 0, "entries": {
            "a": {"type": "array", "length": 1, "sampleTypes": ["boolean"], "truncated": True, "omittedItems": 0}}}),
        ({"a": [1, "x", None]}, "conf.a.2", {"type": "null", "value": None, "truncated": False}),
        ({"a": {"b": True}}, "conf.a.b", {"type": "primitive", "value": True, "truncated": False}),
        ({"apiToken": {"x": 1}}, "conf.apiToken.x", {"type": "primitive", "value": "[REDACTED]", "truncated": False}),
        ({"user": {"accessAuthCode": "s"}}, "conf.user", {"type": "object", "keyCount": 1, "truncated": False,
            "omittedKeys": 0, "entries": {"accessAuthCode": {"type": "primitive", "value": "[REDACTED]", "truncated": False}}}),
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
