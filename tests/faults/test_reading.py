"""Plan files in JSON and TOML: read, told again, and what a wrong one is told: its line and its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.faults.deeds import DEEDS
from kernel.faults.limits import DELAY_S_MAX, RULES_MAX, STORM_MAX
from kernel.faults.plan import FaultPlan, PlanInvalid, Rule
from kernel.faults.points import FAMILY_OF
from kernel.faults.reading import form_of, read_document, read_plan, read_rule

UPDATE = "host.before:/api/block/updateBlock"
RULES = [
    {"point": UPDATE, "do": "hold", "name": "u"},
    {"point": "host.after:/api/block/*", "do": "drop", "nth": 2, "times": 3, "tool": "block", "action": "update"},
    {"point": UPDATE, "do": "fail", "status": 503, "message": "busy", "times": None},
    {"point": UPDATE, "do": "fail", "code": -1},
    {"point": "write.commit.written", "do": "crash"},
    {"point": "http.accepted", "do": "delay", "seconds": 0.25},
]
TOML = """\
description = "Two rules."
good_client = "Nothing."
serve = ["--admitted-max", "1"]

[[rules]]
point = "host.before:/api/block/updateBlock"
do = "hold"
name = "u"

[[rules]]
point = "host.after:/api/block/*"
do = "drop"
times = 0
"""


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RULES),
        json.dumps({"rules": RULES}),
        json.dumps({"serve": ["["], "description": "[]", "rules": RULES}),
        json.dumps(RULES, indent=3),
        "\n\n" + json.dumps({"rules": RULES}, indent=1),
    ],
)
def test_a_plan_file_is_read_and_told_again(text: str) -> None:
    rules = read_plan(text)
    assert [rule.do for rule in rules] == ["hold", "drop", "fail", "fail", "crash", "delay"]
    assert read_plan(json.dumps([rule.as_json() for rule in rules])) == rules
    assert read_plan(json.dumps(FaultPlan(rules).as_json())) == rules


def test_a_plan_may_be_toml_where_nought_times_is_for_ever() -> None:
    document = read_document(TOML, "toml")
    assert document.rules == (Rule(UPDATE, "hold", name="u"), Rule("host.after:/api/block/*", "drop", times=None))
    assert (document.description, document.good_client, document.serve) == (
        "Two rules.",
        "Nothing.",
        ("--admitted-max", "1"),
    )
    assert (form_of("a.TOML"), form_of("a.json"), form_of("a")) == ("toml", "json", "json")


def test_an_empty_plan_is_a_plan() -> None:
    assert read_plan(" [ ] ") == read_plan('{"rules": []}') == read_plan("rules = []", "toml") == []


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("x", "a rule is an object"),
        ({"point": UPDATE, "do": "hold", "colour": 1}, "unknown field 'colour'"),
        ({"point": UPDATE}, "do must be one of delay, hold, crash, fail, .*, not None"),
        ({"point": UPDATE, "do": "melt"}, "do must be one of"),
        ({"point": UPDATE, "do": ["drop"]}, "do must be one of"),
        ({"do": "drop"}, "point is missing"),
        ({"point": "host.before:/api/block/nothing", "do": "drop"}, "no fault point is named"),
        ({"point": "hots.*", "do": "drop"}, "no fault point is named"),
        ({"point": UPDATE, "do": "drop", "seconds": 1}, "'seconds' means nothing to 'drop'"),
        ({"point": UPDATE, "do": "drop", "nth": 0}, "nth must be a whole number from 1 on"),
        ({"point": UPDATE, "do": "drop", "nth": True}, "nth must be a whole number from 1 on"),
        ({"point": UPDATE, "do": "drop", "times": 1.5}, "times must be a whole number from 1 on"),
        ({"point": UPDATE, "do": "drop", "times": 0}, "times must be a whole number from 1 on"),
        ({"point": UPDATE, "do": "drop", "session": 0}, "session must be a session's id or its number from 1 on"),
        ({"point": UPDATE, "do": "drop", "phase": "maybe"}, "phase must be one of preflight, commit, plain"),
        ({"point": UPDATE, "do": "drop", "effect": "none"}, "effect must be one of read, write"),
        ({"point": "http.head", "do": "drop", "effect": "read"}, "'effect' means nothing at http.head"),
        ({"point": "http.head", "do": "drop", "phase": "plain"}, "'phase' means nothing at http.head"),
        ({"point": UPDATE, "do": "drop", "probability": 0}, "probability must be a number above 0, at most 1"),
        ({"point": UPDATE, "do": "drop", "probability": 1.1}, "probability must be a number above 0, at most 1"),
        ({"point": UPDATE, "do": "drop", "seed": "x"}, "seed must be a whole number"),
        ({"point": UPDATE, "do": "fail", "code": "x"}, "code must be a whole number"),
        ({"point": UPDATE, "do": "fail", "status": 99}, "status must be a whole number, 100 to 599"),
        ({"point": UPDATE, "do": "fail", "status": 600}, "status must be a whole number, 100 to 599"),
        ({"point": "write.commit.begun", "do": "drop"}, "only an answer can be dropped"),
        ({"point": "write.commit.begun", "do": "cut"}, "only a connection can be cut"),
        ({"point": UPDATE, "do": "drop", "tool": 5}, "tool must be a text"),
        ({"point": "http.accepted", "do": "drop", "tool": "fs"}, "'tool' means nothing at http.accepted"),
        ({"point": UPDATE, "do": "hold", "name": None}, "name must be a text"),
        ({"point": UPDATE, "do": "delay"}, "'delay' needs 'seconds'"),
        ({"point": UPDATE, "do": "delay", "seconds": True}, "seconds must be a number"),
        ({"point": UPDATE, "do": "delay", "seconds": float("nan")}, "seconds must be a number"),
        ({"point": UPDATE, "do": "delay", "seconds": 10**400}, "seconds must be 0 to"),
        ({"point": UPDATE, "do": "delay", "seconds": -1}, "seconds must be 0 to"),
        ({"point": UPDATE, "do": "delay", "seconds": DELAY_S_MAX + 1}, "seconds must be 0 to 3600"),
        ({"point": UPDATE, "do": "expire", "what": "milk"}, "what must be one of leases, sessions"),
        ({"point": "http.head", "do": "cut", "how": "axe"}, "how must be one of fin, rst"),
        ({"point": UPDATE, "do": "list_changed", "count": STORM_MAX + 1}, "count must be a whole number, 1 to 1000"),
        ({"point": "ledger.begin.after", "do": "disk_full"}, "only before a write can the disk be full"),
        ({"point": "host.before:/api/block/getBlockKramdown", "do": "read_only"}, "only before a write"),
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


@pytest.mark.parametrize("deed", DEEDS.values(), ids=list(DEEDS))
def test_a_deed_is_taken_exactly_at_the_points_of_its_families(deed: Any) -> None:
    needed = {"seconds": 1, "what": "leases"}
    for point, family in FAMILY_OF.items():
        rule = {"point": point, "do": deed.name, **{name: needed[name] for name in deed.required}}
        if family in deed.families:
            assert read_rule(rule).do == deed.name
        else:
            assert deed.because, "a refusal gives its reason"
            with pytest.raises(PlanInvalid, match="makes no sense at"):
                read_rule(rule)


def test_the_longest_delay_is_allowed() -> None:
    assert read_rule({"point": UPDATE, "do": "delay", "seconds": DELAY_S_MAX}).seconds == DELAY_S_MAX


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("[\n{,\n]", 2, "not JSON"),
        ("", 1, "not JSON"),
        ("[" * 100_000, 1, "not JSON"),
        ('{"plan": []}', 1, "a plan is an array of rules"),
        ("5", 1, "a plan is an array of rules"),
        ('{"rules": [],\n "more": 1}', 2, "a plan has no 'more'"),
        ('{"rules": 5}', 1, "rules must be an array"),
        ('{"rules": [],\n\n"description": 5}', 3, "description must be a text"),
        ('{"rules": [],\n"serve": [5]}', 2, "serve must be an array of texts"),
        ('{"rules": [],\n"must_recover": 0}', 2, "must_recover must be true or false"),
        (json.dumps([RULES[0]] * (RULES_MAX + 1)), 1, "at most 1000 rules"),
        ('[{"point": "http.head",\n"do": "cut",\n"how": "axe"}]', 3, "how must be"),
    ],
)
def test_what_is_no_plan_is_told_why(text: str, line: int, reason: str) -> None:
    with pytest.raises(PlanInvalid, match=reason) as caught:
        read_plan(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ('do = "hold"', 'do = "hod"', 7, "do must be one of"),
        ('do = "hold"', "do = ", 7, "not TOML"),
        ("times = 0", "times = -1", 13, "times must be"),
        ('do = "drop"', 'do = "cut"', 11, "only a connection can be cut"),
        ('description = "Two', 'descripton = "Two', 1, "a plan has no 'descripton'"),
        ('name = "u"', 'nome = "u"', 8, "unknown field 'nome'"),
        ("[[rules]]", "[[rule]]", 1, "a plan is an array of rules"),
        (TOML, "\nrules = [{point = 'http.head', do = 'melt'}]", 2, "do must be one of"),
        (TOML, "x = '''", 1, "not TOML"),
    ],
)
def test_a_wrong_toml_plan_is_told_its_line(old: str, new: str, line: int, reason: str) -> None:
    with pytest.raises(PlanInvalid, match=reason) as caught:
        read_document(TOML.replace(old, new), "toml")
    assert caught.value.line == line


def test_a_rule_that_does_not_even_equal_itself_is_found_all_the_same() -> None:
    """NaN is JSON to Python's reader."""
    with pytest.raises(PlanInvalid, match="seconds") as caught:
        read_plan('{"rules":\n\n [{"point": "write.commit.begun", "do": "delay", "seconds": NaN}]}')
    assert caught.value.line == 3
