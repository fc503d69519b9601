"""The stdio server as the process that a client starts: it answers, and ends with its input, a signal, or its reader."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
END_S_MAX = 60.0
pytestmark = [pytest.mark.wire, pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """On a workspace that no kernel serves."""
    command = [sys.executable, "-m", "kernel", "stdio", "--workspace", str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=dict(os.environ)
    ) as started:
        yield started
        started.kill()


def say(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    return dict(json.loads(process.stdout.readline()))


def test_it_answers_line_by_line_and_ends_with_its_input(process: subprocess.Popen[bytes]) -> None:
    say(process, {"jsonrpc": "2.0", "id": "p", "method": "ping"})
    assert hear(process)["id"] == "p"
    say(process, {"jsonrpc": "2.0", "id": 2, "method": "no/such"})
    told = hear(process)
    assert (told["id"], "error" in told) == (2, True)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(END_S_MAX) == 0
    assert process.stdout is not None
    assert process.stdout.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    say(process, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert hear(process)["id"] == 1
    process.send_signal(number)
    assert process.wait(END_S_MAX) == 0


def test_it_ends_when_nobody_can_read_its_answers_any_more(process: subprocess.Popen[bytes]) -> None:
    say(process, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert hear(process)["id"] == 1
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(END_S_MAX) == 0
