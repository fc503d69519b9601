"""The scheduler's promises, checked from its trace alone: a second, slower book that shares no code with the first.

S1 no lane has more runs than slots, and no more than the admitted maximum is in flight, after every event.
S2 within a lane tickets start in order of arrival, minus the cancelled.
S3 every ticket goes through the states of the table to exactly one terminal state, and is answered at most once.
S4 in the end nothing is left: no slot, no waiter, no ticket.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler.events import Admitted, Committing, Finished, Queued, SlotReleased, Started, TraceEvent
from scheduler.limits import ADMITTED_REQUESTS_MAX, MUTATION_SLOTS, READ_SLOTS
from scheduler.statistics import SchedulerStatistics
from scheduler.ticket import Lane, TicketState


@dataclass(slots=True)
class _Seen:
    lane: Lane | None = None
    path: list[TicketState] = field(default_factory=lambda: [TicketState.PREPARING])
    holds_slot: bool = False


class Checker:
    """Pass it as ``observer``. It never raises while the scheduler runs; ``verify`` raises what it has found."""

    def __init__(
        self,
        read_slots: int = READ_SLOTS,
        mutation_slots: int = MUTATION_SLOTS,
        admitted_max: int = ADMITTED_REQUESTS_MAX,
    ) -> None:
        self.trace: list[TraceEvent] = []
        self.violations: list[str] = []
        self.answers: dict[int, int] = {}
        self._slots = {Lane.READ: read_slots, Lane.MUTATION: mutation_slots}
        self._admitted_max = admitted_max
        self._seen: dict[int, _Seen] = {}
        self._occupying: dict[int, _Seen] = {}
        self._waiting: dict[Lane, list[int]] = {lane: [] for lane in Lane}

    def __call__(self, event: TraceEvent) -> None:
        self.trace.append(event)
        match event:
            case Admitted(number):
                self._require(number not in self._seen, f"S3 {number} admitted twice")
                self._seen[number] = _Seen()
            case Queued(number, lane):
                self._move(number, TicketState.QUEUED)
                self._seen[number].lane = lane
                self._waiting[lane].append(number)
            case Started(number, lane):
                self._start(number, lane)
            case Committing(number):
                self._move(number, TicketState.COMMITTING)
            case Finished(number, state):
                self._finish(number, state)
            case SlotReleased(number, lane):
                self._require(self._seen[number].holds_slot, f"S1 {number} released a slot it did not hold")
                self._seen[number].holds_slot = False
            case _:
                pass
        self._check_bounds(event.number)

    def answered(self, number: int) -> None:
        """A caller was told the outcome of this ticket (value, error or cancel)."""
        self.answers[number] = self.answers.get(number, 0) + 1
        self._require(self.answers[number] == 1, f"S3 {number} answered {self.answers[number]} times")
        self._require(
            self._seen[number].path[-1] in _ENDS,
            f"S3 {number} answered in {self._seen[number].path[-1].name}",
        )

    def path(self, number: int) -> list[TicketState]:
        """The states the ticket went through."""
        return list(self._seen[number].path)

    def started(self, lane: Lane) -> list[int]:
        """The tickets that started in the lane, in order."""
        return [event.number for event in self.trace if isinstance(event, Started) and event.lane is lane]

    def verify(self, final: SchedulerStatistics | None = None) -> None:
        """Raise AssertionError for the first broken promise; with ``final`` also check that nothing is left (S4)."""
        assert not self.violations, self.violations[0]
        if final is None:
            return
        for number, seen in self._seen.items():
            assert seen.path[-1] in _ENDS, f"S3 {number} ends in {seen.path[-1].name}"
            assert not seen.holds_slot, f"S4 {number} still holds its slot"
        check_quiescent(final)

    # --- the second book ---

    def _start(self, number: int, lane: Lane) -> None:
        waiting = self._waiting[lane]
        self._require(waiting[:1] == [number], f"S2 {number} started before {waiting[:1]}")
        if number in waiting:
            waiting.remove(number)
        self._move(number, TicketState.RUNNING)
        self._seen[number].holds_slot = True

    def _finish(self, number: int, state: TicketState) -> None:
        self._move(number, state)
        lane = self._seen[number].lane
        if lane is not None and number in self._waiting[lane]:
            self._waiting[lane].remove(number)

    def _move(self, number: int, after: TicketState) -> None:
        path = self._seen[number].path
        self._require(after in _NEXT[path[-1]], f"S3 {number} went from {path[-1].name} to {after.name}")
        path.append(after)

    def _check_bounds(self, number: int) -> None:
        seen = self._seen[number]
        if seen.holds_slot or seen.path[-1] not in _ENDS:
            self._occupying[number] = seen
        else:
            self._occupying.pop(number, None)
        self._require(len(self._occupying) <= self._admitted_max, f"S1 {len(self._occupying)} in flight")
        for lane in Lane:
            count = sum(seen.holds_slot and seen.lane is lane for seen in self._occupying.values())
            self._require(count <= self._slots[lane], f"S1 {count} slots taken in lane {lane.value}")

    def _require(self, holds: bool, violation: str) -> None:
        if not holds:
            self.violations.append(violation)


def check_quiescent(statistics: SchedulerStatistics) -> None:
    """S4: no ticket in flight, no slot taken, nobody waiting. Raises AssertionError."""
    assert statistics.in_flight == 0, f"S4 {statistics}"
    assert statistics.running == 0, f"S4 {statistics}"
    assert statistics.queued == 0, f"S4 {statistics}"


_ENDS = (TicketState.COMPLETED, TicketState.FAILED, TicketState.CANCELLED)

# Written down once more on purpose: a checker that read TRANSITIONS could not find a mistake in it.
_NEXT: dict[TicketState, tuple[TicketState, ...]] = {
    TicketState.PREPARING: (TicketState.QUEUED, *_ENDS),
    TicketState.QUEUED: (TicketState.RUNNING, TicketState.CANCELLED),
    TicketState.RUNNING: (TicketState.COMMITTING, *_ENDS),
    TicketState.COMMITTING: (TicketState.COMPLETED, TicketState.FAILED),
    TicketState.COMPLETED: (),
    TicketState.FAILED: (),
    TicketState.CANCELLED: (),
}
