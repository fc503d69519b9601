"""The stdio server as a process: its pipes, its signals, its end. Awaits; what is said on the pipes is the server's."""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import Final

import trio

from kernel.delegate.front import Front
from kernel.stdio.limits import FAREWELL_S_MAX, OUTPUT_WATCH_S, READ_BYTES
from kernel.stdio.server import StdioServer

_SIGNALS: Final = [signal.SIGINT, signal.SIGTERM]


async def serve_stdio(front: Front) -> None:
    """Serve this process's client until its input ends or a signal comes."""
    server = StdioServer(front, _read_input, _write_output)
    async with trio.open_nursery() as nursery:
        await nursery.start(_stop_on_signal, server, nursery.cancel_scope)
        nursery.start_soon(_end_with_reader, nursery.cancel_scope)
        await server.run()
        nursery.cancel_scope.cancel()


async def _stop_on_signal(
    server: StdioServer, scope: trio.CancelScope, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    with trio.open_signal_receiver(*_SIGNALS) as signals:
        task_status.started()
        async for _ in signals:
            break
        server.stop()
        # Ended earlier by the server's own end.
        await trio.sleep(FAREWELL_S_MAX)
        scope.cancel()


async def _end_with_reader(scope: trio.CancelScope) -> None:
    """End when nobody can read the answers any more, even if none is to be written: a parent that died is not told.

    What was sent goes on at the coordinator, under its task id.
    """
    if not hasattr(select, "poll"):
        return
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    # There is no event for it: only the operating system knows, and it has to be asked.
    while not any(events & (select.POLLERR | select.POLLNVAL) for _, events in poll.poll(0)):  # noqa: ASYNC110
        await trio.sleep(OUTPUT_WATCH_S)
    scope.cancel()


async def _read_input() -> bytes:
    # Not the buffered reader: a thread that is left behind in it holds its lock, and the interpreter cannot end.
    return await trio.to_thread.run_sync(os.read, sys.stdin.fileno(), READ_BYTES, abandon_on_cancel=True)


async def _write_output(data: bytes) -> None:
    await trio.to_thread.run_sync(_write_all, data)


def _write_all(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sys.stdout.fileno(), view) :]
