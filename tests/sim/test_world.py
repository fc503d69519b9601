"""Whole worlds: the same seed is the same run, everything that is promised holds, and what is broken is found."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernel.safety import ledger_store
from kernel.safety.ledger import Ledger
from kernel.safety.ledger_store import Job
from kernel.safety.rows import Row
from kernel.safety.write import WriteEvent
from kernel.sim.notes import start_notes
from kernel.sim.runs import run_seed, tally
from kernel.sim.script import Mishap, Operation, Script, write_script
from kernel.sim.world import run_world
from kernel.siyuan.durable import Durable
from scheduler.admission import Admission
from scheduler.assignment import Slots

ROOT = Path(__file__).parents[2]


def test_the_same_seed_is_the_same_run() -> None:
    script = write_script(7).only(operations=range(12))
    first, second = (run_world(script, keeps_trace=True) for _ in range(2))
    assert first.trace == second.trace
    assert first.digest == second.digest
    assert run_world(replace(script, seed=8)).digest != first.digest


@pytest.mark.slow
def test_the_same_seed_is_the_same_run_in_another_process() -> None:
    """Whatever texts hash to there, and wherever objects lie in memory."""

    def digest(seed: int, hashes: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "kernel", "sim", "--seeds", str(seed), "--mishaps", "0", "--json"],
            env={**os.environ, "PYTHONHASHSEED": hashes},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    for seed in range(20, 30):
        told = {digest(seed, hashes) for hashes in ("0", "1", "2")}
        assert len(told) == 1
        assert "digest" in told.pop()


@pytest.mark.slow
def test_worlds_hold_their_promises_and_are_counted() -> None:
    total = tally(range(40, 44), jobs=1)
    assert total.failures == []
    assert total.worlds == 4
    assert total.operations >= 120
    assert total.host_writes > 0
    assert total.lives >= 8


@pytest.mark.slow
def test_a_burst_is_refused_in_part_and_answered_whole() -> None:
    burst = Operation(0, 0, "burst", 0.0, 0, 0, True)
    report = run_world(Script(1, ("modern",), (burst,), (), 0.02), keeps_trace=True)
    assert report.failure == ""
    assert any("queue_full" in line for line in report.trace)


# --- what is broken is found -----------------------------------------------------------------------------------------

Plant = Callable[[pytest.MonkeyPatch], None]


def acknowledged_before_it_is_durable(patch: pytest.MonkeyPatch) -> None:
    async def settle(self: Durable) -> None:
        return

    patch.setattr(Durable, "settle", settle)


def settled_in_memory_only(patch: pytest.MonkeyPatch) -> None:
    original = ledger_store.settle

    def settle(row: Row) -> Job:
        def job(connection: Any) -> Row:
            return row

        return job if row.state.value == "committed" else original(row)

    patch.setattr(ledger_store, "settle", settle)


def begun_again_after_a_lost_answer(patch: pytest.MonkeyPatch) -> None:
    async def settle(self: Ledger, row: Row, event: WriteEvent, **facts: Any) -> Row:
        if event in (WriteEvent.REFUSED, WriteEvent.REPLY_LOST):
            self.unclaim(row)  # as if it had never begun: the next attempt writes again
            return row
        settled: Row = await original(self, row, event, **facts)
        return settled

    original = Ledger.settle
    patch.setattr(Ledger, "settle", settle)


def two_mutations_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Slots, "free", lambda self, lane: 1)
    patch.setattr(Slots, "take", lambda self, lane: None)
    patch.setattr(Slots, "release", lambda self, lane: None)


def cancelled_runs_keep_their_slots(patch: pytest.MonkeyPatch) -> None:
    original = Admission.let_go

    def let_go(self: Admission, ticket: Any) -> bool:
        return not ticket.is_cancelled and original(self, ticket)

    patch.setattr(Admission, "let_go", let_go)


WRITES = tuple(Operation(number, 0, "commit", 0.0, 0, 0, True) for number in range(3))
AGAIN = (Operation(0, 0, "commit", 0.0, 0, 3, True), Operation(1, 0, "again", 0.0, 0, 0, True))
LOST = (Mishap(0, "rule", point="host.after:/api/block/appendBlock", do="drop"),)
TOGETHER = tuple(Operation(number, number, "commit", 0.0, 0, 0, False) for number in range(3))
CANCELLED = (Operation(0, 0, "read", 0.0, 0, 1, False), Operation(1, 0, "cancel", 0.1, 0, 0, True))


@pytest.mark.parametrize(
    ("plant", "script", "finding"),
    [
        (acknowledged_before_it_is_durable, Script(1, ("modern",), WRITES, (), 0.0), "shows mark"),
        (settled_in_memory_only, Script(1, ("modern",), WRITES, (), 0.0), "in doubt now"),
        (begun_again_after_a_lost_answer, Script(1, ("modern",), AGAIN, LOST, 0.0), "second time"),
        (two_mutations_at_once, Script(1, ("modern",) * 3, TOGETHER, (), 0.1), "S1"),
        (cancelled_runs_keep_their_slots, Script(1, ("handshake",), CANCELLED, (), 0.5), "S4"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_simulator_finds(plant: Plant, script: Script, finding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start_notes()  # by a kernel that is well
    plant(monkeypatch)
    assert finding in run_world(script).failure


@pytest.mark.slow
def test_many_worlds_hold_their_promises() -> None:
    failures = [ran.failure for ran in map(run_seed, range(5_000, 5_200)) if ran.failure]
    assert failures == []
