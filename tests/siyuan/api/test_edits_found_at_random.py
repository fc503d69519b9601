"""Kinds of edits that random sequences against the recorded kernel brought up, each in its smallest form."""

from __future__ import annotations

from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel

_UNKNOWN = "20200101000000-zzzzzzz"


def _id(number: int) -> str:
    return f"20240101{number:06d}-blk{number:04d}"


def _named(text: str, number: int) -> str:
    return f'{text}\n{{: id="{_id(number)}"}}'


async def _document(kernel: MemoryKernel, markdown: str) -> str:
    return await kernel.document(await kernel.notebook(), "/Doc", markdown)


async def _shown(kernel: MemoryKernel, block_id: str) -> list[str]:
    """The lines of a block's kramdown without its attribute lists."""
    kramdown = (await kernel.call("block/getBlockKramdown", id=block_id))["kramdown"]
    lines = [line.split("{:")[0] + line.partition("}")[2] if "{:" in line else line for line in kramdown.split("\n")]
    return [line.rstrip() for line in lines if line.strip()]


async def _rows(kernel: MemoryKernel, document: str) -> list[str]:
    rows = await kernel.call("query/sql", stmt=f"select type from blocks where root_id='{document}' limit 99")
    return sorted(row["type"] for row in rows)


async def test_a_super_block_without_blocks_does_not_outlive_the_making_of_its_document() -> None:
    kernel = MemoryKernel()
    document = await _document(kernel, "a\n\n{{{\n\n}}}\n\nb")
    assert await kernel.texts(document) == ["a", "b"]
    assert await _rows(kernel, document) == ["d", "p", "p"]


async def test_what_a_move_empties_is_hidden_from_readers_but_still_in_the_index() -> None:
    kernel = MemoryKernel()
    quote = f'> inside\n> {{: id="{_id(1)}"}}\n{{: id="{_id(2)}"}}'
    document = await _document(kernel, f"{quote}\n\n{_named('last', 3)}")
    await kernel.call("block/moveBlock", id=_id(1), previousID=_id(3))
    assert await kernel.texts(document) == ["last", "inside"]
    assert await _rows(kernel, document) == ["b", "d", "p", "p"]
    await kernel.call("block/appendBlock", dataType="markdown", data="more", parentID=document)
    assert await _rows(kernel, document) == ["d", "p", "p", "p"]


async def test_an_emptied_item_leaves_its_list_until_the_next_write() -> None:
    kernel = MemoryKernel()
    item = f'* {{: id="{_id(2)}"}}inside\n  {{: id="{_id(1)}"}}\n{{: id="{_id(4)}"}}'
    document = await _document(kernel, f"{item}\n\n{_named('last', 3)}")
    await kernel.call("block/moveBlock", id=_id(1), previousID=_id(3))
    assert await kernel.children(document) == [_id(4), _id(3), _id(1)]
    await kernel.call("block/appendBlock", dataType="markdown", data="more", parentID=document)
    assert _id(4) not in await kernel.children(document)


async def _with_left_out() -> tuple[MemoryKernel, str]:
    """A kernel whose block 1 an update of its quote (2) has left out; block 3 is still there."""
    kernel = MemoryKernel()
    quote = f'> inside\n> {{: id="{_id(1)}"}}\n{{: id="{_id(2)}"}}'
    document = await _document(kernel, f"{quote}\n\n{_named('last', 3)}")
    await kernel.call("block/updateBlock", id=_id(2), dataType="markdown", data="> other")
    return kernel, document


async def test_the_id_of_a_block_that_an_update_left_out_still_names_its_document() -> None:
    kernel, document = await _with_left_out()
    assert await kernel.call("block/checkBlockExist", id=_id(1))
    assert await kernel.refusal("block/updateBlock", id=_id(1), dataType="markdown", data="x") == (
        "get block failed: block not found"
    )
    # Whether it could hold blocks is judged by what it was.
    told = await kernel.refusal("block/appendBlock", dataType="markdown", data="x", parentID=_id(1))
    assert _id(1) in told
    assert "not found" not in told
    await kernel.call("block/moveBlock", id=_id(3), previousID=_id(1))
    assert await kernel.texts(document) == [" other", "last"]


async def test_the_id_of_a_deleted_block_names_nothing() -> None:
    kernel, _ = await _with_left_out()
    await kernel.call("block/deleteBlock", id=_id(3))
    assert not await kernel.call("block/checkBlockExist", id=_id(3))
    assert await kernel.refusal("block/moveBlock", id=_id(3), previousID=_id(2)) == f"block not found [id={_id(3)}]"


async def test_ids_left_out_go_with_their_document() -> None:
    kernel, document = await _with_left_out()
    path = (await kernel.call("filetree/getPathByID", id=document))["path"]
    box = (await kernel.call("filetree/getPathByID", id=document))["notebook"]
    await kernel.call("filetree/removeDoc", notebook=box, path=path)
    assert not await kernel.call("block/checkBlockExist", id=_id(1))


