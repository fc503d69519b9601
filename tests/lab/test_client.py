"""A client's process: bounded in time and output, ended with its children, and a command that is none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import trio

from kernel.lab import client as runs
from kernel.lab.client import run_client

pytestmark = pytest.mark.wire
GENEROUS_S = 60.0


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def test_a_client_ends_as_it_likes_and_its_output_is_kept() -> None:
    run = await run_client(python("import os; print(os.environ['X']); exit(3)"), {"X": "hello"}, time_s=GENEROUS_S)
    assert (run.exit_code, run.output, run.is_hung, run.is_flooding) == (3, "hello\n", False, False)


async def test_a_command_that_is_none_is_told() -> None:
    run = await run_client(["./no-such-command"], {}, time_s=GENEROUS_S)
    assert run.exit_code is None
    assert "no-such-command" in run.start_error


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are POSIX's")
async def test_a_client_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    child = f"import time, os; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(1000)"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(1000)"
    runs_s = 5.0
    run = await run_client(python(code), dict(os.environ), time_s=runs_s)
    assert run.is_hung
    assert run.exit_code is None
    assert told.exists(), "the child had started"
    with trio.fail_after(GENEROUS_S):
        while _is_alive(int(told.read_text())):  # noqa: ASYNC110 - another process's state
            await trio.sleep(0.01)


async def test_a_client_that_floods_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "CLIENT_OUTPUT_BYTES_MAX", 1000)
    run = await run_client(python("while True: print('x' * 100)"), dict(os.environ), time_s=GENEROUS_S)
    assert (run.is_flooding, run.is_hung, run.exit_code) == (True, False, None)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
