"""Seeds, findings and the command: what is wrong is refused in one line, what failed is repeated by one."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from kernel.sim import runs
from kernel.sim.command import sim_command
from kernel.sim.limits import SEEDS_MAX
from kernel.sim.runs import Ran, SeedsInvalid, finding, parse_numbers, parse_seeds, replay_line, tally
from kernel.sim.script import write_script


def test_seeds_are_a_range_or_a_number() -> None:
    assert parse_seeds("3..5") == range(3, 6)
    assert parse_seeds("7") == range(7, 8)
    assert len(parse_seeds(f"1..{SEEDS_MAX}")) == SEEDS_MAX


@pytest.mark.parametrize("text", ["", "a..b", "5..3", "-1..4", "1..", f"0..{SEEDS_MAX}"])
def test_what_is_no_range_is_refused_and_said(text: str) -> None:
    with pytest.raises(SeedsInvalid, match=r"\.\.|at most"):
        parse_seeds(text)
    refused = CliRunner().invoke(sim_command, ["--seeds", text])
    assert refused.exit_code == 2
    assert "seed" in refused.output


def test_numbers_are_a_list_or_none_or_all() -> None:
    assert parse_numbers("3,7") == {3, 7}
    assert parse_numbers("none") == frozenset()
    assert parse_numbers(None) is None
    with pytest.raises(SeedsInvalid):
        parse_numbers("3;7")


def test_one_line_repeats_a_small_world() -> None:
    whole = write_script(65)
    assert replay_line(whole, whole) == "python -m kernel sim --seeds 65"
    part = whole.only(operations={3, 7}, mishaps=())
    assert replay_line(part, whole) == "python -m kernel sim --seeds 65 --operations 3,7 --mishaps none"


def test_a_failure_is_made_small_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "failure_of", lambda script: "mark 1 is gone" if script.operations else "")
    found = finding(Ran(5, "", 40, 1, 1, 0.1, "mark 4 is gone"), shrinks=True)
    assert (found.operations, found.mishaps) == (1, 0)
    assert found.replay.startswith("python -m kernel sim --seeds 5 --operations ")
    whole = finding(Ran(5, "", 40, 1, 1, 0.1, "mark 4 is gone"), shrinks=False)
    assert whole.replay == "python -m kernel sim --seeds 5"


def test_the_count_adds_worlds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_seed(seed: int) -> Ran:
        return Ran(seed, "d", 30, 2, 5, 0.5, "broken" if seed == 2 else "")

    monkeypatch.setattr(runs, "run_seed", run_seed)
    told: list[int] = []
    total = tally(range(1, 4), jobs=1, shrinks=False, told=lambda so_far: told.append(so_far.worlds))
    assert told == [1, 2, 3]
    assert (total.worlds, total.operations, total.host_writes) == (3, 90, 15)
    assert total.worlds_per_cpu_s == 2.0
    assert [one.seed for one in total.failures] == [2]
    assert total.as_json()["operationsPerCpuSecond"] == 60.0


def test_the_command_runs_a_part_of_one_seed_and_shows_its_trace() -> None:
    done = CliRunner().invoke(sim_command, ["--seeds", "3", "--operations", "0,1", "--mishaps", "none", "--trace"])
    assert done.exit_code == 0, done.output
    assert "Every promise held" in done.output
    assert "start 1" in done.output
    several = CliRunner().invoke(sim_command, ["--seeds", "3..4", "--trace"])
    assert several.exit_code == 2


def test_the_command_counts_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "run_seed", lambda seed: Ran(seed, "d", 30, 1, 0, 0.1, ""))
    done = CliRunner().invoke(sim_command, ["--seeds", "3..3", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["worlds"] == 1


def test_the_command_ends_with_one_for_a_broken_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "run_seed", lambda seed: Ran(seed, "d", 30, 1, 0, 0.1, "mark 1 is gone"))
    done = CliRunner().invoke(sim_command, ["--seeds", "1..2", "--no-shrink"])
    assert done.exit_code == 1
    assert "mark 1 is gone\n  python -m kernel sim --seeds 1" in done.output


@pytest.mark.slow
def test_shards_find_what_one_process_finds() -> None:
    alone = {ran.seed: ran.digest for ran in runs.run_seeds(range(60, 70), jobs=1)}
    shared = {ran.seed: ran.digest for ran in runs.run_seeds(range(60, 70), jobs=2)}
    assert alone == shared
