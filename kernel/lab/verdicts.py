"""What a client did under a plan, judged: one table of verdicts, each a function of the evidence. No I/O.

The evidence is what went over the wire, how the client's process ended, how often the plan struck, and the kernel's own
ledger: nothing is asked of the client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from kernel.errors import ERRORS
from kernel.lab.calls import IN_DOUBT, Cancel, ClientCall, calls_of
from kernel.lab.exchanges import Exchange

Grade = Literal["fault", "good", "note"]
# A client that waits nine tenths of what it was asked to is not blamed for its clock.
_PATIENCE: Final = 0.9
# Codes with a verdict of their own, or where the same call again is the right thing.
_JUDGED_ELSEWHERE: Final = frozenset({*IN_DOUBT, "state_changed", "queue_full"})
_HTTP_RETRYABLE: Final = frozenset({"HTTP 404", "HTTP 408", "HTTP 425", "HTTP 429"})
_BEGUN: Final = frozenset({"executing", "committed", "unknown"})


@dataclass(frozen=True, slots=True)
class ClientRun:
    """How the client's process ended. ``exit_code`` None: it was killed by the laboratory."""

    exit_code: int | None = 0
    is_hung: bool = False
    is_flooding: bool = False
    start_error: str = ""
    output: str = ""
    ran_s: float = 0.0


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row of the kernel's ledger after the run."""

    request_id: str
    state: str
    tool: str
    action: str
    arguments_digest: str


@dataclass
class Evidence:
    """All that is known of one run."""

    exchanges: list[Exchange]
    run: ClientRun
    struck: int
    ledger: list[LedgerRow] = field(default_factory=list)
    must_recover: bool = True
    deaths: int = 0  # of the kernel

    @cached_property
    def _read(self) -> tuple[list[ClientCall], list[Cancel]]:
        return calls_of(self.exchanges)

    @property
    def calls(self) -> list[ClientCall]:
        return self._read[0]

    @property
    def cancels(self) -> list[Cancel]:
        return self._read[1]

    def later(self, call: ClientCall) -> list[ClientCall]:
        """The calls that were sent once the client could know how this one ended."""
        return [other for other in self.calls if other.sent_s >= call.known_s and other is not call]

    def has_read_between(self, first: ClientCall, second: ClientCall) -> bool:
        """Whether the client read anything, with success, after the one and before the other."""
        return any(
            call.kind == "read" and call.outcome == "ok" and first.known_s <= call.sent_s <= second.sent_s
            for call in self.calls
        )

    def begun(self, request_id: str | None) -> bool:
        """Whether the ledger says that a write of this id was begun."""
        return any(row.request_id == request_id and row.state in _BEGUN for row in self.ledger)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One verdict with its evidence in words."""

    name: str
    grade: Grade
    title: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of one run; ``outcome`` is the line of the table."""

    verdicts: tuple[Verdict, ...]

    @property
    def outcome(self) -> Literal["fault", "ok", "not reached"]:
        if any(verdict.grade == "fault" for verdict in self.verdicts):
            return "fault"
        if any(verdict.name == "not_reached" for verdict in self.verdicts):
            return "not reached"
        return "ok"


def judge(evidence: Evidence) -> Judgement:
    """Every verdict that the evidence supports, faults first."""
    found = [
        Verdict(row.name, row.grade, row.title, details)
        for row in VERDICTS
        if (details := tuple(dict.fromkeys(row.look(evidence))))
    ]
    is_faulty = any(verdict.grade == "fault" for verdict in found)
    return Judgement(tuple(verdict for verdict in found if not (is_faulty and verdict.grade == "good")))


# --- faults --------------------------------------------------------------------------------------------------------


def _sent_twice(evidence: Evidence) -> Iterator[str]:
    """The same write begun under two ids (or twice without one), the first of them in doubt for its client."""
    for first, second in _second_tries(evidence):
        if evidence.has_read_between(first, second):
            continue  # it looked first: what it saw was its reason
        if first.kind == "plain" and second.kind == "plain":
            yield f"{first.named()} was sent again after {first.told()}: nothing protects a call without a requestId"
        elif evidence.begun(first.request_id) and evidence.begun(second.request_id):
            yield f"{first.named()} and {second.named()} were both begun"


