"""One life of a process that writes safely: read the orders from a file, do them, say what was answered. For kill -9.

The note host is a folder: one file per block, a line per host write in ``writes.log``. Both survive the process, as a
real note kernel would.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import trio

from kernel.clock import SystemClock
from kernel.errors import ToolError
from kernel.faults.plan import FaultPlan
from kernel.faults.reading import read_plan
from kernel.faults.trigger import Trigger
from kernel.host.base import HostApiError
from kernel.host.faulty import FaultyHost
from kernel.ids import SystemIds
from kernel.safety.intent import Intent, Observation, Outcome, Precondition
from kernel.safety.open import open_coordinator
from scheduler.scheduler import Scheduler, open_scheduler
from scheduler.ticket import Lane, Ticket

READ = "/api/block/getBlockKramdown"
UPDATE = "/api/block/updateBlock"


class FolderHost:
    """Blocks as files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def call(self, path: str, arguments: Mapping[str, Any] | None = None) -> Any:
        given = dict(arguments or {})
        file = self.folder / given["id"]
        if path == READ:
            return {"kramdown": file.read_text() if file.exists() else ""}
        if path != UPDATE:
            raise HostApiError(-1, path)
        with (self.folder / "writes.log").open("a") as log:
            log.write(f"{given['id']}\n")
        file.write_text(given["data"])
        return []

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


async def one_order(order: dict[str, Any], host: Any, coordinator: Any, scheduler: Scheduler) -> dict[str, Any]:
    async def probe() -> Observation:
        return Observation(await host.call(READ, {"id": order["id"]}), (order["id"],), 1)

    async def write() -> Outcome:
        await host.call(UPDATE, {"id": order["id"], "data": order["data"]})
        return Outcome({"success": True})

    arguments = {"id": order["id"], "data": order["data"]}
    intent = Intent("block", "update", arguments, Precondition.STATE, probe)
    intent.request_id, intent.credential = order.get("requestId"), order.get("expectedStateHash")

    async def work(ticket: Ticket) -> dict[str, Any]:
        if order["do"] == "preflight":
            return await coordinator.preflight(intent)
        return await coordinator.commit(intent, scheduler.boundary(ticket, bound_s=30), write)

    try:
        with scheduler.admit() as ticket:
            return await scheduler.perform(ticket, Lane.MUTATION, work)
    except ToolError as error:
        return error.payload()


async def live(folder: Path) -> None:
    """Answer each line of standard input with a line; an order may refer to the answer before it by ``use``."""
    trigger = Trigger(FaultPlan.of(read_plan(os.environ.get("FAULTS", "[]"))))
    host = FaultyHost(FolderHost(folder), trigger)
    previous: dict[str, Any] = {}
    async with (
        open_coordinator(folder / "state", SystemClock(), SystemIds(), trigger=trigger) as coordinator,
        open_scheduler() as scheduler,
    ):
        for line in sys.stdin:
            order = json.loads(line)
            for name in order.pop("use", ()):
                order[name] = previous[name]
            answer = await one_order(order, host, coordinator, scheduler)
            previous = {**previous, **answer}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    trio.run(live, Path(sys.argv[1]))
