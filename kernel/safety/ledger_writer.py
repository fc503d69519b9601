"""Who runs the ledger's jobs: one thread of its own with group commit, or, in simulation, the caller itself.

The event loop never waits for a sync: it hands a job over and is called back. What arrives while a group is being
written is the next group, so one sync serves every call that waited.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Protocol

import trio

from kernel.safety.ledger_store import Job, LedgerStore, LedgerUnavailable
from kernel.safety.limits import LEDGER_GROUP_MAX

# Called once, in the event loop's thread, with the job's value or its error.
Deliver = Callable[[Any], None]


class LedgerWriter(Protocol):
    """Runs jobs on the one store."""

    def submit(self, job: Job, deliver: Deliver) -> None: ...

    def trouble(self) -> str:
        """Why the store cannot be used, as far as a look tells; "" if nothing speaks against it."""
        ...

    async def aclose(self) -> None: ...


class InlineWriter:
    """Runs each job at once (simulation, small tests). Deterministic; blocks the caller."""

    def __init__(self, store: LedgerStore) -> None:
        self._store = store

    def submit(self, job: Job, deliver: Deliver) -> None:
        deliver(_run_group(self._store, [job])[0])

    def trouble(self) -> str:
        return self._store.check_nowait()

    async def aclose(self) -> None:
        self._store.close()


class ThreadWriter:
    """One dedicated thread. Started by the first job, so a process that never writes has none."""

    def __init__(self, store: LedgerStore) -> None:
        self._store = store
        self._waiting: queue.SimpleQueue[tuple[Job, Deliver] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._ended = trio.Event()

    def submit(self, job: Job, deliver: Deliver) -> None:
        if self._thread is None:
            self._token = trio.lowlevel.current_trio_token()
            # A daemon: a process that dies in a hurry does not wait for a slow disk; the file is safe either way.
            self._thread = threading.Thread(target=self._serve, name="write-ledger", daemon=True)
            self._thread.start()
        self._waiting.put((job, deliver))

    def trouble(self) -> str:
        return self._store.check_nowait()

    async def aclose(self) -> None:
        """Finish what was handed over, then close the file."""
        if self._thread is None:
            self._store.close()
            return
        self._waiting.put(None)
        with trio.CancelScope(shield=True):
            await self._ended.wait()

    def _serve(self) -> None:
        is_open = True
        while is_open:
            group, is_open = self._next_group()
            if group:
                results = _run_group(self._store, [job for job, _ in group])
                self._call(lambda group=group, results=results: _deliver_all(group, results))  # type: ignore[misc]
        self._store.close()
        self._call(self._ended.set)

    def _next_group(self) -> tuple[list[tuple[Job, Deliver]], bool]:
        group: list[tuple[Job, Deliver]] = []
        item = self._waiting.get()
        while item is not None:
            group.append(item)
            if len(group) == LEDGER_GROUP_MAX:
                return group, True
            try:
                item = self._waiting.get_nowait()
            except queue.Empty:
                return group, True
        return group, False

    def _call(self, function: Callable[[], object]) -> None:
        assert self._token is not None
        try:
            self._token.run_sync_soon(function)
        except trio.RunFinishedError:
            # Nobody is left to hear it; the rows are written.
            return


def _run_group(store: LedgerStore, jobs: list[Job]) -> list[Any]:
    try:
        return store.run_group(jobs)
    except LedgerUnavailable as error:
        return [error] * len(jobs)


def _deliver_all(group: list[tuple[Job, Deliver]], results: list[Any]) -> None:
    for (_, deliver), result in zip(group, results, strict=True):
        deliver(result)
