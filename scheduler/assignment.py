"""[core] The one synchronous planner: after any change it says which tickets start now. Starts nothing itself.

Theory of operation. Every path that frees a slot or fills a queue (arrival, end of a run, failure, cancel) ends in a
call of ``assign``, and the shell acts on the list it returns. Nothing awaits between the change and the plan, so no
lock is needed and no wake-up can be lost: after ``assign`` a lane has either no free slot or nobody waiting. Within a
lane the order is the order of arrival; the lanes do not know of each other.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.admission import Admission
from scheduler.ticket import LANES, Lane, Ticket


class Slots:
    """How many runs a lane may have, and how many it has."""

    def __init__(self, counts: Mapping[Lane, int]) -> None:
        if any(counts[lane] < 1 for lane in LANES):
            raise ValueError("a lane has at least one slot")
        self.counts = {lane: counts[lane] for lane in LANES}
        self.taken = dict.fromkeys(Lane, 0)
        self.taken_max = dict.fromkeys(Lane, 0)

    def free(self, lane: Lane) -> int:
        return self.counts[lane] - self.taken[lane]

    def take(self, lane: Lane) -> None:
        assert self.taken[lane] < self.counts[lane]
        self.taken[lane] += 1
        if self.taken[lane] > self.taken_max[lane]:
            self.taken_max[lane] = self.taken[lane]

    def release(self, lane: Lane) -> None:
        assert self.taken[lane] > 0
        self.taken[lane] -= 1


def assign(admission: Admission, slots: Slots) -> list[Ticket]:
    """Start every ticket that now fits, in order of arrival within its lane; each of them has taken its slot."""
    started: list[Ticket] = []
    for lane in LANES:
        queue = admission.queues[lane]
        if not queue:
            continue
        while queue and slots.free(lane):
            slots.take(lane)
            started.append(admission.start_next(lane))
        # Counted after the plan: who starts at once has not waited.
        if len(queue) > admission.queued_max[lane]:
            admission.queued_max[lane] = len(queue)
    return started
