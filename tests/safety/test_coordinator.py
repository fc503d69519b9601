"""The coordinator over a small host: the call flow, and one test per row of the specification's failure table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from kernel.errors import ToolError
from kernel.faults.plan import Rule
from kernel.host.base import HostApiError, HostUnavailable
from kernel.safety.intent import Intent, Observation, Outcome, Precondition
from tests.safety.world import APPEND, READ, UPDATE, DirectGate, World, open_world

REJECTED = {
    "success": False,
    "writeSafetyMode": "strict",
    "writeAttempted": False,
    "writeExecuted": False,
    "transactionState": "rejected",
}
IN_DOUBT = {**REJECTED, "writeAttempted": True, "transactionState": "unknown"}


async def refusal(call: Awaitable[Any]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await call
    return caught.value


# --- preflight ---


async def test_a_preflight_answers_exactly_the_specified_fields_and_writes_nothing(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        assert set(answer) == {
            "validateOnly", "writeSafetyMode", "writeAttempted", "writeExecuted", "requestId", "requestIdExpiresAt",
            "preconditionField", "expectedStateHash", "hashPrefixLength", "leaseExpiresAt", "targetCount",
        }  # fmt: skip
        assert answer["validateOnly"] is True
        assert answer["writeAttempted"] is answer["writeExecuted"] is False
        assert answer["requestIdExpiresAt"] == answer["leaseExpiresAt"] == world.clock.wall_ms() + 600_000
        assert len(answer["requestId"]) == len(answer["expectedStateHash"]) == answer["hashPrefixLength"] == 4
        assert answer["preconditionField"] == "expectedStateHash"
        assert UPDATE not in world.blocks.counts


async def test_an_addition_gets_an_id_and_no_credential(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        assert set(answer) == {
            "validateOnly", "writeSafetyMode", "writeAttempted", "writeExecuted", "requestId", "requestIdExpiresAt",
        }  # fmt: skip
        assert APPEND not in world.blocks.counts


@pytest.mark.parametrize("precondition", [kind for kind in Precondition if kind is not Precondition.NONE])
async def test_the_credential_stands_under_the_name_that_the_answer_gives(
    tmp_path: Path, precondition: Precondition
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        intent, _ = world.update("b", "two")
        intent.precondition = precondition
        answer = await world.coordinator.preflight(intent)
        assert answer["preconditionField"] == precondition.value
        assert len(answer[precondition.value]) == answer["hashPrefixLength"]


async def test_two_preflights_of_one_call_share_a_credential_and_not_an_id(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        first, second = await world.preflight("b", "two"), await world.preflight("b", "two")
        assert first["expectedStateHash"] == second["expectedStateHash"]
        assert first["requestId"] != second["requestId"]
        assert len(world.coordinator.leases) == 1


async def test_the_same_state_prints_alike_for_every_action(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one", "c": "two"}) as world:
        one, other = await world.preflight("b", "x"), await world.preflight("b", "y")
        elsewhere = await world.preflight("c", "x")
        assert one["expectedStateHash"] == other["expectedStateHash"] != elsewhere["expectedStateHash"]


async def test_a_probes_summary_is_told_and_cannot_replace_a_field(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        intent, _ = world.update("b", "two")

        async def probe() -> Observation:
            return Observation("s", ("b",), 1, {"sourceSize": 5, "requestId": "mine"})

        intent.probe = probe
        answer = await world.coordinator.preflight(intent)
        assert answer["sourceSize"] == 5
        assert answer["requestId"] != "mine"


# --- commit ---


async def test_a_commit_answers_with_the_handlers_payload_and_a_receipt(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        done = await world.commit("b", "two", answer)
        after = await world.preflight("b", "three")
        assert done == {
            "success": True,
            "id": "b",
            "safety": {
                "requestId": answer["requestId"],
                "writeSafetyMode": "strict",
                "writeSafetyGuaranteed": True,
                "writeAttempted": True,
                "writeExecuted": True,
                "replayed": False,
                "transactionState": "committed",
                "previousHash": answer["expectedStateHash"],
                "resultHash": after["expectedStateHash"],
            },
        }


async def test_an_addition_commits_without_hashes_and_replays_its_small_receipt(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        intent, write = world.append("new", "text", request_id=answer["requestId"])
        first = await world.coordinator.commit(intent, DirectGate(), write)
        assert "previousHash" not in first["safety"]
        again = await world.coordinator.commit(intent, DirectGate(), write)
        assert (again["replayed"], again["receipt"], again["id"]) == (True, {"id": "new"}, "new")
        assert world.blocks.counts[APPEND] == 1


async def test_a_replay_repeats_the_receipt_attempts_nothing_and_carries_no_payload(tmp_path: Path) -> None:
    """Decision 53."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        first = await world.commit("b", "two", answer)
        again = await world.commit("b", "two", answer)
        assert again["safety"] == {**first["safety"], "writeAttempted": False, "writeExecuted": False, "replayed": True}
        assert {**again["safety"], "success": True, "safety": again["safety"]} == again
        assert world.blocks.counts[UPDATE] == 1


