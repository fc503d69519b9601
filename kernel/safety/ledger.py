"""The write ledger: one row per request id, from the moment it is issued, durable before anything depends on it.

The file is the truth across processes, the tables here are the truth inside one: an id is claimed synchronously, so
two calls with one id can never both begin, whatever the interleaving. Ids that are issued here expire by the monotonic
clock; the wall times in the file only carry their rest across a restart.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

import trio
from msgspec.structs import replace

from kernel.clock import Clock
from kernel.faults.trigger import NO_FAULTS, DiskRefused, FaultInjected, Trigger
from kernel.ids import IdSource
from kernel.safety import ledger_store
from kernel.safety.ledger_store import Job, LedgerUnavailable
from kernel.safety.ledger_writer import LedgerWriter
from kernel.safety.limits import RECEIPT_TTL_S, RECEIPTS_CACHED_MAX, REQUEST_ID_TTL_S
from kernel.safety.rows import Binding, Row
from kernel.safety.write import WriteEvent, WriteState, advance

_MS: Final = 1000


class Ledger:
    """The one ledger of a coordinator.

    Every method may raise ``LedgerUnavailable``: then nothing was recorded by it.
    """

    def __init__(self, writer: LedgerWriter, clock: Clock, ids: IdSource, *, trigger: Trigger = NO_FAULTS) -> None:
        self._writer = writer
        self._clock = clock
        self._ids = ids
        self._trigger = trigger
        # Issued: the row and the monotonic second it expires at.
        self._issued: dict[str, tuple[Row, float]] = {}
        self._executing: dict[str, Row] = {}
        self._settled: OrderedDict[str, Row] = OrderedDict()
        # Ends on their way to the disk: who asks for such an id waits for what is true.
        self._settling: dict[str, trio.Event] = {}
        # Steps that the disk refused and that are still true: they go with the next one it takes.
        self._owed: dict[str, tuple[Job, Row | None]] = {}
        self._is_loaded = False

    async def open(self) -> None:
        """Open the file, settle what an earlier process left in doubt, take over its unexpired ids."""
        await self._ensure_loaded()

    async def issue(self, binding: Binding, target_ids: tuple[str, ...]) -> Row:
        """Issue a new request id, durably (R25-R27). Raises also ``LedgerFull`` and ``NoFreeId``."""
        await self._ensure_loaded()
        wall_ms = self._clock.wall_ms()
        expires_at = self._clock.now() + REQUEST_ID_TTL_S
        job = ledger_store.issue(
            self._ids.digest_hex(),
            binding,
            target_ids,
            wall_ms=wall_ms,
            expires_wall_ms=wall_ms + int(REQUEST_ID_TTL_S * _MS),
        )
        row: Row = await self._step("issue", job)
        self._issued[row.request_id] = (row, expires_at)
        self._forget_expired()
        return row

    async def find(self, request_id: str) -> Row | None:
        """What became of an id; None: never issued here, expired before its use, or its receipt has had its time."""
        await self._ensure_loaded()
        issued = self._issued.get(request_id)
        if issued is not None:
            return issued[0] if self._clock.now() < issued[1] else None
        while (settling := self._settling.get(request_id)) is not None:
            await settling.wait()
        if request_id in self._owed:
            await self._pay(request_id)
        row = self._executing.get(request_id) or self._settled.get(request_id)
        if row is None:
            row = await self._run(ledger_store.find(request_id))
        if row is None or row.state is WriteState.ISSUED or self._has_lapsed(row):
            return None
        return row

    async def was_never_used(self, request_id: str) -> bool:
        """Whether an id that ``find`` does not know (any more) was issued here, and expired before its use."""
        if request_id in self._issued:
            return True
        return bool(await self._run(ledger_store.find_unused(request_id)))

    def claim(self, row: Row, extra: Mapping[str, Any] | None = None) -> Row | None:
        """Make an issued id executing, here and now, without a checkpoint; None if it is not issued any more.

        ``extra``: what ``begin`` shall record beside the state (reserved ids).
        """
        issued = self._issued.get(row.request_id)
        if issued is None or self._clock.now() >= issued[1]:
            return None
        del self._issued[row.request_id]
        begun = replace(
            row,
            state=advance(issued[0].state, WriteEvent.BEGUN),
            begun_wall_ms=self._clock.wall_ms(),
            extra=dict(extra or {}),
        )
        self._executing[row.request_id] = begun
        return begun

    def unclaim(self, row: Row) -> None:
        """The claim's undoing, for a write that did not even begin; the id keeps what is left of its time."""
        if self._executing.pop(row.request_id, None) is not None:
            issued = replace(row, state=WriteState.ISSUED, begun_wall_ms=None, extra={})
            self._issued[row.request_id] = (issued, self._expires_at(row))
            # The file may say executing all the same, if it took the row and the answer was lost: it must not stay so.
            self._owe(row.request_id, ledger_store.unbegin(issued), None)

    async def begin(self, row: Row) -> None:
        """Record ``executing``, durably, before the host is called (R80). Raises also ``AlreadyBegun``."""
        if row.request_id in self._owed:
            await self._pay(row.request_id)
        await self._step("begin", ledger_store.begin(row))

    async def settle(self, row: Row, event: WriteEvent, **facts: Any) -> Row:
        """Record the end of an executing row: ``facts`` are further fields of it (previous, result, error_code …)."""
        settled = self._settled_row(row, event, facts)
        self._executing.pop(row.request_id, None)
        self._settling[row.request_id] = trio.Event()
        try:
            await self._step("settle", ledger_store.settle(settled))
        except LedgerUnavailable:
            # The file still says executing, which the next start reads as unknown: say the same until the disk takes
            # what is true, with a later step or when somebody asks for this id.
            self._remember(self._settled_row(row, WriteEvent.REPLY_LOST, {}))
            self._owe(row.request_id, ledger_store.settle(settled), settled)
            raise
        else:
            self._remember(settled)
            return settled
        finally:
            self._settling.pop(row.request_id).set()

    def doubt_nowait(self, row: Row) -> None:
        """From now on the row is unknown, here and, as soon as the disk takes it, in the file. No checkpoint.

        For a write whose bound has passed: its caller is answered now, its host call goes on (decision 10).
        """
        if self._executing.pop(row.request_id, None) is not None:
            settled = self._settled_row(row, WriteEvent.OVERRAN, {})
            self._remember(settled)
            self._owe(row.request_id, ledger_store.settle(settled), settled)

    def statistics(self) -> dict[str, int]:
        """Counts only: nothing of a request."""
        return {
            "issued": len(self._issued),
            "executing": len(self._executing),
            "receiptsCached": len(self._settled),
            "owed": len(self._owed),
        }

    def trouble(self) -> str:
        """Why writes are refused for the ledger's sake; "" if they are not, as far as is known without asking it."""
        return self._writer.trouble()

    async def aclose(self) -> None:
        await self._writer.aclose()

    def _settled_row(self, row: Row, event: WriteEvent, facts: Mapping[str, Any]) -> Row:
        return replace(row, state=advance(WriteState.EXECUTING, event), settled_wall_ms=self._clock.wall_ms(), **facts)

    def _remember(self, row: Row) -> None:
        self._settled[row.request_id] = row
        self._settled.move_to_end(row.request_id)
        if len(self._settled) > RECEIPTS_CACHED_MAX:
            self._settled.popitem(last=False)

    def _has_lapsed(self, row: Row) -> bool:
        settled = row.settled_wall_ms
        return settled is not None and self._clock.wall_ms() >= settled + int(RECEIPT_TTL_S * _MS)

    def _forget_expired(self) -> None:
        now = self._clock.now()
        # Issued in order, so the expired ones stand first.
        while self._issued:
            request_id, (_, expires_at) = next(iter(self._issued.items()))
            if now < expires_at:
                return
            del self._issued[request_id]

    def _owe(self, request_id: str, job: Job, settled: Row | None) -> None:
        """Hand the step over again; nobody waits for it, and what is refused stays owed. No checkpoint."""
        self._owed[request_id] = job, settled
        self._writer.submit(job, lambda result: self._paid(request_id, job, result))

    def _paid(self, request_id: str, job: Job, result: Any) -> None:
        owed = self._owed.get(request_id)
        if isinstance(result, Exception) or owed is None or owed[0] is not job:
            return
        del self._owed[request_id]
        if owed[1] is not None:
            self._remember(owed[1])

    async def _pay(self, request_id: str) -> None:
        """Try what is owed of this id once more. Raises ``LedgerUnavailable``: it is owed still."""
        job, settled = self._owed[request_id]
        try:
            result = await self._run(job)
        except LedgerUnavailable:
            if settled is None:
                raise
            # What is remembered of it says unknown, which stands.
            return
        self._paid(request_id, job, result)

    async def _ensure_loaded(self) -> None:
        if self._is_loaded:
            return
        rows: list[Row] = await self._run(ledger_store.open_rows)
        self._is_loaded = True
        for row in rows:
            self._issued.setdefault(row.request_id, (row, self._expires_at(row)))

    def _expires_at(self, row: Row) -> float:
        """The monotonic second; a wall clock that was set back must not lengthen an id's life."""
        rest_s = (row.expires_wall_ms - self._clock.wall_ms()) / _MS
        return self._clock.now() + min(rest_s, REQUEST_ID_TTL_S)

    async def _step(self, name: str, job: Job) -> Any:
        try:
            await self._trigger.visit(f"ledger.{name}.before")
            result = await self._run(job)
            await self._trigger.visit(f"ledger.{name}.after")
        except DiskRefused as fault:
            # The store itself meets it: the whole group fails and the file is opened afresh, as on a real full disk.
            return await self._run(ledger_store.refused(fault.message))
        except FaultInjected as fault:
            raise LedgerUnavailable(fault.message) from fault
        return result

    async def _run(self, job: Job) -> Any:
        results: list[Any] = []
        is_done = trio.Event()

        def deliver(result: Any) -> None:
            results.append(result)
            is_done.set()

        self._writer.submit(job, deliver)
        if not results:
            await is_done.wait()
        if isinstance(results[0], Exception):
            raise results[0]
        # The disk takes steps (again).
        for request_id, (owed, settled) in list(self._owed.items()):
            self._owe(request_id, owed, settled)
        return results[0]
