"""Foreign tools: which are offered, how they are found and called, and what the two diagnoses say."""

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
from kernel.extension import package_check
from kernel.extension.bridge import Bridge, EndpointLost
from kernel.extension.catalog import read_catalog, registered_name, schema_bytes, version_of
from kernel.extension.http_endpoint import HttpEndpoint
from kernel.extension.limits import ENDPOINT_REQUEST_S_MAX, LIST_PAGES_MAX, LIST_S_MAX
from kernel.extension.package_check import validate_package
from kernel.host.base import HostUnavailable
from tests.tools.fakes import CALLER, FakeHost, World, open_world

OBJECT = {"type": "object"}
PLUGIN = {"name": "plugin__echo__say", "source": "plugin", "inputSchema": OBJECT, "readOnlyHint": True}
NATIVE = {"name": "document", "inputSchema": OBJECT}


class FakeEndpoint:
    def __init__(self, tools: list[dict[str, Any]], losses: int = 0, *, was_sent: bool = True) -> None:
        self.tools, self.losses, self.was_sent = tools, losses, was_sent
        self.lists = 0
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.is_closed = False

    async def aclose(self) -> None:
        self.is_closed = True

    async def list_tools(self) -> list[dict[str, Any]]:
        self.lists += 1
        if self.losses:
            self.losses -= 1
            raise EndpointLost("gone", was_sent=False)
        return self.tools

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.called.append((name, dict(arguments)))
        if self.losses:
            raise EndpointLost("gone", was_sent=self.was_sent)
        return {"content": [{"type": "text", "text": "hi"}], "structuredContent": {"said": "hi"}}


def version(text: str = "3.7.3") -> FakeHost:
    return FakeHost({"/api/system/version": text})


def bridged(world: World, endpoint: FakeEndpoint) -> Bridge:
    bridge = Bridge(endpoint, ManualClock())
    world.tools.parts.more["extension"] = bridge
    return bridge


# --- selection ---


def test_a_missing_source_is_native_and_foreign_servers_and_our_own_are_left_out() -> None:
    catalog = read_catalog(
        [
            NATIVE,
            PLUGIN,
            {"name": "remote", "source": "mcp", "inputSchema": OBJECT},
            {"name": "plugin__siyuan_plugins_mcp_sisyphus__fs", "source": "plugin", "inputSchema": OBJECT},
            {"name": "own", "source": "plugin", "ownerId": "siyuan-plugins-mcp-sisyphus"},
            {"name": ""},
            {"name": 5},
            "text",
        ]
    )
    assert [(tool.name, tool.source) for tool in catalog.tools] == [
        ("document", "native"),
        ("plugin__echo__say", "plugin"),
    ]
    assert catalog.counts() == {"plugin": 1, "native": 1}


def test_natives_and_blocked_and_reserved_names_are_not_exposed() -> None:
    catalog = read_catalog([NATIVE, PLUGIN, {"name": "help", "source": "plugin", "inputSchema": OBJECT}])
    assert [tool.name for tool in catalog.exposed(natives=False, blocked=frozenset())] == ["plugin__echo__say"]
    assert [tool.name for tool in catalog.exposed(natives=True, blocked=frozenset({"plugin__echo__say"}))] == [
        "document"
    ]
    reserved = catalog.find("help")
    assert reserved is not None
    assert reserved.as_json(frozenset())["conflict"] == "reserved_action"
    assert schema_bytes(()) == 2


@pytest.mark.parametrize("schema", [None, "x", {"type": "string"}, {"type": "object", "x": float("nan")}])
def test_a_broken_schema_is_opened_and_marked(schema: Any) -> None:
    tool = read_catalog([{"name": "t", "inputSchema": schema}]).tools[0]
    assert tool.is_degraded
    assert dict(tool.schema) == {"type": "object", "additionalProperties": True}


def test_read_only_is_believed_only_if_it_says_true() -> None:
    listed = [
        {"name": "a", "annotations": {"readOnlyHint": True}},
        {"name": "b", "annotations": {"readOnlyHint": False}, "readOnlyHint": True},
        {"name": "c", "readOnlyHint": "yes"},
        {"name": "d", "capability": {"source": "plugin"}},
    ]
    tools = read_catalog(listed).tools
    assert [tool.is_read_only for tool in tools] == [True, False, False, False]
    assert tools[3].source == "plugin"


