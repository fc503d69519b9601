"""Small scenarios in every order that Trio could have chosen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
import trio.testing
from outcome import Outcome

from scheduler import (
    CancelOutcome,
    DuplicateKey,
    Lane,
    RequestCancelled,
    Scheduler,
    Ticket,
    TicketState,
    open_scheduler,
)
from scheduler.testing import Checker, ChoiceTape, every_schedule


@asynccontextmanager
async def small_world(tape: ChoiceTape) -> AsyncIterator[tuple[Scheduler, Checker]]:
    """One slot per lane, already parked: only what the scenario itself does is enumerated."""
    checker = Checker(read_slots=1)
    tape.pause()
    async with open_scheduler(read_slots=1, observer=checker) as scheduler:
        await trio.testing.wait_all_tasks_blocked()
        tape.resume()
        yield scheduler, checker
        await scheduler.drain()
        checker.verify(scheduler.statistics())
        tape.pause()


def test_three_mutations_in_one_lane_commit_one_after_the_other_in_every_order() -> None:
    orders: set[str] = set()

    async def scenario(tape: ChoiceTape) -> None:
        arrived: list[str] = []
        committed: list[str] = []

        async def call(name: str) -> None:
            async def work(ticket: Ticket) -> None:
                ticket.enter_commit()
                await trio.lowlevel.checkpoint()
                committed.append(name)

            with scheduler.admit(label=name) as ticket:
                arrived.append(name)
                await scheduler.perform(ticket, Lane.MUTATION, work)
                checker.answered(ticket.number)

        async with small_world(tape) as (scheduler, checker):
            async with trio.open_nursery() as nursery:
                for name in "abc":
                    nursery.start_soon(call, name)
            assert committed == arrived
            assert len(checker.answers) == 3
        orders.add("".join(committed))

    assert every_schedule(scenario) >= 6
    assert len(orders) == 6


def test_a_cancel_against_the_start_is_won_by_exactly_one() -> None:
    fates: set[tuple[CancelOutcome, str, TicketState]] = set()

    async def scenario(tape: ChoiceTape) -> None:
        host: list[str] = []
        heard: list[str] = []
        outcomes: list[CancelOutcome] = []

        async def work(ticket: Ticket) -> str:
            await trio.lowlevel.checkpoint()
            ticket.enter_commit()
            host.append("written")
            await trio.lowlevel.checkpoint()
            return "written"

        async def call() -> None:
            with scheduler.admit(1, session="s") as ticket:
                tickets.append(ticket)
                try:
                    heard.append(await scheduler.perform(ticket, Lane.MUTATION, work))
                except RequestCancelled:
                    heard.append("cancelled")
                checker.answered(ticket.number)

        async def cancel() -> None:
            for _ in range(2):
                await trio.lowlevel.checkpoint()
            outcomes.append(scheduler.cancel("s", 1))

        tickets: list[Ticket] = []
        async with small_world(tape) as (scheduler, checker):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(call)
                nursery.start_soon(cancel)
            assert (heard == ["written"]) == (host == ["written"])
            assert (outcomes == [CancelOutcome.ACCEPTED]) == (heard == ["cancelled"])
        fates.add((outcomes[0], heard[0], tickets[0].state))

    every_schedule(scenario)
    assert (CancelOutcome.ACCEPTED, "cancelled", TicketState.CANCELLED) in fates
    assert (CancelOutcome.COMMITTING, "written", TicketState.COMPLETED) in fates


def test_of_two_requests_with_one_id_exactly_one_runs() -> None:
    seen: set[tuple[str, ...]] = set()

    async def scenario(tape: ChoiceTape) -> None:
        heard: list[str] = []
        runs: list[str] = []

        async def call(name: str) -> None:
            async def work(_ticket: Ticket) -> str:
                runs.append(name)
                for _ in range(3):
                    await trio.lowlevel.checkpoint()
                return f"{name} ran"

            try:
                with scheduler.admit(7, session="s") as ticket:
                    await trio.lowlevel.checkpoint()
                    heard.append(await scheduler.perform(ticket, Lane.READ, work))
                    checker.answered(ticket.number)
            except DuplicateKey:
                heard.append(f"{name} refused")

        async with small_world(tape) as (scheduler, checker):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(call, "a")
                nursery.start_soon(call, "b")
            assert len(runs) == 1
        seen.add(tuple(heard))

    every_schedule(scenario)
    assert seen == {("b refused", "a ran"), ("a refused", "b ran")}


def test_two_callers_and_a_leaver_share_one_slot() -> None:
    """Whoever leaves, and whenever, the others are served in order of arrival."""
    ends: set[tuple[str, ...]] = set()

    async def scenario(tape: ChoiceTape) -> None:
        served: list[str] = []

        async def work(ticket: Ticket) -> None:
            await trio.lowlevel.checkpoint()
            ticket.check_cancelled()
            served.append(ticket.label)

        async def call(name: str, scope: trio.CancelScope) -> None:
            with scope, scheduler.admit(label=name) as ticket:
                await scheduler.perform(ticket, Lane.READ, work)
                checker.answered(ticket.number)

        async def leave(scope: trio.CancelScope) -> None:
            for _ in range(3):
                await trio.lowlevel.checkpoint()
            scope.cancel()

        async with small_world(tape) as (scheduler, checker):
            leaving = trio.CancelScope()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(call, "stays", trio.CancelScope())
                nursery.start_soon(call, "leaves", leaving)
                nursery.start_soon(leave, leaving)
            assert "stays" in served
        ends.add(tuple(served))

    every_schedule(scenario)
    assert ("stays",) in ends
    assert any("leaves" in served for served in ends)


def test_a_ticket_assigned_in_the_moment_of_the_end_is_answered_once_whoever_is_first() -> None:
    begun: set[int] = set()

    async def scenario(tape: ChoiceTape) -> None:
        kept: list[Outcome[None]] = []
        runs = 0

        async def work(_ticket: Ticket) -> None:
            nonlocal runs
            runs += 1
            await trio.sleep_forever()

        checker = Checker(read_slots=1)
        tape.pause()
        async with open_scheduler(read_slots=1, observer=checker) as scheduler:
            await trio.testing.wait_all_tasks_blocked()
            scheduler.submit(scheduler.admit(), Lane.READ, work, on_answer=kept.append)
            tape.resume()
        checker.verify(scheduler.statistics())
        assert len(kept) == 1
        begun.add(runs)

    every_schedule(scenario)
    assert begun == {0, 1}
