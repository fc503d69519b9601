"""/api/lute: typing in the editor, and copying for other programs."""

from __future__ import annotations

from tests.siyuan.kernel_in_memory import MemoryKernel

PARAGRAPH = (
    '<div data-node-id="20240101000000-aaaaaaa" data-type="NodeParagraph" class="p">'
    '<div contenteditable="true" spellcheck="false">{}</div><div class="protyle-attr"></div></div>'
)


async def test_what_was_typed_is_read_as_markdown_and_the_caret_stays(kernel: MemoryKernel) -> None:
    spun = await kernel.call("lute/spinBlockDOM", dom=PARAGRAPH.format("**bold**<wbr>"))
    assert '<span data-type="strong">bold</span>' in spun["dom"]
    assert spun["dom"].count("<wbr>") == 1
    assert 'data-node-id="20240101000000-aaaaaaa"' in spun["dom"]


async def test_a_block_is_copied_without_the_marks_of_the_kernel(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "- [x] **done** #tag#")
    copied = await kernel.call("lute/copyStdMarkdown", id=(await kernel.children(root_id))[0])
    assert copied.strip() == "# Doc\n\n- [X] **done** #tag#"
    assert await kernel.call("lute/copyStdMarkdown", id="20200101000000-zzzzzzz") == ""