def test_names_and_versions_follow_the_kernels_rules() -> None:
    assert registered_name("example-plugin", "echo") == "plugin__example_plugin__echo"
    assert registered_name("über.x", "y") == "plugin___ber_x__y"
    assert version_of("3.7.0-dev1") == (3, 7, 0)
    assert version_of("3.x") == (3,)


@pytest.mark.parametrize("text", ["", "v3.7.3", "3.\u00b2", "\u0663.7.0", "9" * 5_000, "None", "-1"])
def test_what_is_no_version_is_older_than_all(text: str) -> None:
    assert version_of(text) < (3, 7, 0)


def test_what_is_no_text_is_not_shown_as_one() -> None:
    (tool,) = read_catalog([{**PLUGIN, "description": {"a": 1}, "effectScope": 5}]).tools
    assert (tool.description, tool.effect_scope) == ("", "")
    assert read_catalog([{**PLUGIN, "source": 5}, {**PLUGIN, "source": ["plugin"]}]).tools == ()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (5, "not_an_object"),
        ({}, "no_name"),
        ({"name": 5}, "no_name"),
        ({"name": "x" * 129}, "name_too_long"),
        ({"name": "a\x00b"}, "name_unprintable"),
        ({"name": "a\nb"}, "name_unprintable"),
        ({"name": "a\u202eb"}, "name_unprintable"),
    ],
)
def test_what_can_be_no_action_is_told_with_its_reason(entry: Any, reason: str) -> None:
    catalog = read_catalog([PLUGIN, entry])
    assert [tool.name for tool in catalog.tools] == [PLUGIN["name"]]
    ((name, told),) = catalog.unusable
    assert (told, name.isprintable()) == (reason, True)
    longest = {**PLUGIN, "name": "x" * 128}
    assert read_catalog([longest]).unusable == ()


# --- the bridge ---


async def test_discovery_tries_twice_and_a_failure_hides_only_the_foreign_tools() -> None:
    endpoint = FakeEndpoint([PLUGIN], losses=1)
    bridge = Bridge(endpoint, ManualClock())
    found = await bridge.ensure(version())
    assert (endpoint.lists, found.is_connected, found.has_changed) == (2, True, True)
    await bridge.ensure(version())
    assert endpoint.lists == 2
    endpoint.losses = 2
    found = await bridge.refresh(version())
    assert (found.is_connected, found.error, found.catalog.tools) == (False, "gone", ())


async def test_an_old_kernel_is_not_asked() -> None:
    endpoint = FakeEndpoint([PLUGIN])
    found = await Bridge(endpoint, ManualClock()).refresh(version("3.6.9"))
    assert (endpoint.lists, found.is_supported) == (0, False)


@pytest.mark.parametrize(("was_sent", "code"), [(True, "outcome_unknown"), (False, "host_unavailable")])
async def test_a_lost_call_is_sent_once_and_is_unknown_only_if_it_left(was_sent: bool, code: str) -> None:
    endpoint = FakeEndpoint([], losses=1, was_sent=was_sent)
    with pytest.raises(ToolError) as caught:
        await Bridge(endpoint, ManualClock()).call("x", {})
    assert (caught.value.code, len(endpoint.called)) == (code, 1)


async def test_a_host_that_does_not_tell_its_version_is_not_asked_for_tools() -> None:
    endpoint = FakeEndpoint([PLUGIN])
    host = FakeHost({"/api/system/version": HostUnavailable("gone")})
    found = await Bridge(endpoint, ManualClock()).refresh(host)
    assert (endpoint.lists, found.is_connected, found.error) == (0, False, "gone")


