"""/api/block and /api/attr: what each call does to the document, and what a failure leaves behind."""

from __future__ import annotations

import errno
import json
from typing import Any

import pytest

from kernel.siyuan.push import PushSession
from tests.siyuan.kernel_in_memory import MemoryKernel

TEXT = "one\n\n## head\n\ntwo\n\nthree\n\n* a\n* b"


async def opened() -> tuple[MemoryKernel, str, list[str]]:
    kernel = MemoryKernel()
    document = await kernel.document(await kernel.notebook(), "/Doc", TEXT)
    return kernel, document, await kernel.children(document)


async def test_blocks_are_put_where_the_call_says() -> None:
    kernel, document, (one, head, two, _, _) = await opened()
    await kernel.call("block/insertBlock", dataType="markdown", data="after one", previousID=one)
    await kernel.call("block/insertBlock", dataType="markdown", data="before one", nextID=one)
    await kernel.call("block/appendBlock", dataType="markdown", data="last", parentID=document)
    await kernel.call("block/prependBlock", dataType="markdown", data="first", parentID=document)
    await kernel.call("block/moveBlock", id=two, previousID=one)
    texts = await kernel.texts(document)
    assert texts == ["first", "before one", "one", "two", "after one", "head", "three", " a b", "last"]
    assert head in await kernel.children(document)


async def test_a_leaf_takes_no_children() -> None:
    kernel, _, (one, head, *_) = await opened()
    for parent in (one, head):
        assert "is a leaf block" in await kernel.refusal(
            "block/appendBlock", dataType="markdown", data="x", parentID=parent
        )


async def test_nothing_stands_beside_a_document() -> None:
    kernel, document, children = await opened()
    kernel.frames.clear()
    await kernel.call("block/insertBlock", dataType="markdown", data="x", previousID=document)
    assert await kernel.children(document) == children
    assert kernel.frames[0]["cmd"] == "txerr"


async def test_an_update_keeps_the_id_and_tells_every_window() -> None:
    kernel, document, (one, *_) = await opened()
    kernel.frames.clear()
    await kernel.call("block/updateBlock", id=one, dataType="markdown", data="# now a heading")
    assert (await kernel.children(document))[0] == one
    assert (await kernel.call("block/getBlockInfo", id=one))["rootID"] == document
    (transactions,) = kernel.told("transactions")
    assert transactions[0]["doOperations"][0]["action"] == "update"


async def test_an_anchor_follows_its_target() -> None:
    kernel, document, (one, *_) = await opened()
    await kernel.call("block/appendBlock", dataType="markdown", data=f"see (({one} 'one'))", parentID=document)
    await kernel.call("block/updateBlock", id=one, dataType="markdown", data='changed [link](https://x.y "t")')
    assert (await kernel.texts(document))[-1] == "see changed link"


async def test_a_folded_heading_hides_its_section_and_a_deleted_block_is_gone() -> None:
    kernel, document, (one, head, two, *_) = await opened()
    await kernel.call("block/foldBlock", id=head)
    assert (await kernel.call("block/checkBlockFold", id=two))["isFolded"]
    await kernel.call("block/unfoldBlock", id=head)
    assert not (await kernel.call("block/checkBlockFold", id=two))["isFolded"]
    await kernel.call("block/deleteBlock", id=one)
    assert await kernel.call("block/checkBlockExist", id=one) is False
    assert (await kernel.texts(document))[0] == "head"


async def test_attributes_are_set_removed_and_kept_over_a_restart() -> None:
    kernel, _, (one, *_) = await opened()
    await kernel.call("attr/setBlockAttrs", id=one, attrs={"custom-a": 'x "<&', "memo": "m", "bookmark": "B"})
    await kernel.call("attr/setBlockAttrs", id=one, attrs={"memo": ""})
    shown = await kernel.restarted().call("attr/getBlockAttrs", id=one)
    assert (shown["custom-a"], shown["bookmark"], "memo" in shown) == ('x "<&', "B", False)
    assert await kernel.call("attr/getBookmarkLabels") == ["B"]


