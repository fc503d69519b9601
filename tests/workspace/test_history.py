"""Kept versions: what lies in history, finding it again, putting it back."""

from __future__ import annotations

import pytest

from kernel.workspace.documents import Refusal, keep_version
from kernel.workspace.history import (
    ASSET,
    DATABASE,
    DOCUMENT_CONTENT,
    DOCUMENT_ID,
    DOCUMENT_NAME,
    HISTORY,
    HistoryQuery,
    clear_history,
    inside_history,
    keep_document,
    kept_files,
    kept_tree,
    removed_notebooks,
    restore_document,
    restore_files,
)
from tests.siyuan.kernel_in_memory import MemoryKernel

FOLDER = f"{HISTORY}/2026-03-01-090000-update"


@pytest.fixture
async def kept(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str]:
    """(kernel, notebook, document of which a version is kept, with an asset and a database)."""
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Plan", "whale song")
    keep_document(kernel.workspace, root_id)
    for path in ("assets/Pic.png", "storage/av/View.json", f"{box}/note.txt"):
        kernel.workspace.files.write(f"{FOLDER}/{path}", b"x")
    kernel.workspace.files.write(f"{FOLDER}/{box}/broken.sy", b"{")
    return kernel, box, root_id


@pytest.mark.parametrize(
    ("text", "kind", "titles"),
    [
        ("pla", DOCUMENT_NAME, ["Plan"]),
        ("song", DOCUMENT_NAME, []),
        ("SONG", DOCUMENT_CONTENT, ["Plan"]),
        ("plan", DOCUMENT_CONTENT, ["Plan"]),
        ("none", DOCUMENT_CONTENT, []),
        ("", DOCUMENT_ID, ["Plan"]),
        ("ROOT", DOCUMENT_ID, ["Plan"]),
        ("other", DOCUMENT_ID, []),
        ("pic", ASSET, ["Pic.png"]),
        ("none", ASSET, []),
        ("view", DATABASE, ["View.json"]),
        ("", 9, []),
    ],
)
async def test_kept_files_are_found_by_name_content_or_id(
    kept: tuple[MemoryKernel, str, str], text: str, kind: int, titles: list[str]
) -> None:
    kernel, _, root_id = kept
    found = kept_files(kernel.workspace, HistoryQuery(text.replace("ROOT", root_id), kind))
    assert [one.title for one in found] == titles


async def test_a_query_may_name_notebook_operation_and_moment(kept: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, _ = kept
    workspace = kernel.workspace
    for name in ("note.txt", "2026-13-01-090000-update/x", "plain/x"):
        workspace.files.write(f"{HISTORY}/{name}", b"x")
    workspace.files.write(
        f"{HISTORY}/2026-02-01-090000-delete/{box}/a.sy", workspace.files.read(f"data/{box}/{box}.sy")
    )
    first, second = kept_files(workspace, HistoryQuery(kind=DOCUMENT_ID))
    assert (first.operation, second.operation, first.created > second.created) == ("update", "delete", True)
    for query, count in (
        (HistoryQuery(kind=DOCUMENT_ID, operation="all", box="%"), 2),
        (HistoryQuery(kind=DOCUMENT_ID, operation="delete"), 1),
        (HistoryQuery(kind=DOCUMENT_ID, box=box), 2),
        (HistoryQuery(kind=DOCUMENT_ID, box="other"), 0),
    ):
        assert len(kept_files(workspace, query)) == count
    assert kept_files(workspace, HistoryQuery(kind=DOCUMENT_ID), second.created) == [second]


async def test_a_kept_document_is_read_and_anything_else_is_none(kept: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, root_id = kept
    tree = kept_tree(kernel.workspace, f"/{FOLDER}/{box}/{root_id}.sy")
    assert tree is not None
    assert tree.id == root_id
    for path in (
        "../x.sy",
        f"data/{box}/{root_id}.sy",
        f"{FOLDER}/{box}/note.txt",
        f"{FOLDER}/{box}/broken.sy",
        f"{FOLDER}/none.sy",
    ):
        assert kept_tree(kernel.workspace, path) is None
    assert inside_history("/history/./a") == "history/a"
    with pytest.raises(Refusal, match="is not in workspace"):
        inside_history("../conf")


async def test_a_version_is_put_back_where_its_document_stands(kept: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, root_id = kept
    await kernel.call("block/updateBlock", id=(await kernel.children(root_id))[0], dataType="markdown", data="new")
    kernel.clock.advance(60)
    restore_document(kernel.workspace, f"{FOLDER}/{box}/{root_id}.sy")
    assert await kernel.texts(root_id) == ["whale song"]
    assert kernel.workspace.files.exists(f"{HISTORY}/2026-03-01-090100-update/{box}/{root_id}.sy")


async def test_a_version_of_what_is_gone_is_put_where_it_stood_or_at_the_top(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    parent = await kernel.document(box, "/Parent", "x")
    child = await kernel.document(box, "/Parent/Child", "y")
    workspace = kernel.workspace
    for root_id in (parent, child):
        keep_version(workspace, root_id, "update")
    await kernel.call("filetree/removeDocByID", id=parent)
    restore_document(workspace, f"{FOLDER}/{box}/{parent}/{child}.sy")
    assert workspace.entry(child).path == f"/{child}.sy"
    await kernel.call("filetree/removeDocByID", id=child)
    restore_document(workspace, f"{FOLDER}/{box}/{parent}.sy")
    restore_document(workspace, f"{FOLDER}/{box}/{parent}/{child}.sy")
    assert workspace.entry(child).path == f"/{parent}/{child}.sy"
    await kernel.call("notebook/closeNotebook", notebook=box)
    with pytest.raises(Refusal, match="Query notebook failed"):
        restore_document(workspace, f"{FOLDER}/{box}/{parent}.sy")


async def test_what_is_no_version_is_not_put_back(kept: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, _ = kept
    for path in (f"{FOLDER}/none.sy", f"{FOLDER}/{box}/broken.sy"):
        with pytest.raises(Refusal, match="not exist"):
            restore_document(kernel.workspace, path)
    restore_files(kernel.workspace, f"{FOLDER}/assets/Pic.png")
    assert kernel.workspace.files.read("data/assets/Pic.png") == b"x"
    for path in (HISTORY, "data/assets/Pic.png", f"{FOLDER}/assets/none.png"):
        with pytest.raises(Refusal, match="not exist"):
            restore_files(kernel.workspace, path)


async def test_removed_notebooks_are_listed_the_latest_first(kernel: MemoryKernel) -> None:
    assert (removed_notebooks(kernel.workspace), kept_files(kernel.workspace, HistoryQuery())) == ([], [])
    boxes = []
    for _ in range(2):
        boxes.append(await kernel.notebook())
        await kernel.call("notebook/removeNotebook", notebook=boxes[-1])
        kernel.clock.advance(60)
    for path in (
        "2026-03-01-090000-delete/assets/a",
        "2026-03-01-090000-update/x/y",
        f"2026-13-01-090000-delete/{boxes[0]}/z",
        "plain/x",
    ):
        kernel.workspace.files.write(f"{HISTORY}/{path}", b"x")
    found = removed_notebooks(kernel.workspace)
    assert [box for _, box, _ in found] == [boxes[1], boxes[0]]
    assert found[0][2] == f"{HISTORY}/2026-03-01-090100-delete/{boxes[1]}"
    clear_history(kernel.workspace)
    assert kernel.workspace.files.list(HISTORY) == []
    kernel.workspace.files.remove(HISTORY)
    clear_history(kernel.workspace)
    assert kernel.workspace.files.is_dir(HISTORY)
