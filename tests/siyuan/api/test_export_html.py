"""/api/export/preview: documents as a page, in the words of recordings of the real kernel."""

from __future__ import annotations

import re

import pytest

from kernel.siyuan.arguments import Arguments
from kernel.siyuan.dispatch import Envelope, dispatch
from kernel.siyuan.kernel import Call
from tests.siyuan.kernel_in_memory import MemoryKernel

_MARKS = re.compile(r' (?:id="\d{14}-[0-9a-z]{7}"|updated="\d{14}"|title="Doc")')

CASES = {
    "end\\": "<p>end\\</p>\n",
    "a **b** `c` #t#": '<p>a <span data-type="strong">b</span> <span data-type="code">c</span>\u200b <em>#t#</em>\u200b</p>\n',
    "$x|y$ and [l](u 't')": '<p><span data-type="inline-math" data-subtype="math" data-content="x|y" contenteditable="false" '
    'class="render-node"></span> and <a href="u" title="t" data-type="a">l</a></p>\n',
    "line one\nline two": "<p>line one<br />\nline two</p>\n",
    "```js\nlet a = 1;\n```": '<pre class="code-block" data-language="js"><code class="hljs">let a = 1;\n</code></pre>',
    "```mermaid\nA --> B\n```": '<div data-content="A --&gt; B" data-subtype="mermaid"><div spin="1"></div></div>\n',
    "$$\na^2\n$$": '<div data-content="a^2" data-subtype="math"><div spin="1"></div></div>\n',
    "> [!WARNING] Careful\n> body": '<blockquote data-type="callout" data-subtype="WARNING">\n<p>⚠️ Careful\n</p>\n<p>body</p>\n</blockquote>\n',
    "* [x] done": '<ul>\n<li class="protyle-task protyle-task--done"><input checked="" disabled="" type="checkbox" '
    'data-task="X" />\n<p>done</p>\n</li>\n</ul>\n',
    "3. a": '<ol start="3">\n<li>\n<p>a</p>\n</li>\n</ol>\n',
    "| a |\n| :-: |\n| `x` |": '<table>\n<colgroup><col /></colgroup><thead><tr>\n<th align="center">a</th>\n</tr>\n</thead>'
    '<tbody><tr>\n<td align="center">\u200b<span data-type="code">x</span>\u200b</td>\n</tr>\n</tbody>\n</table>\n',
    "text[^1]\n\n[^1]: note": '<p>text<sup class="footnotes-ref" id="footnotes-ref-1"><a href="#footnotes-def-1">1</a></sup></p>\n'
    '<div class="footnotes-defs-div"><hr class="footnotes-defs-hr" />\n<ol class="footnotes-defs-ol"><li>\n'
    '<p><span id="footnotes-def-1"></span>note</p>\n</li>\n</ol></div>',
    '<div onclick="x()"><script>y</script>z</div>': "<div>\n<div>  z</div>\n",
    "{{{col\na\n\nb\n}}}": "<p>a</p>\n<p>b</p>\n",
    'a **red**{: style="color: var(--b3-font-color1);"}': '<p>a <span data-type="strong" '
    'style="color: #790600;">red</span></p>\n',
    "a\n\n---": "<p>a</p>\n<hr />\n",
    "#a&b#": "<p>\u200b<em>#a&amp;b#</em>\u200b</p>\n",
}


async def _preview(kernel: MemoryKernel, block_id: str, agent: str = "") -> dict[str, object]:
    call = Call(kernel.kernel, "/api/export/preview", Arguments({"id": block_id}), headers={"user-agent": agent})
    answer = await dispatch(call)
    assert isinstance(answer, Envelope)
    return dict(answer.data)


@pytest.mark.parametrize(("markdown", "wanted"), CASES.items())
async def test_a_document_is_a_page_below_its_title(kernel: MemoryKernel, markdown: str, wanted: str) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", markdown)
    html = str((await _preview(kernel, root_id))["html"])
    assert _MARKS.sub("", html) == f"<h1>Doc</h1>\n{wanted}"
    assert f'<h1 id="{root_id}"' in html


async def test_what_is_referred_to_outside_becomes_a_footnote(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "found")
    block_id = (await kernel.children(target))[0]
    source = await kernel.document(box, "/Source", f"see (({block_id} 'there'))")
    html = _MARKS.sub("", str((await _preview(kernel, source))["html"]))
    assert 'see there<sup class="footnotes-ref" id="footnotes-ref-1"><a href="#footnotes-def-1">1</a></sup>' in html
    assert '<span id="footnotes-def-1"></span>found' in html


