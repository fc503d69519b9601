"""The machine dies at every operation of its disk, by a kill and by power cuts: what was answered is there afterwards.

One client writes with every kind of write that the book knows; ledger and documents lie on the simulated disk. Each run
crashes at one operation (create, write, truncate, fsync, rename, unlink, folder), starts again on what the disk kept,
and calls every promise in. A refusing disk is swept the same way.
"""

from __future__ import annotations

import pytest

from kernel.sim.script import Mishap, Operation, Script
from kernel.sim.world import run_world

POINTS_MAX = 2_000
# The slow sweeps are cut into as many tests.
SHARDS = 5
# Which write an operation makes: update, append, set_attrs, rename, create (kernel.sim.actor).
PICKS = (0, 3, 4, 5, 6)


def script(*mishaps: Mishap, seed: int = 1, picks: tuple[int, ...] = PICKS) -> Script:
    writes = [Operation(number, 0, "commit", 0.0, 0, pick, True) for number, pick in enumerate(picks)]
    asks = [Operation(100, 0, "dangerous", 0.0, 0, 0, True), Operation(101, 0, "replay", 0.0, 0, 1, True)]
    return Script(seed, ("modern",), (*writes, *asks), mishaps, 0.0)


def sweep(kind: str, *, picks: tuple[int, ...], first: int = 0, stride: int = 1, **mishap: object) -> int:
    """Run until the mishap has nothing left to hit; the number of runs."""
    for number, point in enumerate(range(first, POINTS_MAX, stride)):
        mishaps = (Mishap(0, kind, nth=point, **mishap),)  # type: ignore[arg-type]
        report = run_world(script(*mishaps, seed=point + 1, picks=picks), keeps_trace=True)
        assert not report.failure, f"{kind} at operation {point}: {report.failure}"
        if not any(" disk " in f" {line}" for line in report.trace):
            assert report.host_writes >= len(picks)
            return number
    raise AssertionError("the disk is never left alone")


@pytest.mark.parametrize("is_power_cut", [False, True])
def test_a_crash_at_points_of_one_write(is_power_cut: bool) -> None:
    """A part of the sweep below, for every run of the suite."""
    assert sweep("disk-crash", picks=(0,), stride=13, is_power_cut=is_power_cut) >= 2


def test_a_disk_that_refuses_at_points_of_one_creation() -> None:
    """A document and its folder's order are two files: a disk that takes one of them has not refused the call."""
    assert sweep("disk-refusal", picks=(6,), stride=3, do="full", times=1) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("is_power_cut", [False, True])
def test_a_crash_at_every_operation(is_power_cut: bool, shard: int) -> None:
    assert sweep("disk-crash", picks=PICKS, first=shard, stride=SHARDS, is_power_cut=is_power_cut) > 100 // SHARDS


@pytest.mark.slow
@pytest.mark.parametrize("word", ["full", "io"])
@pytest.mark.parametrize("times", [1, 20])
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_disk_that_refuses_at_every_operation(word: str, times: int, shard: int) -> None:
    assert sweep("disk-refusal", picks=PICKS, first=shard, stride=SHARDS, do=word, times=times) > 100 // SHARDS


@pytest.mark.slow
@pytest.mark.parametrize("first", [30, 45, 60])
@pytest.mark.parametrize("is_power_cut", [False, True])
def test_a_second_crash_at_every_operation_of_the_start_after_the_first(is_power_cut: bool, first: int) -> None:
    """Recovery is interrupted too: settling what was in doubt must be as safe as writing it."""
    for later in range(1, 40):
        mishaps = (
            Mishap(0, "disk-crash", nth=first, is_power_cut=is_power_cut),
            Mishap(1, "disk-crash", nth=first + later, is_power_cut=True),
        )
        report = run_world(script(*mishaps, seed=first * 100 + later))
        assert not report.failure, f"crashes at operations {first} and {first + later}: {report.failure}"
        assert report.lives >= 3