async def test_the_first_discovery_waits_until_it_is_wanted_and_the_endpoint_is_closed_at_the_end() -> None:
    endpoint = FakeEndpoint([PLUGIN])
    bridge = Bridge(endpoint, ManualClock())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bridge.run, version())
        await trio.testing.wait_all_tasks_blocked()
        assert (endpoint.lists, endpoint.is_closed) == (0, False)
        bridge.want()
        await trio.testing.wait_all_tasks_blocked()
        assert (endpoint.lists, bridge.discovery.is_connected) == (1, True)
        nursery.cancel_scope.cancel()
    assert endpoint.is_closed


# --- the tool ---


async def test_the_list_is_compact_until_native_tools_are_on() -> None:
    async with open_world(version()) as world:
        bridged(world, FakeEndpoint([PLUGIN, NATIVE]))
        compact = (await world.call("extension", action="list")).structured or {}
        assert "tools" not in compact
        assert (compact["discoveredCount"], compact["exposedCount"], compact["detailsIncluded"]) == (2, 1, False)
        world.host.configure('{"extension":{"includeNativeTools":true,"blockedTools":["document"]}}')
        full = (await world.call("extension", action="list", refresh=True)).structured or {}
        assert [(tool["name"], tool["blocked"]) for tool in full["tools"]] == [
            ("document", True),
            ("plugin__echo__say", False),
        ]


async def test_a_foreign_tool_is_called_by_name_with_its_arguments_nested() -> None:
    async with open_world(version()) as world:
        endpoint = FakeEndpoint([PLUGIN, {**PLUGIN, "name": "plugin__echo__act", "readOnlyHint": False}])
        await bridged(world, endpoint).refresh(world.host)
        result = await world.call("extension", action="plugin__echo__say", arguments={"action": "query"})
        assert endpoint.called == [("plugin__echo__say", {"action": "query"})]
        assert result.content == [{"type": "text", "text": "hi"}]
        assert (result.structured or {})["said"] == "hi"
        assert (result.structured or {})["safety"]["writeSafetyGuaranteed"] is False
        say = {"action": "plugin__echo__say"}
        assert (await world.tools.prepare("extension", say, CALLER)).confirmation is None
        act = {"action": "plugin__echo__act"}
        assert (await world.tools.prepare("extension", act, CALLER)).confirmation is not None
        declared = next(tool for tool in await world.tools.list_tools(CALLER) if tool["name"] == "extension")
        assert "plugin__echo__act" in declared["inputSchema"]["properties"]["action"]["enum"]


async def test_a_native_or_blocked_or_unknown_tool_is_refused_in_words() -> None:
    async with open_world(version()) as world:
        await bridged(world, FakeEndpoint([NATIVE, PLUGIN])).refresh(world.host)
        native = (await world.call("extension", action="document")).structured or {}
        assert native["error"]["code"] == "action_disabled"
        world.host.configure('{"extension":{"blockedTools":["plugin__echo__say"]}}')
        blocked = (await world.call("extension", action="plugin__echo__say")).structured or {}
        assert "blocked" in blocked["error"]["message"]
        assert ((await world.call("extension", action="nope")).structured or {})["error"]["code"] == "unknown_action"


async def test_without_a_bridge_the_tool_says_so() -> None:
    async with open_world(version()) as world:
        listed = (await world.call("extension", action="list")).structured or {}
        assert (listed["connected"], listed["supported"]) == (False, False)
        assert (await world.call("extension", action="diagnose_plugin_mcp", pluginName="x")).is_error


async def test_a_diagnosis_looks_once_and_says_what_it_supports() -> None:
    async with open_world(version()) as world:
        endpoint = FakeEndpoint([PLUGIN])
        bridged(world, endpoint)
        arguments: dict[str, Any] = {"action": "diagnose_plugin_mcp", "pluginName": "echo"}
        seen = (await world.call("extension", **arguments, expectedToolNames=["say"])).structured or {}
        assert (endpoint.lists, endpoint.called) == (1, [])
        assert seen["expectation"] == {
            "state": "present",
            "met": True,
            "tools": [{"name": "plugin__echo__say", "present": True}],
        }
        absent = (await world.call("extension", **arguments, expectedState="absent")).structured or {}
        assert absent["expectation"]["met"] is False
        foreign = {"expectedToolNames": ["plugin__other__say"], "expectedState": "absent"}
        told = (await world.call("extension", **arguments, **foreign)).structured or {}
        assert told["expectation"]["tools"] == [{"name": "plugin__echo__plugin__other__say", "present": False}]
        looks = endpoint.lists
        own = await world.call("extension", action="diagnose_plugin_mcp", pluginName="siyuan-plugins-mcp-sisyphus")
        assert (own.structured or {})["error"]["code"] == "unsupported", "nothing is said of what is not looked at"
        assert endpoint.lists == looks
        endpoint.losses = 2
        assert (await world.call("extension", **arguments)).is_error