@pytest.mark.parametrize("refusal", [errno.ENOSPC, errno.EROFS, errno.EACCES])
async def test_a_refusing_disk_changes_nothing_here_or_there(refusal: int) -> None:
    kernel, document, (one, *_) = await opened()
    before = dict(kernel.backend.contents)
    shown = await kernel.call("block/getBlockKramdown", id=document)
    kernel.frames.clear()
    kernel.backend.refusal = refusal
    assert await kernel.refusal("block/updateBlock", id=one, dataType="markdown", data="lost")
    assert await kernel.refusal("attr/setBlockAttrs", id=one, attrs={"memo": "lost"})
    assert await kernel.refusal("block/deleteBlock", id=one)
    assert kernel.frames == []
    kernel.backend.refusal = 0
    assert kernel.backend.contents == before
    assert (await kernel.call("block/getBlockKramdown", id=document))["kramdown"].split() == shown["kramdown"].split()
    await kernel.call("block/updateBlock", id=one, dataType="markdown", data="kept")
    assert (await kernel.restarted().texts(document))[0] == "kept"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"ID":"x","Type":"NodeParagraph"}', b"\xff\xfe"])
async def test_a_broken_file_is_left_alone_and_the_others_open(content: bytes) -> None:
    kernel, document, _ = await opened()
    box = kernel.workspace.entry(document).box
    path = f"data/{box}/20240101000000-brokenx.sy"
    kernel.backend.contents[path] = content
    again = kernel.restarted()
    assert f"{box}/20240101000000-brokenx.sy" in again.workspace.corrupt
    assert (await again.texts(document))[0] == "one"
    await again.answer("block/updateBlock", id="20240101000000-brokenx", dataType="markdown", data="x")
    await again.answer("attr/setBlockAttrs", id="20240101000000-brokenx", attrs={"memo": "x"})
    await again.call("block/appendBlock", dataType="markdown", data="more", parentID=document)
    assert kernel.backend.contents[path] == content


async def test_a_replay_is_told_to_everybody_but_the_window_that_asked_which_has_the_answer() -> None:
    kernel = MemoryKernel()
    document = await kernel.document(await kernel.notebook(), "/Plan", "one")
    others: list[dict[str, Any]] = []
    kernel.kernel.push.add(PushSession("app", "other", "protyle", others.append))
    (first,) = await kernel.children(document)
    dom = (
        '<div data-node-id="20260101000000-abcdefg" data-type="NodeParagraph"><div contenteditable="true">x</div></div>'
    )
    change = {
        "doOperations": [{"action": "insert", "id": "20260101000000-abcdefg", "data": dom, "previousID": first}],
        "undoOperations": [{"action": "delete", "id": "20260101000000-abcdefg"}],
    }
    await kernel.call("transactions", transactions=[change], reqId=1, app="app", session="window")
    for step in ("undo", "redo"):
        others.clear()
        kernel.frames.clear()
        await kernel.call(f"transactions/{step}", rootID=document, app="app", session="window")
        assert "transactions" not in [frame["cmd"] for frame in kernel.frames], step
        (told,) = [frame for frame in others if frame["cmd"] == "transactions"]
        assert (told["pushMode"], told["context"]["isUndoReplay"]) == (2, True)


async def test_what_was_done_can_be_undone_and_done_again() -> None:
    kernel, document, (one, *_) = await opened()
    dom = (await kernel.call("block/getBlockDOM", id=one))["dom"]
    deletes = {
        "doOperations": [{"action": "delete", "id": one}],
        "undoOperations": [{"action": "insert", "id": one, "data": dom, "parentID": document}],
    }
    await kernel.call("transactions", transactions=[deletes], reqId=1, app="app", session="window")
    assert (await kernel.texts(document))[0] == "head"
    await kernel.call("transactions/undo", rootID=document, app="app", session="window")
    assert (await kernel.children(document))[0] == one
    await kernel.call("transactions/redo", rootID=document, app="app", session="window")
    assert (await kernel.texts(document))[0] == "head"


async def test_an_empty_batch_answers_nothing() -> None:
    kernel, *_ = await opened()
    assert await kernel.call("block/batchInsertBlock", blocks=[]) is None


async def test_a_document_is_stored_as_its_file_says() -> None:
    kernel, document, (one, *_) = await opened()
    entry = kernel.workspace.entry(document)
    stored = json.loads(kernel.backend.contents[f"data/{entry.box}{entry.path}"])
    assert (stored["ID"], stored["Spec"], stored["Children"][0]["ID"]) == (document, "2", one)
