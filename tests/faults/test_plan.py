"""Fault plans: which visit is struck, for whom, and how a plan is built in Python."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.endpoints import ENDPOINTS
from kernel.faults.calls import NOBODY, CallFacts, facts_of_request
from kernel.faults.limits import RULES_MAX
from kernel.faults.plan import FaultPlan, PlanInvalid, Rule
from kernel.faults.points import FAMILIES, FAMILY_OF, HOST_POINTS, POINTS, effect_of, host_point

UPDATE = "host.before:/api/block/updateBlock"


def struck(plan: FaultPlan, visits: int, point: str = UPDATE, call: CallFacts = NOBODY) -> list[int]:
    return [number for number in range(1, visits + 1) if plan.visit(point, call)]


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
    assert bool(FaultPlan.of([Rule(point, "hold")]).visit(visited, NOBODY)) is matches


def test_a_rule_may_be_about_one_tool_action_and_counts_only_its_calls() -> None:
    plan = FaultPlan.of([Rule(UPDATE, "drop", nth=2, tool="block", action="update")])
    assert not plan.visit(UPDATE, CallFacts("block", "replace"))
    assert not plan.visit(UPDATE, NOBODY)
    assert not plan.visit(UPDATE, CallFacts("block", "update"))
    assert plan.visit(UPDATE, CallFacts("block", "update"))


@pytest.mark.parametrize(
    ("fields", "call", "matches"),
    [
        ({"tool": "*"}, CallFacts("fs", "ls"), True),
        ({"tool": "*"}, NOBODY, False),
        ({"tool": "f*", "action": "l?"}, CallFacts("fs", "ls"), True),
        ({"tool": "f*", "action": "r*"}, CallFacts("fs", "ls"), False),
        ({"phase": "preflight"}, CallFacts("fs", "rm", {"validateOnly": True, "requestId": "x"}), True),
        ({"phase": "commit"}, CallFacts("fs", "rm", {"requestId": "x"}), True),
        ({"phase": "commit"}, CallFacts("fs", "rm", {}, submitted={"requestId": "x"}), True),
        ({"phase": "commit"}, CallFacts("fs", "rm", {"requestId": 5}), False),
        ({"phase": "plain"}, CallFacts("fs", "ls"), True),
        ({"phase": "plain"}, NOBODY, False),
        ({"effect": "write"}, NOBODY, True),
        ({"effect": "read"}, NOBODY, False),
    ],
)
def test_a_rule_may_be_about_a_kind_of_call(fields: dict[str, Any], call: CallFacts, matches: bool) -> None:
    assert bool(FaultPlan.of([Rule(UPDATE, "hold", **fields)]).visit(UPDATE, call)) is matches


@pytest.mark.parametrize(
    ("point", "effect"),
    [
        (UPDATE, "write"),
        ("host.after:/api/block/getBlockKramdown", "read"),
        ("host.before:static", "read"),
        ("write.commit.begun", None),
    ],
)
def test_host_points_know_what_their_calls_do(point: str, effect: str | None) -> None:
    assert effect_of(point) == effect


def test_a_pattern_means_the_points_where_its_deed_makes_sense() -> None:
    plan = FaultPlan.of([Rule("host.before:*", "disk_full", times=None)])
    assert plan.visit(UPDATE, NOBODY)
    assert not plan.visit("host.before:/api/block/getBlockKramdown", NOBODY)


@pytest.mark.parametrize(("session", "expected"), [("b", [2, 4]), (1, [1, 3]), (2, [2, 4]), (3, []), ("c", [])])
def test_a_rule_may_be_about_one_session_by_its_id_or_its_number(session: str | int, expected: list[int]) -> None:
    plan = FaultPlan.of([Rule(UPDATE, "drop", times=None, session=session)])
    calls = [CallFacts(session=name) for name in ("a", "b", "a", "b")]
    assert [number for number, call in enumerate(calls, 1) if plan.visit(UPDATE, call)] == expected
    assert not plan.visit(UPDATE, NOBODY), "a call without a session is nobody's"


def test_chance_follows_from_the_seed_alone() -> None:
    first = struck(FaultPlan.of([Rule(UPDATE, "drop", times=None, probability=0.3, seed=7)]), 1000)
    assert first == struck(FaultPlan.of([Rule(UPDATE, "drop", times=None, probability=0.3, seed=7)]), 1000)
    assert first != struck(FaultPlan.of([Rule(UPDATE, "drop", times=None, probability=0.3, seed=8)]), 1000)
    assert 230 < len(first) < 370
    assert struck(FaultPlan.of([Rule(UPDATE, "drop", times=3, probability=0.3, seed=7)]), 1000) == first[:3]


def test_several_rules_strike_in_the_plans_order_and_each_counts_for_itself() -> None:
    slow, lost = Rule(UPDATE, "delay", seconds=1.0, times=None), Rule(UPDATE, "drop", nth=2, name="lost")
    plan = FaultPlan.of([slow, lost])
    assert [plan.visit(UPDATE, NOBODY) for _ in range(3)] == [[slow], [slow, lost], [slow]]
    assert [(row["visits"], row["struck"]) for row in plan.describe()] == [(3, 3), (3, 1)]
    assert (plan.struck("lost"), plan.struck(""), plan.struck("none")) == (1, 3, 0)
    plan.clear()
    assert plan.is_empty


def test_every_endpoint_has_a_point_before_and_after_its_effect() -> None:
    for path in ENDPOINTS:
        assert host_point(path, "before") in POINTS
        assert host_point(path, "after") in POINTS
    assert len(HOST_POINTS) == 2 * (len(ENDPOINTS) + 1)


def test_every_point_has_a_family_and_every_family_a_point() -> None:
    assert set(FAMILY_OF) == POINTS
    assert set(FAMILY_OF.values()) == set(FAMILIES)


def test_a_plan_is_bounded_and_takes_all_rules_or_none() -> None:
    plan = FaultPlan.of(Rule(UPDATE, "drop") for _ in range(RULES_MAX - 1))
    with pytest.raises(PlanInvalid):
        plan.extend([Rule(UPDATE, "drop")] * 2)
    assert len(plan.rules) == RULES_MAX - 1
    plan.add(Rule(UPDATE, "drop"))
    with pytest.raises(PlanInvalid):
        plan.add(Rule(UPDATE, "drop"))


def test_a_plan_can_be_said_in_python() -> None:
    plan = (
        FaultPlan()
        .at("write.commit.checked").for_tool("block", "update").nth(2).hold("x")
        .at(UPDATE).for_session(2).times(None).fail(status=503)
        .at(UPDATE).for_tool("fs").named("n").times(3).fail(code=-1, message="no")
        .at("http.request.read").sometimes(0.5, seed=3).duplicate()
        .at("http.request.read").times(2).sometimes(0.25).delay(0.5)
        .at("host.after:/api/block/*").drop()
        .at("http.closing").cut("fin")
        .at("http.answer.before").truncate(5)
        .at("http.answer.before").truncate()
        .at("write.commit.begun").crash()
        .at("ledger.begin.before").disk_full()
        .at("ledger.*.before").read_only()
        .at("host.before:*").stale_index(1)
        .at("host.after:*").shuffle_attributes(4)
        .at("write.commit.checked").edit(text="t")
        .at("http.head").expire("sessions")
        .at("http.request.read").list_changed(9)
        .at("http.accepted").clock(60)
        .at("write.commit.found").cancel()
        .at("write.commit.found").hold()
        .at("host.after:*").for_tool("*").in_phase("commit").on_host("write").drop()
    )  # fmt: skip
    assert plan.rules[:5] == [
        Rule("write.commit.checked", "hold", name="x", nth=2, tool="block", action="update"),
        Rule(UPDATE, "fail", times=None, session=2, status=503),
        Rule(UPDATE, "fail", name="n", times=3, tool="fs", code=-1, message="no"),
        Rule("http.request.read", "duplicate", times=None, probability=0.5, seed=3),
        Rule("http.request.read", "delay", times=2, probability=0.25, seconds=0.5),
    ]
    assert [rule.do for rule in plan.rules[5:]] == [
        "drop", "cut", "truncate", "truncate", "crash", "disk_full", "read_only", "stale_index", "shuffle_attributes",
        "edit", "expire", "list_changed", "clock", "cancel", "hold", "drop",
    ]  # fmt: skip


def test_what_makes_no_sense_is_refused_where_it_is_built() -> None:
    with pytest.raises(PlanInvalid, match="only a connection can be cut"):
        FaultPlan().at("write.commit.begun").cut()


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        (b'{"params":{"name":"fs","arguments":{"action":"ls","path":"/"}}}', ("fs", "ls")),
        (b'{"params":{"name":5,"arguments":[]}}', (None, None)),
        (b'{"params":[]}', (None, None)),
        (b"[1]", (None, None)),
        (b"no json", (None, None)),
        (b"", (None, None)),
    ],
)
def test_a_request_that_was_only_read_says_whose_call_it_is(body: bytes, facts: tuple[str | None, str | None]) -> None:
    call = facts_of_request(body, "s")
    assert (call.tool, call.action, call.session, call.number) == (*facts, "s", None)


def test_a_plan_knows_the_points_that_it_is_about() -> None:
    plan = FaultPlan()
    assert (plan.points, plan.strikes_http) == (frozenset(), False)
    plan.add(Rule("host.before:/api/block/getBlock*", "delay", seconds=0.1))
    assert "host.before:/api/block/getBlockKramdown" in plan.points
    assert "host.after:/api/block/getBlockKramdown" not in plan.points
    assert not plan.strikes_http
    plan.add(Rule("http.*", "delay", seconds=0.1))
    assert "http.closing" in plan.points
    assert plan.strikes_http
    plan.clear()
    assert (plan.points, plan.strikes_http) == (frozenset(), False)
