"""An official endpoint in memory, and a world of tools with a bridge to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernel.clock import ManualClock
from kernel.extension.bridge import Bridge, EndpointLost
from tests.tools.fakes import FakeHost, World

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
