"""[core] One admitted request and its states. Knows no event loop: the shell drives it, the table decides.

Theory of operation. A ticket is PREPARING while its caller still looks at the arguments, QUEUED once it has arrived at
a lane, RUNNING from the moment a slot is assigned, COMMITTING from the one synchronous step after which a cancel is
refused. It ends in exactly one terminal state, and the transition into that state *is* the decision what the caller is
told: whoever comes second (a result after a cancel, a cancel after a result) finds a terminal state and changes nothing.

Holding a slot is not a state. A cancelled read is CANCELLED, and answered, at once, while its slot stays taken until
its current host call has ended; a write that overran its bound is answered while the host is still busy. ``holds``
counts what still occupies the slot, and a ticket counts as in flight until it is terminal *and* holds nothing. The
other way round, a run whose rest needs nothing of its lane (it only waits for a disk) may leave its slot before its end
(``leave_slot``): it stays what it is, named, counted and cancellable as before, and the next in the lane starts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol

from scheduler.events import Committing, Observer

if TYPE_CHECKING:
    from outcome import Outcome

Key = str | int | None
"""What a peer calls its request. JSON types stay apart: 5, "5" and True are three keys; None has no name at all."""


class Lane(Enum):
    """A class of work with slots of its own: what waits in one lane never delays the other."""

    READ = "read"
    MUTATION = "mutation"

    __hash__ = object.__hash__  # Enum's own is a Python function, and lanes are looked up several times per call


class TicketState(Enum):
    """Where a ticket is. The last three are terminal."""

    PREPARING = "preparing"
    QUEUED = "queued"
    RUNNING = "running"
    COMMITTING = "committing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    __hash__ = object.__hash__

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL


class TicketEvent(Enum):
    """What can happen to a ticket."""

    ENQUEUE = "enqueue"
    START = "start"
    COMMIT = "commit"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"

    __hash__ = object.__hash__


TRANSITIONS: Final[dict[TicketState, dict[TicketEvent, TicketState]]] = {
    TicketState.PREPARING: {
        TicketEvent.ENQUEUE: TicketState.QUEUED,
        # A request that needs no lane (help, refused arguments) ends where it began.
        TicketEvent.COMPLETE: TicketState.COMPLETED,
        TicketEvent.FAIL: TicketState.FAILED,
        TicketEvent.CANCEL: TicketState.CANCELLED,
    },
    TicketState.QUEUED: {
        TicketEvent.START: TicketState.RUNNING,
        TicketEvent.CANCEL: TicketState.CANCELLED,
    },
    TicketState.RUNNING: {
        TicketEvent.COMMIT: TicketState.COMMITTING,
        TicketEvent.COMPLETE: TicketState.COMPLETED,
        TicketEvent.FAIL: TicketState.FAILED,
        TicketEvent.CANCEL: TicketState.CANCELLED,
    },
    TicketState.COMMITTING: {
        TicketEvent.COMPLETE: TicketState.COMPLETED,
        TicketEvent.FAIL: TicketState.FAILED,
    },
    TicketState.COMPLETED: {},
    TicketState.FAILED: {},
    TicketState.CANCELLED: {},
}


TERMINAL: Final = frozenset(state for state, row in TRANSITIONS.items() if not row)
LANES: Final = tuple(Lane)  # iterating over an Enum class costs more than the whole plan


class LocalProtocolError(Exception):
    """Our own mistake: an event that the state does not allow. Its text names both."""


class RequestCancelled(Exception):
    """The request was cancelled before its commit boundary: nothing was attempted."""

    def __init__(self) -> None:
        super().__init__("the request was cancelled before its commit boundary")


def advance(state: TicketState, event: TicketEvent) -> TicketState:
    """The state after ``event``.

    Raises:
        LocalProtocolError: the table has no such transition.
    """
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise LocalProtocolError(f"{event.name} in {state.name}") from None


def transitions_diagram() -> str:
    """The table as a mermaid state diagram, for the documentation."""
    lines = ["stateDiagram-v2", f"    [*] --> {TicketState.PREPARING.name}"]
    for state, row in TRANSITIONS.items():
        lines.extend(f"    {state.name} --> {after.name}: {event.value}" for event, after in row.items())
        if not row:
            lines.append(f"    {state.name} --> [*]")
    return "\n".join(lines) + "\n"


class Leave(Protocol):
    """How a ticket tells its admission that its caller has left the ``with`` block."""

    def __call__(self, ticket: Ticket, event: TicketEvent) -> None: ...


@dataclass(eq=False, slots=True)
class Ticket:
    """One admitted request. Use it as a context manager: leaving the block ends a ticket that never reached a lane.

    ``outlives_caller``: a caller that leaves (its task is cancelled) does not cancel the ticket.
    ``label``: a word for people, such as the name of the action. Never shown by ``statistics()``.
    """

    number: int  # order of admission, from 1
    key: Key = None
    session: Hashable = None
    task_id: str | None = None
    outlives_caller: bool = False
    label: str = ""
    lane: Lane | None = None
    state: TicketState = TicketState.PREPARING
    holds: int = 0  # what still occupies the slot: the run, and boundary work that overran its bound
    has_left_slot: bool = False  # what ``holds`` counts occupies no slot any more
    # The shell's own fields: what to run, how to reach whoever waits, whom to tell of a departure.
    work: Callable[[Ticket], Awaitable[Any]] | None = field(default=None, repr=False)
    deliver: Callable[[Outcome[Any]], None] | None = field(default=None, repr=False)
    on_answer: Callable[[Outcome[Any]], None] | None = field(default=None, repr=False)
    leave: Leave | None = field(default=None, repr=False)
    vacate: Callable[[Ticket], None] | None = field(default=None, repr=False)
    observer: Observer | None = field(default=None, repr=False)

    @property
    def is_cancelled(self) -> bool:
        return self.state is TicketState.CANCELLED

    @property
    def holds_slot(self) -> bool:
        """It keeps others of its lane waiting."""
        return self.holds > 0 and not self.has_left_slot

    @property
    def is_in_flight(self) -> bool:
        """It occupies one of the admitted places."""
        return self.holds > 0 or self.state not in TERMINAL

    def apply(self, event: TicketEvent) -> None:
        """Make one transition (``advance``). Raises LocalProtocolError."""
        after = TRANSITIONS[self.state].get(event)
        self.state = advance(self.state, event) if after is None else after

    def check_cancelled(self) -> None:
        """Stop here if the request was cancelled: call it before and after each host call. No checkpoint.

        Raises:
            RequestCancelled
        """
        if self.state is TicketState.CANCELLED:
            raise RequestCancelled

    def enter_commit(self) -> None:
        """The commit boundary: the last look at a cancel, and the mark that refuses every later one. No checkpoint.

        Raises:
            RequestCancelled: nothing was attempted, and nothing may be.
            LocalProtocolError: not a running mutation.
        """
        if self.state is TicketState.CANCELLED:
            raise RequestCancelled
        if self.lane is not Lane.MUTATION:
            raise LocalProtocolError(f"{TicketEvent.COMMIT.name} in {self.state.name}, lane {self.lane}")
        self.apply(TicketEvent.COMMIT)
        if self.observer is not None:
            self.observer(Committing(self.number))

    def leave_slot(self) -> None:
        """Let the next of the lane start: what is left of this run needs nothing that the lane protects. No checkpoint.

        Raises:
            LocalProtocolError: it holds no slot.
        """
        if not self.holds_slot or self.vacate is None:
            raise LocalProtocolError(f"{self.state.name} holds no slot to leave")
        self.vacate(self)

    def __enter__(self) -> Ticket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Queued, running and committing tickets belong to the scheduler: their caller's departure changes nothing here.
        if self.state is TicketState.PREPARING and self.leave is not None:
            if error is None:
                self.leave(self, TicketEvent.COMPLETE)
            elif isinstance(error, Exception):
                self.leave(self, TicketEvent.FAIL)
            else:
                self.leave(self, TicketEvent.CANCEL)
