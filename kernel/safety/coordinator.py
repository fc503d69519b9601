"""The one coordinator of a workspace: preflights and commits of strict writes, in the order the specification gives.

A commit, top to bottom::

    request id known, same call? ── replay, if it was begun before
    credential well-formed? ── probe again ── lease resolved, all 256 bits compared
    ═══ gate.enter_commit: last cancel check, the mark; then, with no checkpoint, the id and the lease are claimed
    ledger: executing ── host write, once ── read-back ── verdict ── ledger: end state ── receipt

Whoever is cancelled before the mark has used up nothing: id and lease stay good. After it nothing is cancelled, and
``kernel.safety.commit`` goes on. The mutation lane serialises callers; this code stays right without it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from kernel.clock import Clock
from kernel.errors import ERRORS, ToolError
from kernel.faults.trigger import NO_FAULTS, FaultInjected, Trigger
from kernel.host.base import HostApiError, HostError
from kernel.safety.commit import MISMATCH, REFUSAL_TYPE, Commit, hashes_of, in_doubt_error, mismatch_error
from kernel.safety.digest import state_digest
from kernel.safety.intent import CommitGate, Intent, Observation, Outcome, Precondition
from kernel.safety.leases import Lease, Leases, scope_of
from kernel.safety.ledger import Ledger
from kernel.safety.ledger_store import LedgerFull, LedgerUnavailable, NoFreeId
from kernel.safety.limits import READBACK_DELAYS_S
from kernel.safety.offload import Offload, ThreadOffload
from kernel.safety.receipt import preflight_answer, replay_answer
from kernel.safety.rows import Binding, Row
from kernel.safety.short_hashes import ShortHashes, credential_hex
from kernel.safety.submission import arguments_digest, checked_request_id, rejected
from kernel.safety.write import WriteState
from scheduler.commit import CommitOverrun

# How a probe or a permission check says that its target does not exist.
_NOT_THERE: Final = frozenset(
    {"api_error", "not_found", "block_not_found", "document_not_found", "notebook_not_found", "av_not_found"}
)


class WriteCoordinator:
    """Implements ``kernel.safety.intent.Coordinator``. Owns the lease pool, the short hashes and the ledger (R87)."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        *,
        pool: ShortHashes | None = None,
        leases: Leases | None = None,
        trigger: Trigger = NO_FAULTS,
        offload: Offload | None = None,
        readback_delays_s: tuple[float, ...] = READBACK_DELAYS_S,
    ) -> None:
        self.ledger = ledger
        self.clock = clock
        self.pool = pool if pool is not None else ShortHashes()
        self.leases = leases if leases is not None else Leases()
        self.trigger = trigger
        self.readback_delays_s = readback_delays_s
        self._offload = offload if offload is not None else ThreadOffload()

    def shorten(self, digest: str) -> str:
        """The printed form of a full digest that is not a receipt's own (AV before/after summaries, R55)."""
        return self.pool.short(digest)

    def trouble(self) -> str:
        """Why the ledger cannot be used now; "" while it can."""
        return self.ledger.trouble()

    async def preflight(self, intent: Intent, leave_slot: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Probe, issue a request id (durably) and a lease; the answer without ``action`` (R5-R24).

        Once the target has been read the lane is of no use any more (``leave_slot``): the ids of all preflights that
        wait for the disk share its sync. A lease that became stale meanwhile is found out by the commit, as ever.

        Raises:
            ToolError: what the probe raised, ``write_ledger_unavailable``, ``write_ledger_capacity``,
                ``request_id_collision``. Nothing is executed in any case.
        """
        await self._visit("preflight.entered")
        seen, state = await self._guarded_look(intent)
        await self._visit("preflight.probed")
        leave_slot()
        row = await self._issue(binding_of(intent), seen)
        lease = None
        if intent.precondition is not Precondition.NONE:
            scope = _scope(row)
            lease = self.leases.issue(scope, state, now=self.clock.now(), wall_ms=self.clock.wall_ms())
        await self._visit("preflight.issued")
        return preflight_answer(row.request_id, row.expires_wall_ms, intent.precondition, seen, lease, self.pool)

    async def commit(self, intent: Intent, gate: CommitGate, write: Callable[[], Awaitable[Outcome]]) -> dict[str, Any]:
        """Replay, or check, write once, read back and settle: the payload with its ``safety`` object (R80-R94).

        Raises:
            ToolError: see the specification's table of failures; ``outer`` says whether anything was attempted.
            scheduler.ticket.RequestCancelled: cancelled before the boundary; id and lease are untouched.
        """
        request_id = checked_request_id(intent.request_id)
        row = await self._row_of(request_id, intent)
        if row.state is not WriteState.ISSUED:
            return self._replay(row)
        self._check_credential(intent)
        await self._visit("commit.found")
        try:
            _, state = await self._guarded_look(intent)
        except (ToolError, HostApiError) as error:
            raise self._gone(intent, row, error) from error
        lease = None if intent.precondition is Precondition.NONE else self._lease_on(intent, row, state)
        await self._visit("commit.checked")
        gate.enter_commit()
        # No checkpoint from the mark to the claim: of two calls with one id or one lease, one begins.
        commit = Commit(self, intent, write, self._claim(intent, row, lease), lease, gate.leave_slot)
        try:
            return await gate.run(commit.run)
        except CommitOverrun as overrun:
            commit.abandon()
            raise in_doubt_error(row.request_id, str(overrun), **commit.known) from overrun

    async def was_begun(self, request_id: str) -> bool:
        """Whether the ledger knows this id as one that has started a write, in whatever way it ended."""
        try:
            row = await self.ledger.find(request_id)
        except LedgerUnavailable as error:
            raise ToolError("write_ledger_unavailable", str(error), outer=rejected()) from error
        return row is not None and row.state not in (WriteState.ISSUED, WriteState.EXPIRED)

    async def observe(self, intent: Intent) -> tuple[Observation, str]:
        """The live state and its full digest ("" for an addition, which has none)."""
        try:
            seen = await intent.probe()
        except HostApiError as error:
            raise ToolError("api_error", error.message, outer=rejected(), apiCode=error.api_code) from error
        except HostError as error:
            raise ToolError(
                "write_safety_failed",
                f"The target could not be read: {error.message}",
                outer=rejected(),
            ) from error
        except ToolError as error:
            # A refusal by the probe (permission, target) is its own, told in the words of a strict call.
            error.outer = {**rejected(), **error.outer}
            raise
        if intent.precondition is Precondition.NONE:
            return seen, ""
        return seen, await self._offload.run(state_digest, seen.state)

    async def _guarded_look(self, intent: Intent) -> tuple[Observation, str]:
        if intent.guard is not None:
            try:
                await intent.guard()
            except ToolError as error:
                error.outer = {**rejected(), **error.outer}
                raise
        return await self.observe(intent)

    async def _issue(self, binding: Binding, seen: Observation) -> Row:
        try:
            return await self.ledger.issue(binding, seen.target_ids)
        except LedgerUnavailable as error:
            raise ToolError("write_ledger_unavailable", str(error), outer=rejected()) from error
        except LedgerFull as error:
            raise ToolError("write_ledger_capacity", str(error), outer=rejected()) from error
        except NoFreeId as error:
            raise ToolError("request_id_collision", str(error), outer=rejected()) from error

    async def _row_of(self, request_id: str, intent: Intent) -> Row:
        try:
            row = await self.ledger.find(request_id)
            if row is None:
                raise await self._expired(request_id, intent)
        except LedgerUnavailable as error:
            raise ToolError("write_ledger_unavailable", str(error), outer=rejected()) from error
        if row.binding != binding_of(intent):
            raise ToolError(
                "idempotency_conflict",
                "This requestId was issued for another call.",
                outer=rejected(),
                requestId=request_id,
            )
        return row

    async def _expired(self, request_id: str, intent: Intent) -> ToolError:
        """The refusal of an id that is not valid (any more). Where its preflight's lease went with it unused, that is
        what the specification's table names (R90); ``request_id_expired`` is for the rest (decision 39)."""
        expected = self.pool.resolve(intent.credential)
        has_lease = expected is not None and self.leases.holds(expected, now=self.clock.now())
        needs_lease = intent.precondition is not Precondition.NONE
        if needs_lease and not has_lease and await self.ledger.was_never_used(request_id):
            return self._lease_invalid(intent)
        return ToolError(
            "request_id_expired",
            "This requestId is not valid any more, or was never issued here.",
            outer=rejected(),
            requestId=request_id,
        )

    def _replay(self, row: Row) -> dict[str, Any]:
        if row.state is WriteState.COMMITTED:
            return replay_answer(row.receipt(), self.pool)
        if row.state is WriteState.FAILED_BEFORE_EXECUTE:
            code = row.error_code or "write_safety_failed"
            refusal = ToolError(
                code,
                "This requestId was refused before anything was executed.",
                outer=rejected(),
                type=row.extra.get(REFUSAL_TYPE, ERRORS[code].type),
                requestId=row.request_id,
                ledgerState=row.state.value,
                replayed=True,
            )
            refusal.has_used_up_id = True
            raise refusal
        # What an AV creation had reserved and confirmed: where to look for it.
        known = {name: row.extra[name] for name in ("reserved", "stages") if name in row.extra}
        if row.error_code == MISMATCH:
            raise mismatch_error(
                row.request_id,
                "An earlier attempt was read back, and the target did not confirm it.",
                ledgerState=row.state.value,
                replayed=True,
                **known,
                **self.pool.shorten(hashes_of(row.previous, row.result)),
            )
        raise in_doubt_error(
            row.request_id,
            "an earlier attempt was begun and not confirmed",
            ledgerState=row.state.value,
            **known,
        )

    def _check_credential(self, intent: Intent) -> None:
        if intent.precondition is not Precondition.NONE and credential_hex(intent.credential) is None:
            raise ToolError(
                "precondition_required",
                f"This action needs {intent.precondition.value} from its preflight.",
                outer=rejected(),
                expectedField=intent.precondition.value,
            )

    def _lease_on(self, intent: Intent, row: Row, state: str) -> Lease:
        lease = self._find_lease(intent, row)
        if lease is None:
            raise self._lease_invalid(intent)
        if lease.digest != state:
            self.leases.take(lease)
            raise ToolError(
                "state_changed",
                "The target changed after the preflight.",
                outer=rejected(),
                expectedHash=self.pool.short(lease.digest),
                currentHash=self.pool.short(state),
                revalidateRequired=True,
            )
        return lease

    def _gone(self, intent: Intent, row: Row, error: ToolError | HostApiError) -> Exception:
        """A target that could be read for the preflight and is not there any more has changed (R91)."""
        says_so = isinstance(error, HostApiError) or error.code in _NOT_THERE
        lease = self._find_lease(intent, row) if says_so else None
        if lease is None:
            return error
        self.leases.take(lease)
        return ToolError(
            "state_changed",
            f"The target of the preflight is not there any more: {error.message}",
            outer=rejected(),
            expectedHash=self.pool.short(lease.digest),
            revalidateRequired=True,
        )

    def _find_lease(self, intent: Intent, row: Row) -> Lease | None:
        expected = self.pool.resolve(intent.credential)
        return None if expected is None else self.leases.resolve(_scope(row), expected, now=self.clock.now())

    def _claim(self, intent: Intent, row: Row, lease: Lease | None) -> Row:
        if lease is not None and not self.leases.take(lease):
            raise self._lease_invalid(intent)
        begun = self.ledger.claim(row, {"reserved": dict(intent.reserved)} if intent.reserved else None)
        if begun is None:
            if lease is not None:
                self.leases.give_back(lease, now=self.clock.now())
            raise ToolError(
                "request_id_expired",
                "This requestId was used or has expired while the target was being checked.",
                outer=rejected(),
                requestId=row.request_id,
            )
        return begun

    def _lease_invalid(self, intent: Intent) -> ToolError:
        return ToolError(
            "preflight_lease_invalid",
            "There is no live preflight for this call with this credential.",
            outer=rejected(),
            expectedField=intent.precondition.value,
            revalidateRequired=True,
        )

    async def _visit(self, stage: str) -> None:
        try:
            await self.trigger.visit(f"write.{stage}")
        except FaultInjected as fault:
            raise ToolError("write_safety_failed", fault.message, outer=rejected()) from fault


def binding_of(intent: Intent) -> Binding:
    """What the intent's request id is, or was, issued for."""
    return Binding(intent.tool, intent.action, arguments_digest(intent.arguments))


def _scope(row: Row) -> str:
    # The targets as the preflight saw them: if they are others by now, the state is another too, and that is what
    # the caller has to be told.
    return scope_of(row.binding.tool, row.binding.action, row.binding.arguments_digest, row.target_ids)
