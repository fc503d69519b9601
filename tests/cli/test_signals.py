"""Commands as processes of their own: Ctrl-C, SIGTERM, a kernel that dies, a terminal with somebody at it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import ROOT, Kernel, serving

pytestmark = pytest.mark.slow
WAIT_S_MAX = 60.0
UPDATE = "/api/block/updateBlock"
READ = "/api/block/getBlockKramdown"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with serving(tmp_path_factory.mktemp("signals") / "workspace") as running:
        yield running


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Kernel]:
    """A kernel of the test's own, which it may end."""
    with serving(tmp_path / "workspace") as running:
        yield running


class Command:
    """One command under way."""

    def __init__(self, kernel: Kernel, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kernel", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **kernel.environment()},
        )

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def wait_for(self, words: bytes) -> None:
        assert self.process.stderr is not None
        seen = b""
        while words not in seen:
            line = self.process.stderr.readline()
            assert line, seen
            seen += line

    def ended(self) -> tuple[int, dict[str, Any]]:
        out, err = self.process.communicate(timeout=WAIT_S_MAX)
        assert out, err
        return self.process.returncode, json.loads(out)


def hold(kernel: Kernel, endpoint: str, moment: str = "before") -> None:
    rule = {"point": f"host.{moment}:{endpoint}", "do": "hold", "name": endpoint, "times": 1}
    kernel.emulator("faults", {"rules": [rule]})


def release(kernel: Kernel, endpoint: str) -> None:
    kernel.emulator("faults/release", {"name": endpoint})


def wait_held(kernel: Kernel, endpoint: str) -> None:
    import httpx

    until = time.monotonic() + WAIT_S_MAX
    while time.monotonic() < until:
        rules = httpx.get(f"{kernel.url}/emulator/faults").json()["rules"]
        if any(rule.get("name") == endpoint and rule["held"] for rule in rules):
            return
        time.sleep(0.01)
    raise AssertionError(f"{endpoint} was not called")


def queue(kernel: Kernel) -> dict[str, int]:
    import httpx

    return dict(httpx.get(f"{kernel.url}/sisyphus/health").json()["queue"])


def block_of(kernel: Kernel) -> str:
    return str(kernel.api("block/getChildBlocks", id=kernel.document)[0]["id"])


def update(kernel: Kernel, text: str) -> tuple[str, ...]:
    return ("block", "update", "--id", block_of(kernel), "--data-type", "markdown", "--data", text, "--yes", "--json")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_has_the_read_stopped_and_its_answer_printed(kernel: Kernel, number: int) -> None:
    """R218."""
    hold(kernel, READ)
    command = Command(kernel, "block", "get-kramdown", "--id", block_of(kernel), "--json")
    wait_held(kernel, READ)
    command.signal(number)
    code, told = command.ended()
    assert (code, told["error"]["code"]) == (1, "request_cancelled")
    assert queue(kernel)["cancelledRunning"] == 1  # its host call has not ended
    release(kernel, READ)


def test_a_signal_behind_the_boundary_comes_too_late_and_the_result_is_told(kernel: Kernel) -> None:
    """R220, R222: the write goes on, once, and its own answer is printed."""
    hold(kernel, UPDATE)
    command = Command(kernel, *update(kernel, "New text"))
    wait_held(kernel, UPDATE)
    command.signal(signal.SIGINT)
    command.wait_for(b"Cancelling")
    release(kernel, UPDATE)
    code, told = command.ended()
    assert (code, told["safety"]["transactionState"]) == (0, "committed")
    assert kernel.told("fs", "read", "/Box/Plan")["content"] == "New text"


def test_a_second_signal_ends_the_wait_and_names_the_task(kernel: Kernel) -> None:
    """R251: its caller may go on asking."""
    hold(kernel, UPDATE)
    command = Command(kernel, *update(kernel, "Newer text"))
    wait_held(kernel, UPDATE)
    command.signal(signal.SIGINT)
    command.wait_for(b"Cancelling")
    command.signal(signal.SIGINT)
    code, told = command.ended()
    assert (code, told["error"]["code"], told["writeAttempted"]) == (1, "outcome_unknown", True)
    task_id = told["error"]["taskId"]
    status = json.loads(kernel.run("task", "status", task_id).stdout)
    assert (status["found"], status["committing"]) == (True, True)
    release(kernel, UPDATE)
    until = time.monotonic() + WAIT_S_MAX
    while json.loads(kernel.run("task", "status", task_id).stdout)["state"] != "done":
        assert time.monotonic() < until
    kept = json.loads(kernel.run("task", "result", task_id).stdout)
    assert kept["result"]["structuredContent"]["safety"]["transactionState"] == "committed"


