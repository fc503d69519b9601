"""Fault plans: which visit is struck, and what a bad plan file is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.endpoints import ENDPOINTS
from kernel.faults.plan import DELAY_S_MAX, RULES_MAX, FaultPlan, PlanInvalid, Rule, read_plan, read_rule
from kernel.faults.points import HOST_POINTS, POINTS, host_point

UPDATE = "host.before:/api/block/updateBlock"


def struck(plan: FaultPlan, visits: int, point: str = UPDATE, **call: str) -> list[int]:
    return [number for number in range(1, visits + 1) if plan.visit(point, **call)]


@pytest.mark.parametrize(
    ("nth", "times", "expected"),
    [
        (1, 1, [1]),
        (2, 1, [2]),
        (1, 3, [1, 2, 3]),
        (3, 2, [3, 4]),
        (1, None, [1, 2, 3, 4, 5]),
        (4, None, [4, 5]),
        (6, 1, []),
    ],
)
def test_a_rule_strikes_from_its_nth_visit_on_so_many_times(nth: int, times: int | None, expected: list[int]) -> None:
    assert struck(FaultPlan.of([Rule(UPDATE, "drop", nth=nth, times=times)]), 5) == expected


@pytest.mark.parametrize(
    ("point", "visited", "matches"),
    [
        (UPDATE, UPDATE, True),
        ("host.before:/api/block/*", UPDATE, True),
        ("host.*:/api/block/updateBlock", UPDATE, True),
        ("host.after:/api/block/*", UPDATE, False),
        ("write.*", "write.commit.begun", True),
    ],
)
def test_a_point_may_be_a_pattern(point: str, visited: str, matches: bool) -> None:
    assert bool(FaultPlan.of([Rule(point, "drop")]).visit(visited)) is matches


def test_a_rule_may_be_about_one_tool_action_and_counts_only_its_calls() -> None:
    plan = FaultPlan.of([Rule(UPDATE, "drop", nth=2, tool="block", action="update")])
    assert not plan.visit(UPDATE, tool="block", action="replace")
    assert not plan.visit(UPDATE)
    assert not plan.visit(UPDATE, tool="block", action="update")
    assert plan.visit(UPDATE, tool="block", action="update")


def test_several_rules_strike_in_the_plans_order_and_each_counts_for_itself() -> None:
    slow, lost = Rule(UPDATE, "delay", seconds=1.0, times=None), Rule(UPDATE, "drop", nth=2)
    plan = FaultPlan.of([slow, lost])
    assert [plan.visit(UPDATE) for _ in range(3)] == [[slow], [slow, lost], [slow]]
    assert [row["visits"] for row in plan.describe()] == [3, 3]
    plan.clear()
    assert plan.is_empty


def test_every_endpoint_has_a_point_before_and_after_its_effect() -> None:
    for path in ENDPOINTS:
        assert host_point(path, "before") in POINTS
        assert host_point(path, "after") in POINTS
    assert len(HOST_POINTS) == 2 * (len(ENDPOINTS) + 1)


RULES = [
    {"point": UPDATE, "do": "hold", "name": "u"},
    {"point": "host.after:/api/block/*", "do": "drop", "nth": 2, "times": 3, "tool": "block", "action": "update"},
    {"point": UPDATE, "do": "fail", "status": 503, "message": "busy", "times": None},
    {"point": UPDATE, "do": "fail", "code": -1},
    {"point": "write.commit.written", "do": "crash"},
    {"point": "http.accepted", "do": "delay", "seconds": 0.25},
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RULES),
        json.dumps({"rules": RULES}),
        json.dumps(RULES, indent=3),
        "\n\n" + json.dumps({"rules": RULES}, indent=1),
    ],
)
def test_a_plan_file_is_read_and_told_again(text: str) -> None:
    rules = read_plan(text)
    assert [rule.do for rule in rules] == ["hold", "drop", "fail", "fail", "crash", "delay"]
    assert read_plan(json.dumps([rule.as_json() for rule in rules])) == rules


def test_an_empty_plan_is_a_plan() -> None:
    assert read_plan(" [ ] ") == read_plan('{"rules": []}') == []


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("x", "a rule is an object"),
        ({"point": UPDATE, "do": "hold", "colour": 1}, "unknown field 'colour'"),
        ({"point": UPDATE}, "do must be one of delay, hold, fail, drop, crash, not None"),
        ({"point": UPDATE, "do": "melt"}, "do must be one of"),
        ({"do": "drop"}, "point is missing"),
        ({"point": "host.before:/api/block/nothing", "do": "drop"}, "no fault point is named"),
        ({"point": "hots.*", "do": "drop"}, "no fault point is named"),
        ({"point": UPDATE, "do": "drop", "seconds": 1}, "'seconds' means nothing to 'drop'"),
        ({"point": UPDATE, "do": "drop", "nth": 0}, "nth must be a whole number from 1 on"),
        ({"point": UPDATE, "do": "drop", "nth": True}, "nth must be a whole number from 1 on"),
        ({"point": UPDATE, "do": "drop", "times": 1.5}, "times must be a whole number from 1 on"),
        ({"point": UPDATE, "do": "fail", "code": "x"}, "code must be a whole number"),
        ({"point": UPDATE, "do": "fail", "status": 99}, "status must be a whole number from 100 on"),
        ({"point": "write.commit.begun", "do": "drop"}, "only an answer can be dropped"),
        ({"point": UPDATE, "do": "drop", "tool": 5}, "tool must be a text"),
        ({"point": UPDATE, "do": "hold", "name": None}, "name must be a text"),
        ({"point": UPDATE, "do": "delay"}, "seconds must be a number"),
        ({"point": UPDATE, "do": "delay", "seconds": True}, "seconds must be a number"),
        ({"point": UPDATE, "do": "delay", "seconds": -1}, "seconds must be 0 to 3600"),
        ({"point": UPDATE, "do": "delay", "seconds": DELAY_S_MAX + 1}, "seconds must be 0 to 3600"),
    ],
)
def test_a_wrong_rule_is_told_with_its_line_and_reason(rule: Any, reason: str) -> None:
    text = "[\n" + json.dumps(RULES[0]) + ",\n\n" + json.dumps(rule) + "\n]"
    with pytest.raises(PlanInvalid, match=reason) as caught:
        read_plan(text)
    assert caught.value.line == 4
    with pytest.raises(PlanInvalid) as single:
        read_rule(rule)
    assert single.value.line == 1


def test_the_longest_delay_is_allowed() -> None:
    assert read_rule({"point": UPDATE, "do": "delay", "seconds": DELAY_S_MAX}).seconds == DELAY_S_MAX


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("[\n{,\n]", 2, "not JSON"),
        ("", 1, "not JSON"),
        ('{"plan": []}', 1, "a plan is an array of rules"),
        ("5", 1, "a plan is an array of rules"),
        ('{"rules": [], "more": 1}', 1, "more than rules"),
    ],
)
def test_what_is_no_plan_is_told_why(text: str, line: int, reason: str) -> None:
    with pytest.raises(PlanInvalid, match=reason) as caught:
        read_plan(text)
    assert caught.value.line == line


def test_a_plan_is_bounded() -> None:
    plan = FaultPlan.of(Rule(UPDATE, "drop") for _ in range(RULES_MAX))
    with pytest.raises(PlanInvalid):
        plan.add(Rule(UPDATE, "drop"))
