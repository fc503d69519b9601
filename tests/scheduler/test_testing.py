"""The tools for testing are tools of the product: they do what they say."""

from __future__ import annotations

import itertools
import random

import pytest
import trio
import trio.testing

from scheduler import limits, testing
from scheduler.testing import (
    CancelInjector,
    ChoiceTape,
    cancel_everywhere,
    controlled_order,
    every_schedule,
    replay,
    run_scenario,
)

# --- order ---


def trace_of(source: testing.OrderSource) -> list[int]:
    trace: list[int] = []

    async def scenario() -> None:
        async def step(number: int) -> None:
            for _ in range(3):
                await trio.lowlevel.checkpoint()
                trace.append(number)

        async with trio.open_nursery() as nursery:
            for number in range(6):
                nursery.start_soon(step, number)

    run_scenario(scenario, source)
    return trace


def test_the_same_seed_gives_the_same_trace_and_another_seed_another() -> None:
    """Fails when Trio's two private names lose their meaning: then no seed and no tape decides anything."""
    assert trace_of(random.Random(7)) == trace_of(random.Random(7))
    assert len({tuple(trace_of(random.Random(seed))) for seed in range(10)}) > 5


def test_trio_is_as_before_afterwards() -> None:
    run = testing._run
    before = run._ALLOW_DETERMINISTIC_SCHEDULING, run._r
    with pytest.raises(ValueError, match="inside"), controlled_order(random.Random(0)):
        raise ValueError("inside")
    assert before == (run._ALLOW_DETERMINISTIC_SCHEDULING, run._r)


def test_a_deadlock_is_an_error_at_once() -> None:
    with pytest.raises(trio.TooSlowError):
        run_scenario(trio.sleep_forever, random.Random(0))


# --- tapes ---


def test_a_tape_visits_every_permutation_once() -> None:
    tape, seen = ChoiceTape(), []
    while True:
        batch = list("abcd")
        tape.shuffle(batch)
        seen.append("".join(batch))
        if not tape.next_run():
            break
    assert sorted(seen) == sorted(map("".join, itertools.permutations("abcd")))


def test_a_tape_follows_choices_that_depend_on_choices() -> None:
    tape, seen = ChoiceTape(), []
    while True:
        first = tape.choose(3)
        seen.append((first, tape.choose(first + 1)))
        if not tape.next_run():
            break
    assert seen == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]


def test_a_paused_tape_takes_the_first_choice_and_records_nothing() -> None:
    tape = ChoiceTape()
    tape.pause()
    assert tape.choose(5) == 0
    assert tape.digits == ()
    tape.resume()
    assert (tape.choose(5), tape.digits) == (0, (0,))


def test_a_tape_can_be_replayed_from_its_digits() -> None:
    tape = ChoiceTape((2, 0, 1))
    batch = list("abcd")
    tape.shuffle(batch)
    assert batch == list("cadb")
    assert tape.digits == (2, 0, 1)


def test_a_scenario_that_is_not_deterministic_is_found() -> None:
    tape = ChoiceTape()
    tape.choose(3)
    assert tape.next_run()
    with pytest.raises(AssertionError, match="not deterministic"):
        tape.choose(2)


def test_every_schedule_runs_all_orders() -> None:
    orders: set[str] = set()

    async def scenario(_tape: ChoiceTape) -> None:
        order: list[str] = []

        async def step(name: str) -> None:
            order.append(name)

        async with trio.open_nursery() as nursery:
            for name in "abc":
                nursery.start_soon(step, name)
        orders.add("".join(order))

    assert every_schedule(scenario) >= 6
    assert orders == set(map("".join, itertools.permutations("abc")))


def test_a_failing_schedule_says_how_to_replay_it() -> None:
    async def scenario(_tape: ChoiceTape) -> None:
        order: list[str] = []

        async def step(name: str) -> None:
            order.append(name)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(step, "a")
            nursery.start_soon(step, "b")
        assert order == ["a", "b"]

    with pytest.raises(AssertionError) as caught:
        every_schedule(scenario)
    assert caught.value.__notes__[0].startswith("replay: ChoiceTape(")


