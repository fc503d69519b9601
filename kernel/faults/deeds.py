"""What a rule can do, with which fields, and at which points: one table. A leaf; no I/O.

``family`` words are those of ``kernel.faults.points``. A pair that is not in the table is refused with the reason that
stands in its row: a fault that could not happen there would be a plan that silently tests nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from kernel.faults.points import (
    FAMILIES,
    HOST_AFTER,
    HOST_BEFORE_READ,
    HOST_BEFORE_WRITE,
    HTTP_ACCEPTED,
    HTTP_ANSWERED,
    HTTP_ANSWERING,
    HTTP_BODY,
    HTTP_CLOSING,
    HTTP_FRAME,
    HTTP_HEAD,
    HTTP_POINTS,
    HTTP_READ,
    LEDGER_AFTER,
    LEDGER_BEFORE,
    WRITE,
)

Name = Literal[
    "delay",
    "hold",
    "fail",
    "drop",
    "cut",
    "truncate",
    "duplicate",
    "crash",
    "disk_full",
    "read_only",
    "stale_index",
    "shuffle_attributes",
    "edit",
    "expire",
    "list_changed",
    "clock",
    "cancel",
]
# Who carries it out: the trigger itself, by raising; the visited place; the running kernel around it.
Doer = Literal["trigger", "raise", "place", "world"]


@dataclass(frozen=True, slots=True)
class Deed:
    """One row. ``because``: why it makes no sense elsewhere."""

    name: Name
    doer: Doer
    families: frozenset[str]
    because: str
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()

    @property
    def fields(self) -> frozenset[str]:
        return self.required | self.optional


_ALL: Final = frozenset(FAMILIES)
_HOST: Final = frozenset({HOST_BEFORE_READ, HOST_BEFORE_WRITE, HOST_AFTER})
_HTTP: Final = frozenset(HTTP_POINTS)
_IN_CALL: Final = _HOST | {WRITE, LEDGER_BEFORE, LEDGER_AFTER}
# Where no request has been read, or none is any more: a rule cannot ask whose call it is.
NAMELESS: Final = frozenset({HTTP_ACCEPTED, HTTP_HEAD, HTTP_BODY, HTTP_CLOSING})


def _row(
    name: Name, doer: Doer, families: frozenset[str], because: str = "", *, required: str = "", optional: str = ""
) -> Deed:
    return Deed(name, doer, families, because, frozenset(required.split()), frozenset(optional.split()))


DEEDS: Final[dict[str, Deed]] = {
    row.name: row
    for row in (
        _row("delay", "trigger", _ALL, required="seconds"),
        _row("hold", "trigger", _ALL),
        _row("crash", "trigger", _ALL),
        _row(
            "fail",
            "raise",
            _ALL - {HTTP_CLOSING, HTTP_FRAME},
            "what is being closed or streamed has no status any more: cut it",
            optional="code status message retry_after_s",
        ),
        _row(
            "drop",
            "raise",
            _HOST | (_HTTP - {HTTP_CLOSING}),
            "only an answer can be dropped: at a host.* or http.* point",
        ),
        _row("cut", "raise", _HTTP, "only a connection can be cut: at an http.* point", optional="how"),
        _row(
            "truncate",
            "place",
            frozenset({HTTP_ANSWERING, HTTP_FRAME}),
            "only what is sent can be cut short: at http.answer.before or http.stream.frame",
            optional="bytes",
        ),
        _row(
            "duplicate",
            "place",
            frozenset({HTTP_READ, HTTP_FRAME, HOST_BEFORE_READ, HOST_BEFORE_WRITE}),
            "only a delivery can come twice: a request (http.request.read, host.before:*) or a frame",
        ),
        _row(
            "disk_full",
            "raise",
            frozenset({LEDGER_BEFORE, HOST_BEFORE_WRITE}),
            "only before a write can the disk be full: at ledger.*.before or host.before of a write",
        ),
        _row(
            "read_only",
            "raise",
            frozenset({LEDGER_BEFORE, HOST_BEFORE_WRITE}),
            "only before a write can the disk refuse it: at ledger.*.before or host.before of a write",
        ),
        _row("stale_index", "world", _IN_CALL | {HTTP_READ}, "the index is asked inside a request", optional="seconds"),
        _row(
            "shuffle_attributes",
            "place",
            frozenset({HOST_AFTER, HTTP_ANSWERING}),
            "attributes stand in answers: at host.after:* or http.answer.before",
            optional="seed",
        ),
        _row(
            "edit",
            "world",
            _IN_CALL | {HTTP_READ, HTTP_ANSWERING, HTTP_ANSWERED},
            "somebody else's edit needs a call whose target it can hit",
            optional="id text",
        ),
        _row("expire", "world", _ALL - {HTTP_CLOSING}, "nobody comes after it", required="what"),
        _row("list_changed", "world", _ALL - {HTTP_CLOSING}, "nobody comes after it", optional="count"),
        _row("clock", "world", _ALL, required="seconds"),
        _row("cancel", "world", _IN_CALL, "only a call that runs can be cancelled: at host.*, write.* or ledger.*"),
    )
}
# Fields that every rule may have.
COMMON: Final = frozenset(
    {"point", "do", "name", "nth", "times", "tool", "action", "session", "phase", "effect", "probability", "seed"}
)
Effect = Literal["read", "write"]
EFFECTS: Final = ("read", "write")
CUTS: Final = ("fin", "rst")
EXPIRABLE: Final = ("leases", "sessions")
