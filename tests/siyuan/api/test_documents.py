"""/api/filetree: paths, order, moving, removing, what is kept."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from tests.siyuan.kernel_in_memory import MemoryKernel


async def opened() -> tuple[MemoryKernel, str]:
    kernel = MemoryKernel()
    return kernel, await kernel.notebook()


async def names(kernel: MemoryKernel, box: str, path: str = "/") -> list[str]:
    listed = await kernel.call("filetree/listDocsByPath", notebook=box, path=path)
    return [one["name"].removesuffix(".sy") for one in listed["files"]]


async def test_missing_parents_are_made_and_known_ones_used() -> None:
    kernel, box = await opened()
    deep = await kernel.document(box, "/A/B/C", "deep")
    assert await kernel.call("filetree/getHPathByID", id=deep) == "/A/B/C"
    again = await kernel.document(box, "/A/B/D", "beside")
    path = (await kernel.call("filetree/getPathByID", id=deep))["path"].rpartition("/")[0]
    assert (await kernel.call("filetree/getPathByID", id=again))["path"].rpartition("/")[0] == path
    assert await names(kernel, box) == ["A"]


async def test_a_renamed_document_takes_its_paths_and_anchors_along() -> None:
    kernel, box = await opened()
    parent = await kernel.document(box, "/Old", "text")
    child = await kernel.document(box, "/Old/Child", f"see (({parent} 'Old'))")
    await kernel.call("filetree/renameDocByID", id=parent, title="New / <name>")
    assert await kernel.call("filetree/getHPathByID", id=child) == "/New  <name>/Child"
    assert await kernel.texts(child) == ["see New  <name>"]
    again = kernel.restarted()
    assert await again.call("filetree/getHPathByID", id=child) == "/New  <name>/Child"


async def test_a_moved_document_takes_those_below_it_along() -> None:
    kernel, box = await opened()
    other = await kernel.notebook("Other")
    parent = await kernel.document(box, "/P", "p")
    child = await kernel.document(box, "/P/C", "c")
    await kernel.call("filetree/moveDocsByID", fromIDs=[parent], toID=other)
    assert (await kernel.call("filetree/getPathByID", id=child)) == {
        "notebook": other,
        "path": f"/{parent}/{child}.sy",
    }
    again = kernel.restarted()
    assert await again.texts(child) == ["c"]
    assert await names(again, box) == []
    assert await names(again, other) == ["P"]


async def test_a_removed_document_is_kept_in_history_even_twice_in_a_second() -> None:
    kernel, box = await opened()
    parent = await kernel.document(box, "/P", "p")
    children = [await kernel.document(box, f"/P/{name}", name) for name in ("a", "b")]
    for child in children:
        await kernel.call("filetree/removeDocByID", id=child)
    await kernel.call("filetree/removeDocByID", id=parent)
    kept = [path for path in kernel.backend.contents if path.startswith("history/") and path.endswith(".sy")]
    assert len(kept) == 3
    assert not [path for path in kernel.backend.contents if path.startswith(f"data/{box}/{parent}")]
    await kernel.call("notebook/removeNotebook", notebook=box)
    assert not [path for path in kernel.backend.contents if path.startswith(f"data/{box}")]
    assert (await kernel.call("notebook/lsNotebooks"))["notebooks"] == []


async def test_the_order_given_is_kept() -> None:
    kernel, box = await opened()
    ids = [await kernel.document(box, f"/{name}", "") for name in "abc"]
    paths = [f"/{one}.sy" for one in reversed(ids)]
    await kernel.call("notebook/setNotebookConf", notebook=box, conf={"sortMode": 6})
    await kernel.call("filetree/changeSort", notebook=box, paths=paths)
    assert await names(kernel, box) == ["c", "b", "a"]
    assert await names(kernel.restarted(), box) == ["c", "b", "a"]


async def test_a_copy_shares_no_ids() -> None:
    kernel, box = await opened()
    first = await kernel.document(box, "/Doc", "one\n\n* a\n* b")
    made = await kernel.call("filetree/duplicateDoc", id=first)
    assert await kernel.texts(made["id"]) == await kernel.texts(first)
    assert not set(await kernel.children(made["id"])) & set(await kernel.children(first))


async def test_a_heading_becomes_a_document_and_a_document_a_heading() -> None:
    kernel, box = await opened()
    first = await kernel.document(box, "/Doc", "one\n\n## Part\n\ntwo\n\n### Lower\n\nthree")
    heading = (await kernel.children(first))[1]
    await kernel.call("filetree/heading2Doc", srcHeadingID=heading, targetNoteBook=box, targetPath="/")
    assert await kernel.texts(first) == ["one"]
    assert await kernel.texts(heading) == ["two", "Lower", "three"]
    target = (await kernel.children(first))[0]
    await kernel.call("filetree/doc2Heading", srcID=heading, targetID=target, after=True)
    assert await kernel.texts(first) == ["one", "Part", "two", "Lower", "three"]


async def test_what_is_no_heading_is_not_torn_out() -> None:
    kernel, box = await opened()
    first = await kernel.document(box, "/Doc", "one\n\n* a\n* b")
    for block in await kernel.children(first):
        arguments: dict[str, Any] = {"srcHeadingID": block, "targetNoteBook": box, "targetPath": "/"}
        assert await kernel.refusal("filetree/heading2Doc", **arguments) == "block not found"
    assert await kernel.texts(first) == ["one", " a b"]


async def test_a_long_document_comes_in_parts() -> None:
    kernel, box = await opened()
    first = await kernel.document(box, "/Doc", "\n\n".join(f"p{number}" for number in range(300)))
    page = await kernel.call("filetree/getDoc", id=first, size=10)
    shown = page["content"].count("data-node-id")
    assert (page["rootID"], page["eof"]) == (first, False)
    assert 10 <= shown < 20


async def test_a_refused_removal_leaves_the_document() -> None:
    kernel, box = await opened()
    first = await kernel.document(box, "/Doc", "one")
    before = dict(kernel.backend.contents)
    kernel.backend.refusal = errno.EROFS
    await kernel.refusal("filetree/removeDocByID", id=first)
    await kernel.refusal("filetree/renameDocByID", id=first, title="No")
    kernel.backend.refusal = 0
    assert kernel.backend.contents == before
    assert await kernel.texts(first) == ["one"]
    assert await kernel.call("filetree/getHPathByID", id=first) == "/Doc"


async def test_publish_access_is_noted_and_forgotten() -> None:
    kernel, box = await opened()
    first = await kernel.document(box, "/Doc", "one")
    open_to_all = {"id": first, "visible": True, "password": "", "disable": False}
    await kernel.call("filetree/setPublishAccess", **{**open_to_all, "password": "p"})
    noted = await kernel.restarted().call("filetree/getPublishAccess", ids=[first, box])
    assert [one["password"] for one in noted["publishAccess"]] == ["p", ""]
    await kernel.call("filetree/setPublishAccess", **open_to_all)
    assert (await kernel.call("filetree/getPublishAccess", ids=[first]))["publishAccess"] == [open_to_all]


async def test_a_document_is_no_heading_of_its_own(kernel: MemoryKernel) -> None:
    document = await kernel.document(await kernel.notebook(), "/Doc", "one")
    (block,) = await kernel.call("block/getChildBlocks", id=document)
    refused = await kernel.refusal("filetree/doc2Heading", srcID=document, targetID=block["id"], after=True)
    assert refused == "block not found"
    assert [one["id"] for one in await kernel.call("block/getChildBlocks", id=document)] == [block["id"]]


async def test_a_path_that_is_asked_for_twice_is_answered_once(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    paths = [f"/{root_id}.sy", f"/{root_id}.sy", "/20200101000000-zzzzzzz.sy"]
    assert await kernel.call("filetree/getHPathsByPaths", paths=paths) == ["Notes/Doc"]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("createDocWithMd", {"path": "/Doc", "markdown": "one", "id": "../x"}),
        ("createDocWithMd", {"path": "/Doc", "markdown": "one", "id": "a\0b"}),
        ("createDoc", {"path": "/../x.sy", "title": "t", "md": "x"}),
        ("createDoc", {"path": "/a/../../x.sy", "title": "t", "md": "x"}),
    ],
)
async def test_no_name_leads_out_of_the_notebook(kernel: MemoryKernel, call: str, arguments: dict[str, Any]) -> None:
    box = await kernel.notebook()
    before = kernel.backend.contents
    answer = await kernel.answer(f"filetree/{call}", notebook=box, **arguments)
    assert (answer.code, answer.msg) == (403, "permission denied")
    assert kernel.backend.contents == before
