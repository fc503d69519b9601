"""Worlds on a Dask cluster: what is refused in one line, and (where the extra is installed) real workers."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from types import SimpleNamespace, TracebackType
from typing import Any

import pytest
from click.testing import CliRunner

from kernel import __version__
from kernel.sim import cluster
from kernel.sim.cluster import ClusterFailed, run_on_cluster, run_shard
from kernel.sim.command import sim_command
from kernel.sim.limits import SEEDS_PER_SHARD
from kernel.sim.runs import Ran, run_seeds, tally

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="needs the extra: pip install 'sisyphus-kernel[dask]'"
)


class KilledWorker(Exception):
    """Dask's own name for a task that no worker survived."""


class Done:
    def __init__(self, work: Callable[[], list[Ran]]) -> None:
        self.result = work

    def release(self) -> None:
        return


class Completed:
    """``distributed.as_completed``: counts how many were out at once."""

    most = 0

    def __init__(self, *, loop: object) -> None:
        assert loop == "its own"
        self._waiting: list[Done] = []

    def add(self, one: Done) -> None:
        self._waiting.append(one)
        Completed.most = max(Completed.most, len(self._waiting))

    def __iter__(self) -> Iterator[Done]:
        while self._waiting:
            yield self._waiting.pop(0)


class Client:
    """A cluster of one worker, in this process."""

    releases: dict[str, str] = {"tcp://one": __version__}
    loop = "its own"

    def __init__(self, address: object, **_options: Any) -> None:
        if address == "tcp://nobody:1":
            raise OSError("Timed out trying to connect to tcp://nobody:1 after 10 s\nand more")
        if address == "odd://one:1":
            raise ValueError("unknown address scheme 'odd'")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        return

    def run(self, function: Callable[[], str]) -> dict[str, str]:
        assert function() == __version__
        if "broken" in self.releases:
            raise ModuleNotFoundError("No module named 'kernel'")
        return self.releases

    def submit(self, work: Callable[[Any], list[Ran]], shard: Any, *, pure: bool) -> Done:
        assert pure is False
        return Done(lambda: work(shard))


def ran(seed: int) -> Ran:
    return Ran(seed, "d", 30, 1, 2, 0.1, "")


@pytest.fixture
def dask(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    module = SimpleNamespace(Client=Client, KilledWorker=KilledWorker, as_completed=Completed)
    monkeypatch.setitem(sys.modules, "distributed", module)
    monkeypatch.setattr(cluster, "run_seed", ran)
    monkeypatch.setattr(Client, "releases", {"tcp://one": __version__})
    monkeypatch.setattr(Completed, "most", 0)
    return module


def test_every_seed_runs_once_and_only_so_many_shards_are_out_at_once(
    dask: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "SHARDS_WAITING_MAX", 3)
    seeds = range(10, 10 + 7 * SEEDS_PER_SHARD + 1)
    assert sorted(one.seed for one in run_on_cluster(seeds, "tcp://one:1")) == list(seeds)
    assert Completed.most == 3


def test_without_the_extra_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused = CliRunner().invoke(sim_command, ["--seeds", "1..2", "--dask", "local"])
    assert refused.exit_code == 2
    assert 'pip install "sisyphus-kernel[dask]"' in refused.output


@pytest.mark.parametrize(
    ("address", "releases", "reason"),
    [
        ("tcp://nobody:1", {}, "no Dask scheduler answers at tcp://nobody:1: Timed out trying"),
        ("odd://one:1", {}, "no Dask scheduler answers at odd://one:1: unknown address scheme"),
        ("nowhere", {}, "'nowhere' is no address of a scheduler: write tcp://HOST:PORT, or local"),
        ("tcp://one:1", {}, "the cluster has no workers"),
        ("tcp://one:1", {"broken": ""}, "a worker cannot run worlds: No module named 'kernel'"),
        ("tcp://one:1", {"tcp://old": "0.0.1"}, f"tcp://old has sisyphus-kernel 0.0.1, here is {__version__}"),
    ],
)
def test_a_cluster_that_cannot_be_had_is_told_in_one_line(
    dask: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, address: str, releases: dict[str, str], reason: str
) -> None:
    monkeypatch.setattr(Client, "releases", releases)
    with pytest.raises(ClusterFailed, match=re.escape(reason)) as told:
        list(run_on_cluster([1], address))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("error", [KilledWorker("shard-1"), CancelledError(), OSError("closed")])
def test_what_was_run_before_the_cluster_was_lost_is_counted(
    dask: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def dies(seed: int) -> Ran:
        if seed > SEEDS_PER_SHARD:
            raise error
        return ran(seed)

    monkeypatch.setattr(cluster, "run_seed", dies)
    total = tally(range(1, 4 * SEEDS_PER_SHARD), jobs=1, cluster="tcp://one:1")
    assert total.worlds == SEEDS_PER_SHARD
    assert total.trouble.startswith("the cluster at tcp://one:1 was lost")
    assert total.as_json()["trouble"] == total.trouble
    refused = CliRunner().invoke(sim_command, ["--seeds", "9..10", "--dask", "tcp://one:1"])
    assert refused.exit_code == 2
    assert refused.output == f"{total.trouble}\n"


def test_jobs_are_no_matter_of_a_foreign_cluster() -> None:
    refused = CliRunner().invoke(sim_command, ["--seeds", "1..2", "--dask", "tcp://one:1", "--jobs", "2"])
    assert refused.exit_code == 2
    assert "--jobs is for processes of this machine" in refused.output


def test_a_shard_runs_its_worlds_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def alone(seed: int) -> Ran:
        assert cluster._one_world.locked()
        return ran(seed)

    monkeypatch.setattr(cluster, "run_seed", alone)
    assert [one.seed for one in run_shard((3, 4))] == [3, 4]


def python(*words: str) -> Any:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@needs_dask
@pytest.mark.slow
def test_a_local_cluster_counts_the_worlds() -> None:
    words = ("-m", "kernel", "sim", "--seeds", "60..69", "--dask", "local", "--jobs", "2", "--json")
    told = python(*words)
    assert (told["worlds"], told["failures"], told["trouble"]) == (10, [], "")


ON_A_SCHEDULER = """
import json
from distributed import LocalCluster
from kernel.sim.cluster import run_on_cluster
if __name__ == "__main__":
    # Two threads a worker: worlds take turns all the same.
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as own:
        found = {one.seed: one.digest for one in run_on_cluster(range(60, 78), own.scheduler_address)}
    print(json.dumps(found))
"""


@needs_dask
@pytest.mark.slow
def test_a_scheduler_elsewhere_finds_what_one_process_finds(tmp_path: Any) -> None:
    script = tmp_path / "on_a_scheduler.py"
    script.write_text(ON_A_SCHEDULER)
    found = python(str(script))
    assert found == {str(one.seed): one.digest for one in run_seeds(range(60, 78), jobs=1)}
    assert len(found) > SEEDS_PER_SHARD, "more than one shard"
