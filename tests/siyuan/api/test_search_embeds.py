"""/api/search: block queries, shown where they stand."""

from __future__ import annotations

from tests.siyuan.kernel_in_memory import MemoryKernel


async def _documents(kernel: MemoryKernel) -> tuple[str, str, str]:
    """A document with a heading and text below it, and one with a query; its id, the heading's, the query's."""
    box = await kernel.notebook()
    source = await kernel.document(box, "/Source", "# Head\n\nbelow\n\n# Next")
    heading = (await kernel.children(source))[0]
    statement = f"SELECT * FROM blocks WHERE id = '{heading}'"
    shown = await kernel.document(box, "/Shown", "{{" + statement + "}}")
    return statement, heading, (await kernel.children(shown))[0]


async def test_a_heading_comes_with_what_is_under_it(kernel: MemoryKernel) -> None:
    statement, heading, embed = await _documents(kernel)
    for mode, wanted in ((0, ["Head", "below"]), (1, ["Head"]), (2, ["below"])):
        answer = await kernel.call(
            "search/searchEmbedBlock", embedBlockID=embed, stmt=statement, excludeIDs=[], headingMode=mode
        )
        (entry,) = answer["blocks"]
        assert entry["block"]["id"] == heading
        assert [text for text in ("Head", "below", "Next") if f">{text}</div>" in entry["block"]["content"]] == wanted


async def test_what_was_shown_becomes_the_text_of_the_query(kernel: MemoryKernel) -> None:
    _, heading, embed = await _documents(kernel)
    await kernel.call("search/getEmbedBlock", embedBlockID=embed, includeIDs=[heading], headingMode=1)
    kernel.clock.advance(10)
    rows = await kernel.call("query/sql", stmt=f"SELECT content FROM blocks WHERE id = '{embed}'")
    assert rows == [{"content": "Head"}]
    await kernel.call("search/updateEmbedBlock", id=embed, content="else")
    assert await kernel.call("query/sql", stmt=f"SELECT content FROM blocks WHERE id = '{embed}'") == [
        {"content": "else"}
    ]


async def test_excluded_blocks_are_left_out_and_places_are_shown(kernel: MemoryKernel) -> None:
    statement, heading, embed = await _documents(kernel)
    call = {"embedBlockID": embed, "stmt": statement, "breadcrumb": True}
    (entry,) = (await kernel.call("search/searchEmbedBlock", excludeIDs=[], **call))["blocks"]
    assert entry["blockPaths"][0]["name"].endswith("Source")
    assert (await kernel.call("search/searchEmbedBlock", excludeIDs=[heading], **call))["blocks"] == []


async def test_only_queries_have_a_text_to_set(kernel: MemoryKernel) -> None:
    _, heading, _ = await _documents(kernel)
    assert await kernel.refusal("search/updateEmbedBlock", id=heading, content="x") == "not query embed block"
    assert (
        await kernel.refusal("search/updateEmbedBlock", id="20200101000000-zzzzzzz", content="x") == "block not found"
    )
