"""One commit behind its boundary: ledger ``executing``, the host write, the read-back, the end state.

Runs shielded, in the scheduler's own task, and may outlive its caller's patience (``abandon``). The host is written to
at most once here; every way out leaves the row settled or, if the disk refuses, executing, which reads as unknown.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import trio

from kernel.endpoints import is_write
from kernel.errors import ToolError
from kernel.faults.trigger import FaultInjected
from kernel.host.base import HostApiError, HostError, HostHttpError
from kernel.host.envelope import failure_code
from kernel.safety.intent import Intent, Outcome, Precondition
from kernel.safety.leases import Lease
from kernel.safety.ledger_store import AlreadyBegun, LedgerUnavailable
from kernel.safety.limits import RECEIPT_BYTES_MAX
from kernel.safety.receipt import safety_object
from kernel.safety.rows import Row
from kernel.safety.submission import in_doubt, rejected
from kernel.safety.verdict import ReadBack, Verdict, judge
from kernel.safety.write import WriteEvent

if TYPE_CHECKING:
    from kernel.safety.coordinator import WriteCoordinator

# A handler that ends in one of these looked, and did nothing (the order of checks, after the handler).
_REFUSALS: Final = frozenset(
    {"permission_denied", "validation_error", "action_disabled", "not_found", "ambiguous", "conflict", "no_match"}
)
# A handler that has looked for the effect of its write says so with this code where it did not find it.
_NOT_SHOWN: Final = "pending_verification"
# What a payload says that was done, as a flag or as a count.
_CLAIMS: Final = frozenset({"changed", "created", "updated", "removed", "overwritten", "replaced", "added"})
# The end of a write that was read back and not found as it should be; the ledger keeps it for the replay.
MISMATCH: Final = "readback_mismatch"
# The coarse type of a refusal, kept beside its code where the table does not tell it (decision 53).
REFUSAL_TYPE: Final = "errorType"


def in_doubt_error(request_id: str, cause: str, **details: Any) -> ToolError:
    """``outcome_unknown``: begun, and nobody can say what became of it (R92)."""
    return ToolError(
        "outcome_unknown",
        "The write was begun and its outcome is not known.",
        outer=in_doubt(),
        requestId=request_id,
        cause=cause,
        **details,
    )


def mismatch_error(request_id: str, message: str, **details: Any) -> ToolError:
    """``readback_mismatch``: the host answered, and the target does not show it (R93)."""
    return ToolError(MISMATCH, message, outer=in_doubt(), requestId=request_id, **details)


def hashes_of(previous: str | None, result: str | None) -> dict[str, str]:
    """The digests that are known, under the names of the wire."""
    hashes = {"previousHash": previous, "resultHash": result}
    return {name: value for name, value in hashes.items() if value is not None}


class Commit:
    """The executing part of one strict write."""

    def __init__(
        self,
        coordinator: WriteCoordinator,
        intent: Intent,
        write: Callable[[], Awaitable[Outcome]],
        row: Row,
        lease: Lease | None,
        leave_slot: Callable[[], None],
    ) -> None:
        self._coordinator = coordinator
        self._intent = intent
        self._write = write
        self._row = row
        self._lease = lease
        self._leave_slot = leave_slot
        self._previous = None if lease is None else lease.digest
        self._is_abandoned = False
        self._is_settling = False
        # What guard and probe sent (nothing, as far as the endpoint table is right) is no part of the write.
        self._sent_before = intent.writes_sent() if intent.writes_sent is not None else 0

    @property
    def known(self) -> dict[str, Any]:
        """What is recorded beside the state: reserved ids, confirmed stages. Empty but for AV creations."""
        stages = {"stages": list(self._intent.stages)} if self._intent.stages else {}
        return {**self._row.extra, **stages}

    def abandon(self) -> None:
        """The bound is over and the caller has been told ``outcome_unknown``: so says the row from now on.

        A settlement that is already on its way to the disk may still say what is true.
        """
        self._is_abandoned = True
        if not self._is_settling:
            self._coordinator.ledger.doubt_nowait(self._row)

    async def run(self) -> dict[str, Any]:
        """The whole of it. Raises ToolError; nobody is there to hear one that comes after the bound."""
        try:
            return await self._run()
        except ToolError:
            if self._is_abandoned:
                return {}
            raise

    async def _run(self) -> dict[str, Any]:
        await self._begin()
        try:
            await self._visit("commit.begun")
            if self._is_abandoned:
                # The ledger took longer than the bound: nothing was sent, and nothing will be.
                raise in_doubt_error(self._row.request_id, "the bound was over before the host was called")
            outcome = await self._write()
            await self._visit("commit.written")
        except Exception as error:
            raise await self._write_failed(error) from error
        if self._is_abandoned:
            raise in_doubt_error(self._row.request_id, "the host answered after the bound")
        verdict, result = await self._read_back(outcome)
        return await self._settle(outcome, verdict, result)

    # --- the steps ---

    async def _begin(self) -> None:
        ledger = self._coordinator.ledger
        try:
            await self._visit("commit.entered")
            await ledger.begin(self._row)
        except (LedgerUnavailable, FaultInjected) as error:
            # Not recorded, so not executed: the caller may come again with the same id and credential.
            ledger.unclaim(self._row)
            self._give_lease_back()
            raise ToolError("write_ledger_unavailable", str(error), outer=rejected()) from error
        except AlreadyBegun as error:
            ledger.doubt_nowait(self._row)
            raise in_doubt_error(self._row.request_id, str(error)) from error

    async def _write_failed(self, error: Exception) -> ToolError:
        if await self._is_without_effect(error):
            refusal = _as_tool_error(error)
            self._give_lease_back()
            await self._settle_quietly(WriteEvent.REFUSED, error_code=refusal.code, extra=_coarse_type(refusal))
            refusal.outer = {**refusal.outer, **rejected()}
            refusal.has_used_up_id = True
            return refusal
        if isinstance(error, ToolError) and error.code == _NOT_SHOWN:
            return await self._not_shown(error)
        await self._settle_quietly(WriteEvent.REPLY_LOST, extra=self.known)
        return in_doubt_error(self._row.request_id, str(error), **self.known)

    async def _not_shown(self, error: ToolError) -> ToolError:
        """The handler has looked itself: the host answered, and the target does not show the write (R93)."""
        await self._settle_quietly(
            WriteEvent.MISMATCHED, previous=self._previous, error_code=MISMATCH, extra=self.known
        )
        facts = {name: value for name, value in error.details.items() if name != "type"}
        told = {"requestId": self._row.request_id, "cause": error.code, **self.known}
        return ToolError(MISMATCH, error.message, outer={**error.outer, **in_doubt()}, **{**facts, **told})

    async def _is_without_effect(self, error: Exception) -> bool:
        """Whether it is certain that the host was not changed: nothing was sent, or it refused the only thing sent and
        the target is as before. A host's word alone shows nothing: some fail after the effect, and say so too."""
        if self._is_abandoned:
            return False
        sent = None if self._intent.writes_sent is None else self._intent.writes_sent() - self._sent_before
        if sent == 0:
            return True
        if sent is None and isinstance(error, ToolError) and error.code in _REFUSALS:
            return True
        if not _is_host_refusal(error) or (sent is not None and sent > 1):
            return False
        if not self._intent.is_shown_by_state:
            return False
        seen = await self._look(Outcome({}))
        return not seen.cause and seen.digest == self._previous

    async def _read_back(self, outcome: Outcome) -> tuple[Verdict, str | None]:
        """Look until the verdict is final or the delays are used up; the last look counts (decision 26)."""
        verdict, result = await self._judge(outcome)
        for delay_s in self._coordinator.readback_delays_s:
            if verdict.is_final or self._is_abandoned:
                break
            await trio.sleep(delay_s)
            verdict, result = await self._judge(outcome)
        try:
            await self._visit("commit.observed")
        except FaultInjected as fault:
            return Verdict(WriteEvent.MISMATCHED, "unknown", is_final=True, cause=fault.message), result
        return verdict, result

    async def _judge(self, outcome: Outcome) -> tuple[Verdict, str | None]:
        seen = await self._look(outcome)
        return judge(outcome, self._previous, seen, is_shown_by_state=self._intent.is_shown_by_state), seen.digest

    async def _look(self, outcome: Outcome) -> ReadBack:
        intent = self._intent
        try:
            await self._visit("commit.observing")
            if intent.precondition is Precondition.NONE:
                return ReadBack(is_as_asked=intent.confirm is None or await intent.confirm(outcome))
            seen, state = await self._coordinator.observe(intent)
            is_as_asked = outcome.expectation is None or outcome.expectation(seen)
            if is_as_asked and intent.confirm is not None:
                is_as_asked = await intent.confirm(outcome)
            return ReadBack(state, is_as_asked)
        except Exception as error:
            return ReadBack(cause=str(error) or type(error).__name__)

    async def _settle(self, outcome: Outcome, verdict: Verdict, result: str | None) -> dict[str, Any]:
        if verdict.event is not WriteEvent.VERIFIED:
            facts = {"previous": self._previous, "result": result, "extra": self.known}
            await self._settle_quietly(verdict.event, error_code=MISMATCH, **facts)
            raise mismatch_error(
                self._row.request_id,
                "The host answered, and the target does not confirm the write.",
                cause=verdict.cause,
                **self.known,
                **self._coordinator.pool.shorten(hashes_of(self._previous, result)),
            )
        receipt = dict(outcome.replay) if outcome.replay and _is_small(outcome.replay) else {}
        facts = {
            "previous": self._previous,
            "result": result,
            "transaction_state": verdict.transaction_state,
            "extra": {**self.known, **receipt},
        }
        if self._is_abandoned:
            raise in_doubt_error(self._row.request_id, "the host answered after the bound")
        self._now_settling()
        try:
            settled = await self._coordinator.ledger.settle(self._row, verdict.event, **facts)
        except LedgerUnavailable as error:
            raise self._unrecorded(verdict, result, error) from error
        try:
            await self._visit("commit.settled")
        except FaultInjected as fault:
            # Recorded, and the answer is lost on its way: a replay will say what is true.
            raise in_doubt_error(self._row.request_id, fault.message, **self.known) from fault
        safety = safety_object(
            settled.receipt(), self._coordinator.pool, is_replay=False, was_attempted=outcome.changed is not False
        )
        payload = outcome.payload if verdict.transaction_state == "committed" else _as_unchanged(outcome.payload)
        return {**payload, "safety": safety}

    async def _settle_quietly(self, event: WriteEvent, **facts: Any) -> None:
        """Settle a row whose answer is an error anyway: a disk that refuses leaves it executing, which is as bad."""
        if self._is_abandoned:
            return
        self._now_settling()
        try:
            await self._coordinator.ledger.settle(self._row, event, **facts)
        except LedgerUnavailable:
            return

    def _unrecorded(self, verdict: Verdict, result: str | None, error: LedgerUnavailable) -> ToolError:
        if verdict.transaction_state == "no_change" and verdict.is_final:
            return ToolError("idempotency_unavailable", str(error), outer=rejected(), requestId=self._row.request_id)
        told = {} if result is None else {"resultHash": self._coordinator.pool.short(result)}
        return in_doubt_error(self._row.request_id, str(error), **told)

    def _now_settling(self) -> None:
        """The host is done with: the end goes to the disk, together with whatever else waits for it."""
        self._is_settling = True
        self._leave_slot()

    def _give_lease_back(self) -> None:
        if self._lease is not None:
            self._coordinator.leases.give_back(self._lease, now=self._coordinator.clock.now())

    async def _visit(self, stage: str) -> None:
        await self._coordinator.trigger.visit(f"write.{stage}")


