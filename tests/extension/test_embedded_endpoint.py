"""The emulated kernel's own endpoint in this process: the same tools, and the same refusals, as over HTTP."""

from __future__ import annotations

import dataclasses

import pytest

from kernel.clock import ManualClock
from kernel.errors import ToolError
from kernel.extension.bridge import Bridge, EndpointLost
from kernel.extension.embedded_endpoint import EmbeddedEndpoint
from kernel.host.embedded import EmbeddedHost
from kernel.siyuan.arguments import EmptyAnswer, Panic
from kernel.siyuan.native_mcp.endpoint import OfficialMCP
from kernel.siyuan.native_mcp.tools import TOOLS
from tests.siyuan.kernel_in_memory import MemoryKernel


def endpoint(memory: MemoryKernel) -> EmbeddedEndpoint:
    return EmbeddedEndpoint(memory.kernel, OfficialMCP(memory.kernel))


async def test_its_tools_are_listed_and_called_without_a_socket() -> None:
    memory = MemoryKernel()
    await memory.notebook("Box")
    official = endpoint(memory)
    assert {tool["name"] for tool in await official.list_tools()} == set(TOOLS)
    found = await official.call_tool("notebook", {"action": "list"})
    assert "Box" in found["content"][0]["text"]
    assert (await official.call_tool("nope", {}))["isError"] is True
    await official.aclose()


async def test_the_bridge_discovers_it_and_offers_none_of_its_native_tools() -> None:
    memory = MemoryKernel()
    bridge = Bridge(endpoint(memory), ManualClock())
    found = await bridge.ensure(EmbeddedHost(memory.kernel))
    assert (found.is_connected, found.version, len(found.catalog.tools)) == (True, "3.7.3", len(TOOLS))
    assert list(found.catalog.exposed(natives=False, blocked=frozenset())) == []


@pytest.mark.parametrize("failure", [EmptyAnswer(), Panic("id")])
async def test_a_tool_that_breaks_down_was_called_and_its_outcome_is_unknown(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    async def broken(call: object) -> str:
        raise failure

    monkeypatch.setitem(TOOLS, "notebook", broken)
    official = endpoint(MemoryKernel())
    with pytest.raises(EndpointLost, match="the answer is empty") as caught:
        await official.call_tool("notebook", {})
    assert caught.value.was_sent
    with pytest.raises(ToolError) as told:
        await Bridge(official, ManualClock()).call("notebook", {})
    assert told.value.code == "outcome_unknown"


async def test_in_read_only_mode_it_takes_no_message_at_all() -> None:
    memory = MemoryKernel()
    memory.kernel.options = dataclasses.replace(memory.kernel.options, is_readonly=True)
    official = endpoint(memory)
    for call in (official.list_tools(), official.call_tool("notebook", {"action": "list"})):
        with pytest.raises(EndpointLost, match="not supported in read-only mode") as caught:
            await call
        assert not caught.value.was_sent
