"""/api/file: renaming and copying, their refusals in the order in which the kernel looks (as recorded from it)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

P = "/data/public"


@pytest.fixture
def shelf(kernel: MemoryKernel) -> MemoryKernel:
    for path in ("d/a.txt", "d/e/b.txt", "f.txt"):
        kernel.workspace.files.write(f"data/public/{path}", b"x", modified_ms=1_700_000_000_000)
    return kernel


def names(kernel: MemoryKernel) -> list[str]:
    return sorted(path for path, _ in kernel.workspace.files.walk("data/public"))


@pytest.mark.parametrize(
    ("path", "new_path", "code", "message"),
    [
        (f"{P}/d", f"{P}/d/x", 409, "Field [newPath]: cannot rename a directory into its own subdirectory"),
        (f"{P}/d/", f"{P}/d/q/", 409, "Field [newPath]: cannot rename a directory into its own subdirectory"),
        ("/", "/x", 409, "Field [newPath]: cannot rename a directory into its own subdirectory"),
        (f"{P}/d", f"{P}/d", 409, "Field [newPath]: path already exists"),
        (f"{P}/f.txt", f"{P}/d/a.txt/x", 409, f"Field [newPath]: parent path [{P}/d/a.txt] is not a directory"),
        (f"{P}/f.txt", f"{P}/f.txt/x", 409, f"Field [newPath]: parent path [{P}/f.txt] is not a directory"),
        (f"{P}/nope", "/../x", 404, "Field [path]: path does not exist"),
        ("/../x", f"{P}/f.txt", 403, "permission denied"),
        (f"{P}/f.txt", "/../x", 403, "permission denied"),
        ("/../x", 5, -1, "Field [newPath] should be of type [String]"),
        ("", "x", -1, "Field [path] must not be empty"),
    ],
)
async def test_a_refused_renaming_changes_nothing(
    shelf: MemoryKernel, path: str, new_path: Any, code: int, message: str
) -> None:
    before = names(shelf)
    answer = await shelf.answer("file/renameFile", path=path, newPath=new_path)
    assert (answer.code, answer.msg) == (code, message)
    assert names(shelf) == before


async def test_a_renaming_makes_the_folders_above(shelf: MemoryKernel) -> None:
    await shelf.call("file/renameFile", path=f"{P}/d", newPath=f"{P}/new/deep/d/")
    assert names(shelf) == ["data/public/f.txt", "data/public/new/deep/d/a.txt", "data/public/new/deep/d/e/b.txt"]


@pytest.mark.parametrize(
    ("sources", "folder", "code", "message"),
    [
        ([], "x", -1, "Field [srcs] must not be empty"),
        ("x", "y", -1, "Field [srcs] should be of type [Array]"),
        (["/../x"], 1e9, -1, "Field [destDir] should be of type [String]"),
        ([1], "x", -1, "Field [srcs]: each element should be of type [String]"),
        ([" "], "x", -1, "Field [srcs]: path must not be empty"),
        ([f"{P}/nope"], "/../x", -1, f"file [{P}/nope] does not exist"),
        (["/../x"], "x", 403, "permission denied"),
        ([f"{P}/d"], "/../x", 403, "permission denied"),
        ([f"{P}/d"], f"{P}/f.txt", -1, "Field [destDir]: path is not a directory"),
        ([f"{P}/d"], f"{P}/d", -1, "cannot copy to a sub path of the source"),
    ],
)
async def test_a_refused_copy_makes_nothing(
    shelf: MemoryKernel, sources: Any, folder: Any, code: int, message: str
) -> None:
    before = names(shelf)
    answer = await shelf.answer("file/workspaceCopyFiles", srcs=sources, destDir=folder)
    assert (answer.code, answer.msg) == (code, message)
    assert names(shelf) == before


async def test_copies_are_as_old_as_what_they_are_made_from(shelf: MemoryKernel) -> None:
    await shelf.call("file/workspaceCopyFiles", srcs=[f"{P}/d", f" {P}/f.txt "], destDir=f"{P}/copied")
    copied = dict(shelf.workspace.files.walk("data/public/copied"))
    assert sorted(copied) == [f"data/public/copied/{name}" for name in ("d/a.txt", "d/e/b.txt", "f.txt")]
    assert {stat.mtime_s for stat in copied.values()} == {1_700_000_000}


async def test_the_folder_of_a_copy_may_be_the_workspace_itself(shelf: MemoryKernel) -> None:
    await shelf.call("file/workspaceCopyFiles", srcs=[f"{P}/f.txt"], destDir="")
    assert shelf.workspace.files.exists("f.txt")
