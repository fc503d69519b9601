"""What a strict write is, as values: the coordinator's vocabulary (strict-safe-writes, call flow). No I/O."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Precondition(Enum):
    """Which credential field an action uses; NONE for pure additions (they still need a request id)."""

    NONE = ""
    STATE = "expectedStateHash"
    STRUCTURE = "expectedStructureHash"
    MANIFEST = "expectedManifestHash"
    SOURCE = "expectedSourceHash"


SAFETY_ARGUMENTS = frozenset(
    {
        "validateOnly",
        "requestId",
        "expectedHash",
        "expectedStateHash",
        "expectedStructureHash",
        "expectedValueHash",
        "expectedManifestHash",
        "expectedSourceHash",
    }
)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a probe saw. ``state`` is JSON-like and already normalised; only its digest is kept."""

    state: Any
    target_ids: tuple[str, ...]  # sorted, distinct
    target_count: int
    summary: Mapping[str, Any] = field(default_factory=dict)  # further keys of the preflight answer


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the handler reported after its one host write.

    ``changed``: True/False if it says so, None if it does not know. ``replay``: extra small receipt kept for replay
    (AV creation only). ``expectation``: called on the read-back observation; False means readback_mismatch.
    """

    payload: dict[str, Any]
    changed: bool | None = None
    replay: Mapping[str, Any] | None = None
    expectation: Callable[[Observation], bool] | None = None


@dataclass(slots=True)
class Intent:
    """One strict mutation call, its arguments already validated and stripped of the safety fields."""

    tool: str
    action: str
    arguments: Mapping[str, Any]  # business arguments only
    precondition: Precondition
    # Reads the live target; called for the preflight, for the last check and for each read-back.
    probe: Callable[[], Awaitable[Observation]]
    # Whether the caller may: called before the first probe of a preflight and of a commit. Not for a replay, whose
    # target may be gone by its own doing, and not for a read-back.
    guard: Callable[[], Awaitable[None]] | None = None
    request_id: str | None = None  # as submitted
    credential: str | None = None  # as submitted under the precondition's field (or expectedHash)
    # For additive actions: confirms after the write that what was made is there; None where nothing can be read.
    confirm: Callable[[Outcome], Awaitable[bool]] | None = None
    # Ids that the write is going to give to what it makes (AV creation): recorded before the host is called, so that
    # even a write in doubt can be looked for (R83). ``stages``: the write adds what it has confirmed on its way.
    reserved: Mapping[str, Any] | None = None
    stages: list[str] = field(default_factory=list)
    # How many host writes the call has sent so far (its scoped host counts them); None where nobody counts.
    writes_sent: Callable[[], int] | None = None
    # Something new is made beside the target, which itself looks as before (a duplicate).
    creates: bool = False

    @property
    def is_shown_by_state(self) -> bool:
        """Whether the probed state shows what the write does. Otherwise ``Outcome.expectation`` and ``confirm`` alone
        tell that it was done, and nothing can tell that it was not: what would be looked for has no known name."""
        return not self.creates and self.precondition not in (Precondition.NONE, Precondition.SOURCE)


class CommitGate(Protocol):
    """The scheduler's side of the commit boundary (``scheduler.commit.CommitBoundary``)."""

    def enter_commit(self) -> None:
        """Last cancel check and the ``committing`` mark, with no checkpoint between. Raises if cancelled."""
        ...

    def leave_slot(self) -> None:
        """The host is done with, and only the ledger's disk is waited for: the next write may start. No checkpoint."""
        ...

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """The boundary work, shielded. Raises ``CommitOverrun`` when its bound is over: the work then goes on."""
        ...


class Coordinator(Protocol):
    """The one coordinator of a workspace: lease pool, short hashes, ledger, boundary (R87)."""

    async def preflight(self, intent: Intent, leave_slot: Callable[[], None]) -> dict[str, Any]:
        """Probe, issue a request id (durably) and a lease; the preflight answer without ``action``. Raises ToolError.

        ``leave_slot`` is called once the target has been read: from then on only the ledger's disk is waited for.
        """
        ...

    async def commit(self, intent: Intent, gate: CommitGate, write: Callable[[], Awaitable[Outcome]]) -> dict[str, Any]:
        """Replay, or check, write once, read back, settle: the payload with its ``safety`` object. Raises ToolError."""
        ...

    async def was_begun(self, request_id: str) -> bool:
        """Whether a write was ever started with this id, in whatever way it ended. Raises ToolError."""
        ...

    def shorten(self, digest: str) -> str:
        """The printed form of a full digest, through the one pool (R55)."""
        ...

    def trouble(self) -> str:
        """Why every strict write would be refused now, as far as a look tells; "" if nothing speaks against one."""
        ...
