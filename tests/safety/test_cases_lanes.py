"""Cases A01-A03: cancels and time limits around a running call. In process, over the scheduler and its boundary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from kernel.clock import ManualClock
from kernel.errors import ToolError
from kernel.faults.plan import FaultPlan, Rule
from kernel.faults.trigger import Trigger
from kernel.host.faulty import FaultyHost
from kernel.host.scoped import ScopedHost
from scheduler.scheduler import Scheduler, open_scheduler
from scheduler.testing import CancelInjector, cancel_everywhere
from scheduler.ticket import Lane, RequestCancelled, Ticket
from tests.safety.world import READ, UPDATE, Blocks, World, open_world


async def read_in_lane(world: World, ticket: Ticket) -> Any:
    async def work(running: Ticket) -> Any:
        return await world.host(running).call(READ, {"id": "b"})

    with ticket:
        return await world.scheduler.perform(ticket, Lane.READ, work)


def test_a_cancel_anywhere_in_a_read_gives_exactly_one_answer_and_leaves_nothing_behind() -> None:
    """Ours: A01, a cancel at every point, both while blocked and when just woken."""

    async def scenario(injector: CancelInjector) -> None:
        trigger = Trigger(FaultPlan.of([Rule(f"host.before:{READ}", "hold")]))
        host = FaultyHost(Blocks({"b": "one"}), trigger)

        async def work(running: Ticket) -> Any:
            return await ScopedHost(host, running, ManualClock()).call(READ, {"id": "b"})

        async def call(scheduler: Scheduler, key: int) -> None:
            try:
                with scheduler.admit(key, session="S") as ticket:
                    answers.append(await scheduler.perform(ticket, Lane.READ, work))
            except RequestCancelled:
                answers.append("request_cancelled")

        answers: list[object] = []
        async with open_scheduler() as scheduler:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(call, scheduler, 7)
                await trigger.wait_held()
                injector.strike_with(lambda: scheduler.cancel("S", 7))
                trigger.release()
            assert answers in ([{"id": "b", "kramdown": "one"}], ["request_cancelled"])
            await trio.testing.wait_all_tasks_blocked()
            assert scheduler.statistics().in_flight == 0
            await call(scheduler, 8)
            assert answers[1:] == [{"id": "b", "kramdown": "one"}]

    assert cancel_everywhere(scenario) > 10


async def test_a_queued_write_that_was_cancelled_never_runs_and_its_preflight_stays_good(tmp_path: Path) -> None:
    """A02."""
    async with open_world(tmp_path, {"p1": "", "p2": "", "p3": ""}) as world:
        writes = {"p1": "one", "p2": "two", "p3": "three"}
        answers = {block: await world.preflight(block, text) for block, text in writes.items()}
        world.plan(Rule(f"host.before:{UPDATE}", "hold"))
        order: list[str] = []

        async def commit(block: str, ticket: Ticket) -> None:
            try:
                await world.commit_in_lane(block, writes[block], answers[block], ticket=ticket)
                order.append(block)
            except RequestCancelled:
                order.append(f"{block} cancelled")

        async with trio.open_nursery() as nursery:
            for number, block in enumerate(writes, start=11):
                nursery.start_soon(commit, block, world.scheduler.admit(number, session="S"))
                await trio.testing.wait_all_tasks_blocked()
            assert world.scheduler.statistics().queued == 2
            world.scheduler.cancel("S", 12)
            await trio.testing.wait_all_tasks_blocked()
            assert order == ["p2 cancelled"]
            assert world.scheduler.statistics().queued == 1
            read = await read_in_lane(world, world.scheduler.admit(14, session="S"))
            assert read["kramdown"] == ""
            world.trigger.release()
        assert order == ["p2 cancelled", "p1", "p3"]
        assert world.blocks.counts[UPDATE] == 2
        again = await world.commit_in_lane("p2", "two", answers["p2"])
        assert again["safety"]["transactionState"] == "committed"


async def test_a_time_limit_ends_the_wait_and_neither_the_work_nor_the_turn(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    """A03: the answer comes at the bound, the slot with the host call's real end."""
    async with open_world(tmp_path, {"p1": "", "p2": ""}) as world:
        a, b = await world.preflight("p1", "a"), await world.preflight("p2", "b")
        world.plan(Rule(f"host.before:{UPDATE}", "delay", seconds=2.0))
        start = trio.current_time()
        with pytest.raises(ToolError) as caught:
            await world.commit_in_lane("p1", "a", a, bound_s=0.2)
        assert trio.current_time() - start == pytest.approx(0.2)
        payload = caught.value.payload()
        assert (caught.value.code, payload["writeAttempted"], payload["error"]["safeToRetry"]) == (
            "outcome_unknown",
            True,
            False,
        )
        assert world.coordinator.ledger.statistics()["executing"] == 0
        assert UPDATE not in world.blocks.counts

        done = await world.commit_in_lane("p2", "b", b)
        assert done["safety"]["transactionState"] == "committed"
        assert trio.current_time() - start >= 2.0
        assert world.blocks.texts == {"p1": "a", "p2": "b"}
        with pytest.raises(ToolError) as again:
            await world.commit_in_lane("p1", "a", a)
        assert again.value.code == "outcome_unknown"
        assert world.blocks.counts[UPDATE] == 2


