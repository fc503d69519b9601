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


# A block's Markdown, and what an empty anchor to it says: as recorded of the real kernel.
ANCHORS = [
    ('a < b & "c"', "a &lt; b & &quot;c&quot;"),
    ("**b** `x<y` [l](u) #tag#", "b x&lt;y l u #tag#"),
    ("* item <k>", "item &lt;k&gt;"),
    ('> [l2](https://u.v "t")', "l2"),
    ("{{ SELECT 1 }}", "Query Embed Block {{SELECT 1}}"),
    ("---", "Thematic Break"),
]


@pytest.mark.parametrize(("markdown", "text"), ANCHORS)
async def test_an_empty_anchor_says_what_its_block_says(kernel: MemoryKernel, markdown: str, text: str) -> None:
    root_id = await kernel.document(await kernel.notebook(), "/Doc", markdown)
    (block_id,) = await kernel.children(root_id)
    assert f'data-subtype="d" data-id="{block_id}">{text}</span>' in template_dom(kernel.workspace, f"(({block_id}))")


async def test_an_empty_anchor_is_filled_by_name_or_title_and_any_other_is_kept(kernel: MemoryKernel) -> None:
    root_id = await kernel.document(await kernel.notebook(), '/A <b> & "c"', "text\n\n* x")
    text, items = await kernel.children(root_id)
    await kernel.call("attr/setBlockAttrs", id=text, attrs={"name": "n <m>"})
    dom = template_dom(kernel.workspace, f"(({text})) (({root_id})) (({OTHER})) (({text} 'kept'))")
    (paragraph,) = parsed_dom(kernel.workspace, dom, keeps_unknown_refs=True)
    assert [mark.fields["TextMarkTextContent"] for mark in marks([paragraph])] == [
        "n &lt;m&gt;",
        'A &lt;b&gt; &amp; "c"',
        "block not found",
        "kept",
    ]
    document = kernel.workspace.document(root_id)
    document.nodes[items].children.clear()
    document.nodes[text].children.clear()
    document.nodes[text].properties.pop("name")
    dom = template_dom(kernel.workspace, f"a (({text})) b (({items})) c")
    assert "block-ref" not in dom


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
