"""Assets: the folder of a document's files, what is stored of an upload, and which file a path means."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.workspace.assets import (
    INSERT_FAILED,
    find_asset,
    folder_of,
    is_there,
    same_asset,
    store_uploads,
    suffix_of,
)
from kernel.workspace.documents import Refusal
from kernel.workspace.file_backends import on_disk
from tests.siyuan.kernel_in_memory import MemoryKernel

ID = "20240101000000-abcdefg"
OTHER = "20240101000000-zzzzzzz"
COMMON = ("data/assets", "assets")


async def test_the_nearest_folder_that_is_there_takes_a_documents_assets(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    workspace = kernel.workspace
    assert folder_of(workspace, root_id) == "data/assets"
    workspace.files.make_dir(f"data/{box}/assets")
    assert folder_of(workspace, root_id) == f"data/{box}/assets"
    child = await kernel.document(box, "/Doc/Child", "text")
    workspace.files.make_dir(f"data/{box}/{root_id}/assets")
    assert folder_of(workspace, child) == f"data/{box}/{root_id}/assets"
    with pytest.raises(Refusal, match=INSERT_FAILED):
        folder_of(workspace, ID)


def test_the_same_content_under_the_same_name_is_stored_once(kernel: MemoryKernel) -> None:
    workspace = kernel.workspace
    (first,) = store_uploads(workspace, [("C:/x/A.PNG", b"one")], *COMMON).values()
    assert first.startswith("assets/A-")
    assert first.endswith(".png")
    stored = store_uploads(workspace, [("a.png", b"one"), ("a.png2", b"one"), (f"b-{ID}.txt", b"two")], *COMMON)
    assert stored["a.png"] == first
    assert stored[f"b-{ID}.txt"] == f"assets/b-{ID}.txt"
    assert workspace.files.read(f"data/{stored[f'b-{ID}.txt']}") == b"two"
    assert store_uploads(workspace, [("a.png", b"")], *COMMON)["a.png"] != first


def test_an_asset_of_the_folder_is_found_beside_the_common_ones(kernel: MemoryKernel) -> None:
    files = kernel.workspace.files
    files.write(f"data/box/assets/a-{ID}.png", b"one")
    assert same_asset(files, "a.png", b"one", "data/box/assets", "assets") == f"assets/a-{ID}.png"
    assert same_asset(files, "a.png", b"two", "data/box/assets", "assets") is None
    assert same_asset(files, "a.png", b"one", "data/assets/sub", "assets/sub") is None
    assert same_asset(files, "a.png", b"", "data/box/assets", "assets") is None


@pytest.mark.parametrize(
    ("there", "given", "stored"),
    [
        ("a-old.png", "a.png", "assets/a-old.png"),
        (f"xx{ID}.png", "y" * 300 + f"{ID}.png", f"assets/xx{ID}.png"),
        ("b.png", "a.png", None),
        ("a", "a.png", None),
    ],
)
def test_a_file_that_is_named_alike_stands_for_an_upload_where_duplicates_are_skipped(
    kernel: MemoryKernel, there: str, given: str, stored: str | None
) -> None:
    kernel.workspace.files.write(f"data/assets/{there}", b"other")
    found = store_uploads(kernel.workspace, [(given, b"new"), ("z.txt", b"z")], *COMMON, skips_duplicates=True)
    if stored is not None:
        assert found == {given: stored}  # what follows is passed over
    else:
        assert set(found) == {given, "z.txt"}


def test_nothing_is_alike_in_a_folder_that_is_not_there(kernel: MemoryKernel) -> None:
    stored = store_uploads(kernel.workspace, [("a.png", b"1")], "data/box/assets", "assets", skips_duplicates=True)
    assert kernel.workspace.files.read(f"data/box/{stored['a.png']}") == b"1"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("../conf/conf.json", "[../conf/conf.json] is not an asset path"),
        ("/assets/a.png", "[/assets/a.png] is not an asset path"),
        ("", "[.] is not an asset path"),
        ("b/a.png", "[b/a.png] is not an asset path (must start with assets/)"),
        ("assets/a.png?box=nobox", "[nobox] is not a box id"),
        (f"assets/a.png?box={ID}", "Query asset failed [assets/a.png]"),
    ],
)
def test_a_path_that_means_no_asset_is_refused(kernel: MemoryKernel, path: str, told: str) -> None:
    with pytest.raises(Refusal) as refusal:
        find_asset(kernel.workspace, path)
    assert str(refusal.value) == told


async def test_a_path_means_the_file_of_the_box_it_names_else_the_common_one_else_any(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    files = kernel.workspace.files
    files.write(f"data/{box}/assets/a.png", b"own")
    assert find_asset(kernel.workspace, " assets/a.png?p=2 ") == f"data/{box}/assets/a.png"
    files.write("data/assets/a.png", b"common")
    assert find_asset(kernel.workspace, "assets/a.png") == "data/assets/a.png"
    assert find_asset(kernel.workspace, f"assets/a.png?box={box}") == f"data/{box}/assets/a.png"
    with pytest.raises(Refusal):
        find_asset(kernel.workspace, "assets/b.png")
    assert suffix_of("assets/a.png?p=1") == ".png"


def test_a_link_out_of_the_workspace_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_bytes(b"x")
    workspace = tmp_path / "workspace"
    (workspace / "data").mkdir(parents=True)
    (workspace / "data" / "own.txt").write_bytes(b"x")
    (workspace / "data" / "link.txt").symlink_to(tmp_path / "secret.txt")
    files = on_disk(str(workspace), wall_ms=lambda: 0)
    assert is_there(files, "data/own.txt")
    assert not is_there(files, "data/link.txt")
    assert not is_there(files, "data/none.txt")
    assert not is_there(files, "../secret.txt")
