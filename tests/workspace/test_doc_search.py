"""Documents by title: what a user types into the move dialog."""

from __future__ import annotations

import pytest

from kernel.workspace.boxes import list_boxes
from kernel.workspace.doc_search import search_documents
from tests.siyuan.kernel_in_memory import MemoryKernel


@pytest.fixture
async def shelf(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str]:
    """(kernel, notebook, the document of a title that others contain)."""
    box = await kernel.notebook("Sea")
    plan = await kernel.document(box, "/Plan", "text")
    await kernel.document(box, "/A Plan", "text")
    await kernel.document(box, "/Plan/Week", "text")
    await kernel.call("attr/setBlockAttrs", id=plan, attrs={"memo": "krill"})
    closed = await kernel.notebook("Closed Plan")
    await kernel.document(closed, "/Plan", "text")
    await kernel.call("notebook/closeNotebook", notebook=closed)
    return kernel, box, plan


def titles(kernel: MemoryKernel, keyword: str, *excluded: str) -> list[str]:
    return [
        one["hPath"] for one in search_documents(kernel.workspace, keyword, [*excluded], list_boxes(kernel.workspace))
    ]


@pytest.mark.parametrize(
    ("keyword", "found"),
    [
        ("plan", ["Sea/Plan", "Sea/A Plan", "Sea/Plan/Week"]),
        (" PLAN we ", ["Sea/Plan/Week"]),
        ("krill", ["Sea/Plan"]),
        ("sea", ["Sea/", "Sea/Sea"]),
        ("", ["Sea/"]),
        ("none", []),
        ("20240101000000-unknown", []),
    ],
)
async def test_every_word_is_found_and_the_exact_title_comes_first(
    shelf: tuple[MemoryKernel, str, str], keyword: str, found: list[str]
) -> None:
    assert titles(shelf[0], keyword) == found


async def test_an_id_finds_its_document(shelf: tuple[MemoryKernel, str, str]) -> None:
    kernel, box, plan = shelf
    (found,) = search_documents(kernel.workspace, plan, [], list_boxes(kernel.workspace))
    assert found == {"box": box, "boxIcon": "", "hPath": "Sea/Plan", "path": f"/{plan}.sy"}


async def test_what_lies_in_an_excluded_document_is_left_out(shelf: tuple[MemoryKernel, str, str]) -> None:
    kernel, _, plan = shelf
    assert titles(kernel, "plan", plan) == ["Sea/A Plan"]


async def test_settings_bound_the_search(shelf: tuple[MemoryKernel, str, str]) -> None:
    kernel, _, _ = shelf
    search = kernel.workspace.conf.section("search")
    search["memo"] = False
    assert titles(kernel, "krill") == []
    search["limit"] = 1
    assert len(titles(kernel, "plan")) == 1
    search["caseSensitive"] = True
    assert (titles(kernel, "sea"), titles(kernel, "Sea")) == ([], ["Sea/", "Sea/Sea"])
    search["limit"] = 64
    assert titles(kernel, "PLAN") == []
    search["caseSensitive"] = False
    kernel.workspace.conf.file_tree["boxDocEnabled"] = False
    assert titles(kernel, "sea") == ["Sea/"]


async def test_attributes_are_compared_as_they_are_shown(shelf: tuple[MemoryKernel, str, str]) -> None:
    kernel, _, plan = shelf
    await kernel.call("attr/setBlockAttrs", id=plan, attrs={"memo": "a < b"})
    assert (titles(kernel, "<"), titles(kernel, "&lt;")) == (["Sea/Plan"], [])


async def test_documents_of_closed_notebooks_are_not_shown(shelf: tuple[MemoryKernel, str, str]) -> None:
    kernel, _, plan = shelf
    assert search_documents(kernel.workspace, plan, [], []) == []
