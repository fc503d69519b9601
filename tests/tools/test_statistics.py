"""Statistics: nothing is lost between concurrent calls, nothing is written twice, and one write carries many."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from kernel.clock import ManualClock
from kernel.host.base import HostUnavailable
from kernel.tools.limits import (
    ANALYTICS_FILE_BYTES_MAX,
    STATISTICS_ABANDONED_AFTER_S,
    STATISTICS_S_MAX,
    STATISTICS_SWEEP_S,
)
from kernel.tools.statistics import ANALYTICS_FILE, EVENTS_FILE, STATS_FILE, Statistics
from kernel.workspace.records import Record
from tests.tools.fakes import CALLER, FakeHost, open_world


class Store(FakeHost):
    """Keeps records itself; may stall, refuse, or crash, and counts the writes."""

    def __init__(self) -> None:
        super().__init__({"/api/system/version": "3.7.3"})
        self.writes = 0
        self.stalls_s: list[float] = []
        self.failures: list[Exception] = []

    async def keep_records(self, records: Sequence[Record]) -> None:
        self.writes += 1
        if self.stalls_s:
            await trio.sleep(self.stalls_s.pop(0))
        if self.failures:
            raise self.failures.pop(0)
        for record in records:
            before = self.files.get(record.path, b"") if record.bytes_max is not None else b""
            self.files[record.path] = before + record.content

    def rows(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.files.get(ANALYTICS_FILE, b"").splitlines()]

    def stats(self) -> dict[str, object]:
        return dict(json.loads(self.files[STATS_FILE]))

    def event(self) -> dict[str, object]:
        return dict(json.loads(self.files[EVENTS_FILE]))


@asynccontextmanager
async def running(host: FakeHost) -> AsyncIterator[Statistics]:
    statistics = Statistics(host, ManualClock())
    async with trio.open_nursery() as nursery:
        await nursery.start(statistics.run)
        yield statistics
        nursery.cancel_scope.cancel()


async def call(statistics: Statistics, tool: str = "fs", action: str = "ls", **how: object) -> None:
    started = statistics.began(tool, action)
    await statistics.settle(statistics.ended(started, is_error=False, **how))  # type: ignore[arg-type]


async def test_a_hundred_calls_at_once_are_all_counted_in_few_writes() -> None:
    host = Store()
    async with running(host) as statistics, trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(call, statistics)
    assert (host.stats()["totalCalls"], host.stats()["balance"]) == (100, 100)
    assert len(host.rows()) == 100
    assert host.writes <= 3


async def test_a_store_that_stalls_ten_seconds_repeats_nothing(autojump_clock: MockClock) -> None:
    host = Store()
    host.stalls_s = [10.0]
    waited: list[float] = []

    async def one(statistics: Statistics) -> None:
        begun = trio.current_time()
        await call(statistics, "system", "get_version")
        waited.append(trio.current_time() - begun)

    async with running(host) as statistics, trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(one, statistics)
            if number % 10 == 0:
                await trio.sleep(0.5)
    rows = host.rows()
    assert len(rows) == 100
    assert len({row["seq"] for row in rows}) == 100
    assert host.stats()["totalCalls"] == 100
    assert host.writes == 2
    assert max(waited) <= STATISTICS_S_MAX + 2 * STATISTICS_SWEEP_S


async def test_a_write_that_never_ends_is_given_up_and_not_repeated(autojump_clock: MockClock) -> None:
    host = Store()
    host.stalls_s = [STATISTICS_ABANDONED_AFTER_S * 10]
    async with running(host) as statistics:
        await call(statistics)
        await trio.sleep(STATISTICS_ABANDONED_AFTER_S)
        await call(statistics)
    assert len(host.rows()) == 1


@pytest.mark.parametrize("failure", [HostUnavailable("gone"), ValueError("a fault")])
async def test_a_store_that_refuses_costs_the_statistics_and_not_the_writer(failure: Exception) -> None:
    host = Store()
    host.failures = [failure]
    async with running(host) as statistics:
        await call(statistics)
        await call(statistics)
    assert len(host.rows()) == 1


async def test_a_receiver_that_fails_does_not_end_the_writer() -> None:
    host = Store()

    def fail() -> None:
        raise RuntimeError

    async with running(host) as statistics:
        statistics.ended(statistics.began("fs", "ls"), is_error=False).when_written(fail)
        await wait_all_tasks_blocked()
        await call(statistics)
    assert len(host.rows()) == 2


async def test_what_nobody_waits_for_is_written_before_the_writer_ends() -> None:
    host = Store()
    async with running(host) as statistics:
        recorded = statistics.ended(statistics.began("fs", "ls"), is_error=False)
    assert recorded.is_done
    assert len(host.rows()) == 1


async def test_without_its_task_each_call_writes_its_own() -> None:
    host = Store()
    statistics = Statistics(host, ManualClock())
    await call(statistics)
    assert len(host.rows()) == 1


async def test_a_long_call_is_shown_as_running_and_a_short_one_is_not(autojump_clock: MockClock) -> None:
    host = Store()
    async with running(host) as statistics:
        await call(statistics, "fs", "ls")
        assert host.event()["status"] == "success"
        started = statistics.began("fs", "read")
        await trio.sleep(STATISTICS_SWEEP_S * 4)
        running_event = host.event()
        assert (running_event["status"], running_event["action"], running_event["totalCalls"]) == ("running", "read", 1)
        await statistics.settle(statistics.ended(started, is_error=True, code="not_found"))
        assert host.event()["status"] == "error"
        assert int(str(host.event()["seq"])) > int(str(running_event["seq"]))
    assert host.writes == 3


async def test_display_events_are_numbered_upwards_inside_one_millisecond() -> None:
    host = Store()
    async with running(host) as statistics:
        seen = []
        for _ in range(3):
            await call(statistics)
            seen.append(host.event()["seq"])
    assert seen == sorted(set(seen), key=int)  # type: ignore[arg-type]


async def test_the_mascots_own_calls_earn_nothing_and_spending_needs_enough() -> None:
    host = Store()
    async with running(host) as statistics:
        await call(statistics, "mascot", "shop")
        assert (await statistics.balance()).balance == 0
        with pytest.raises(ValueError, match="is less than"):
            await statistics.spend(3, "buy:milk")
        for _ in range(4):
            statistics.ended(statistics.began("fs", "ls"), is_error=False)
        assert (await statistics.balance()).balance == 4
        assert (await statistics.spend(3, "buy:milk")).balance == 1
    assert (host.stats()["lastAction"], host.stats()["totalCalls"]) == ("buy:milk", 4)


async def test_a_call_whose_caller_has_left_still_writes_its_statistics() -> None:
    host = Store()
    async with running(host) as statistics:
        with trio.CancelScope() as scope:
            scope.cancel()
            await call(statistics)
        assert len(host.rows()) == 1


async def test_a_read_that_is_cancelled_while_it_runs_is_counted_and_its_slot_is_free() -> None:
    host = Store()
    entered = trio.Event()
    leave = trio.Event()

    async def stalled(path: str, arguments: object = None) -> str:
        entered.set()
        await leave.wait()
        return "3.7.3"

    host.call = stalled  # type: ignore[method-assign,assignment]
    async with open_world(host) as world, trio.open_nursery() as nursery:
        prepared = await world.tools.prepare("system", {"action": "get_version"}, CALLER)
        assert prepared.lane is not None
        ticket = world.scheduler.admit()
        answered = trio.Event()
        world.scheduler.submit(
            ticket,
            prepared.lane,
            lambda run: world.tools.perform(prepared, run, CALLER),
            on_answer=lambda outcome: answered.set(),
        )
        await nursery.start(world.tools.run)
        await entered.wait()
        world.scheduler.cancel_ticket(ticket)
        assert answered.is_set()
        leave.set()
        await wait_all_tasks_blocked()
        assert [row["errorCode"] for row in host.rows()] == ["request_cancelled"]
        nursery.cancel_scope.cancel()


async def test_the_lane_is_free_while_a_call_waits_for_its_statistics() -> None:
    class Held(Store):
        gate = trio.Event()

        async def keep_records(self, records: Sequence[Record]) -> None:
            await self.gate.wait()
            await super().keep_records(records)

    host = Held()
    async with open_world(host) as world, trio.open_nursery() as nursery:
        await nursery.start(world.tools.run)
        results = [await world.call("system", action="get_version") for _ in range(10)]
        assert all(result.recorded is not None and not result.recorded.is_done for result in results)
        host.gate.set()
        await wait_all_tasks_blocked()
        assert all(result.recorded is not None and result.recorded.is_done for result in results)
        assert len(host.rows()) == 10
        nursery.cancel_scope.cancel()


async def test_broken_purses_start_anew() -> None:
    host = Store()
    for broken in (b"[broken", b"[]", b'{"totalCalls":"x"}'):
        host.files[STATS_FILE] = broken
        async with running(host) as statistics:
            await call(statistics)
        assert host.stats()["totalCalls"] == 1


async def test_a_row_tells_size_error_time_and_names_of_parameters() -> None:
    host = Store()
    async with running(host) as statistics:
        started = statistics.began("fs", "ls", {"path": "secret", "action": "ls"})
        await statistics.settle(statistics.ended(started, is_error=True, code="not_found", size=30_000))
    (row,) = host.rows()
    assert row | {"seq": 0, "ts": 0} == {
        "seq": 0,
        "tool": "fs",
        "action": "ls",
        "status": "error",
        "ts": 0,
        "durationMs": 0,
        "errorCode": "not_found",
        "paramKeys": ["path", "action"],
        "resultSizeHint": "20K+",
        "transport": "kernel",
    }


async def test_a_host_without_records_gets_and_puts_and_rotates() -> None:
    host = FakeHost()
    host.files[ANALYTICS_FILE] = full = b"old\n" * (ANALYTICS_FILE_BYTES_MAX // 4)
    async with running(host) as statistics:
        await call(statistics)
        await call(statistics)
    assert host.files[f"{ANALYTICS_FILE}.1"] == full
    assert host.files[ANALYTICS_FILE].count(b"\n") == 2
    assert json.loads(host.files[STATS_FILE])["totalCalls"] == 2
