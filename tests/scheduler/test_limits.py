"""The limits are those of the specification, and the scheduler's defaults are the limits."""

from __future__ import annotations

from scheduler import open_scheduler
from scheduler.limits import ADMITTED_REQUESTS_MAX, MUTATION_SLOTS, READ_SLOTS


def test_the_limits_are_the_specified_ones() -> None:
    """R201, R202, R207."""
    assert (READ_SLOTS, MUTATION_SLOTS, ADMITTED_REQUESTS_MAX) == (4, 1, 128)


async def test_a_scheduler_has_the_limits_by_default() -> None:
    async with open_scheduler() as scheduler:
        found = scheduler.statistics()
    assert (found.reads.slots, found.mutations.slots, found.capacity) == (4, 1, 128)