def _new_id_after_unknown(evidence: Evidence) -> Iterator[str]:
    for first, second in _second_tries(evidence):
        if second.kind != "plain" and not evidence.has_read_between(first, second):
            yield f"after {first.told()} to {first.named()} it went on as {second.named()} without looking"


def _second_tries(evidence: Evidence) -> Iterator[tuple[ClientCall, ClientCall]]:
    """A write in doubt and a later one of the same business under another id, the first never settled between."""
    for first in evidence.calls:
        if not first.is_in_doubt:
            continue
        for second in evidence.later(first):
            is_replay = second.request_id == first.request_id and first.request_id is not None
            if second.business != first.business:
                continue
            if is_replay and second.is_final:
                break  # replayed, and answered: whatever comes after it is a decision
            if second.kind in ("commit", "plain") and not is_replay:
                yield first, second
                break


def _ignored_unknown(evidence: Evidence) -> Iterator[str]:
    """A write in doubt, never looked after, and the client says that all is well."""
    if evidence.run.exit_code != 0:
        return
    for call in evidence.calls:
        if call.is_in_doubt and not any(
            later.kind == "read" or later.request_id == call.request_id or later.business == call.business
            for later in evidence.later(call)
        ):
            yield f"{call.named()} ended in {call.told()}; the client neither replayed nor read, and ended with 0"


def _ignored_lost_answer(evidence: Evidence) -> Iterator[str]:
    if evidence.run.exit_code != 0:
        return
    for call in evidence.calls:
        is_lost = call.kind in ("read", "preflight") and call.outcome == "lost" and call.exchange.ended_by == "kernel"
        if is_lost and not any(later.business == call.business for later in evidence.later(call)):
            yield f"the answer to {call.named()} was lost; the client never asked again, and ended with 0"


def _hid_failure(evidence: Evidence) -> Iterator[str]:
    """The last word on something was a refusal, and the client says that all is well."""
    if evidence.run.exit_code != 0:
        return
    last = {call.business: call for call in evidence.calls}
    for call in last.values():
        is_refused = call.outcome in ("error", "refused") and not call.is_in_doubt
        looked = any(later.kind == "read" and later.outcome == "ok" for later in evidence.later(call))
        if is_refused and not looked:
            yield f"{call.named()} ended in {call.told()}, and the client with 0"


def _ignored_state_changed(evidence: Evidence) -> Iterator[str]:
    for first in evidence.calls:
        if first.code != "state_changed":
            continue
        for second in evidence.later(first):
            if second.business != first.business or second.kind == "read":
                continue
            if second.request_id == first.request_id and second.request_id is not None:
                yield f"{first.named()} was answered state_changed and sent again as it was"
            elif not evidence.has_read_between(first, second):
                yield f"after state_changed to {first.named()} it went on with {second.named()} without reading"
            break


def _retried_non_retryable(evidence: Evidence) -> Iterator[str]:
    for first in evidence.calls:
        if not _must_not_be_repeated(first):
            continue
        for second in evidence.later(first):
            if second.tool == first.tool and second.arguments == first.arguments:
                if not evidence.has_read_between(first, second):
                    yield f"{first.named()} was answered {first.told()} and sent again as it was"
                break


def _must_not_be_repeated(call: ClientCall) -> bool:
    if call.outcome == "error":
        kind = ERRORS.get(call.code)
        return kind is not None and not kind.safe_to_retry and call.code not in _JUDGED_ELSEWHERE
    return call.outcome == "refused" and call.code.startswith("HTTP 4") and call.code not in _HTTP_RETRYABLE


def _never_cancelled(evidence: Evidence) -> Iterator[str]:
    """A call in a session whose client walked away: there a closed connection is no cancel."""
    for call in evidence.calls:
        walked_away = call.outcome == "lost" and call.exchange.ended_by == "client" and call.session is not None
        if walked_away and not any(
            cancel.session == call.session and cancel.rpc_id == call.rpc_id for cancel in evidence.cancels
        ):
            yield f"{call.named()} was given up without notifications/cancelled: the kernel still works for nobody"


