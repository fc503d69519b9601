"""/api/search: finding blocks by text, typing references, and replacing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kernel.siyuan.push import PushSession
from tests.siyuan.kernel_in_memory import MemoryKernel


async def _found(kernel: MemoryKernel, query: str, **options: Any) -> list[tuple[str, str]]:
    answer = await kernel.call("search/fullTextSearchBlock", query=query, **options)
    return [(block["type"], block["content"]) for block in answer["blocks"]]


async def _library(kernel: MemoryKernel) -> str:
    box = await kernel.notebook()
    await kernel.document(box, "/Fruit", "# Apple\n\nAn apple a day\n\n- apple pie")
    await kernel.document(box, "/Tools", "A saw and an apple corer\n\n```py\napple()\n```")
    return box


@pytest.mark.parametrize(
    ("method", "query"),
    [
        (0, "apple pie"),
        (1, "apple AND pie"),
        (2, "SELECT * FROM blocks WHERE content LIKE '%apple pie%'"),
        (3, "ap+le p"),
    ],
)
async def test_each_method_finds_the_block(kernel: MemoryKernel, method: int, query: str) -> None:
    await _library(kernel)
    answer = await kernel.call("search/fullTextSearchBlock", query=query, method=method)
    texts = {re.sub("</?mark>", "", block["content"]) for block in answer["blocks"]}
    assert "apple pie" in texts
    assert "apple corer" not in "".join(texts)
    assert answer["matchedRootCount"] == 1
    assert answer["pageCount"] == 1


async def test_only_the_chosen_types_and_places_are_searched(kernel: MemoryKernel) -> None:
    box = await _library(kernel)
    other = await kernel.notebook("Other")
    await kernel.document(other, "/Else", "apple")
    found = await _found(kernel, "apple", types={"codeBlock": True})
    assert [kind for kind, _ in found] == ["NodeCodeBlock"]
    assert len(await _found(kernel, "apple", types={"paragraph": True}, paths=[other])) == 1
    assert len(await _found(kernel, "apple", types={"paragraph": True}, paths=[box])) == 3


async def test_hits_are_marked_and_counted_and_come_in_pages(kernel: MemoryKernel) -> None:
    await _library(kernel)
    chosen = {"types": {"paragraph": True}, "pageSize": 2}
    first = await kernel.call("search/fullTextSearchBlock", query="apple", page=1, **chosen)
    second = await kernel.call("search/fullTextSearchBlock", query="apple", page=2, **chosen)
    assert (first["matchedBlockCount"], first["matchedRootCount"], first["pageCount"]) == (3, 2, 2)
    assert len({block["id"] for page in (first, second) for block in page["blocks"]}) == 3
    assert all("<mark>apple</mark>" in block["content"] for block in first["blocks"])


async def test_hits_are_grouped_under_their_documents(kernel: MemoryKernel) -> None:
    await _library(kernel)
    answer = await kernel.call(
        "search/fullTextSearchBlock", query="apple", types={"paragraph": True, "heading": True}, groupBy=1
    )
    assert {root["hPath"]: len(root["children"]) for root in answer["blocks"]} == {"/Fruit": 3, "/Tools": 1}


async def test_typing_a_reference_offers_blocks_by_name_alias_and_text(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "plain\n\nsecond")
    first, second = await kernel.children(root_id)
    await kernel.call("attr/setBlockAttrs", id=first, attrs={"name": "needle"})
    answer = await kernel.call("search/searchRefBlock", id=second, rootID=root_id, k="needle", beforeLen=12)
    assert [(block["id"], block["refText"]) for block in answer["blocks"]] == [(first, "needle")]
    assert answer["newDoc"] is True
    assert answer["k"] == "needle"


async def test_tags_are_found_by_a_piece_of_their_label(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "#alpha/beta# #gamma#")
    assert await kernel.call("search/searchTag", k="bet") == {"tags": ["alpha/<mark>bet</mark>a"], "k": "bet"}
    assert (await kernel.call("search/searchTag", k=""))["tags"] == ["alpha/beta", "gamma"]


async def test_references_to_nothing_are_listed(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    source = await kernel.document(box, "/Source", f"(({target} 'here'))\n\n((20200101000000-zzzzzzz 'gone'))")
    answer = await kernel.call("search/listInvalidBlockRefs")
    broken = (await kernel.children(source))[1]
    assert ([block["id"] for block in answer["blocks"]], answer["matchedBlockCount"]) == ([broken], 1)
    await kernel.call("filetree/removeDocByID", id=target)
    assert (await kernel.call("search/listInvalidBlockRefs"))["matchedBlockCount"] == 2


async def test_replacing_changes_every_hit_and_keeps_the_versions_before(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Cat", "a cat\n\nno dog\n\n**cat** and `cat`")
    frames: list[dict[str, Any]] = []
    kernel.kernel.push.add(PushSession("app", "editor", "protyle", frames.append))
    await kernel.call(
        "search/findReplace",
        k="cat",
        r="cow",
        ids=[],
        types={"paragraph": True},
        replaceTypes={"text": True, "strong": True},
    )
    assert await kernel.texts(root_id) == ["a cow", "no dog", "cow and cat"]
    assert any("-replace/" in path and path.endswith(f"{root_id}.sy") for path in kernel.backend.contents)
    assert [frame["data"] for frame in frames if frame["cmd"] == "reload"] == [root_id]


async def test_a_title_is_replaced_by_renaming_the_document(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Cat", "a cat")
    await kernel.call("search/findReplace", k="Cat", r="Cow", ids=[root_id], replaceTypes={"docTitle": True})
    assert kernel.workspace.blocks.documents[root_id].hpath == "/Cow"
    assert await kernel.texts(root_id) == ["a cat"]


@pytest.mark.parametrize(("options", "words"), [({"method": 2}, "SQL search mode"), ({"groupBy": 1}, "After grouping")])
async def test_what_cannot_be_replaced_is_said(kernel: MemoryKernel, options: dict[str, int], words: str) -> None:
    answer = await kernel.answer("search/findReplace", k="a", r="b", ids=[], replaceTypes={}, **options)
    assert answer.code == 1
    assert answer.msg.startswith(words)


async def test_replacing_by_nothing_new_or_a_broken_expression_changes_nothing(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "cat")
    for options in ({"k": "cat", "r": "cat"}, {"k": "(", "r": "x", "method": 3}):
        await kernel.call("search/findReplace", ids=[root_id], replaceTypes={"text": True}, **options)
    assert await kernel.texts(root_id) == ["cat"]


async def test_an_empty_keyword_is_found_between_all_letters_as_the_kernel_finds_it(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "pin **bo** `co`")
    kinds = {"text": True, "strong": True, "code": False}
    await kernel.call("search/findReplace", k="", r="x", ids=await kernel.children(root_id), replaceTypes=kinds)
    block = await kernel.call("block/getBlockKramdown", id=(await kernel.children(root_id))[0])
    assert block["kramdown"].split("\n{:")[0] == "xpxixnx x**xbxox**x x`co`x\u200bx"


@pytest.mark.parametrize("order_by", range(8))
async def test_every_order_gives_the_same_hits(kernel: MemoryKernel, order_by: int) -> None:
    await _library(kernel)
    options = {"types": {"paragraph": True}, "orderBy": order_by}
    for method, query in ((0, "apple"), (1, "apple"), (3, "apple")):
        assert len(await _found(kernel, query, method=method, **options)) == 3


async def test_hits_in_a_document_stand_as_they_are_written(kernel: MemoryKernel) -> None:
    await _library(kernel)
    chosen = {"types": {"paragraph": True, "heading": True}, "groupBy": 1, "orderBy": 5}
    answer = await kernel.call("search/fullTextSearchBlock", query="apple", **chosen)
    fruit = next(root for root in answer["blocks"] if root["hPath"] == "/Fruit")
    assert [block["type"] for block in fruit["children"]] == ["NodeHeading", "NodeParagraph", "NodeParagraph"]


async def test_the_levels_of_headings_and_kinds_of_lists_narrow_a_search(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "# apple one\n\n## apple two\n\n- apple three\n\n1. apple four")
    chosen = {"types": {"heading": True, "list": True}, "subTypes": {"h2": True, "o": True}}
    found = [re.sub("</?mark>", "", text).strip() for _, text in await _found(kernel, "apple", **chosen)]
    assert sorted(found) == ["apple four", "apple two"]


async def test_a_search_for_nothing_finds_nothing(kernel: MemoryKernel) -> None:
    await _library(kernel)
    for options in ({"query": ""}, {"query": "apple", "types": {}}, {"query": "(", "method": 3}):
        answer = await kernel.call("search/fullTextSearchBlock", **options)
        assert answer["blocks"] == [], options


async def test_wrong_kinds_of_arguments_end_a_search_without_an_answer(kernel: MemoryKernel) -> None:
    for options in ({"query": 5}, {"types": "x"}, {"types": {"paragraph": 1}}, {"paths": "x"}):
        answer = await kernel.answer("search/fullTextSearchBlock", **options)
        assert (answer.code, answer.data) == (0, None), options


async def test_replacing_everywhere_takes_all_hits_of_a_place(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    inside = await kernel.document(box, "/Inside", "cat")
    other = await kernel.notebook("Other")
    outside = await kernel.document(other, "/Outside", "cat")
    await kernel.call("search/findReplace", k="cat", r="cow", ids=[], paths=[box], replaceTypes={"text": True})
    assert (await kernel.texts(inside), await kernel.texts(outside)) == (["cow"], ["cat"])
    await kernel.call("search/findReplace", k="c(.)w", r="$1", ids=[], method=3, replaceTypes={"text": True})
    assert await kernel.texts(inside) == ["o"]


async def test_replacing_blocks_that_are_gone_does_nothing(kernel: MemoryKernel) -> None:
    gone = "20200101000000-zzzzzzz"
    await kernel.call("search/findReplace", k="a", r="b", ids=[gone], replaceTypes={"text": True})
    assert not any("-replace/" in path for path in kernel.backend.contents)


async def test_hits_under_a_document_keep_the_order_of_dates_they_were_found_in(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    old, new = "20240101000001-aaaaaaa", "20240101000002-bbbbbbb"
    await kernel.document(box, "/Doc", f'## word one\n{{: id="{old}"}}\n\nword two\n{{: id="{new}"}}')
    for order, wanted in ((1, [old, new]), (2, [new, old])):
        answer = await kernel.call("search/fullTextSearchBlock", query="word", orderBy=order, groupBy=1)
        assert [child["id"] for child in answer["blocks"][0]["children"]] == wanted


async def test_the_place_of_a_hit_in_its_document_counts_blocks_alone(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "one **two** three\n\nneedle")
    answer = await kernel.call("search/fullTextSearchBlock", query="needle", orderBy=5, groupBy=1)
    assert [child["sort"] for child in answer["blocks"][0]["children"]] == [2]


@pytest.mark.parametrize(("group_by", "path", "references"), [(0, "/", 1), (2, "/Pear", 0)])
async def test_hits_of_an_unknown_grouping_are_shown_as_they_are(
    kernel: MemoryKernel, group_by: int, path: str, references: int
) -> None:
    box = await kernel.notebook()
    pear = await kernel.document(box, "/Pear", "")
    await kernel.document(box, "/Other", f"see (({pear} 'it'))")
    answer = await kernel.call("search/fullTextSearchBlock", query="Pear", groupBy=group_by)
    (hit,) = answer["blocks"]
    assert (hit["hPath"], hit["refCount"]) == (path, references)


@pytest.mark.parametrize(
    ("method", "order_by", "wanted"),
    [
        (0, 0, ["heading", "paragraph"]),
        (0, 7, []),
        (5, 7, ["heading", "paragraph"]),
        (0, 6, ["heading", "paragraph"]),
        (5, 6, ["paragraph", "heading"]),
    ],
)
async def test_several_words_have_no_rank_and_other_orders_of_their_own(
    kernel: MemoryKernel, method: int, order_by: int, wanted: list[str]
) -> None:
    box = await kernel.notebook()
    await kernel.document(box, "/Doc", "one two\n\n## one two")
    answer = await kernel.call("search/fullTextSearchBlock", query="one two", method=method, orderBy=order_by)
    kinds = [block["type"].removeprefix("Node").lower() for block in answer["blocks"]]
    assert [kind for kind in kinds if kind != "document"] == wanted
    assert answer["docMode"]


async def test_a_tag_is_looked_for_by_the_word_that_was_sent(kernel: MemoryKernel) -> None:
    await _library(kernel)
    assert (await kernel.call("search/searchTag", k="\"<a&'"))["k"] == "\"<a&'"
