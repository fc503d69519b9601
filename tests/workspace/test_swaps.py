"""Swapping a block that holds a reference with the block that it refers to."""

from __future__ import annotations

import pytest

from kernel.workspace.swaps import swap_blocks
from kernel.workspace.tree import Node
from kernel.workspace.workspace import NotFound
from tests.siyuan.kernel_in_memory import MemoryKernel


def outline(node: Node) -> list[object]:
    """The texts of the blocks of a container; those of containers in it as lists."""
    blocks = [child for child in node.children if child.id]
    return [
        outline(child) if any(below.id for below in child.children) else "".join(one.data for one in child.walk())
        for child in blocks
    ]


def block(kernel: MemoryKernel, root_id: str, text: str) -> str:
    """The id of the paragraph or heading with a text."""
    leaves = (
        node for node in kernel.workspace.document(root_id).root.walk() if node.type in ("NodeParagraph", "NodeHeading")
    )
    return next(node.id for node in leaves if node.children and node.children[0].data == text)


@pytest.mark.parametrize(
    ("markdown", "ref", "definition", "with_children", "swapped"),
    [
        ("r\n\nx\n\nd", "r", "d", False, ["d", "x", "r"]),
        ("r\n\nx\n\n# d\n\nunder", "r", "d", False, ["d", "x", "r", "under"]),
        ("r\n\nx\n\n# d\n\nunder", "r", "d", True, ["d", "under", "x", "r"]),
        ("* r\n* x\n* d", "r", "d", False, [[["d"], ["x"], ["r"]]]),
        ("* r\n* d\n  * low", "r", "d", False, [[["d"], ["r", [["low"]]]]]),
        ("* r\n* d\n  * low", "r", "d", True, [[["d", [["low"]]], ["r"]]]),
        ("r\n\n* d", "r", "d", False, [[["d"]], [["r"]]]),
        ("1. r\n2. x\n\nd", "r", "d", False, [[["d"], ["x"]], [["r"]]]),
    ],
)
async def test_each_takes_the_others_place(
    kernel: MemoryKernel, markdown: str, ref: str, definition: str, with_children: bool, swapped: list[object]
) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/Doc", markdown)
    ids = [block(kernel, root_id, text) for text in (ref, definition)]
    assert swap_blocks(kernel.workspace, *ids, includes_children=with_children)
    assert outline(kernel.workspace.document(root_id).root) == swapped
    kernel.workspace.files.flush()
    again = kernel.restarted().workspace.document(root_id)
    assert outline(again.root) == swapped


async def test_blocks_of_two_documents_are_swapped_and_stamped(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    first, second = await kernel.document(box, "/A", "one"), await kernel.document(box, "/B", "1. two")
    kernel.clock.advance(60)
    assert swap_blocks(
        kernel.workspace, block(kernel, first, "one"), block(kernel, second, "two"), includes_children=False
    )
    one, two = kernel.workspace.document(first).root, kernel.workspace.document(second).root
    assert (outline(one), outline(two)) == ([[["two"]]], [[["one"]]])
    assert one.properties["updated"] == two.properties["updated"] == kernel.workspace.now_stamp()
    assert [node.fields["ListData"] for node in one.walk() if node.type == "NodeList"] == [{"Typ": 1}]
    assert kernel.workspace.blocks.root_of(block(kernel, first, "two")) == first


async def test_a_document_and_a_block_itself_are_not_swapped(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/Doc", "* one\n\n  two")
    one, two = block(kernel, root_id, "one"), block(kernel, root_id, "two")
    for ref, definition in ((one, root_id), (root_id, one), (one, one), (one, two)):
        assert not swap_blocks(kernel.workspace, ref, definition, includes_children=False)
    for ref, definition in ((one, "20240101000000-unknown"), ("20240101000000-unknown", one)):
        with pytest.raises(NotFound):
            swap_blocks(kernel.workspace, ref, definition, includes_children=False)


async def test_a_block_that_its_document_has_lost_is_not_swapped(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/Doc", "one\n\ntwo")
    one, two = await kernel.children(root_id)
    del kernel.workspace.document(root_id).nodes[one]
    assert not swap_blocks(kernel.workspace, one, two, includes_children=False)
