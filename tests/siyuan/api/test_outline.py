"""/api/outline: the headings of a document as a tree."""

from __future__ import annotations

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
