"""One kernel with the sweeps' notes, called at the endpoint in either era; what the host was asked is counted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import trio
import trio.testing

from kernel.app import App
from kernel.ids import SeededIds
from kernel.sim.clock import VirtualClock
from kernel.sim.disk import SimulatedDisk
from kernel.sim.life import WatchedHost, open_life
from kernel.siyuan.kernel import SiyuanKernel
from kernel.tools.registry import ACTIONS, Action
from kernel.tools.timeline import COMPARE_MEMO
from kernel.wire import Headers, Request
from tests.mcp.world import (
    Exchange,
    Reply,
    drain,
    initialize_message,
    look_at_clients,
    modern_body,
    modern_headers,
    old_headers,
)
from tests.sweeps.notes import base
from tests.tools.test_promises import effect

Era = Literal["modern", "handshake"]
ERAS: tuple[Era, ...] = ("modern", "handshake")
REQUEST = 7
# Host calls that change nothing of the notes: what windows are told.
_TOLD = ("/api/ui/", "/api/notification/")
# A snapshot to compare the present state with is no write of the notes either; one that was asked for has its own memo.
_SNAPSHOT = "/api/repo/createSnapshot"


@dataclass
class Kernel:
    """A living kernel. ``writes``: the write calls that took effect, in order."""

    app: App
    writes: list[str] = field(default_factory=list)
    exchange: Exchange | None = None
    session: str = ""

    async def call(self, action: Action, arguments: dict[str, Any], era: Era, identifier: int = 1) -> dict[str, Any]:
        """The structured result of one tools/call; exactly one answer has come."""
        params = {"name": action.tool, "arguments": {"action": action.name, **arguments}}
        if era == "modern":
            headers, body = modern_headers("tools/call", params), modern_body("tools/call", params, id=identifier)
        else:
            message = {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}
            headers = old_headers(await self._session(), None, None, "application/json, text/event-stream")
            body = json.dumps(message).encode()
        reply = await self._send(headers, body)
        (answer,) = [one for one in reply.messages if "method" not in one]
        assert answer["id"] == identifier
        assert "result" in answer, answer
        return dict(answer["result"]["structuredContent"])

    async def prepared(self, action: Action) -> dict[str, Any]:
        """The arguments of the action's call; of a strict write with what its preflight answered."""
        arguments = dict(base().calls[action.key])
        if action.is_dangerous:
            arguments["confirm"] = True
        if effect(action).name == "MUTATION":
            told = await self.call(action, {**base().calls[action.key], "validateOnly": True}, "modern")
            if "requestId" in told:
                arguments["requestId"] = told["requestId"]
                if name := told.get("preconditionField"):
                    arguments[name] = told[name]
        return arguments

    def leave(self) -> None:
        """The modern client goes away, and the endpoint looks for it at once."""
        if self.exchange is not None:
            self.exchange.leave()
            look_at_clients(self.app.endpoint)

    def cancel(self) -> None:
        """The handshake client cancels by name."""
        self.app.scheduler.cancel(self.session, REQUEST)

    async def _session(self) -> str:
        if not self.session:
            headers = old_headers(None, None, None, "application/json, text/event-stream")
            reply = await self._send(headers, json.dumps(initialize_message("2025-11-25")).encode())
            self.session = reply.headers["mcp-session-id"]
        return self.session

    async def _send(self, headers: list[tuple[str, str]], body: bytes) -> Reply:
        lowered = Headers((name.lower(), value) for name, value in headers)
        self.exchange = Exchange(Request("POST", "/sisyphus/mcp", "/sisyphus/mcp", "", lowered, body))
        return await drain(await self.app.endpoint.handle(self.exchange))

    async def rest(self) -> None:
        """All is quiet: no slot, no ticket, no session, no write is left."""
        with trio.fail_after(120):
            while self.app.scheduler.statistics().in_flight:  # noqa: ASYNC110 - virtual time; nothing tells
                await trio.sleep(1)
        await trio.testing.wait_all_tasks_blocked()
        assert self.app.scheduler.statistics().running == 0
        assert self.app.coordinator.ledger.statistics()["executing"] == 0
        assert self.app.endpoint.statistics()["busy"] == 0


@asynccontextmanager
async def open_kernel(seed: int = 1) -> AsyncIterator[Kernel]:
    """A fresh kernel on the sweeps' notes. Use it inside ``inline_threads``."""
    clock = VirtualClock()
    # The notes were written before: of two snapshots of one moment nobody can say which is the newer.
    clock.advance(60)
    disk = SimulatedDisk(base().image, wall_ms=clock.wall_ms)
    kernels: list[Kernel] = []

    def begins(path: str, arguments: object) -> str | None:
        is_comparison = path == _SNAPSHOT and arguments == {"memo": COMPARE_MEMO}
        return None if path.startswith(_TOLD) or is_comparison else path

    def ends(path: str, is_done: bool) -> None:
        if is_done:
            kernels[0].writes.append(path)

    def make_host(kernel: SiyuanKernel) -> WatchedHost:
        return WatchedHost(kernel, begins, ends, lambda: 0.0)

    async with open_life(disk, clock, SeededIds(seed), make_host=make_host) as app:
        app.trigger.trace.is_on = False
        kernels.append(Kernel(app))
        yield kernels[0]


def code_of(told: dict[str, Any]) -> str:
    """The error code of a result; "" for a success."""
    return str((told.get("error") or {}).get("code", ""))


# Calls that are refused as they stand: the sweeps try the way to that refusal.
REFUSED = {"file.upload_asset": "its bytes are not staged in a fresh kernel"}
WRITES = [action for action in ACTIONS.values() if effect(action).name != "READ"]
READS = [action for action in ACTIONS.values() if effect(action).name == "READ"]
