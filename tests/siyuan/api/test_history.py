"""/api/history: kept versions found again and put back."""

from __future__ import annotations

from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_a_kept_version_is_found_shown_and_put_back(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    document = await kernel.document(box, "/Edited", "version one\n\n* item\n* [ ] task")
    await kernel.call("history/createDocHistory", id=document)
    block = (await kernel.call("block/getChildBlocks", id=document))[0]["id"]
    await kernel.call("block/updateBlock", id=block, dataType="markdown", data="version two")
    found = await kernel.call("history/searchHistory", query="one", type=1, notebook=box)
    assert found["totalCount"] == 1
    item = (await kernel.call("history/getHistoryItems", created=found["histories"][0]))["items"][0]
    assert (item["title"], item["op"], item["notebook"]) == ("Edited", "update", box)
    shown = await kernel.call("history/getDocHistoryContent", historyPath=item["path"], k="one")
    assert '<span data-type="search-mark">one</span>' in shown["content"]
    assert '="true"' not in shown["content"]
    assert 'draggable="false"' in shown["content"]
    kernel.clock.advance(2)
    await kernel.call("history/rollbackDocHistory", historyPath=item["path"])
    blocks = await kernel.call("block/getChildBlocks", id=document)
    assert blocks[0]["content"] == "version one"


async def test_a_removed_document_comes_back_where_it_stood(kernel: MemoryKernel) -> None:
    document = await kernel.document(await kernel.notebook(), "/Gone", "text")
    await kernel.call("filetree/removeDocByID", id=document)
    moment = (await kernel.call("history/searchHistory", query=document, type=3))["histories"][0]
    item = (await kernel.call("history/getHistoryItems", created=moment, query=document, type=3))["items"][0]
    await kernel.call("history/rollbackDocHistory", historyPath=item["path"])
    assert await kernel.call("filetree/getHPathByID", id=document) == "/Gone"


async def test_a_removed_notebook_comes_back(kernel: MemoryKernel) -> None:
    box = await kernel.notebook("Old")
    document = await kernel.document(box, "/d", "text")
    await kernel.call("notebook/removeNotebook", notebook=box)
    history = (await kernel.call("history/getNotebookHistory"))["histories"][0]["items"][0]
    assert history["title"] == "Old"
    await kernel.call("history/rollbackNotebookHistory", historyPath=history["path"])
    assert await kernel.call("block/checkBlockExist", id=document)


async def test_paths_outside_are_refused(kernel: MemoryKernel) -> None:
    assert await kernel.refusal("history/rollbackDocHistory", historyPath="../x") == (
        "history path [../x] is not in workspace"
    )
    assert await kernel.refusal("history/rollbackAssetsHistory", historyPath="conf/conf.json") == (
        "history path [conf/conf.json] not exist"
    )
    shown = await kernel.call("history/getDocHistoryContent", historyPath="/conf/conf.json")
    assert shown == {"id": "", "rootID": "", "content": "", "isLargeDoc": False}
