"""/api/export: documents as Markdown."""

from __future__ import annotations

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel


async def _content(kernel: MemoryKernel, block_id: str, **options: object) -> str:
    answer = await kernel.call("export/exportMdContent", id=block_id, **{"yfm": False, "addTitle": False, **options})
    return str(answer["content"])


async def test_a_document_is_exported_with_head_and_title(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    answer = await kernel.call("export/exportMdContent", id=root_id)
    assert answer["hPath"] == "/Doc"
    head, _, body = answer["content"].removeprefix("---\n").partition("---\n")
    assert head.splitlines()[0] == "title: Doc"
    assert body.strip() == "# Doc\n\ntext"


async def test_one_block_is_exported_alone(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "one\n\ntwo")
    assert (await _content(kernel, (await kernel.children(root_id))[1])).strip() == "two"


@pytest.mark.parametrize(("mode", "wanted"), [(2, "[there](siyuan://blocks/{id})"), (3, "there"), (4, "there[^1]")])
async def test_references_are_exported_as_asked(kernel: MemoryKernel, mode: int, wanted: str) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    block_id = (await kernel.children(target))[0]
    source = await kernel.document(box, "/Source", f"see (({block_id} 'there'))")
    content = await _content(kernel, source, refMode=mode)
    assert content.splitlines()[0] == "see " + wanted.format(id=block_id)
    assert ("[^1]: text" in content) is (mode == 4)


async def test_block_queries_are_exported_with_what_they_find(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "found")
    block_id = (await kernel.children(target))[0]
    source = await kernel.document(box, "/Source", "{{SELECT * FROM blocks WHERE id = '" + block_id + "'}}")
    assert (await _content(kernel, source, embedMode=0)).strip() == "found"
    assert (await _content(kernel, source, embedMode=1)).strip() == "> found"


async def test_an_unknown_block_has_no_content_and_a_wrong_id_is_refused(kernel: MemoryKernel) -> None:
    answer = await kernel.call("export/exportMdContent", id="20200101000000-zzzzzzz")
    assert answer == {"hPath": "", "content": ""}
    assert await kernel.refusal("export/exportMdContent", id="x") == "invalid ID argument"


async def _footnotes(kernel: MemoryKernel, target: str, markdown: str = "see (({id} 'there'))") -> str:
    """The footnote of a reference to a block of another document whose Markdown is ``target``."""
    box = await kernel.notebook()
    other = await kernel.document(box, "/Other", target)
    block_id = (await kernel.children(other))[0]
    source = await kernel.document(box, "/Source", markdown.replace("{id}", block_id))
    return (await _content(kernel, source, refMode=4)).partition("[^1]: ")[2].rstrip()


async def test_a_footnote_on_a_heading_holds_what_is_under_it(kernel: MemoryKernel) -> None:
    text = await _footnotes(kernel, "## Head\n\nbelow\n\n## Next")
    assert "## Head" in text
    assert "below" in text
    assert "Next" not in text


async def test_a_footnote_on_an_item_is_a_list(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    other = await kernel.document(box, "/Other", "- one\n- two")
    item = (await kernel.children((await kernel.children(other))[0]))[1]
    source = await kernel.document(box, "/Source", f"(({item} 'it'))")
    content = await _content(kernel, source, refMode=4)
    assert "[^1]:" in content
    assert "- two" in content
    assert "- one" not in content


async def test_a_footnote_on_a_document_begins_with_its_title(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    other = await kernel.document(box, "/Other & more", "body")
    source = await kernel.document(box, "/Source", f"(({other} 'doc'))")
    content = await _content(kernel, source, refMode=4)
    assert "[^1]: # Other & more" in content
    assert "body" in content


async def test_footnotes_are_followed_from_one_to_the_next_and_back(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    first = await kernel.document(box, "/First", "start")
    (start,) = await kernel.children(first)
    second = await kernel.document(box, "/Second", f"middle (({start} 'back'))")
    (middle,) = await kernel.children(second)
    third = await kernel.document(box, "/Third", f"end (({middle} 'mid'))")
    content = await _content(kernel, third, refMode=4)
    assert content.splitlines()[0] == "end mid[^1]"
    assert "[^1]: middle back[^2]" in content
    assert "[^2]: start" in content


async def test_a_reference_within_the_export_becomes_a_link(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "target")
    (block_id,) = await kernel.children(root_id)
    await kernel.call("block/appendBlock", parentID=root_id, dataType="markdown", data=f"see (({block_id} 'up'))")
    assert f"see [up](#{block_id})" in await _content(kernel, root_id, refMode=4)


async def test_a_long_paragraph_of_the_same_document_is_a_short_footnote(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "x" * 80)
    (block_id,) = await kernel.children(root_id)
    await kernel.call("block/appendBlock", parentID=root_id, dataType="markdown", data=f"see (({block_id} 'up'))")
    last = (await kernel.children(root_id))[1]
    assert f"[^1]: {'x' * 64}...\n" in await _content(kernel, last, refMode=4) + "\n"


async def test_references_to_nothing_keep_their_text(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "see ((20200101000000-zzzzzzz 'gone'))")
    assert "gone" in (await _content(kernel, root_id, refMode=4)).splitlines()[0]


async def test_levels_are_adjusted_for_one_section(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "#### Deep\n\n##### Deeper\n\ntext")
    heading = (await kernel.children(root_id))[0]
    content = await _content(kernel, heading, adjustHeadingLevel=True)
    # Without a title of its own the settings' title counts: what stands in its place keeps its level.
    assert [line for line in content.splitlines() if line.startswith("#")] == ["#### Deep", "## Deeper"]
    content = await _content(kernel, heading, adjustHeadingLevel=True, addTitle=True)
    assert [line for line in content.splitlines() if line.startswith("#")] == ["# Doc", "## Deep", "### Deeper"]


async def test_a_cover_comes_first(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    attributes = {"title-img": 'background-image:url("assets/cover.png")'}
    await kernel.call("attr/setBlockAttrs", id=root_id, attrs=attributes)
    assert (await _content(kernel, root_id)).splitlines()[0] == "![image](assets/cover.png)"


async def test_queries_show_headings_documents_and_items_as_the_modes_say(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    other = await kernel.document(box, "/Other", "# Head\n\nbelow\n\n- item")
    heading, _, items = await kernel.children(other)
    (item,) = await kernel.children(items)
    for block_id, wanted in ((heading, "below"), (other, "# Head"), (item, "- item")):
        statement = "{{SELECT * FROM blocks WHERE id = '" + block_id + "'}}"
        source = await kernel.document(box, "/Source", f"## Above\n\n{statement}")
        shown = await _content(kernel, source, embedMode=0)
        assert wanted in shown.replace("### Head", "# Head"), shown
        assert ">" in await _content(kernel, source, embedMode=1)


@pytest.mark.parametrize("statement", ["DELETE FROM blocks", "SELECT 1; SELECT 2", "SELECT * FROM nowhere"])
async def test_a_query_that_may_not_be_or_fails_shows_nothing(kernel: MemoryKernel, statement: str) -> None:
    box = await kernel.notebook()
    source = await kernel.document(box, "/Source", "before\n\n{{" + statement + "}}")
    assert (await _content(kernel, source)).strip() == "before"


async def test_headings_are_adjusted_to_a_title_that_the_settings_want(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "# A\n\n### Sub\n\ntext")
    first, sub, _ = await kernel.children(root_id)
    assert await _content(kernel, first, adjustHeadingLevel=True) == "# A\n\n## Sub\n\ntext\n"
    assert await _content(kernel, sub, adjustHeadingLevel=True) == "### Sub\n\ntext\n"
    assert await _content(kernel, sub, adjustHeadingLevel=True, addTitle=True) == "# Doc\n\n## Sub\n\ntext\n"


async def test_an_embedded_table_is_as_narrow_as_its_text(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "| t |\n| - |\n| 1 |")
    block_id = (await kernel.children(target))[0]
    source = await kernel.document(box, "/Source", "{{SELECT * FROM blocks WHERE id = '" + block_id + "'}}")
    assert await _content(kernel, target) == "|t|\n| ---|\n|1|\n"
    assert await _content(kernel, source, embedMode=0) == "|t|\n| -|\n|1|\n"


async def test_queries_in_footnotes_show_what_they_find_before_the_rest(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    found = await kernel.document(box, "/Found", "* item")
    item = (await kernel.children((await kernel.children(found))[0]))[0]
    query = "{{SELECT * FROM blocks WHERE id = '" + item + "'}}"
    target = await kernel.document(box, "/Target", f"text\n\n{query}")
    source = await kernel.document(box, "/Source", f"see (({target} 'there'))")
    content = await _content(kernel, source)
    assert content.splitlines()[-5:] == ["[^1]: # Target", "", "    text", "", "    - item"]


async def test_copied_blocks_have_anchors_where_they_are_referred_to(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "| t |\n| - |\n| 1 |")
    table = (await kernel.children(target))[0]
    source = await kernel.document(box, "/Source", f"see (({table} 'there')) and (({target} 'all'))")
    copied = await kernel.call("lute/copyStdMarkdown", id=source)
    anchor = '<span id="{}" style="display: none;"></span>'
    assert f"[^1]: {anchor.format(table)}\n    |t|" in copied
    assert f"[^2]: # {anchor.format(target)}Target" in copied
