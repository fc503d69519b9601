"""Scripts are worlds of the promised size, the same from the same seed, and any part of one is one."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from kernel.faults.points import POINTS
from kernel.sim.limits import (
    CLIENTS_MAX,
    CLIENTS_MIN,
    FAULTS_MAX,
    FAULTS_MIN,
    OPERATIONS_MAX,
    OPERATIONS_MIN,
)
from kernel.sim.script import MishapKind, Verb, write_script

SEEDS = range(300)


def test_every_world_has_clients_operations_and_a_mishap() -> None:
    for seed in SEEDS:
        script = write_script(seed)
        assert CLIENTS_MIN <= len(script.eras) <= CLIENTS_MAX
        assert OPERATIONS_MIN <= len(script.operations) <= OPERATIONS_MAX
        assert FAULTS_MIN <= len(script.mishaps) <= FAULTS_MAX
        assert all(one.client < len(script.eras) for one in script.operations)
        assert len({one.number for one in script.operations}) == len(script.operations)


def test_the_same_seed_writes_the_same_script_and_others_write_others() -> None:
    assert write_script(7) == write_script(7)
    assert len({write_script(seed) for seed in range(50)}) == 50


def test_everything_that_can_happen_happens_somewhere() -> None:
    verbs = Counter(one.verb for seed in SEEDS for one in write_script(seed).operations)
    mishaps = Counter(one.kind for seed in SEEDS for one in write_script(seed).mishaps)
    assert set(verbs) == set(get_args(Verb))
    assert set(mishaps) == set(get_args(MishapKind))


def test_the_points_of_its_rules_are_fault_points() -> None:
    rules = [one for seed in SEEDS for one in write_script(seed).mishaps if one.point and "*" not in one.point]
    assert rules
    assert {one.point for one in rules} <= POINTS


def test_a_part_keeps_what_it_is_told_to_keep() -> None:
    script = write_script(3)
    part = script.only(operations={1, 4}, mishaps=())
    assert [one.number for one in part.operations] == [1, 4]
    assert part.mishaps == ()
    assert script.only() == script
