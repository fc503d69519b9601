"""Keeps the exchange between clients and a kernel in a file, while it happens. Shell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import trio

from kernel.lab.client import run_client
from kernel.lab.limits import RECORDING_BYTES_MAX
from kernel.lab.process import environment
from kernel.lab.recording import Piece, head_line, piece_line
from kernel.lab.tap import open_tap
from kernel.lab.verdicts import ClientRun


async def record(
    target: tuple[str, int],
    kernel_url: str,
    file: Path,
    port: int,
    command: Sequence[str],
    time_s: float,
    say: Callable[[str], None],
) -> ClientRun | None:
    """Record until the client ends; without a client until cancelled. Past its bound the recording stops growing.

    Raises:
        OSError: the port is taken, or the file cannot be written.
    """
    size_bytes = 0
    with file.open("w", encoding="utf-8") as lines:
        lines.write(head_line(kernel_url))

        def keep(piece: Piece) -> None:
            nonlocal size_bytes
            size_bytes += len(piece.data)
            if size_bytes <= RECORDING_BYTES_MAX:
                lines.write(piece_line(piece))
                lines.flush()

        async with open_tap(target, keep, port) as tap:
            say(tap.url)
            if not command:
                await trio.sleep_forever()
            words = {"url": tap.url, "mcp": f"{tap.url}/sisyphus/mcp"}
            filled = [word.replace("{url}", words["url"]).replace("{mcp}", words["mcp"]) for word in command]
            return await run_client(filled, environment(LAB_URL=words["url"], LAB_MCP=words["mcp"]), time_s=time_s)
