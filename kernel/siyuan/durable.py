"""The one writer: everything that is pending goes to disk in one batch, and every call awaits the batch with its own.

Group commit. A call that finds nothing on its way leads the next batch; calls that come while a batch is being
written share the one after it. Batches are written by one thread at a time. Records (``kernel.workspace.records``)
pass beside them, at once while nothing else is written, else in a thread of their own: nobody's statistics wait for
anybody's fsync.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import trio

from kernel.siyuan.limits import RECORDS_INLINE_BYTES_MAX
from kernel.workspace.files import Files, StorageError

if TYPE_CHECKING:
    from kernel.workspace.records import Record


class Writes(Protocol):
    """A batch, or a batch of records."""

    def write(self) -> None: ...


# How a batch is carried out: in a thread, or inline under simulation.
WriteRunner = Callable[[Writes], Awaitable[None]]
# One for the batches, one for the records.
_WRITER_THREADS: Final = 2


@dataclass(slots=True, eq=False)
class _Group:
    """The calls that wait for one batch."""

    done: trio.Event = field(default_factory=trio.Event)
    error: StorageError | None = None


class Durable:
    """``settle`` returns when what was written before it is on disk."""

    def __init__(
        self,
        files: Files,
        reload: Callable[[set[str]], None],
        *,
        run: WriteRunner | None = None,
    ) -> None:
        self._files = files
        # Told which paths a refusing disk did not take, so that memory forgets them too.
        self._reload = reload
        self._limiter: trio.CapacityLimiter | None = None
        self._run = run or self._run_in_thread
        self._has_threads = run is None
        self._next: _Group | None = None
        self._running: _Group | None = None

    @property
    def is_quiet(self) -> bool:
        """Nothing is pending and nothing is being written: ``settle`` would return at once."""
        return self._running is None and not self._files.has_pending

    async def settle(self) -> None:
        """Wait until everything written so far is durable. Not cancellable: the write happens anyway.

        Raises:
            StorageError: the disk refused; memory shows again what the disk holds.
        """
        if self._files.has_pending:
            joins = self._next
        elif self._running is not None:
            joins = self._running
        else:
            return
        with trio.CancelScope(shield=True):
            if joins is None:
                await self._lead()
            else:
                await joins.done.wait()
        if joins is not None and joins.error is not None:
            raise joins.error

    async def quiesce(self) -> None:
        """Settle until nothing is pending or being written: before a structural change (see ``files``)."""
        while self._files.has_pending or self._running is not None:
            await self.settle()

    async def keep(self, records: Sequence[Record]) -> None:
        """Write records; they are seen by every read when this returns. Not cancellable.

        Raises:
            StorageError: the disk refused.
        """
        batch = self._files.record_batch(records)
        size_bytes = sum(len(record.content) for record in records)
        if self._has_threads and self.is_quiet and size_bytes <= RECORDS_INLINE_BYTES_MAX:
            # A few bytes for the page cache, and no sync of ours under way that could hold them up: handing them to
            # a thread would cost more than writing them, and every call waits for this.
            batch.write()
            return
        with trio.CancelScope(shield=True):
            await self._run(batch)
        if self._files.has_pending and len(batch.records) < len(records):
            await self.settle()

    async def _lead(self) -> None:
        group = self._next = _Group()
        while self._running is not None:
            await self._running.done.wait()
        if group.done.is_set():  # the batch before failed, and took what was pending with it
            if group.error is not None:
                raise group.error
            return
        self._next, self._running = None, group
        try:
            await self._write(group)
        finally:
            self._running = None
            group.done.set()

    async def _write(self, group: _Group) -> None:
        batch = self._files.take_batch()
        if batch is None:
            return
        try:
            await self._run(batch)
        except StorageError as error:
            group.error = error
            self._reload(self._files.batch_failed(batch))
            if self._next is not None:
                # Of that nothing has been begun.
                self._next.error = StorageError(error.reason, path=error.path, code=error.errno)
                self._next.done.set()
                self._next = None
            raise
        self._files.batch_done(batch)

    async def _run_in_thread(self, batch: Writes) -> None:
        if self._limiter is None:
            self._limiter = trio.CapacityLimiter(_WRITER_THREADS)
        await trio.to_thread.run_sync(batch.write, limiter=self._limiter)


async def write_inline(batch: Writes) -> None:
    """The double for simulation: no thread, still one checkpoint, so that other tasks may run in between."""
    await trio.lowlevel.checkpoint()
    batch.write()
