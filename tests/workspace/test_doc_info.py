"""What a document's own panel shows."""

from __future__ import annotations

import json

import pytest

from kernel.workspace.doc_info import document_info, files_below, lost_references, referring_blocks
from tests.siyuan.kernel_in_memory import MemoryKernel

LOST = "see ((20200101000000-abcdefg 'ghost'))"
GONE = "20240101000000-unknown"


@pytest.fixture
async def pair(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str, str]:
    """(kernel, notebook, a document, one that refers to it and to its only block)."""
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    (block_id,) = await kernel.children(target)
    return kernel, box, target, await kernel.document(box, "/Source", f"(({target} 'x'))\n\n(({block_id} 'y'))")


async def test_a_document_counts_who_refers_to_it_or_its_blocks(pair: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, _, target, source = pair
    workspace = kernel.workspace
    (block_id,) = await kernel.children(target)
    first, second = await kernel.children(source)
    info = document_info(workspace, workspace.document(target), target)
    assert (info["refCount"], info["refIDs"], info["name"], info["rootID"]) == (2, [first, second], "Target", target)
    assert list(info["ial"]) == sorted(info["ial"])
    info = document_info(workspace, workspace.document(target), block_id)
    assert (info["id"], info["refIDs"]) == (block_id, [second])
    uncounted = document_info(workspace, workspace.document(target), target, counts_refs=False)
    assert (uncounted["refCount"], uncounted["refIDs"]) == (0, None)
    assert referring_blocks(workspace, GONE) == []


async def test_lost_references_count_for_their_own_document_where_it_holds_a_list(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    plain = kernel.workspace.document(await kernel.document(box, "/Plain", LOST))
    listing = kernel.workspace.document(await kernel.document(box, "/Listing", f"{LOST} {LOST}\n\n* item"))
    first = listing.root.children[0].id
    assert (lost_references(plain.root), lost_references(listing.root)) == ([], [first])
    assert document_info(kernel.workspace, listing, listing.id)["refIDs"] == [first]
    assert document_info(kernel.workspace, listing, first)["refIDs"] == []


async def test_the_documents_right_below_are_counted_without_the_notebooks_own(
    pair: tuple[MemoryKernel, str, str, str],
) -> None:
    kernel, box, target, source = pair
    await kernel.document(box, "/Target/Child", "text")
    await kernel.document(box, "/Target/Child/Deep", "text")
    path = kernel.workspace.entry(target).path
    assert files_below(kernel.workspace, box, path, target) == 1
    assert files_below(kernel.workspace, box, kernel.workspace.entry(source).path, source) == 0
    assert files_below(kernel.workspace, box, f"/{box}.sy", box) == 2


@pytest.mark.parametrize(
    ("place", "is_shown"),
    [
        ({"startId": "BLOCK", "endId": "BLOCK"}, True),
        ({"startId": "BLOCK"}, True),
        ({"startId": "BLOCK", "endId": GONE}, False),
        ({"zoomInId": "BLOCK", "startId": GONE}, True),
        ({"zoomInId": GONE}, False),
        ([], False),
        ("{", False),
    ],
)
async def test_a_place_in_what_is_gone_is_not_shown(
    pair: tuple[MemoryKernel, str, str, str], place: object, is_shown: bool
) -> None:
    kernel, _, target, _ = pair
    (block_id,) = await kernel.children(target)
    value = place if isinstance(place, str) else json.dumps(place).replace("BLOCK", block_id)
    document = kernel.workspace.document(target)
    document.root.properties["scroll"] = value.replace('"', "&quot;")
    info = document_info(kernel.workspace, document, target)
    assert ("scroll" in info["ial"]) is is_shown
