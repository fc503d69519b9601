"""What goes wrong in a world, one function for each kind: planned faults, disks that refuse, crashes, jumps of the clock."""

from __future__ import annotations

import errno
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.faults.plan import Rule
from kernel.sim.disk import Crashed, Deed
from kernel.sim.script import Mishap, MishapKind

if TYPE_CHECKING:
    from kernel.sim.world import World

_ERRORS: Final = {"full": errno.ENOSPC, "io": errno.EIO}


async def plan_rule(world: World, mishap: Mishap) -> None:
    """A rule of a fault plan, in force from the start until the first crash."""
    more: dict[str, Any] = {"seconds": mishap.seconds} if mishap.do == "delay" else {}
    world.add_rule(Rule(mishap.point, mishap.do, nth=mishap.nth, times=mishap.times, **more))  # type: ignore[arg-type]


async def crash_at_point(world: World, mishap: Mishap) -> None:
    """The machine dies where the work passes a fault point."""
    world.add_rule(Rule(mishap.point, "crash", nth=mishap.nth))


async def crash_at_disk(world: World, mishap: Mishap) -> None:
    """The machine dies at one operation of its disk, in this life or, where it ends before that, while it starts again."""
    count = 0

    def watch(_number: int, deed: Deed, path: str) -> None:
        nonlocal count
        count += 1
        if count == mishap.nth + 1:
            world.log("disk dies at", deed, path.rpartition("/")[2][-12:])
            world.crash(is_power_cut=mishap.is_power_cut)
            raise Crashed

    world.watch_disk(watch)


async def refuse_at_disk(world: World, mishap: Mishap) -> None:
    """The disk is full, or broken, for some operations."""
    code = _ERRORS[mishap.do]
    count = 0

    def watch(_number: int, deed: Deed, path: str) -> None:
        nonlocal count
        # A kernel that cannot start says so and ends: nothing to watch there.
        count += world.app is not None
        if world.app is not None and mishap.nth < count <= mishap.nth + mishap.times:
            world.log("disk refuses", deed, path.rpartition("/")[2][-12:])
            raise OSError(code, os.strerror(code), path)

    world.watch_disk(watch)


async def crash_at_time(world: World, mishap: Mishap) -> None:
    """The machine dies at some moment."""
    await trio.sleep(mishap.at_s)
    await world.alive.wait()
    world.crash(is_power_cut=mishap.is_power_cut)


async def jump(world: World, mishap: Mishap) -> None:
    """The clock jumps: leases, ids, sessions or receipts are over."""
    await trio.sleep(mishap.at_s)
    world.log("jump", mishap.seconds)
    world.clock.advance(mishap.seconds)


MISHAPS: Final[Mapping[MishapKind, Callable[[Any, Mishap], Awaitable[None]]]] = {
    "rule": plan_rule,
    "crash-point": crash_at_point,
    "disk-crash": crash_at_disk,
    "disk-refusal": refuse_at_disk,
    "crash": crash_at_time,
    "jump": jump,
}
