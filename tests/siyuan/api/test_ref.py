"""/api/ref: what refers to a document or block, and what mentions it."""

from __future__ import annotations

from tests.siyuan.kernel_in_memory import MemoryKernel


async def _linked(kernel: MemoryKernel) -> tuple[str, str, str]:
    """A document, one that refers to it, one that says its name."""
    box = await kernel.notebook()
    target = await kernel.document(box, "/Whale", "text")
    source = await kernel.document(box, "/Sea", f"# Head\n\nsee (({target} 'there'))\n\nnothing")
    other = await kernel.document(box, "/Book", "about a whale\n\nnothing")
    return target, source, other


async def test_backlinks_and_mentions_are_counted_by_document(kernel: MemoryKernel) -> None:
    target, source, other = await _linked(kernel)
    answer = await kernel.call("ref/getBacklink2", id=target, k="", mk="")
    assert [(path["id"], path["count"]) for path in answer["backlinks"]] == [(source, 1)]
    assert [(path["id"], path["count"]) for path in answer["backmentions"]] == [(other, 1)]
    assert (answer["linkRefsCount"], answer["mentionsCount"]) == (1, 1)


async def test_the_older_form_lists_the_blocks_too(kernel: MemoryKernel) -> None:
    target, source, other = await _linked(kernel)
    answer = await kernel.call("ref/getBacklink", id=target, k="", mk="")
    assert [path["id"] for path in answer["backlinks"]] == [source]
    assert [path["id"] for path in answer["backmentions"]] == [other]
    assert (answer["linkRefsCount"], answer["mentionsCount"]) == (1, 1)


async def test_the_referring_block_is_shown_with_its_place(kernel: MemoryKernel) -> None:
    target, source, _ = await _linked(kernel)
    answer = await kernel.call("ref/getBacklinkDoc", defID=target, refTreeID=source, keyword="")
    (link,) = answer["backlinks"]
    assert "see" in link["dom"]
    assert [crumb["name"] for crumb in link["blockPaths"]][1] == "Head"


async def test_a_mention_is_shown_marked(kernel: MemoryKernel) -> None:
    target, _, other = await _linked(kernel)
    answer = await kernel.call("ref/getBackmentionDoc", defID=target, refTreeID=other, keyword="")
    (mention,) = answer["backmentions"]
    assert "search-mark" in mention["dom"]
    assert answer["keywords"] == ["Whale"]


async def test_an_unknown_block_has_neither(kernel: MemoryKernel) -> None:
    answer = await kernel.call("ref/getBacklink2", id="20200101000000-zzzzzzz", k="", mk="")
    assert (answer["backlinks"], answer["backmentions"]) == ([], [])
    assert await kernel.call("ref/refreshBacklink", id="20200101000000-zzzzzzz") is None
