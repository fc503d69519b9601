"""The index of a running kernel: opened when the first query comes, fed by the workspace, read by threads.

One object per kernel, kept in ``kernel.state``. Its file lies in ``temp/``; what is not this version's, or cannot be
read, is thrown away and made anew.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import apsw
import trio

from kernel.siyuan.limits import LIGHT_SEARCH_BLOCKS_MAX, LIGHT_SEARCH_BYTES_MAX, LIGHT_STEPS
from kernel.workspace.files import StorageError
from kernel.workspace.index.limits import TEXTS_PER_STEP
from kernel.workspace.index.rows import Surroundings, Target
from kernel.workspace.index.schema import is_current
from kernel.workspace.index.writer import Index
from kernel.workspace.workspace import CorruptDocument, NotFound

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel
    from kernel.workspace.tree import Tree
    from kernel.workspace.workspace import Workspace

T = TypeVar("T")
INDEX_PATH: Final = "temp/sisyphus-index.db"
_STATE: Final = "notes_index"
# Documents indexed before other tasks may run: a fresh start with many documents must not hold up the loop.
_DOCUMENTS_PER_STEP: Final = 16
# Steps of SQLite's machine, some milliseconds' worth.
_STEPS_BETWEEN_CHECKS: Final = 100_000
_memory_names = itertools.count()
# How a user's statement is run: in a thread, or inline under simulation.
Runner = Callable[[Callable[[], T]], Awaitable[T]]


class WorkspaceLibrary:
    """The documents of a workspace, as the index reads them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def tree(self, root_id: str) -> Tree | None:
        entry = self._workspace.blocks.documents.get(root_id)
        if entry is None:
            return None
        try:
            document = self._workspace.glance(root_id)
        except (NotFound, CorruptDocument, StorageError):
            return None
        tree = document.written or document.tree
        tree.hpath = entry.hpath
        return tree

    def pieces(self, tree: Tree) -> Sequence[bytes] | None:
        document = self._workspace.glance(tree.id) if self._workspace.is_loaded(tree.id) else None
        is_written = document is not None and document.tree is tree and document.written_children == tree.root.children
        return document.encoded if document is not None and is_written else None

    def is_at_hand(self, root_id: str) -> bool:
        return self._workspace.is_loaded(root_id)

    def roots(self) -> Iterator[str]:
        return iter(list(self._workspace.blocks.documents))

    def place(self, root_id: str) -> tuple[str, str, str] | None:
        entry = self._workspace.blocks.documents.get(root_id)
        return None if entry is None else (entry.box, entry.path, entry.hpath)

    def digest(self, root_id: str) -> bytes:
        entry = self._workspace.blocks.documents.get(root_id)
        return b"" if entry is None else entry.digest

    def below(self, box: str, path: str) -> Iterator[str]:
        return (entry.id for entry in list(self._workspace.blocks.below(box, path)))

    def target(self, block_id: str) -> Target | None:
        """Where a referenced block lives."""
        entry = self._workspace.blocks.entry_of(block_id)
        if entry is None:
            return None
        try:
            node = self._workspace.document(entry.id).node(block_id)
        except (NotFound, CorruptDocument, StorageError):
            return None
        parent = node.parent.id if node is not None and node.parent is not None else ""
        return Target(parent, entry.id, entry.path)

    def asset_hash(self, path: str) -> str:
        """A fingerprint of an asset's content, "" when there is no such file."""
        try:
            content = self._workspace.files.read(f"data/{path}")
        except (OSError, ValueError):
            return ""
        return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def index_of(kernel: SiyuanKernel) -> Index:
    """The kernel's index; made, and told of every document, when it is first asked for."""
    index: Index | None = kernel.state.get(_STATE)
    if index is None:
        index = kernel.state[_STATE] = _open_index(kernel)
        kernel.workspace.observers.append(index)
    return index


def close_index(kernel: SiyuanKernel) -> None:
    """The index stays in the workspace for the next start. All writes have settled."""
    index: Index | None = kernel.state.pop(_STATE, None)
    if index is not None:
        kernel.workspace.observers.remove(index)
        index.close()


