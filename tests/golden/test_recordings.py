"""Recorded scenarios of the real kernel, played whole against ours: every answer is the recorded one.

``SISYPHUS_GOLDEN`` names a folder with more recordings than the selection that comes with the tests.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from tests.golden.in_process import differing_exchanges

_COMMITTED: Final = Path(__file__).parent / "recordings"
_FOLDER: Final = Path(os.environ.get("SISYPHUS_GOLDEN", _COMMITTED))
_SELECTION_BYTES_MAX: Final = 5_000_000
_PAGE: Final = Path(__file__).parents[2] / "docs" / "differences.md"

# Exchanges that come out otherwise on purpose: the row of docs/differences.md that says so.
_ON_PURPOSE: Final = {
    "doc2-styles": ({7}, "| attribute order |"),
}


def _recordings() -> list[Any]:
    return [pytest.param(path, id=path.stem) for path in sorted(_FOLDER.glob("*-*.json"))]


@pytest.fixture(params=_recordings())
def scenario(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(json.loads(request.param.read_text(encoding="utf-8")))


async def test_a_recorded_scenario_comes_out_as_recorded(
    scenario: dict[str, Any], tmp_path: Path, autojump_clock: object
) -> None:
    on_purpose, _ = _ON_PURPOSE.get(scenario["name"], (set(), ""))
    differing = await differing_exchanges(scenario, tmp_path / "golden-00000000")
    assert {index: rows for index, rows in differing.items() if index not in on_purpose} == {}
    assert on_purpose <= set(differing)


def test_every_difference_on_purpose_is_told_in_the_documentation() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    assert [name for name, (_, row) in _ON_PURPOSE.items() if row not in page] == []
    assert set(_ON_PURPOSE) <= {path.stem for path in _COMMITTED.glob("*.json")}


def test_the_selection_stays_small() -> None:
    assert sum(path.stat().st_size for path in _COMMITTED.iterdir()) <= _SELECTION_BYTES_MAX
