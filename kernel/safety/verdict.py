"""[core] What the read-back says about a write (R70-R73, decision 40). Does no I/O.

| host reported | state afterwards | verdict |
|---|---|---|
| anything | could not be read, or lacks what was asked for | mismatched |
| changed | same as before | mismatched |
| not changed | other than before | mismatched: somebody else wrote |
| does not say, or not changed | same as before | verified, ``no_change`` |
| changed, or does not say | other than before | verified, ``committed`` |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from kernel.safety.intent import Outcome
from kernel.safety.write import WriteEvent

TransactionState = Literal["committed", "no_change", "unknown"]


@dataclass(frozen=True, slots=True)
class ReadBack:
    """One look at the target after the write. ``digest`` None: an addition, or the look failed (then ``cause``)."""

    digest: str | None = None
    is_as_asked: bool = True
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``event`` settles the ledger row; ``is_final`` False: looking again may still change it."""

    event: WriteEvent
    transaction_state: TransactionState
    is_final: bool
    cause: str = ""


COMMITTED: Final = Verdict(WriteEvent.VERIFIED, "committed", is_final=True)
NO_CHANGE: Final = Verdict(WriteEvent.VERIFIED, "no_change", is_final=True)


def judge(outcome: Outcome, previous: str | None, seen: ReadBack, *, is_shown_by_state: bool) -> Verdict:
    """The verdict on a write that the handler reported as done. ``previous``: the digest before it, None if none."""
    if seen.cause:
        return _mismatched(seen.cause)
    if not seen.is_as_asked:
        return _mismatched("the target does not show what was asked for")
    if not is_shown_by_state:
        # An addition, an uploaded source, the original of a copy: ``is_as_asked`` alone judges.
        return NO_CHANGE if outcome.changed is False else COMMITTED
    if seen.digest != previous:
        return _mismatched("the target changed although nothing was written") if outcome.changed is False else COMMITTED
    if outcome.changed:
        return _mismatched("the host reported a change, and the target shows none")
    return Verdict(WriteEvent.VERIFIED, "no_change", is_final=outcome.changed is False)


def _mismatched(cause: str) -> Verdict:
    return Verdict(WriteEvent.MISMATCHED, "unknown", is_final=False, cause=cause)