def _is_host_refusal(error: BaseException | None) -> bool:
    """The host answered, with its own refusal: the error itself, or the one a tool put into words."""
    while error is not None:
        if isinstance(error, HostError):
            # A read that was refused after the write says nothing of the write.
            is_refusal = isinstance(error, HostApiError | HostHttpError) and not error.is_ambiguous
            return is_refusal and is_write(error.path)
        error = error.__cause__ if isinstance(error, ToolError) else None
    return False


def _as_tool_error(error: Exception) -> ToolError:
    if isinstance(error, ToolError):
        return error
    if isinstance(error, HostApiError):
        return ToolError("api_error", error.message, apiCode=error.api_code)
    if isinstance(error, HostError):
        return ToolError(failure_code(error), error.message)
    if isinstance(error, FaultInjected):
        return ToolError("write_safety_failed", error.message)
    return ToolError("internal_error", f"{type(error).__name__}: {error}")


def _coarse_type(refusal: ToolError) -> dict[str, str]:
    told = str(refusal.details.get("type", refusal.kind.type))
    return {} if told == refusal.kind.type else {REFUSAL_TYPE: told}


def _as_unchanged(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What the host was asked for is what some handlers tell; the look has shown that nothing came of it."""
    return {name: type(value)() if name in _CLAIMS and value else value for name, value in payload.items()}


def _is_small(extra: Any) -> bool:
    return len(json.dumps(extra, ensure_ascii=False).encode("utf-8", "surrogatepass")) <= RECEIPT_BYTES_MAX