def test_too_large_a_scenario_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(_tape: ChoiceTape) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(trio.lowlevel.checkpoint)

    monkeypatch.setattr(testing, "SCHEDULES_MAX", 5)
    with pytest.raises(AssertionError, match="more than 5 schedules"):
        every_schedule(scenario)


# --- cancels ---


async def two_steps(injector: CancelInjector, log: list[str]) -> None:
    """Two waits that end with a value, brought by another task."""
    first, second = trio.Event(), trio.Event()

    async def bring() -> None:
        for event in (first, second):
            await trio.sleep(1)
            event.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(bring)
        with injector.watch():
            await first.wait()
            log.append("one")
            await second.wait()
            log.append("two")


def logs(moment: testing.Moment) -> list[list[str]]:
    found = []
    for target in range(10):
        log: list[str] = []

        async def scenario(injector: CancelInjector, log: list[str] = log) -> None:
            await two_steps(injector, log)

        has_struck = replay(scenario, seed=0, moment=moment, target=target)
        found.append(log)
        if not has_struck:
            return found
    raise AssertionError("the scenario does not end")


def test_a_blocked_task_is_interrupted_in_its_wait() -> None:
    assert logs("blocked") == [[], ["one"], ["one", "two"]]


def test_a_woken_task_runs_on_to_its_next_checkpoint() -> None:
    """The event was set when the cancel comes: "one" is written although the cancel came before it."""
    assert logs("woken") == [["one"], ["one", "two"], ["one", "two"]]


def test_tasks_of_a_watched_nursery_are_watched() -> None:
    points: list[int] = []

    async def scenario(injector: CancelInjector) -> None:
        with injector.watch():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep, 1)
                nursery.start_soon(trio.sleep, 2)
        points.append(injector.points)

    assert cancel_everywhere(scenario) > 4
    assert max(points) >= 4


def test_tasks_that_are_not_watched_are_left_alone() -> None:
    async def scenario(injector: CancelInjector) -> None:
        await trio.sleep(1)
        assert injector.points == 0

    assert cancel_everywhere(scenario, seeds=range(3)) == 6


def test_a_strike_may_be_any_function() -> None:
    struck: list[int] = []

    async def scenario(injector: CancelInjector) -> None:
        await trio.sleep(1)
        injector.strike_with(lambda: struck.append(injector.points))
        await trio.sleep(1)

    cancel_everywhere(scenario, moments=["blocked"])
    assert struck == list(range(len(struck)))
    assert struck


def test_a_failure_says_how_to_replay_it() -> None:
    async def scenario(injector: CancelInjector) -> None:
        log: list[str] = []
        await two_steps(injector, log)
        assert log != ["one"]

    with pytest.raises(AssertionError) as caught:
        cancel_everywhere(scenario)
    assert caught.value.__notes__ == ["replay: seed=0 moment='blocked' target=1"]
    with pytest.raises(AssertionError):
        replay(scenario, seed=0, moment="blocked", target=1)


def test_an_error_of_the_strike_is_not_swallowed() -> None:
    def strike() -> None:
        raise ValueError("from the strike")

    async def scenario(injector: CancelInjector) -> None:
        injector.strike_with(strike)
        await trio.sleep(1)

    with pytest.raises(ValueError, match="from the strike"):
        cancel_everywhere(scenario)


def test_a_scenario_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(injector: CancelInjector) -> None:
        injector.strike_with(lambda: None)
        for _ in range(20):
            await trio.lowlevel.checkpoint()

    monkeypatch.setattr(testing, "POINTS_MAX", 5)
    with pytest.raises(AssertionError, match="more than 5 points"):
        cancel_everywhere(scenario)


def test_the_tools_have_limits_of_their_own() -> None:
    assert limits.POINTS_MAX >= 1_000
    assert limits.SCHEDULES_MAX >= limits.POINTS_MAX
    assert limits.SCENARIO_S_MAX > 60
