"""A real kernel process for wire tests: ``python -m kernel serve --port 0 --json`` and its end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import trio

READY_S_MAX = 120.0
END_S_MAX = 90.0


@dataclass
class KernelProcess:
    """A running kernel. ``url`` is its base, ``mcp`` the plugin's endpoint."""

    process: trio.Process
    url: str
    mcp: str
    workspace: Path

    @property
    def token(self) -> str:
        """The API token that the kernel keeps in its workspace."""
        text = (self.workspace / "conf" / "conf.json").read_text(encoding="utf-8")
        return str(json.loads(text)["api"]["token"])

    def kill(self) -> None:
        """kill -9: what was not on disk is gone."""
        self.process.kill()

    async def stop(self, signal_number: int = signal.SIGTERM) -> int:
        """Ask it to end and wait for its exit code."""
        if self.process.returncode is None:
            self.process.send_signal(signal_number)
        with trio.fail_after(END_S_MAX):
            return await self.process.wait()


async def start_kernel(
    workspace: Path, *options: str, env: dict[str, str] | None = None, stderr: IO[bytes] | None = None
) -> KernelProcess:
    """Start a kernel on a free port and wait for its ready line. ``stderr``: where its log goes, else to ours."""
    command = [
        sys.executable,
        "-m",
        "kernel",
        "serve",
        "--port",
        "0",
        "--json",
        "--workspace",
        str(workspace),
        *options,
    ]
    process = await trio.lowlevel.open_process(
        command, stdout=subprocess.PIPE, stderr=stderr, env=env, cwd=Path(__file__).parents[2]
    )
    with trio.fail_after(READY_S_MAX):
        ready = json.loads(await _first_line(process))
    assert ready["ready"] is True
    return KernelProcess(process, ready["url"], ready["mcp"], workspace)


async def _first_line(process: trio.Process) -> bytes:
    assert process.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        piece = await process.stdout.receive_some(4096)
        if not piece:
            raise RuntimeError(f"the kernel ended with {await process.wait()} before it was ready: {line!r}")
        line += piece
    return line


@asynccontextmanager
async def kernels(workspace: Path) -> AsyncIterator[Callable[..., Awaitable[KernelProcess]]]:
    """Start one kernel after another on a workspace (``await start(*options)``); none outlives the block."""
    started: list[KernelProcess] = []

    async def start(*options: str) -> KernelProcess:
        started.append(await start_kernel(workspace, *options))
        return started[-1]

    try:
        yield start
    finally:
        with trio.CancelScope(shield=True):
            for kernel in started:
                if kernel.process.returncode is None:
                    kernel.process.kill()
                await kernel.process.wait()
                assert kernel.process.stdout is not None
                await kernel.process.stdout.aclose()


@asynccontextmanager
async def running_kernel(workspace: Path, *options: str) -> AsyncIterator[KernelProcess]:
    """A kernel for the length of a block; it must end with exit code 0."""
    async with kernels(workspace) as start:
        kernel = await start(*options)
        yield kernel
        assert await kernel.stop() == 0


def body_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The structured content of a tools/call answer."""
    return dict(answer["result"]["structuredContent"])
