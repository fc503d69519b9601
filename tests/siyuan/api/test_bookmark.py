"""/api/bookmark: blocks by their bookmark."""

from __future__ import annotations

from tests.siyuan.kernel_in_memory import MemoryKernel


async def _marked(kernel: MemoryKernel) -> tuple[str, str]:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "one **two**\n\nthree")
    first, second = await kernel.children(root_id)
    await kernel.call("attr/setBlockAttrs", id=first, attrs={"bookmark": "to & fro"})
    await kernel.call("attr/setBlockAttrs", id=second, attrs={"bookmark": "a"})
    return first, second


async def test_bookmarks_are_listed_with_their_blocks(kernel: MemoryKernel) -> None:
    first, second = await _marked(kernel)
    marks = await kernel.call("bookmark/getBookmark")
    assert [(mark["name"], [block["id"] for block in mark["blocks"]]) for mark in marks] == [
        ("a", [second]),
        ("to & fro", [first]),
    ]
    assert await kernel.call("attr/getBookmarkLabels") == ["a", "to & fro"]


async def test_a_bookmark_is_renamed_and_removed_everywhere(kernel: MemoryKernel) -> None:
    first, second = await _marked(kernel)
    await kernel.call("bookmark/renameBookmark", oldBookmark="to & fro", newBookmark=" b ")
    assert (await kernel.call("attr/getBlockAttrs", id=first))["bookmark"] == "b"
    await kernel.call("bookmark/removeBookmark", bookmark="b")
    assert "bookmark" not in await kernel.call("attr/getBlockAttrs", id=first)
    assert (await kernel.call("attr/getBlockAttrs", id=second))["bookmark"] == "a"
    message = await kernel.refusal("bookmark/renameBookmark", oldBookmark="a", newBookmark=" ")
    assert message == "Bookmark cannot be empty"
    message = await kernel.refusal("bookmark/renameBookmark", oldBookmark="a", newBookmark="x*y")
    assert message == "Do not include Markdown syntax marker [*]"
