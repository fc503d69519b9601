"""A workspace: what is found, what is saved, what is thrown away, and what is read anew."""

from __future__ import annotations

import json

import pytest

from kernel.workspace import workspace as module
from kernel.workspace.files import TEMPORARY_SUFFIX
from kernel.workspace.tree import Node, Tree
from kernel.workspace.workspace import CorruptDocument, NotFound
from tests.siyuan.kernel_in_memory import MemoryKernel

GONE = "20240101000000-unknown"


@pytest.fixture
async def note(kernel: MemoryKernel) -> tuple[MemoryKernel, str, str, str]:
    """(kernel, notebook, document, its only block)."""
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    return kernel, box, root_id, (await kernel.children(root_id))[0]


async def test_what_is_not_there_is_told_in_the_kernels_words(note: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, _, root_id, block_id = note
    workspace = kernel.workspace
    for ask, message in (
        (workspace.box, "notebook not found"),
        (workspace.entry, "tree not found"),
        (workspace.document, "tree not found"),
        (workspace.node, "tree not found"),
    ):
        with pytest.raises(NotFound) as error:
            ask(GONE)
        assert error.value.args == (message,)
    del workspace.document(root_id).nodes[block_id]
    with pytest.raises(NotFound, match="block not found"):
        workspace.node(block_id)


async def test_a_document_that_cannot_be_read_is_reported_and_passed_over(
    note: tuple[MemoryKernel, str, str, str],
) -> None:
    kernel, box, root_id, _ = note
    workspace = kernel.workspace
    workspace.forget_tree(root_id)
    workspace.files.write(f"data/{box}/{root_id}.sy", b"{")
    with pytest.raises(CorruptDocument):
        workspace.document(root_id)
    assert f"{box}/{root_id}.sy" in workspace.corrupt
    other = await kernel.notebook()
    assert [document.id for document in workspace.documents(box)] == [box]
    assert {document.id for document in workspace.documents()} == {box, other}
    workspace.files.remove(f"data/{box}/{root_id}.sy")
    with pytest.raises(NotFound, match="tree not found"):
        workspace.glance(root_id)
    workspace.reread(GONE)


async def test_what_was_taken_and_not_saved_is_thrown_away(note: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, _, root_id, _ = note
    workspace = kernel.workspace
    document = workspace.edit(root_id)
    document.root.children[0].children[0].data = "changed"
    drawn = [workspace.rendered(document, "form", lambda: text) for text in ("half", "half changed")]
    assert drawn == ["half", "half changed"]  # what may be half changed is not kept
    workspace.end_call()
    assert not workspace.is_loaded(root_id)
    assert workspace.document(root_id).root.children[0].children[0].data == "text"
    document = workspace.document(root_id)
    assert [workspace.rendered(document, "form", lambda: text) for text in ("one", "two")] == ["one", "one"]


async def test_events_are_taken_back_and_taken_once(note: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, _, root_id, block_id = note
    workspace = kernel.workspace
    workspace.take_events()
    workspace.emit("one")
    count = workspace.event_count()
    workspace.emit("two")
    workspace.drop_events_after(count)
    workspace.recount([block_id])
    workspace.note_saved(root_id)
    assert [event.cmd for event in workspace.take_events()] == [
        "one",
        "reloadDocInfo",
        "databaseIndexCommit",
        "setDefRefCount",
    ]
    assert workspace.take_events() == []


class Watcher:
    """An observer that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def document_changed(self, root_id: str) -> None:
        self.told.append(("changed", root_id))

    def document_removed(self, root_id: str) -> None:
        self.told.append(("removed", root_id))


async def test_the_disks_word_is_taken_for_each_kind_of_file(note: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, box, root_id, block_id = note
    workspace = kernel.workspace
    watcher = Watcher()
    workspace.observers.append(watcher)
    path = f"data/{box}/{root_id}.sy"
    content = workspace.files.read(path)
    workspace.files.write(path, content.replace(b"text", b"other"))
    workspace.emit("gone")
    workspace.reload([path, "data/assets/a.png"])
    assert (await kernel.texts(root_id), watcher.told) == (["other"], [("removed", root_id), ("changed", root_id)])
    workspace.take_events()
    workspace.files.write(path, b"{")
    workspace.reload([path])
    assert (workspace.block_exists(block_id), f"{box}/{root_id}.sy" in workspace.corrupt) == (False, True)
    workspace.files.write(path, content)
    workspace.reload([path])
    assert (workspace.block_exists(block_id), workspace.corrupt) == (True, {})
    conf = json.loads(workspace.files.read(f"data/{box}/.siyuan/conf.json"))
    workspace.files.write(
        f"data/{box}/.siyuan/conf.json", json.dumps({**conf, "name": "Renamed", "closed": True}).encode()
    )
    workspace.reload([f"data/{box}/.siyuan/conf.json", path])
    assert (workspace.notebooks.opened(box), workspace.block_exists(block_id)) == (None, False)
    settings = json.loads(workspace.files.read("conf/conf.json"))
    settings["api"]["token"] = "another"
    workspace.files.write("conf/conf.json", json.dumps(settings).encode())
    workspace.reload(["conf/conf.json"])
    assert workspace.conf.token == "another"


async def test_a_half_written_file_is_not_entered(note: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, box, root_id, _ = note
    workspace = kernel.workspace
    before = set(workspace.blocks.documents)
    workspace.unscan(box)
    workspace.scan(box)
    workspace.files.write(f"data/{box}/.{root_id}.sy{TEMPORARY_SUFFIX}", b"{")
    workspace._enter(box, f"/.{root_id}.sy{TEMPORARY_SUFFIX}")
    assert (set(workspace.blocks.documents), workspace.corrupt) == (before, {})


async def test_only_so_much_is_kept_loaded(
    note: tuple[MemoryKernel, str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, box, root_id, _ = note
    workspace = kernel.workspace
    other = await kernel.document(box, "/Other", "text")
    monkeypatch.setattr(module, "LOADED_NODES_MAX", 1)
    for one in (root_id, other):
        workspace.forget_tree(one)
        workspace.document(one)
    assert (workspace.is_loaded(root_id), workspace.is_loaded(other)) == (False, True)
    workspace.edit(other)
    workspace.document(root_id)
    assert workspace.is_loaded(other)  # somebody works with it


async def test_ids_that_stand_in_no_file_are_given_once(note: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, box, root_id, block_id = note
    workspace = kernel.workspace
    workspace.forget_tree(root_id)
    path = f"data/{box}/{root_id}.sy"
    workspace.files.write(
        path,
        workspace.files.read(path)
        .replace(f'"ID":"{block_id}",'.encode(), b"")
        .replace(f'"id":"{block_id}"'.encode(), b'"id":""'),
    )
    workspace.reload([path])
    (first,), (second,) = ([child.id for child in workspace.glance(root_id).root.children] for _ in range(2))
    assert (first == second, first != block_id, workspace.blocks.root_of(first)) == (True, True, root_id)


async def test_a_document_is_told_moved_and_removed(note: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, box, root_id, _ = note
    workspace = kernel.workspace
    watcher = Watcher()
    workspace.observers.append(watcher)
    other = await kernel.document(box, "/Other", "x")
    watcher.told.clear()
    for is_loaded in (True, False):
        workspace.document(root_id) if is_loaded else workspace.forget_tree(root_id)
        workspace.moved(root_id, box, f"/{other}/{root_id}.sy")
    assert workspace.entry(root_id).hpath == "/Other/Doc"
    workspace.removed(root_id)
    assert watcher.told == [("changed", root_id), ("changed", root_id), ("removed", root_id)]


async def test_a_workspace_is_opened_again_with_its_open_notebooks(note: tuple[MemoryKernel, str, str, str]) -> None:
    kernel, box, root_id, _ = note
    closed = await kernel.notebook("Closed")
    await kernel.call("notebook/closeNotebook", notebook=closed)
    again = kernel.restarted().workspace
    assert (set(again.blocks.documents), again.conf.token) == ({box, root_id}, kernel.workspace.conf.token)


async def test_an_added_document_is_what_its_next_reader_sees(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    hollow = Node("NodeList", id="20240101000000-hollowx", properties={"id": "20240101000000-hollowx"})
    root = Node("NodeDocument", id=GONE, properties={"id": GONE, "title": "t", "type": "doc"}, fields={"Spec": "2"})
    for child in (
        hollow,
        Node("NodeParagraph", id="20240101000000-abcdefg", properties={"id": "20240101000000-abcdefg"}),
    ):
        root.append(child)
    added = kernel.workspace.add(Tree(root, box=box, path=f"/{GONE}.sy"))
    assert ([child.type for child in added.root.children], added.tree.hpath) == (["NodeParagraph"], "/t")
    assert kernel.workspace.document(GONE) is added
    assert added.written is not None
    kernel.workspace.forget_tree(GONE)
    kernel.workspace.reread(GONE)
    assert kernel.workspace.document(GONE).written is None
    kernel.workspace.reread(GONE)
    assert kernel.workspace.document(GONE).written is None
