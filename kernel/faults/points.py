"""[core] The named places where a fault can be planned, derived from the tables that name the work. A leaf; no I/O.

A point's name is ``write.<stage>``, ``ledger.<step>.before|after``, ``host.before:<endpoint>`` /
``host.after:<endpoint>`` (before or after its effect), or ``http.<edge>``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from kernel.endpoints import ENDPOINTS, is_write

Moment = Literal["before", "after"]

# The stages of one strict write, in the order in which they are reached. ``commit.observing`` comes once for each
# read-back, so the n-th visit of it is the n-th look.
WRITE_STAGES: Final = (
    "preflight.entered",
    "preflight.probed",
    "preflight.issued",
    "commit.found",
    "commit.checked",
    "commit.entered",
    "commit.begun",
    "commit.written",
    "commit.observing",
    "commit.observed",
    "commit.settled",
)
LEDGER_STEPS: Final = ("issue", "begin", "settle")
# What one connection passes: it is taken, and for each request: its head is there, each piece of its body is awaited,
# the body is whole, the answer is ready, each frame of a stream goes out, the answer is sent; at last it is closed.
HTTP_EDGES: Final = (
    "accepted",
    "head",
    "body",
    "request.read",
    "answer.before",
    "stream.frame",
    "answer.after",
    "closing",
)
# Host calls that are not one endpoint's: static resources.
STATIC: Final = "static"

WRITE_POINTS: Final = tuple(f"write.{stage}" for stage in WRITE_STAGES)
LEDGER_POINTS: Final = tuple(f"ledger.{step}.{moment}" for step in LEDGER_STEPS for moment in ("before", "after"))
HTTP_POINTS: Final = tuple(f"http.{edge}" for edge in HTTP_EDGES)
(
    HTTP_ACCEPTED,
    HTTP_HEAD,
    HTTP_BODY,
    HTTP_READ,
    HTTP_ANSWERING,
    HTTP_FRAME,
    HTTP_ANSWERED,
    HTTP_CLOSING,
) = HTTP_POINTS


def host_point(path: str, moment: Moment) -> str:
    """The point before or after the effect of one host call."""
    return f"host.{moment}:{path}"


HOST_POINTS: Final = tuple(host_point(path, moment) for path in (*ENDPOINTS, STATIC) for moment in ("before", "after"))
POINTS: Final = frozenset((*WRITE_POINTS, *LEDGER_POINTS, *HTTP_POINTS, *HOST_POINTS))

# --- families: what a deed's table speaks of -----------------------------------------------------------------------
HOST_BEFORE_WRITE: Final = "host.before of a write"
HOST_BEFORE_READ: Final = "host.before of a read"
HOST_AFTER: Final = "host.after"
WRITE: Final = "write"
LEDGER_BEFORE: Final = "ledger.before"
LEDGER_AFTER: Final = "ledger.after"
FAMILIES: Final = (
    HOST_BEFORE_READ,
    HOST_BEFORE_WRITE,
    HOST_AFTER,
    WRITE,
    LEDGER_BEFORE,
    LEDGER_AFTER,
    *HTTP_POINTS,
)


def _family(point: str) -> str:
    if point.startswith("http."):
        return point
    if point.startswith("write."):
        return WRITE
    if point.startswith("ledger."):
        return LEDGER_BEFORE if point.endswith(".before") else LEDGER_AFTER
    if point.startswith("host.after"):
        return HOST_AFTER
    path = point.partition(":")[2]
    return HOST_BEFORE_WRITE if path != STATIC and is_write(path) else HOST_BEFORE_READ


def effect_of(point: str) -> Literal["read", "write"] | None:
    """Whether a host point is of a call that reads or one that writes; None for other points."""
    if not point.startswith("host."):
        return None
    path = point.partition(":")[2]
    return "write" if path != STATIC and is_write(path) else "read"


FAMILY_OF: Final[Mapping[str, str]] = {point: _family(point) for point in sorted(POINTS)}