def _open_index(kernel: SiyuanKernel) -> Index:
    # The databases come in with the first query, not at the start: who lies idle does without them.
    from kernel.workspace.views.tables import view_text

    library = WorkspaceLibrary(kernel.workspace)
    surroundings = Surroundings(library.target, partial(view_text, kernel.workspace), library.asset_hash)
    path = kernel.workspace.files.absolute(INDEX_PATH)

    def opened(connect: Callable[[], apsw.Connection]) -> Index:
        return Index(connect, library, surroundings, now=kernel.clock.now, lag_s=kernel.options.index_lag_s)

    if not os.path.isdir(os.path.dirname(path)):
        # A workspace in memory: so is its index, shared by the connections of this process alone.
        name = f"file:/notes-{next(_memory_names)}?vfs=memdb"
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        return opened(lambda: apsw.Connection(name, flags=flags))
    if not _is_usable(path):
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
    return opened(lambda: apsw.Connection(path))


def _is_usable(path: str) -> bool:
    try:
        connection = apsw.Connection(path)
    except apsw.Error:
        return False
    try:
        return is_current(connection)
    except apsw.Error:
        return False
    finally:
        connection.close()


async def settled_index(kernel: SiyuanKernel) -> Index:
    """The index, true as of the lag; other tasks run while it catches up."""
    index = index_of(kernel)
    while index.settle(documents_max=_DOCUMENTS_PER_STEP):
        await trio.lowlevel.checkpoint()
    return index


async def searchable_index(kernel: SiyuanKernel, *, by_trigrams: bool = False) -> Index:
    """The same, with its full-text table up to date, or the table of its trigrams."""
    index = await settled_index(kernel)
    table = index.trigrams if by_trigrams else index.fulltext
    while table.refresh(rows_max=TEXTS_PER_STEP):
        await trio.lowlevel.checkpoint()
        await settled_index(kernel)
    return index


async def read_in_thread(
    kernel: SiyuanKernel,
    work: Callable[[apsw.Connection], T],
    *,
    with_texts: bool,
    with_trigrams: bool = False,
    is_light: bool = False,
) -> T:
    """Run ``work`` on a reader of its own, off the loop. ``with_texts``: the full-text index is brought up to date, or
    with ``with_trigrams`` that of the trigrams.

    Light work (no step of it takes long) is tried on the loop first, where it may take a few steps: a thread costs more.
    """
    if with_texts or with_trigrams:
        index = await searchable_index(kernel, by_trigrams=not with_texts)
    else:
        index = await settled_index(kernel)
    reader = index.take_reader()
    run: Runner[T] | None = kernel.state.get("statement_runner")
    try:
        if run is not None:
            return await run(lambda: work(reader))
        if is_light and (answer := _tried(work, reader)) is not None:
            return answer[0]
        # Who waits for a statement may go away, and the kernel may stop: the statement ends then, however long it is.
        reader.set_progress_handler(_stop_when_cancelled, _STEPS_BETWEEN_CHECKS)
        return await trio.to_thread.run_sync(work, reader)
    finally:
        reader.set_progress_handler(None)
        index.give_back(reader)


def is_small(kernel: SiyuanKernel) -> bool:
    """Whether a search through everything is light work."""
    blocks = kernel.workspace.blocks
    return blocks.block_count <= LIGHT_SEARCH_BLOCKS_MAX and blocks.size <= LIGHT_SEARCH_BYTES_MAX


def _tried(work: Callable[[apsw.Connection], T], reader: apsw.Connection) -> tuple[T] | None:
    """What ``work`` gives, None when it takes too many steps (its answer, cut short by that, counts for nothing)."""
    calls = 0

    def stop() -> bool:
        # SQLite counts the steps of a statement it knows on from its last run: the first call may come at once.
        nonlocal calls
        calls += 1
        return calls > 1

    reader.set_progress_handler(stop, LIGHT_STEPS)
    try:
        answer = work(reader)
    except Exception:
        if calls > 1:
            return None
        raise
    return (answer,) if calls < 2 else None


def _stop_when_cancelled() -> bool:
    trio.from_thread.check_cancelled()
    return False
