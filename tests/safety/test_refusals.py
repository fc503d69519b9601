"""Commits that are refused before anything is executed: one test per row of the failure table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from kernel.errors import ToolError
from kernel.faults.plan import Rule
from kernel.host.base import HostApiError
from tests.safety.told import REJECTED, refusal
from tests.safety.world import READ, UPDATE, DirectGate, World, open_world

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
    """Its lease lives on: a later preflight of the same call has refreshed it."""
    answer = await world.preflight("b", "two")
    world.clock.advance(300)
    await world.preflight("b", "two")
    world.clock.advance(300)
    return await refusal(world.commit("b", "two", answer))


async def expired_request_id_and_lease(world: World) -> ToolError:
    answer = await world.preflight("b", "two")
    world.clock.advance(600)
    return await refusal(world.commit("b", "two", answer))


async def long_expired_request_id_and_lease(world: World) -> ToolError:
    """Nothing but the marker is left of the id."""
    answer = await world.preflight("b", "two")
    world.clock.advance(600)
    await world.preflight("c", "three")
    return await refusal(world.commit("b", "two", answer))


async def expired_receipt(world: World) -> ToolError:
    """Used, and its receipt has had its time: a new preflight is not the way, before the target was looked at."""
    answer = await world.preflight("b", "two")
    await world.commit("b", "two", answer)
    world.clock.advance(8 * 24 * 3600)
    await world.preflight("c", "three")
    world.blocks.counts[UPDATE] -= 1
    return await refusal(world.commit("b", "two", answer))


async def expired_id_of_an_addition(world: World) -> ToolError:
    answer = await world.coordinator.preflight(world.append("new", "text")[0])
    world.clock.advance(600)
    intent, write = world.append("new", "text", request_id=answer["requestId"])
    return await refusal(world.coordinator.commit(intent, DirectGate(), write))


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
        (expired_request_id_and_lease, "preflight_lease_invalid", {"expectedField": "expectedStateHash"}),
        (long_expired_request_id_and_lease, "preflight_lease_invalid", {"revalidateRequired": True}),
        (expired_receipt, "request_id_expired", {}),
        (expired_id_of_an_addition, "request_id_expired", {}),
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


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (HostApiError(-1, "block not found"), "state_changed"),
        (ToolError("block_not_found", "no such block"), "state_changed"),
        (ToolError("permission_denied", "hidden"), "permission_denied"),
    ],
)
async def test_a_guard_that_does_not_find_the_target_of_the_preflight_any_more_tells_a_change(
    tmp_path: Path, failure: Exception, code: str
) -> None:
    """R91: it could be read for the preflight. The lease is used up by that, as by any other change."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, write = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def guard() -> None:
            raise failure

        intent.guard = guard
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert error.code == code
        assert {name: error.outer[name] for name in REJECTED} == REJECTED
        assert UPDATE not in world.blocks.counts
        intent.guard = None
        if code != "state_changed":
            done = await world.coordinator.commit(intent, DirectGate(), write)
            assert done["safety"]["transactionState"] == "committed"
            return
        assert error.details == {"expectedHash": answer["expectedStateHash"], "revalidateRequired": True}
        again = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert again.code == "preflight_lease_invalid"


async def test_whether_an_id_has_begun_a_write_is_known_in_every_state_of_it(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        begun = world.coordinator.was_begun
        answer = await world.preflight("b", "two")
        request_id = answer["requestId"]
        assert (await begun("0123456789"), await begun(request_id)) == (False, False)
        world.plan(Rule("write.commit.begun", "hold"))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(world.commit, "b", "two", answer)
            await world.trigger.wait_held()
            assert await begun(request_id)
            world.plan()
            world.trigger.release()
        assert await begun(request_id)
        expired = (await world.preflight("b", "three"))["requestId"]
        world.clock.advance(600)
        assert not await begun(expired)
        # The row is looked up in the file, which is gone.
        (tmp_path / "writeSafetyLedger.db").unlink()
        error = await refusal(begun("fedcba9876"))
        assert error.code == "write_ledger_unavailable"
        assert {name: error.outer[name] for name in REJECTED} == REJECTED
