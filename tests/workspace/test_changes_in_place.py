"""A document whose bytes are at hand is indexed where it changed: always the rows that indexing all of it gives."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.workspace import sy
from kernel.workspace.index import fingerprints
from kernel.workspace.index.fingerprints import changed_since
from kernel.workspace.index.rows import Surroundings, document_rows
from kernel.workspace.index.writer import Index
from kernel.workspace.tree import Node
from tests.siyuan.kernel_in_memory import MemoryKernel
from tests.workspace.test_index import Shelf, block_id, document, paragraph


def heading(number: int, level: int) -> Node:
    identity = block_id(number)
    fields = {"HeadingLevel": level}
    return Node(
        "NodeHeading", id=identity, properties={"id": identity}, fields=fields, children=[Node("NodeText", data="h")]
    )


STEP = st.tuples(
    st.sampled_from(
        ["text", "append", "insert", "remove", "replace", "swap", "heading", "unheading", "nameless", "title"]
    ),
    st.integers(0, 9),
)


def step(root: Node, kind: str, at: int, fresh: int) -> None:
    children = root.children
    if kind == "append" or not children:
        root.append(paragraph(fresh, "walrus"))
        return
    node = children[at % len(children)]
    if kind == "insert":
        node.insert_before(paragraph(fresh, "otter"))
    elif kind == "nameless":
        node.insert_before(Node("NodeParagraph"))
    elif kind == "remove":
        node.detach()
    elif kind == "swap":
        root.append(node.detach())
    elif kind == "title":
        root.properties["title"] = f"Plan {fresh}"
    elif kind == "text":
        node.properties["custom-a"] = str(fresh)
    else:
        node.insert_after(heading(fresh, 1 + at % 3) if kind == "heading" else paragraph(fresh, "seal"))
        node.detach()


@given(steps=st.lists(st.lists(STEP, min_size=1, max_size=3), max_size=8), count=st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_whatever_changes_the_rows_are_those_of_the_whole_document(
    steps: list[list[tuple[str, int]]], count: int
) -> None:
    shelf = Shelf()
    shelf.has_pieces = True
    tree = shelf.put(document(1, "Plan", *[paragraph(10 + number, "walrus") for number in range(count)]))
    index = Index(lambda: apsw.Connection(":memory:"), shelf, Surroundings(), now=lambda: 0.0)
    fresh = 100
    for some in [[], *steps]:
        for kind, at in some:
            fresh += 1
            step(tree.root, kind, at, fresh)
        index.document_changed(tree.id)
        index.settle()
        rows = document_rows(tree, Surroundings())
        for table, expected in (("blocks", rows.blocks), ("attributes", rows.attributes)):
            assert sorted(index.connection.execute(f"SELECT * FROM {table}")) == sorted(map(tuple, expected))
    index.close()


def test_of_a_document_with_one_change_nothing_else_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = document(1, "Plan", *[paragraph(10 + number, "walrus") for number in range(5)])

    def pieces() -> list[bytes]:
        return [sy.encode(child) for child in tree.root.children]

    first = changed_since(tree, None, pieces())
    monkeypatch.setattr(fingerprints, "heading_parents", lambda root: pytest.fail("all of it was looked at"))
    tree.root.children[2].children[0].data = "otter"
    tree.root.append(paragraph(50, "seal"))
    change = changed_since(tree, first.indexed, pieces())
    assert [node.id for node, _ in change.made] == [block_id(12), block_id(50)]
    assert change.dropped_ids == [block_id(12)]
    again = changed_since(tree, change.indexed, pieces())
    assert (again.made, again.dropped_ids) == ([], [])


async def test_a_query_after_each_write_of_a_kernel_sees_it() -> None:
    made = MemoryKernel()
    root_id = await made.document(await made.notebook(), "/Doc", "alpha\n\n# head\n\nbeta")

    async def contents() -> list[str]:
        rows = await made.call(
            "query/sql", stmt=f"SELECT content FROM blocks WHERE root_id = '{root_id}' ORDER BY rowid"
        )
        return sorted(row["content"] for row in rows)

    assert await contents() == ["Doc", "alpha", "beta", "head"]
    first = (await made.call("block/getChildBlocks", id=root_id))[0]["id"]
    await made.call("block/updateBlock", id=first, dataType="markdown", data="gamma")
    assert await contents() == ["Doc", "beta", "gamma", "head"]
    await made.call("block/appendBlock", parentID=root_id, dataType="markdown", data="delta")
    assert await contents() == ["Doc", "beta", "delta", "gamma", "head"]
    await made.call("block/deleteBlock", id=first)
    assert await contents() == ["Doc", "beta", "delta", "head"]
