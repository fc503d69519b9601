"""``lab``: what it prints, its exit codes, and one whole round of run, record and replay on real processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kernel.cli.lab import lab_command
from kernel.lab.process import LabKernel

NAIVE = [sys.executable, "-m", "kernel.lab.examples.naive"]


def lab(*words: str) -> Result:
    return CliRunner().invoke(lab_command, list(words))


def test_the_catalogue_is_listed_and_a_plan_is_shown() -> None:
    assert "commit-answer-dropped" in lab("list").output
    assert lab("list", "busy-*").output.count("\n") == 2
    assert "[[rules]]" in lab("show", "busy-503").output


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("run", "all"), "say which client to run behind --"),
        (("run", "all", "--"), "say which client to run behind --"),
        (("run", "--", "x"), "name a plan, or all"),
        (("run", "nothing", "--", "x"), "no plan is named 'nothing'"),
        (("run", "busy-503", "--json", "/no/such/folder/x", "--", "x"), "its folder does not exist"),
        (("list", "nothing"), "no plan is named"),
        (("record", "--kernel", "ftp://x", "f"), "is not an address"),
        (("replay", __file__), "say where to play it"),
        (("replay", "--kernel", "http://127.0.0.1:1", "--map", "x", __file__), "--map takes OLD=NEW"),
        (("replay", "--kernel", "http://127.0.0.1:1", __file__), "line 1: not JSON"),
        (("replay", "--kernel", "http://127.0.0.1:1", "--plan", "nothing", __file__), "no plan is named"),
    ],
)
def test_wrong_words_are_one_line_and_exit_code_2(words: tuple[str, ...], reason: str) -> None:
    result = lab(*words)
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())


@pytest.mark.wire
def test_a_naive_client_is_found_out_and_the_reports_agree(tmp_path: Path) -> None:
    files = {name: tmp_path / f"report.{name}" for name in ("json", "junit", "html")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    result = lab("run", "commit-answer-dropped", *options, "--", *NAIVE)
    assert result.exit_code == 1
    assert "sent twice" in result.output
    told = json.loads(files["json"].read_text())
    assert told["totals"] == {"ok": 0, "fault": 1, "not reached": 0}
    assert b"sent twice" in files["junit"].read_bytes()
    assert "sent twice" in files["html"].read_text()


CAREFUL = [sys.executable, "-m", "kernel.lab.examples.careful"]


@pytest.mark.wire
def test_a_careful_client_is_clean_even_when_the_kernel_dies() -> None:
    result = lab("run", "crash-after-host-write", "--timeout", "300", "--", *CAREFUL)
    assert (result.exit_code, "1 ok" in result.output) == (0, True), result.output


@pytest.mark.wire
@pytest.mark.slow
def test_a_careful_client_asks_again_when_somebody_edits_between() -> None:
    result = lab("run", "edited-after-preflight", "--timeout", "300", "--", *CAREFUL)
    assert (result.exit_code, "1 ok" in result.output) == (0, True), result.output


@pytest.mark.wire
@pytest.mark.slow
def test_a_command_that_cannot_start_is_exit_code_2() -> None:
    result = lab("run", "busy-503", "--", "./no-such-client")
    assert result.exit_code == 2
    assert "no-such-client" in result.output


@pytest.mark.wire
def test_what_was_recorded_is_replayed_alike_and_differs_under_a_plan(tmp_path: Path) -> None:
    """The same notes in two workspaces: ids differ in each, and a lost answer is the first difference."""
    file, story = tmp_path / "story.jsonl", tmp_path / "story.py"
    story.write_text(STORY)
    (tmp_path / "two").mkdir()
    with LabKernel(tmp_path / "one") as kernel:
        recorded = lab("record", "--kernel", kernel.url, str(file), "--", sys.executable, str(story))
        assert recorded.exit_code == 0, recorded.output
        alike = lab("replay", "--workspace", str(tmp_path / "two"), str(file))
        assert alike.exit_code == 0, alike.output
        assert "every answer is alike" in alike.output
        other = lab("replay", "--kernel", kernel.url, "--plan", "commit-answer-dropped", str(file))
        assert other.exit_code == 1, other.output
        assert "no whole answer" in other.output
        pictures = {form: tmp_path / f"trace.{form}" for form in ("perfetto", "svg")}
        options = [word for form, path in pictures.items() for word in (f"--{form}", str(path))]
        assert lab("trace", "--kernel", kernel.url, *options).exit_code == 0
        assert json.loads(pictures["perfetto"].read_text())["traceEvents"]
        assert pictures["svg"].read_text().startswith("<svg")
        kinds = {json.loads(line)["kind"] for line in lab("trace", "--kernel", kernel.url).output.splitlines()}
        assert {"admitted", "host_call", "fault", "answer"} <= kinds
    gone = lab("trace", "--kernel", kernel.url)
    assert (gone.exit_code, "gives no trace" in gone.output) == (1, True)


STORY = """
import json, os, urllib.request
from kernel.lab.examples.client import Client, credential

def api(path, /, **arguments):
    request = urllib.request.Request(os.environ["LAB_URL"] + "/api/" + path, json.dumps(arguments).encode())
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["data"]

notebook = api("notebook/createNotebook", name="Box")["notebook"]["id"]
document = api("filetree/createDocWithMd", notebook=notebook, path="/Plan", markdown="Alpha")
block = api("block/getChildBlocks", id=document)[0]["id"]
client = Client(os.environ["LAB_MCP"], None)
call = {"action": "update", "id": block, "dataType": "markdown", "data": "new"}
told = client.tool("block", **call, **credential(client.tool("block", **call, validateOnly=True)))
assert told["safety"]["transactionState"] == "committed", told
"""
