"""A tool service on a whole emulated kernel in memory, with the real coordinator: nothing is faked but disk and clock."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from kernel.host.embedded import EmbeddedHost
from kernel.ids import SeededIds
from kernel.safety.open import open_coordinator
from kernel.tools.call import ToolParts, Tools
from kernel.tools.configuration import PERMISSIONS_FILE, TOOLS_FILE
from kernel.tools.permissions import Level
from kernel.tools.registry import TOOLS
from kernel.tools.service import Caller, Refused, ToolResult
from scheduler.scheduler import Scheduler
from scheduler.ticket import Ticket
from tests.siyuan.kernel_in_memory import MemoryKernel

CALLER = Caller("handshake")


class Notes:
    """One line to call a tool: ``await notes.fs("read", path="/Nb/A")``. Strict writes are preflighted first."""

    def __init__(self, memory: MemoryKernel, tools: Tools, scheduler: Scheduler, host: EmbeddedHost) -> None:
        self.memory, self.tools, self.scheduler, self.host = memory, tools, scheduler, host
        self.is_strict = False
        self.settings: dict[str, Any] = {}

    async def configure(self, *, strict: bool, **settings: Any) -> None:
        on = {name: {"actions": {action.name: True for action in tool.actions}} for name, tool in TOOLS.items()}
        self.is_strict = strict
        self.settings = {**on, "writeSafety": {"strictMode": strict}, **settings}
        await self.host.write_file(TOOLS_FILE, json.dumps(self.settings).encode())

    async def permit(self, **levels: str) -> None:
        await self.host.write_file(PERMISSIONS_FILE, json.dumps(levels).encode())

    async def raw(self, tool: str, arguments: dict[str, Any]) -> ToolResult:
        try:
            prepared = await self.tools.prepare(tool, arguments, CALLER)
        except Refused as refused:
            return refused.result

        async def work(ticket: Ticket) -> ToolResult:
            return await self.tools.perform(prepared, ticket, CALLER)

        with self.scheduler.admit() as ticket:
            if prepared.lane is None:
                return await self.tools.perform(prepared, ticket, CALLER)
            return await self.scheduler.perform(ticket, prepared.lane, work)

    async def call(self, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
        """The structured result of a call that must succeed."""
        asked = {"action": action, **arguments}
        if self.is_strict:
            checked = await self.raw(tool, {**asked, "validateOnly": True})
            found = checked.structured or {}
            if found.get("validateOnly") is True:
                asked["requestId"] = found["requestId"]
                if field := found.get("preconditionField"):
                    asked[field] = found[field]
        result = await self.raw(tool, asked)
        assert not result.is_error, result.structured
        return result.structured or {}

    async def refused(self, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that must fail; of a strict write already its preflight does."""
        strict = {"validateOnly": True} if self.is_strict else {}
        result = await self.raw(tool, {"action": action, **arguments, **strict})
        assert result.is_error, result.structured
        error: dict[str, Any] = (result.structured or {})["error"]
        return error


@asynccontextmanager
async def open_notes(folder: Path, *, strict: bool = False) -> AsyncIterator[Notes]:
    memory = MemoryKernel()
    host = EmbeddedHost(memory.kernel)
    async with (
        open_coordinator(folder, memory.clock, SeededIds(3), is_inline=True) as coordinator,
        trio.open_nursery() as nursery,
    ):
        scheduler: Scheduler = await nursery.start(Scheduler().run)
        boundary = functools.partial(scheduler.boundary, bound_s=5.0)
        parts = ToolParts(
            host, memory.clock, SeededIds(5), boundary, coordinator=coordinator, default_level=Level.DELETE
        )
        notes = Notes(memory, Tools(parts), scheduler, host)
        await notes.configure(strict=strict)
        yield notes
        nursery.cancel_scope.cancel()
