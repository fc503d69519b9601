"""Foreign tools: which are offered, how they are found and called, and what the diagnosis says."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
import trio.testing

from kernel.clock import ManualClock
from kernel.errors import ToolError
from kernel.extension.bridge import Bridge
from kernel.extension.catalog import read_catalog, registered_name, schema_bytes, version_of
from kernel.host.base import HostUnavailable
from tests.extension.world import NATIVE, OBJECT, PLUGIN, FakeEndpoint, bridged, version
from tests.tools.fakes import BLOCK, CALLER, NOTEBOOK, FakeHost, World, open_world

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


async def test_our_own_rules_are_not_asked_of_a_foreign_call() -> None:
    """R309: no notebook's permission, no action's switch, no credential, no second look at anything."""
    async with open_world(version()) as world:
        endpoint = FakeEndpoint([{**PLUGIN, "readOnlyHint": False}])
        await bridged(world, endpoint).refresh(world.host)
        switched = {"block": {"enabled": False, "actions": {"delete": False}}, "writeSafety": {"strictMode": True}}
        world.host.configure(json.dumps(switched), json.dumps({NOTEBOOK: "none"}))
        asked = {"action": "delete", "id": BLOCK, "notebook": NOTEBOOK}
        world.host.calls.clear()
        result = await world.call("extension", action="plugin__echo__say", arguments=asked, confirm=True)
        assert (result.is_error, endpoint.called) == (False, [("plugin__echo__say", asked)])
        assert world.host.calls == []
        safety = (result.structured or {})["safety"]
        assert (safety["writeSafetyMode"], safety["writeSafetyGuaranteed"]) == ("strict", False)
        checked = await world.call("extension", action="plugin__echo__say", arguments=asked, validateOnly=True)
        assert (checked.structured or {})["error"]["code"] == "preflight_unavailable"
        assert len(endpoint.called) == 1


async def test_the_check_of_a_package_asks_no_endpoint() -> None:
    """R334."""
    async with open_world(version()) as world:
        endpoint = FakeEndpoint([PLUGIN])
        bridged(world, endpoint)
        package = {"type": "plugin", "manifest": {"name": "echo", "version": "1.0.0"}}
        assert "valid" in ((await world.call("extension", action="validate_package", package=package)).structured or {})
        assert (endpoint.lists, endpoint.called) == (0, [])


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
        local = {**PLUGIN, "effectScope": "local"}
        await bridged(world, FakeEndpoint([local, NATIVE, reserved])).ensure(version())
        told = await help_of(world, "plugin__echo__say")
        assert (told["source"], told["readOnlyHint"], told["exposed"], told["requiresConfirmation"]) == (
            "plugin",
            True,
            True,
            False,
        )
        assert told["example"] == {"action": "plugin__echo__say", "arguments": {}}
        assert (told["effectScope"], told["writeSafetyGuaranteed"]) == ("local", False)
        native = await help_of(world, "document")
        assert (native["exposed"], native["requiresConfirmation"]) == (False, True)
        assert "includeNativeTools" in native["whyNotExposed"]
        assert (await help_of(world, "list"))["tool"] == "extension"
        unknown = await help_of(world, "plugin__echo__none")
        assert unknown["error"]["code"] == "unknown_help_topic"


async def help_of(world: World, topic: str = "") -> dict[str, Any]:
    result = await world.call("extension", action="help", **({"topic": topic} if topic else {}))
    return dict(result.structured or {})