async def test_an_unknown_block_is_an_empty_page(kernel: MemoryKernel) -> None:
    assert await _preview(kernel, "20200101000000-zzzzzzz") == {"html": "", "fillCSSVar": True}


@pytest.mark.parametrize(
    ("agent", "fills"),
    [
        ("", True),
        ("Mozilla/5.0 Chrome/120.0", False),
        ("Mozilla/5.0 (Linux; Android 9) Chrome/1 Mobile", True),
        ("SiYuan/3.7.3", False),
    ],
)
async def test_browsers_that_know_the_theme_keep_its_variables(kernel: MemoryKernel, agent: str, fills: bool) -> None:
    assert (await _preview(kernel, "20200101000000-zzzzzzz", agent))["fillCSSVar"] is fills


PRINTED = {
    "a **b** `c` [l](u)": '<div contenteditable="false" spellcheck="false">a <span data-type="strong">b</span> '
    '<span data-type="code">c</span>\u200b <a href="u" data-type="a">l</a></div>',
    "[**l**](u)": '<strong><a href="u" data-type="a strong">l</a></strong>',
    "* [x] done": '<div class="protyle-action protyle-action--task" data-task="X">',
    "* a": '<div class="protyle-action" draggable="false">',
    "```js\nx\n```": '<span class="protyle-icon protyle-icon--only protyle-action__copy">',
    "{{{col\na\n\nb\n}}}": 'data-sb-layout="col"',
    "#tag#": '<span data-type="tag">tag</span>',
}


@pytest.mark.parametrize(("markdown", "part"), PRINTED.items())
async def test_a_printed_page_is_the_editors_view_that_nobody_can_edit(
    kernel: MemoryKernel, markdown: str, part: str
) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", markdown)
    answer = await kernel.call("export/exportPreviewHTML", id=root_id)
    assert part in answer["content"]
    assert (answer["name"], answer["type"], answer["attrs"]["title"]) == ("Doc", "NodeDocument", "Doc")
    for editing in ('contenteditable="true"', 'draggable="true"', "protyle-action__menu", "sb__resize"):
        assert editing not in answer["content"]


async def test_headings_are_bookmarks_only_where_it_is_printed(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    root_id = await kernel.document(box, "/Doc", "# one\n\n> # quoted")
    heading = (await kernel.children(root_id))[0]
    printed = (await kernel.call("export/exportPreviewHTML", id=root_id))["content"]
    assert printed.count("pdf-outline://") == 1
    assert f'<a target="_blank" href="pdf-outline://{heading}"> </a>one' in printed
    assert "pdf-outline" not in (await kernel.call("export/exportHTML", id=root_id, pdf=False))["content"]


@pytest.mark.parametrize("route", ["exportHTML", "exportMdHTML"])
async def test_a_saved_page_has_its_assets_in_a_folder(kernel: MemoryKernel, route: str) -> None:
    box = await kernel.notebook()
    kernel.workspace.files.write("data/assets/pic.png", b"picture")
    root_id = await kernel.document(box, "/Doc", "![p](assets/pic.png) ![q](assets/gone.png)")
    answer = await kernel.call(f"export/{route}", id=root_id, pdf=False)
    assert answer["name"] == "Doc"
    assert kernel.workspace.files.read(f"temp/export/{answer['folder']}/assets/pic.png") == b"picture"
    await kernel.call(f"export/{route}", id=root_id, pdf=False, savePath="/workspace/temp/mine")
    assert kernel.workspace.files.exists("temp/mine/assets/pic.png")
    assert "not in workspace" in await kernel.refusal(f"export/{route}", id=root_id, pdf=False, savePath="/elsewhere")


async def test_a_printed_page_has_its_footnotes_at_its_end(kernel: MemoryKernel) -> None:
    box = await kernel.notebook()
    target = await kernel.document(box, "/Target", "text of the target")
    root_id = await kernel.document(box, "/Doc", f"see (({target} 'Target')) and (({target} 'again'))")
    page = str((await kernel.call("export/exportPreviewHTML", id=root_id))["content"])
    mark = '<sup class="footnotes-ref" id="footnotes-ref-1"><a href="#footnotes-def-1">1</a></sup>'
    assert f"see Target{mark} and again{mark}</div>" in page
    _, _, notes = page.partition('<div class="footnotes-defs-div"><hr class="footnotes-defs-hr" />\n')
    assert notes.startswith('<ol class="footnotes-defs-ol"><li><div ')
    heading, _, rest = notes.partition('<span id="footnotes-def-1"></span>')
    assert 'data-type="NodeHeading"' in heading
    assert ' id="' not in heading
    assert rest.startswith("Target</div>")
    assert "text of the target" in rest
    assert rest.endswith("</li>\n</ol></div>")
