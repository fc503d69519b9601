"""[core] Who is in: the bound on admitted requests, their names, one FIFO per lane. Starts and awaits nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from enum import Enum
from typing import NoReturn

from scheduler.events import Admitted, CancelRequested, Finished, Observer, Queued, SlotReleased, Started
from scheduler.limits import ADMITTED_REQUESTS_MAX, RETRY_AFTER_MS
from scheduler.ticket import TERMINAL, TRANSITIONS, Key, Lane, RequestCancelled, Ticket, TicketEvent, TicketState


class QueueFull(Exception):
    """Not admitted: nothing was executed. ``retry_after_ms`` is advice, in milliseconds."""

    def __init__(self, message: str, *, retry_after_ms: int = RETRY_AFTER_MS) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class SchedulerClosed(QueueFull):
    """Not admitted because the scheduler drains, has ended or does not run yet: nothing was executed."""


class DuplicateKey(Exception):
    """Not admitted: a request of that name is in flight. ``is_task`` says which of its two names collided."""

    def __init__(self, key: Key, *, is_task: bool = False) -> None:
        super().__init__(f"a request named {key!r} is in flight")
        self.key = key
        self.is_task = is_task


class CancelOutcome(Enum):
    """What became of a cancel."""

    NOT_FOUND = "not_found"
    ACCEPTED = "accepted"
    COMMITTING = "committing"  # refused: past the commit boundary
    FINISHED = "finished"  # refused: it had ended already


class Admission:
    """The tickets in flight. Every change of a ticket's state goes through here, or through ``Ticket.enter_commit``."""

    def __init__(self, *, admitted_max: int = ADMITTED_REQUESTS_MAX, observer: Observer | None = None) -> None:
        if admitted_max < 1:
            raise ValueError("admitted_max is at least 1")
        self.admitted_max = admitted_max
        self.observer = observer
        self.on_empty: Callable[[], None] | None = None
        self.is_open = True
        # Dicts, never sets: iteration follows admission, whatever the hash seed.
        self.tickets: dict[int, Ticket] = {}
        self.queues: dict[Lane, deque[Ticket]] = {lane: deque() for lane in Lane}
        self.refused_total = 0
        self.in_flight_max = 0
        self.queued_max = dict.fromkeys(Lane, 0)
        self._sessions: dict[Hashable, dict[Hashable, Ticket]] = {}
        self._tasks: dict[str, Ticket] = {}
        self._admitted_total = 0

    @property
    def has_queued(self) -> bool:
        """Somebody waits for a slot."""
        return any(self.queues.values())

    # --- in and out ---

    def admit(
        self,
        key: Key,
        *,
        session: Hashable = None,
        task_id: str | None = None,
        outlives_caller: bool = False,
        label: str = "",
    ) -> Ticket:
        """A ticket for a request.

        ``key`` is registered within ``session`` only: without a session there is no name to cancel by.
        Raises QueueFull, SchedulerClosed, DuplicateKey; then nothing has changed but ``refused_total``.
        """
        if not self.is_open or len(self.tickets) >= self.admitted_max:
            self._refuse()
        if session is not None and self._is_taken(self.find(session, key)):
            raise DuplicateKey(key)
        if task_id is not None and self._is_taken(self._tasks.get(task_id)):
            raise DuplicateKey(task_id, is_task=True)
        self._admitted_total += 1
        ticket = Ticket(self._admitted_total, key, session, task_id, outlives_caller, label)
        ticket.leave = self.finish
        ticket.observer = self.observer
        self.tickets[ticket.number] = ticket
        if len(self.tickets) > self.in_flight_max:
            self.in_flight_max = len(self.tickets)
        if session is not None:
            self._sessions.setdefault(session, {})[_name(ticket)] = ticket
        if task_id is not None:
            self._tasks[task_id] = ticket
        if self.observer is not None:
            self.observer(Admitted(ticket.number, key, session, task_id, label))
        return ticket

    def _refuse(self) -> NoReturn:
        self.refused_total += 1
        if not self.is_open:
            raise SchedulerClosed("the scheduler takes no new requests")
        raise QueueFull(f"{self.admitted_max} requests are in flight")

    @staticmethod
    def _is_taken(ticket: Ticket | None) -> bool:
        # A cancelled request that still holds its slot was answered: its name is free again.
        return ticket is not None and ticket.state not in TERMINAL

    def enqueue(self, ticket: Ticket, lane: Lane) -> None:
        """Put the ticket at the end of its lane.

        Raises:
            RequestCancelled: it was cancelled while it was prepared.
            LocalProtocolError: it was in a lane before.
        """
        self._arrive(ticket, lane)
        self.queues[lane].append(ticket)

    def start_at_once(self, ticket: Ticket, lane: Lane) -> None:
        """``enqueue`` and ``start_next`` in one step, where nobody waits. Raises as ``enqueue``."""
        assert not self.queues[lane]
        self._arrive(ticket, lane)
        self._start(ticket, lane)

    def start_next(self, lane: Lane) -> Ticket:
        """The first of the lane, now RUNNING and holding one slot; somebody must wait."""
        ticket = self.queues[lane].popleft()
        self._start(ticket, lane)
        return ticket

    def _arrive(self, ticket: Ticket, lane: Lane) -> None:
        if ticket.state is TicketState.CANCELLED:
            raise RequestCancelled
        ticket.apply(TicketEvent.ENQUEUE)
        ticket.lane = lane
        if self.observer is not None:
            self.observer(Queued(ticket.number, lane))

    def _start(self, ticket: Ticket, lane: Lane) -> None:
        ticket.apply(TicketEvent.START)
        ticket.holds = 1
        if self.observer is not None:
            self.observer(Started(ticket.number, lane))

    def finish(self, ticket: Ticket, event: TicketEvent) -> None:
        """The one transition into a terminal state. Raises LocalProtocolError if there was one before."""
        was_queued = ticket.state is TicketState.QUEUED
        ticket.apply(event)
        assert ticket.state in TERMINAL
        if was_queued:
            assert ticket.lane is not None
            self.queues[ticket.lane].remove(ticket)
        if self.observer is not None:
            self.observer(Finished(ticket.number, ticket.state))
        if not ticket.holds:
            self._forget(ticket)

    def hold(self, ticket: Ticket) -> None:
        """One more work occupies the ticket's slot; the slot must be held already."""
        assert ticket.holds > 0
        ticket.holds += 1

    def let_go(self, ticket: Ticket) -> bool:
        """One work less occupies the slot; True if it was the last one and the slot is free by that."""
        assert ticket.holds > 0
        assert ticket.lane is not None
        ticket.holds -= 1
        if ticket.holds:
            return False
        if not ticket.has_left_slot and self.observer is not None:
            self.observer(SlotReleased(ticket.number, ticket.lane))
        if ticket.state in TERMINAL:
            self._forget(ticket)
        return not ticket.has_left_slot

    def leave_slot(self, ticket: Ticket) -> None:
        """The slot is free although the run goes on; the slot must be held."""
        assert ticket.holds_slot
        assert ticket.lane is not None
        ticket.has_left_slot = True
        if self.observer is not None:
            self.observer(SlotReleased(ticket.number, ticket.lane))

    def _forget(self, ticket: Ticket) -> None:
        assert not ticket.is_in_flight
        del self.tickets[ticket.number]
        if ticket.session is not None:
            names = self._sessions.get(ticket.session)
            # The name may belong to a successor by now: it was free from the moment this one was answered.
            if names is not None and names.get(_name(ticket)) is ticket:
                del names[_name(ticket)]
                if not names:
                    del self._sessions[ticket.session]
        if ticket.task_id is not None and self._tasks.get(ticket.task_id) is ticket:
            del self._tasks[ticket.task_id]
        if not self.tickets and self.on_empty is not None:
            self.on_empty()

    # --- by name ---

    def find(self, session: Hashable, key: object) -> Ticket | None:
        """The ticket of that name; any JSON value may be asked for, only ids are ever found."""
        if session is None or key is None:
            return None
        try:
            return self._sessions.get(session, {}).get((type(key), key))
        except TypeError:  # an array or an object as an id: unhashable, and nobody's name
            return None

    def find_task(self, task_id: str) -> Ticket | None:
        return self._tasks.get(task_id)

    def of_session(self, session: Hashable) -> list[Ticket]:
        """The session's tickets in flight, in order of admission."""
        return sorted(self._sessions.get(session, {}).values(), key=lambda ticket: ticket.number)

    def cancel(self, ticket: Ticket | None) -> CancelOutcome:
        """Cancel if that is still possible: the ticket is then CANCELLED, and leaves its queue at once."""
        if ticket is None:
            return CancelOutcome.NOT_FOUND
        is_accepted = TicketEvent.CANCEL in TRANSITIONS[ticket.state]
        if self.observer is not None:
            self.observer(CancelRequested(ticket.number, is_accepted))
        if is_accepted:
            self.finish(ticket, TicketEvent.CANCEL)
            return CancelOutcome.ACCEPTED
        return CancelOutcome.FINISHED if ticket.state.is_terminal else CancelOutcome.COMMITTING


def _name(ticket: Ticket) -> Hashable:
    # The type is part of the name, for Python finds 1 == 1.0 == True. A ticket without a key is its own name.
    return ticket if ticket.key is None else (type(ticket.key), ticket.key)
