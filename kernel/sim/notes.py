"""The notes that every world begins with, written once by a kernel of its own: a notebook, two documents, settings."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import trio
from trio.testing import MockClock

from kernel.ids import SeededIds
from kernel.sim.clock import VirtualClock
from kernel.sim.disk import Image, SimulatedDisk
from kernel.sim.life import WatchedHost, inline_threads, open_life
from kernel.siyuan.kernel import SiyuanKernel
from kernel.tools.configuration import PERMISSIONS_FILE, TOOLS_FILE
from kernel.tools.registry import TOOLS
from scheduler.testing import controlled_order

TEXTS: Final = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")
_SEED: Final = 20260301


@dataclass(frozen=True, slots=True)
class Notes:
    """Where things are. ``blocks``: three with texts to change, one with attributes, one to delete."""

    image: Image
    notebook: str
    document: str
    other: str
    blocks: tuple[str, ...]


@functools.lru_cache(maxsize=1)
def start_notes() -> Notes:
    """The disk of a machine with the first notes on it."""
    made: list[Notes] = []

    async def make() -> None:
        made.append(await _make())

    with inline_threads(), controlled_order(random.Random(_SEED)):
        trio.run(make, clock=MockClock(autojump_threshold=0))
    return made[0]


async def _make() -> Notes:
    clock = VirtualClock()
    disk = SimulatedDisk(wall_ms=clock.wall_ms)
    async with open_life(disk, clock, SeededIds(_SEED), make_host=unwatched) as app:
        call, write_file = app.host.call, app.host.write_file
        notebook = (await call("/api/notebook/createNotebook", {"name": "Box"}))["notebook"]["id"]
        markdown = "\n\n".join(TEXTS)
        place = {"notebook": notebook, "path": "/Plan", "markdown": markdown}
        document = await call("/api/filetree/createDocWithMd", place)
        other = await call("/api/filetree/createDocWithMd", {"notebook": notebook, "path": "/Log", "markdown": "Log"})
        children = await call("/api/block/getChildBlocks", {"id": document})
        await write_file(TOOLS_FILE, json.dumps(settings()).encode())
        await write_file(PERMISSIONS_FILE, json.dumps({notebook: "rwd"}).encode())
    return Notes(disk.after_kill(), notebook, document, other, tuple(child["id"] for child in children))


def settings() -> Mapping[str, Any]:
    """Every action on, strict writes."""
    on = {name: {"actions": {action.name: True for action in tool.actions}} for name, tool in TOOLS.items()}
    return {**on, "writeSafety": {"strictMode": True}}


def unwatched(kernel: SiyuanKernel) -> WatchedHost:
    """A host that nobody watches."""
    return WatchedHost(kernel, lambda _path, _arguments: None, lambda _token, _is_done: None, lambda: 0.0)
