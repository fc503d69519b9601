"""What one run leaves for the next: a catalog of the files and an index, both believed only where the files are the same."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from kernel.clock import SystemClock
from kernel.ids import SystemIds
from kernel.workspace.blockmap import BlockMap, DocumentEntry, head_of
from kernel.workspace.boxes import create_box
from kernel.workspace.catalog import CATALOG_PATH
from kernel.workspace.index.limits import KNOWN_TOP_BLOCKS_MAX, TEXTS_PER_STEP
from kernel.workspace.index.rows import Surroundings
from kernel.workspace.index.writer import Index
from kernel.workspace.tree import Node, Tree
from kernel.workspace.workspace import Workspace
from tests.workspace.test_index import Shelf, contents, document, found, paragraph

BOX = "20240101000000-boxboxb"


def open_index(shelf: Shelf, path: Path) -> Index:
    return Index(lambda: apsw.Connection(str(path)), shelf, Surroundings(shelf.target), now=lambda: shelf.now)


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf()
    for number, text in ((1, "walrus"), (2, "otter"), (3, "seal")):
        shelf.put(document(number * 100, f"D{number}", paragraph(number * 100 + 1, text)))
    return shelf


@pytest.fixture
def path(tmp_path: Path, shelf: Shelf) -> Path:
    """An index that an earlier run has left, its full-text table whole."""
    path = tmp_path / "index.db"
    index = open_index(shelf, path)
    assert found(index, "walrus") == ["walrus"]
    index.close()
    return path


def read_count(shelf: Shelf) -> list[str]:
    """The documents whose trees are read from now on."""
    read: list[str] = []
    real = shelf.tree

    def counted(root_id: str) -> Tree | None:
        read.append(root_id)
        return real(root_id)

    shelf.tree = counted  # type: ignore[method-assign]
    return read


def test_an_unchanged_workspace_is_not_indexed_again(shelf: Shelf, path: Path) -> None:
    read = read_count(shelf)
    index = open_index(shelf, path)
    assert contents(index) == ["D1", "D2", "D3", "otter", "seal", "walrus"]
    assert read == []
    assert index.fulltext.is_built
    assert found(index, "otter") == ["otter"]
    index.close()


def test_only_what_changed_while_nobody_looked_is_indexed(shelf: Shelf, path: Path) -> None:
    changed, gone, *_ = shelf.trees
    shelf.trees[changed].root.children[0].children[0].data = "lynx"
    shelf.digests[changed] = b"two"
    del shelf.trees[gone]
    new = shelf.put(document(400, "D4", paragraph(401, "puma")))
    read = read_count(shelf)
    index = open_index(shelf, path)
    assert contents(index) == ["D1", "D3", "D4", "lynx", "puma", "seal"]
    assert set(read) == {changed, gone, new.id}
    assert found(index, "walrus OR otter") == []
    assert found(index, "lynx") == ["lynx"]
    index.close()


def test_a_document_that_has_moved_is_indexed_with_those_below_it(shelf: Shelf, path: Path) -> None:
    moved, below, _ = shelf.trees
    shelf.trees[moved].hpath = "/Elsewhere"
    shelf.children[shelf.trees[moved].path] = [below]
    index = open_index(shelf, path)
    index.settle()
    assert read_paths(index, moved) == {"/Elsewhere"}
    shelf.trees[below].hpath = "/Elsewhere/D2"
    index.document_changed(below)
    index.settle()
    assert read_paths(index, below) == {"/Elsewhere/D2"}
    index.close()


def read_paths(index: Index, root_id: str) -> set[str]:
    rows = index.connection.execute("SELECT hpath FROM blocks WHERE root_id = ?", (root_id,))
    return {str(row[0]) for row in rows}


def test_a_document_nobody_vouches_for_is_indexed_again(shelf: Shelf, path: Path) -> None:
    mended = next(iter(shelf.trees))
    shelf.digests[mended] = b""
    for _ in range(2):
        read = read_count(shelf)
        index = open_index(shelf, path)
        index.settle()
        assert read == [mended]
        index.close()


def test_after_a_kill_the_full_text_table_is_built_anew(shelf: Shelf, path: Path) -> None:
    killed = open_index(shelf, path)
    killed.connection.close()
    index = open_index(shelf, path)
    assert not index.fulltext.is_built
    assert found(index, "seal") == ["seal"]
    index.connection.execute("INSERT INTO blocks_fts(blocks_fts, rank) VALUES ('integrity-check', 1)")
    index.close()


def test_the_full_text_table_is_built_in_steps_while_rows_come_and_go(tmp_path: Path) -> None:
    shelf = Shelf()
    tree = shelf.put(document(1, "Plan", *[paragraph(10 + n, f"walrus {n}") for n in range(3 * TEXTS_PER_STEP)]))
    index = open_index(shelf, tmp_path / "steps.db")
    index.settle()
    assert index.fulltext.refresh(rows_max=TEXTS_PER_STEP)
    assert not index.fulltext.is_built
    # One row that is in the table already, one that is not yet.
    for position in (0, 3 * TEXTS_PER_STEP - 1):
        tree.root.children[position].children[0].data = "otter"
    tree.root.children[1].detach()
    index.document_changed(tree.id)
    index.settle()
    while index.fulltext.refresh(rows_max=TEXTS_PER_STEP):
        pass
    assert found(index, "otter") == ["otter", "otter"]
    assert len(found(index, "walrus")) == 3 * TEXTS_PER_STEP - 3
    index.connection.execute("INSERT INTO blocks_fts(blocks_fts, rank) VALUES ('integrity-check', 1)")
    index.close()


def test_blocks_are_known_one_by_one_up_to_the_bound_and_indexed_whole_beyond(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert KNOWN_TOP_BLOCKS_MAX > 2
    monkeypatch.setattr("kernel.workspace.index.writer.KNOWN_TOP_BLOCKS_MAX", 2)
    shelf = Shelf()
    for number in (1, 2, 3):
        shelf.put(document(number * 100, f"D{number}", paragraph(number * 100 + 1, "old")))
    index = open_index(shelf, tmp_path / "few.db")
    index.settle()
    for tree in shelf.trees.values():
        tree.root.children[0].children[0].data = "new"
        index.document_changed(tree.id)
    assert contents(index) == ["D1", "D2", "D3", "new", "new", "new"]
    index.close()


# --- the catalog ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with two documents."""
    opened = open_workspace(tmp_path)
    box = create_box(opened, "Box").id
    before = len(opened.blocks.documents)
    for title in ("One", "Two"):
        root_id = opened.new_id()
        root = Node("NodeDocument", id=root_id, properties={"id": root_id, "title": title, "type": "doc"})
        root.append(Node("NodeParagraph", id=(block := opened.new_id()), properties={"id": block}))
        opened.add(Tree(root, box=box, path=f"/{root_id}.sy", hpath=f"/{title}"))
    assert len(opened.blocks.documents) == before + 2
    opened.files.flush()
    return tmp_path


