"""A cancel at every scheduling point of a preflight and of a commit: nothing happened, or it is settled and replays."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from scheduler.testing import MOMENTS, CancelInjector, Moment, cancel_everywhere
from scheduler.ticket import RequestCancelled
from tests.safety.world import UPDATE, World, open_world


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


async def check_afterwards(world: World, answer: dict[str, Any]) -> None:
    """Whatever the cancel hit: the same call again ends in one committed write."""
    await trio.testing.wait_all_tasks_blocked()
    assert world.scheduler.statistics().in_flight == 0
    assert world.coordinator.ledger.statistics()["executing"] == 0
    was_written = world.blocks.counts.get(UPDATE, 0)
    assert was_written == (world.blocks.texts["b"] == "two")
    again = await world.commit_in_lane("b", "two", answer)
    assert again["safety"]["transactionState"] == "committed"
    assert again["safety"]["replayed"] is bool(was_written)
    assert world.blocks.counts[UPDATE] == 1


@contextmanager
def by_leaving(injector: CancelInjector, _world: World) -> Iterator[None]:
    """The caller's task is cancelled: it leaves, and the ticket is cancelled if it is before the boundary."""
    with trio.CancelScope() as scope:
        injector.strike_with(scope.cancel)
        yield
    injector.strike_with(lambda: None)


@contextmanager
def by_name(injector: CancelInjector, world: World) -> Iterator[None]:
    """The call is cancelled by its request id."""
    injector.strike_with(lambda: world.scheduler.cancel("S", 1))
    yield
    injector.strike_with(lambda: None)


Way = Callable[[CancelInjector, World], AbstractContextManager[None]]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("way", [by_leaving, by_name])
def test_a_cancel_anywhere_in_a_commit_leaves_nothing_or_a_receipt(fast_path: Path, way: Way, moment: Moment) -> None:
    async def scenario(injector: CancelInjector) -> None:
        # One file for all runs: the ids differ, and a new file costs more than all the rest.
        async with open_world(fast_path, {"b": "one"}, seed=injector.target) as world:
            answer = await world.preflight("b", "two")
            with way(injector, world):
                try:
                    await world.commit_in_lane("b", "two", answer, ticket=world.scheduler.admit(1, session="S"))
                except RequestCancelled:
                    assert world.blocks.texts["b"] == "one"
            await check_afterwards(world, answer)

    assert cancel_everywhere(scenario, moments=[moment]) > 10


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_cancel_anywhere_in_a_preflight_changes_nothing_and_spends_nothing(fast_path: Path, moment: Moment) -> None:
    async def scenario(injector: CancelInjector) -> None:
        async with open_world(fast_path, {"b": "one"}, seed=injector.target) as world:
            with injector.watch():
                await world.preflight("b", "two")
            assert world.blocks.counts.get(UPDATE) is None
            answer = await world.preflight("b", "two")
            await check_afterwards(world, answer)

    assert cancel_everywhere(scenario, moments=[moment]) >= 2


@pytest.mark.slow
def test_the_same_with_a_ledger_thread_and_many_orders() -> None:
    """Threads make the number of points vary from run to run: a random one is struck, often."""

    async def once(number: int, path: Path) -> None:
        injector = CancelInjector(number % 23, MOMENTS[number % 2])
        async with open_world(path, {"b": "one"}, is_inline=False, seed=number) as world:
            answer = await world.preflight("b", "two")
            trio.lowlevel.add_instrument(injector)
            with injector.watch():
                await world.commit_in_lane("b", "two", answer, ticket=world.scheduler.admit(1, session="S"))
            trio.lowlevel.remove_instrument(injector)
            with trio.fail_after(10):
                while world.scheduler.statistics().in_flight:  # noqa: ASYNC110 - a real thread ends it
                    await trio.sleep(0.001)
            await check_afterwards(world, answer)

    for number in range(150):
        with folder() as path:
            trio.run(once, number, path)
