"""The command line: what is refused, and one whole run on a tiny load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernel.bench.command import bench_command
from kernel.bench.independent import parse as parse_wrk
from kernel.bench.lanes import Sweep, words_of_knee
from kernel.bench.session import Wish, shape_for
from kernel.bench.targets import PEERS, TargetFailed, running
from kernel.bench.workloads import NAMES


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nonsense"], "'nonsense' is not one of"),
        (["run", "--connections", "0"], "0 is not in the range 1<=x<=10000"),
        (["run", "--connections", "10001"], "10001 is not in the range"),
        (["run", "--rounds", "101"], "101 is not in the range"),
        (["run", "--seconds", "0"], "0.0 is not in the range"),
        (["run", "--rate", "-1"], "-1.0 is not in the range"),
        (["run", "--peer", "nobody"], "'nobody' is not one of"),
        (["run", "writes", "--url", "http://127.0.0.1:1/mcp"], "writes needs notes of its own"),
        (["run", "trivial", "--url", "http://127.0.0.1:1/mcp", "--arguments", "{"], "--arguments: it is not JSON"),
        (["run", "trivial", "--url", "http://127.0.0.1:1/mcp", "--arguments", "[]"], "a JSON object is expected"),
        (["run", "--json", "nowhere/at/all.json"], "its folder does not exist"),
        (["run", "--read-slots", "5", "--admitted-max", "5"], "at least the sum of all slots"),
        (["lanes", "--loads", "0.5,x"], "--loads 0.5,x: could not convert"),
        (["lanes", "--loads", "0,0.5"], "each load lies between 0 and 100"),
        (["lanes", "--loads", "nan"], "each load lies between 0 and 100"),
        (["lanes", "--service-ms", "0.5"], "0.5 is not in the range"),
        (["compare", "missing.json", "missing.json"], "does not exist"),
    ],
)
def test_wrong_options_are_refused_in_one_line(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(bench_command, arguments)
    assert result.exit_code == 2
    assert words in result.output.splitlines()[-1]


def test_a_broken_report_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    broken, page = tmp_path / "r.json", tmp_path / "r.html"
    for text, words in (
        ('{"format": "x"}', "format: 'sisyphus-bench' is expected"),
        ("{", "r.json:1:2: it is not JSON"),
    ):
        broken.write_text(text)
        for arguments in (["show", str(broken), str(page)], ["compare", str(broken), str(broken)]):
            result = CliRunner().invoke(bench_command, arguments)
            assert result.exit_code == 2
            assert words in result.output.splitlines()[-1]
    broken.write_bytes(b"\xff\xfe")
    assert CliRunner().invoke(bench_command, ["show", str(broken), str(page)]).exit_code == 2
    assert not page.exists()


def test_the_list_names_everything() -> None:
    result = CliRunner().invoke(bench_command, ["list"])
    assert result.exit_code == 0
    assert all(name in result.output for name in (*NAMES, *PEERS))


def test_a_server_that_is_not_there_is_one_line() -> None:
    result = CliRunner().invoke(bench_command, ["run", "trivial", "--url", "http://127.0.0.1:1/mcp"])
    assert result.exit_code == 1
    assert result.output.splitlines()[-1].startswith("Error: ")
    with pytest.raises(TargetFailed, match="an address of the form"):
        running("ftp://x", tool="t", arguments={})


def test_wrks_report_is_read() -> None:
    text = (
        "  Latency Distribution\n     50%  812.00us\n     90%    1.50ms\n     99%    2.00s \nRequests/sec:   9876.5\n"
    )
    assert parse_wrk(text) == {
        "throughputPerS": 9876.5,
        "hadErrors": 0.0,
        "p50Us": 812.0,
        "p90Us": 1500.0,
        "p99Us": 2_000_000.0,
    }
    assert parse_wrk(text + "Non-2xx or 3xx responses: 3")["hadErrors"] == 1.0
    with pytest.raises(ValueError, match="told no rate"):
        parse_wrk("unable to connect")


@pytest.mark.parametrize(
    ("workload", "wish", "rate", "connections", "idle"),
    [
        ("reads", Wish(()), 0.0, 16, 0),
        ("overload", Wish(()), 4_000.0, 256, 0),  # ten times four slots of 10 ms
        ("overload", Wish((), read_slots=2, host_delay_s=0.1), 200.0, 256, 0),
        ("large", Wish(()), 0.0, 2, 0),
        ("idle", Wish((), idle=77), 0.0, 16, 77),
        ("fanout", Wish(()), 0.0, 16, 0),
    ],
)
def test_a_workload_shapes_its_load(workload: str, wish: Wish, rate: float, connections: int, idle: int) -> None:
    shape = shape_for(wish, workload)
    assert (shape.workload, shape.rate_per_s, shape.connections, shape.idle) == (
        workload,
        pytest.approx(rate),
        connections,
        idle,
    )


def test_a_sweep_hands_its_lanes_to_the_kernel() -> None:
    sweep = Sweep("mutation", read_slots=3, mutation_slots=2, admitted_max=9)
    assert sweep.serve == ("--read-slots", "3", "--mutation-slots", "2", "--admitted-max", "9")
    assert (sweep.slots, Sweep("read", read_slots=3).slots) == (2, 3)
    knee = {"measuredPerS": None, "predictedPerS": {"M/M/c": 2.0}}
    assert (
        words_of_knee(knee)
        == "knee (mean time twice the service time): measured past the loads offered; predicted M/M/c 2.0/s"
    )


@pytest.mark.wire
@pytest.mark.slow
def test_a_tiny_run_of_every_kind_gives_reports_that_compare(tmp_path: Path) -> None:
    report, page = tmp_path / "a.json", tmp_path / "a.html"
    load = ["--connections", "2", "--rounds", "1", "--seconds", "0.3", "--warm-up", "0.1", "--idle", "5"]
    files = ["--json", str(report), "--html", str(page)]
    result = CliRunner().invoke(bench_command, ["run", "all", *load, *files])
    assert result.exit_code == 0, result.output
    told = json.loads(report.read_text())
    assert [run["workload"] for run in told["runs"]] == list(NAMES)
    for run in told["runs"]:
        assert not run["rounds"][0]["errors"], run["workload"]
    assert page.read_bytes().startswith(b"<!doctype html>")
    compared = CliRunner().invoke(bench_command, ["compare", "--json", str(report), str(report)])
    assert compared.exit_code == 0
    assert json.loads(compared.output)["verdict"] == "too few rounds"


@pytest.mark.wire
def test_a_tiny_run_measures_reads(tmp_path: Path) -> None:
    report = tmp_path / "a.json"
    load = ["--connections", "2", "--rounds", "1", "--seconds", "0.3", "--warm-up", "0", "--rate", "50"]
    result = CliRunner().invoke(bench_command, ["run", "reads", *load, "--json", str(report)])
    assert result.exit_code == 0, result.output
    (run,) = json.loads(report.read_text())["runs"]
    (one,) = run["rounds"]
    assert (run["target"], run["workload"], run["mode"], run["offeredPerS"]) == ("kernel", "reads", "open", 50.0)
    assert one["endedPerS"]["ok"] > 0
    assert set(one["endedPerS"]) == {"ok"}
    assert one["kinds"]["read"]["ok"]["count"] + one["unfinished"] == one["intended"]


@pytest.mark.wire
@pytest.mark.slow
def test_a_tiny_sweep_tells_measured_and_predicted(tmp_path: Path) -> None:
    report, page = tmp_path / "l.json", tmp_path / "l.html"
    load = ["--loads", "0.3", "--seconds", "0.3", "--service-ms", "5", "--service", "fixed"]
    result = CliRunner().invoke(bench_command, ["lanes", *load, "--json", str(report), "--html", str(page)])
    assert result.exit_code == 0, result.output
    lanes = json.loads(report.read_text())["lanes"]
    assert [lane["lane"] for lane in lanes] == ["read", "mutation"]
    for lane in lanes:
        (point,) = lane["points"]
        assert set(point["predicted"]) == {"M/M/c", "M/D/c", "M/G/c"}
        assert point["measured"]["throughputPerS"] > 0
        assert lane["service"]["meanS"] >= 0.005
    assert b"Knee (mean time twice the service time)" in page.read_bytes()
