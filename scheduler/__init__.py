"""Lanes, tickets and a commit boundary for any Trio program. Knows nothing of HTTP, MCP or notes.

    async with open_scheduler() as scheduler:
        with scheduler.admit(7, session="s1") as ticket:
            answer = await scheduler.perform(ticket, Lane.READ, work)

Reads run four at a time, mutations one at a time in order of arrival, 128 requests are let in. A request is cancelled
by the name its peer gave it; once a mutation has called ``ticket.enter_commit()`` it can no longer be, and runs to its
end whatever becomes of its caller. ``scheduler.testing`` has the tools to try every interleaving of your own works.
"""

from scheduler.admission import CancelOutcome, DuplicateKey, QueueFull, SchedulerClosed
from scheduler.commit import CommitBoundary, CommitOverrun
from scheduler.events import (
    Admitted,
    BoundOverrun,
    CallerLeft,
    CancelRequested,
    Committing,
    Finished,
    Observer,
    Queued,
    SlotReleased,
    Started,
    TraceEvent,
    Undelivered,
)
from scheduler.preparing import Preparing
from scheduler.scheduler import RunAborted, Scheduler, Work, open_scheduler
from scheduler.statistics import LaneStatistics, SchedulerStatistics, TicketStatus
from scheduler.ticket import (
    TRANSITIONS,
    Key,
    Lane,
    LocalProtocolError,
    RequestCancelled,
    Ticket,
    TicketEvent,
    TicketState,
    transitions_diagram,
)

__all__ = [
    "TRANSITIONS",
    "Admitted",
    "BoundOverrun",
    "CallerLeft",
    "CancelOutcome",
    "CancelRequested",
    "CommitBoundary",
    "CommitOverrun",
    "Committing",
    "DuplicateKey",
    "Finished",
    "Key",
    "Lane",
    "LaneStatistics",
    "LocalProtocolError",
    "Observer",
    "Preparing",
    "QueueFull",
    "Queued",
    "RequestCancelled",
    "RunAborted",
    "Scheduler",
    "SchedulerClosed",
    "SchedulerStatistics",
    "SlotReleased",
    "Started",
    "Ticket",
    "TicketEvent",
    "TicketState",
    "TicketStatus",
    "TraceEvent",
    "Undelivered",
    "Work",
    "open_scheduler",
    "transitions_diagram",
]
