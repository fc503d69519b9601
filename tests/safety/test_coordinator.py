"""The coordinator over a small host: one test per rule of the call flow and per row of the failure table."""

from __future__ import annotations

from pathlib import Path

from tests.safety.world import UPDATE, open_world


async def test_a_preflight_answers_exactly_the_specified_fields(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        assert set(answer) == {
            "validateOnly",
            "writeSafetyMode",
            "writeAttempted",
            "writeExecuted",
            "requestId",
            "requestIdExpiresAt",
            "preconditionField",
            "expectedStateHash",
            "hashPrefixLength",
            "leaseExpiresAt",
            "targetCount",
        }
        assert answer["requestIdExpiresAt"] == answer["leaseExpiresAt"] == world.clock.wall_ms() + 600_000
        assert len(answer["requestId"]) == len(answer["expectedStateHash"]) == answer["hashPrefixLength"] == 4
        assert world.blocks.counts.get(UPDATE) is None


async def test_a_commit_writes_once_and_its_replay_not_at_all(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"b": "one"}) as world:
        answer = await world.preflight("b", "two")
        first = await world.commit("b", "two", answer)
        assert first["safety"]["transactionState"] == "committed"
        again = await world.commit("b", "two", answer)
        assert again["replayed"] is True
        for name in ("requestId", "previousHash", "resultHash", "transactionState"):
            assert again[name] == first["safety"][name]
        assert world.blocks.counts[UPDATE] == 1
