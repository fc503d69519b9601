"""What must hold when nobody asks for anything any more: nothing is left over, and every promise can be called in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from kernel.app import App
from kernel.mcp.limits import CONFIRMATIONS_PENDING_MAX, SESSIONS_MAX
from kernel.safety.limits import LEASES_MAX, LEDGER_LIVE_MAX, RECEIPTS_CACHED_MAX
from kernel.sim.client import Lost, SimulatedClient
from kernel.sim.model import BrokenPromise

if TYPE_CHECKING:
    from kernel.sim.world import World

# Longer than a commit's bound and all read-backs: what runs on after a cut connection has ended by then.
_QUIET_S: Final = 100.0
# A receipt is kept this long; a world in which the clock jumps further may have lost it.
_FORGETTING: Final = frozenset({"request_id_expired"})


async def check_at_rest(world: World, app: App, what: str, *, calls_in: bool) -> None:
    """Wait until all is quiet, then look; with ``calls_in`` every promise is called in. Raises BrokenPromise."""
    for client in world.clients:
        client.sever()
    await trio.sleep(_QUIET_S)
    if world.app is not app:
        raise BrokenPromise(f"{what}: the kernel ended by itself")
    _check_nothing_left(world, app, what)
    _check_bounds(app, what)
    if calls_in:
        await _check_promises(world, what)


def _check_nothing_left(world: World, app: App, what: str) -> None:
    statistics = app.scheduler.statistics()
    try:
        world.checker.verify(statistics)
    except AssertionError as error:
        raise BrokenPromise(f"{what}: {error}") from None
    ledger = app.coordinator.ledger.statistics()
    if ledger["executing"]:
        raise BrokenPromise(f"{what}: {ledger['executing']} writes are still executing")
    endpoint = app.endpoint.statistics()
    for name in ("busy", "notificationStreams", "listenStreams"):
        if endpoint.get(name):
            raise BrokenPromise(f"{what}: {endpoint[name]} left of {name}")
    connections = app.server.statistics().connections
    if connections:
        raise BrokenPromise(f"{what}: {connections} connections are still open")
    # Its clients are gone: what is left are the kernel's own few tasks.
    tasks = [task.name for task in (world.serving.child_tasks if world.serving else ())]
    if tasks:
        raise BrokenPromise(f"{what}: tasks are left: {tasks[:3]}")


def _check_bounds(app: App, what: str) -> None:
    ledger = app.coordinator.ledger.statistics()
    bounds = (
        ("leases", len(app.coordinator.leases), LEASES_MAX),
        ("issued ids", ledger["issued"], LEDGER_LIVE_MAX),
        ("receipts", ledger["receiptsCached"], RECEIPTS_CACHED_MAX),
        ("sessions", len(app.endpoint.sessions), SESSIONS_MAX),
        ("confirmations", len(app.endpoint.confirmations), CONFIRMATIONS_PENDING_MAX),
    )
    for name, count, most in bounds:
        if count > most:
            raise BrokenPromise(f"{what}: {count} {name}, at most {most} may be")


async def _check_promises(world: World, what: str) -> None:
    """Every id answers as it did, and every block shows its last write."""
    client = SimulatedClient("auditor", "modern", world.connect, world.chance)
    book = world.book
    try:
        for prepared in list(world.prepared):
            identity = book.identities[prepared.request_id]
            if identity.first is None and not identity.is_in_doubt:
                continue
            attempt = book.attempt(prepared.mark, prepared.request_id)
            answer = await client.call(prepared.tool, prepared.action, prepared.commit_arguments)
            world.log(what, prepared.mark, answer.get("error", {}).get("code"))
            book.answered(attempt, answer)
            if identity.first is not None and attempt.code and not _may_forget(world, attempt.code):
                raise BrokenPromise(f"{what}: {prepared.request_id} was committed; its replay ends in {attempt.code}")
        for block in world.notes.blocks[:3]:
            step = book.step
            answer = await client.call("block", "get_kramdown", {"id": block})
            world.check_text(block, answer, step, what)
    except Lost:
        raise BrokenPromise(f"{what}: the kernel does not answer") from None
    client.sever()
    await trio.sleep(1.0)


def _may_forget(world: World, code: str) -> bool:
    return code in _FORGETTING and any(one.kind == "jump" and one.seconds > 604_800 for one in world.script.mishaps)
