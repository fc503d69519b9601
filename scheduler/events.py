"""What happened, as values, for whoever wants a trace: an observer is called synchronously with each of them.

An observer must not raise and must not call the scheduler back. Tickets are named by their number: a value stays true
after the ticket has gone on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

logger = logging.getLogger("scheduler")

if TYPE_CHECKING:
    from scheduler.ticket import Key, Lane, TicketState


@dataclass(frozen=True, slots=True)
class Admitted:
    """A ticket was made."""

    number: int
    key: Key
    session: Hashable
    task_id: str | None
    label: str


@dataclass(frozen=True, slots=True)
class Queued:
    """It arrived at its lane."""

    number: int
    lane: Lane


@dataclass(frozen=True, slots=True)
class Started:
    """It was assigned a slot."""

    number: int
    lane: Lane


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """Somebody asked to cancel it (by name, by closing its session, by leaving); ``is_accepted`` says who won."""

    number: int
    is_accepted: bool


@dataclass(frozen=True, slots=True)
class CallerLeft:
    """The task that waited for the answer was cancelled; what that means for the ticket follows as its own event."""

    number: int


@dataclass(frozen=True, slots=True)
class Committing:
    """It passed the commit boundary."""

    number: int


@dataclass(frozen=True, slots=True)
class BoundOverrun:
    """Its boundary work is longer than its bound: the work goes on, and keeps the slot."""

    number: int


@dataclass(frozen=True, slots=True)
class Finished:
    """It reached its terminal state."""

    number: int
    state: TicketState


@dataclass(frozen=True, slots=True)
class SlotReleased:
    """The last work that occupied its slot has ended."""

    number: int
    lane: Lane


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A work failed when nobody waited for it any more, or ``on_answer`` failed. Without an observer it is logged."""

    number: int
    error: BaseException


TraceEvent = (
    Admitted
    | Queued
    | Started
    | CancelRequested
    | CallerLeft
    | Committing
    | BoundOverrun
    | Finished
    | SlotReleased
    | Undelivered
)

Observer = Callable[[TraceEvent], None]


def report_undelivered(observer: Observer | None, number: int, error: BaseException) -> None:
    """An error that nobody else will see must not vanish."""
    if observer is not None:
        observer(Undelivered(number, error))
    else:
        logger.error("an error of ticket %d reached nobody", number, exc_info=error)
