"""Reports: what is no report is refused with its place; two of them are compared; one is a page."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from kernel.bench.calls import OK, REFUSED
from kernel.bench.page import as_html
from kernel.bench.plots import Chart, Series, short, ticks
from kernel.bench.report import FORMAT, VERSION, ReportInvalid, compare, parse
from kernel.bench.results import lanes_of, round_as_json, summary
from kernel.bench.session import medians
from kernel.bench.tally import UNFINISHED, Tally


def tally(rate: int, latency_us: int) -> Tally:
    told = Tally()
    for number in range(rate):
        told.record("read", OK, latency_us + number)
        told.record_window((number + 0.5) / rate, OK, latency_us + number)
    told.record("write.commit", OK, 1)
    told.record("read", REFUSED, 50)
    told.record_window(0.95, REFUSED, 50)
    return told


def one_round(rate: int = 100, latency_us: int = 1000) -> dict[str, Any]:
    samples = [{"at": 0.1, "reads": 3, "mutations": 1, "queued": 5, "inFlight": 9, "refused": 0}]
    return round_as_json(
        tally(rate, latency_us),
        samples,
        duration_s=1.0,
        server_s=0.5,
        generator_s=0.1,
        resident_mib=50.0,
        looks_missed=0,
    )


def a_run(rates: list[int], **more: Any) -> dict[str, Any]:
    rounds = [one_round(rate) for rate in rates]
    return {
        "target": "kernel",
        "workload": "reads",
        "mode": "closed",
        "offeredPerS": 0.0,
        "connections": 16,
        "seconds": 1.0,
        "rounds": rounds,
        "summary": summary(rounds),
        "wrk": [{"throughputPerS": 90.0}],
        **more,
    }


def a_lane() -> dict[str, Any]:
    numbers = {
        "throughputPerS": 1.0,
        "refusedPerS": 0.0,
        "failedPerS": 0.0,
        "utilisation": 0.5,
        "queued": 1.0,
        "meanS": 0.02,
        "p50S": 0.02,
        "p99S": 0.1,
    }
    predicted = {"M/M/c": numbers, "M/D/c": {**numbers, "p99S": None}}
    return {
        "lane": "read",
        "options": {"read_slots": 4, "admitted_max": 128, "service": "fixed"},
        "service": {"meanS": 0.02, "cv2": 0.1, "capacityPerS": 200.0},
        "points": [{"load": 0.5, "offeredPerS": 100.0, "measured": numbers, "predicted": predicted}],
        "knee": {"measuredPerS": 150.0, "predictedPerS": {"M/M/c": 160.0}, "capacityPerS": 200.0},
    }


def a_report(*runs: dict[str, Any]) -> dict[str, Any]:
    made = {"at": "2026-01-01", "system": "<Linux>"}
    return {"format": FORMAT, "version": VERSION, "made": made, "runs": list(runs), "lanes": [a_lane()]}


def test_a_round_tells_rates_latencies_and_lanes() -> None:
    told = one_round()
    assert told["endedPerS"] == {"ok": 100.0, "refused": 1.0}
    assert told["intended"] == 101  # the step of an operation is none of its own
    assert told["latencyUs"]["max"] == 1099
    assert told["lanes"] == {"reads": 3, "mutations": 1, "queued": 5, "queuedMax": 5}
    assert told["server"] == {"processorShare": 0.5, "usPerOperation": pytest.approx(4950.5), "residentMiB": 50.0}
    assert told["generator"]["ceilingPerS"] == 1010
    assert [row["ok"] for row in told["windows"]] == [100.0] * 10
    assert told["windows"][-1]["refused"] == 10.0
    assert "latencyWithUnfinishedUs" not in told


def test_what_never_ended_is_not_left_out() -> None:
    open_ones = tally(10, 1000)
    open_ones.record("waiting", UNFINISHED, 9_000_000)
    told = round_as_json(open_ones, [], duration_s=1.0, server_s=0.0, generator_s=0.0, resident_mib=0.0, looks_missed=1)
    assert told["unfinished"] == 1
    assert told["latencyWithUnfinishedUs"]["max"] == 9_000_000
    assert told["latencyUs"]["max"] < 2_000
    assert (told["lanes"], told["generator"]["ceilingPerS"]) == ({}, 0)


def test_a_round_in_which_nothing_ended_has_no_cost_per_operation() -> None:
    told = round_as_json(Tally(), [], duration_s=0.2, server_s=1.0, generator_s=1.0, resident_mib=0.0, looks_missed=0)
    assert told["server"]["usPerOperation"] == 0.0
    assert told["windows"] == [
        {"at": 0.0, "ok": 0.0, "refused": 0.0, "failed": 0.0},
        {"at": 0.1, "ok": 0.0, "refused": 0.0, "failed": 0.0},
    ]
    assert summary([told]) == {}


def test_tallies_of_workers_add_up_and_survive_the_way() -> None:
    one, other = tally(5, 100), tally(7, 300)
    other.errors["closed by the server"] = 2
    one.add(Tally.from_json(json.loads(json.dumps(other.as_json()))))
    assert one.ended() == {OK: 12, REFUSED: 2}
    assert one.of_outcome(OK, without=frozenset({"write.commit"})).total == 12
    assert one.errors == {"closed by the server": 2}


def test_no_samples_tell_no_lanes() -> None:
    assert lanes_of([]) == {}


def test_a_report_is_read_as_it_was_written() -> None:
    report = a_report(a_run([100, 101, 99]))
    assert parse(json.dumps(report), "r.json") == report


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        place: Any = report
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


BROKEN = [
    (put("format", value="x"), "format: 'sisyphus-bench' is expected"),
    (put("version", value=2), "version: this bench reads version 1"),
    (put("made", value=[]), "made: an object is expected"),
    (put("runs", value={}), "runs: a list is expected"),
    (put("runs", 0, value=1), "runs[0]: an object is expected"),
    (put("runs", 0, "target", value=7), "runs[0].target: text is expected"),
    (put("runs", 0, "seconds", value="3"), "runs[0].seconds: a number is expected"),
    (put("runs", 0, "connections", value=True), "runs[0].connections: a number is expected"),
    (put("runs", 0, "summary", value=[]), "runs[0].summary: an object is expected"),
    (put("runs", 0, "summary", "p99Us", value={}), "runs[0].summary.p99Us: median, min and max are expected"),
    (put("runs", 0, "rounds", value=[]), "runs[0].rounds: at least one round is expected"),
    (put("runs", 0, "rounds", 1, value=[]), "runs[0].rounds[1].endedPerS: an object is expected"),
    (
        put("runs", 0, "rounds", 1, "latencyUs", "p99", value="x"),
        "runs[0].rounds[1].latencyUs.p99: a number is expected",
    ),
    (put("runs", 0, "rounds", 0, "windows", value=None), "runs[0].rounds[0].windows: a list is expected"),
    (
        put("runs", 0, "rounds", 0, "samples", value=[{}]),
        "runs[0].rounds[0].samples: rows of numbers with 'at' are expected",
    ),
    (put("lanes", value=3), "lanes: a list is expected"),
    (put("lanes", 0, value=3), "lanes[0]: an object is expected"),
    (put("lanes", 0, "knee", value=3), "lanes[0].knee: an object is expected"),
    (put("lanes", 0, "points", value=3), "lanes[0].points: a list is expected"),
    (put("lanes", 0, "points", 0, value=3), "lanes[0].points[0]: a point with offeredPerS is expected"),
    (put("lanes", 0, "points", 0, "measured", value=3), "lanes[0].points[0].measured: an object is expected"),
]


@pytest.mark.parametrize(("change", "words"), BROKEN, ids=[words for _, words in BROKEN])
def test_a_broken_report_is_refused_with_place_and_reason(change: Callable[[Any], None], words: str) -> None:
    report = copy.deepcopy(a_report(a_run([100, 101, 99])))
    change(report)
    with pytest.raises(ReportInvalid) as caught:
        parse(json.dumps(report), "r.json")
    assert str(caught.value) == f"r.json: {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,\n x}', "r.json:2:2: it is not JSON"),
        ("[" * 100_000, "r.json: it is nested too deeply"),
        ("[]", "r.json: an object is expected"),
    ],
)
def test_what_is_no_json_object_is_refused(text: str, words: str) -> None:
    with pytest.raises(ReportInvalid) as caught:
        parse(text, "r.json")
    assert str(caught.value).startswith(words)


def test_a_comparison_finds_what_became_worse_and_what_is_only_in_one() -> None:
    before = a_report(a_run([100, 101, 99]), a_run([5, 5, 5], workload="large"))
    after = a_report(a_run([50, 51, 49]), a_run([5, 5, 5], workload="writes"))
    told = compare(before, after)
    verdicts = {row["number"]: row["verdict"] for row in told["rows"]}
    assert verdicts["throughputPerS"] == "worse"
    assert told["verdict"] == "worse"
    assert told["onlyBefore"] == [["kernel", "large", "closed", 0.0, 16]]
    assert told["onlyAfter"] == [["kernel", "writes", "closed", 0.0, 16]]


def test_the_same_report_twice_is_not_worse() -> None:
    report = a_report(a_run([100, 101, 99]))
    assert compare(report, report)["verdict"] == "not worse"
    assert compare(report, a_report())["verdict"] == "too few rounds"


def test_a_page_is_one_well_formed_document_that_loads_nothing() -> None:
    silent = a_run([10], workload="idle", mode="open", offeredPerS=50.0)
    silent["rounds"][-1]["idle"] = {"asked": 10_000, "opened": 5_000, "held": 1_024}
    lane = a_lane()
    lane["knee"]["measuredPerS"] = None
    report = {**a_report(a_run([100, 101, 99], target="<b>"), silent), "lanes": [a_lane(), lane]}
    page = as_html(report).decode()
    assert "src=" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "<b>" not in page
    assert "1,024 silent connections kept of 10,000 asked" in page
    assert "measured 150.0/s" in page
    assert "past the loads offered" in page
    for piece in page.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + piece.partition("</svg>")[0] + "</svg>")


@pytest.mark.parametrize(
    ("high", "expected"),
    [
        (1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (7.0, [0, 1, 2, 3, 4, 5, 6, 7]),
        (130.0, [0, 20, 40, 60, 80, 100, 120]),
        (0, [0]),
    ],
)
def test_axes_have_few_round_numbers(high: float, expected: list[float]) -> None:
    assert ticks(high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "words"), [(0.25, "0.25"), (9_999, "9999"), (20_000, "20k"), (2e6, "2M"), (3e9, "3G")]
)
def test_numbers_are_short(value: float, words: str) -> None:
    assert short(value) == words


def test_a_chart_without_points_says_so() -> None:
    assert "no data" in Chart("t", "x", [Series("a", [(1.0, 0.0)], "#000")], log=True).as_svg()
    assert "<circle" in Chart("t", "x", [Series("a", [(1.0, 2.0)], "#000")]).as_svg()


def test_medians_are_told_with_ratios_of_each_round() -> None:
    first, other = a_run([100, 200, 300]), a_run([50, 100, 150], target="peer")
    lines = list(medians([first, other]))
    assert lines[0].startswith("  median   kernel             200.0/s")
    assert "kernel ×2.00 its rate, ×0.50 its cost" in lines[1]
    silent = a_run([100], target="x")
    silent["rounds"][0]["endedPerS"] = {}
    silent["rounds"][0]["server"]["usPerOperation"] = 0.0
    assert list(medians([silent, silent]))[1:] == list(medians([silent]))
