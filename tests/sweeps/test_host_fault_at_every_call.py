"""A fault at every host call of every write action: refused, unreachable, or its answer lost after the effect.

Whatever the host does, the call ends in a result that is true: "nothing attempted" means that nothing was written, and
the same call with the same request id never writes what was written before.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from kernel.errors import ERRORS
from kernel.faults.plan import Rule
from kernel.sim.life import inline_threads
from kernel.tools.registry import ACTIONS, Action
from scheduler.testing import controlled_order
from tests.sweeps.calls import REFUSED, WRITES, code_of, open_kernel
from tests.sweeps.notes import base
from tests.tools.test_promises import effect

CALLS_MAX = 500
# Fewer host calls than these make no strict write: it looks, writes, and looks again.
CALLS_MIN = 5
FAULTS: dict[str, dict[str, Any]] = {
    "refused": {"point": "host.before:*", "do": "fail"},
    "unreachable": {"point": "host.before:*", "do": "drop"},
    "lost": {"point": "host.after:*", "do": "drop"},
    "broken": {"point": "host.after:*", "do": "fail", "status": 502},
    "denied": {"point": "host.after:*", "do": "fail"},
}


async def struck(action: Action, fault: str, nth: int, clean: list[str]) -> bool:
    """One run with a fault at the nth call; whether there was one."""
    async with open_kernel() as kernel:
        arguments = await kernel.prepared(action)
        kernel.writes.clear()
        kernel.app.trigger.plan.extend([Rule(**FAULTS[fault], nth=nth, tool=action.tool, action=action.name)])
        told = await kernel.call(action, arguments, "modern")
        has_struck = kernel.app.trigger.plan.struck("") > 0
        kernel.app.trigger.plan.clear()
        await kernel.rest()
        code = code_of(told)
        assert code == "" or code in ERRORS
        assert len(kernel.writes) <= len(clean), "more was written than without a fault"
        if "requestId" in arguments:
            await judge_retry(kernel, action, arguments, told, len(clean))
        elif told.get("writeAttempted") is False:
            assert kernel.writes == []
        return has_struck


async def judge_retry(kernel: Any, action: Action, arguments: dict[str, Any], told: dict[str, Any], most: int) -> None:
    """The same call again, the host well."""
    before = len(kernel.writes)
    was_attempted = told.get("writeAttempted")
    if code_of(told):
        assert isinstance(was_attempted, bool), told
    if was_attempted is False:
        assert before == 0, f"{code_of(told)}: nothing attempted, yet written: {kernel.writes}"
    again = await kernel.call(action, arguments, "modern")
    await kernel.rest()
    if not code_of(told):
        assert again["safety"]["replayed"] is True
        for name in ("requestId", "transactionState", "previousHash", "resultHash"):
            assert again["safety"].get(name) == told["safety"].get(name), name
    if was_attempted is not False or not code_of(told):
        assert len(kernel.writes) == before, "a replay has written"
    assert len(kernel.writes) <= most


async def sweep(action: Action, fault: str) -> int:
    """How many host calls there were to strike."""
    async with open_kernel() as kernel:
        arguments = await kernel.prepared(action)
        kernel.writes.clear()
        told = await kernel.call(action, arguments, "modern")
        assert (code_of(told) != "") == (action.key in REFUSED), f"the sweep's own call fails: {told}"
        await kernel.rest()
        clean = list(kernel.writes)
    for nth in range(1, CALLS_MAX):
        try:
            if not await struck(action, fault, nth, clean):
                return nth - 1
        except BaseException as error:
            error.add_note(f"{action.key}, {fault}, host call {nth}; without a fault it writes {clean}")
            raise
    raise AssertionError("the call never ends")


def run(key: str, fault: str) -> int:
    base()
    with inline_threads(), controlled_order(random.Random(key)):
        return trio.run(partial(sweep, ACTIONS[key], fault), clock=MockClock(autojump_threshold=0))


def test_an_answer_lost_at_every_host_call_of_one_write() -> None:
    assert run("block.append", "lost") >= CALLS_MIN


def test_a_refused_read_after_an_addition_is_no_refusal_of_the_addition() -> None:
    """The handler looks once more after its write; what that look is told says nothing of the write."""
    base()
    with inline_threads(), controlled_order(random.Random(1)):
        calls = trio.run(partial(sweep, ACTIONS["av.add_rows"], "refused"), clock=MockClock(autojump_threshold=0))
    assert calls >= CALLS_MIN


def test_an_addition_that_is_denied_after_its_effect_is_never_told_as_not_attempted() -> None:
    """The host answers a failure of its own, and the block is there all the same."""
    assert run("block.append", "denied") >= CALLS_MIN


def test_a_copy_that_is_denied_after_its_effect_is_never_told_as_not_attempted() -> None:
    """Its original looks as before, whether there is a copy or not."""
    assert run("document.duplicate", "denied") >= CALLS_MIN


async def refused_rollback() -> dict[str, Any]:
    async with open_kernel() as kernel:
        asked = {**base().calls["timeline.rollback_block"], "changeKey": "modified:gone:gone"}
        told = await kernel.call(ACTIONS["timeline.rollback_block"], {**asked, "validateOnly": True}, "modern")
        name = told["preconditionField"]
        commit = {**asked, "confirm": True, "requestId": told["requestId"], name: told[name]}
        return await kernel.call(ACTIONS["timeline.rollback_block"], commit, "modern")


def test_a_snapshot_to_compare_with_is_no_write_of_the_notes() -> None:
    """The handler makes one before it can see that there is nothing to take back: refused, and nothing in doubt."""
    base()
    with inline_threads(), controlled_order(random.Random(1)):
        told = trio.run(refused_rollback, clock=MockClock(autojump_threshold=0))
    assert (code_of(told), told["writeAttempted"], told["transactionState"]) == ("not_found", False, "rejected")


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("key", [action.key for action in WRITES])
def test_a_fault_at_every_host_call_of_any_write(key: str, fault: str) -> None:
    assert effect(ACTIONS[key]).name != "READ"
    run(key, fault)
