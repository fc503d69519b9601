"""Statistics: nothing is lost between concurrent calls, and one write may carry many."""

from __future__ import annotations

import json

import pytest
import trio

from kernel.clock import ManualClock
from kernel.tools.limits import ANALYTICS_FILE_BYTES_MAX
from kernel.tools.statistics import ANALYTICS_FILE, EVENTS_FILE, STATS_FILE, Statistics
from tests.tools.fakes import FakeHost


async def test_a_hundred_calls_at_once_are_all_counted_in_fewer_writes() -> None:
    writes = 0

    class Counting(FakeHost):
        async def write_file(self, path: str, content: bytes) -> None:
            nonlocal writes
            writes += path == STATS_FILE
            await super().write_file(path, content)

    host = Counting()
    statistics = Statistics(host, ManualClock())
    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(statistics.began, "fs", "ls")
    assert json.loads(host.files[STATS_FILE]) | {"updatedAt": 0} == {"totalCalls": 100, "balance": 100, "updatedAt": 0}
    assert writes < 100


async def test_display_events_are_numbered_upwards_inside_one_millisecond() -> None:
    host = FakeHost()
    statistics = Statistics(host, ManualClock())
    seen = []
    for _ in range(3):
        await statistics.ended("fs", "ls", is_error=False)
        seen.append(json.loads(host.files[EVENTS_FILE])["seq"])
    assert seen == sorted(set(seen))


async def test_the_mascots_own_calls_earn_nothing_and_spending_needs_enough() -> None:
    host = FakeHost()
    statistics = Statistics(host, ManualClock())
    await statistics.began("mascot", "shop")
    assert (await statistics.balance()).balance == 0
    with pytest.raises(ValueError):
        await statistics.spend(3, "buy:milk")
    for _ in range(4):
        await statistics.began("fs", "ls")
    assert (await statistics.spend(3, "buy:milk")).balance == 1
    assert json.loads(host.files[STATS_FILE])["lastAction"] == "buy:milk"


async def test_a_cancelled_call_still_writes_its_statistics() -> None:
    host = FakeHost()
    statistics = Statistics(host, ManualClock())
    with trio.CancelScope() as scope:
        scope.cancel()
        await statistics.began("fs", "ls")
    assert json.loads(host.files[STATS_FILE])["totalCalls"] == 1


async def test_broken_files_start_anew_and_a_full_log_keeps_its_younger_half() -> None:
    host = FakeHost()
    statistics = Statistics(host, ManualClock())
    host.files[STATS_FILE] = b"[broken"
    await statistics.began("fs", "ls")
    assert json.loads(host.files[STATS_FILE])["totalCalls"] == 1
    host.files[ANALYTICS_FILE] = b"old\n" * (ANALYTICS_FILE_BYTES_MAX // 4)
    await statistics.ended("fs", "ls", is_error=True, code="not_found", size=30_000)
    lines = host.files[ANALYTICS_FILE].splitlines()
    assert len(host.files[ANALYTICS_FILE]) <= ANALYTICS_FILE_BYTES_MAX
    assert json.loads(lines[-1])["resultSizeHint"] == "20K+"
    assert json.loads(lines[-1])["errorCode"] == "not_found"
