"""[core] The protocol revisions that are spoken here, enumerated: revisions are never compared as strings.

Two families: the handshake era (``initialize``, sessions) and the modern era (one envelope per request). No I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MODERN: Final = "2026-07-28"
MODERN_VERSIONS: Final = (MODERN,)

# What a handshake request without any version information is taken for.
ASSUMED_HANDSHAKE: Final = "2025-03-26"
LATEST_HANDSHAKE: Final = "2025-11-25"


@dataclass(frozen=True, slots=True)
class Revision:
    """What a handshake revision may do that its neighbours may not (mcp-requirements 5.11)."""

    name: str
    has_batches: bool = False
    has_progress_message: bool = True
    has_elicitation: bool = False
    has_elicitation_mode: bool = False


HANDSHAKE_REVISIONS: Final[dict[str, Revision]] = {
    revision.name: revision
    for revision in (
        Revision("2024-11-05", has_progress_message=False),
        Revision("2025-03-26", has_batches=True),
        Revision("2025-06-18", has_elicitation=True),
        Revision("2025-11-25", has_elicitation=True, has_elicitation_mode=True),
    )
}


def negotiate(requested: str) -> Revision:
    """The revision an ``initialize`` is answered with: the requested one, or the latest of its family."""
    return HANDSHAKE_REVISIONS.get(requested) or HANDSHAKE_REVISIONS[LATEST_HANDSHAKE]


def is_handshake(header: str | None) -> bool:
    """Whether a version header (or its absence) belongs to the handshake era."""
    return header is None or header in HANDSHAKE_REVISIONS
