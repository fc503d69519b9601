"""When a difference is one."""

from __future__ import annotations

import math

import pytest

from kernel.bench.noise import BETTER, SAME, UNKNOWN, WORSE, judge

CASES = [
    ("much more throughput", [100, 101, 99], [150, 149, 152], True, BETTER),
    ("much less throughput", [150, 149, 152], [100, 101, 99], True, WORSE),
    ("much more latency", [100, 101, 99], [150, 149, 152], False, WORSE),
    ("much less latency", [150, 149, 152], [100, 101, 99], False, BETTER),
    ("the same rounds", [100, 101, 99], [100, 101, 99], True, SAME),
    ("one percent, however quiet", [100, 100, 100], [101, 101, 101], True, SAME),
    ("a change within the scatter", [100, 140, 60], [120, 150, 80], True, SAME),
    ("medians apart, rounds interleaved", [100, 100, 100, 130], [110, 110, 110, 95], True, SAME),
    ("two rounds", [100, 101], [150, 151], True, UNKNOWN),
    ("nothing before and after", [0, 0, 0], [0, 0, 0], False, SAME),
    ("something where nothing was", [0, 0, 0], [5, 5, 5], False, UNKNOWN),
    ("nothing where something was", [5, 5, 5], [0, 0, 0], True, WORSE),
]


@pytest.mark.parametrize(
    ("before", "after", "more", "word"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_verdict_knows_noise(before: list[float], after: list[float], more: bool, word: str) -> None:
    assert judge(before, after, more_is_better=more).word == word


def test_a_verdict_tells_change_and_noise() -> None:
    told = judge([100, 102, 98], [200, 204, 196], more_is_better=True).as_json()
    assert told == {
        "verdict": BETTER,
        "before": 100,
        "after": 200,
        "change": 1.0,
        "noise": pytest.approx(0.0910, abs=1e-3),
    }
    assert math.isinf(judge([0], [1], more_is_better=True).change)
