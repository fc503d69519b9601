"""The door of a full house: a few requests a turn, in order, and no cost where nobody comes."""

from __future__ import annotations

import trio
from trio.testing import wait_all_tasks_blocked

from kernel.http.limits import ENTRIES_PER_TURN_MAX
from kernel.http.turnstile import Turnstile


class Turns(trio.abc.Instrument):
    def __init__(self) -> None:
        self.number = 0

    def after_io_wait(self, timeout: float) -> None:
        self.number += 1


async def visit(turnstile: Turnstile, name: int, seen: list[tuple[int, int]], turns: Turns) -> None:
    await turnstile.enter()
    seen.append((turns.number, name))


async def crowd(turnstile: Turnstile, count: int) -> list[tuple[int, int]]:
    """Who came in, and in which turn, when all come at once."""
    turns = Turns()
    trio.lowlevel.add_instrument(turns)
    seen: list[tuple[int, int]] = []
    async with trio.open_nursery() as nursery:
        for number in range(count):
            nursery.start_soon(visit, turnstile, number, seen, turns)
    return seen


async def test_a_turn_lets_in_as_many_as_it_may_and_the_next_turns_the_rest() -> None:
    turnstile = Turnstile(lambda: True, entries_per_turn_max=3)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(turnstile.run)
        await wait_all_tasks_blocked()
        seen = await crowd(turnstile, 10)
        per_turn = [sum(turn == one for turn, _ in seen) for one in sorted({turn for turn, _ in seen})]
        assert sum(per_turn) == 10
        assert max(per_turn) == 3
        assert len(turnstile) == 0
        nursery.cancel_scope.cancel()


async def test_who_waits_is_let_in_in_the_order_of_arrival() -> None:
    turnstile = Turnstile(lambda: True, entries_per_turn_max=1)
    seen: list[int] = []

    async def come(number: int) -> None:
        await turnstile.enter()
        seen.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(5):  # the door does not open before it is run
            nursery.start_soon(come, number)
            await wait_all_tasks_blocked()
        assert seen == [0]
        assert len(turnstile) == 4
        nursery.start_soon(turnstile.run)
        await wait_all_tasks_blocked()
        assert seen == [0, 1, 2, 3, 4]
        nursery.cancel_scope.cancel()


async def test_who_gives_up_while_waiting_takes_nobodys_turn() -> None:
    turnstile = Turnstile(lambda: True, entries_per_turn_max=1)
    seen: list[str] = []

    async def come(name: str) -> None:
        await turnstile.enter()
        seen.append(name)

    async with trio.open_nursery() as nursery:
        await turnstile.enter()
        with trio.CancelScope() as scope:
            nursery.start_soon(come, "next")
            scope.cancel()
            await come("gave up")
        await wait_all_tasks_blocked()
        nursery.start_soon(turnstile.run)
        await wait_all_tasks_blocked()
        assert seen == ["next"]
        nursery.cancel_scope.cancel()


async def test_the_door_sleeps_while_nobody_comes_and_wakes_for_the_next() -> None:
    turnstile = Turnstile(lambda: True)
    entered = 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(turnstile.run)
        for _ in range(2):
            await wait_all_tasks_blocked()  # returns only if the keeper does not turn for ever
            for _ in range(ENTRIES_PER_TURN_MAX + 1):
                await turnstile.enter()
                entered += 1
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert (entered, len(turnstile)) == (2 * (ENTRIES_PER_TURN_MAX + 1), 0)
