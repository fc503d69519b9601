"""The editor's switches of inline Markdown: what is switched off is text, as the recorded kernel reads it."""

from __future__ import annotations

import pytest

from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.pipeline import markdown_to_blocks
from kernel.workspace.render.kramdown_inline import md_inline

_ID = "20260101000000-aaaaaaa"


@pytest.mark.parametrize(
    ("unmarked", "markdown", "read"),
    [
        ("*", "*a* **b** _c_", "*a* **b** *c*"),
        ("_", "_a_ __b__ *c*", "_a_ __b__ *c*"),
        ("^", "^a^ ~b~", "^a^ <sub>b</sub>"),
        ("#", "#a# ##b##", "#a# ##b##"),
        ("$", "$a$ `b`", "$a$ `b`"),
        ("=", "==a== *b*", "==a== *b*"),
        ("~", "~a~ ~~b~~ ~~~c~~~", "~a~ ~~b~~ ~~c~~"),
        ("~~", "~a~ ~~b~~ ~~~c~~~", "<sub>a</sub> ~~b~~ ~~~c~~~"),
        ("~ ~~", "~a~ ~~b~~", "~a~ ~~b~~"),
        ("*", "<u>*a* ~b~</u>", "<u>*a* b</u>"),
    ],
)
def test_a_marker_that_is_switched_off_is_text(unmarked: str, markdown: str, read: str) -> None:
    context = MarkdownContext(lambda: _ID, unmarked=frozenset(unmarked.split()))
    [paragraph] = markdown_to_blocks(markdown, context).blocks
    assert md_inline(paragraph.children) == read


def test_a_switched_off_tilde_leaves_the_mark_of_two() -> None:
    context = MarkdownContext(lambda: _ID, unmarked=frozenset("~"))
    [paragraph] = markdown_to_blocks("~~~c~~~", context).blocks
    assert [(one.fields["TextMarkType"], one.fields["TextMarkTextContent"]) for one in paragraph.children] == [
        ("s", "c")
    ]
