"""Carrying a plan out: delays, holds, failures, lost answers, crashes."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from kernel.faults.calls import CallFacts, current_call
from kernel.faults.plan import FaultPlan, PlanInvalid, Rule
from kernel.faults.trigger import NO_FAULTS, AnswerDropped, ConnectionCut, DiskRefused, FaultInjected, Trigger, deeds
from kernel.trace import Trace

POINT = "write.commit.begun"


def trigger_of(*rules: Rule) -> Trigger:
    return Trigger(FaultPlan.of(rules))


async def test_without_a_plan_a_point_is_passed_without_a_checkpoint() -> None:
    with trio.testing.assert_no_checkpoints():
        await NO_FAULTS.visit(POINT)


async def test_a_point_that_no_rule_is_about_is_passed() -> None:
    trigger = trigger_of(Rule("write.commit.settled", "fail"))
    assert await trigger.visit(POINT) == ()
    assert trigger.plan.struck("") == 0


async def test_a_delay_takes_its_time(autojump_clock: trio.testing.MockClock) -> None:
    start = trio.current_time()
    await trigger_of(Rule(POINT, "delay", seconds=5)).visit(POINT)
    assert trio.current_time() - start == 5


async def test_a_hold_lasts_until_its_name_is_released() -> None:
    trigger = trigger_of(Rule(POINT, "hold", name="a", times=2), Rule(POINT, "hold", name="b", nth=3))
    passed: list[int] = []

    async def visit(number: int) -> None:
        await trigger.visit(POINT)
        passed.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(visit, number)
        await trigger.wait_held("a", 2)
        await trigger.wait_held("b")
        assert (trigger.held("a"), trigger.held("b"), trigger.held("c"), passed) == (2, 1, 0, [])
        assert trigger.release("a") == 2
        await trio.testing.wait_all_tasks_blocked()
        assert len(passed) == 2
        assert trigger.release("a") == trigger.release("none") == 0
        assert trigger.release("b") == 1
    assert trigger.held("a") == trigger.held("b") == 0


async def test_a_held_call_that_is_cancelled_is_held_no_more() -> None:
    trigger = trigger_of(Rule(POINT, "hold"))
    with trio.move_on_after(0):
        await trigger.visit(POINT)
    assert trigger.held() == 0


async def test_a_release_lets_go_what_waits_and_not_what_comes() -> None:
    trigger = trigger_of(Rule(POINT, "hold", times=None))
    trigger.release()
    with trio.move_on_after(0) as scope:
        await trigger.visit(POINT)
    assert scope.cancelled_caught


async def test_a_failure_carries_what_the_rule_says() -> None:
    with pytest.raises(FaultInjected) as caught:
        await trigger_of(Rule(POINT, "fail", code=-5, status=418, message="tea")).visit(POINT)
    assert (caught.value.code, caught.value.status, caught.value.message) == (-5, 418, "tea")


async def test_an_answer_is_dropped() -> None:
    with pytest.raises(AnswerDropped):
        await trigger_of(Rule(POINT, "drop")).visit(POINT)


async def test_a_crash_is_what_the_process_made_of_it() -> None:
    class Died(BaseException):
        pass

    def die() -> None:
        raise Died

    trigger = Trigger(FaultPlan.of([Rule(POINT, "crash")]), crash=die)
    with pytest.raises(BaseException) as caught:
        await trigger.visit(POINT)
    assert isinstance(caught.value, Died)


async def test_rules_are_narrowed_to_the_running_call() -> None:
    trigger = trigger_of(Rule(POINT, "fail", tool="block", action="update"))
    await trigger.visit(POINT)
    token = current_call.set(CallFacts("block", "update"))
    try:
        with pytest.raises(FaultInjected):
            await trigger.visit(POINT)
    finally:
        current_call.reset(token)


@pytest.mark.parametrize(
    ("deed", "words"),
    [("disk_full", "database or disk is full"), ("read_only", "attempt to write a readonly database")],
)
async def test_a_disk_refuses_in_the_words_of_the_real_one(deed: Any, words: str) -> None:
    with pytest.raises(DiskRefused) as caught:
        await trigger_of(Rule("ledger.begin.before", deed)).visit("ledger.begin.before")
    assert (caught.value.message, str(caught.value)) == (words, words)


@pytest.mark.parametrize("how", ["rst", "fin"])
async def test_a_cut_connection_is_a_lost_answer_that_knows_how_it_ends(how: Any) -> None:
    with pytest.raises(ConnectionCut, match=how) as caught:
        await trigger_of(Rule("http.answering", "cut", how=how)).visit("http.answering")
    assert caught.value.how == how
    assert isinstance(caught.value, AnswerDropped)


async def test_points_of_a_write_are_told_even_where_no_plan_is_in_force() -> None:
    trace = Trace(lambda: 0.0)
    trigger = Trigger(trace=trace)
    for point in (POINT, "ledger.begin.before", "host.before:/api/block/updateBlock"):
        await trigger.visit(point)
    assert [event.facts["point"] for event in trace.events()] == [POINT, "ledger.begin.before"]


async def test_a_deed_of_the_running_kernel_is_no_call_and_no_other_rule_strikes_it() -> None:
    heard: list[tuple[str, CallFacts]] = []

    async def clock(rule: Rule, facts: CallFacts) -> None:
        heard.append((rule.do, facts))
        assert current_call.get() == CallFacts()

    rule = Rule(POINT, "clock", seconds=5)
    trigger = trigger_of(rule)
    with pytest.raises(PlanInvalid, match="'clock' cannot be done here"):
        trigger.check([rule])
    trigger.world["clock"] = clock
    trigger.check([rule])
    facts = CallFacts("block", "update", session="s")
    token = current_call.set(facts)
    try:
        await trigger.visit(POINT)
        assert current_call.get() is facts
    finally:
        current_call.reset(token)
    assert heard == [("clock", facts)]


async def test_what_only_the_visited_place_can_do_is_left_to_it() -> None:
    point = "host.before:/api/block/updateBlock"
    trigger = trigger_of(Rule(point, "duplicate"), Rule(point, "duplicate", name="again"))
    left = await trigger.visit(point)
    assert [rule.name for rule in left] == ["", "again"]
    assert deeds(left)["duplicate"].name == "again"
    assert await trigger.visit(point) == ()


async def test_whoever_waits_for_a_strike_goes_on_when_enough_have_struck() -> None:
    trigger = trigger_of(Rule(POINT, "drop", name="d", times=3))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trigger.wait_struck, "d", 2)
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(2):
            assert len(nursery.child_tasks) == 1
            with pytest.raises(AnswerDropped):
                await trigger.visit(POINT)
        await trio.testing.wait_all_tasks_blocked()
        assert len(nursery.child_tasks) == 0
    await trigger.wait_struck("none", 0)
