"""A failure injected at any stage of a write is told as a result, never as a crash; a replay then says what is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.errors import ToolError
from kernel.faults.plan import Rule
from kernel.faults.points import LEDGER_POINTS, WRITE_POINTS
from tests.safety.world import UPDATE, open_world

POINTS = (*WRITE_POINTS, *LEDGER_POINTS)


@pytest.mark.parametrize("point", POINTS)
async def test_a_failure_at(point: str, fast_path: Path) -> None:
    async with open_world(fast_path, {"b": "one"}) as world:
        world.plan(Rule(point, "fail"))
        codes: list[str] = []
        answer = None
        for _ in range(2):
            try:
                answer = await world.preflight("b", "two")
                break
            except ToolError as error:
                codes.append(error.code)
        assert answer is not None
        for _ in range(2):
            try:
                told = await world.commit("b", "two", answer)
                break
            except ToolError as error:
                codes.append(error.code)
        else:
            told = {}
        assert world.blocks.counts.get(UPDATE, 0) <= 1
        assert set(codes) <= {"write_safety_failed", "write_ledger_unavailable", "outcome_unknown", "readback_mismatch"}
        if told:
            assert world.blocks.texts["b"] == "two"
            assert told["safety"]["transactionState"] == "committed"
