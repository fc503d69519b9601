"""The one synchronous planner: after any change it says which tickets start now. Starts nothing itself.

Theory of operation. Every path that frees a slot or fills a queue (arrival, end of a run, failure, cancel) ends in a
call of ``assign``, and the shell acts on the list it returns. Nothing awaits between the change and the plan, so no
lock is needed and no wake-up can be lost: after ``assign`` a lane has either no free slot or nobody waiting. Within a
lane the order is the order of arrival; the lanes do not know of each other.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.admission import Admission
from scheduler.ticket import Lane, Ticket


class Slots:
    """How many runs a lane may have, and how many it has."""

    def __init__(self, counts: Mapping[Lane, int]) -> None:
        if any(counts[lane] < 1 for lane in Lane):
            raise ValueError("a lane has at least one slot")
        self.counts = {lane: counts[lane] for lane in Lane}
        self.taken = dict.fromkeys(Lane, 0)
        self.taken_max = dict.fromkeys(Lane, 0)

    def free(self, lane: Lane) -> int:
        return self.counts[lane] - self.taken[lane]

    def take(self, lane: Lane) -> None:
        assert self.taken[lane] < self.counts[lane]
        self.taken[lane] += 1
        self.taken_max[lane] = max(self.taken_max[lane], self.taken[lane])

    def release(self, lane: Lane) -> None:
        assert self.taken[lane] > 0
        self.taken[lane] -= 1


def assign(admission: Admission, slots: Slots) -> list[Ticket]:
    """Start every ticket that now fits, in order of arrival within its lane; each of them has taken its slot."""
    started: list[Ticket] = []
    for lane in Lane:
        while slots.free(lane) and (ticket := admission.start_next(lane)) is not None:
            slots.take(lane)
            started.append(ticket)
        # Counted after the plan: who starts at once has not waited.
        admission.queued_max[lane] = max(admission.queued_max[lane], len(admission.queues[lane]))
    return started
