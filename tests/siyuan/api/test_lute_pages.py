"""/api/lute: what is pasted from the web, and Markdown as a page."""

from __future__ import annotations

from tests.siyuan.kernel_in_memory import MemoryKernel


async def test_what_is_pasted_becomes_blocks_of_the_editor() -> None:
    kernel = MemoryKernel()
    dom = await kernel.call("lute/html2BlockDOM", dom="<h2>head</h2><p>one <b>bold</b></p>")
    assert dom.count("data-node-id") == 2
    assert '<span data-type="strong">bold</span>' in dom
    assert await kernel.call("lute/html2BlockDOM", dom="<script>x</script>") == ""
    assert await kernel.refusal("lute/html2BlockDOM") == "Field [dom] is required"


async def test_markdown_is_shown_as_a_page_with_inline_elements_as_text() -> None:
    kernel = MemoryKernel()
    html = (await kernel.call("lute/md2html", markdown="# T\n\n**b** <i>x</i> `c<`"))["html"]
    assert "<strong>b</strong> &lt;i&gt;x&lt;/i&gt; <code>c&lt;</code></p>" in html
    assert "<p id=" in (await kernel.call("lute/md2html", markdown="* x", mode="protyle-preview"))["html"]
    assert await kernel.refusal("lute/md2html", markdown="x", mode="bad") == "unknown [mode]"
