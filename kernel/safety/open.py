"""How the coordinator of a storage folder is put together."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kernel.clock import Clock
from kernel.faults.trigger import NO_FAULTS, Trigger
from kernel.ids import IdSource
from kernel.safety.coordinator import WriteCoordinator
from kernel.safety.folder import LEDGER_FILE
from kernel.safety.ledger import Ledger
from kernel.safety.ledger_store import LedgerStore, LedgerUnavailable
from kernel.safety.ledger_writer import InlineWriter, LedgerWriter, ThreadWriter
from kernel.safety.lock import COORDINATOR_LOCK
from kernel.safety.offload import InlineOffload, Offload

_log: Final = logging.getLogger("kernel.safety")
LOCK_FILE: Final = COORDINATOR_LOCK


@asynccontextmanager
async def open_coordinator(
    folder: Path,
    clock: Clock,
    ids: IdSource,
    *,
    trigger: Trigger = NO_FAULTS,
    is_inline: bool = False,
    offload: Offload | None = None,
) -> AsyncIterator[WriteCoordinator]:
    """A coordinator on ``folder``'s ledger. ``is_inline``: no threads, for simulations.

    A ledger that cannot be opened is no reason not to start: reads go on, and every strict write answers
    ``write_ledger_unavailable`` until it can be (decision 6).
    """
    store = LedgerStore(folder / LEDGER_FILE, clock.wall_ms)
    writer: LedgerWriter = InlineWriter(store) if is_inline else ThreadWriter(store)
    ledger = Ledger(writer, clock, ids, trigger=trigger)
    try:
        try:
            await ledger.open()
        except LedgerUnavailable as error:
            # It is tried again by each call that needs it.
            _log.warning("strict writes are refused until the ledger %s can be used: %s", folder / LEDGER_FILE, error)
        if offload is None and is_inline:
            offload = InlineOffload()
        yield WriteCoordinator(ledger, clock, trigger=trigger, offload=offload)
    finally:
        await ledger.aclose()
