"""Reported faults of commands and stdio servers: parents that die, closed pipes, old consoles (I01, I03, B09)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.cli.running import ROOT, Kernel, serving

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")]
READ = "/api/block/getBlockKramdown"
UPDATE = "/api/block/updateBlock"
WAIT_S_MAX = 60.0
# The case says 2 s; a busy machine needs that long to start an interpreter.
END_S_MAX = 20.0
NAME = "笔记 ✓"
OLD_CONSOLES = [
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "cp936"},
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with serving(tmp_path_factory.mktemp("console") / "workspace") as running:
        running.api("notebook/createNotebook", name=NAME)
        yield running


def environment(kernel: Kernel, **more: str) -> dict[str, str]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LC_", "LANG"))}
    return {**plain, **kernel.environment(), **more}


def stdio(kernel: Kernel, **options: Any) -> subprocess.Popen[bytes]:
    options.setdefault("env", environment(kernel))
    options.setdefault("stdin", subprocess.PIPE)
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-m", "kernel", "stdio"], cwd=ROOT, **options)


def call(request_id: int, tool: str, **arguments: Any) -> bytes:
    message = {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def hold(kernel: Kernel, endpoint: str) -> None:
    kernel.emulator(
        "faults", {"rules": [{"point": f"host.before:{endpoint}", "do": "hold", "name": endpoint, "times": 1}]}
    )


def wait_held(kernel: Kernel, endpoint: str, *, held: bool = True) -> None:
    until = time.monotonic() + WAIT_S_MAX
    while time.monotonic() < until:
        rules = httpx.get(f"{kernel.url}/emulator/faults").json()["rules"]
        if any(rule.get("name") == endpoint and rule["held"] for rule in rules) is held:
            return
        time.sleep(0.02)
    raise AssertionError(f"{endpoint} held: {not held}")


def release(kernel: Kernel, endpoint: str) -> None:
    kernel.emulator("faults/release", {"name": endpoint})


def block_of(kernel: Kernel) -> str:
    return str(kernel.api("block/getChildBlocks", id=kernel.document)[0]["id"])


def test_i01_the_end_of_input_ends_the_process(kernel: Kernel) -> None:
    for _ in range(5):
        process = stdio(kernel, stdin=subprocess.DEVNULL)
        out, _ = process.communicate(timeout=END_S_MAX)
        assert (process.returncode, out) == (0, b"")


def test_i01_a_closed_output_ends_the_process_while_its_answer_is_pending(kernel: Kernel) -> None:
    hold(kernel, READ)
    process = stdio(kernel)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(call(1, "block", action="get_kramdown", id=block_of(kernel)))
    process.stdin.flush()
    wait_held(kernel, READ)
    process.stdout.close()
    process.wait(END_S_MAX)
    process.stdin.close()
    release(kernel, READ)


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-m", "kernel", "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(sys.argv[1].encode() + b"\\n")
child.stdin.flush()
print(child.pid, flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("endpoint", [READ, UPDATE])
def test_i01_a_parent_that_is_killed_leaves_no_orphan_and_its_write_is_made_once(kernel: Kernel, endpoint: str) -> None:
    arguments: dict[str, Any] = {"action": "get_kramdown", "id": block_of(kernel)}
    if endpoint == UPDATE:
        arguments = {"action": "update", "id": block_of(kernel), "dataType": "markdown", "data": "Orphaned text"}
        words = ("block", "update", "--id", arguments["id"], "--data-type", "markdown", "--data", "Orphaned text")
        told = kernel.told(*words, "--validate-only")
        arguments |= {"requestId": told["requestId"], "expectedStateHash": told["expectedStateHash"]}
    hold(kernel, endpoint)
    line = call(1, "block", **arguments).decode().strip()
    command = [sys.executable, "-c", PARENT, line]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment(kernel))
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    wait_held(kernel, endpoint)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    until = time.monotonic() + END_S_MAX
    while is_alive(child):
        assert time.monotonic() < until, "an orphan"
        time.sleep(0.05)
    release(kernel, endpoint)
    wait_held(kernel, endpoint, held=False)
    if endpoint == UPDATE:
        until = time.monotonic() + WAIT_S_MAX
        while json.loads(kernel.run("ledger", "show", arguments["requestId"], "--json").stdout)["state"] == "executing":
            assert time.monotonic() < until
        replay = kernel.told(
            *words, "--request-id", told["requestId"], "--expected-state-hash", told["expectedStateHash"]
        )
        assert (replay["replayed"], replay["transactionState"]) == (True, "committed")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("console", OLD_CONSOLES, ids=lambda console: next(iter(console.values())))
@pytest.mark.parametrize("is_json", [True, False])
def test_i03_a_check_mark_on_an_old_console(kernel: Kernel, console: dict[str, str], is_json: bool) -> None:
    command = [sys.executable, "-m", "kernel", "notebook", "list", *(["--json"] if is_json else [])]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=environment(kernel, **console), check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    if is_json:
        assert NAME in done.stdout.decode("utf-8")
        assert NAME in json.dumps(json.loads(done.stdout), ensure_ascii=False)
    else:
        assert b"name: Box" in done.stdout
        assert done.stdout.endswith(b"\n")


@pytest.mark.parametrize("console", OLD_CONSOLES, ids=lambda console: next(iter(console.values())))
def test_b09_the_protocol_is_utf8_whatever_the_console_is(kernel: Kernel, console: dict[str, str]) -> None:
    process = stdio(kernel, env=environment(kernel, **console))
    lines = (
        call(1, "fs", action="ls", path=f"/{NAME}")
        + b'{"jsonrpc":"2.0","id":2,"method":"\\ud83d"}\n'
        + call(3, "notebook", action="list")
    )
    out, _ = process.communicate(lines, timeout=WAIT_S_MAX)
    answers = [json.loads(line) for line in out.decode("utf-8").splitlines()]
    assert process.returncode == 0
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == [-32700]
    told = {answer["id"]: answer["result"] for answer in answers if "result" in answer}
    assert told[1]["structuredContent"]["path"] == f"/{NAME}"
    assert NAME in json.dumps(told[3], ensure_ascii=False)
