"""The workspace's door to the Markdown engine."""

from __future__ import annotations

from kernel.workspace.intake import (
    context_of,
    dom_of_block,
    dom_of_siblings,
    kramdown_of,
    markdown_blocks,
    markdown_dom,
    parsed_dom,
)
from tests.siyuan.kernel_in_memory import MemoryKernel

GONE = "20240101000000-unknown"


def test_the_editors_settings_switch_markers_off(kernel: MemoryKernel) -> None:
    editor = kernel.workspace.conf.section("editor")
    editor["markdown"] = {"inlineTag": False, "inlineSup": True}
    assert context_of(kernel.workspace).unmarked == frozenset("#")
    editor["markdown"] = None
    assert context_of(kernel.workspace).unmarked == frozenset()


def test_no_blocks_are_one_empty_paragraph(kernel: MemoryKernel) -> None:
    (block,) = parsed_dom(kernel.workspace, markdown_dom(kernel.workspace, ""))
    assert (block.type, block.children) == ("NodeParagraph", [])


def test_a_document_may_refer_to_itself_and_unknown_references_are_kept_where_asked_for(kernel: MemoryKernel) -> None:
    def targets(document_id: str) -> list[object]:
        blocks = markdown_blocks(kernel.workspace, f"(({GONE} 'x'))", document_id=document_id)
        return [node.fields.get("TextMarkBlockRefID") for node in blocks[0].walk() if node.type == "NodeTextMark"]

    assert (targets(GONE), targets("")) == ([GONE], [""])
    dom = '<div data-node-id="20240101000000-abcdefg" data-type="NodeParagraph"><div contenteditable="true"><span data-type="block-ref" data-id="ID">x</span></div></div>'
    for keeps, target in ((True, GONE), (False, "")):
        (block,) = parsed_dom(kernel.workspace, dom.replace("ID", GONE), keeps_unknown_refs=keeps)
        assert [child.fields.get("TextMarkBlockRefID") for child in block.children] == [target]


async def test_blocks_at_the_top_are_numbered_and_a_document_is_drawn_by_its_blocks(kernel: MemoryKernel) -> None:
    document = kernel.workspace.document(await kernel.document(await kernel.notebook(), "/Doc", "one\n\n> two"))
    one, quote = document.root.children
    assert "data-node-index" in dom_of_block(one)
    assert 'data-node-index="0"' not in dom_of_block(quote.children[-1])
    assert dom_of_block(document.root).count("data-node-index") == 2
    assert dom_of_siblings([]) == ""
    copy = one.clone()
    assert "data-node-index" not in dom_of_siblings([copy])
    assert "data-node-index" in dom_of_siblings([copy], place=one)
    assert kramdown_of(kernel.workspace, document, one, "md").startswith("one\n{: ")
    assert "> two" in kramdown_of(kernel.workspace, document, document.root, "textmark")
