"""Notes behind either host: the emulated kernel in our own process, or a real one behind ``--host-url``.

``SISYPHUS_TEST_KERNEL`` names a real one: the command that starts it, with {port} and {workspace} to be filled in.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import trio

from tests.support.client import McpClient
from tests.support.notes import Notes, make_notes
from tests.support.process import KernelProcess, running_kernel

KERNEL = os.environ.get("SISYPHUS_TEST_KERNEL", "")
READY_S_MAX = 60.0
END_S_MAX = 20.0


@asynccontextmanager
async def notes_on_either_host(folder: Path) -> AsyncIterator[Notes]:
    """FX, with the tools' endpoint over it."""
    async with httpx.AsyncClient(timeout=90, trust_env=False) as http:
        if not KERNEL:
            async with running_kernel(folder / "workspace") as kernel:
                yield await make_notes(kernel, http)
            return
        async with (
            _real_kernel(folder / "real", http) as (process, url),
            running_kernel(folder / "front", "--host-url", url) as front,
        ):
            notes = await make_notes(KernelProcess(process, url, front.mcp, folder / "real"), http)
            notes.client = McpClient(http, front.mcp)
            yield notes


@asynccontextmanager
async def _real_kernel(workspace: Path, http: httpx.AsyncClient) -> AsyncIterator[tuple[trio.Process, str]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = KERNEL.replace("{port}", str(port)).replace("{workspace}", shlex.quote(str(workspace)))
    await trio.Path(workspace).mkdir()
    process = await trio.lowlevel.open_process(shlex.split(command))
    try:
        url = f"http://127.0.0.1:{port}"
        with trio.fail_after(READY_S_MAX):
            while True:
                if await _is_ready(http, url):
                    break
                await trio.sleep(0.1)
        yield process, url
    finally:
        with trio.CancelScope(shield=True):
            process.send_signal(signal.SIGINT)
            with trio.move_on_after(END_S_MAX):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _is_ready(http: httpx.AsyncClient, url: str) -> bool:
    try:
        answer = await http.get(f"{url}/api/system/bootProgress")
        return bool(answer.json()["data"]["progress"] == 100)
    except (httpx.HTTPError, json.JSONDecodeError, KeyError):
        return False