async def test_a_diagnosis_tells_only_what_the_registry_says_of_the_plugin() -> None:
    same_prefix = {**PLUGIN, "name": "plugin__echo__other", "source": "native"}
    neighbour = {**PLUGIN, "name": "plugin__echo2__say"}
    async with open_world(version()) as world:
        bridged(world, FakeEndpoint([PLUGIN, same_prefix, neighbour]))
        told = (await world.call("extension", action="diagnose_plugin_mcp", pluginName="echo")).structured or {}
        assert sorted(told) == ["lifecycle", "observedAt", "pluginName", "registered", "tools"]
        assert told["tools"] == [{"name": "plugin__echo__say", "readOnlyHint": True}]
        assert "infer a running kernel plugin" in told["lifecycle"]["supports"]
        assert "a reload" in told["lifecycle"]["doesNotSupport"]
        none = (await world.call("extension", action="diagnose_plugin_mcp", pluginName="nobody")).structured or {}
        assert (none["registered"], none["tools"]) == (False, [])


# --- packages ---

MANIFEST: dict[str, Any] = {
    "name": "example-plugin",
    "version": "1.0.0",
    "minAppVersion": "3.7.0",
    "displayName": {"default": "Example"},
    "description": {"default": "Example"},
}
INDEX = "module.exports = class extends Plugin { onunload() {} };"


def problems(kind: str = "plugin", files: Any = None, runtime: Any = None, **manifest: Any) -> list[str]:
    given = {name: value for name, value in {**MANIFEST, **manifest}.items() if value is not None}
    package = {"type": kind, "manifest": given, "files": {"index.js": INDEX} if files is None else files}
    report = validate_package(package, runtime or {})
    assert report["valid"] is not bool(report["problems"])
    found: list[str] = report["problems"]
    return found


def test_a_good_package_is_valid_in_the_static_layer_only() -> None:
    files = {"index.js": INDEX, "kernel.js": "siyuan.mcp.registerTool('a'); siyuan.mcp.unregisterTool('a')"}
    package = {"type": "plugin", "manifest": {**MANIFEST, "kernels": ["darwin"]}, "files": files}
    report = validate_package(package, {"appVersion": "3.7.3", "backend": "darwin", "frontend": "desktop"})
    assert (report["valid"], report["layer"], report["warnings"]) == (True, "static", [])
    assert report["lifecycle"]["registerTool"] == ["kernel.js"]
    assert report["executableSurface"] == ["index.js", "kernel.js"]


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"name": "bad name"}, "name"),
        ({"name": ".."}, "name"),
        ({"name": None}, "name"),
        ({"version": "\uff11.0.0"}, "version"),
        ({"displayName": {"default": " "}}, "displayName"),
        ({"kernels": ["mars"]}, "kernels"),
        ({"kernels": [[]]}, "kernels"),
        ({"frontends": "desktop"}, "frontends"),
        ({"runtime": {"appVersion": "3.\u00b2"}}, "needs SiYuan"),
        ({"minAppVersion": "3.7.1", "runtime": {"appVersion": "3.7"}}, "needs SiYuan"),
        ({"files": {"index.js": INDEX, "a\0b": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "~/x": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "a//b": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "": ""}}, "relative"),
        ({"kind": "theme", "files": {}, "modes": ["light"]}, "theme.css"),
        ({"kind": "theme", "files": {"theme.css": ""}, "modes": []}, "modes"),
        ({"kind": "theme", "files": {"theme.css": ""}, "modes": ["light", "grey"]}, "modes"),
        ({"version": "1"}, "version"),
        ({"minAppVersion": None}, "minAppVersion"),
        ({"displayName": "x"}, "displayName"),
        ({"description": {"default": ""}}, "description"),
        ({"installed": True}, "installed"),
        ({"backends": ["mars"]}, "backends"),
        ({"backends": ["linux"], "runtime": {"backend": "darwin"}}, "backend darwin"),
        ({"frontends": ["mobile"], "runtime": {"frontend": "desktop"}}, "frontend desktop"),
        ({"kernels": "x"}, "kernels"),
        ({"kernels": ["linux"], "runtime": {"backend": "darwin"}}, "kernel part"),
        ({"runtime": {"appVersion": "3.6.0"}}, "needs SiYuan"),
        ({"files": {}}, "index.js"),
        ({"files": {"index.js": INDEX, "../x": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "/x": ""}}, "relative"),
        ({"files": {"index.js": INDEX, "C:\\x": ""}}, "relative"),
        ({"kind": "theme", "files": {"theme.css": ""}}, "modes"),
        ({"kind": "widget", "files": {}}, "index.html"),
    ],
)
def test_each_fault_of_a_package_is_named(changes: dict[str, Any], part: str) -> None:
    assert any(part in problem for problem in problems(**changes))


