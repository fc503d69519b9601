"""A kernel for commands that run inside the test's own process, and the commands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from click.testing import CliRunner, Result

from kernel.cli import main

ROOT = Path(__file__).parents[2]
END_S_MAX = 60


@dataclass
class Kernel:
    """A running kernel with a notebook ``Box`` (every right) and a document ``Plan`` in it."""

    url: str
    workspace: Path
    process: subprocess.Popen[bytes]
    document: str = ""

    def api(self, path: str, /, **arguments: Any) -> Any:
        answer = httpx.post(f"{self.url}/api/{path}", json=arguments, timeout=30).json()
        assert answer["code"] == 0, answer
        return answer["data"]

    def emulator(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = httpx.post(f"{self.url}/emulator/{path}", json=body, timeout=30)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def run(self, *words: str, stdin: str | bytes | None = None) -> Result:
        """One command on this workspace, in this process."""
        return run(*words, "--workspace", str(self.workspace), stdin=stdin)

    def told(self, *words: str, code: int = 0, stdin: str | bytes | None = None) -> dict[str, Any]:
        """The JSON line of a command."""
        result = self.run(*words, "--json", stdin=stdin)
        assert result.exit_code == code, result.output
        return dict(json.loads(result.stdout))

    def environment(self) -> dict[str, str]:
        return {"SISYPHUS_WORKSPACE": str(self.workspace), "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}


def run(*words: str, stdin: str | bytes | None = None, env: dict[str, str] | None = None) -> Result:
    """One command in this process; nobody sits at its terminal."""
    return CliRunner(env={"SISYPHUS_URL": "", "SISYPHUS_WORKSPACE": "", **(env or {})}).invoke(main, words, input=stdin)


@contextmanager
def serving(workspace: Path, *options: str) -> Iterator[Kernel]:
    """A kernel on a free port, with the notes, for the length of the block."""
    command = [sys.executable, "-m", "kernel", "serve", "--port", "0", "--json", "--workspace", str(workspace)]
    process = subprocess.Popen([*command, "--emulator-controls", *options], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert process.stdout is not None
        kernel = Kernel(json.loads(process.stdout.readline())["url"], workspace, process)
        _furnish(kernel)
        yield kernel
    finally:
        process.terminate()
        process.wait(END_S_MAX)
        assert process.stdout is not None
        process.stdout.close()


def _furnish(kernel: Kernel) -> None:
    if kernel.api("notebook/lsNotebooks")["notebooks"]:
        return
    box = kernel.api("notebook/createNotebook", name="Box")["notebook"]["id"]
    kernel.document = kernel.api("filetree/createDocWithMd", notebook=box, path="/Plan", markdown="Alpha text")
    storage = kernel.workspace / "data" / "storage" / "petal" / "siyuan-plugins-mcp-sisyphus"
    (storage / "notebookPermissions").write_text(json.dumps({box: "rwd"}))
