"""Messages are shown as markup: what formats stays, what acts goes (measured on the kernel)."""

from __future__ import annotations

import pytest

from kernel.siyuan.clean_html import cleaned

MEASURED = {
    "a & b": "a &amp; b",
    'it\'s "q"': "it&#39;s &#34;q&#34;",
    "<script>x</script>y": "y",
    "<b onclick=x>b</b>": "<b>b</b>",
    "<a href='http://x'>l</a>": '<a href="http://x" rel="nofollow">l</a>',
    "<a href='javascript:x'>l</a>": "l",
    "<a href='java\nscript:x'>l</a>": "l",
    "<a href=/r>rel</a>": '<a href="/r" rel="nofollow">rel</a>',
    "<a href='http://[x'>l</a>": "l",
    "<img src=x onerror=y>": '<img src="x">',
    "<img src='http://x/y.png' alt=a title=t width=3/>": '<img src="http://x/y.png" alt="a" title="t" width="3/">',
    "<i>unclosed": "<i>unclosed",
    "1 < 2": "1 &lt; 2",
    "<div style='a'>d</div>": "<div>d</div>",
    "<p>p</p><br/>": "<p>p</p><br>",
    "<style>q</style>z": "z",
    "&lt;b&gt;": "&lt;b&gt;",
    "<foo>bar</foo>": "bar",
    "<!-- c -->d": "d",
    "<iframe src=x><b>y</b></iframe>z": "z",
    "<iframe/>z": "z",
    "</b>x": "</b>x",
    "</script>x": "x",
    "é 你": "é 你",
}


@pytest.mark.parametrize(("markup", "expected"), MEASURED.items())
def test_what_formats_stays_and_what_acts_goes(markup: str, expected: str) -> None:
    assert cleaned(markup) == expected
