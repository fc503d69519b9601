"""A kernel process of one's own: what it can be asked, what it says when it cannot, and how it ends."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from kernel.faults.plan import FaultPlan, Rule
from kernel.lab import process as lab_process
from kernel.lab.process import KernelFailed, LabKernel, environment

READ = "host.before:/api/block/getBlockKramdown"
NOTES: dict[str, str] = {}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabKernel]:
    with LabKernel(tmp_path_factory.mktemp("lab") / "workspace") as kernel:
        NOTES.update(kernel.make_notes())
        yield kernel
        assert kernel.stop() == 0


@pytest.fixture
def kernel(serving: LabKernel) -> Iterator[LabKernel]:
    """The one kernel of these tests, without rules before and after."""
    serving.clear()
    yield serving
    serving.clear()


def read(kernel: LabKernel) -> dict[str, Any]:
    return kernel.tool("block", "get_kramdown", id=NOTES["block"])


@pytest.mark.wire
def test_it_serves_its_notes_and_says_where(kernel: LabKernel) -> None:
    assert kernel.is_running
    assert kernel.pid > 0
    assert kernel.url == f"http://127.0.0.1:{kernel.port}"
    assert kernel.mcp.startswith(kernel.url)
    assert "Alpha text" in read(kernel)["structuredContent"]["kramdown"]
    assert kernel.api("block/getChildBlocks", id=NOTES["document"])[0]["id"] == NOTES["block"]


@pytest.mark.wire
def test_a_rule_may_come_as_words_a_document_a_plan_or_a_file(kernel: LabKernel, tmp_path: Path) -> None:
    rule = {"point": READ, "do": "delay", "seconds": 0, "name": "r"}
    toml, as_json = tmp_path / "plan.toml", tmp_path / "plan.json"
    toml.write_text(f'[[rules]]\npoint = "{READ}"\ndo = "delay"\nseconds = 0\nname = "r"\n')
    as_json.write_text(json.dumps([rule]))
    kernel.fault(READ, "delay", seconds=0, name="r")
    kernel.apply({"rules": [rule]})
    kernel.apply(FaultPlan([Rule(READ, "delay", seconds=0, name="r")]))
    kernel.apply(toml)
    kernel.apply(as_json)
    rules = kernel.rules()
    assert [(one["point"], one["do"], one["name"], one["struck"]) for one in rules] == [(READ, "delay", "r", 0)] * 5
    read(kernel)
    assert {one["struck"] for one in kernel.rules()} == {1}
    kernel.clear()
    assert kernel.rules() == []


@pytest.mark.wire
def test_a_wrong_rule_is_refused_with_its_line_and_none_of_its_plan_is_kept(kernel: LabKernel) -> None:
    with pytest.raises(KernelFailed, match=r"line 1: .*no fault point"):
        kernel.apply({"rules": [{"point": READ, "do": "hold"}, {"point": "no.point", "do": "hold"}]})
    assert kernel.rules() == []


@pytest.mark.wire
def test_a_held_call_is_waited_for_and_let_go(kernel: LabKernel) -> None:
    kernel.fault(READ, "hold", name="here")
    with pytest.raises(TimeoutError, match=r"'here' has struck 0 of 1 times in 0\.01 s"):
        kernel.wait_for("here", timeout_s=0.01)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(read, kernel)
        kernel.wait_for("here")
        assert not answer.done()
        assert (kernel.release("other"), kernel.release("here")) == (0, 1)
        assert "Alpha text" in str(answer.result(30))


@pytest.mark.wire
def test_time_jumps_forward_and_the_trace_is_told_in_both_forms(kernel: LabKernel) -> None:
    since = kernel.trace()[-1]["n"] + 1
    before = kernel.api("system/currentTime")
    kernel.advance(3600)
    assert kernel.api("system/currentTime") - before >= 3_600_000
    read(kernel)
    kinds = [event["kind"] for event in kernel.trace(since)]
    assert kinds.index("admitted") < kinds.index("host_call") < kinds.index("finished")
    assert {event["ph"] for event in kernel.perfetto(since)["traceEvents"]} >= {"M", "X"}


@pytest.mark.wire
def test_what_the_kernel_refuses_is_told_in_its_own_words(kernel: LabKernel) -> None:
    with pytest.raises(KernelFailed, match="notebook/renameNotebook: "):
        kernel.api("notebook/renameNotebook", notebook="20200101000000-zzzzzzz", name="x")
    with pytest.raises(KernelFailed, match="no/such: HTTP 200 "):
        kernel.api("no/such")
    assert kernel.tool("nothing", "read")["isError"] is True


@pytest.mark.wire
async def test_its_methods_are_awaited_under_trio(kernel: LabKernel) -> None:
    assert "Alpha text" in str(await kernel.awaited.tool("block", "get_kramdown", id=NOTES["block"]))
    assert await kernel.awaited.rules() == []
    for name in ("pid", "_request", "nothing"):
        with pytest.raises(AttributeError):
            getattr(kernel.awaited, name)


@pytest.mark.wire
def test_and_under_asyncio(kernel: LabKernel) -> None:
    async def main() -> Any:
        return await kernel.awaited.api("system/version")

    assert asyncio.run(main()) == "3.7.3"


@pytest.mark.wire
def test_a_kernel_that_a_rule_kills_is_seen_dead_and_comes_back_with_its_notes(kernel: LabKernel) -> None:
    port, pid = kernel.port, kernel.pid
    kernel.fault(READ, "crash")
    with pytest.raises(httpx.HTTPError):
        read(kernel)
    assert kernel.wait_dead() in (-signal.SIGKILL, 137)
    assert not kernel.is_running
    kernel.restart()
    assert (kernel.port, kernel.is_running, kernel.pid != pid) == (port, True, True)
    assert "Alpha text" in str(read(kernel))


@pytest.mark.wire
def test_a_kernel_that_does_not_start_is_told_at_once_in_its_own_words(tmp_path: Path) -> None:
    kernel = LabKernel(tmp_path / "workspace", "--no-such-option")
    with pytest.raises(KernelFailed, match=r"did not start: .*No such option"):
        kernel.start()
    assert not kernel.is_running
    kernel.close()


def test_a_kernel_that_says_something_else_has_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is that stands at the interpreter's place."""
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho nonsense\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setattr(lab_process.sys, "executable", str(program))
    kernel = LabKernel(tmp_path / "workspace")
    with pytest.raises(KernelFailed, match="did not start: no word"):
        kernel.start()
    assert not kernel.is_running


