"""Distributions made of delay rules: their means and variations."""

from __future__ import annotations

import json

import pytest

from kernel.bench.delays import SERVICES, plan
from kernel.faults.calls import CallFacts
from kernel.faults.plan import FaultPlan
from kernel.faults.reading import read_plan

POINT = "host.before:/api/block/getBlockKramdown"


def times(service: str, mean_s: float, visits: int) -> list[float]:
    rules = FaultPlan(read_plan(json.dumps(plan(POINT, service, mean_s))))
    return [sum(rule.seconds or 0.0 for rule in rules.visit(POINT, CallFacts())) for _ in range(visits)]


@pytest.mark.parametrize(("service", "cv2"), [("fixed", 0.0), ("exponential", 1.0), ("bimodal", 2.02)])
def test_a_plan_takes_the_mean_and_the_variation_of_its_name(service: str, cv2: float) -> None:
    found = times(service, 0.02, 4_000)
    mean = sum(found) / len(found)
    variance = sum((one - mean) ** 2 for one in found) / len(found)
    assert mean == pytest.approx(0.02, rel=0.05)
    assert variance / mean**2 == pytest.approx(cv2, rel=0.12, abs=1e-9)


def test_an_unknown_service_is_refused() -> None:
    assert set(SERVICES) == {"fixed", "exponential", "bimodal"}
    with pytest.raises(KeyError):
        plan(POINT, "pareto", 1.0)
