"""Writes that began and cannot be confirmed: in doubt, mismatched, or settled when the disk is back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import trio
import trio.testing

from kernel.errors import ToolError
from kernel.faults.plan import Rule
from kernel.host.base import HostApiError, HostUnavailable
from kernel.safety.intent import Observation, Outcome
from tests.safety.told import IN_DOUBT, refusal
from tests.safety.world import READ, UPDATE, DirectGate, World, open_world


async def lost_answer(world: World) -> None:
    world.plan(Rule(f"host.after:{UPDATE}", "drop"))


async def lost_request(world: World) -> None:
    world.plan(Rule(f"host.before:{UPDATE}", "drop"))


async def server_error(world: World) -> None:
    world.plan(Rule(f"host.after:{UPDATE}", "fail", status=502))


async def refusal_after_the_effect(world: World) -> None:
    world.plan(Rule(f"host.after:{UPDATE}", "fail", code=-1))


async def fault_behind_the_write(world: World) -> None:
    world.plan(Rule("write.commit.written", "fail"))


@pytest.mark.parametrize(
    "harm",
    [lost_answer, lost_request, server_error, refusal_after_the_effect, fault_behind_the_write],
)
async def test_a_write_that_began_and_cannot_be_confirmed_is_in_doubt_for_ever(
    tmp_path: Path, harm: Callable[[World], Awaitable[None]], autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        await harm(world)
        error = await refusal(world.commit("b", "two", answer))
        assert error.code == "outcome_unknown"
        assert {name: error.outer[name] for name in IN_DOUBT} == IN_DOUBT
        assert error.details["requestId"] == answer["requestId"]
        assert error.kind.safe_to_retry is False
        sent = world.blocks.counts.get(UPDATE, 0)
        world.plan()
        again = await refusal(world.commit("b", "two", answer))
        assert (again.code, again.details["ledgerState"]) == ("outcome_unknown", "unknown")
        assert world.blocks.counts.get(UPDATE, 0) == sent <= 1
    async with open_world(tmp_path, world.blocks.texts, clock=world.clock, seed=5) as later:
        assert (await refusal(later.commit("b", "two", answer))).code == "outcome_unknown"
        assert UPDATE not in later.blocks.counts


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_an_end_state_that_the_disk_refused_is_recorded_as_soon_as_it_takes_it(
    tmp_path: Path, moment: str, autojump_clock: trio.testing.MockClock
) -> None:
    """The first answer is in doubt; what the read-back had proven is not lost, whoever asks next, in this life or later."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule(f"ledger.settle.{moment}", "fail"))
        error = await refusal(world.commit("b", "two", answer))
        assert (error.code, error.outer["transactionState"]) == ("outcome_unknown", "unknown")
        again = await world.commit("b", "two", answer)
        assert (again["replayed"], again["transactionState"]) == (True, "committed")
        assert world.blocks.counts[UPDATE] == 1
    async with open_world(tmp_path, world.blocks.texts, clock=world.clock, seed=5) as later:
        assert (await later.commit("b", "two", answer))["replayed"] is True


# What a replay repeats of a failed first answer (decision 53).
TOLD_AGAIN = ("code", "type", "requestId", "previousHash", "resultHash", "nextStep", "safeToRetry")


