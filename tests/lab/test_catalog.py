"""The catalogue: forty plans and more, each said for people, each strikable, each found by name, pattern or file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.cli.serve import serve_command
from kernel.faults.points import POINTS
from kernel.lab.catalog import ALL, CATALOGUE, PlanUnknown, catalogue, find_plans, read_named

PLANS_MIN = 40


@pytest.mark.parametrize("path", sorted(CATALOGUE.iterdir()), ids=lambda path: path.stem)
def test_a_plan_says_what_happens_and_what_a_good_client_does(path: Path) -> None:
    plan = read_named(path)
    assert plan.document.rules
    assert plan.document.description.endswith(".")
    assert plan.document.good_client.endswith(".")
    for rule in plan.document.rules:
        assert any(rule.point == point or rule._covers(point) for point in POINTS), "no point is ever struck"
    serve_command.make_context("serve", list(plan.document.serve))


def test_there_are_enough_of_them_and_all_means_all() -> None:
    names = [plan.name for plan in catalogue()]
    assert len(names) >= PLANS_MIN
    assert [plan.name for plan in find_plans((ALL,))] == names


def test_plans_are_found_by_name_pattern_and_file_each_once(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text('[{"point": "http.accepted", "do": "drop"}]')
    found = find_plans(("busy-503", "busy-*", str(own), "busy-429"))
    assert [plan.name for plan in found] == ["busy-503", "busy-429", "own"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("nothing", None, "no plan is named 'nothing'"),
        ("missing.toml", None, "No such file"),
        ("bad.toml", b"\n[[rules]]\npoint = 5\n", "line 2: do must be one of"),
        ("bad.json", b"[\n{}]", "line 2: do must be"),
        ("binary.json", b"\xff\xfe", "utf-8"),
        ("huge.toml", b"#" * (1024 * 1024 + 1), "longer than"),
    ],
)
def test_what_is_no_plan_is_told_where_and_why(
    tmp_path: Path, name: str, content: bytes | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(PlanUnknown, match=reason):
        find_plans(("busy-503", name))
