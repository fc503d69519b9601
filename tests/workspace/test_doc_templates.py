"""Blocks out of a rendered template, and a template out of a document."""

from __future__ import annotations

import pytest

from kernel.workspace.doc_templates import (
    model_of,
    split_attributes,
    template_blocks,
    template_dom,
    template_file,
    template_of,
)
from kernel.workspace.intake import markdown_blocks, parsed_dom
from kernel.workspace.tree import Node
from kernel.workspace.workspace import NotFound
from tests.siyuan.kernel_in_memory import MemoryKernel

OWN = "20240101000000-abcdefg"
OTHER = "20240101000000-unknown"


def marks(blocks: list[Node]) -> list[Node]:
    return [node for block in blocks for node in block.walk() if node.type == "NodeTextMark"]


def lost_reference() -> Node:
    fields = {"TextMarkType": "block-ref", "TextMarkBlockRefID": OTHER, "TextMarkTextContent": "lost"}
    return Node("NodeTextMark", fields=fields)


def test_a_template_is_filed_under_a_name_any_system_takes() -> None:
    assert template_file("a/b: c") == "data/templates/a_b_ c.md"
    assert len(template_file("x" * 300)) < 250


async def test_a_template_is_told_of_its_block(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/A <b>", "text")
    (block_id,) = await kernel.children(root_id)
    await kernel.call("attr/setBlockAttrs", id=block_id, attrs={"name": "n & m", "alias": "al"})
    assert model_of(kernel.workspace, root_id) == {"title": "A <b>", "id": root_id, "name": "", "alias": ""}
    assert model_of(kernel.workspace, block_id) == {"title": "n & m", "id": block_id, "name": "n & m", "alias": "al"}
    with pytest.raises(NotFound):
        model_of(kernel.workspace, OTHER)


@pytest.mark.parametrize(
    ("rendered", "body", "attributes"),
    [
        ("text", "text", {}),
        ('text\n\n{: name="n" type="doc" custom-a="1"}', "text\n", {"name": "n", "type": "doc", "custom-a": "1"}),
        ('{: type="doc"}\n', "", {"type": "doc"}),
        ('text\n{: name="n"}', 'text\n{: name="n"}', {}),
        ('{: type="doc"}\n\ntext', '{: type="doc"}\n\ntext', {}),
    ],
)
def test_the_last_line_may_give_the_document_its_attributes(
    rendered: str, body: str, attributes: dict[str, str]
) -> None:
    assert split_attributes(rendered) == (body, attributes)


def test_blocks_of_a_template_have_new_ids_and_follow_each_other(kernel: MemoryKernel) -> None:
    rendered = (
        f'one\n{{: id="{OWN}" custom-avs="x" heading-fold="1"}}\n\n(({OWN} "anchor")) [link](siyuan://blocks/{OWN})\n\n'
        f'{{{{ SELECT * FROM blocks WHERE id = \'{OWN}\' }}}}\n\n[plain](https://x.y)\n\n{{: type="doc" name="n"}}'
    )
    blocks, attributes = template_blocks(kernel.workspace, rendered)
    first, second, embed, _ = blocks
    assert attributes == {"type": "doc", "name": "n"}
    assert first.id != OWN
    assert "custom-avs" not in first.properties
    assert 'status="temp"' in template_dom(kernel.workspace, rendered)
    reference, link = marks([second])
    assert (reference.fields["TextMarkBlockRefID"], link.fields["TextMarkAHref"]) == (
        first.id,
        f"siyuan://blocks/{first.id}",
    )
    assert [node.data for node in embed.walk() if "Script" in node.type] == [
        f"SELECT * FROM blocks WHERE id = '{first.id}'"
    ]


async def test_an_empty_anchor_is_filled_from_its_block(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/A <b>", "text\n\n")
    (text,) = await kernel.children(root_id)
    await kernel.call("block/appendBlock", dataType="markdown", data="", parentID=root_id)
    empty = (await kernel.children(root_id))[-1]
    dom = template_dom(kernel.workspace, f"(({text})) (({root_id})) (({OTHER})) (({text} 'kept')) x (({empty}))")
    (paragraph,) = parsed_dom(kernel.workspace, dom, keeps_unknown_refs=True)
    shown = [
        (mark.fields["TextMarkTextContent"], mark.fields.get("TextMarkBlockRefSubtype")) for mark in marks([paragraph])
    ]
    assert shown == [
        ("text", "d"),
        ("A &lt;b&gt;", "d"),
        ("block not found", "d"),
        ("kept", "d"),
    ]


async def test_a_document_that_cannot_be_read_is_not_found(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "text")
    kernel.workspace.forget_tree(root_id)
    kernel.workspace.files.write(f"data/{box}/{root_id}.sy", b"{")
    assert "block not found" in template_dom(kernel.workspace, f"(({root_id}))")


def test_a_template_of_nothing_is_an_empty_paragraph(kernel: MemoryKernel) -> None:
    (block,) = template_blocks(kernel.workspace, '{: type="doc"}')[0]
    assert (block.type, block.children, block.properties["updated"]) == ("NodeParagraph", [], block.id[:14])


async def test_a_document_becomes_a_template_with_its_attributes(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text")
    markdown = f"(({target} 'there')) gone\n\n```template\n.action{{now}}\n```\n\n```go\ncode\n```"
    root = kernel.workspace.document(await kernel.document(box, "/Doc", markdown)).root
    root.properties["custom-a"] = "1"
    root.children[0].append(lost_reference())
    first, code, go = (block.id for block in root.children)
    text = template_of(kernel.workspace, root)
    assert f'data-id="{target}">there</span> gone' in text
    assert OTHER not in text
    assert f'.action{{now}}\n{{: id="{code}"}}' in text
    assert f'```go\ncode\n```\n{{: id="{go}"}}' in text
    assert f'{{: id="{first}"}}' in text
    assert text.endswith(f'\n\n{{: id="{root.id}" custom-a="1" title="Doc" type="doc"}}')
    assert "updated" not in text
    assert root.children[1].type == "NodeCodeBlock"


def test_an_empty_document_becomes_its_attributes(kernel: MemoryKernel) -> None:
    root = Node("NodeDocument", id=OWN, properties={"id": OWN, "title": "t", "type": "doc"})
    assert template_of(kernel.workspace, root) == f'\n{{: id="{OWN}" title="t" type="doc"}}'
    assert markdown_blocks(kernel.workspace, "x", document_id=OWN)[0].type == "NodeParagraph"
