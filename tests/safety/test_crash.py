"""kill -9 at every point of the write path, of a real process: never two host writes, never a receipt lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kernel.faults.points import LEDGER_POINTS, WRITE_POINTS

ROOT = Path(__file__).parents[2]
# In each of twenty batches.
ROUNDS = 15
CREDENTIALS = ("requestId", "expectedStateHash")
PREFLIGHT = {"do": "preflight", "id": "b", "data": "new"}
COMMIT = {"do": "commit", "id": "b", "data": "new", "use": CREDENTIALS}


class Process:
    """One life."""

    def __init__(self, folder: Path, faults: list[dict[str, Any]] | None = None) -> None:
        environment = {**os.environ, "FAULTS": json.dumps(faults or []), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.safety.crash_process", str(folder)],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def order(self, order: dict[str, Any]) -> dict[str, Any] | None:
        """The answer; None if the process died instead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        code = self._process.wait(timeout=20)
        self._process.stdout.close()
        return code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b").write_text("old")
    return tmp_path


def writes(folder: Path) -> int:
    log = folder / "writes.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def replayed(folder: Path, answer: dict[str, Any]) -> dict[str, Any]:
    """The same commit in a new life."""
    process = Process(folder)
    told = process.order({**COMMIT, "use": (), **{name: answer[name] for name in CREDENTIALS}})
    assert process.end() == 0
    assert told is not None
    return told


def outcome_of(told: dict[str, Any]) -> str:
    if "error" in told:
        return str(told["error"]["code"])
    return told["safety"]["transactionState"] + (" replayed" if told["safety"]["replayed"] else "")


# Where the process dies in a commit, and what the same commit answers in the next life.
AFTERWARDS = {
    "write.commit.found": "preflight_lease_invalid",
    "write.commit.checked": "preflight_lease_invalid",
    "write.commit.entered": "preflight_lease_invalid",
    "ledger.begin.before": "preflight_lease_invalid",
    "ledger.begin.after": "outcome_unknown",
    "write.commit.begun": "outcome_unknown",
    "write.commit.written": "outcome_unknown",
    "write.commit.observing": "outcome_unknown",
    "write.commit.observed": "outcome_unknown",
    "ledger.settle.before": "outcome_unknown",
    "ledger.settle.after": "committed replayed",
    "write.commit.settled": "committed replayed",
    "host.before:/api/block/updateBlock": "outcome_unknown",
    "host.after:/api/block/updateBlock": "outcome_unknown",
}
PREFLIGHT_POINTS = (
    "write.preflight.entered",
    "write.preflight.probed",
    "write.preflight.issued",
    "ledger.issue.before",
    "ledger.issue.after",
)
BEFORE_THE_WRITE = {
    "write.commit.found",
    "write.commit.checked",
    "write.commit.entered",
    "ledger.begin.before",
    "ledger.begin.after",
    "write.commit.begun",
    "host.before:/api/block/updateBlock",
}


@pytest.mark.slow
@pytest.mark.parametrize("point", AFTERWARDS)
def test_a_process_that_dies_in_a_commit_never_writes_twice(folder: Path, point: str) -> None:
    first = Process(folder, [{"point": point, "do": "crash"}])
    answer = first.order(PREFLIGHT)
    assert answer is not None
    assert first.order(COMMIT) is None
    assert first.end() != 0
    assert writes(folder) == (point not in BEFORE_THE_WRITE)
    for _ in range(2):
        told = replayed(folder, answer)
        assert outcome_of(told) == AFTERWARDS[point]
        assert writes(folder) == (point not in BEFORE_THE_WRITE)


@pytest.mark.slow
@pytest.mark.parametrize("point", PREFLIGHT_POINTS)
def test_a_process_that_dies_in_a_preflight_wrote_nothing_and_blocks_nothing(folder: Path, point: str) -> None:
    first = Process(folder, [{"point": point, "do": "crash"}])
    assert first.order(PREFLIGHT) is None
    first.end()
    second = Process(folder)
    assert second.order(PREFLIGHT) is not None
    told = second.order(COMMIT)
    assert told is not None
    assert outcome_of(told) == "committed"
    assert second.end() == 0
    assert writes(folder) == 1


def test_every_point_of_the_write_path_is_one_where_a_process_dies_above() -> None:
    assert {*WRITE_POINTS, *LEDGER_POINTS} == {
        point for point in (*AFTERWARDS, *PREFLIGHT_POINTS) if not point.startswith("host.")
    }


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(20))
def test_kill_9_at_any_moment_three_hundred_times(tmp_path: Path, batch: int) -> None:
    """Not at a named point but at a random one: the disk may be in the middle of anything."""
    chance = random.Random(20260301 + batch)
    seen: dict[str, int] = {}
    process = Process(tmp_path)
    for round_number in range(ROUNDS):
        block = f"b{round_number}"
        (tmp_path / block).write_text("old")
        log = tmp_path / "writes.log"
        answer = process.order({"do": "preflight", "id": block, "data": "new"})
        assert answer is not None
        order = {"do": "commit", "id": block, "data": "new", **{name: answer[name] for name in CREDENTIALS}}
        assert process._process.stdin is not None
        process._process.stdin.write(json.dumps(order) + "\n")
        process._process.stdin.flush()
        time.sleep(chance.random() * 0.006)
        process.kill()
        assert process._process.stdout is not None
        first = process._process.stdout.readline()
        process.end()
        process = Process(tmp_path)
        again = process.order(order)
        assert again is not None
        outcome = outcome_of(again)
        seen[outcome] = seen.get(outcome, 0) + 1
        count = log.read_text().splitlines().count(block) if log.exists() else 0
        text = (tmp_path / block).read_text()
        assert count <= 1
        if outcome == "preflight_lease_invalid":
            assert (count, text) == (0, "old")
        elif outcome == "committed replayed":
            assert (count, text) == (1, "new")
        else:
            assert outcome == "outcome_unknown"
        if first:
            # Its receipt was given out: it must not be lost.
            assert outcome == "committed replayed"
    process.end()
    assert sum(seen.values()) == ROUNDS
