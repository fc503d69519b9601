"""The table of planted bugs fits the source; ``python -m tests.mutations`` shows that each of them is caught."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutations.table import BUGS, Bug

ROOT = Path(__file__).parents[2]


def test_there_are_enough_of_them() -> None:
    assert len(BUGS) >= 25
    assert len({bug.name for bug in BUGS}) == len(BUGS)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_it_can_be_planted_and_leaves_a_module(bug: Bug) -> None:
    source = (ROOT / bug.file).read_text(encoding="utf-8")
    assert source.count(bug.old) == 1
    planted = source.replace(bug.old, bug.new)
    assert planted != source
    ast.parse(planted)
    assert (ROOT / bug.caught_by).exists()


@pytest.mark.slow
def test_every_planted_bug_is_caught_by_its_test() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutations"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
