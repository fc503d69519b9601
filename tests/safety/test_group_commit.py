"""Who waits for the ledger's disk waits together: one sync serves them all, counted on a disk that syncs when told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio
import trio.testing

from kernel.clock import ManualClock
from kernel.errors import ToolError
from kernel.faults.plan import FaultPlan
from kernel.faults.trigger import Trigger
from kernel.ids import SeededIds
from kernel.safety import ledger_store
from kernel.safety.coordinator import WriteCoordinator
from kernel.safety.ledger import Ledger
from kernel.safety.ledger_store import Job, LedgerStore, LedgerUnavailable
from kernel.safety.ledger_writer import Deliver
from kernel.safety.offload import InlineOffload
from scheduler.scheduler import open_scheduler
from scheduler.ticket import Lane, Ticket
from tests.safety.told import refusal
from tests.safety.world import UPDATE, Blocks, World

CLIENTS = 16


class HeldWriter:
    """Writes what waits as one group, as the ledger's thread does, but only when the test says so."""

    def __init__(self, store: LedgerStore) -> None:
        self.store = store
        self.is_held = False
        self.waiting: list[tuple[Job, Deliver]] = []

    def submit(self, job: Job, deliver: Deliver) -> None:
        self.waiting.append((job, deliver))
        if not self.is_held:
            self.sync()

    def sync(self, failure: str = "") -> None:
        group, self.waiting = self.waiting, []
        jobs = [job for job, _ in group]
        try:
            results = self.store.run_group([*jobs, *([ledger_store.refused(failure)] if failure else [])])
        except LedgerUnavailable as error:
            results = [error] * len(jobs)
        for (_, deliver), result in zip(group, results, strict=False):
            deliver(result)

    def trouble(self) -> str:
        return ""

    async def aclose(self) -> None:
        self.store.close()


class Clients(World):
    """A world whose ledger lies on a held disk, and clients who call it through the mutation lane."""

    writer: HeldWriter

    @property
    def syncs(self) -> int:
        return self.writer.store.syncs

    async def preflight_in_lane(self, block: str, data: str, told: dict[str, Any]) -> None:
        async def work(ticket: Ticket) -> dict[str, Any]:
            return await self.coordinator.preflight(self.update(block, data)[0], ticket.leave_slot)

        with self.scheduler.admit() as ticket:
            told[block] = await self.scheduler.perform(ticket, Lane.MUTATION, work)

    async def write_in_lane(self, block: str, answer: dict[str, Any], told: dict[str, Any], name: str = "") -> None:
        try:
            told[name or block] = await self.commit_in_lane(block, "new", answer)
        except ToolError as error:
            told[name or block] = error.code


@asynccontextmanager
async def open_clients(folder: Path) -> AsyncIterator[Clients]:
    clock, trigger = ManualClock(), Trigger(FaultPlan())
    writer = HeldWriter(LedgerStore(folder / "ledger.db", clock.wall_ms))
    ledger = Ledger(writer, clock, SeededIds(0), trigger=trigger)
    await ledger.open()
    coordinator = WriteCoordinator(ledger, clock, trigger=trigger, offload=InlineOffload())
    blocks = Blocks({f"b{number}": "old" for number in range(CLIENTS)})
    async with open_scheduler() as scheduler:
        clients = Clients(coordinator, blocks, clock, trigger, scheduler, folder)
        clients.writer = writer
        yield clients
    await ledger.aclose()


async def test_all_preflights_that_wait_share_one_sync(tmp_path: Path) -> None:
    told: dict[str, Any] = {}
    async with open_clients(tmp_path) as clients, trio.open_nursery() as nursery:
        clients.writer.is_held, before = True, clients.syncs
        for block in clients.blocks.texts:
            nursery.start_soon(partial(clients.preflight_in_lane, block, "new", told))
        await trio.testing.wait_all_tasks_blocked()
        assert (len(clients.writer.waiting), told) == (CLIENTS, {})
        clients.writer.sync()
        await trio.testing.wait_all_tasks_blocked()
        assert (len(told), clients.syncs - before) == (CLIENTS, 1)
        assert len({answer["requestId"] for answer in told.values()}) == CLIENTS


