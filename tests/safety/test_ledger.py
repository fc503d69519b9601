"""The ledger: durable, private, grouped, upgraded, and never a note's text in it."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from kernel.clock import ManualClock
from kernel.faults.plan import FaultPlan, Rule
from kernel.faults.trigger import Trigger
from kernel.ids import SeededIds
from kernel.safety import ledger_file, ledger_store
from kernel.safety.ledger import Ledger
from kernel.safety.ledger_store import AlreadyBegun, LedgerFull, LedgerStore, LedgerUnavailable, NoFreeId
from kernel.safety.ledger_writer import Deliver, InlineWriter, ThreadWriter
from kernel.safety.limits import LEDGER_LIVE_MAX, RECEIPT_TTL_S, RECEIPTS_CACHED_MAX, REQUEST_ID_TTL_S
from kernel.safety.rows import Binding, Row
from kernel.safety.write import WriteEvent, WriteState

BINDING = Binding("block", "update", "sha256:v1:" + "0" * 64)
A, B = "sha256:v1:" + "a" * 64, "sha256:v1:" + "b" * 64


class OneDraw(SeededIds):
    """Always the same digits: every id collides with the one before."""

    def digest_hex(self) -> str:
        return "ab12" + "c" * 60


@asynccontextmanager
async def open_ledger(
    folder: Path, clock: ManualClock | None = None, *, ids: SeededIds | None = None, threaded: bool = False
) -> AsyncIterator[tuple[Ledger, LedgerStore, ManualClock]]:
    clock = clock or ManualClock()
    store = LedgerStore(folder / "ledger.db", clock.wall_ms)
    ledger = Ledger(ThreadWriter(store) if threaded else InlineWriter(store), clock, ids or SeededIds(1))
    try:
        yield ledger, store, clock
    finally:
        await ledger.aclose()


async def executed(ledger: Ledger, event: WriteEvent = WriteEvent.VERIFIED) -> Row:
    row = ledger.claim(await ledger.issue(BINDING, ("t",)))
    assert row is not None
    await ledger.begin(row)
    return await ledger.settle(row, event, previous=A, result=B, transaction_state="committed", extra={"avID": "x"})


@pytest.mark.parametrize("threaded", [False, True])
async def test_a_row_survives_the_process_with_everything_its_replay_needs(tmp_path: Path, threaded: bool) -> None:
    async with open_ledger(tmp_path, threaded=threaded) as (ledger, _, clock):
        settled = await executed(ledger)
    async with open_ledger(tmp_path, clock, threaded=threaded) as (ledger, _, _):
        found = await ledger.find(settled.request_id)
        assert found is not None
        assert found.receipt() == settled.receipt()
        assert (found.binding, found.target_ids, found.state) == (BINDING, ("t",), WriteState.COMMITTED)


async def test_colliding_ids_are_lengthened_digit_by_digit_until_none_is_left(tmp_path: Path) -> None:
    """R27. Exhausted digits are a collision that the caller is told of."""
    async with open_ledger(tmp_path, ids=OneDraw()) as (ledger, _, _):
        ids = [(await ledger.issue(BINDING, ())).request_id for _ in range(61)]
        assert ids[:3] == ["ab12", "ab12c", "ab12cc"]
        assert len(ids[-1]) == 64
        with pytest.raises(NoFreeId):
            await ledger.issue(BINDING, ())


async def test_an_expired_id_is_never_issued_again_not_even_by_the_next_process(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, ids=OneDraw()) as (ledger, _, clock):
        first = await ledger.issue(BINDING, ())
        clock.advance(REQUEST_ID_TTL_S)
        assert await ledger.find(first.request_id) is None
    clock.advance(30 * 24 * 3600)
    async with open_ledger(tmp_path, clock, ids=OneDraw()) as (ledger, _, _):
        assert (await ledger.issue(BINDING, ())).request_id == "ab12c"
        assert await ledger.find("ab12") is None


async def test_an_id_lives_ten_minutes_and_the_rest_of_them_after_a_restart(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _, clock):
        row = await ledger.issue(BINDING, ())
        clock.advance(REQUEST_ID_TTL_S - 10)
    async with open_ledger(tmp_path, clock) as (ledger, _, _):
        assert await ledger.find(row.request_id) == row
        clock.advance(9.999)
        assert await ledger.find(row.request_id) == row
        clock.advance(0.001)
        assert await ledger.find(row.request_id) is None
        assert ledger.claim(row) is None


async def test_a_receipt_is_kept_seven_days_and_its_marker_for_ever(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _, clock):
        settled = await executed(ledger)
        clock.advance(RECEIPT_TTL_S - 0.001)
        assert await ledger.find(settled.request_id) == settled
        clock.advance(0.001)
        assert await ledger.find(settled.request_id) is None
        await ledger.issue(BINDING, ())
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        marker = connection.execute("SELECT * FROM writes WHERE request_id=?", (settled.request_id,)).fetchone()
    connection.close()
    assert marker[:2] == (settled.request_id, "expired")
    # When it was begun is kept: an id that was used has expired in another way than one that was not.
    assert [value for value in marker[2:] if value is not None] == [settled.begun_wall_ms]


async def test_receipts_beyond_the_cache_are_found_in_the_file(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _, _):
        first = await executed(ledger)
        for number in range(RECEIPTS_CACHED_MAX):
            ledger._remember(Row(f"{number:064x}", WriteState.UNKNOWN, BINDING, 0, 0))
        assert ledger.statistics()["receiptsCached"] == RECEIPTS_CACHED_MAX
        assert await ledger.find(first.request_id) == first


async def test_what_was_executing_when_the_process_ended_is_unknown(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _, clock):
        row = ledger.claim(await ledger.issue(BINDING, ()))
        assert row is not None
        await ledger.begin(row)
    async with open_ledger(tmp_path, clock) as (ledger, _, _):
        found = await ledger.find(row.request_id)
        assert found is not None
        assert found.state is WriteState.UNKNOWN


async def test_an_id_is_claimed_once(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _, _):
        issued = await ledger.issue(BINDING, ())
        row = ledger.claim(issued)
        assert row is not None
        assert row.state is WriteState.EXECUTING
        assert ledger.claim(issued) is None
        ledger.unclaim(row)
        again = ledger.claim(issued)
        assert again is not None
        await ledger.begin(again)
        # The file refuses what the tables in memory would not: a second begin of one id.
        with pytest.raises(AlreadyBegun):
            await ledger.begin(again)


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_clock_that_is_set_back_lengthens_no_ids_life(tmp_path: Path, restarts: bool) -> None:
    """R30: ten minutes are ten minutes, also of an id whose claim was undone and of one that a restart has found."""
    clock = ManualClock()
    async with open_ledger(tmp_path, clock) as (ledger, _, _):
        row = await ledger.issue(BINDING, ())
        claimed = ledger.claim(row)
        assert claimed is not None
        clock.set_wall(-86_400)
        ledger.unclaim(claimed)
        if not restarts:
            clock.advance(REQUEST_ID_TTL_S)
            assert await ledger.find(row.request_id) is None
    if restarts:
        async with open_ledger(tmp_path, clock) as (ledger, _, _):
            assert await ledger.find(row.request_id) is not None
            clock.advance(REQUEST_ID_TTL_S)
            assert await ledger.find(row.request_id) is None


async def test_a_clock_that_is_set_forward_ends_no_ids_life_early_while_the_process_lives(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _, clock):
        row = await ledger.issue(BINDING, ())
        clock.set_wall(86_400)
        clock.advance(REQUEST_ID_TTL_S - 1)
        assert await ledger.find(row.request_id) is not None


def live_ids(count: int, wall_ms: int) -> ledger_store.Job:
    def job(connection: sqlite3.Connection) -> None:
        rows = [(f"{number:08x}", "issued", wall_ms + 600_000) for number in range(count)]
        connection.executemany("INSERT INTO writes (request_id, state, expires_wall_ms) VALUES (?,?,?)", rows)

    return job


async def test_live_ids_are_capped_and_come_free_when_they_expire(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, store, clock):
        await ledger.open()
        store.run_group([live_ids(LEDGER_LIVE_MAX - 1, clock.wall_ms())])
        await ledger.issue(BINDING, ())
        with pytest.raises(LedgerFull):
            await ledger.issue(BINDING, ())
        clock.advance(REQUEST_ID_TTL_S)
        await ledger.issue(BINDING, ())


async def test_one_safe_commit_costs_three_syncs(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, store, _):
        await ledger.open()
        before = store.syncs
        settled = await executed(ledger)
        await ledger.find(settled.request_id)
        assert store.syncs - before == 3


def test_a_group_shares_one_sync_and_a_refused_job_spoils_no_other(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path / "ledger.db", lambda: 0)
    issue = [ledger_store.issue(f"{n:04x}" + "0" * 60, BINDING, (), wall_ms=0, expires_wall_ms=9) for n in range(5)]
    row = Row("ffff", WriteState.EXECUTING, BINDING, 0, 9)
    results = store.run_group([*issue[:3], ledger_store.begin(row), *issue[3:]])
    store.close()
    assert isinstance(results[3], AlreadyBegun)
    assert [result.request_id for result in results[:3] + results[4:]] == ["0000", "0001", "0002", "0003", "0004"]
    assert store.syncs == 1


async def test_calls_that_wait_together_are_written_together(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, threaded=True) as (ledger, store, _):
        await ledger.open()
        before = store.syncs
        async with trio.open_nursery() as nursery:
            for _ in range(600):
                nursery.start_soon(ledger.issue, BINDING, ())
        assert ledger.statistics()["issued"] == 600
        assert 3 <= store.syncs - before < 64


def modes_in(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
async def test_the_file_and_its_journal_are_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        async with open_ledger(tmp_path) as (ledger, _, _):
            await ledger.issue(BINDING, ())
            modes = modes_in(tmp_path)
    finally:
        os.umask(old)
    assert len(modes) >= 2
    assert set(modes.values()) == {0o600}


async def test_the_file_is_in_wal_mode_and_synced_fully(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, store, _):
        await ledger.open()
        found = store.run_group(
            [
                lambda c: [
                    c.execute(f"PRAGMA {name}").fetchone()[0]
                    for name in ("journal_mode", "synchronous", "user_version")
                ]
            ]
        )
        assert found == [["wal", 2, ledger_file.SCHEMA_VERSION]]


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


def corrupt(path: Path) -> None:
    path.write_bytes(b"this is not a database at all" * 200)


def damaged_page(path: Path) -> None:
    store = LedgerStore(path, lambda: 0)
    store.run_group([ledger_store.issue("abcd" + "0" * 60, BINDING, (), wall_ms=0, expires_wall_ms=9)])
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(content)


def a_folder(path: Path) -> None:
    path.mkdir()


def from_the_future(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()


def nothing_left(path: Path) -> None:
    """A ledger that was cut to nothing; its log would be thrown away with it."""
    store = LedgerStore(path, lambda: 0)
    store.run_group([ledger_store.issue("abcd" + "0" * 60, BINDING, (), wall_ms=0, expires_wall_ms=9)])
    log = path.with_name(path.name + "-wal")
    kept = log.read_bytes()
    store.close()
    path.write_bytes(b"")
    log.write_bytes(kept)


def only_its_log(path: Path) -> None:
    nothing_left(path)
    path.unlink()


def somebody_elses(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()


@pytest.mark.parametrize(
    "harm", [corrupt, damaged_page, a_folder, from_the_future, nothing_left, only_its_log, somebody_elses]
)
async def test_a_file_that_cannot_be_used_is_unavailable_and_is_not_touched(tmp_path: Path, harm: object) -> None:
    path = tmp_path / "ledger.db"
    harm(path)  # type: ignore[operator]
    before = contents(tmp_path)
    async with open_ledger(tmp_path) as (ledger, _, _):
        for _ in range(2):
            with pytest.raises(LedgerUnavailable):
                await ledger.issue(BINDING, ())
            with pytest.raises(LedgerUnavailable):
                await ledger.find("abcd")
    assert contents(tmp_path) == before


async def test_a_ledger_whose_making_was_cut_short_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "ledger.db.new").write_bytes(b"half a page")
    (tmp_path / "ledger.db.new-journal").write_bytes(b"")
    async with open_ledger(tmp_path) as (ledger, _, _):
        row = await ledger.issue(BINDING, ())
        assert await ledger.find(row.request_id) == row
    assert list(contents(tmp_path)) == ["ledger.db"]


async def test_a_repaired_file_is_used_without_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    corrupt(path)
    async with open_ledger(tmp_path) as (ledger, _, _):
        with pytest.raises(LedgerUnavailable):
            await ledger.issue(BINDING, ())
        path.unlink()
        row = await ledger.issue(BINDING, ())
        assert await ledger.find(row.request_id) == row


async def test_a_full_disk_refuses_the_step_and_leaves_the_rest_readable(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, store, _):
        settled = await executed(ledger)
        connection = store._connection
        assert connection is not None
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(LedgerUnavailable, match="full"):
            await ledger.issue(BINDING, ("t" * 100_000,))
        # Opened afresh, with the disk's own room: what was settled is still there.
        assert await ledger.find(settled.request_id) == settled


async def test_an_end_state_that_cannot_be_written_reads_as_unknown_as_long_as_it_cannot(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, _, clock):
        row = ledger.claim(await ledger.issue(BINDING, ()))
        assert row is not None
        await ledger.begin(row)
        (tmp_path / "ledger.db").rename(tmp_path / "away.db")
        with pytest.raises(LedgerUnavailable):
            await ledger.settle(row, WriteEvent.VERIFIED)
        found = await ledger.find(row.request_id)
        assert found is not None
        assert found.state is WriteState.UNKNOWN
    (tmp_path / "away.db").rename(tmp_path / "ledger.db")
    async with open_ledger(tmp_path, clock) as (ledger, _, _):
        again = await ledger.find(row.request_id)
        assert again is not None
        assert again.state is WriteState.UNKNOWN


async def test_a_row_in_doubt_is_unknown_at_once_and_in_the_file(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as (ledger, store, _):
        row = ledger.claim(await ledger.issue(BINDING, ()))
        assert row is not None
        await ledger.begin(row)
        ledger.doubt_nowait(row)
        ledger.doubt_nowait(row)
        assert store.run_group([ledger_store.find(row.request_id)])[0].state is WriteState.UNKNOWN
        assert ledger.statistics() == {"issued": 0, "executing": 0, "receiptsCached": 1, "owed": 0}


async def test_a_cancelled_preflight_leaves_an_id_that_nobody_can_use(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, threaded=True) as (ledger, _, clock):
        await ledger.open()
        with trio.CancelScope() as scope:
            scope.cancel()
            await ledger.issue(BINDING, ())
        await ledger.issue(BINDING, ())
        assert ledger.statistics()["issued"] == 1
        clock.advance(REQUEST_ID_TTL_S)
        row = await ledger.issue(BINDING, ())
        states = await ledger._run(lambda c: sorted(s for (s,) in c.execute("SELECT state FROM writes")))
        assert states == ["expired", "expired", "issued"]
        assert row.state is WriteState.ISSUED


class SlowDisk(InlineWriter):
    """Recording an id takes longer than its life."""

    def __init__(self, store: LedgerStore, clock: ManualClock) -> None:
        super().__init__(store)
        self._clock = clock

    def submit(self, job: ledger_store.Job, deliver: Deliver) -> None:
        super().submit(job, deliver)
        self._clock.advance(REQUEST_ID_TTL_S)


async def test_an_id_that_outlived_its_time_on_a_slow_disk_is_not_kept(tmp_path: Path) -> None:
    clock = ManualClock()
    ledger = Ledger(SlowDisk(LedgerStore(tmp_path / "ledger.db", clock.wall_ms), clock), clock, SeededIds(1))
    row = await ledger.issue(BINDING, ())
    assert ledger.statistics()["issued"] == 0
    assert ledger.claim(row) is None
    await ledger.aclose()


@pytest.mark.parametrize(
    ("deed", "words"),
    [("disk_full", "database or disk is full"), ("read_only", "attempt to write a readonly database")],
)
async def test_a_disk_that_refuses_a_step_by_plan_refuses_it_as_a_real_one_does(
    tmp_path: Path, deed: Any, words: str
) -> None:
    """The whole group fails, the trouble is told, and the file is opened afresh by the next step."""
    clock = ManualClock()
    store = LedgerStore(tmp_path / "ledger.db", clock.wall_ms)
    plan = FaultPlan()
    ledger = Ledger(InlineWriter(store), clock, SeededIds(1), trigger=Trigger(plan))
    first = await ledger.issue(BINDING, ())
    plan.add(Rule("ledger.issue.before", deed))
    with pytest.raises(LedgerUnavailable, match=words):
        await ledger.issue(BINDING, ())
    assert ledger.trouble() == f"the write ledger cannot be used: {words}"
    plan.clear()
    second = await ledger.issue(BINDING, ())
    assert ledger.trouble() == ""
    assert store.run_group([lambda c: c.execute("SELECT count(*) FROM writes").fetchone()[0]]) == [2]
    assert first.request_id != second.request_id
    await ledger.aclose()


async def test_a_file_too_large_to_be_checked_at_the_start_is_used_unchecked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged_page(tmp_path / "ledger.db")
    monkeypatch.setattr(ledger_file, "_CHECK_BYTES_MAX", 4096)
    async with open_ledger(tmp_path) as (_, store, _):
        assert store.run_group([lambda c: c.execute("PRAGMA user_version").fetchone()[0]]) == [
            ledger_file.SCHEMA_VERSION
        ]
    monkeypatch.setattr(ledger_file, "_CHECK_BYTES_MAX", 64 * 1024 * 1024)
    async with open_ledger(tmp_path) as (_, store, _):
        with pytest.raises(LedgerUnavailable):
            store.run_group([])


@pytest.mark.parametrize("threaded", [False, True])
async def test_trouble_is_told_by_a_look_at_the_files_alone(tmp_path: Path, threaded: bool) -> None:
    async with open_ledger(tmp_path, threaded=threaded) as (ledger, _, _):
        assert ledger.trouble() == ""
        await ledger.issue(BINDING, ())
        (tmp_path / "ledger.db").rename(tmp_path / "away.db")
        assert "ledger.db was deleted or replaced" in ledger.trouble()


async def test_no_text_of_a_note_reaches_the_disk(tmp_path: Path) -> None:
    """R84: what a commit leaves behind is searched for the words that were written."""
    from tests.safety.world import open_world

    async with open_world(tmp_path, {"b": "SECRET-before"}) as world:
        answer = await world.preflight("b", "SECRET-after")
        await world.commit("b", "SECRET-after", answer)
    written = bytes_in(tmp_path)
    assert b"committed" in written
    assert b"SECRET" not in written
