"""The life of one request id, as a table (R25-R34, R80-R86, decision 27).

Theory of operation. A preflight *issues* the id. The commit *begins* it, durably, before the host is called, and
*settles* it afterwards with what the read-back showed. Whatever is begun and not settled when the process starts is in
doubt: *restarted* makes it UNKNOWN, and nothing ever leads from there back to execution. After its time a row
*lapses*: the receipt goes, the marker (EXPIRED) stays for ever, so no id is issued twice.

Does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final


class WriteState(Enum):
    """The value is what the ledger row and ``ledgerState`` on the wire say."""

    ISSUED = "issued"
    EXECUTING = "executing"
    COMMITTED = "committed"
    UNKNOWN = "unknown"
    FAILED_BEFORE_EXECUTE = "failed_before_execute"
    EXPIRED = "expired"


class WriteEvent(Enum):
    """What happened to a write, named for the fact."""

    BEGUN = "begun"
    VERIFIED = "verified"
    MISMATCHED = "mismatched"
    REFUSED = "refused"
    REPLY_LOST = "reply_lost"
    OVERRAN = "overran"
    RESTARTED = "restarted"
    LAPSED = "lapsed"


class IllegalTransition(Exception):
    """Our own fault: an event that cannot happen in this state."""

    def __init__(self, state: WriteState, event: WriteEvent) -> None:
        super().__init__(f"{event.name} cannot happen to a write that is {state.name}")
        self.state = state
        self.event = event


_LAPSES: Final = MappingProxyType({WriteEvent.LAPSED: WriteState.EXPIRED})
TRANSITIONS: Final[Mapping[WriteState, Mapping[WriteEvent, WriteState]]] = MappingProxyType(
    {
        WriteState.ISSUED: MappingProxyType(
            {WriteEvent.BEGUN: WriteState.EXECUTING, WriteEvent.LAPSED: WriteState.EXPIRED}
        ),
        WriteState.EXECUTING: MappingProxyType(
            {
                WriteEvent.VERIFIED: WriteState.COMMITTED,
                WriteEvent.REFUSED: WriteState.FAILED_BEFORE_EXECUTE,
                WriteEvent.MISMATCHED: WriteState.UNKNOWN,
                WriteEvent.REPLY_LOST: WriteState.UNKNOWN,
                WriteEvent.OVERRAN: WriteState.UNKNOWN,
                WriteEvent.RESTARTED: WriteState.UNKNOWN,
            }
        ),
        WriteState.COMMITTED: _LAPSES,
        WriteState.UNKNOWN: _LAPSES,
        WriteState.FAILED_BEFORE_EXECUTE: _LAPSES,
        WriteState.EXPIRED: MappingProxyType({}),
    }
)
SETTLED: Final = frozenset({WriteState.COMMITTED, WriteState.UNKNOWN, WriteState.FAILED_BEFORE_EXECUTE})


def advance(state: WriteState, event: WriteEvent) -> WriteState:
    """The next state.

    Raises:
        IllegalTransition: the event cannot happen in ``state``.
    """
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise IllegalTransition(state, event) from None


def transitions_diagram() -> str:
    """The table as a mermaid state diagram, for the documentation."""
    lines = ["stateDiagram-v2", f"    [*] --> {WriteState.ISSUED.name}"]
    for state, row in TRANSITIONS.items():
        lines.extend(f"    {state.name} --> {after.name}: {event.value}" for event, after in row.items())
        if not row:
            lines.append(f"    {state.name} --> [*]")
    return "\n".join(lines) + "\n"
