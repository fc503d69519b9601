"""What is asked about single blocks: children, path, neighbours, place and fold."""

from __future__ import annotations

import pytest

from kernel.workspace.block_info import (
    breadcrumb,
    child_block,
    children_of,
    is_block_folded,
    relevant_ids,
    sibling_ids,
    top_index,
    tree_info,
    unfolded_parent_id,
)
from kernel.workspace.intake import markdown_blocks
from kernel.workspace.tree import Node
from kernel.workspace.workspace import Document
from tests.siyuan.kernel_in_memory import MemoryKernel

TEXT = """first

# one

under one

## two

* a

  more
* b
  * c

> quote

{{{row
### boxed

p

}}}

after

* [X] done"""


@pytest.fixture
async def document(kernel: MemoryKernel) -> Document:
    root_id = await kernel.document(await kernel.notebook("Box & co"), "/Top/Doc", TEXT)
    return kernel.workspace.document(root_id)


def block(document: Document, text: str) -> Node:
    """The paragraph or heading that says a text."""
    leaves = (node for node in document.root.walk() if node.type in ("NodeParagraph", "NodeHeading"))
    return next(node for node in leaves if node.children and node.children[0].data == text)


def parent(node: Node) -> Node:
    assert node.parent is not None
    return node.parent


def names(kernel: MemoryKernel, document: Document, node: Node) -> list[str]:
    return [str(crumb["name"]) for crumb in breadcrumb(kernel.workspace, document, node)]


async def test_a_child_is_listed_without_empty_members(document: Document) -> None:
    assert child_block(block(document, "one")) == {
        "id": block(document, "one").id,
        "type": "h",
        "subType": "h1",
        "content": "one",
        "markdown": "# one",
    }
    empty = Node("NodeParagraph", id="x")
    assert child_block(empty) == {"id": "x", "type": "p"}


async def test_a_headings_children_are_its_section_and_a_leaf_has_none(document: Document) -> None:
    root = document.root
    assert children_of(block(document, "one")) == root.children[2:]
    assert children_of(block(document, "two")) == root.children[4:]
    assert children_of(root) == root.children
    quote = root.children[5]
    assert [child.type for child in quote.children] == ["NodeBlockquoteMarker", "NodeParagraph"]
    assert [child.type for child in children_of(quote)] == ["NodeParagraph"]
    assert children_of(block(document, "first")) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("first", ["Box &amp; co/Top/Doc", ""]),
        ("under one", ["Box &amp; co/Top/Doc", "one", ""]),
        ("two", ["Box &amp; co/Top/Doc", "one", ""]),
        ("a", ["Box &amp; co/Top/Doc", "one", "two", "a", ""]),
        ("c", ["Box &amp; co/Top/Doc", "one", "two", "b", "c"]),
        ("after", ["Box &amp; co/Top/Doc", "one", "two", "boxed", ""]),
        ("done", ["Box &amp; co/Top/Doc", "one", "two", "boxed", "done"]),
    ],
)
async def test_the_way_to_a_block_leads_by_headings_and_items(
    kernel: MemoryKernel, document: Document, text: str, path: list[str]
) -> None:
    assert names(kernel, document, block(document, text)) == path


async def test_a_name_stands_for_a_container_and_a_group_is_named_only_for_itself(
    kernel: MemoryKernel, document: Document
) -> None:
    item = parent(block(document, "a"))
    item.properties["name"] = "the &amp; item"
    assert names(kernel, document, block(document, "more"))[-2] == "the &amp; item"
    items = parent(item)
    assert breadcrumb(kernel.workspace, document, items)[-1]["id"] == items.id
    assert items.id not in [crumb["id"] for crumb in breadcrumb(kernel.workspace, document, item)]


async def test_a_notebooks_own_document_is_named_as_the_notebook(kernel: MemoryKernel) -> None:
    box = await kernel.notebook("Box")
    await kernel.call("block/appendBlock", dataType="markdown", data="text", parentID=box)
    document = kernel.workspace.document(box)
    assert names(kernel, document, document.root.children[-1]) == ["Box", ""]


