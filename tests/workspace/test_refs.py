"""References between blocks: which there are, what their anchors say, and how anchors follow their targets."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.workspace.intake import markdown_blocks
from kernel.workspace.limits import ANCHOR_RUNES_MAX
from kernel.workspace.refs import (
    ANCHOR_ROUNDS_MAX,
    block_of,
    block_ref_counts,
    block_text,
    degrade_unknown_refs,
    document_ref_counts,
    full_text,
    redraw,
    ref_text,
    references_in,
    references_to,
    refresh_anchors,
    target_ids,
    targets_in,
    transfer_references,
)
from kernel.workspace.tree import Node
from tests.siyuan.kernel_in_memory import MemoryKernel

GONE = "20240101000000-unknown"
OTHER = "20240101000000-another"


def reference(target: str, text: str = "x", subtype: str = "d") -> Node:
    fields = {"TextMarkType": "block-ref", "TextMarkBlockRefID": target, "TextMarkBlockRefSubtype": subtype}
    return Node("NodeTextMark", fields={**fields, "TextMarkTextContent": text})


def told(kernel: MemoryKernel, cmd: str) -> list[Any]:
    return [event.data for event in kernel.workspace.take_events() if event.cmd == cmd]


@pytest.mark.parametrize(
    ("node", "targets"),
    [
        (reference(GONE), [GONE]),
        (reference(""), []),
        (Node("NodeTextMark", fields={"TextMarkType": "strong", "TextMarkBlockRefID": GONE}), []),
        (Node("NodeBlockQueryEmbedScript", data=f"id = '{GONE}' OR id = '{OTHER}' OR id='{GONE}'"), [GONE, OTHER]),
        (Node("NodeText", data=GONE), []),
    ],
)
def test_references_and_statements_point_to_blocks(node: Node, targets: list[str]) -> None:
    assert target_ids(node) == targets


def test_a_document_tells_each_pair_once() -> None:
    block = Node("NodeParagraph", id="p", children=[reference(GONE), reference(GONE), reference(OTHER)])
    root = Node("NodeDocument", id="d", children=[block])
    assert list(references_in(root)) == [("p", GONE), ("p", OTHER)]
    assert targets_in(root) == [GONE, OTHER]
    assert block_of(block.children[0]) is block
    alone = Node("NodeText")
    assert block_of(alone) is alone


async def test_referring_blocks_are_counted_by_document_and_by_block(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "one\n\ntwo")
    one, two = await kernel.children(target)
    source = await kernel.document(box, "/Source", f"(({target} 'x')) (({one} 'y'))\n\n(({one} 'y'))")
    first, second = await kernel.children(source)
    workspace = kernel.workspace
    assert references_to(workspace, [one]) == [(source, first, one), (source, second, one)]
    assert document_ref_counts(workspace, [target, source, GONE]) == {target: 2}
    assert block_ref_counts(workspace, [one, two, target]) == {one: 2, target: 1}
    # A block that an update has left out, and whose place nobody knows any more, counts no more.
    await kernel.call("block/updateBlock", id=one, dataType="markdown", data="* item")
    workspace.blocks.deleted([one])
    assert document_ref_counts(workspace, [target]) == {target: 2}


# --- what anchors say ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("a **b** & `c<d`", "a b &amp; c&lt;d\u200b"),
        ('![alt](a.png "title")', "\u200balt a.png title\u200b"),
        ("one\ntwo", "onetwo"),
        ("> quote\n>\n> more", "quote"),
        ("---", "Thematic Break..."),
        ('<iframe src="https://a.b"></iframe>', "IFrame..."),
        ("{{ SELECT 1 }}", "Query Embed Block..."),
        ("x" * ANCHOR_RUNES_MAX, "x" * ANCHOR_RUNES_MAX),
        ("x" * (ANCHOR_RUNES_MAX + 1), "x" * ANCHOR_RUNES_MAX + "..."),
    ],
)
def test_an_anchor_says_the_text_of_its_block(kernel: MemoryKernel, markdown: str, text: str) -> None:
    (block,) = markdown_blocks(kernel.workspace, markdown)
    assert ref_text(block) == text


def test_a_name_or_a_title_comes_first_and_an_empty_container_says_nothing() -> None:
    assert ref_text(Node("NodeParagraph", properties={"name": " a &amp; b "})) == "a &amp; b"
    assert ref_text(Node("NodeDocument", properties={"title": "&lt;t&gt;"})) == "&lt;t&gt;"
    assert ref_text(Node("NodeList")) == full_text(Node("NodeList")) == ""


def test_the_full_text_keeps_its_lines() -> None:
    block = Node("NodeParagraph", children=[Node("NodeText", data="a\nb")])
    assert (full_text(block), block_text(block)) == ("a\nb", "ab")
    assert full_text(Node("NodeAttributeView")) == "Database..."
    assert full_text(Node("NodeDocument", properties={"title": 'a "b"'})) == "a &quot;b&quot;"
    assert full_text(Node("NodeBlockquote", children=[Node("NodeBlockquoteMarker"), block])) == "a\nb"


def test_a_block_of_images_that_say_nothing_says_that_they_are_images() -> None:
    assert block_text(Node("NodeParagraph", children=[Node("NodeImage"), Node("NodeImage")])) == "imageimage"
    assert block_text(Node("NodeParagraph")) == ""


# --- what becomes of references ------------------------------------------------------------------------------------
def test_a_reference_to_nothing_becomes_text() -> None:
    kept, own, lost, mark = (
        reference(OTHER),
        reference("p"),
        reference(GONE, " x "),
        Node("NodeTextMark", fields={"TextMarkType": "a", "TextMarkBlockRefID": GONE}),
    )
    degrade_unknown_refs(lambda one: one == OTHER, Node("NodeParagraph", id="p", children=[kept, own, lost, mark]))
    assert lost.fields == {"TextMarkType": "block-ref", "TextMarkTextContent": "x"}
    assert (kept.fields["TextMarkBlockRefID"], own.fields["TextMarkBlockRefID"], mark.fields["TextMarkBlockRefID"]) == (
        OTHER,
        "p",
        GONE,
    )


async def test_references_are_made_to_point_to_another_block(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    old, new = await kernel.document(box, "/Old", "x"), await kernel.document(box, "/New", "x")
    source = await kernel.document(
        box, "/Source", f"(({old} 'Old'))\n\n(({old} \"kept\")) (({new} 'New'))\n\n(({old} 'Old'))"
    )
    first, second, third = await kernel.children(source)

    def anchors() -> list[tuple[str, str]]:
        marks = [node.fields for node in workspace.document(source).root.walk() if node.type == "NodeTextMark"]
        return [(str(one["TextMarkBlockRefID"]), str(one["TextMarkTextContent"])) for one in marks]

    target = workspace.document(new).root
    transfer_references(workspace, old, target, [third, GONE])
    assert anchors() == [(old, "Old"), (old, "kept"), (new, "New"), (new, "New")]
    transfer_references(workspace, old, target, [])
    assert anchors() == [(new, "New"), (new, "kept"), (new, "New"), (new, "New")]
    assert references_to(workspace, [old]) == []
    assert [block for _, block, _ in references_to(workspace, [new])] == [first, second, third]


async def chain(kernel: MemoryKernel, length: int) -> list[str]:
    """Documents of one paragraph each; each but the first refers to the paragraph before."""
    box = await kernel.notebook()
    blocks: list[str] = []
    for number in range(length):
        markdown = f"(({blocks[-1]} '0'))" if blocks else "0"
        blocks += await kernel.children(await kernel.document(box, f"/{number}", markdown))
    return blocks


async def test_an_anchor_follows_its_target_over_some_rounds(kernel: MemoryKernel) -> None:
    blocks = await chain(kernel, ANCHOR_ROUNDS_MAX + 2)
    workspace = kernel.workspace
    document, first = workspace.node(blocks[0])
    workspace.take_events()
    first.children[0].data = "new"
    rewritten = refresh_anchors(workspace, [first])
    assert rewritten == [workspace.entry(one).id for one in blocks[1 : ANCHOR_ROUNDS_MAX + 1]]
    assert [ref_text(workspace.node(one)[1]) for one in blocks] == ["new"] * (ANCHOR_ROUNDS_MAX + 1) + ["0"]
    (tell, *_) = told(kernel, "setRefDynamicText")
    assert tell == {"rootID": rewritten[0], "blockID": blocks[1], "defBlockID": blocks[0], "refText": "new"}
    assert refresh_anchors(workspace, [first]) == []
    assert document.id == workspace.entry(blocks[0]).id


async def test_a_static_anchor_and_one_that_is_new_stay(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    target = await kernel.document(box, "/Target", "old")
    (block,) = await kernel.children(target)
    source = await kernel.document(box, "/Source", f"(({block} \"mine\"))\n\n(({block} 'old'))")
    _, second = await kernel.children(source)
    node = workspace.node(block)[1]
    node.children[0].data = "new"
    assert refresh_anchors(workspace, [node], {(second, block)}) == []
    assert refresh_anchors(workspace, [node]) == [source]
    assert [ref_text(workspace.node(one)[1]) for one in await kernel.children(source)] == ["mine", "new"]
    node.children.clear()
    refresh_anchors(workspace, [node])
    assert ref_text(workspace.node(second)[1]) == block


async def test_containers_follow_their_first_leaf_and_leaves_their_container(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    workspace = kernel.workspace
    target = await kernel.document(box, "/Target", "> old\n>\n> more")
    (quote,) = await kernel.children(target)
    leaf, more = await kernel.children(quote)
    source = await kernel.document(box, "/Source", f"(({quote} 'old')) (({leaf} 'old')) (({more} 'more'))")

    def anchors() -> list[str]:
        return [
            str(node.fields["TextMarkTextContent"])
            for node in workspace.document(source).root.walk()
            if node.type == "NodeTextMark"
        ]

    workspace.node(leaf)[1].children[0].data = "new"
    refresh_anchors(workspace, [workspace.node(leaf)[1]])
    assert anchors() == ["new", "new", "more"]
    for one, text in ((leaf, "newer"), (more, "most")):
        workspace.node(one)[1].children[0].data = text
    refresh_anchors(workspace, [workspace.node(quote)[1]])
    assert anchors() == ["newer", "newer", "most"]


async def test_documents_that_refer_to_a_drawn_one_are_drawn_first(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "old")
    source = await kernel.document(box, "/Source", f"(({target} 'old'))")
    kernel.workspace.take_events()
    redraw(kernel.workspace, target, GONE, target)
    assert told(kernel, "reload") == [source, target, GONE, target]
    redraw(kernel.workspace, GONE, GONE)
    assert told(kernel, "reload") == [GONE]
    assert ref_text(kernel.workspace.node((await kernel.children(source))[0])[1]) == "Target"
