"""[core] What the scheduler is doing, as frozen values: counts only, no names and no contents."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.admission import Admission
from scheduler.assignment import Slots
from scheduler.ticket import Lane, Ticket, TicketState


@dataclass(frozen=True, slots=True)
class LaneStatistics:
    """``running`` counts taken slots, whether or not the run was answered already."""

    slots: int
    running: int
    queued: int
    running_max: int
    queued_max: int


@dataclass(frozen=True, slots=True)
class SchedulerStatistics:
    """One moment. ``in_flight`` = preparing + queued + slots taken + settling; ``*_max``: high-water marks since the
    start."""

    capacity: int
    in_flight: int
    preparing: int
    reads: LaneStatistics
    mutations: LaneStatistics
    committing: int
    cancelled_holding_slots: int  # answered as cancelled; the current host call has not ended
    overrun_holding_slots: int  # answered because the bound was over; the boundary work has not ended
    settling: int  # have left their slot, and have not ended
    refused_total: int
    in_flight_max: int
    is_open: bool

    @property
    def queued(self) -> int:
        return self.reads.queued + self.mutations.queued

    @property
    def running(self) -> int:
        return self.reads.running + self.mutations.running

    def lane(self, lane: Lane) -> LaneStatistics:
        return self.reads if lane is Lane.READ else self.mutations


@dataclass(frozen=True, slots=True)
class TicketStatus:
    """One ticket as its task id shows it."""

    state: TicketState
    lane: Lane | None
    cancel_requested: bool
    is_committing: bool
    holds_slot: bool


def ticket_status(ticket: Ticket) -> TicketStatus:
    return TicketStatus(
        state=ticket.state,
        lane=ticket.lane,
        cancel_requested=ticket.is_cancelled,
        is_committing=ticket.state is TicketState.COMMITTING,
        holds_slot=ticket.holds_slot,
    )


def scheduler_statistics(admission: Admission, slots: Slots) -> SchedulerStatistics:
    """Counted afresh from the tickets in flight: there is no second book that could drift."""
    tickets = admission.tickets.values()
    states = [ticket.state for ticket in tickets]
    kept = [ticket.state for ticket in tickets if ticket.holds_slot]
    return SchedulerStatistics(
        capacity=admission.admitted_max,
        in_flight=len(states),
        preparing=states.count(TicketState.PREPARING),
        reads=_lane_statistics(Lane.READ, admission, slots),
        mutations=_lane_statistics(Lane.MUTATION, admission, slots),
        committing=states.count(TicketState.COMMITTING),
        cancelled_holding_slots=kept.count(TicketState.CANCELLED),
        overrun_holding_slots=kept.count(TicketState.COMPLETED) + kept.count(TicketState.FAILED),
        settling=sum(ticket.has_left_slot for ticket in tickets),
        refused_total=admission.refused_total,
        in_flight_max=admission.in_flight_max,
        is_open=admission.is_open,
    )


def _lane_statistics(lane: Lane, admission: Admission, slots: Slots) -> LaneStatistics:
    return LaneStatistics(
        slots=slots.counts[lane],
        running=slots.taken[lane],
        queued=len(admission.queues[lane]),
        running_max=slots.taken_max[lane],
        queued_max=admission.queued_max[lane],
    )
