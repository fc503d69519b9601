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


async def test_a_document_is_shown_as_the_blocks_in_it_under_its_own_name(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    source = await kernel.document(box, "/Source", "# Head\n\n* item")
    (entry,) = (
        await kernel.call(
            "search/searchEmbedBlock",
            embedBlockID=source,
            stmt=f"SELECT * FROM blocks WHERE id = '{source}'",
            excludeIDs=[],
            breadcrumb=True,
        )
    )["blocks"]
    assert entry["block"]["content"].count("data-node-index") == 2
    assert ">Head</div>" in entry["block"]["content"]
    assert entry["blockPaths"][0]["name"].endswith("/Source")


async def test_only_blocks_right_below_a_document_are_numbered(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    source = await kernel.document(box, "/Source", "* item")
    statement = f"SELECT * FROM blocks WHERE root_id = '{source}' AND type IN ('l', 'i', 'p') ORDER BY type"
    answer = await kernel.call("search/searchEmbedBlock", embedBlockID=source, stmt=statement, excludeIDs=[])
    numbered = {entry["block"]["type"]: "data-node-index" in entry["block"]["content"] for entry in answer["blocks"]}
    assert numbered == {"NodeListItem": False, "NodeList": True, "NodeParagraph": False}


async def test_the_text_of_what_is_shown_has_its_blank_marks_and_not_where_it_leads(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    source = await kernel.document(box, "/Source", "#tag# x [f](assets/f.pdf) [l](https://a.b)\n\n* item")
    statement = f"SELECT * FROM blocks WHERE root_id = '{source}' AND type IN ('p', 'l') AND content NOT LIKE 'item' ORDER BY type DESC"
    answer = await kernel.call("search/searchEmbedBlock", embedBlockID=source, stmt=statement, excludeIDs=[])
    assert [entry["block"]["markdown"] for entry in answer["blocks"]] == ["\u200b#tag#\u200b x f l", " item"]


async def test_a_heading_of_which_only_the_rest_is_shown_keeps_its_name_in_its_place(kernel: MemoryKernel) -> None:
    statement, _, embed = await _documents(kernel)
    call = {"embedBlockID": embed, "stmt": statement, "excludeIDs": [], "breadcrumb": True}
    for mode, wanted in ((0, ""), (2, "Head")):
        (entry,) = (await kernel.call("search/searchEmbedBlock", headingMode=mode, **call))["blocks"]
        assert entry["blockPaths"][-1]["name"] == wanted