async def test_a_block_before_a_tasks_box_leaves_the_box_where_it_is() -> None:
    kernel = MemoryKernel()
    document = await _document(kernel, f'* {{: id="{_id(1)}"}}[X] task\n  {{: id="{_id(2)}"}}')
    await kernel.call("block/prependBlock", dataType="markdown", data="first", parentID=_id(1))
    assert await _shown(kernel, document) == ["- first", "  [X] task"]


async def test_a_block_put_into_an_ordered_list_gets_no_number() -> None:
    kernel = MemoryKernel()
    document = await _document(kernel, f'1. {{: id="{_id(1)}"}}one\n   {{: id="{_id(2)}"}}\n{{: id="{_id(3)}"}}')
    await kernel.call("block/prependBlock", dataType="markdown", data="none", parentID=_id(3))
    assert (await _shown(kernel, document))[0] == "0\0 none"


async def test_a_task_without_text_is_drawn_with_a_paragraph_that_no_file_holds() -> None:
    kernel = MemoryKernel()
    task = f'* {{: id="{_id(1)}"}}[ ] task\n  {{: id="{_id(2)}"}}\n{{: id="{_id(4)}"}}'
    document = await _document(kernel, f"{task}\n\n{_named('last', 3)}")
    await kernel.call("block/moveBlock", id=_id(2), previousID=_id(3))
    drawn = [(await kernel.call("block/getBlockDOM", id=_id(1)))["dom"] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert 'data-type="NodeParagraph" class="p"><div contenteditable="true" spellcheck="false"></div>' in drawn[0]
    assert await _rows(kernel, document) == ["d", "i", "l", "p", "p"]


async def test_an_item_in_an_item_is_loose() -> None:
    kernel = MemoryKernel()
    inner = f'* {{: id="{_id(2)}"}}b\n  {{: id="{_id(3)}"}}\n\n  c\n  {{: id="{_id(4)}"}}\n{{: id="{_id(5)}"}}'
    outer = f'* {{: id="{_id(6)}"}}a\n  {{: id="{_id(7)}"}}\n{{: id="{_id(8)}"}}'
    document = await _document(kernel, f"{outer}\n\n---\n\n{inner}")
    await kernel.call("block/moveBlock", id=_id(2), previousID=_id(7))
    first = (await kernel.call("block/getChildBlocks", id=document))[0]
    assert first["markdown"] == "- a\n\n  - b\n\n    c"


@pytest.mark.parametrize(
    ("path", "action", "arguments"),
    [
        ("riff/addRiffCards", "addFlashcards", {}),
        ("riff/removeRiffCards", "removeFlashcards", {}),
    ],
)
async def test_cards_tell_of_the_documents_they_mark(path: str, action: str, arguments: dict[str, Any]) -> None:
    kernel = MemoryKernel()
    document = await _document(kernel, _named("a", 1))
    kernel.frames.clear()
    await kernel.call(path, deckID="20230218211946-2kw8jgx", blockIDs=[_id(1), _UNKNOWN], **arguments)
    [told] = kernel.told("savedoc")
    assert (told["rootID"], told["type"]) == (document, "tx")
    assert [one["action"] for one in told["sources"][0]["doOperations"]] == [action]


async def test_a_replacement_tells_editors_but_not_of_a_saved_document() -> None:
    kernel = MemoryKernel()
    document = await _document(kernel, _named("two", 1))
    kernel.frames.clear()
    await kernel.call("search/findReplace", k="two", r="deux", ids=[_id(1)], replaceTypes={"text": True})
    assert not [frame for frame in kernel.frames if frame["cmd"] == "savedoc"]
    assert await kernel.texts(document) == ["deux"]


async def test_a_search_for_references_that_lacks_an_argument_only_repeats_the_request_id() -> None:
    kernel = MemoryKernel()
    assert await kernel.call("search/searchRefBlock", id=_UNKNOWN, reqId=5) == {"reqId": 5}


async def test_a_new_document_may_refer_to_itself() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    document = "20240201000000-docself"
    markdown = f"see (({document} 'me'))"
    await kernel.call("filetree/createDoc", notebook=box, path=f"/{document}.sy", title="Self", md=markdown)
    assert await _shown(kernel, (await kernel.children(document))[0]) == [markdown]
    other = await kernel.call("filetree/createDocWithMd", notebook=box, path="/B", markdown="b", id=_id(77))
    assert other == _id(77)


async def test_tags_are_told_after_the_attributes_they_are_in() -> None:
    kernel = MemoryKernel()
    document = await _document(kernel, "a")
    kernel.frames.clear()
    await kernel.call("attr/setBlockAttrs", id=document, attrs={"tags": "a,b"})
    told = [frame["cmd"] for frame in kernel.frames if frame["cmd"] in ("transactions", "reloadTag")]
    assert told == ["transactions", "reloadTag"]


async def test_a_duplicate_stands_behind_its_original_and_the_order_begins_at_nought() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    first, second = [await kernel.document(box, f"/{name}", "x") for name in ("A", "B")]
    copy = (await kernel.call("filetree/duplicateDoc", id=second))["id"]
    files = (await kernel.call("filetree/listDocsByPath", notebook=box, path="/"))["files"]
    assert [(file["id"], file["sort"]) for file in files] == [(first, 0), (second, 1), (copy, 2)]


async def test_a_rename_tells_the_anchor_escaped() -> None:
    kernel = MemoryKernel()
    document = await _document(kernel, "x")
    kernel.frames.clear()
    await kernel.call("filetree/renameDocByID", id=document, title='q"<')
    [told] = kernel.told("rename")
    assert (told["title"], told["refText"]) == ('q"<', "q&#34;&lt;")


async def test_a_block_that_ends_a_fold_stays_there_when_it_is_put_behind_its_heading() -> None:
    kernel = MemoryKernel()
    document = await _document(kernel, "# H\n\none\n\ntwo")
    heading, _, last = await kernel.children(document)
    await kernel.call("block/foldBlock", id=heading)
    await kernel.call("block/moveBlock", id=last, previousID=heading)
    assert await _shown(kernel, document) == ["# H", "one", "two"]


async def test_the_anchor_of_a_reference_that_the_same_edit_made_does_not_follow_it() -> None:
    """A block that refers to itself; only what was there before an edit follows it."""
    kernel = MemoryKernel()
    doc = await kernel.document(await kernel.notebook(), "/Doc", "text")
    block = (await kernel.call("block/getChildBlocks", id=doc))[0]["id"]
    itself = f"again (({block} 'dyn'))"
    await kernel.call("block/updateBlock", id=block, dataType="markdown", data=itself)
    assert f"(({block} 'dyn'))" in (await kernel.call("block/getBlockKramdown", id=doc))["kramdown"]
    await kernel.call("block/updateBlock", id=block, dataType="markdown", data=itself)
    assert f"(({block} 'again " in (await kernel.call("block/getBlockKramdown", id=doc))["kramdown"]


async def test_a_reference_to_a_block_that_the_same_edit_deletes_becomes_text() -> None:
    kernel = MemoryKernel()
    doc = await kernel.document(await kernel.notebook(), "/Doc", "text")
    block = (await kernel.call("block/getChildBlocks", id=doc))[0]["id"]
    await kernel.call("block/updateBlock", id=doc, dataType="markdown", data=f"see (({block} 'dyn'))")
    kramdown = (await kernel.call("block/getBlockKramdown", id=doc))["kramdown"]
    assert kramdown.startswith("see (( 'dyn'))\n")


async def test_what_is_to_stand_behind_a_block_that_the_same_edit_deletes_is_lost() -> None:
    """As in the kernel: the editors are told to load anew, and nothing else fails."""
    kernel = MemoryKernel()
    document = await _document(kernel, "> quoted\n\nend")
    quote, end = [row["id"] for row in await kernel.call("block/getChildBlocks", id=document)]
    (inner,) = await kernel.call("block/getChildBlocks", id=quote)
    dom = (await kernel.call("block/getBlockDOM", id=end))["dom"]
    operations = [
        {"action": "delete", "id": quote},
        {"action": "insert", "id": kernel.workspace.new_id(), "data": dom, "previousID": inner["id"]},
        {"action": "update", "id": end, "data": dom.replace("end", "done")},
    ]
    transactions = [{"doOperations": operations, "undoOperations": []}]
    await kernel.call("transactions", session="s", app="a", reqId=1, transactions=transactions)
    assert await kernel.texts(document) == ["done"]


async def test_a_transaction_without_operations_is_told_as_it_came() -> None:
    kernel = MemoryKernel()
    for given, told in (({"undoOperations": []}, (None, [])), ({"doOperations": []}, ([], None))):
        (one,) = await kernel.call("transactions", transactions=[given], reqId=1, app="a", session="s")
        assert (one["doOperations"], one["undoOperations"]) == told


@pytest.mark.parametrize("target", ["previousID", "parentID", ""])
async def test_an_outline_move_of_or_to_a_block_that_is_no_heading_moves_nothing(target: str) -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    document = await kernel.document(box, "/Doc", "para\n\n## head\n\nunder")
    before = (await kernel.call("block/getBlockKramdown", id=document))["kramdown"]
    paragraph, heading, _ = await kernel.children(document)
    for moved, place in ((paragraph, heading), (heading, paragraph)) if target else ((paragraph, ""),):
        operation = {"action": "moveOutlineHeading", "id": moved, **({target: place} if target else {})}
        transactions = [{"doOperations": [operation], "undoOperations": []}]
        await kernel.call("transactions", transactions=transactions, reqId=1, app="a", session="s")
    assert (await kernel.call("block/getBlockKramdown", id=document))["kramdown"] == before
