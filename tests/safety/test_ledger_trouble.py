"""A ledger whose file is taken away, replaced or locked while the kernel runs: nothing executed, nothing forgotten."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from kernel.safety import limits
from kernel.safety.intent import Outcome
from tests.safety.told import REJECTED, refusal
from tests.safety.world import UPDATE, DirectGate, World, open_world
from tests.support.notes import code_of, make_notes, preflight
from tests.support.process import kernels

LEDGER = "writeSafetyLedger.db"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Somebody else writes to the ledger's file, and does not come to an end."""
    connection = sqlite3.connect(folder / LEDGER, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.close()


def delete(folder: Path) -> None:
    (folder / LEDGER).rename(folder / "kept.db")


def replace(folder: Path) -> None:
    shutil.copy(folder / LEDGER, folder / "copy.db")
    (folder / "copy.db").replace(folder / LEDGER)


def as_a_crash_leaves_it(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.glob(f"{LEDGER}*")}


@pytest.mark.parametrize("harm", [delete, replace])
async def test_a_ledger_that_is_taken_away_refuses_everything_strict_and_says_why(tmp_path: Path, harm: object) -> None:
    """SQLite would write on into a file without a name: ids would be used that the next start does not know."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        assert world.coordinator.trouble() == ""
        harm(tmp_path)  # type: ignore[operator]
        assert "restart" in world.coordinator.trouble()
        for call in (world.commit("b", "two", answer), world.preflight("b", "three")):
            error = await refusal(call)
            assert error.code == "write_ledger_unavailable"
            assert {name: error.outer[name] for name in REJECTED} == REJECTED
            assert "deleted or replaced" in error.message
        assert UPDATE not in world.blocks.counts


async def test_a_ledger_that_is_put_back_goes_on_where_it_was(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        delete(tmp_path)
        assert (await refusal(world.commit("b", "two", answer))).code == "write_ledger_unavailable"
        (tmp_path / "kept.db").rename(tmp_path / LEDGER)
        done = await world.commit("b", "two", answer)
        assert done["safety"]["transactionState"] == "committed"
        assert world.coordinator.trouble() == ""


async def test_a_log_that_is_deleted_loses_nothing(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        first, second = await world.preflight("b", "two"), await world.preflight("b", "three")
        await world.commit("b", "two", first)
        (tmp_path / f"{LEDGER}-wal").unlink()
        assert (await world.commit("b", "two", first))["replayed"] is True
        assert (await refusal(world.commit("b", "three", second))).code == "state_changed"
        await world.preflight("b", "three")
        kept = as_a_crash_leaves_it(tmp_path)
    for path, content in kept.items():
        path.write_bytes(content)
    async with open_world(tmp_path, world.blocks.texts, clock=world.clock, seed=5) as later:
        assert (await later.commit("b", "two", first))["replayed"] is True


async def test_after_a_restart_a_missing_ledger_is_an_empty_one(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
    delete(tmp_path)
    async with open_world(tmp_path, {"b": "one"}, clock=world.clock) as later:
        assert (await refusal(later.commit("b", "two", answer))).code == "request_id_expired"


async def commit_under_lock(world: World, answer: dict[str, object]) -> None:
    """A commit whose host write is the moment at which somebody locks the ledger; until then it goes well."""
    intent, write = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])
    lock = locked(world.folder)

    async def write_and_lock() -> Outcome:
        lock.__enter__()
        outcome: Outcome = await write()
        return outcome

    try:
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write_and_lock))
        assert error.code == "outcome_unknown"
        assert error.outer["writeAttempted"] is True
        again = await refusal(world.commit("b", "two", answer))
        assert (again.code, again.details["ledgerState"]) == ("outcome_unknown", "unknown")
        assert "locked" in world.coordinator.trouble()
    finally:
        lock.__exit__(None, None, None)


async def test_a_lock_of_somebody_else_at_the_end_of_a_write_is_outlived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row does not stay executing: its end is recorded when the lock is gone, and a replay tells it."""
    monkeypatch.setattr(limits, "LEDGER_LOCK_WAIT_S", 0.01)
    async with open_world(tmp_path, {"b": "one"}) as world:
        world.coordinator.readback_delays_s = ()
        answer = await world.preflight("b", "two")
        await commit_under_lock(world, answer)
        again = await world.commit("b", "two", answer)
        assert (again["replayed"], again["transactionState"]) == (True, "committed")
        assert world.blocks.counts[UPDATE] == 1
        assert world.coordinator.ledger.statistics()["owed"] == 0


async def test_any_later_step_records_what_is_owed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks for the id again in this life; the next one knows it all the same."""
    monkeypatch.setattr(limits, "LEDGER_LOCK_WAIT_S", 0.01)
    async with open_world(tmp_path, {"b": "one"}) as world:
        world.coordinator.readback_delays_s = ()
        answer = await world.preflight("b", "two")
        await commit_under_lock(world, answer)
        await world.preflight("b", "three")
        assert world.coordinator.ledger.statistics()["owed"] == 0
    async with open_world(tmp_path, {"b": "two"}, clock=world.clock, seed=5) as later:
        assert (await later.commit("b", "two", answer))["replayed"] is True
        assert UPDATE not in later.blocks.counts


async def test_a_lock_of_somebody_else_before_the_write_executes_nothing_and_uses_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LEDGER_LOCK_WAIT_S", 0.01)
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        with locked(tmp_path):
            for _ in range(2):
                assert (await refusal(world.commit("b", "two", answer))).code == "write_ledger_unavailable"
        assert UPDATE not in world.blocks.counts
        assert (await world.commit("b", "two", answer))["safety"]["transactionState"] == "committed"


@pytest.mark.wire
async def test_health_tells_that_the_ledger_was_deleted(tmp_path: Path) -> None:
    async with kernels(tmp_path / "workspace") as start, httpx.AsyncClient(timeout=60) as http:
        notes = await make_notes(await start(), http)
        update = {"id": notes.ids["P1"], "dataType": "markdown", "data": "new"}
        commit = await preflight(notes, "block", "update", **update)
        assert (await notes.health())["writeLedger"] == {"available": True}
        next((tmp_path / "workspace").rglob(LEDGER)).unlink()
        told = (await notes.health())["writeLedger"]
        assert told["available"] is False
        assert "restart the kernel" in told["message"]
        assert code_of(await notes.client.tool("block", "update", **commit)) == "write_ledger_unavailable"
        assert await notes.text("P1") == "Alpha text"
