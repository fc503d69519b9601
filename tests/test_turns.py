"""Turns of the event loop: the number grows with every wait for sockets, and with nothing else."""

from __future__ import annotations

import trio
import trio.testing

from kernel.turns import Turns


async def test_the_number_stands_within_a_turn_and_grows_with_the_next() -> None:
    turns = Turns()
    await trio.lowlevel.checkpoint()
    assert turns.number == 0, "not installed"
    trio.lowlevel.add_instrument(turns)
    try:
        await trio.lowlevel.checkpoint()
        first = turns.number
        with trio.testing.assert_no_checkpoints():
            assert turns.number == first > 0
        await trio.lowlevel.checkpoint()
        assert turns.number > first
    finally:
        trio.lowlevel.remove_instrument(turns)
