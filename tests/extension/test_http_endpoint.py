"""The official endpoint of a real kernel, by URL: sessions, pages, streams, and what is lost on the way."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
import trio
import trio.testing

from kernel.clock import ManualClock
from kernel.errors import ToolError
from kernel.extension.bridge import Bridge, EndpointLost
from kernel.extension.http_endpoint import HttpEndpoint
from kernel.extension.limits import ENDPOINT_REQUEST_S_MAX, LIST_PAGES_MAX, LIST_S_MAX
from tests.extension.world import NATIVE, PLUGIN, FakeEndpoint, bridged, version
from tests.tools.fakes import open_world


def answering(*messages: dict[str, Any], sse: bool = False) -> tuple[HttpEndpoint, list[dict[str, Any]]]:
    """An endpoint whose server opens a session and then gives these results in turn."""
    seen: list[dict[str, Any]] = []
    waiting = list(messages)

    def respond(request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content)
        seen.append({**message, "session": request.headers.get("mcp-session-id")})
        if message["method"] == "initialize":
            return httpx.Response(200, json={"result": {}}, headers={"Mcp-Session-Id": "s1"})
        if message["method"].startswith("notifications/"):
            return httpx.Response(202)
        body = json.dumps({"id": message["id"], **waiting.pop(0)})
        if sse:
            return httpx.Response(
                200, text=f"data: {{}}\n\ndata: {body}\n\n", headers={"content-type": "text/event-stream"}
            )
        return httpx.Response(200, text=body)

    return HttpEndpoint("http://h", "t", transport=httpx.MockTransport(respond)), seen


async def test_a_session_is_opened_once_and_pages_are_followed() -> None:
    endpoint, seen = answering({"result": {"tools": [PLUGIN, 5], "nextCursor": "c"}}, {"result": {"tools": [NATIVE]}})
    assert await endpoint.list_tools() == [PLUGIN, 5, NATIVE], "the catalog tells what is no tool"
    assert [message["method"] for message in seen] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/list",
    ]
    assert seen[-1]["session"] == "s1"
    await endpoint.aclose()


async def test_an_answer_may_be_an_event_stream() -> None:
    endpoint, _ = answering({"result": {"content": []}}, sse=True)
    assert await endpoint.call_tool("x", {}) == {"content": []}


@pytest.mark.parametrize(
    ("stream", "result"),
    [
        ('data: not json\n\n\ndata: {"id": ID, "result": {"a": 1}}\n\n', {"a": 1}),
        ('data: {"id": "other", "result": {"a": 0}}\r\n\r\ndata: {"id": ID,\rdata: "result": {"a": 2}}\r\r', {"a": 2}),
        ('event: message\nid: 7\ndata:{"id": ID, "result": {"a": 3}}\n\ndata: [1]\n\n', {"a": 3}),
        ('data: {"id": ID, "result": {"a": 4}}\n', None),
        ("", None),
    ],
)
async def test_of_a_stream_only_the_whole_message_with_our_id_counts(stream: str, result: Any) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content)
        if message["method"] != "tools/call":
            return httpx.Response(200, json={"result": {}})
        text = "\ufeff" + stream.replace("ID", str(message["id"]))
        return httpx.Response(200, text=text, headers={"content-type": "text/event-stream; charset=utf-8"})

    endpoint = HttpEndpoint("http://h", transport=httpx.MockTransport(respond))
    if result is not None:
        assert await endpoint.call_tool("x", {}) == result
    else:
        with pytest.raises(EndpointLost, match="the answer holds no result") as caught:
            await endpoint.call_tool("x", {})
        assert caught.value.was_sent
    assert not endpoint.is_closed
    await endpoint.aclose()
    assert endpoint.is_closed


async def test_a_repeated_cursor_or_too_many_pages_end_the_list() -> None:
    endpoint, _ = answering(*[{"result": {"nextCursor": "same"}}] * 3)
    with pytest.raises(EndpointLost):
        await endpoint.list_tools()
    endpoint, _ = answering(*[{"result": {"nextCursor": str(n)}} for n in range(LIST_PAGES_MAX + 1)])
    with pytest.raises(EndpointLost):
        await endpoint.list_tools()


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"tools": 5}, "no list"),
        ({"tools": {"a": 1}}, "no list"),
        ({"tools": "abc"}, "no list"),
        ({"tools": [], "nextCursor": [1]}, "no text"),
        ({"tools": [], "nextCursor": 5}, "no text"),
    ],
)
async def test_a_list_that_is_none_is_a_failed_look(result: dict[str, Any], words: str) -> None:
    endpoint, _ = answering({"result": result}, {"result": result})
    found = await Bridge(endpoint, ManualClock()).refresh(version())
    assert not found.is_connected
    assert words in found.error


async def test_all_pages_of_a_list_have_one_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.extension.http_endpoint.ANSWER_BYTES_MAX", 400)
    page = {"result": {"tools": ["x" * 150]}}
    endpoint, _ = answering({"result": {"tools": ["x" * 150], "nextCursor": "a"}}, page)
    assert len(await endpoint.list_tools()) == 2
    endpoint, _ = answering({"result": {"tools": ["x" * 150], "nextCursor": "a"}}, {"result": {"tools": ["x" * 250]}})
    with pytest.raises(EndpointLost, match="longer than"):
        await endpoint.list_tools()


class Silent(httpx.AsyncByteStream):
    """An answer that begins and never ends: a byte every ``apart_s``."""

    def __init__(self, apart_s: float) -> None:
        self.apart_s = apart_s

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            await trio.sleep(self.apart_s)
            yield b" "


def dripping(method: str) -> HttpEndpoint:
    def respond(request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content)
        if message["method"] == method:
            return httpx.Response(200, stream=Silent(10.0))
        return httpx.Response(200, json={"id": message.get("id"), "result": {"tools": []}})

    return HttpEndpoint("http://h", transport=httpx.MockTransport(respond))


async def test_an_endpoint_that_drips_is_given_up(autojump_clock: trio.testing.MockClock) -> None:
    began = trio.current_time()
    found = await Bridge(dripping("tools/list"), ManualClock()).refresh(version())
    assert not found.is_connected
    assert trio.current_time() - began == pytest.approx(2 * LIST_S_MAX)
    began = trio.current_time()
    with pytest.raises(ToolError) as caught:
        await Bridge(dripping("tools/call"), ManualClock()).call("x", {})
    assert caught.value.code == "outcome_unknown"
    assert trio.current_time() - began == pytest.approx(ENDPOINT_REQUEST_S_MAX)


async def test_a_session_that_is_being_opened_serves_whoever_comes_meanwhile() -> None:
    endpoint, seen = answering({"result": {}}, {"result": {}})
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(endpoint.call_tool, "x", {})
    assert [message["session"] for message in seen] == [None, "s1", "s1", "s1"]


async def test_a_refusal_of_the_endpoint_is_told_in_its_own_words() -> None:
    endpoint, _ = answering({"error": {"code": -32602, "message": "unknown tool x"}})
    with pytest.raises(ToolError) as caught:
        await Bridge(endpoint, ManualClock()).call("x", {})
    assert caught.value.code == "api_error"
    assert "unknown tool x" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ([5, None, {"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
        ([{"type": "text", "text": 5}], [{"type": "text", "text": 5}]),
        ([], []),
        ("x", []),
        (None, []),
    ],
)
async def test_a_tool_that_has_run_is_answered_whatever_it_gave(content: Any, shown: Any) -> None:
    async with open_world(version()) as world:
        endpoint = FakeEndpoint([PLUGIN])
        await bridged(world, endpoint).refresh(world.host)

        async def give(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
            return {"content": content, "structuredContent": [1]}

        endpoint.call_tool = give  # type: ignore[method-assign]
        result = await world.call("extension", action="plugin__echo__say")
        assert (result.content, result.is_error) == (shown, False)


@pytest.mark.parametrize(
    ("message", "was_sent"),
    [
        ({"error": {"code": -32602, "message": "no"}}, False),
        ({"error": {"code": -32603, "message": "broken"}}, True),
        ({"x": 1}, True),
        ({"result": 5}, True),
    ],
)
async def test_only_a_refusal_is_certain_and_any_failure_drops_the_session(
    message: dict[str, Any], was_sent: bool
) -> None:
    endpoint, seen = answering(message, {"result": {}})
    with pytest.raises(EndpointLost) as caught:
        await endpoint.call_tool("x", {})
    assert caught.value.was_sent is was_sent
    assert await endpoint.call_tool("x", {}) == {}
    assert sum(one["method"] == "initialize" for one in seen) == 2


@pytest.mark.parametrize(
    ("failure", "was_sent"),
    [
        (httpx.ConnectError("x"), False),
        (httpx.ReadError("x"), True),
        (httpx.Response(401), False),
        (httpx.Response(302, headers={"Location": "http://elsewhere/"}), False),
        (httpx.Response(404), False),
        (httpx.Response(502), True),
        (httpx.Response(200, text="<html>"), True),
    ],
)
async def test_a_lost_answer_is_unknown_only_behind_the_sending(failure: Any, was_sent: bool) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        method = json.loads(request.content)["method"]
        if method == "initialize":
            return httpx.Response(200, json={"result": {}})
        if method.startswith("notifications/"):
            return httpx.Response(202)
        if isinstance(failure, Exception):
            raise failure
        response: httpx.Response = failure
        return response

    endpoint = HttpEndpoint("http://h", transport=httpx.MockTransport(respond))
    with pytest.raises(EndpointLost) as caught:
        await endpoint.call_tool("x", {})
    assert caught.value.was_sent is was_sent


async def test_a_session_that_cannot_be_opened_sent_nothing() -> None:
    endpoint = HttpEndpoint("http://h", transport=httpx.MockTransport(lambda _: httpx.Response(500)))
    with pytest.raises(EndpointLost) as caught:
        await endpoint.call_tool("x", {})
    assert not caught.value.was_sent


@pytest.mark.parametrize("status", [401, 403])
async def test_who_is_no_administrator_is_told_what_discovery_needs(status: int) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(status))
    endpoint = HttpEndpoint("http://siyuan", "bad", transport=transport)
    found = await Bridge(endpoint, ManualClock()).refresh(version())
    assert not found.is_connected
    assert "an administrator's session and a valid API token" in found.error
    with pytest.raises(ToolError) as caught:
        await Bridge(endpoint, ManualClock()).call("plugin__echo__say", {})
    assert caught.value.code == "host_unavailable"
    await endpoint.aclose()


async def test_the_endpoint_is_closed_when_its_bridge_ends() -> None:
    endpoint = HttpEndpoint("http://siyuan", transport=httpx.MockTransport(lambda request: httpx.Response(200)))
    bridge = Bridge(endpoint, ManualClock())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bridge.run, version())
        await trio.testing.wait_all_tasks_blocked()
        assert not endpoint.is_closed
        nursery.cancel_scope.cancel()
    assert endpoint.is_closed