def open_workspace(folder: Path) -> Workspace:
    clock = SystemClock()
    # Files that were written a moment ago are not vouched for: an hour has passed since.
    clock.advance(3600.0)
    return Workspace.open(str(folder), clock=clock, ids=SystemIds())


def reads_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Workspace, list[str]]:
    """A workspace that is opened, and which documents had to be read for it."""
    read: list[str] = []

    def counted(content: bytes) -> tuple[str, dict[str, str]]:
        found = head_of(content)
        if found[1]["title"] != "Box":
            read.append(found[1]["title"])
        return found

    monkeypatch.setattr("kernel.workspace.catalog.head_of", counted)
    return open_workspace(folder), read


def test_unchanged_files_are_not_read_at_the_next_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_workspace(folder)
    first.close()
    second, read = reads_of(folder, monkeypatch)
    assert read == []
    assert known(second) == known(first)
    assert {"/One", "/Two"} <= {entry.hpath for entry in second.blocks.documents.values()}


def known(workspace: Workspace) -> dict[str, tuple[object, ...]]:
    entries = workspace.blocks.documents.values()
    return {entry.id: (entry.properties, entry.size, entry.block_ids, entry.ref_ids, entry.digest) for entry in entries}


def test_a_file_that_was_written_by_somebody_else_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_workspace(folder).close()
    file = next(one for one in folder.rglob("*.sy") if b'"One"' in one.read_bytes())
    file.write_bytes(file.read_bytes().replace(b'"One"', b'"Won"'))
    _, read = reads_of(folder, monkeypatch)
    assert read == ["Won"]


def test_what_this_run_has_written_is_vouched_for_when_it_closes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_workspace(folder)
    document = first.edit(next(entry.id for entry in first.blocks.documents.values() if entry.title == "One"))
    document.root.properties["title"] = "Renamed"
    first.save(document)
    first.files.flush()
    first.close()
    second, read = reads_of(folder, monkeypatch)
    assert read == []
    assert "/Renamed" in {entry.hpath for entry in second.blocks.documents.values()}


def test_a_file_that_somebody_changed_after_our_write_is_not_vouched_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_workspace(folder)
    document = first.edit(next(entry.id for entry in first.blocks.documents.values() if entry.title == "One"))
    document.root.properties["title"] = "Renamed"
    first.save(document)
    first.files.flush()
    file = next(one for one in folder.rglob("*.sy") if b"Renamed" in one.read_bytes())
    file.write_bytes(file.read_bytes().replace(b"Renamed", b"Foreign"))
    first.close()
    _, read = reads_of(folder, monkeypatch)
    assert read == ["Foreign"]


@pytest.mark.parametrize("content", [b"", b"[1", b"[999,{}]", b'{"version":1}', b"\xff"])
def test_a_catalog_that_cannot_be_read_is_nothing_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    open_workspace(folder).close()
    (folder / CATALOG_PATH).write_bytes(content)
    workspace, read = reads_of(folder, monkeypatch)
    assert sorted(read) == ["One", "Two"]
    assert {"/One", "/Two"} <= {entry.hpath for entry in workspace.blocks.documents.values()}


def test_documents_below_a_path_are_found_without_looking_at_the_others() -> None:
    blocks = BlockMap()
    for path in ("/a.sy", "/a/b.sy", "/a/b/c.sy", "/ab.sy", "/ab/d.sy", "/x/y/z.sy"):
        blocks.put(DocumentEntry(path[:-3].rpartition("/")[2], BOX, path, {"title": path}))
    assert [entry.id for entry in blocks.below(BOX, "/a.sy")] == ["a", "b", "c"]
    assert [entry.id for entry in blocks.below(BOX, "/x/y.sy")] == ["z"]
    blocks.move("b", BOX, "/ab/b.sy")
    blocks.remove("d")
    assert [entry.id for entry in blocks.below(BOX, "/a.sy")] == ["a", "c"]
    assert [entry.id for entry in blocks.below(BOX, "/ab.sy")] == ["b", "ab"]
    assert list(blocks.below("another", "/a.sy")) == []
