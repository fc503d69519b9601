"""Bug cases of kind J: blocks of the emulated kernel, called as its API is called."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

_UNKNOWN = "20200101000000-zzzzzzz"
_TEXTS = ["Alpha text", "Beta text", "Part", "Gamma text"]
_FOUR = "### t\n\np1\n\n#### u\n\np2"


class Fixture(NamedTuple):
    """One notebook with one document of four blocks."""

    kernel: MemoryKernel
    box: str
    document: str
    p1: str
    p2: str
    h1: str
    p3: str

    async def sql_texts(self) -> list[str]:
        stmt = f"select content from blocks where root_id='{self.document}' and type!='d' order by content limit 99"
        await self.kernel.call("sqlite/flushTransaction")
        return [row["content"] for row in await self.kernel.call("query/sql", stmt=stmt)]


async def fixture() -> Fixture:
    kernel = MemoryKernel()
    box = await kernel.notebook("Box")
    document = await kernel.document(box, "/Plan", "Alpha text\n\nBeta text\n\n## Part\n\nGamma text")
    return Fixture(kernel, box, document, *await kernel.children(document))


@pytest.mark.parametrize("markdown", ["Alpha text\n\nBeta text\n\n## Part\n\nGamma text", "---\n\nx\n\n---\n\ny"])
async def test_j01_a_documents_own_kramdown_written_back_changes_nothing(markdown: str) -> None:
    kernel = MemoryKernel()
    document = await kernel.document(await kernel.notebook(), "/Plan", markdown)
    before = await kernel.texts(document)
    for _ in range(4):
        kramdown = (await kernel.call("block/getBlockKramdown", id=document))["kramdown"]
        await kernel.call("block/updateBlock", id=document, dataType="markdown", data=kramdown)
        assert await kernel.texts(document) == before
        info = await kernel.call("block/getBlockInfo", id=document)
        assert (info["rootID"], info["rootTitle"]) == (document, "Plan")
        stmt = f"select content from blocks where root_id='{document}' and type!='d' limit 99"
        rows = await kernel.call("query/sql", stmt=stmt)
        assert sorted(row["content"] for row in rows) == sorted(before)


async def test_j02_what_kramdown_says_lives_and_nothing_else() -> None:
    fx = await fixture()
    dom = (
        f'<div data-node-id="{fx.p1}" data-type="NodeParagraph" class="p" custom-k="v"><div contenteditable="true">'
        '<span data-type="inline-math" data-content="x" custom-m="1"></span> and '
        f'<span data-type="block-ref sup" data-subtype="s" data-id="{fx.p2}">up</span></div></div>'
    )
    await fx.kernel.call("block/updateBlock", id=fx.p1, dataType="dom", data=dom)
    kramdown = (await fx.kernel.call("block/getBlockKramdown", id=fx.p1))["kramdown"]
    await fx.kernel.call("block/updateBlock", id=fx.p1, dataType="markdown", data=kramdown)
    # The kramdown repeats the block's attributes, so they live.
    assert (await fx.kernel.call("attr/getBlockAttrs", id=fx.p1))["custom-k"] == "v"
    bare = kramdown.split("\n{:")[0]
    await fx.kernel.call("block/updateBlock", id=fx.p1, dataType="markdown", data=bare)
    assert "custom-k" not in await fx.kernel.call("attr/getBlockAttrs", id=fx.p1)
    assert f"(({fx.p2} " in (await fx.kernel.call("block/getBlockKramdown", id=fx.p1))["kramdown"]


@pytest.mark.parametrize(
    ("anchors", "place"),
    [
        ({"nextID": "p1"}, 0),
        ({"previousID": "p2"}, 2),
        ({"parentID": "document"}, 0),
        ({"nextID": "p1", "previousID": "p2", "parentID": "document"}, 0),
    ],
)
async def test_j03_all_blocks_of_one_insert_stand_in_order_at_its_place(anchors: dict[str, str], place: int) -> None:
    fx = await fixture()
    where = {name: getattr(fx, block) for name, block in anchors.items()}
    await fx.kernel.call("block/insertBlock", dataType="markdown", data=_FOUR, **where)
    assert await fx.kernel.texts(fx.document) == [*_TEXTS[:place], "t", "p1", "u", "p2", *_TEXTS[place:]]


async def test_j03_appending_goes_to_the_end_of_a_document_and_into_no_leaf() -> None:
    fx = await fixture()
    await fx.kernel.call("block/appendBlock", dataType="markdown", data=_FOUR, parentID=fx.document)
    after = [*_TEXTS, "t", "p1", "u", "p2"]
    assert await fx.kernel.texts(fx.document) == after
    told = await fx.kernel.refusal("block/appendBlock", dataType="markdown", data="x", parentID=fx.h1)
    assert told.startswith(f"heading [{fx.h1}] is a leaf block and cannot have children")
    told = await fx.kernel.refusal("block/appendBlock", dataType="markdown", data="x", parentID=fx.p1)
    assert fx.p1 in told
    assert "previousID" in told
    assert await fx.kernel.refusal("block/appendBlock", dataType="markdown", data="x", parentID=_UNKNOWN)
    assert await fx.kernel.texts(fx.document) == after


@pytest.mark.parametrize("parent", [{}, {"parentID": "document"}])
@pytest.mark.parametrize("previous", ["document", "", None, "absent", "nope", _UNKNOWN, "p1"])
async def test_j05_a_move_with_odd_anchors_loses_no_block(previous: str | None, parent: dict[str, str]) -> None:
    fx = await fixture()
    where: dict[str, Any] = {name: getattr(fx, block) for name, block in parent.items()}
    if previous != "absent":
        where["previousID"] = getattr(fx, previous) if previous in ("document", "p1") else previous
    answer = await fx.kernel.answer("block/moveBlock", id=fx.p1, **where)
    if previous == "document":
        assert (answer.code, answer.msg) == (-1, "`previousID` can not be the ID of a document")
    elif previous in ("nope", _UNKNOWN):
        assert answer.code != 0
    assert sorted(await fx.kernel.texts(fx.document)) == sorted(_TEXTS)
    assert await fx.sql_texts() == sorted(_TEXTS)


async def test_j08_attributes_keep_their_names_values_and_ids() -> None:
    fx = await fixture()
    kernel = fx.kernel

    async def set_(attrs: dict[str, Any]) -> Any:
        return await kernel.answer("attr/setBlockAttrs", id=fx.p1, attrs=attrs)

    refused = await set_({"custom-n": 5})
    assert (refused.code, refused.msg) == (-1, "the value of attr [custom-n] must be a string")
    assert (await set_({"id": "20260101120000-zzzzzzz"})).code in (0, -1)
    assert (await kernel.call("attr/getBlockAttrs", id=fx.p1))["id"] == fx.p1
    for gone in (None, ""):
        assert (await set_({"custom-x": "here"})).code == 0
        assert (await set_({"custom-x": gone})).code == 0
        assert "custom-x" not in await kernel.call("attr/getBlockAttrs", id=fx.p1)
    assert (await set_({"Custom-UP": "1"})).code == 0
    assert (await kernel.call("attr/getBlockAttrs", id=fx.p1))["custom-up"] == "1"
    assert (await set_({"data-task": "x"})).code == -1
    odd = 'line\nbreak " <quote> & {: }'
    assert (await set_({"custom-a": odd})).code == 0
    assert (await kernel.call("attr/getBlockAttrs", id=fx.p1))["custom-a"] == odd
    again = kernel.restarted()
    assert (await again.call("attr/getBlockAttrs", id=fx.p1))["custom-a"] == odd
    assert (await kernel.answer("attr/resetBlockAttrs", id=fx.p1, attrs={})).code == -1


@pytest.mark.parametrize(
    ("anchor", "text"),
    [('"It\'s \\"50\\\\%\\" ok"', None), ("'dyn'", None), ("", None), ('"plain"', "plain")],
)
async def test_j10_a_reference_keeps_its_target_whatever_its_anchor_says(anchor: str, text: str | None) -> None:
    fx = await fixture()
    data = f"see (({fx.p2} {anchor}))" if anchor else f"see (({fx.p2}))"
    await fx.kernel.call("block/insertBlock", dataType="markdown", data=data, previousID=fx.p3)
    last = (await fx.kernel.children(fx.document))[-1]
    kramdown = (await fx.kernel.call("block/getBlockKramdown", id=last))["kramdown"]
    assert f"(({fx.p2} " in kramdown
    rows = await fx.kernel.call("query/sql", stmt=f"select * from refs where block_id='{last}' limit 9")
    assert [row["def_block_id"] for row in rows] == [fx.p2]
    if text is not None:
        assert rows[0]["content"] == text
    stored = json.dumps((await fx.kernel.call("block/getBlockDOM", id=last))["dom"])
    assert fx.p2 in stored