@pytest.mark.parametrize("listed", ["darwin", "all"])
def test_a_package_for_this_backend_or_for_all_has_no_problem(listed: str) -> None:
    supported = {"backends": [listed], "frontends": ["desktop"], "kernels": [listed]}
    assert problems(runtime={"backend": "darwin", "frontend": "desktop"}, **supported) == []


@pytest.mark.parametrize("field", package_check.RUNTIME_FIELDS)
def test_what_the_kernel_writes_into_a_manifest_is_not_written_by_hand(field: str) -> None:
    assert problems(**{field: 1}) == [f"{field} is set by the kernel at run time and must not be written by hand."]


@pytest.mark.parametrize(
    "fits",
    [
        {"runtime": {"appVersion": "3.7"}},
        {"runtime": {"appVersion": "3.7.0-alpha1"}},
        {"runtime": {"appVersion": "3.10.0"}},
        {"backends": ["all"], "runtime": {"backend": "linux"}},
        {"frontends": ["desktop"], "runtime": {"frontend": "desktop"}},
        {"kernels": [], "runtime": {"backend": "linux"}},
        {"kernels": ["linux"], "runtime": {"backend": "linux"}},
        {"kernels": ["linux"]},
        {"files": {"index.js": INDEX, ".hidden": "", "a/b.c": "", "\u63d2\u4ef6.md": ""}},
    ],
)
def test_what_fits_is_no_fault(fits: dict[str, Any]) -> None:
    assert problems(**fits) == []


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("class A { onunload() {} }", True),
        ("class A { async onunload ( ) {} }", True),
        ("class A { onunload = () => {} }", True),
        ("module.exports = { onunload: function () {} }", True),
        ("this.onunload = stop", True),
        ("A.prototype.onunload = stop", True),
        ("plugin.onunload();", False),
        ("this.onunload();", False),
        ("if (onunload == 1) {}", False),
        ("myonunload() {}", False),
    ],
)
def test_onunload_is_found_however_it_is_given(text: str, is_there: bool) -> None:
    report = validate_package({"type": "plugin", "manifest": MANIFEST, "files": {"index.js": text}}, {})
    assert report["lifecycle"]["onunload"] == (["index.js"] if is_there else [])
    assert any("onunload" in one for one in report["warnings"]) is not is_there


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("siyuan.mcp.{}('x')", True),
        ("siyuan . mcp\n  .{} (x)", True),
        ("siyuan?.mcp?.{}?.('x')", True),
        ("siyuan.mcp['{}']('x')", True),
        ("globalThis.siyuan.mcp.{}(x)", True),
        ("siyuan.mcp.{}", False),
        ("other.mcp.{}('x')", False),
        ("siyuan.mcp.{}All('x')", False),
    ],
)
@pytest.mark.parametrize("name", ["registerTool", "unregisterTool"])
def test_calls_of_the_tool_registry_are_found_however_they_are_written(name: str, text: str, is_there: bool) -> None:
    files = {"index.js": INDEX, "kernel.js": text.replace("{}", name)}
    report = validate_package({"type": "plugin", "manifest": {**MANIFEST, "kernels": ["all"]}, "files": files}, {})
    assert report["lifecycle"][name] == (["kernel.js"] if is_there else [])
    is_left = name == "registerTool" and is_there
    assert report["warnings"] == (["Tools are registered and never unregistered."] if is_left else [])


