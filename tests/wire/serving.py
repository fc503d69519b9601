"""A kernel that a command line starts, ours or a real one, for tests that compare the two. Not a test."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_S_MAX = 120
END_S_MAX = 60


@contextmanager
def serving(command: str, folder: Path, **more: str) -> Iterator[tuple[str, Path]]:
    """A kernel on a free port and a new workspace below ``folder``, for the length of a block; its address and
    its workspace. ``more`` fills further places of the command."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    quoted = {name: shlex.quote(value) for name, value in {**more, "workspace": str(workspace)}.items()}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            shlex.split(command.format(port=port, **quoted)), cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_ready(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}", workspace
        finally:
            process.terminate()
            process.wait(END_S_MAX)


def _wait_until_ready(base: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S_MAX
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{base}/api/system/bootProgress") as answer:
                if json.load(answer)["data"]["progress"] >= 100:
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"{base} did not answer (exit code {process.poll()})")
