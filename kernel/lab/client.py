"""Runs a client's command, bounded in time and output, and ends it with everything it started. Shell."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

import trio

from kernel.lab.limits import CLIENT_OUTPUT_BYTES_MAX, OUTPUT_SHOWN_BYTES
from kernel.lab.verdicts import ClientRun

_RECEIVE_BYTES: Final = 65_536
_HAS_GROUPS: Final = hasattr(os, "killpg")
# After the kill: how long its pipes may stay open in the hands of somebody who left the group.
_DRAIN_S_MAX: Final = 2.0


async def run_client(command: Sequence[str], environment: Mapping[str, str], *, time_s: float) -> ClientRun:
    """Run it to its end, or to one of its bounds. Never raises for what the client does."""
    started_s = trio.current_time()
    try:
        process = await trio.lowlevel.open_process(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            start_new_session=_HAS_GROUPS,
        )
    except (OSError, ValueError) as error:
        return ClientRun(exit_code=None, start_error=f"{command[0]}: {error}")
    output = _Output()
    is_hung = False
    try:
        with trio.move_on_after(time_s) as scope:
            assert process.stdout is not None
            await output.read(process.stdout)
            if not output.is_over:
                await process.wait()
        is_hung = scope.cancelled_caught
    finally:
        with trio.CancelScope(shield=True):
            # Also after an orderly end: children that it left behind are not left to the machine.
            _kill(process)
            await process.wait()
            if process.stdout is not None:
                with trio.move_on_after(_DRAIN_S_MAX):
                    await process.stdout.aclose()
    was_killed = is_hung or output.is_over
    return ClientRun(
        exit_code=None if was_killed else process.returncode,
        is_hung=is_hung,
        is_flooding=output.is_over,
        output=output.tail(),
        ran_s=trio.current_time() - started_s,
    )


class _Output:
    """What a process prints: counted, its tail kept."""

    def __init__(self) -> None:
        self._size_bytes = 0
        self._tail = b""

    @property
    def is_over(self) -> bool:
        return self._size_bytes > CLIENT_OUTPUT_BYTES_MAX

    async def read(self, stream: trio.abc.ReceiveStream) -> None:
        while data := await stream.receive_some(_RECEIVE_BYTES):
            self._size_bytes += len(data)
            self._tail = (self._tail + data)[-OUTPUT_SHOWN_BYTES:]
            if self.is_over:
                return

    def tail(self) -> str:
        return self._tail.decode("utf-8", "replace")


def _kill(process: trio.Process) -> None:
    try:
        if _HAS_GROUPS:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        return
