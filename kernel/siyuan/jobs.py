"""Work that goes on when the call that began it has been answered, for as long as the kernel runs.

What a job changes in the notes it does as a call of its own (``dispatch.run_handler``), so that it is durable and told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

Job = Callable[[], Awaitable[None]]


class Jobs:
    """Begun from calls, carried out in the task that runs ``run``; before that they wait."""

    def __init__(self) -> None:
        self._nursery: trio.Nursery | None = None
        self._waiting: list[Job] = []

    def start(self, job: Job) -> None:
        """Begin a job soon."""
        if self._nursery is None:
            self._waiting.append(job)
        else:
            self._nursery.start_soon(job)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Carry jobs out until cancelled, or closed."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            for job in self._waiting:
                nursery.start_soon(job)
            self._waiting.clear()
            task_status.started()
            await trio.sleep_forever()

    def close(self) -> None:
        """End what is under way. A write that has begun is carried to its end."""
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()
