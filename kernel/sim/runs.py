"""Many worlds: seeds spread over processes, what they found, and how fast they were."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter, process_time
from typing import Any

from kernel.sim.limits import SEEDS_MAX, SEEDS_PER_SHARD
from kernel.sim.script import Script, write_script
from kernel.sim.shrink import shrink
from kernel.sim.world import run_world


class SeedsInvalid(ValueError):
    """No range of seeds; the message says what one looks like."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A world that broke a promise. ``replay`` is the command that breaks it again."""

    seed: int
    failure: str
    replay: str
    operations: int
    mishaps: int


@dataclass(slots=True)
class Tally:
    """What many worlds come to. ``cpu_s``: processor seconds of all processes, without their start."""

    worlds: int = 0
    operations: int = 0
    lives: int = 0
    host_writes: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    was_interrupted: bool = False
    trouble: str = ""  # why it ended before all worlds were run
    failures: list[Finding] = field(default_factory=list)

    @property
    def worlds_per_cpu_s(self) -> float:
        return self.worlds / self.cpu_s if self.cpu_s else 0.0

    @property
    def operations_per_cpu_s(self) -> float:
        return self.operations / self.cpu_s if self.cpu_s else 0.0

    def as_json(self) -> dict[str, Any]:
        rates = {"worldsPerCpuSecond": self.worlds_per_cpu_s, "operationsPerCpuSecond": self.operations_per_cpu_s}
        return {**asdict(self), **{name: round(rate, 2) for name, rate in rates.items()}}


@dataclass(frozen=True, slots=True)
class Ran:
    """One world, as its process tells it."""

    seed: int
    digest: str
    operations: int
    lives: int
    host_writes: int
    cpu_s: float
    failure: str


def parse_seeds(text: str) -> range:
    """``A..B`` (both ends run) or one number. Raises SeedsInvalid."""
    first, dots, last = text.partition("..")
    try:
        seeds = range(int(first), int(last if dots else first) + 1)
    except ValueError:
        raise SeedsInvalid(f"{text!r} is no range of seeds: write 1..1000, or one number") from None
    if not seeds or seeds[0] < 0:
        raise SeedsInvalid(f"{text!r} holds no seed: write 1..1000, the smaller one first, from 0 on")
    if len(seeds) > SEEDS_MAX:
        raise SeedsInvalid(f"{text!r} holds {len(seeds)} seeds, at most {SEEDS_MAX} are run at once")
    return seeds


def run_seed(seed: int) -> Ran:
    """One world, measured."""
    before = process_time()
    report = run_world(write_script(seed))
    spent = process_time() - before
    return Ran(seed, report.digest, report.operations, report.lives, report.host_writes, spent, report.failure)


def run_seeds(seeds: Iterable[int], *, jobs: int) -> Iterator[Ran]:
    """All of them, in any order. With more than one job each process runs its own share."""
    if jobs == 1:
        yield from map(run_seed, seeds)
        return
    with same_hashes(), multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(run_seed, seeds, chunksize=SEEDS_PER_SHARD)


def tally(
    seeds: Iterable[int],
    *,
    jobs: int,
    cluster: str = "",
    shrinks: bool = True,
    told: Callable[[Tally], None] | None = None,
) -> Tally:
    """Run worlds and count; ``told`` is called after each. ``cluster``: where they run (``kernel.sim.cluster``), else
    here. An interrupt, or the loss of the cluster, ends it early, and what was run is counted."""
    from kernel.sim.cluster import ClusterFailed, run_on_cluster

    total = Tally()
    started = perf_counter()
    worlds = run_on_cluster(seeds, cluster, jobs=jobs) if cluster else run_seeds(seeds, jobs=jobs)
    try:
        _count(worlds, total, shrinks=shrinks, told=told)
    except KeyboardInterrupt:
        total.was_interrupted = True
    except ClusterFailed as error:
        total.trouble = str(error)
    total.wall_s = perf_counter() - started
    return total


def _count(worlds: Iterator[Ran], total: Tally, *, shrinks: bool, told: Callable[[Tally], None] | None) -> None:
    for ran in worlds:
        total.worlds += 1
        total.operations += ran.operations
        total.lives += ran.lives
        total.host_writes += ran.host_writes
        total.cpu_s += ran.cpu_s
        if ran.failure:
            total.failures.append(finding(ran, shrinks=shrinks))
        if told is not None:
            told(total)


def finding(ran: Ran, *, shrinks: bool) -> Finding:
    """A failed world made small, with the line that repeats it."""
    whole = write_script(ran.seed)
    script = shrink(whole, ran.failure, failure_of) if shrinks else whole
    return Finding(ran.seed, ran.failure, replay_line(script, whole), len(script.operations), len(script.mishaps))


def failure_of(script: Script) -> str:
    """What a script breaks."""
    return run_world(script).failure


def replay_line(script: Script, whole: Script) -> str:
    """The command that runs this script again."""
    line = f"python -m kernel sim --seeds {script.seed}"
    for name, some, all_ in (
        ("operations", script.operations, whole.operations),
        ("mishaps", script.mishaps, whole.mishaps),
    ):
        if len(some) != len(all_):
            line += f" --{name} {','.join(str(one.number) for one in some) or 'none'}"
    return line


def parse_numbers(text: str | None) -> Collection[int] | None:
    """``3,7,12`` or ``none``; None for all. Raises SeedsInvalid."""
    if text is None:
        return None
    if text == "none":
        return frozenset()
    try:
        return frozenset(int(one) for one in text.split(","))
    except ValueError:
        raise SeedsInvalid(f"{text!r} is no list of numbers: write 3,7,12 or none") from None


@contextmanager
def same_hashes() -> Iterator[None]:
    """Inside: new processes hash texts alike, so that a world is the same in each of them whatever it puts into a set."""
    saved = os.environ.get("PYTHONHASHSEED")
    os.environ["PYTHONHASHSEED"] = "0"
    try:
        yield
    finally:
        if saved is None:
            del os.environ["PYTHONHASHSEED"]
        else:
            os.environ["PYTHONHASHSEED"] = saved
