"""Worlds on a Dask cluster: shards of seeds are its tasks. Needs the extra ``[dask]``; the cluster is Dask's own affair.

A worker needs the same release of this package and nothing else. A task whose worker is lost runs on another one: a
world is the same wherever it runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any, Final

from kernel import __version__
from kernel.sim.limits import CLUSTER_ANSWER_S_MAX, SEEDS_PER_SHARD, SHARDS_WAITING_MAX
from kernel.sim.runs import Ran, run_seed, same_hashes

# A cluster of this machine's own processes, for the length of the run.
LOCAL: Final = "local"
# A world puts its own in the place of the process's clock, threads and disk: one at a time in each process, however
# many threads its worker has.
_one_world: Final = threading.Lock()


class ClusterFailed(Exception):
    """The cluster cannot be had, or was lost; the message says how, in one line."""


def run_on_cluster(seeds: Iterable[int], address: str, *, jobs: int = 1) -> Iterator[Ran]:
    """The worlds of ``seeds``, in any order. ``address``: of a scheduler, or ``local`` with ``jobs`` workers.

    Raises:
        ClusterFailed: no Dask, no scheduler there, another release on a worker, or the cluster was lost on the way.
    """
    try:
        import distributed
    except ImportError:
        raise ClusterFailed('--dask needs Dask: pip install "sisyphus-kernel[dask]"') from None
    if address != LOCAL and not address.rpartition(":")[2].isdigit():
        raise ClusterFailed(f"{address!r} is no address of a scheduler: write tcp://HOST:PORT, or local")
    lost = (OSError, CancelledError, distributed.KilledWorker)
    with ExitStack() as stack:
        try:
            client = stack.enter_context(_connected(distributed, address, jobs))
        except (OSError, ValueError, ImportError) as error:
            raise ClusterFailed(f"no Dask scheduler answers at {address}: {_first_line(error)}") from None
        _check_releases(client)
        try:
            yield from _worlds(distributed, client, seeds)
        except lost as error:
            raise ClusterFailed(f"the cluster at {address} was lost: {_first_line(error)}") from None


def run_shard(seeds: Sequence[int]) -> list[Ran]:
    """One task: its worlds, one after the other. Runs on a worker."""
    with _one_world:
        return [run_seed(seed) for seed in seeds]


def release() -> str:
    """Which release of this package a worker has."""
    return __version__


@contextmanager
def _connected(distributed: Any, address: str, jobs: int) -> Iterator[Any]:
    if address != LOCAL:
        with distributed.Client(address, timeout=CLUSTER_ANSWER_S_MAX, set_as_default=False) as client:
            yield client
        return
    with (
        same_hashes(),
        distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None) as own,
        distributed.Client(own, set_as_default=False) as client,
    ):
        yield client


def _check_releases(client: Any) -> None:
    try:
        releases: dict[str, str] = client.run(release)
    except Exception as error:  # whatever a worker without this package makes of it
        raise ClusterFailed(f"a worker cannot run worlds: {_first_line(error)}") from None
    if not releases:
        raise ClusterFailed("the cluster has no workers")
    for worker, found in releases.items():
        if found != __version__:
            raise ClusterFailed(f"the worker {worker} has sisyphus-kernel {found}, here is {__version__}")


def _worlds(distributed: Any, client: Any, seeds: Iterable[int]) -> Iterator[Ran]:
    """Hand over so many shards, and one more for each that comes back: a million seeds are no million tasks at once."""
    shards = _shards(seeds)
    running = distributed.as_completed(loop=client.loop)
    for shard in islice(shards, SHARDS_WAITING_MAX):
        running.add(client.submit(run_shard, shard, pure=False))
    for done in running:
        yield from done.result()
        done.release()
        if (shard := next(shards, ())) != ():
            running.add(client.submit(run_shard, shard, pure=False))


def _shards(seeds: Iterable[int]) -> Iterator[tuple[int, ...]]:
    rest = iter(seeds)
    while shard := tuple(islice(rest, SEEDS_PER_SHARD)):
        yield shard


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
