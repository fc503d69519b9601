"""The named places where a fault can be planned, derived from the tables that name the work. A leaf; no I/O.

A point's name is ``write.<stage>``, ``ledger.<step>.before|after``, ``host.before:<endpoint>`` /
``host.after:<endpoint>`` (before or after its effect), or ``http.<edge>``.
"""

from __future__ import annotations

from typing import Final, Literal

from kernel.endpoints import ENDPOINTS

Moment = Literal["before", "after"]

# The stages of one strict write, in the order in which they are reached.
WRITE_STAGES: Final = (
    "preflight.probed",
    "preflight.issued",
    "commit.checked",
    "commit.entered",
    "commit.begun",
    "commit.written",
    "commit.observed",
    "commit.settled",
)
LEDGER_STEPS: Final = ("issue", "begin", "settle")
# What one connection passes: it is taken, and for each request: its body is there, its answer is ready, is sent.
HTTP_EDGES: Final = ("accepted", "request.read", "answer.before", "answer.after")
# Host calls that are not one endpoint's: static resources.
STATIC: Final = "static"

WRITE_POINTS: Final = tuple(f"write.{stage}" for stage in WRITE_STAGES)
LEDGER_POINTS: Final = tuple(f"ledger.{step}.{moment}" for step in LEDGER_STEPS for moment in ("before", "after"))
HTTP_POINTS: Final = tuple(f"http.{edge}" for edge in HTTP_EDGES)
HTTP_ACCEPTED, HTTP_READ, HTTP_ANSWERING, HTTP_ANSWERED = HTTP_POINTS


def host_point(path: str, moment: Moment) -> str:
    """The point before or after the effect of one host call."""
    return f"host.{moment}:{path}"


HOST_POINTS: Final = tuple(host_point(path, moment) for path in (*ENDPOINTS, STATIC) for moment in ("before", "after"))
POINTS: Final = frozenset((*WRITE_POINTS, *LEDGER_POINTS, *HTTP_POINTS, *HOST_POINTS))