def test_a_kernel_that_was_never_started_has_nothing_to_end(tmp_path: Path) -> None:
    kernel = LabKernel(tmp_path)
    assert (kernel.is_running, kernel.stop()) == (False, 0)
    kernel.kill()
    kernel.close()
    for use in (lambda: kernel.pid, kernel.wait_dead):
        with pytest.raises(AssertionError, match="has not been started"):
            use()


def test_what_does_not_end_when_it_is_asked_to_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_process, "END_S_MAX", 0.02)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(1000)"
    kernel = LabKernel(tmp_path)
    kernel._process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE, text=True)
    assert kernel._process.stdout is not None
    assert kernel._process.stdout.readline() == "\n"
    assert kernel.stop() == -signal.SIGKILL
    assert kernel.stop() == -signal.SIGKILL
    kernel._process.stdout.close()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(404, json={"error": {"message": "no controls"}}), "^no controls$"),
        (httpx.Response(502, text="<html>bad</html>"), "^HTTP 502 <html>bad</html>$"),
        (httpx.Response(500, json={"error": "x"}), "^HTTP 500 "),
        (httpx.Response(500, json=[]), "^HTTP 500 "),
    ],
)
def test_a_refused_control_request_gives_its_reason(tmp_path: Path, answer: httpx.Response, words: str) -> None:
    kernel = LabKernel(tmp_path)
    kernel.url = "http://kernel"
    kernel._http = httpx.Client(transport=httpx.MockTransport(lambda request: answer))
    for ask in (kernel.rules, kernel.trace, kernel.perfetto, kernel.clear):
        with pytest.raises(KernelFailed, match=words):
            ask()
    kernel.close()
    assert kernel._http is None


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(401, json={"error": "no"}),
        httpx.Response(400, json={"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}),
        httpx.Response(200, text=""),
    ],
)
def test_a_tool_call_without_a_result_is_told_with_its_answer(tmp_path: Path, answer: httpx.Response) -> None:
    kernel = LabKernel(tmp_path)
    kernel.url, kernel.mcp = "http://kernel", "http://kernel/mcp"
    with httpx.Client(transport=httpx.MockTransport(lambda request: answer)) as kernel._http:
        with pytest.raises(KernelFailed, match=f"^fs.read: HTTP {answer.status_code} "):
            kernel.tool("fs", "read")


def test_only_the_last_lines_of_its_log_are_kept(tmp_path: Path) -> None:
    kernel = LabKernel(tmp_path)
    for number in range(250):
        kernel._keep(f"line {number}\n")
    assert (len(kernel.log), kernel.log[0], kernel.log[-1]) == (200, "line 50", "line 249")


def test_the_environment_of_a_client_is_ours_and_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_TEST", "1")
    assert environment(LAB_URL="u").items() >= {"LAB_TEST": "1", "LAB_URL": "u"}.items()
