"""Writes that failed and certainly changed nothing: rejected in the host's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.errors import ToolError
from kernel.faults.plan import Rule
from kernel.host.base import HostApiError, HostUnavailable
from kernel.safety.intent import Outcome
from tests.safety.told import REJECTED, refusal
from tests.safety.world import APPEND, UPDATE, DirectGate, open_world


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
        assert again.error_object()["type"] == error.error_object()["type"]
        assert (await world.commit("b", "two", spare))["safety"]["transactionState"] == "committed"


async def test_a_replay_keeps_the_coarse_type_that_the_refusal_had_across_a_restart(tmp_path: Path) -> None:
    """A handler may give its refusal another type than the table does (decision 53)."""
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            raise ToolError("block_not_found", "no", type="api_error")

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
    async with open_world(tmp_path, {"b": "one"}) as world:
        again = await refusal(world.commit("b", "two", answer))
    assert error.error_object()["type"] == again.error_object()["type"] == "api_error"


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


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_an_addition_that_the_host_refused_is_in_doubt_for_no_look_can_show_that_it_is_not_there(
    tmp_path: Path, moment: str
) -> None:
    """R92: a host may fail after the effect, and then it says so in the same words."""
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        world.plan(Rule(f"host.{moment}:{APPEND}", "fail", code=-1, message="no such parent"))
        intent, write = world.append("new", "text", request_id=answer["requestId"])
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert (error.code, error.outer["transactionState"]) == ("outcome_unknown", "unknown")
        assert "no such parent" in error.details["cause"]
        again = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert (again.code, again.details["ledgerState"]) == ("outcome_unknown", "unknown")


async def test_a_copy_that_the_host_refused_is_in_doubt_for_its_original_looks_as_before_anyway(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])
        intent.creates = True

        async def write() -> Outcome:
            raise HostApiError(-1, "no room for a copy", path=UPDATE)

        intent.writes_sent = iter([0, 1]).__next__
        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert error.code == "outcome_unknown"


async def test_a_change_that_the_host_denies_after_its_effect_is_in_doubt(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        world.plan(Rule(f"host.after:{UPDATE}", "fail", code=-1, message="block is locked"))
        error = await refusal(world.commit("b", "two", answer))
        assert error.code == "outcome_unknown"


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


async def test_a_host_that_is_away_before_anything_was_sent_executed_nothing(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        intent, _ = world.update("b", "two", request_id=answer["requestId"], credential=answer["expectedStateHash"])

        async def write() -> Outcome:
            raise HostUnavailable("away")

        error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
        assert (error.code, error.outer["transactionState"]) == ("host_unavailable", "rejected")
