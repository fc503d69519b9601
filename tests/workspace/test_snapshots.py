"""Snapshots of the data folder."""

from __future__ import annotations

import pytest

from kernel.workspace.documents import Refusal
from kernel.workspace.snapshots import (
    check_out,
    compared,
    content_of,
    file_of,
    forget_all,
    listed_files,
    put_back,
    remove_tag,
    set_tag,
    snapshot_of,
    snapshots,
    tags,
    take_snapshot,
)
from tests.siyuan.kernel_in_memory import MemoryKernel


def put(kernel: MemoryKernel, name: str, content: bytes) -> None:
    kernel.workspace.files.write(f"data/{name}", content)


def test_nothing_new_is_the_latest_snapshot_again(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    assert snapshots(workspace) == []
    put(kernel, "a.txt", b"one")
    put(kernel, "b.db", b"open")
    first = take_snapshot(workspace, "first")
    assert take_snapshot(workspace, "again") == first
    assert [(file.path, file.size) for file in first.files] == [("/.siyuan/syncignore", 0), ("/a.txt", 3)]
    assert (first.size, first.memo) == (3, "first")
    put(kernel, "a.txt", b"two")
    second = take_snapshot(workspace, "second")
    assert second.created == first.created + 1  # the clock stands still, but one is later
    assert snapshots(workspace) == [second, first]
    assert [content_of(workspace, file) for file in first.files] == [b"", b"one"]


async def test_a_workspace_with_documents_has_two_lists_of_what_is_left_out(kernel: MemoryKernel) -> None:
    await kernel.notebook()
    take_snapshot(kernel.workspace, "")
    for name in ("syncignore", "indexignore"):
        assert kernel.workspace.files.read(f"data/.siyuan/{name}") == b""


def test_two_snapshots_are_compared_by_file(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    put(kernel, "same.txt", b"same")
    put(kernel, "old.txt", b"x")
    put(kernel, "both.txt", b"1")
    left = take_snapshot(workspace, "left")
    workspace.files.remove("data/old.txt")
    put(kernel, "new.txt", b"y")
    put(kernel, "both.txt", b"2")
    right = take_snapshot(workspace, "right")
    gone, changed, come = compared(left, right)
    assert [[file.path for file in some] for some in (gone, come)] == [["/old.txt"], ["/new.txt"]]
    assert [(ours.path, content_of(workspace, theirs)) for ours, theirs in changed] == [("/both.txt", b"2")]
    versions = [(snapshot.memo, file.path) for snapshot, file in listed_files(workspace)]
    assert len(versions) == len(set(versions)) == 6


async def test_the_data_folder_becomes_what_it_was(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "old")
    before = take_snapshot(workspace, "before")
    await kernel.call("block/updateBlock", id=(await kernel.children(root_id))[0], dataType="markdown", data="new")
    put(kernel, "new.txt", b"x")
    put(kernel, "kept.db", b"x")
    check_out(workspace, before)
    assert await kernel.texts(root_id) == ["old"]
    assert (workspace.files.exists("data/new.txt"), workspace.files.exists("data/kept.db")) == (False, True)
    assert [one.memo for one in snapshots(workspace)] == ["[Checkout] Before checkout", "before"]
    latest = snapshots(workspace)[0]
    put_back(workspace, next(file for file in latest.files if file.path.endswith(f"{root_id}.sy")))
    assert await kernel.texts(root_id) == ["new"]


def test_what_is_unknown_or_broken_is_told_in_the_systems_words(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    put(kernel, "a.txt", b"one")
    taken = take_snapshot(workspace, "")
    assert snapshot_of(workspace, taken.id) == taken
    assert file_of(workspace, taken.files[0].id) == taken.files[0]
    for unknown in ("short", "0" * 40, "../" + "0" * 37):
        with pytest.raises(Refusal, match="no such file or directory"):
            snapshot_of(workspace, unknown)
    with pytest.raises(Refusal, match="objects/00/"):
        file_of(workspace, "0" * 40)
    for content in (b"{", b"{}", b'{"files": [{"id": 1}], "memo": "", "created": 0}'):
        workspace.files.write(f"repo/indexes/{'1' * 40}", content)
        assert snapshots(workspace) == [taken]


def test_tags_are_set_removed_and_forgotten(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    set_tag(workspace, "a", "x")
    set_tag(workspace, "b", "y")
    remove_tag(workspace, "unknown")
    assert tags(workspace) == {
        name: {"id": one, "updated": kernel.clock.wall_ms()} for name, one in (("a", "x"), ("b", "y"))
    }
    remove_tag(workspace, "a")
    assert list(tags(workspace)) == ["b"]
    for content in (b"{", b"[]"):
        workspace.files.write("repo/tags.json", content)
        assert tags(workspace) == {}
    forget_all(workspace)
    forget_all(workspace)
    assert not workspace.files.is_dir("repo")