async def test_the_end_of_one_write_shares_the_sync_of_the_beginning_of_the_next(tmp_path: Path) -> None:
    """Alone a write costs the ledger a sync at its beginning and one at its end; one after the other, half as many."""
    answers: dict[str, Any] = {}
    told: dict[str, Any] = {}
    async with open_clients(tmp_path) as clients, trio.open_nursery() as nursery:
        for block in clients.blocks.texts:
            await clients.preflight_in_lane(block, "new", answers)
        clients.writer.is_held, before = True, clients.syncs
        for block, answer in answers.items():
            nursery.start_soon(partial(clients.write_in_lane, block, answer, told))
        while len(told) < CLIENTS:
            await trio.testing.wait_all_tasks_blocked()
            # Never two writes in the host, never two beginnings on their way.
            assert len(clients.writer.waiting) <= 2
            clients.writer.sync()
            await trio.testing.wait_all_tasks_blocked()
        assert clients.syncs - before == CLIENTS + 1
        assert {answer["safety"]["transactionState"] for answer in told.values()} == {"committed"}
        assert clients.blocks.counts[UPDATE] == CLIENTS


async def test_a_call_with_an_id_whose_end_is_on_its_way_waits_for_it_and_replays(tmp_path: Path) -> None:
    """The same call twice in parallel: one commits, the other replays; never is an end in doubt that is only late."""
    answers: dict[str, Any] = {}
    told: dict[str, Any] = {}
    async with open_clients(tmp_path) as clients, trio.open_nursery() as nursery:
        await clients.preflight_in_lane("b0", "new", answers)
        clients.writer.is_held = True
        nursery.start_soon(partial(clients.write_in_lane, "b0", answers["b0"], told, "first"))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(partial(clients.write_in_lane, "b0", answers["b0"], told, "second"))
        clients.writer.sync()
        await trio.testing.wait_all_tasks_blocked()
        assert clients.blocks.texts["b0"] == "new"
        assert told == {}
        clients.writer.sync()
        await trio.testing.wait_all_tasks_blocked()
        assert told["first"]["safety"]["replayed"] is False
        assert told["second"]["safety"]["replayed"] is True
        assert told["second"]["safety"]["resultHash"] == told["first"]["safety"]["resultHash"]
        assert clients.blocks.counts[UPDATE] == 1


async def test_an_end_that_the_disk_refuses_is_in_doubt_for_both(tmp_path: Path) -> None:
    answers: dict[str, Any] = {}
    told: dict[str, Any] = {}
    async with open_clients(tmp_path) as clients, trio.open_nursery() as nursery:
        await clients.preflight_in_lane("b0", "new", answers)
        clients.writer.is_held = True
        nursery.start_soon(partial(clients.write_in_lane, "b0", answers["b0"], told, "first"))
        await trio.testing.wait_all_tasks_blocked()
        clients.writer.sync()
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(partial(clients.write_in_lane, "b0", answers["b0"], told, "second"))
        await trio.testing.wait_all_tasks_blocked()
        clients.writer.sync(failure="disk I/O error")
        # What is owed is tried again for whoever asks for it, and the disk refuses still.
        while len(told) < 2:
            await trio.testing.wait_all_tasks_blocked()
            clients.writer.sync(failure="disk I/O error")
        assert told == {"first": "outcome_unknown", "second": "outcome_unknown"}
        clients.writer.is_held = False
        await clients.write_in_lane("b0", answers["b0"], told, "third")
        assert told["third"]["safety"]["replayed"] is True
        assert clients.blocks.counts[UPDATE] == 1


async def test_a_look_that_is_older_than_another_ones_write_is_found_out_by_the_commit(tmp_path: Path) -> None:
    """The lane is free while a preflight waits for its id: what it saw may be gone when it is answered."""
    answers: dict[str, Any] = {}
    told: dict[str, Any] = {}
    async with open_clients(tmp_path) as clients, trio.open_nursery() as nursery:
        await clients.preflight_in_lane("b0", "new", answers)
        clients.writer.is_held = True
        nursery.start_soon(partial(clients.preflight_in_lane, "b0", "newer", told))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(partial(clients.write_in_lane, "b0", answers["b0"], told, "first"))
        while len(told) < 2:
            await trio.testing.wait_all_tasks_blocked()
            clients.writer.sync()
        clients.writer.is_held = False
        assert (await refusal(clients.commit("b0", "newer", told["b0"]))).code == "state_changed"
        assert clients.blocks.texts["b0"] == "new"