async def test_a_heading_in_a_super_block_in_an_item_leads_nowhere(kernel: MemoryKernel, document: Document) -> None:
    blocks = markdown_blocks(kernel.workspace, "* first\n\n  {{{row\n  # inner\n\n  p\n\n  }}}\n\n  last")
    item = blocks[0].children[0]
    document.root.append(blocks[0])
    assert [child.type for child in item.children] == ["NodeParagraph", "NodeSuperBlock", "NodeParagraph"]
    assert "inner" not in names(kernel, document, item.children[-1])
    document.root.append(Node("NodeSuperBlock", id="s", children=[Node("NodeParagraph")]))
    tail = Node("NodeParagraph", id="t")
    document.root.append(tail)
    assert names(kernel, document, tail)[-2:] == ["boxed", ""]


async def test_neighbours_are_blocks_or_whatever_stands_there(document: Document) -> None:
    quoted = block(document, "quote")
    quote = parent(quoted)
    info = tree_info(quoted)
    assert (info["parentID"], info["parentType"]) == (quote.id, "NodeBlockquote")
    assert (info["previousID"], info["previousType"], info["nextID"], info["nextType"]) == ("", "", "", "")
    info = tree_info(block(document, "two"))
    assert (info["previousType"], info["nextType"]) == ("NodeParagraph", "NodeList")
    assert relevant_ids(block(document, "two")) == {
        "parentID": document.id,
        "previousID": block(document, "under one").id,
        "nextID": parent(parent(block(document, "a"))).id,
    }
    assert relevant_ids(document.root) == {"parentID": "", "previousID": "", "nextID": ""}


async def test_an_editor_goes_from_item_to_item(document: Document) -> None:
    first, second, inner = (parent(block(document, text)) for text in ("a", "b", "c"))
    items = parent(first)

    def ids(*nodes: Node | None) -> dict[str, str]:
        return {
            name: node.id if node is not None else ""
            for name, node in zip(("parent", "next", "previous"), nodes, strict=True)
        }

    assert sibling_ids(block(document, "a")) == ids(first, second, None)
    assert sibling_ids(block(document, "c")) == ids(second, None, first)
    assert sibling_ids(second) == ids(document.root, None, first)
    assert sibling_ids(parent(inner)) == ids(second, None, first)
    assert sibling_ids(block(document, "under one")) == ids(
        document.root, block(document, "two"), block(document, "one")
    )
    assert sibling_ids(block(document, "quote")) == ids(items.next, items.next and items.next.next, items)
    assert sibling_ids(document.root) == ids(None, None, None)


def test_a_list_without_a_place_has_no_neighbours() -> None:
    item = Node("NodeListItem", id="i")
    Node("NodeList", id="l", children=[item])
    assert sibling_ids(item) == {"parent": "", "next": "", "previous": ""}


def test_a_paragraph_that_stands_right_in_a_list_has_its_neighbours_there() -> None:
    paragraph = Node("NodeParagraph", id="p")
    Node("NodeList", id="l", children=[Node("NodeListItem", id="i"), paragraph])
    assert sibling_ids(paragraph) == {"parent": "l", "next": "", "previous": "i"}


async def test_a_place_is_counted_at_the_top_of_the_document(document: Document) -> None:
    assert top_index(document, block(document, "first")) == 1
    assert top_index(document, block(document, "c")) == 5
    assert top_index(document, document.root) == 0


async def test_a_fold_above_hides_a_block(document: Document) -> None:
    two, item = block(document, "two"), parent(block(document, "a"))
    text = block(document, "a")
    assert not is_block_folded(text)
    assert unfolded_parent_id(text) == text.id
    item.properties["fold"] = "1"
    assert is_block_folded(text)
    assert unfolded_parent_id(text) == item.id
    parent(item).properties["fold"] = two.properties["fold"] = "1"
    assert unfolded_parent_id(text) == two.id
    assert not is_block_folded(block(document, "one"))
