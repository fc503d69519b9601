"""Carrying a plan out: delays, holds, failures, lost answers, crashes."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from kernel.faults.calls import CallFacts, current_call
from kernel.faults.plan import FaultPlan, Rule
from kernel.faults.trigger import NO_FAULTS, AnswerDropped, FaultInjected, Trigger

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