async def test_a_change_that_the_host_reports_and_nobody_sees_is_a_mismatch(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    """Decision 40."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            return Outcome({"updated": 1}, changed=True)

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert error.code == "readback_mismatch"
        assert {name: error.outer[name] for name in IN_DOUBT} == IN_DOUBT
        assert error.details["previousHash"] == error.details["resultHash"] == answer["expectedStateHash"]
        again = await refusal(world.commit("b", "two", answer))
        assert again.details["replayed"] is True
        assert {name: again.error_object()[name] for name in TOLD_AGAIN} == {
            name: error.error_object()[name] for name in TOLD_AGAIN
        }
        assert again.outer == error.outer


async def test_a_target_that_lacks_what_was_asked_for_is_a_mismatch(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            world.blocks.texts["b"] = "something else"
            return Outcome({}, expectation=lambda seen: "two" in str(seen.state))

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert error.code == "readback_mismatch"
        assert error.details["previousHash"] != error.details["resultHash"]


@pytest.mark.parametrize("failure", [HostUnavailable("gone"), HostApiError(-1, "no"), RuntimeError("bug")])
async def test_a_look_that_fails_is_no_proof_of_anything(
    tmp_path: Path, failure: Exception, autojump_clock: trio.testing.MockClock
) -> None:
    """R73: a failed query is unknown, never an absence."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, write = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])
        looks = 0
        probe = intent.probe

        async def failing() -> Observation:
            nonlocal looks
            looks += 1
            if looks > 1:
                raise failure
            return await probe()

        intent.probe = failing
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert error.code == "readback_mismatch"
        assert looks == 7
        assert str(failure) in error.details["cause"] or failure.args[0] in error.details["cause"]


async def test_a_look_that_fails_once_is_repeated(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule(f"host.before:{READ}", "fail", nth=2, times=2, status=404))
        done = await world.commit("b", "two", answer)
        assert done["safety"]["transactionState"] == "committed"


async def test_an_addition_that_cannot_be_found_afterwards_is_a_mismatch(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        intent, _ = world.append("new", "text", request_id=answer["requestId"])

        async def write() -> Outcome:
            return Outcome({"success": True}, changed=True)

        assert (await refusal(world.coordinator.commit(intent, DirectGate(), write))).code == "readback_mismatch"


async def test_a_begin_that_reached_the_disk_although_it_failed_is_taken_back(tmp_path: Path) -> None:
    """A sync may fail after the row has landed. No host was called, the caller is told so, and that stays true."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule("ledger.begin.after", "fail"))
        assert (await refusal(world.commit("b", "two", answer))).code == "write_ledger_unavailable"
        assert UPDATE not in world.blocks.counts
        done = await world.commit("b", "two", answer)
        assert done["safety"]["transactionState"] == "committed"
        assert world.blocks.counts[UPDATE] == 1


async def test_a_begin_that_was_taken_back_is_no_doubt_after_a_restart(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule("ledger.begin.after", "fail"))
        assert (await refusal(world.commit("b", "two", answer))).code == "write_ledger_unavailable"
    async with open_world(tmp_path, world.blocks.texts, clock=world.clock, seed=5) as later:
        # Leases end with the process; the id was never used.
        assert (await refusal(later.commit("b", "two", answer))).code == "preflight_lease_invalid"


async def test_a_ledger_that_fails_after_the_bound_leaves_the_row_in_doubt(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule("ledger.begin.before", "delay", seconds=2.0), Rule("ledger.begin.before", "fail"))
        error = await refusal(world.commit_in_lane("b", "two", answer, bound_s=0.2))
        assert error.code == "outcome_unknown"
        await trio.sleep(5)
        assert (await refusal(world.commit("b", "two", answer))).code == "outcome_unknown"
        assert UPDATE not in world.blocks.counts


async def test_an_addition_whose_end_state_cannot_be_written_is_in_doubt(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        world.plan(Rule("ledger.settle.before", "fail"))
        intent, write = world.append("new", "text", request_id=answer["requestId"])
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert error.code == "outcome_unknown"
        assert "resultHash" not in error.details


async def test_a_fault_between_the_look_and_the_record_is_a_mismatch(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule("write.commit.observed", "fail", message="torn"))
        error = await refusal(world.commit("b", "two", answer))
        assert (error.code, error.details["cause"]) == ("readback_mismatch", "torn")


async def test_a_lost_answer_on_a_broken_disk_is_in_doubt_all_the_same(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule(f"host.after:{UPDATE}", "drop"), Rule("ledger.settle.before", "fail"))
        assert (await refusal(world.commit("b", "two", answer))).code == "outcome_unknown"
        assert (await refusal(world.commit("b", "two", answer))).details["ledgerState"] == "unknown"


async def test_a_handler_that_looked_and_did_not_find_its_write_is_a_mismatch_in_its_own_words(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    """R93: it knows more than a read-back could tell; what it says stays, but for the type."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, write = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def looking() -> Outcome:
            await write()
            raise ToolError("pending_verification", "not shown", type="x", cardIDs=["c"], outer={"action": "update"})

        error = await refusal(world.coordinator.commit(intent, DirectGate(), looking))
        assert (error.code, error.message) == ("readback_mismatch", "not shown")
        assert error.outer == {"action": "update", **IN_DOUBT}
        assert error.details == {
            "cardIDs": ["c"],
            "requestId": answer["requestId"],
            "cause": "pending_verification",
        }
        again = await refusal(world.commit("b", "two", answer))
        assert (again.code, again.details["ledgerState"]) == ("readback_mismatch", "unknown")
        assert world.blocks.counts[UPDATE] == 1


async def test_a_refusal_that_is_kept_under_its_id_is_no_call_to_repeat(tmp_path: Path) -> None:
    """The host went away before anything was sent: nothing is in doubt, and this id can only hear the same again."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            raise HostUnavailable("gone", path=READ)

        told = []
        for _ in range(2):
            error = await refusal(world.coordinator.commit(replace(intent, writes_sent=lambda: 0), DirectGate(), write))
            told.append(error.error_object())
            assert (error.code, error.outer["writeAttempted"]) == ("host_unavailable", False)
        assert [one["safeToRetry"] for one in told] == [False, False]
        assert all(one["nextStep"].endswith("preflight again for another.") for one in told)
        assert world.blocks.counts.get(UPDATE, 0) == 0
