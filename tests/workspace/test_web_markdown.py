"""HTML of the web as Markdown, and Markdown as a plain page: as recorded."""

from __future__ import annotations

import itertools

import pytest

from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.render.page import render_page
from kernel.workspace.web_markdown import web_to_markdown


@pytest.mark.parametrize(
    ("markup", "markdown"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<script>alert(1)</script><style>a{}</style>", ""),
        ("<p>one <b>bold</b></p>", "one **bold**"),
        ("<p>a</p>text<p>b</p>", "a\n\ntextb"),
        ("<div><div>x</div><div>y</div></div>", "x\n\ny"),
        ("<span><div>x</div></span>y", "x\n\ny"),
        ("<h2>head</h2><h1></h1>", "## head\n\n#"),
        ("<ul><li>a</li><li>b<ol start=3><li>c</li></ol></li></ul>", "* a\n* b\n  3. c"),
        ("<ul></ul>", ""),
        ("<ul><li><input type=checkbox> t</li></ul>", "* [ ]  t"),
        ("<input type=checkbox checked> t<input type=text>", "[X]  t"),
        ("<blockquote><p>a</p><p>b</p></blockquote><blockquote></blockquote>", "> a\n>\n> b"),
        ('<pre><code class="language-js">a &lt; b\n```</code></pre>', "````js\na < b\n```\n````"),
        ("<hr>", "---"),
        ("<table><tr><td>a</td></tr></table><table></table>", "a"),
        ("<table><tr><th>a</th><th>b</th></tr><tr><td>1<br>2</td></tr></table>", "|a|b|\n|---|---|\n|1<br />2||"),
        ("a<br>b", "a\nb"),
        ("<b> x </b>y <b> </b>", "**x** y"),
        ("<u>u</u><mark>m</mark>", "<u>u</u>==m=="),
        ("<code>a`b</code> <code>c</code><code></code>", "``a`b`` `c`"),
        (
            '<a href="/a (1)" title="t&quot;">l</a> <a>n</a> <a href="javascript:x">j</a>',
            '[l](/a%20%281%29 "t&quot;") [n]() j',
        ),
        ('<img src="a.png" alt="x]"><img alt="none">', "![x\\]](a.png)"),
        ("1 * 2 _ &lt;x&gt;", "1 \\* 2 \\_ \\<x\\>"),
        ("<dl><dt>t</dt><dd>d</dd></dl>", "**t**\n\nd"),
        ("a&nbsp;b", "a b"),
        ('<iframe src="https://e.com"></iframe>', '<iframe src="https://e.com"></iframe>'),
    ],
)
def test_html_is_read_as_markdown(markup: str, markdown: str) -> None:
    assert web_to_markdown(markup) == markdown


def page(markdown: str, *, has_ids: bool = False, is_preview: bool = False) -> str:
    numbers = itertools.count()
    context = MarkdownContext(new_id=lambda: f"20240101000000-{next(numbers):07}")
    return render_page(parse_markdown(markdown, context=context), has_ids=has_ids, is_preview=is_preview)


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        (
            'p *e* **s** `c<` ~~d~~ ==m== [l](http://a.b "t") ![i](a.png "t")',
            "<p>p <em>e</em> <strong>s</strong> <code>c&lt;</code> <del>d</del> <mark>m</mark> "
            '<a href="http://a.b" title="t">l</a> <img src="a.png" alt="i" title="t" /></p>\n',
        ),
        ("# H *em*", "<h1>H <em>em</em></h1>\n"),
        ("* a\n* b\n  * c", "<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n"),
        ("3. x", '<ol start="3">\n<li>x</li>\n</ol>\n'),
        (
            "* [x] u",
            '<ul>\n<li class="vditor-task vditor-task--done">'
            '<input checked="" disabled="" type="checkbox" data-task="X" />u</li>\n</ul>\n',
        ),
        ("> q\n> r", "<blockquote>\n<p>q<br />\nr</p>\n</blockquote>\n"),
        ("```js\na<1\n```", '<pre><code class="language-js">a&lt;1\n</code></pre>\n'),
        (
            "| a | b |\n|---|:-:|\n| 1 | 2 |",
            '<table>\n<thead>\n<tr>\n<th>a</th>\n<th align="center">b</th>\n</tr>\n</thead>\n'
            '<tbody>\n<tr>\n<td>1</td>\n<td align="center">2</td>\n</tr>\n</tbody>\n</table>\n',
        ),
        ("---", "<hr />\n"),
        ("$x$\n\n$$\nz\n$$", '<p><span class="language-math">x</span></p>\n<div class="language-math">z</div>\n'),
        ("#t# a\\*b <u>u</u>", "<p><em>#t#</em> a*b <u>u</u></p>\n"),
        ("<div>x</div>", "<div>x</div>\n"),
        ("{{select 1}}", '<div>"select 1"</div>\n'),
        ("{{{row\na\n\nb\n}}}", "<p>a</p>\n<p>b</p>\n"),
        ('<video src="a.mp4"></video>', '<div class="iframe"><video src="a.mp4"></video></div>\n'),
        ("a & \"b\" 'c'", "<p>a &amp; &quot;b&quot; 'c'</p>\n"),
    ],
)
def test_markdown_is_shown_as_a_page(markdown: str, html: str) -> None:
    assert page(markdown) == html


def test_blocks_have_their_ids_and_headings_their_words() -> None:
    shown = page("# H *em*\n\nx", has_ids=True)
    assert shown.startswith('<h1 id="H-em" updated="20240101000000">H <em>em</em></h1>\n<p id="20240101000000-')
    assert "callout-title" in page("> [!NOTE]\n> hi", has_ids=True)


def test_the_preview_is_dressed_differently() -> None:
    shown = page("* a\n\n# H\n\n```js\nx\n```\n\n| a |\n|---|\n| 1 |", has_ids=True, is_preview=True)
    assert "<li id=" in shown
    assert '<pre class="code-block" data-language="js" id=' in shown
    assert "<table>\n<colgroup><col /></colgroup><thead><tr>\n<th>a</th>\n</tr>\n</thead>" in shown
    assert '<h1 id="20240101000000-' in shown
