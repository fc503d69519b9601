"""Archives of exported documents become documents with ids of their own."""

from __future__ import annotations

import json

import pytest

from kernel.workspace import sy
from kernel.workspace.documents import Refusal
from kernel.workspace.imports.sy_archive import INVALID, import_archive, import_notebook, read_archive
from kernel.workspace.tree import Node
from kernel.workspace.workspace import NotFound
from tests.siyuan.kernel_in_memory import MemoryKernel

ROOT, PARAGRAPH, CHILD, OLD_BOX = (f"2024010100000{at}-abcdefg" for at in range(4))
DATABASE = "20240101000009-avavava"


def document(root_id: str, title: str, *children: Node, **properties: str) -> bytes:
    named = {"id": root_id, "title": title, "type": "doc", "updated": "20240101000000", **properties}
    return sy.encode(Node("NodeDocument", id=root_id, properties=named, children=list(children)))


def paragraph(block_id: str, text: str) -> Node:
    properties = {"id": block_id, "updated": "20240101000000"}
    return Node("NodeParagraph", id=block_id, properties=properties, children=[Node("NodeText", data=text)])


FILES = {
    f"Doc/{ROOT}.sy": document(ROOT, "Doc", paragraph(PARAGRAPH, "text"), icon="1f600"),
    f"Doc/{ROOT}/{CHILD}.sy": document(CHILD, "Child", paragraph("20240101000005-abcdefg", f"see {PARAGRAPH}")),
    "Doc/assets/a.png": b"new",
    "Doc/assets/b.png": b"other",
    "Doc/emojis/e.png": b"emoji",
    f"Doc/storage/av/{DATABASE}.json": json.dumps({"id": DATABASE, "block": PARAGRAPH}).encode(),
    "Doc/storage/av/odd.json": b"{}",
    "Doc/.siyuan/sort.json": json.dumps({ROOT: 7, CHILD: "x", "gone": 1}).encode(),
}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a/x.sy": b"", "b/y.sy": b""},
        {"a/x.md": b""},
        {"x.sy": b""},
        {"data-20230321175442/x.sy": b""},
    ],
)
def test_an_archive_of_another_form_is_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(Refusal, match=INVALID):
        read_archive(files)


async def test_documents_come_in_under_new_ids_with_all_that_belongs_to_them() -> None:
    kernel = MemoryKernel()
    workspace, box = kernel.workspace, await kernel.notebook()
    workspace.files.write("data/assets/a.png", b"here already")
    archive = read_archive(FILES)
    assert (archive.name, archive.is_notebook) == ("Doc", False)
    assert import_archive(workspace, archive, box, "") == 2
    entries = {entry.hpath: entry for entry in workspace.blocks.in_box(box) if entry.id != box}
    assert set(entries) == {"/Doc", "/Doc/Child"}
    fresh = entries["/Doc"].id
    assert fresh != ROOT
    assert fresh.startswith(ROOT[:15])
    assert entries["/Doc/Child"].path == f"/{fresh}/{entries['/Doc/Child'].id}.sy"
    (block,) = await kernel.children(fresh)
    assert await kernel.texts(entries["/Doc/Child"].id) == [f"see {block}"]
    assert workspace.files.read("data/assets/a.png") == b"here already"
    assert workspace.files.read("data/assets/b.png") == b"other"
    assert workspace.files.read("data/emojis/e.png") == b"emoji"
    views = [path for path, _ in workspace.files.walk("data/storage/av") if path.endswith(".json")]
    stored = json.loads(workspace.files.read(views[0]))
    assert len(views) == 1
    assert stored["block"] == block
    assert views == [f"data/storage/av/{stored['id']}.json"]
    assert json.loads(workspace.files.read(f"data/{box}/.siyuan/sort.json"))[fresh] == 7


async def test_nothing_comes_in_where_a_document_cannot_be_read_or_the_notebook_is_unknown() -> None:
    kernel = MemoryKernel()
    box = await kernel.notebook()
    broken = read_archive({f"Doc/{ROOT}.sy": b"{", "Doc/assets/c.png": b"c"})
    with pytest.raises(Refusal, match=r"parse \.sy"):
        import_archive(kernel.workspace, broken, box, "")
    assert not kernel.workspace.files.exists("data/assets/c.png")
    with pytest.raises(NotFound):
        import_archive(kernel.workspace, read_archive(FILES), "20200101000000-zzzzzzz", "")


async def test_a_whole_notebook_comes_in_with_its_own_document_and_what_it_says_of_itself() -> None:
    kernel = MemoryKernel()
    files = {
        "Box/.siyuan/conf.json": json.dumps({"name": "Named", "icon": "1f600", "closed": True}).encode(),
        "Box/.siyuan/boxDoc.json": json.dumps({"boxDocID": OLD_BOX}).encode(),
        f"Box/{OLD_BOX}.sy": document(OLD_BOX, "Named", paragraph(PARAGRAPH, "own")),
        f"Box/{ROOT}.sy": document(ROOT, "Doc", **{"custom-hidden": "true"}),
    }
    archive = read_archive(files)
    assert archive.is_notebook
    box = import_notebook(kernel.workspace, archive)
    conf = kernel.workspace.box(box).conf
    assert (conf["name"], conf["icon"], conf["closed"]) == ("Named", "1f600", False)
    assert await kernel.texts(box) == ["own"]
    attributes = await kernel.call("attr/getBlockAttrs", id=box)
    assert attributes["custom-hidden"] == "true"
    entry = next(one for one in kernel.workspace.blocks.in_box(box) if one.hpath == "/Doc")
    assert "custom-hidden" not in await kernel.call("attr/getBlockAttrs", id=entry.id)


async def test_a_notebook_that_says_nothing_of_itself_is_called_like_its_folder() -> None:
    kernel = MemoryKernel()
    files = {
        "Box/.siyuan/conf.json": b"not json",
        "Box/.siyuan/boxDoc.json": b"[]",
        f"Box/{ROOT}.sy": document(ROOT, "Doc"),
    }
    box = import_notebook(kernel.workspace, read_archive(files))
    assert kernel.workspace.box(box).conf["name"] == "Box"