@pytest.mark.parametrize("action", [("get-kramdown",), ("update", "--data-type", "markdown", "--data", "x", "--yes")])
def test_a_signal_ends_a_call_whose_kernel_is_silent_and_says_that_it_was_not_sent(
    kernel: Kernel, action: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command = Command(kernel, "block", *action, "--id", "20240101000000-abcdefg", "--json", "--url", url)
        connection, _ = silent.accept()
        with connection:
            command.signal(signal.SIGINT)
            code, told = command.ended()
    assert (code, told["error"]["code"], told["writeAttempted"]) == (1, "request_cancelled", False)


def test_a_kernel_that_dies_in_the_write_leaves_it_unknown_and_it_is_never_sent_again(mortal: Kernel) -> None:
    """R146, R147."""
    hold(mortal, UPDATE, "after")
    words = update(mortal, "New text")
    command = Command(mortal, *words)
    wait_held(mortal, UPDATE)
    mortal.process.kill()
    code, told = command.ended()
    assert (code, told["error"]["code"]) == (1, "outcome_unknown")
    assert told["error"]["taskId"]
    with serving(mortal.workspace) as again:
        rows = json.loads(again.run("ledger", "list", "--json", "--state", "unknown").stdout)["writes"]
        assert [row["action"] for row in rows] == ["update"]
        credentials = ("--request-id", rows[0]["requestId"], "--expected-state-hash", "abcd")
        replay = again.told(*[word for word in words if word not in ("--yes", "--json")], *credentials, code=1)
        assert replay["error"]["code"] == "outcome_unknown"


def test_an_interrupted_download_leaves_nothing(kernel: Kernel, tmp_path: Path) -> None:
    """R191, R224."""
    big = kernel.workspace / "data" / "assets" / "big.bin"
    big.parent.mkdir(exist_ok=True)
    with big.open("wb") as file:
        file.write(os.urandom(16 << 20))
    target = tmp_path / "out.zip"
    words = ("file", "export-resources", "--paths", "/data/assets", "--output-path", str(target), "--json")
    command = Command(kernel, *words)
    until = time.monotonic() + WAIT_S_MAX
    while not target.exists():
        assert time.monotonic() < until
        assert command.process.poll() is None
    command.signal(signal.SIGSTOP)
    command.signal(signal.SIGINT)
    command.signal(signal.SIGCONT)
    code, told = command.ended()
    if code == 0:
        pytest.skip("the machine was faster than the signal")
    assert told["error"]["code"] == "local_export_cancelled"
    assert not target.exists()


def test_two_kernels_one_after_the_other_are_two_owners_to_a_process_that_runs_on(mortal: Kernel) -> None:
    """R149: the second one serves the same notes at another address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kernel", "stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **mortal.environment()},
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def ask(request_id: int, method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        answer = json.loads(process.stdout.readline())  # type: ignore[union-attr]
        assert answer["id"] == request_id
        return dict(answer["result"])

    def write(request_id: int) -> dict[str, Any]:
        arguments = {"action": "write", "path": "/Box/T", "markdown": "x", "requestId": "abcd"}
        return dict(ask(request_id, "tools/call", name="fs", arguments=arguments)["structuredContent"])

    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    assert ask(0, "initialize", **hello)["instructions"]
    assert write(1)["error"]["code"] == "request_id_expired"
    mortal.process.terminate()
    mortal.process.wait(WAIT_S_MAX)
    assert write(2)["error"]["code"] == "write_coordinator_unavailable"
    with serving(mortal.workspace) as second:
        assert second.url != mortal.url
        assert write(3)["error"]["code"] == "write_coordinator_changed"
        read = ask(4, "tools/call", name="fs", arguments={"action": "read", "path": "/Box/Plan"})
        assert "Alpha" in read["structuredContent"]["content"]
    process.stdin.close()
    assert process.wait(WAIT_S_MAX) == 0
    process.stdout.close()


def test_a_signal_ends_a_stdio_server_after_its_calls_were_cancelled(kernel: Kernel) -> None:
    """R219."""
    hold(kernel, READ)
    process = subprocess.Popen(
        [sys.executable, "-m", "kernel", "stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **kernel.environment()},
    )
    assert process.stdin is not None
    arguments = {"action": "get_kramdown", "id": block_of(kernel)}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "block", "arguments": arguments}}
    process.stdin.write(json.dumps(call).encode() + b"\n")
    process.stdin.flush()
    wait_held(kernel, READ)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=WAIT_S_MAX)
    assert json.loads(out)["result"]["structuredContent"]["error"]["code"] == "request_cancelled"
    assert process.returncode == 0
    release(kernel, READ)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [(b"y\n", 0, b"committed"), (b"n\n", 1, b"Nothing was written"), (b"\x03", 1, b"Nothing was written")],
)
def test_somebody_at_a_terminal_is_asked(kernel: Kernel, typed: bytes, code: int, words: bytes) -> None:
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        command = [sys.executable, "-m", "kernel", "fs", "write", f"/Box/T{code}{len(words)}{typed[0]}", "x"]
        os.execve(sys.executable, command, {**os.environ, **kernel.environment()})
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(terminal, 4096)
    os.write(terminal, typed)
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 4096):
            seen += piece
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert (os.waitstatus_to_exitcode(status), words in seen) == (code, True), seen
