"""The verdict table in three more forms: JSON, JUnit XML, and one HTML page that needs nothing else. No I/O."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final
from xml.etree import ElementTree

from kernel.lab.runner import PlanResult

_OUTCOMES: Final = ("ok", "fault", "not reached")
_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --fault: #c62828; --ok: #2e7d32; --note: #8a6d00; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } .sub { opacity: .75; margin: 0 0 1.5rem; }
.sums { display: flex; gap: 1rem; margin: 0 0 1.5rem; flex-wrap: wrap; }
.sum { border: 1px solid var(--line); border-radius: 8px; padding: .5rem 1rem; min-width: 7rem; }
.sum b { display: block; font-size: 1.6rem; line-height: 1.2; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .45rem .6rem;
border-top: 1px solid var(--line); } th { font-weight: 600; } td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.tag { display: inline-block; border-radius: 4px; padding: 0 .45rem; margin: 0 .25rem .2rem 0; color: #fff; font-size: .85em; }
.fault { background: var(--fault); } .ok, .good { background: var(--ok); } .not, .note { background: var(--note); }
details { margin: .2rem 0; } summary { cursor: pointer; opacity: .8; } .why { margin: .1rem 0 .3rem; }
pre { overflow: auto; background: #8881; padding: .6rem; border-radius: 6px; font-size: .85em; max-height: 20rem; }
code { font-size: .92em; }
"""


def as_json(results: Sequence[PlanResult], command: Sequence[str]) -> dict[str, Any]:
    """The whole report as a JSON document."""
    return {
        "client": list(command),
        "totals": totals(results),
        "plans": [plan_as_json(result) for result in results],
    }


def totals(results: Sequence[PlanResult]) -> dict[str, int]:
    counted = Counter(result.judgement.outcome for result in results)
    return {outcome: counted.get(outcome, 0) for outcome in _OUTCOMES}


def plan_as_json(result: PlanResult) -> dict[str, Any]:
    """One line of the report."""
    return {
        "plan": result.plan.name,
        "description": result.plan.document.description,
        "goodClient": result.plan.document.good_client,
        "outcome": result.judgement.outcome,
        "verdicts": [
            {"name": verdict.name, "grade": verdict.grade, "title": verdict.title, "details": list(verdict.details)}
            for verdict in result.judgement.verdicts
        ],
        "struck": result.struck,
        "kernelDeaths": result.deaths,
        "exchanges": result.exchanges,
        "exitCode": result.run.exit_code,
        "ranS": round(result.run.ran_s, 3),
        "output": result.run.output,
        "timeline": result.timeline,
        "trace": result.trace,
    }


def as_junit(results: Sequence[PlanResult], command: Sequence[str]) -> bytes:
    """The report as JUnit XML: a plan is a case, a fault a failure, a plan that was not reached is skipped."""
    counted = totals(results)
    suite = ElementTree.Element(
        "testsuite",
        name="sisyphus-kernel lab",
        tests=str(len(results)),
        failures=str(counted["fault"]),
        skipped=str(counted["not reached"]),
        time=f"{sum(result.run.ran_s for result in results):.3f}",
    )
    for result in results:
        case = ElementTree.SubElement(
            suite, "testcase", classname="lab", name=result.plan.name, time=f"{result.run.ran_s:.3f}"
        )
        faults = [verdict for verdict in result.judgement.verdicts if verdict.grade == "fault"]
        lines = "\n".join(f"{verdict.title}: {detail}" for verdict in faults for detail in verdict.details)
        if faults:
            titles = ", ".join(verdict.title for verdict in faults)
            failure = ElementTree.SubElement(case, "failure", message=_xml(titles), type=faults[0].name)
            failure.text = _xml(lines)
        elif result.judgement.outcome == "not reached":
            ElementTree.SubElement(case, "skipped", message="the client never came to the plan's points")
        ElementTree.SubElement(case, "system-out").text = _xml(result.run.output)
    ElementTree.SubElement(suite, "system-err").text = _xml(" ".join(command))
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def as_html(results: Sequence[PlanResult], command: Sequence[str]) -> bytes:
    """The report as one page."""
    counted = totals(results)
    sums = "".join(
        f'<div class="sum"><b>{number}</b>{html.escape(name)}</div>'
        for name, number in (("plans", len(results)), *counted.items())
    )
    rows = "".join(_row(result) for result in results)
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Laboratory: {html.escape(" ".join(command))}'
        f'</title><meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f'<h1>What the client did</h1><p class="sub"><code>{html.escape(" ".join(command))}</code></p>'
        f'<div class="sums">{sums}</div><table><thead><tr><th>Plan</th><th>Verdict</th><th>What happened</th>'
        f"<th>Struck</th><th>Time</th></tr></thead><tbody>{rows}</tbody></table></html>"
    )
    return page.encode("utf-8", "replace")


def _row(result: PlanResult) -> str:
    document, judgement = result.plan.document, result.judgement
    css = judgement.outcome.split()[0]
    tags = "".join(f'<span class="tag {one.grade}">{html.escape(one.title)}</span>' for one in judgement.verdicts)
    why = "".join(
        f'<div class="why">{html.escape(detail)}</div>' for one in judgement.verdicts for detail in one.details
    )
    lines = "\n".join(
        f"{call['at']:9.3f}  {call['call']}  →  {call['outcome']}"
        + ("" if call["took"] is None else f"  ({call['took']:.3f} s)")
        for call in result.timeline
    )
    told = f"<details><summary>Calls ({len(result.timeline)})</summary><pre>{html.escape(lines)}</pre></details>"
    if result.run.output:
        told += f"<details><summary>Output</summary><pre>{html.escape(result.run.output)}</pre></details>"
    good = f"<details><summary>A good client</summary>{html.escape(document.good_client)}</details>"
    return (
        f'<tr><td><b>{html.escape(result.plan.name)}</b><div class="why">{html.escape(document.description)}</div>{good}'
        f'</td><td><span class="tag {css}">{html.escape(judgement.outcome)}</span><br>{tags}</td><td>{why}{told}</td>'
        f'<td class="n">{result.struck}</td><td class="n">{result.run.ran_s:.1f} s</td></tr>'
    )


def _xml(text: str) -> str:
    """Text without the control characters that XML has no way to say."""
    return "".join(letter for letter in text if letter in "\t\n\r" or " " <= letter <= "\ud7ff" or letter >= "\ue000")