async def test_a_write_that_ends_after_its_bound_stays_unknown_after_a_restart(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path, {"p1": ""}) as world:
        answer = await world.preflight("p1", "a")
        world.plan(Rule(f"host.after:{UPDATE}", "delay", seconds=2.0))
        with pytest.raises(ToolError):
            await world.commit_in_lane("p1", "a", answer, bound_s=0.2)
        await trio.sleep(5)
        assert world.scheduler.statistics().in_flight == 0
    async with open_world(tmp_path, {"p1": "a"}, clock=world.clock, seed=3) as later:
        with pytest.raises(ToolError) as caught:
            await later.commit_in_lane("p1", "a", answer)
        assert (caught.value.code, caught.value.details["ledgerState"]) == ("outcome_unknown", "unknown")


async def replay(world: World, block: str, text: str, answer: dict[str, Any]) -> str:
    try:
        again = await world.commit_in_lane(block, text, answer)
    except ToolError as error:
        return error.code
    return str(again["safety"]["transactionState"]) + " replayed" * again["safety"]["replayed"]


@pytest.mark.parametrize(
    ("point", "writes", "expected"),
    [
        ("ledger.begin.before", 0, "outcome_unknown"),
        ("ledger.begin.after", 0, "outcome_unknown"),
        ("write.commit.begun", 0, "outcome_unknown"),
        ("write.commit.written", 1, "outcome_unknown"),
        ("write.commit.observed", 1, "outcome_unknown"),
        # The settlement was on its way to the disk: what it says is what happened.
        ("ledger.settle.before", 1, "committed replayed"),
        ("ledger.settle.after", 1, "committed replayed"),
    ],
)
async def test_a_bound_that_ends_at_any_step_leaves_one_truth(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, point: str, writes: int, expected: str
) -> None:
    """Whoever waited is told outcome_unknown. A host call that had not begun by then never begins."""
    async with open_world(tmp_path, {"p1": ""}) as world:
        answer = await world.preflight("p1", "a")
        world.plan(Rule(point, "delay", seconds=2.0))
        with pytest.raises(ToolError) as caught:
            await world.commit_in_lane("p1", "a", answer, bound_s=0.2)
        assert caught.value.code == "outcome_unknown"
        await trio.sleep(5)
        world.plan()
        assert await replay(world, "p1", "a", answer) == expected
        assert world.blocks.counts.get(UPDATE, 0) == writes
        assert world.coordinator.ledger.statistics()["executing"] == 0
