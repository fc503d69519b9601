"""Small worlds written by hand: each thing that a client can do, and each thing that can go wrong, at least once."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from kernel.sim.script import Mishap, MishapKind, Operation, Script, Verb
from kernel.sim.world import run_world

VERBS: tuple[Verb, ...] = tuple(verb for verb in get_args(Verb) if verb != "burst")
PAIR: tuple[Any, ...] = ("modern", "handshake")
UPDATE = "/api/block/updateBlock"


def story(*verbs: Verb, waits: bool = True, pauses_s: float = 0.5) -> tuple[Operation, ...]:
    """Both clients do these in turn."""
    return tuple(
        Operation(number, number % 2, verb, pauses_s, number, number, waits)
        for number, verb in enumerate(verb for verb in verbs for _ in PAIR)
    )


@pytest.mark.parametrize("verbs", [VERBS[start::4] for start in range(4)], ids=" ".join)
def test_a_client_of_either_era_can_do_it_and_every_promise_holds(verbs: tuple[Verb, ...]) -> None:
    """Something to act upon goes before: a preflight, a commit, and calls that are still in flight."""
    before = story("preflight", "preflight", "commit")
    busy = [Operation(10 + number, number, "preflight", 0.0, number, number, False) for number in range(2)]
    acts = [
        Operation(20 + number, number % 2, verb, 0.01, number // 2, number // 2, True)
        for number, verb in enumerate(verb for verb in verbs for _ in range(6))
    ]
    report = run_world(Script(3, PAIR, (*before, *busy, *acts), (), 0.2), keeps_trace=True)
    assert report.failure == ""
    assert report.operations == len(before) + len(busy) + len(acts)
    assert report.host_writes >= 1


MISHAPS: dict[str, Mishap] = {
    "a rule": Mishap(0, "rule", point=f"host.after:{UPDATE}", do="drop", nth=1, times=2),
    "a slow rule": Mishap(0, "rule", point=f"host.before:{UPDATE}", do="delay", seconds=31.0),
    "a point of the write": Mishap(0, "crash-point", point="write.commit.begun", nth=1),
    "the disk's last deed": Mishap(0, "disk-crash", nth=12),
    "the disk's last deed before the power is cut": Mishap(0, "disk-crash", nth=12, is_power_cut=True),
    "a full disk": Mishap(0, "disk-refusal", do="full", nth=20, times=3),
    "the machine at some moment": Mishap(0, "crash", at_s=1.2),
    "the power at some moment": Mishap(0, "crash", at_s=1.2, is_power_cut=True),
    "the clock": Mishap(0, "jump", at_s=1.2, seconds=601.0),
}


@pytest.mark.parametrize("name", MISHAPS)
def test_whatever_goes_wrong_no_promise_is_broken(name: str) -> None:
    operations = story("preflight", "commit", "replay", "preflight", "commit", "read")
    report = run_world(Script(5, PAIR, operations, (MISHAPS[name],), 0.02), keeps_trace=True)
    assert report.failure == ""
    assert report.operations == len(operations)


def test_every_kind_of_mishap_is_among_them() -> None:
    assert {mishap.kind for mishap in MISHAPS.values()} == set(get_args(MishapKind))
