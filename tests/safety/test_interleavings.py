"""Commits without a lane between them: of two with one id or one lease, one writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trio
import trio.testing

from kernel.errors import ToolError
from kernel.faults.plan import Rule
from kernel.safety.limits import REQUEST_ID_TTL_S
from tests.safety.told import refusal
from tests.safety.world import UPDATE, DirectGate, open_world


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


async def test_an_addition_whose_id_expires_on_the_way_to_the_boundary_has_no_lease_to_give_back(
    tmp_path: Path,
) -> None:
    async with open_world(tmp_path) as world:
        answer = await world.coordinator.preflight(world.append("new", "text")[0])
        intent, write = world.append("new", "text", request_id=answer["requestId"])
        world.plan(Rule("write.commit.checked", "hold"))

        async def late() -> None:
            error = await refusal(world.coordinator.commit(intent, DirectGate(), write))
            assert (error.code, error.details["requestId"]) == ("request_id_expired", answer["requestId"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(late)
            await world.trigger.wait_held()
            world.clock.advance(REQUEST_ID_TTL_S)
            world.trigger.release()
        assert world.blocks.counts == {}
