"""The writer's thread: it ends at once where it never began, and forgets whom nobody waits for."""

from __future__ import annotations

from pathlib import Path

import trio

from kernel.safety.ledger_store import LedgerStore
from kernel.safety.ledger_writer import ThreadWriter


async def test_a_writer_that_never_ran_closes_at_once(tmp_path: Path) -> None:
    store = LedgerStore(tmp_path / "ledger.db", lambda: 0)
    await ThreadWriter(store).aclose()
    assert not (tmp_path / "ledger.db").exists()


def test_an_answer_that_nobody_waits_for_any_more_is_let_go(tmp_path: Path) -> None:
    """The event loop has ended while the disk was busy."""

    async def token() -> trio.lowlevel.TrioToken:
        return trio.lowlevel.current_trio_token()

    writer = ThreadWriter(LedgerStore(tmp_path / "ledger.db", lambda: 0))
    writer._token = trio.run(token)
    heard: list[int] = []
    writer._call(lambda: heard.append(1))
    assert heard == []
