"""The preparing block: interrupted by name, shielded when the ticket outlives its caller."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from scheduler import Lane, RequestCancelled, Ticket, TicketState, open_scheduler

settled = trio.testing.wait_all_tasks_blocked


async def test_a_preparation_that_is_not_cancelled_just_runs() -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s") as ticket:
            with scheduler.preparing(ticket):
                await trio.lowlevel.checkpoint()
            assert ticket.state is TicketState.PREPARING


async def test_a_cancel_by_name_interrupts_a_preparation_at_once() -> None:
    heard: list[str] = []
    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:

        async def call() -> None:
            with scheduler.admit(1, session="s") as ticket:
                try:
                    with scheduler.preparing(ticket):
                        await trio.sleep_forever()
                except RequestCancelled:
                    heard.append("cancelled")

        nursery.start_soon(call)
        await settled()
        scheduler.cancel("s", 1)
        await settled()
        assert heard == ["cancelled"]
        assert scheduler.statistics().in_flight == 0


async def test_a_cancel_that_came_before_is_noticed_on_entry() -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s") as ticket:
            scheduler.cancel("s", 1)
            with pytest.raises(RequestCancelled), scheduler.preparing(ticket):
                raise AssertionError("never reached")


async def test_a_preparation_that_ends_in_the_moment_of_its_cancel_is_cancelled() -> None:
    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s") as ticket:
            with pytest.raises(RequestCancelled), scheduler.preparing(ticket):
                scheduler.cancel("s", 1)
            assert ticket.is_cancelled


async def test_a_preparation_that_fails_in_the_moment_of_its_cancel_is_cancelled() -> None:
    """The one transition decided: the caller hears of the cancel, not of a refusal that the state does not show."""

    def cancelled_then_refused() -> None:
        scheduler.cancel("s", 1)
        raise ValueError("bad argument")

    async with open_scheduler() as scheduler:
        with scheduler.admit(1, session="s") as ticket, pytest.raises(RequestCancelled), scheduler.preparing(ticket):
            cancelled_then_refused()


async def test_the_error_of_a_preparation_passes_through() -> None:
    async with open_scheduler() as scheduler:
        with pytest.raises(ValueError, match="bad argument"), scheduler.admit(1) as ticket, scheduler.preparing(ticket):
            raise ValueError("bad argument")
        assert ticket.state is TicketState.FAILED


async def test_a_caller_that_leaves_while_preparing_cancels_its_call() -> None:
    tickets: list[Ticket] = []
    async with open_scheduler() as scheduler:
        with trio.move_on_after(0), scheduler.admit(1) as ticket, scheduler.preparing(ticket):
            tickets.append(ticket)
            await trio.sleep_forever()
        assert tickets[0].is_cancelled
        assert scheduler.statistics().in_flight == 0


async def test_what_outlives_its_caller_is_prepared_and_queued_although_it_has_left() -> None:
    done: list[str] = []

    async def work(_ticket: Ticket) -> None:
        done.append("ran")

    async with open_scheduler() as scheduler, trio.open_nursery() as nursery:
        prepared = trio.Event()
        scope = trio.CancelScope()

        async def call() -> None:
            with scope, scheduler.admit(1, outlives_caller=True) as ticket:
                with scheduler.preparing(ticket):
                    await prepared.wait()
                await scheduler.perform(ticket, Lane.READ, work)
                done.append("answered")

        nursery.start_soon(call)
        await settled()
        scope.cancel()
        await settled()
        assert scheduler.statistics().preparing == 1
        prepared.set()
        await settled()
        assert done == ["ran"]
        assert scheduler.statistics().in_flight == 0
