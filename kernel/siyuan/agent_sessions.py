"""[core] Saved talks with the agent: what a client hands in, joined with what is stored, under the next revision."""

from __future__ import annotations

from typing import Any, Final

from kernel.ids import is_node_id

INVALID: Final = "invalid session data"
CONFLICT: Final = "agent session revision conflict"

_TURNS: Final = ("commitTurnID", "recoveryTurnID")
# About this one saving, or about the moment: never stored.
_PASSING: Final = frozenset(
    {*_TURNS, "expectedRevision", "recoveryState", "recoveryRevision", "agentRunning", "lastCommittedTurnID"}
)
_TEXTS: Final = ("title", "lastCommittedTurnID")
_NUMBERS: Final = ("createdAt", "updatedAt", "revision", "expectedRevision")


class SessionRefused(Exception):
    """Nothing is saved. ``revision``: the stored one, where that is the reason."""

    def __init__(self, status: int, message: str, revision: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.revision = revision


def named_session(given: dict[str, Any]) -> str:
    """The id of the session that is to be saved. Raises SessionRefused."""
    if not given.get("id") or not all(isinstance(given.get(name) or "", str) for name in ("id", *_TURNS)):
        raise SessionRefused(400, INVALID)
    texts = all(isinstance(given.get(name) or "", str) for name in _TEXTS)
    numbers = all(type(given.get(name)) in (int, type(None)) for name in _NUMBERS)
    if not (texts and numbers and is_node_id(given["id"])):
        raise SessionRefused(500, INVALID)
    return str(given["id"])


def joined_session(given: dict[str, Any], stored: dict[str, Any] | None) -> dict[str, Any]:
    """What is to be stored. Fields that are not handed in stay.

    Raises:
        SessionRefused: the client expects another revision, or commits a turn of a talk: there is none without a model.
    """
    known = stored or {}
    revision = known.get("revision") if isinstance(known.get("revision"), int) else 0
    assert isinstance(revision, int), "bad revisions count as none"
    expected = given.get("expectedRevision")
    if (expected is not None and expected != revision) or any(given.get(name) for name in _TURNS):
        raise SessionRefused(409, CONFLICT, revision)
    kept = {
        name: value for name, value in known.items() if name not in ("messages", *_PASSING - {"lastCommittedTurnID"})
    }
    fresh = {name: value for name, value in given.items() if name not in _PASSING}
    return {**kept, **fresh, "revision": revision + 1}
