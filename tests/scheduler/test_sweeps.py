"""A cancel at every scheduling point of a read and of a write: S1–S4 of ``scheduler.checker``, and nothing half done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from scheduler import TicketState
from scheduler.testing import MOMENTS, CancelInjector, Moment, cancel_everywhere
from tests.scheduler.world import End, read_path, settling_path, write_path

SCENARIOS: dict[str, Callable[[CancelInjector], Awaitable[None]]] = {
    "a read that is cancelled at its caller's points": read_path,
    "a read whose caller leaves": partial(read_path, strike="leave"),
    "a read whose caller leaves and does not matter": partial(read_path, strike="leave", outlives_caller=True),
    "a read cancelled by name": partial(read_path, strike="name"),
    "a write that is cancelled at its caller's points": write_path,
    "a write whose caller leaves": partial(write_path, strike="leave"),
    "a write whose caller leaves and does not matter": partial(write_path, strike="leave", outlives_caller=True),
    "a write cancelled by name": partial(write_path, strike="name"),
    "a write that leaves its slot and whose caller leaves": partial(write_path, strike="leave", settle_s=0.05),
    "a write that leaves its slot cancelled by name": partial(write_path, strike="name", settle_s=0.05),
    "a write over its bound out of its slot": partial(write_path, strike="name", write_s=9.0, settle_s=0.05),
    "a preflight that leaves its slot and whose caller leaves": partial(settling_path, strike="leave"),
    "a preflight that leaves its slot cancelled by name": partial(settling_path, strike="name"),
    "a write over its bound whose caller leaves": partial(write_path, strike="leave", write_s=9.0),
    "a write over its bound cancelled by name": partial(write_path, strike="name", write_s=9.0),
}
# How many points a sweep must have struck to have been one: at its caller's own points alone, and at every task's.
POINTS_MIN = {False: 3, True: 40}


def is_everywhere(name: str) -> bool:
    return not name.endswith("at its caller's points")


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_cancel_at_every_point_of(name: str, moment: Moment) -> None:
    assert cancel_everywhere(SCENARIOS[name], moments=[moment]) >= POINTS_MIN[is_everywhere(name)]


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_cancel_at_every_point_under_many_orders_of(name: str) -> None:
    points = cancel_everywhere(SCENARIOS[name], seeds=range(1, 11))
    assert points >= 10 * len(MOMENTS) * POINTS_MIN[is_everywhere(name)]


PREPARING, QUEUED, RUNNING = TicketState.PREPARING, TicketState.QUEUED, TicketState.RUNNING
COMMITTING, COMPLETED, CANCELLED = TicketState.COMMITTING, TicketState.COMPLETED, TicketState.CANCELLED

# How a struck call fares: (state when struck, end, what its caller heard).
FATES: dict[str, tuple[Callable[..., Awaitable[None]], set[End]]] = {
    "a write cancelled by name": (
        partial(write_path, strike="name"),
        {
            (PREPARING, CANCELLED, "cancelled"),
            (QUEUED, CANCELLED, "cancelled"),
            (RUNNING, CANCELLED, "cancelled"),
            (COMMITTING, COMPLETED, "committed"),
            (COMPLETED, COMPLETED, "committed"),
        },
    ),
    "a write whose caller leaves": (
        partial(write_path, strike="leave"),
        {
            (PREPARING, CANCELLED, None),
            (QUEUED, CANCELLED, None),
            (RUNNING, CANCELLED, None),
            (COMMITTING, COMPLETED, None),
            (COMPLETED, COMPLETED, "committed"),
        },
    ),
    "a read whose caller leaves and does not matter": (
        partial(read_path, strike="leave", outlives_caller=True),
        {
            (PREPARING, COMPLETED, None),
            (QUEUED, COMPLETED, None),
            (RUNNING, COMPLETED, None),
            (COMPLETED, COMPLETED, "value"),
        },
    ),
    "a preflight that leaves its slot cancelled by name": (
        partial(settling_path, strike="name"),
        {
            (PREPARING, CANCELLED, "cancelled"),
            (QUEUED, CANCELLED, "cancelled"),
            (RUNNING, CANCELLED, "cancelled"),
            (COMPLETED, COMPLETED, "value"),
        },
    ),
    "a read cancelled by name": (
        partial(read_path, strike="name"),
        {
            (PREPARING, CANCELLED, "cancelled"),
            (QUEUED, CANCELLED, "cancelled"),
            (RUNNING, CANCELLED, "cancelled"),
            (COMPLETED, COMPLETED, "value"),
        },
    ),
}


@pytest.mark.parametrize("name", FATES)
def test_the_sweep_reaches_every_state_and_each_has_one_end(name: str) -> None:
    """The strike decides nothing by chance: the state it meets says how the call ends. And no state is missed."""
    scenario, fates = FATES[name]
    ends: set[End] = set()
    cancel_everywhere(partial(scenario, ends=ends), moments=["blocked"])
    assert {end for end in ends if end[0] is not None} == fates