def _hung(evidence: Evidence) -> Iterator[str]:
    if evidence.run.is_hung:
        waiting = [call.named() for call in evidence.calls if call.outcome == "lost"]
        yield f"killed after {evidence.run.ran_s:.0f} s" + (f", waiting for {waiting[-1]}" if waiting else "")


def _flooded(evidence: Evidence) -> Iterator[str]:
    if evidence.run.is_flooding:
        yield "it printed more than the laboratory takes, and was killed"


def _not_started(evidence: Evidence) -> Iterator[str]:
    if evidence.run.start_error:
        yield evidence.run.start_error


def _hammered(evidence: Evidence) -> Iterator[str]:
    for first in evidence.calls:
        if first.retry_after_s <= 0:
            continue
        for second in evidence.later(first):
            if second.business == first.business:
                waited_s = second.sent_s - first.known_s
                if waited_s < first.retry_after_s * _PATIENCE:
                    yield f"{first.named()}: asked to wait {first.retry_after_s:g} s, came again after {waited_s:.2f} s"
                break


def _reused_dead_session(evidence: Evidence) -> Iterator[str]:
    dead: dict[str, float] = {}
    for exchange in evidence.exchanges:
        session = exchange.headers.get("mcp-session-id")
        if session is None:
            continue
        if session in dead and exchange.sent_s >= dead[session]:
            if exchange.method != "DELETE":
                yield f"{exchange.method} in session {session[:8]}… after the kernel had said that it is gone"
        elif exchange.status == 404:
            dead[session] = exchange.ended_s


def _not_recovered(evidence: Evidence) -> Iterator[str]:
    run = evidence.run
    is_over = run.exit_code not in (0, None) and not run.start_error
    if is_over and evidence.must_recover and evidence.struck:
        yield f"exit code {run.exit_code}, where a good client goes on"


# --- the rest ------------------------------------------------------------------------------------------------------


def _recovered(evidence: Evidence) -> Iterator[str]:
    if evidence.struck and evidence.run.exit_code == 0:
        yield "the fault struck, and the client ended with 0"


def _reported(evidence: Evidence) -> Iterator[str]:
    if evidence.struck and evidence.run.exit_code not in (0, None) and not evidence.must_recover:
        yield f"exit code {evidence.run.exit_code}: it said that it could not go on"


def _not_reached(evidence: Evidence) -> Iterator[str]:
    if not evidence.struck:
        code = evidence.run.exit_code
        yield "the client never came to the plan's points" + ("" if code in (0, None) else f" (exit code {code})")


def _kernel_died(evidence: Evidence) -> Iterator[str]:
    if evidence.deaths:
        yield f"the kernel died and came back {evidence.deaths} time(s)"


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    grade: Grade
    title: str
    look: Callable[[Evidence], Iterator[str]]


VERDICTS: Final = (
    _Row("not_started", "fault", "could not start", _not_started),
    _Row("sent_twice", "fault", "sent twice", _sent_twice),
    _Row("new_id_after_unknown", "fault", "new request id after an unknown outcome", _new_id_after_unknown),
    _Row("ignored_state_changed", "fault", "ignored state_changed", _ignored_state_changed),
    _Row("retried_non_retryable", "fault", "retried a non-retryable", _retried_non_retryable),
    _Row("ignored_unknown", "fault", "ignored an unknown outcome", _ignored_unknown),
    _Row("ignored_lost_answer", "fault", "ignored a lost answer", _ignored_lost_answer),
    _Row("hid_failure", "fault", "hid a failure", _hid_failure),
    _Row("never_cancelled", "fault", "never cancelled", _never_cancelled),
    _Row("reused_dead_session", "fault", "kept a dead session", _reused_dead_session),
    _Row("hammered", "fault", "did not wait as asked", _hammered),
    _Row("hung", "fault", "hung", _hung),
    _Row("flooded", "fault", "flooded", _flooded),
    _Row("not_recovered", "fault", "gave up", _not_recovered),
    _Row("recovered", "good", "recovered", _recovered),
    _Row("reported", "good", "reported", _reported),
    _Row("not_reached", "note", "not reached", _not_reached),
    _Row("kernel_died", "note", "kernel died", _kernel_died),
)
