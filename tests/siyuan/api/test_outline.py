"""/api/outline: the headings of a document as a tree."""

from __future__ import annotations

import json

from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_headings_hang_below_higher_ones(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "# One\n\n### Deep\n\n## Two\n\n# Last **bold**")
    outline = await kernel.call("outline/getDocOutline", id=root_id)
    assert [(top["name"], top["subType"], top["count"]) for top in outline] == [
        ("One", "h1", 2),
        ('Last&nbsp;<span data-type="strong">bold</span>', "h1", 0),
    ]
    assert [(block["content"], block["depth"]) for block in outline[0]["blocks"]] == [("Deep", 1), ("Two", 1)]


async def test_a_document_without_headings_has_no_outline(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    assert await kernel.call("outline/getDocOutline", id=root_id) is None


async def test_a_preview_shows_the_title_above_and_folded_headings_are_told(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "# One\n\n## Two")
    outline = await kernel.call("outline/getDocOutline", id=root_id, preview=True)
    assert [(top["name"], top["count"]) for top in outline] == [("Doc", 0), ("One", 1)]
    heading = (await kernel.children(root_id))[0]
    folds = {root_id: {"expandIds": [heading]}}
    kernel.workspace.files.write("data/storage/outline.json", json.dumps(folds).encode())
    (one,) = await kernel.call("outline/getDocOutline", id=root_id)
    assert (one["folded"], one["blocks"][0]["folded"]) == (False, True)


async def test_an_unknown_document_has_an_empty_outline_and_a_wrong_id_is_refused(kernel: MemoryKernel) -> None:
    assert await kernel.call("outline/getDocOutline", id="20200101000000-zzzzzzz") == []
    assert await kernel.call("outline/getDocOutline") is None
    assert await kernel.refusal("outline/getDocOutline", id="x") == "invalid ID argument"
