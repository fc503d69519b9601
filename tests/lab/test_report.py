"""The report's forms: the same facts in JSON, JUnit XML and one HTML page that needs nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from kernel.lab.catalog import CATALOGUE, read_named
from kernel.lab.report import as_html, as_json, as_junit, totals
from kernel.lab.runner import PlanResult, timeline
from kernel.lab.verdicts import ClientRun, Evidence, judge
from tests.lab.story import Story

COMMAND = ("python", "<my client>.py")


def result(evidence: Evidence, name: str = "busy-503", output: str = "") -> PlanResult:
    run = ClientRun(evidence.run.exit_code, output=output, ran_s=1.5)
    plan = read_named(CATALOGUE / f"{name}.toml")
    return PlanResult(plan, run, judge(evidence), 2, evidence.struck, 0, timeline=timeline(evidence))


def results() -> list[PlanResult]:
    bad, good = Story(), Story()
    bad.lost(bad.commit("1")).ok(bad.commit("2"))
    good.lost(good.commit("1")).ok(good.commit("1"))
    return [
        result(bad.evidence(begun="1 2"), output="<b>\x00\x1b[1m"),
        result(good.evidence(), "busy-429"),
        result(Story().evidence(struck=0), "read-held"),
    ]


def test_the_totals_are_the_outcomes() -> None:
    assert totals(results()) == {"ok": 1, "fault": 1, "not reached": 1}


def test_json_says_everything() -> None:
    told = json.loads(json.dumps(as_json(results(), COMMAND)))
    first = told["plans"][0]
    assert told["client"] == list(COMMAND)
    assert first["outcome"] == "fault"
    assert [verdict["name"] for verdict in first["verdicts"]] == ["sent_twice", "new_id_after_unknown"]
    assert [(call["outcome"], call["took"]) for call in first["timeline"]] == [("no answer", 0.5), ("ok", 0.5)]
    assert "goodClient" in first


def test_junit_has_a_failure_for_a_fault_and_a_skip_for_what_was_not_reached() -> None:
    suite = ElementTree.fromstring(as_junit(results(), COMMAND))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    failure = cases["busy-503"].find("failure")
    assert failure is not None
    assert "sent twice" in (failure.get("message") or "")
    assert cases["busy-429"].find("failure") is None
    assert cases["read-held"].find("skipped") is not None


def test_the_page_stands_alone_and_escapes_what_a_client_prints(tmp_path: Path) -> None:
    page = as_html(results(), COMMAND).decode()
    assert "new request id after an unknown outcome" in page
    assert "&lt;my client&gt;" in page
    assert "<b>\x00" not in page
    assert "src=" not in page
    assert "href=" not in page
