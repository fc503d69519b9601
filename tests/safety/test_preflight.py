"""The coordinator's preflights: ids, credentials, what is told of a target, when none is issued."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.errors import ToolError
from kernel.safety.intent import Intent, Observation, Precondition
from tests.safety.told import refusal
from tests.safety.world import APPEND, UPDATE, open_world


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
