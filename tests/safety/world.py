"""A small world for the safety tests: blocks in memory behind the host boundary, and a coordinator over them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio

from kernel.clock import ManualClock
from kernel.faults.plan import FaultPlan, Rule
from kernel.faults.trigger import Trigger
from kernel.host.base import HostApiError
from kernel.host.faulty import FaultyHost
from kernel.host.scoped import ScopedHost
from kernel.ids import SeededIds
from kernel.safety.coordinator import WriteCoordinator
from kernel.safety.intent import Intent, Observation, Outcome, Precondition
from kernel.safety.open import open_coordinator
from scheduler.scheduler import Scheduler, open_scheduler
from scheduler.ticket import Lane, Ticket

UPDATE = "/api/block/updateBlock"
APPEND = "/api/block/appendBlock"
READ = "/api/block/getBlockKramdown"


class Blocks:
    """A note host that is a dictionary. Counts what reaches it."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self.texts = dict(texts or {})
        self.counts: dict[str, int] = {}
        self.overlap_max = 0
        self._writing = 0

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        given = dict(arguments or {})
        self.counts[path] = self.counts.get(path, 0) + 1
        await trio.lowlevel.checkpoint()
        if path == READ:
            return {"id": given["id"], "kramdown": self.texts.get(given["id"], "")}
        if path == UPDATE:
            if given["id"] not in self.texts:
                raise HostApiError(-1, "block not found", path=path)
            self.texts[given["id"]] = given["data"]
            return [{"doOperations": [{"action": "update", "id": given["id"]}]}]
        if path == APPEND:
            self.texts[given["id"]] = given["data"]
            return [{"doOperations": [{"action": "insert", "id": given["id"]}]}]
        raise AssertionError(path)

    async def read_file(self, path: str) -> bytes | None:
        raise AssertionError(path)

    async def write_file(self, path: str, content: bytes) -> None:
        raise AssertionError(path)

    async def upload_asset(self, directory: str, name: str, content: bytes) -> dict[str, Any]:
        raise AssertionError(name)

    async def fetch_static(self, path: str) -> bytes | None:
        raise AssertionError(path)

    async def stream_static(self, path: str) -> AsyncIterator[bytes]:
        raise AssertionError(path)
        yield b""

    async def aclose(self) -> None:
        return


class Crash(BaseException):
    """The process ends here."""


def crash() -> None:
    raise Crash


class DirectGate:
    """A commit gate without a scheduler: for tests that are about the coordinator alone."""

    def __init__(self) -> None:
        self.is_entered = False

    def enter_commit(self) -> None:
        self.is_entered = True

    def leave_slot(self) -> None:
        assert self.is_entered

    async def run(self, work: Callable[[], Awaitable[Any]]) -> Any:
        with trio.CancelScope(shield=True):
            return await work()


class NeverCancelled:
    def check_cancelled(self) -> None:
        return


@dataclass
class World:
    coordinator: WriteCoordinator
    blocks: Blocks
    clock: ManualClock
    trigger: Trigger
    scheduler: Scheduler
    folder: Path
    extra: dict[str, Any] = field(default_factory=dict)

    def plan(self, *rules: Rule) -> None:
        self.trigger.plan.clear()
        for rule in rules:
            self.trigger.plan.add(rule)

    def host(self, ticket: Any = None) -> ScopedHost:
        return ScopedHost(FaultyHost(self.blocks, self.trigger), ticket or NeverCancelled(), self.clock)

    def update(self, block: str, data: str, host: ScopedHost | None = None, **submitted: Any) -> tuple[Intent, Any]:
        """A ``block.update`` of one block: its intent and its write."""
        scoped = host or self.host()

        async def probe() -> Observation:
            return Observation(await scoped.call(READ, {"id": block}), (block,), 1)

        async def write() -> Outcome:
            await scoped.call(UPDATE, {"id": block, "data": data})
            return Outcome({"success": True, "id": block})

        arguments = {"id": block, "data": data}
        intent = Intent("block", "update", arguments, Precondition.STATE, probe, writes_sent=lambda: scoped.writes_sent)
        intent.request_id = submitted.get("request_id")
        intent.credential = submitted.get("credential")
        return intent, write

    def append(self, block: str, data: str, **submitted: Any) -> tuple[Intent, Any]:
        """An additive ``block.append``."""
        scoped = self.host()

        async def probe() -> Observation:
            return Observation(None, (), 0)

        async def write() -> Outcome:
            await scoped.call(APPEND, {"id": block, "data": data})
            return Outcome({"success": True, "id": block}, changed=True, replay={"id": block})

        async def confirm(_outcome: Outcome) -> bool:
            return bool((await scoped.call(READ, {"id": block}))["kramdown"])

        intent = Intent("block", "append", {"parentID": "p", "data": data}, Precondition.NONE, probe, confirm=confirm)
        intent.writes_sent = lambda: scoped.writes_sent
        intent.request_id = submitted.get("request_id")
        return intent, write

    async def preflight(self, block: str, data: str) -> dict[str, Any]:
        return await self.coordinator.preflight(self.update(block, data)[0])

    async def commit(self, block: str, data: str, answer: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
        """COMMIT of an update with what its preflight answered."""
        submitted = {
            "request_id": answer["requestId"],
            "credential": answer.get("expectedStateHash"),
            **changed,
        }
        intent, write = self.update(block, data, **submitted)
        return await self.coordinator.commit(intent, DirectGate(), write)

    async def commit_in_lane(
        self, block: str, data: str, answer: Mapping[str, Any], *, bound_s: float = 30.0, ticket: Ticket | None = None
    ) -> dict[str, Any]:
        """The same through the scheduler's mutation lane and its commit boundary."""

        async def work(running: Ticket) -> dict[str, Any]:
            intent, write = self.update(
                block,
                data,
                self.host(running),
                request_id=answer["requestId"],
                credential=answer["expectedStateHash"],
            )
            gate = self.scheduler.boundary(running, bound_s=bound_s)
            return await self.coordinator.commit(intent, gate, write)

        with ticket or self.scheduler.admit() as admitted:
            return await self.scheduler.perform(admitted, Lane.MUTATION, work)


@asynccontextmanager
async def open_world(
    folder: Path,
    texts: Mapping[str, str] | None = None,
    *,
    is_inline: bool = True,
    clock: ManualClock | None = None,
    seed: int = 0,
) -> AsyncIterator[World]:
    """A world on ``folder``; opening a second one on it is a restart."""
    clock = clock or ManualClock()
    trigger = Trigger(FaultPlan(), crash=crash)
    async with (
        open_coordinator(folder, clock, SeededIds(seed), trigger=trigger, is_inline=is_inline) as coordinator,
        open_scheduler() as scheduler,
    ):
        yield World(coordinator, Blocks(texts), clock, trigger, scheduler, folder)
