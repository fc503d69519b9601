"""``Scheduler.submit``: a caller that is told through ``on_answer`` and waits elsewhere."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from outcome import Error, Outcome, Value

from scheduler import Lane, RequestCancelled, Ticket, open_scheduler


async def test_a_submitted_work_answers_through_the_callback_only() -> None:
    answers: list[Outcome[int]] = []

    async def work(_ticket: Ticket) -> int:
        await trio.lowlevel.checkpoint()
        return 5

    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s") as ticket:
            scheduler.submit(ticket, Lane.READ, work, on_answer=answers.append)
        await trio.testing.wait_all_tasks_blocked()
        assert answers == [Value(5)]
        assert scheduler.statistics().in_flight == 0


async def test_a_submitted_work_that_is_cancelled_by_name_is_answered_at_once_and_once() -> None:
    answers: list[Outcome[None]] = []
    release = trio.Event()

    async def work(_ticket: Ticket) -> None:
        await release.wait()

    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s") as ticket:
            scheduler.submit(ticket, Lane.READ, work, on_answer=answers.append)
        await trio.testing.wait_all_tasks_blocked()
        scheduler.cancel("s", 1)
        assert isinstance(answers[0], Error)
        assert isinstance(answers[0].error, RequestCancelled)
        release.set()
        await trio.testing.wait_all_tasks_blocked()
        assert len(answers) == 1


async def test_a_ticket_that_was_cancelled_before_is_not_submitted() -> None:
    answers: list[Outcome[None]] = []

    async def work(_ticket: Ticket) -> None:
        raise AssertionError("never run")

    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s") as ticket:
            scheduler.cancel("s", 1)
            with pytest.raises(RequestCancelled):
                scheduler.submit(ticket, Lane.READ, work, on_answer=answers.append)
    assert answers == []


async def test_a_scheduler_is_full_while_every_place_is_taken() -> None:
    async with open_scheduler(admitted_max=1) as scheduler:
        assert not scheduler.is_full()
        with scheduler.admit():
            assert scheduler.is_full()
        assert not scheduler.is_full()
