"""The index follows the documents: lazily, by top block, and with a full-text twin that is only kept for those who ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.workspace import sy
from kernel.workspace.index.fingerprints import changed_since
from kernel.workspace.index.limits import READERS_MAX, STALE_TEXTS_MAX
from kernel.workspace.index.queries import blocks_by_id, ref_counts
from kernel.workspace.index.rows import Surroundings, Target, document_rows, embedded_id, heading_parents
from kernel.workspace.index.writer import Index
from kernel.workspace.tree import Node, Tree

BOX = "20240101000000-boxboxb"


def block_id(number: int) -> str:
    return f"20240101{number:06d}-abcdefg"


def paragraph(number: int, *inlines: Node | str) -> Node:
    children = [Node("NodeText", data=part) if isinstance(part, str) else part for part in inlines]
    identity = {"id": block_id(number), "updated": "20240101000000"}
    return Node("NodeParagraph", id=block_id(number), properties=identity, children=children)


def heading(number: int, level: int, text: str) -> Node:
    node = paragraph(number, text)
    node.type, node.fields = "NodeHeading", {"HeadingLevel": level}
    return node


def ref(target: str, anchor: str) -> Node:
    fields = {"TextMarkType": "block-ref", "TextMarkBlockRefID": target, "TextMarkTextContent": anchor}
    return Node("NodeTextMark", fields={**fields, "TextMarkBlockRefSubtype": "d"})


def document(number: int, title: str, *children: Node) -> Tree:
    properties = {"id": block_id(number), "title": title, "type": "doc", "updated": "20240101000000"}
    root = Node("NodeDocument", id=block_id(number), properties=properties, children=list(children))
    return Tree(root, box=BOX, path=f"/{block_id(number)}.sy", hpath=f"/{title}")


class Shelf:
    """A library in memory; ``now`` is moved by hand."""

    def __init__(self) -> None:
        self.trees: dict[str, Tree] = {}
        self.children: dict[str, list[str]] = {}
        self.digests: dict[str, bytes] = {}
        self.shelved: set[str] = set()
        self.has_pieces = False
        self.now = 0.0

    def tree(self, root_id: str) -> Tree | None:
        return self.trees.get(root_id)

    def pieces(self, tree: Tree) -> list[bytes] | None:
        return [sy.encode(child) for child in tree.root.children] if self.has_pieces else None

    def is_at_hand(self, root_id: str) -> bool:
        return root_id not in self.shelved

    def roots(self) -> Iterator[str]:
        return iter(list(self.trees))

    def place(self, root_id: str) -> tuple[str, str, str] | None:
        tree = self.trees.get(root_id)
        return None if tree is None else (tree.box, tree.path, tree.hpath)

    def digest(self, root_id: str) -> bytes:
        return self.digests.get(root_id, b"one")

    def below(self, box: str, path: str) -> Iterator[str]:
        return iter(self.children.get(path, []))

    def put(self, tree: Tree) -> Tree:
        self.trees[tree.id] = tree
        return tree

    def target(self, wanted: str) -> Target | None:
        for tree in self.trees.values():
            for node in tree.root.walk():
                if node.id == wanted:
                    return Target(node.parent.id if node.parent else "", tree.id, tree.path)
        return None


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def index(shelf: Shelf, tmp_path: Path) -> Iterator[Index]:
    opened = Index(
        lambda: apsw.Connection(str(tmp_path / "index.db")), shelf, Surroundings(shelf.target), now=lambda: shelf.now
    )
    yield opened
    opened.close()


def contents(index: Index) -> list[str]:
    index.settle()
    return sorted(str(row[0]) for row in index.connection.execute("SELECT content FROM blocks"))


def found(index: Index, match: str) -> list[str]:
    index.settle()
    index.fulltext.refresh()
    statement = "SELECT content FROM blocks_fts WHERE blocks_fts MATCH ? ORDER BY content"
    return [str(row[0]) for row in index.connection.execute(statement, (match,))]


def test_a_change_is_indexed_when_the_next_query_comes(shelf: Shelf, index: Index) -> None:
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus"), paragraph(3, "otter")))
    index.document_changed(tree.id)
    assert next(iter(index.connection.execute("SELECT COUNT(*) FROM blocks")))[0] == 0
    assert contents(index) == ["Plan", "otter", "walrus"]


def test_only_the_changed_top_block_gets_new_rows(shelf: Shelf, index: Index) -> None:
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus"), paragraph(3, "otter")))
    index.document_changed(tree.id)
    index.settle()
    before = dict(index.connection.execute("SELECT id, rowid FROM blocks"))
    tree.root.children[1].children[0].data = "seal"
    index.document_changed(tree.id)
    assert contents(index) == ["Plan", "seal", "walrus"]
    after = dict(index.connection.execute("SELECT id, rowid FROM blocks"))
    assert after[block_id(2)] == before[block_id(2)]
    assert after[tree.id] == before[tree.id]


def test_a_removed_document_leaves_no_rows(shelf: Shelf, index: Index) -> None:
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus", ref(block_id(2), "self"))))
    index.document_changed(tree.id)
    index.settle()
    del shelf.trees[tree.id]
    index.document_removed(tree.id)
    assert contents(index) == []
    assert list(index.connection.execute("SELECT * FROM refs")) == []


def test_a_renamed_document_moves_its_rows_and_those_below(shelf: Shelf, index: Index) -> None:
    parent, child = shelf.put(document(1, "Old", paragraph(2, "x"))), shelf.put(document(3, "Kid", paragraph(4, "y")))
    shelf.children[parent.path] = [child.id]
    for tree in (parent, child):
        index.document_changed(tree.id)
    index.settle()
    parent.hpath, child.hpath = "/New", "/New/Kid"
    index.document_changed(parent.id)
    while index.settle():
        pass
    paths = {str(row[0]) for row in index.connection.execute("SELECT hpath FROM blocks")}
    assert paths == {"/New", "/New/Kid"}


def test_with_a_lag_queries_see_the_past_until_it_is_over(shelf: Shelf, index: Index) -> None:
    index.lag_s = 2.0
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus")))
    index.document_changed(tree.id)
    shelf.now = 1.9
    assert contents(index) == []
    shelf.now = 2.0
    assert contents(index) == ["Plan", "walrus"]


def test_a_flush_does_not_wait_for_the_lag(shelf: Shelf, index: Index) -> None:
    index.lag_s = 2.0
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus")))
    index.document_changed(tree.id)
    index.flush()
    assert contents(index) == ["Plan", "walrus"]


def test_settling_in_steps_says_whether_more_is_left(shelf: Shelf, index: Index) -> None:
    for number in (1, 2, 3):
        index.document_changed(shelf.put(document(number, f"D{number}")).id)
    assert index.settle(documents_max=2)
    assert not index.settle(documents_max=2)
    assert contents(index) == ["D1", "D2", "D3"]


def test_a_rebuild_indexes_everything_anew(shelf: Shelf, index: Index) -> None:
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus")))
    index.document_changed(tree.id)
    index.settle()
    index.connection.execute("UPDATE blocks SET content = 'damaged'")
    index.rebuild()
    assert contents(index) == ["Plan", "walrus"]
    assert found(index, "walrus") == ["walrus"]


def test_full_text_finds_any_piece_of_a_word_and_ignores_case(shelf: Shelf, index: Index) -> None:
    index.document_changed(shelf.put(document(1, "Plan", paragraph(2, "Walrus 海象在游泳"))).id)
    assert found(index, "alru") == ["Walrus 海象在游泳"]
    assert found(index, "象在") == ["Walrus 海象在游泳"]
    assert found(index, "otter") == []


def test_full_text_follows_changes_made_after_it_was_built(shelf: Shelf, index: Index) -> None:
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus"), paragraph(3, "otter")))
    index.document_changed(tree.id)
    assert found(index, "walrus OR otter") == ["otter", "walrus"]
    tree.root.children[0].children[0].data = "seal"
    tree.root.children[1].detach()
    index.document_changed(tree.id)
    assert found(index, "walrus OR otter") == []
    assert found(index, "seal") == ["seal"]


def test_full_text_is_built_anew_when_too_much_has_changed(shelf: Shelf, index: Index) -> None:
    index.document_changed(shelf.put(document(1, "Plan", paragraph(2, "walrus"))).id)
    assert found(index, "walrus") == ["walrus"]
    index.fulltext.note_added(range(10, 10 + STALE_TEXTS_MAX))
    assert index.fulltext.is_built
    index.fulltext.note_added([9])
    assert not index.fulltext.is_built
    assert found(index, "walrus") == ["walrus"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["seal", "otter", "", "walrus seal"])), max_size=12))
def test_full_text_always_agrees_with_the_rows(edits: list[tuple[int, str]]) -> None:
    shelf = Shelf()
    name = f"file:/agree{id(shelf)}?vfs=memdb"
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    index = Index(lambda: apsw.Connection(name, flags=flags), shelf, Surroundings(), now=lambda: 0.0)
    tree = shelf.put(document(1, "Plan", *[paragraph(10 + number, "walrus") for number in range(5)]))
    index.document_changed(tree.id)
    for step, (position, text) in enumerate(edits):
        node = tree.root.children[position % max(len(tree.root.children), 1)] if tree.root.children else None
        if node is not None and text:
            node.children[0].data = text
        elif node is not None:
            node.detach()
        index.document_changed(tree.id)
        if step % 3 == 0:
            expected = sorted(node.children[0].data for node in tree.root.children if "seal" in node.children[0].data)
            assert found(index, "seal") == expected
    index.fulltext.refresh()
    index.connection.execute("INSERT INTO blocks_fts(blocks_fts, rank) VALUES ('integrity-check', 1)")
    index.close()


def test_a_reader_cannot_write_and_is_used_again(index: Index) -> None:
    reader = index.take_reader()
    with pytest.raises(apsw.ReadOnlyError):
        reader.execute("DELETE FROM blocks")
    index.give_back(reader)
    assert index.take_reader() is reader


def test_readers_beyond_the_limit_are_closed(index: Index) -> None:
    readers = [index.take_reader() for _ in range(READERS_MAX + 1)]
    for reader in readers:
        index.give_back(reader)
    with pytest.raises(apsw.ConnectionClosedError):
        readers[-1].execute("SELECT 1")
    assert list(readers[0].execute("SELECT 1")) == [(1,)]


def test_a_document_under_edit_is_compared_without_rendering_it() -> None:
    tree = document(1, "Plan", heading(2, 1, "A"), paragraph(3, "x"), heading(4, 2, "B"), paragraph(5, "y"))
    first = changed_since(tree, None)
    assert [node.id for node, _ in first.made] == [block_id(number) for number in (2, 3, 4, 5)]
    assert changed_since(tree, first.indexed).made == []
    tree.root.children[2].fields["HeadingLevel"] = 1
    change = changed_since(tree, first.indexed)
    # The heading itself; what stands under it keeps its parent.
    assert [node.id for node, _ in change.made] == [block_id(4)]
    assert change.dropped_ids == [block_id(4)]


def test_blocks_below_a_heading_have_the_heading_as_parent() -> None:
    tree = document(
        1, "P", paragraph(2, "a"), heading(3, 2, "h"), paragraph(4, "b"), heading(5, 3, "i"), heading(6, 1, "t")
    )
    parents = {node.id: parent for node, parent in heading_parents(tree.root)}
    assert parents == {
        block_id(2): block_id(1),
        block_id(3): block_id(1),
        block_id(4): block_id(3),
        block_id(5): block_id(3),
        block_id(6): block_id(1),
    }


def test_references_know_where_their_target_lives(shelf: Shelf, index: Index) -> None:
    target = shelf.put(document(1, "Target", paragraph(2, "walrus")))
    source = shelf.put(document(3, "Source", paragraph(4, ref(block_id(2), "w"), ref(block_id(2), "again"))))
    for tree in (target, source):
        index.document_changed(tree.id)
    index.settle()
    rows = list(index.connection.execute("SELECT def_block_id, def_block_root_id, block_id, content FROM refs"))
    assert rows == [(block_id(2), target.id, block_id(4), "w")]
    assert ref_counts(index.connection, [block_id(2), block_id(4)]) == {block_id(2): 1}


def test_rows_are_found_in_the_order_they_were_asked_for(shelf: Shelf, index: Index) -> None:
    numbers = range(2, 900)
    index.document_changed(shelf.put(document(1, "P", *[paragraph(number, "x") for number in numbers])).id)
    index.settle()
    wanted = [block_id(number) for number in reversed(numbers)]
    assert [row.id for row in blocks_by_id(index.connection, [*wanted, "unknown"])] == wanted


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("select * from blocks where id = '20240101000050-blk0050'", "20240101000050-blk0050"),
        ("SELECT * FROM blocks WHERE (id='20240101000050-blk0050') LIMIT 3", "20240101000050-blk0050"),
        ("select * from blocks where id = '20240101000050-blk0050' or 1", ""),
        ("select * from blocks where root_id = '20240101000050-blk0050'", ""),
        ("select * from blocks where id = 'nope'", ""),
    ],
)
def test_an_embed_counts_as_a_reference_only_to_the_one_id_it_asks_for(statement: str, expected: str) -> None:
    assert embedded_id(statement) == expected


def test_rows_of_the_same_tree_are_the_same() -> None:
    tree = document(1, "P", paragraph(2, "x", ref(block_id(2), "y")))
    assert document_rows(tree, Surroundings()) == document_rows(tree, Surroundings())


def test_a_query_block_holds_the_text_of_its_results_a_little_later(shelf: Shelf, index: Index) -> None:
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus")))
    index.document_changed(tree.id)
    assert found(index, "walrus") == ["walrus"]
    index.note_content(block_id(2), "seal")
    assert contents(index) == ["Plan", "walrus"]
    index.set_content(block_id(2), "otter")
    assert found(index, "otter") == ["otter"]
    shelf.now = 1.0
    assert found(index, "seal") == ["seal"]
    index.note_content(block_id(2), "whale")
    index.flush()
    assert contents(index) == ["Plan", "whale"]


def test_a_row_that_takes_the_place_of_one_that_is_gone_is_found_in_its_stead(shelf: Shelf, index: Index) -> None:
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus"), paragraph(3, "otter")))
    index.document_changed(tree.id)
    assert found(index, "otter") == ["otter"]
    for text in ("seal", "whale"):
        shelf.put(document(1, "Plan", paragraph(2, "walrus"), paragraph(3, text)))
        index.document_changed(tree.id)
        index.settle()
    assert [found(index, text) for text in ("otter", "seal", "whale")] == [[], [], ["whale"]]


def test_of_a_document_that_nobody_works_with_every_change_is_indexed_whole(shelf: Shelf, index: Index) -> None:
    tree = shelf.put(document(1, "Plan", paragraph(2, "walrus")))
    shelf.shelved.add(tree.id)
    for text in ("walrus", "seal"):
        shelf.put(document(1, "Plan", paragraph(2, text)))
        index.document_changed(tree.id)
        assert contents(index) == ["Plan", text]


def test_the_cover_of_a_document_is_one_of_its_assets_and_half_an_annotation_is_none() -> None:
    fields = {"TextMarkType": "file-annotation-ref", "TextMarkFileAnnotationRefID": "noslash"}
    tree = document(1, "P", paragraph(2, Node("NodeTextMark", fields=fields)))
    tree.root.properties["title-img"] = "background-image:url(&quot;assets/c.png&quot;)"
    rows = document_rows(tree, Surroundings())
    assert [(row.path, row.title) for row in rows.assets] == [("assets/c.png", "title-img")]
    assert rows.annotation_refs == []
