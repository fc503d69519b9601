"""Group commit: each call waits for the batch with its own writes, and a refusing disk is everybody's answer."""

from __future__ import annotations

import errno

import pytest
import trio
from trio.testing import assert_no_checkpoints, wait_all_tasks_blocked

from kernel.siyuan.durable import Durable, write_inline
from kernel.workspace.file_backends import MemoryBackend
from kernel.workspace.files import Batch, Files, StorageError


class Gate:
    """A runner that writes a batch when it is told to."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.opened = trio.Semaphore(0)

    async def __call__(self, batch: Batch) -> None:
        self.batches.append(batch)
        await self.opened.acquire()
        batch.write()


def _store() -> tuple[MemoryBackend, Files]:
    backend = MemoryBackend()
    return backend, Files(backend, wall_ms=lambda: 0)


async def test_settling_without_writes_returns_at_once() -> None:
    _, files = _store()
    gate = Gate()
    gate.opened.release()
    with assert_no_checkpoints():
        await Durable(files, lambda _: None, run=gate).settle()
    assert gate.batches == []


async def test_what_was_written_is_on_disk_after_settling() -> None:
    backend, files = _store()
    durable = Durable(files, lambda _: None)
    files.write("f", b"1")
    await durable.settle()
    assert backend.contents == {"f": b"1"}


async def test_calls_that_come_during_a_batch_share_the_next_one() -> None:
    backend, files = _store()
    gate = Gate()
    durable = Durable(files, lambda _: None, run=gate)
    async with trio.open_nursery() as nursery:
        files.write("first", b"1")
        nursery.start_soon(durable.settle)
        await wait_all_tasks_blocked()
        for name in ("a", "b", "c"):
            files.write(name, b"2")
            nursery.start_soon(durable.settle)
            await wait_all_tasks_blocked()
        assert len(gate.batches) == 1
        gate.opened.release()
        gate.opened.release()
    assert [sorted(batch.entries) for batch in gate.batches] == [["first"], ["a", "b", "c"]]
    assert sorted(backend.contents) == ["a", "b", "c", "first"]


async def test_a_cancelled_call_still_has_its_writes_settled() -> None:
    backend, files = _store()
    gate = Gate()
    durable = Durable(files, lambda _: None, run=gate)
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            files.write("f", b"1")
            nursery.start_soon(durable.settle)
            await wait_all_tasks_blocked()
            scope.cancel()
            gate.opened.release()
    assert backend.contents == {"f": b"1"}


async def test_a_refusing_disk_fails_the_batch_and_what_builds_on_it() -> None:
    backend, files = _store()
    reloaded: list[set[str]] = []
    gate = Gate()
    durable = Durable(files, reloaded.append, run=gate)
    backend.refusal = errno.ENOSPC
    failures: list[str] = []

    async def call() -> None:
        try:
            await durable.settle()
        except StorageError as error:
            failures.append(error.reason)

    async with trio.open_nursery() as nursery:
        for name in ("a", "b", "c"):
            files.write(name, b"1")
            nursery.start_soon(call)
            await wait_all_tasks_blocked()
        gate.opened.release()
    assert len(failures) == 3
    assert reloaded == [{"a", "b", "c"}]
    assert not files.has_pending
    backend.refusal = 0
    files.write("d", b"1")
    gate.opened.release()
    await durable.settle()
    assert backend.contents == {"d": b"1"}


async def test_quiescing_leaves_nothing_pending_and_nothing_being_written() -> None:
    backend, files = _store()
    gate = Gate()
    durable = Durable(files, lambda _: None, run=gate)
    async with trio.open_nursery() as nursery:
        files.write("a", b"1")
        nursery.start_soon(durable.settle)
        await wait_all_tasks_blocked()
        files.write("b", b"1")
        gate.opened.release()
        gate.opened.release()
        await durable.quiesce()
    assert sorted(backend.contents) == ["a", "b"]
    assert not files.is_writing


async def test_a_call_waits_for_the_running_batch_that_may_hold_its_writes() -> None:
    _, files = _store()
    gate = Gate()
    durable = Durable(files, lambda _: None, run=gate)
    ended: list[str] = []

    async def call(name: str) -> None:
        await durable.settle()
        ended.append(name)

    async with trio.open_nursery() as nursery:
        files.write("a", b"1")
        nursery.start_soon(call, "leader")
        await wait_all_tasks_blocked()
        nursery.start_soon(call, "follower")
        await wait_all_tasks_blocked()
        assert ended == []
        gate.opened.release()
    assert sorted(ended) == ["follower", "leader"]


async def test_the_inline_runner_of_simulation_writes_the_same() -> None:
    backend, files = _store()
    durable = Durable(files, lambda _: None, run=write_inline)
    files.write("f", b"1")
    await durable.settle()
    assert backend.contents == {"f": b"1"}


async def test_a_refusal_reaches_a_lone_call() -> None:
    backend, files = _store()
    backend.refusal = errno.EROFS
    durable = Durable(files, lambda _: None)
    files.write("f", b"1")
    with pytest.raises(StorageError, match="read-only"):
        await durable.settle()