def test_everything_that_could_run_is_named_whatever_its_case() -> None:
    files = {
        "index.js": INDEX,
        "A.JS": "",
        "b.ps1": "",
        "lib/c.dylib": "",
        "d.wasm": "",
        "e.css": "",
        "f.md": "",
        "js": "",
    }
    report = validate_package({"type": "plugin", "manifest": MANIFEST, "files": files}, {})
    assert report["executableSurface"] == ["A.JS", "b.ps1", "d.wasm", "index.js", "lib/c.dylib"]
    for kind in ("theme", "icon", "template", "widget"):
        told = validate_package({"type": kind, "manifest": MANIFEST, "files": files}, {})
        assert (told["executableSurface"], "lifecycle" in told) == (report["executableSurface"], False)


def test_a_theme_with_modes_and_its_style_is_fine() -> None:
    assert problems("theme", {"theme.css": ""}, modes=["dark"]) == []
    assert problems("icon", {}) == []


def test_risky_habits_are_warnings() -> None:
    files = {"index.js": "x", "kernel.js": "siyuan.mcp.registerTool('a')"}
    report = validate_package({"type": "plugin", "manifest": MANIFEST, "files": files}, {})
    assert len(report["warnings"]) == 3
    named = validate_package(
        {"type": "plugin", "manifest": {**MANIFEST, "kernels": ["all"]}, "files": {"index.js": INDEX}}, {}
    )
    assert len(named["warnings"]) == 1


# --- over HTTP ---


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


# --- help ---


async def test_help_of_the_tool_tells_of_foreign_ones_as_its_list_does() -> None:
    async with open_world(version()) as world:
        bridge = bridged(world, FakeEndpoint([PLUGIN, NATIVE]))
        told = await help_of(world)
        assert told["foreignTools"]["discoveredCount"] == 0, "help looks nowhere by itself"
        await bridge.ensure(version())
        told = await help_of(world)
        assert told["foreignTools"]["discoveredBySource"] == {"plugin": 1, "native": 1}
        assert (told["foreignTools"]["detailsIncluded"], "tools" in told["foreignTools"]) == (False, False)
        world.host.configure('{"extension":{"includeNativeTools":true}}')
        told = await help_of(world)
        assert [tool["name"] for tool in told["foreignTools"]["tools"]] == ["document", "plugin__echo__say"]


async def test_one_foreign_tool_is_explained_on_demand_whether_it_may_be_called_or_not() -> None:
    async with open_world(version()) as world:
        reserved = {"name": "list", "source": "plugin", "inputSchema": OBJECT}
        await bridged(world, FakeEndpoint([PLUGIN, NATIVE, reserved])).ensure(version())
        told = await help_of(world, "plugin__echo__say")
        assert (told["source"], told["readOnlyHint"], told["exposed"], told["requiresConfirmation"]) == (
            "plugin",
            True,
            True,
            False,
        )
        assert told["example"] == {"action": "plugin__echo__say", "arguments": {}}
        native = await help_of(world, "document")
        assert (native["exposed"], native["requiresConfirmation"]) == (False, True)
        assert "includeNativeTools" in native["whyNotExposed"]
        assert (await help_of(world, "list"))["tool"] == "extension"
        unknown = await help_of(world, "plugin__echo__none")
        assert unknown["error"]["code"] == "unknown_help_topic"


async def help_of(world: World, topic: str = "") -> dict[str, Any]:
    result = await world.call("extension", action="help", **({"topic": topic} if topic else {}))
    return dict(result.structured or {})


# --- ends ---


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