async def test_a_replay_needs_no_credential_and_survives_a_restart(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        first = await world.commit("b", "two", answer)
    async with open_world(tmp_path, {"b": "two"}, clock=world.clock, seed=9) as later:
        again = await later.commit("b", "two", answer, credential=None)
        assert again["replayed"] is True
        for name in ("requestId", "previousHash", "resultHash", "transactionState"):
            assert again[name] == first["safety"][name]
        assert UPDATE not in later.blocks.counts


async def test_writing_what_stands_there_already_is_no_change_after_all_looks(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        mock_clock.autojump_threshold = 0
        answer = await world.preflight("b", "one")
        start = trio.current_time()
        done = await world.commit("b", "one", answer)
        assert done["safety"]["transactionState"] == "no_change"
        assert done["safety"]["previousHash"] == done["safety"]["resultHash"]
        assert trio.current_time() - start == pytest.approx(1.55)


async def test_a_handler_that_changed_nothing_is_believed_when_the_target_agrees(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "one")
        intent, _ = world.update("b", "one", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            return Outcome({"changed": False}, changed=False)

        done = await world.coordinator.commit(intent, DirectGate(), write)
        assert done["safety"]["transactionState"] == "no_change"
        assert done["safety"]["writeAttempted"] is False


async def test_a_slow_host_is_looked_at_until_it_shows_the_change(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    """An asynchronous deletion must not be told as a mismatch (decision 26)."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        mock_clock.autojump_threshold = 0
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            nursery.start_soon(later)
            return Outcome({}, changed=True)

        async def later() -> None:
            await trio.sleep(0.3)
            world.blocks.texts["b"] = "two"

        async with trio.open_nursery() as nursery:
            done = await world.coordinator.commit(intent, DirectGate(), write)
        assert done["safety"]["transactionState"] == "committed"


# --- failures: who is told what ---

Case = Callable[[World], Awaitable[ToolError]]


async def no_request_id(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    return await refusal(world.commit("b", "two", answer, request_id=None))


async def no_credential(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    return await refusal(world.commit("b", "two", answer, credential=None))


async def malformed_credential(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    return await refusal(world.commit("b", "two", answer, credential="8zzz"))


async def malformed_request_id(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    return await refusal(world.commit("b", "two", answer, request_id=answer["requestId"].upper() + "F"))


async def foreign_request_id(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    return await refusal(world.commit("b", "two", answer, request_id="0123456789"))


async def expired_request_id(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    world.clock.advance(600)
    return await refusal(world.commit("b", "two", answer))


async def foreign_arguments(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    return await refusal(world.commit("b", "three", answer))


async def foreign_arguments_after_the_commit(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    await world.commit("b", "two", answer)
    error = await refusal(world.commit("b", "three", answer))
    world.blocks.counts[UPDATE] -= 1
    return error


async def expired_lease(world: World) -> ToolError:
    first = await world.preflight("b", "two")
    world.clock.advance(300)
    world.blocks.texts["b"] = "meanwhile"
    later = await world.preflight("b", "two")
    world.blocks.texts["b"] = "one"
    world.clock.advance(300)
    return await refusal(world.commit("b", "two", later, credential=first["expectedStateHash"]))


async def evicted_lease(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    for number in range(4):
        world.blocks.texts["b"] = f"state {number}"
        await world.preflight("b", "two")
    world.blocks.texts["b"] = "one"
    return await refusal(world.commit("b", "two", answer))


async def credential_of_another_call(world: World) -> ToolError:
    other = await world.preflight("c", "two")
    answer = await world.preflight("b", "two")
    return await refusal(world.commit("b", "two", answer, credential=other["expectedStateHash"]))


async def truncated_credential(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    full = world.coordinator.pool.resolve(answer["expectedStateHash"])
    assert full is not None
    return await refusal(world.commit("b", "two", answer, credential=full[: len("sha256:v1:") + 7]))


async def full_credential_without_a_preflight(world: World) -> ToolError:
    before = await world.preflight("b", "two")
    world.blocks.texts["b"] = "other"
    answer = await world.preflight("b", "three")
    full = world.coordinator.pool.resolve(answer["expectedStateHash"])
    return await refusal(world.commit("b", "two", before, credential=full))


async def changed_target(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    world.blocks.texts["b"] = "human"
    return await refusal(world.commit("b", "two", answer))


async def unreadable_target(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    world.plan(Rule(f"host.before:{READ}", "fail", times=None, status=404, message="no"))
    return await refusal(world.commit("b", "two", answer))


async def target_the_host_refuses_to_show(world: World) -> ToolError:
    world.plan(Rule(f"host.before:{READ}", "fail", code=-1, message="locked"))
    return await refusal(world.preflight("b", "two"))


async def broken_ledger(world: World) -> ToolError:
    world.plan(Rule("ledger.issue.before", "fail", message="disk full"))
    return await refusal(world.preflight("b", "two"))


async def ledger_that_breaks_before_the_write(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    world.plan(Rule("ledger.begin.before", "fail", message="disk full"))
    return await refusal(world.commit("b", "two", answer))


@pytest.mark.parametrize(
    ("case", "code", "details"),
    [
        (no_request_id, "precondition_required", {"expectedField": "requestId"}),
        (no_credential, "precondition_required", {"expectedField": "expectedStateHash"}),
        (malformed_credential, "precondition_required", {"expectedField": "expectedStateHash"}),
        (malformed_request_id, "invalid_request_id", {}),
        (foreign_request_id, "request_id_expired", {}),
        (expired_request_id, "request_id_expired", {}),
        (foreign_arguments, "idempotency_conflict", {}),
        (foreign_arguments_after_the_commit, "idempotency_conflict", {}),
        (expired_lease, "preflight_lease_invalid", {"revalidateRequired": True}),
        (evicted_lease, "preflight_lease_invalid", {"revalidateRequired": True}),
        (credential_of_another_call, "preflight_lease_invalid", {"expectedField": "expectedStateHash"}),
        (truncated_credential, "preflight_lease_invalid", {"revalidateRequired": True}),
        (full_credential_without_a_preflight, "preflight_lease_invalid", {"revalidateRequired": True}),
        (changed_target, "state_changed", {"revalidateRequired": True}),
        (unreadable_target, "write_safety_failed", {}),
        (target_the_host_refuses_to_show, "api_error", {"apiCode": -1}),
        (broken_ledger, "write_ledger_unavailable", {}),
        (ledger_that_breaks_before_the_write, "write_ledger_unavailable", {}),
    ],
)
async def test_a_refused_call_executes_nothing_and_says_what_to_do(
    tmp_path: Path, case: Case, code: str, details: dict[str, Any]
) -> None:
    async with open_world(tmp_path, {"b": "one", "c": "other"}) as world:
        error = await case(world)
        assert error.code == code
        payload = error.payload()
        assert {name: payload[name] for name in REJECTED} == REJECTED
        assert payload["error"]["nextStep"]
        assert isinstance(payload["error"]["safeToRetry"], bool)
        assert details.items() <= payload["error"].items()
        assert not world.blocks.counts.get(UPDATE)


async def test_a_changed_target_is_told_with_short_hashes_and_uses_up_the_lease_but_not_the_id(tmp_path: Path) -> None:
    """R54, R91, and the second try on the old credential."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.blocks.texts["b"] = "human"
        error = await refusal(world.commit("b", "two", answer))
        current = (await world.preflight("b", "three"))["expectedStateHash"]
        assert error.details["expectedHash"] == answer["expectedStateHash"]
        assert error.details["currentHash"] == current
        world.blocks.texts["b"] = "one"
        assert (await refusal(world.commit("b", "two", answer))).code == "preflight_lease_invalid"
        fresh = await world.preflight("b", "two")
        done = await world.commit("b", "two", fresh, request_id=answer["requestId"])
        assert done["safety"]["transactionState"] == "committed"


async def test_a_restart_ends_leases_and_keeps_ids(tmp_path: Path) -> None:
    """R52: short values and leases are the process's own; an id outlives it."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
    async with open_world(tmp_path, {"b": "one"}, clock=world.clock, seed=5) as later:
        assert (await refusal(later.commit("b", "two", answer))).code == "preflight_lease_invalid"
        fresh = await later.preflight("b", "two")
        done = await later.commit("b", "two", fresh, request_id=answer["requestId"])
        assert done["safety"]["transactionState"] == "committed"


async def test_a_spare_id_drives_the_one_lease_and_finds_it_used(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        first, spare = await world.preflight("b", "two"), await world.preflight("b", "two")
        await world.commit("b", "two", spare)
        assert (await refusal(world.commit("b", "two", first))).code == "preflight_lease_invalid"


async def test_a_ledger_that_fails_before_the_write_leaves_id_and_lease_usable(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        for point in ("ledger.begin.before", "write.commit.entered", "write.commit.checked"):
            world.plan(Rule(point, "fail"))
            await refusal(world.commit("b", "two", answer))
        done = await world.commit("b", "two", answer)
        assert done["safety"]["transactionState"] == "committed"


# --- failures after the write began ---


async def lost_answer(world: World) -> None:
    world.plan(Rule(f"host.after:{UPDATE}", "drop"))


async def lost_request(world: World) -> None:
    world.plan(Rule(f"host.before:{UPDATE}", "drop"))


async def server_error(world: World) -> None:
    world.plan(Rule(f"host.after:{UPDATE}", "fail", status=502))


async def refusal_after_the_effect(world: World) -> None:
    world.plan(Rule(f"host.after:{UPDATE}", "fail", code=-1))


async def end_state_not_written(world: World) -> None:
    world.plan(Rule("ledger.settle.before", "fail"))


async def fault_behind_the_write(world: World) -> None:
    world.plan(Rule("write.commit.written", "fail"))


@pytest.mark.parametrize(
    "harm",
    [lost_answer, lost_request, server_error, refusal_after_the_effect, end_state_not_written, fault_behind_the_write],
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
        assert (await refusal(world.commit("b", "two", answer))).code == "outcome_unknown"


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


# --- failures that certainly executed nothing ---


@pytest.mark.parametrize("code", ["permission_denied", "validation_error", "action_disabled", "not_found"])
async def test_a_handler_that_refuses_before_it_sends_leaves_the_lease_and_says_so_again(
    tmp_path: Path, code: str
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer, spare = await world.preflight("b", "two"), await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])
        intent.writes_sent = None

        async def write() -> Outcome:
            raise ToolError(code, "no", notebook="n")

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert (error.code, error.details["notebook"]) == (code, "n")
        assert {name: error.outer[name] for name in REJECTED} == REJECTED
        again = await refusal(world.commit("b", "two", answer))
        assert (again.code, again.details["ledgerState"]) == (code, "failed_before_execute")
        assert (await world.commit("b", "two", spare))["safety"]["transactionState"] == "committed"


async def test_any_failure_before_the_first_host_write_executed_nothing(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            raise RuntimeError("a bug before the write")

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert error.code == "internal_error"
        assert error.outer["writeAttempted"] is False


async def test_a_write_that_the_host_refused_and_that_changed_nothing_is_rejected_in_its_words(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule(f"host.before:{UPDATE}", "fail", code=-1, message="block is locked"))
        error = await refusal(world.commit("b", "two", answer))
        assert (error.code, error.message, error.details["apiCode"]) == ("api_error", "block is locked", -1)
        assert error.outer["transactionState"] == "rejected"


async def test_an_addition_that_the_host_refused_is_rejected_in_its_words(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        world.plan(Rule(f"host.before:{APPEND}", "fail", code=-1, message="no such parent"))
        intent, write = world.append("new", "text", request_id=answer["requestId"])
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert (error.code, error.outer["transactionState"]) == ("api_error", "rejected")


async def test_a_second_write_that_the_host_refuses_leaves_the_first_in_doubt(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        host = world.host()
        intent, _ = world.update(
            "b", "two", host, request_id=answer["requestId"], credential=answer["expectedStateHash"]
        )

        async def write() -> Outcome:
            await host.call(UPDATE, {"id": "b", "data": "half"})
            raise ToolError("api_error", "refused") from HostApiError(-1, "refused")

        async def write_two() -> Outcome:
            await host.call(UPDATE, {"id": "b", "data": "half"})
            await host.call(UPDATE, {"id": "missing", "data": "half"})
            return Outcome({})

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write_two))
        assert error.code == "outcome_unknown"
        assert write is not write_two


async def test_an_end_state_that_cannot_be_written_for_a_write_that_did_nothing_is_no_doubt(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "one")
        world.plan(Rule("ledger.settle.before", "fail"))
        intent, _ = world.update("b", "one", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            return Outcome({}, changed=False)

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert error.code == "idempotency_unavailable"


# --- interleavings without a lane ---


async def test_of_two_commits_with_one_id_exactly_one_writes(tmp_path: Path) -> None:
    """The lane serialises them; the claim holds without it."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        results: list[Any] = []

        async def attempt() -> None:
            try:
                results.append(await world.commit("b", "two", answer))
            except ToolError as error:
                results.append(error.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(attempt)
            nursery.start_soon(attempt)
        assert world.blocks.counts[UPDATE] == 1
        refused = [result for result in results if isinstance(result, str)]
        assert len(results) == 2
        assert set(refused) <= {"preflight_lease_invalid", "outcome_unknown", "request_id_expired"}
        assert len(refused) == 1


async def test_the_boundary_has_no_checkpoint_between_the_last_check_and_the_claim(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, write = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])
        row = await world.coordinator.ledger.find(answer["requestId"])
        assert row is not None
        _, state = await world.coordinator.observe(intent)
        with trio.testing.assert_no_checkpoints():
            lease = world.coordinator._lease_on(intent, row, state)
            claimed = world.coordinator._claim(intent, row, lease)
        assert claimed.begun_wall_ms is not None
        assert write is not None


async def test_a_lease_used_by_another_call_meanwhile_is_noticed_at_the_boundary(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        first, spare = await world.preflight("b", "two"), await world.preflight("b", "two")
        world.plan(Rule("write.commit.checked", "hold"))

        async def late() -> None:
            assert (await refusal(world.commit("b", "two", first))).code == "preflight_lease_invalid"

        async with trio.open_nursery() as nursery:
            nursery.start_soon(late)
            await world.trigger.wait_held()
            world.plan()
            await world.commit("b", "two", spare)
            world.trigger.release()
        assert world.blocks.counts[UPDATE] == 1


async def test_an_id_that_expires_between_its_check_and_the_boundary_gives_the_lease_back(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        old = await world.preflight("b", "two")
        world.clock.advance(599)
        fresh = await world.preflight("b", "two")
        world.plan(Rule("write.commit.checked", "hold"))

        async def late() -> None:
            assert (await refusal(world.commit("b", "two", old))).code == "request_id_expired"

        async with trio.open_nursery() as nursery:
            nursery.start_soon(late)
            await world.trigger.wait_held()
            world.plan()
            world.clock.advance(1)
            world.trigger.release()
        assert (await world.commit("b", "two", fresh))["safety"]["transactionState"] == "committed"


async def test_more_live_ids_than_allowed_are_refused_with_their_own_code(tmp_path: Path) -> None:
    from kernel.safety.limits import LEDGER_LIVE_MAX
    from tests.safety.test_ledger import live_ids

    async with open_world(tmp_path, {"b": "one"}) as world:
        await world.coordinator.ledger._run(live_ids(LEDGER_LIVE_MAX, world.clock.wall_ms()))
        assert (await refusal(world.preflight("b", "two"))).code == "write_ledger_capacity"


async def test_a_probes_own_refusal_is_told_in_the_words_of_a_strict_call(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:

        async def probe() -> Observation:
            raise ToolError("permission_denied", "no", outer={"success": False})

        intent = Intent("block", "update", {}, Precondition.STATE, probe)
        error = await refusal(world.coordinator.preflight(intent))
        assert (error.code, error.outer["transactionState"]) == ("permission_denied", "rejected")


async def test_a_digest_that_is_no_receipts_own_is_shortened_by_the_same_pool(tmp_path: Path) -> None:
    """R55."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        full = world.coordinator.pool.resolve(answer["expectedStateHash"])
        assert full is not None
        assert world.coordinator.shorten(full) == answer["expectedStateHash"]


async def test_a_begin_that_reached_the_disk_although_it_failed_is_never_begun_again(tmp_path: Path) -> None:
    """A sync may fail after the row has landed: the file then knows better than the memory."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule("ledger.begin.after", "fail"))
        assert (await refusal(world.commit("b", "two", answer))).code == "write_ledger_unavailable"
        assert (await refusal(world.commit("b", "two", answer))).code == "outcome_unknown"
        assert (await refusal(world.commit("b", "two", answer))).code == "outcome_unknown"
        assert UPDATE not in world.blocks.counts


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


async def test_a_host_that_is_away_before_anything_was_sent_executed_nothing(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            raise HostUnavailable("away")

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert (error.code, error.outer["transactionState"]) == ("host_unavailable", "rejected")


async def test_an_action_may_confirm_more_than_its_state(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, write = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def confirm(_outcome: Outcome) -> bool:
            return False

        intent.confirm = confirm
        assert (await refusal(world.coordinator.commit(intent, DirectGate(), write))).code == "readback_mismatch"


async def test_a_receipt_that_is_not_small_is_not_kept(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        intent, write = world.append("new", "text", request_id=answer["requestId"])

        async def write_much() -> Outcome:
            outcome = await write()
            return Outcome(outcome.payload, outcome.changed, {"x": "y" * 70_000})

        await world.coordinator.commit(intent, DirectGate(), write_much)
        again = await world.coordinator.commit(intent, DirectGate(), write)
        assert again["replayed"] is True
        assert "receipt" not in again


async def test_a_ledger_that_cannot_be_opened_refuses_every_strict_write_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "writeSafetyLedger.db").write_bytes(b"no database" * 500)
    async with open_world(tmp_path, {"b": "one"}) as world:
        assert (await refusal(world.preflight("b", "two"))).code == "write_ledger_unavailable"
        answer = {"requestId": "abcd", "expectedStateHash": "abcd"}
        assert (await refusal(world.commit("b", "two", answer))).code == "write_ledger_unavailable"
        assert UPDATE not in world.blocks.counts


async def test_an_id_that_cannot_be_found_is_told_as_a_collision(tmp_path: Path) -> None:
    from tests.safety.test_ledger import OneDraw

    async with open_world(tmp_path, {"b": "one"}) as world:
        world.coordinator.ledger._ids = OneDraw()
        for _ in range(61):
            await world.preflight("b", "two")
        assert (await refusal(world.preflight("b", "two"))).code == "request_id_collision"


async def made_with_reserved_ids(world: World, *, answer: dict[str, Any]) -> Any:
    intent, write = world.append("new", "text", request_id=answer["requestId"])
    intent.reserved = {"avID": "a", "blockID": "b"}

    async def write_in_stages() -> Outcome:
        intent.stages.append("inserted")
        outcome = await write()
        intent.stages.append("rendered")
        return outcome

    return await world.coordinator.commit(intent, DirectGate(), write_in_stages)


async def test_a_creation_keeps_its_reserved_ids_and_stages_for_its_replay(tmp_path: Path) -> None:
    """R83."""
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        await made_with_reserved_ids(world, answer=answer)
    async with open_world(tmp_path, world.blocks.texts, clock=world.clock, seed=7) as later:
        again = await made_with_reserved_ids(later, answer=answer)
        assert again["replayed"] is True
        assert again["receipt"] == {
            "reserved": {"avID": "a", "blockID": "b"},
            "stages": ["inserted", "rendered"],
            "id": "new",
        }
        assert APPEND not in later.blocks.counts


@pytest.mark.parametrize("point", ["write.commit.begun", "write.commit.written"])
async def test_a_creation_in_doubt_says_what_to_look_for(tmp_path: Path, point: str) -> None:
    """The reserved ids are on the disk before the host is called: a crash cannot lose them."""
    from tests.safety.world import Crash

    with pytest.RaisesGroup(Crash, allow_unwrapped=True, flatten_subgroups=True):
        async with open_world(tmp_path) as world:
            answer = await world.coordinator.preflight(world.append("new", "text")[0])
            world.plan(Rule(point, "crash"))
            await made_with_reserved_ids(world, answer=answer)
    async with open_world(tmp_path, clock=world.clock, seed=7) as later:
        error = await refusal(made_with_reserved_ids(later, answer=answer))
        assert (error.code, error.details["reserved"]) == ("outcome_unknown", {"avID": "a", "blockID": "b"})


async def test_a_creation_whose_answer_was_lost_says_which_stages_it_had_confirmed(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        world.plan(Rule(f"host.after:{APPEND}", "drop"))
        for _ in range(2):
            error = await refusal(made_with_reserved_ids(world, answer=answer))
            assert error.code == "outcome_unknown"
            assert (error.details["reserved"]["avID"], error.details["stages"]) == ("a", ["inserted"])


async def test_a_guard_is_asked_before_the_probe_and_not_for_a_replay_nor_a_read_back(tmp_path: Path) -> None:
    """A removed target must not hide the receipt of its removal."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        asked: list[int] = []

        async def guard() -> None:
            asked.append(world.blocks.counts.get(READ, 0))

        async def forbid() -> None:
            raise ToolError("permission_denied", "no")

        intent, write = world.update("b", "two")
        intent.guard = guard
        answer = await world.coordinator.preflight(intent)
        intent.request_id, intent.credential = answer["requestId"], answer["expectedStateHash"]
        intent.guard = forbid
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert (error.code, error.outer["transactionState"]) == ("permission_denied", "rejected")
        intent.guard = guard
        await world.coordinator.commit(intent, DirectGate(), write)
        intent.guard = forbid
        assert (await world.coordinator.commit(intent, DirectGate(), write))["replayed"] is True
        assert asked == [0, 1]


async def test_a_lost_answer_on_a_broken_disk_is_in_doubt_all_the_same(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule(f"host.after:{UPDATE}", "drop"), Rule("ledger.settle.before", "fail"))
        assert (await refusal(world.commit("b", "two", answer))).code == "outcome_unknown"
        assert (await refusal(world.commit("b", "two", answer))).details["ledgerState"] == "unknown"
