"""/api/ref: what refers to a document or block, and what mentions it."""

from __future__ import annotations

import pytest

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


async def test_a_reference_that_lost_its_target_counts_for_its_document_where_that_holds_a_list(
    kernel: MemoryKernel,
) -> None:
    """As seen on the real kernel, in documents with a list and without one."""
    box = await kernel.notebook()
    lost = "see ((20200101000000-abcdefg 'ghost'))"
    plain = await kernel.document(box, "/Plain", lost)
    listing = await kernel.document(box, "/Listing", f"{lost}\n\n* item")
    plain_info, listing_info = await kernel.call("block/getDocsInfo", ids=[plain, listing], refCount=True, av=False)
    assert (plain_info["refCount"], plain_info["refIDs"]) == (0, [])
    first = (await kernel.call("block/getChildBlocks", id=listing))[0]["id"]
    assert (listing_info["refCount"], listing_info["refIDs"]) == (1, [first])
    (uncounted,) = await kernel.call("block/getDocsInfo", ids=[listing], refCount=False, av=False)
    assert uncounted["refIDs"] is None


async def test_drawing_a_document_anew_refreshes_the_anchors_that_point_into_it(kernel: MemoryKernel) -> None:
    target, source, _ = await _linked(kernel)
    await kernel.call("ui/reloadProtyle", id=target)
    kramdown = (await kernel.call("block/getBlockKramdown", id=source))["kramdown"]
    assert f"(({target} 'Whale'))" in kramdown


async def test_the_older_form_lists_the_blocks_too(kernel: MemoryKernel) -> None:
    target, source, other = await _linked(kernel)
    answer = await kernel.call("ref/getBacklink", id=target, k="", mk="")
    assert [path["id"] for path in answer["backlinks"]] == [source]
    assert [path["id"] for path in answer["backmentions"]] == [other]
    assert (answer["linkRefsCount"], answer["mentionsCount"]) == (1, 1)


async def test_the_older_form_of_a_block_that_nobody_refers_to_says_null(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    lonely = await kernel.document(box, "/Lonely", "text")
    answer = await kernel.call("ref/getBacklink", id=lonely, k="", mk="")
    assert (answer["backlinks"], answer["linkRefsCount"]) == (None, 0)
    unknown = await kernel.call("ref/getBacklink", id="20200101000000-zzzzzzz", k="", mk="")
    assert unknown["backlinks"] == []


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
    assert answer["keywords"] == ["whale"]


async def test_an_unknown_block_has_neither(kernel: MemoryKernel) -> None:
    answer = await kernel.call("ref/getBacklink2", id="20200101000000-zzzzzzz", k="", mk="")
    assert (answer["backlinks"], answer["backmentions"]) == ([], [])
    assert await kernel.call("ref/refreshBacklink", id="20200101000000-zzzzzzz") is None


async def test_only_backlinks_with_the_keyword_are_listed(kernel: MemoryKernel) -> None:
    target, source, _ = await _linked(kernel)
    for keyword, count in (("see", 1), ("absent", 0)):
        answer = await kernel.call("ref/getBacklink2", id=target, k=keyword, mk="")
        assert (len(answer["backlinks"]), answer["linkRefsCount"]) == (count, count)
        answer = await kernel.call("ref/getBacklinkDoc", defID=target, refTreeID=source, keyword=keyword)
        assert (len(answer["backlinks"]), answer["keywords"]) == (count, [keyword])
    answer = await kernel.call("ref/getBacklink2", id=target, k="", mk="absent")
    assert answer["backmentions"] == []


async def test_a_block_is_linked_without_the_blocks_below_when_so_asked(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "- item")
    (item_list,) = await kernel.children(target)
    (item,) = await kernel.children(item_list)
    await kernel.document(box, "/Source", f"(({item} 'it'))")
    for block_id, with_children, count in (
        (target, True, 1),
        (target, False, 0),
        (item_list, True, 1),
        (item, False, 1),
    ):
        answer = await kernel.call("ref/getBacklink2", id=block_id, k="", mk="", containChildren=with_children)
        assert answer["linkRefsCount"] == count


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ("0", ["a", "b10", "b9"]),
        ("1", ["b9", "b10", "a"]),
        ("2", ["b10", "b9", "a"]),
        ("3", ["a", "b9", "b10"]),
        ("4", ["a", "b9", "b10"]),
        ("5", ["b10", "b9", "a"]),
        ("9", ["b10", "b9", "a"]),
        ("10", ["a", "b9", "b10"]),
        ("7", ["a", "b9", "b10"]),
    ],
)
async def test_documents_are_sorted_as_asked(kernel: MemoryKernel, sort: str, wanted: list[str]) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    for name in ("b10", "b9", "a"):
        kernel.clock.advance(5)
        await kernel.document(box, f"/{name}", f"(({target} 'x'))")
    answer = await kernel.call("ref/getBacklink2", id=target, k="", mk="", sort=sort)
    assert [path["name"] for path in answer["backlinks"]] == wanted


async def test_an_item_stands_for_its_paragraph_and_is_folded_when_it_says_more(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    source = await kernel.document(box, "/Source", f"- see (({target} 'x')) more\n\n  - below\n- (({target} 'y'))")
    answer = await kernel.call("ref/getBacklinkDoc", defID=target, refTreeID=source, keyword="")
    assert [(link["dom"].count('data-type="NodeListItem"'), link["expand"]) for link in answer["backlinks"]] == [
        (2, False),
        (1, True),
    ]
    older = await kernel.call("ref/getBacklink", id=target, k="see", mk="")
    (path,) = older["backlinks"]
    assert [branch["nodeType"] for branch in path["children"]] == ["NodeListItem", "NodeListItem"]


async def test_names_aliases_and_anchors_are_mentions_when_the_settings_say(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    await kernel.call("attr/setBlockAttrs", id=target, attrs={"name": "orca", "alias": "grampus,killer"})
    other = await kernel.document(box, "/Other", "an orca\n\na grampus\n\nkillers")
    conf = kernel.workspace.conf.section("search")
    for is_alias_used, count in ((False, 1), (True, 2)):
        conf["backlinkMentionAlias"] = is_alias_used
        answer = await kernel.call("ref/getBacklink2", id=target, k="", mk="")
        assert [(path["id"], path["count"]) for path in answer["backmentions"]] == [(other, count)]
    for name in ("Name", "Alias", "Doc", "Anchor"):
        conf[f"backlinkMention{name}"] = False
    assert (await kernel.call("ref/getBacklink2", id=target, k="", mk=""))["mentionsCount"] == 0
