"""The machine dies at every named point of the write path; the client comes again with the same request id."""

from __future__ import annotations

import pytest

from kernel.faults.points import LEDGER_POINTS, WRITE_POINTS, host_point
from kernel.sim.script import Mishap, Operation, Script
from kernel.sim.world import run_world

UPDATE, APPEND = 0, 3
HOST_POINTS = [
    host_point(path, moment)
    for path in ("/api/block/updateBlock", "/api/block/appendBlock")
    for moment in ("before", "after")
]


@pytest.mark.parametrize("pick", [UPDATE, APPEND], ids=["update", "append"])
@pytest.mark.parametrize("point", [*WRITE_POINTS, *LEDGER_POINTS, *HOST_POINTS])
def test_a_crash_at(point: str, pick: int) -> None:
    """An addition has no lease to protect it: its request id alone does."""
    operations = (
        Operation(0, 0, "commit", 0.0, 0, pick, True),
        Operation(1, 0, "again", 0.0, 0, 0, True),
        Operation(2, 0, "commit", 0.0, 0, pick, True),
    )
    report = run_world(Script(1, ("modern",), operations, (Mishap(0, "crash-point", point=point, do="crash"),), 0.0))
    assert report.failure == ""
    assert report.lives >= 2
