"""The editor's DOM as a tree: what the kernel cannot do without, and what its inlines are read as."""

from __future__ import annotations

import pytest

from kernel.ids import SeededIds
from kernel.workspace.html import read_dom
from kernel.workspace.html_memory import remembered_dom
from kernel.workspace.limits import REMEMBERED_DOM_CHARS_MAX
from kernel.workspace.markdown.context import MarkdownContext, MarkdownError
from kernel.workspace.tree import Node

CONTEXT = MarkdownContext(new_id=lambda: SeededIds(1).text(7))


def block(kind: str, inner: str = "", attributes: str = "") -> str:
    return f'<div data-node-id="20240101000000-abcdefg" data-type="{kind}" {attributes}>{inner}</div>'


def inlines(inner: str, kind: str = "NodeParagraph", attributes: str = "") -> list[tuple[str, str]]:
    (node,) = read_dom(block(kind, f'<div contenteditable="true">{inner}</div>', attributes), CONTEXT)
    return [
        (one.type.removeprefix("Node"), one.data or str(one.fields.get("TextMarkTextContent", "")))
        for one in node.children
    ]


@pytest.mark.parametrize(
    "markup",
    [
        block("NodeHeading", "x"),
        block("NodeListItem", "x", 'data-subtype="o"'),
        block("NodeCallout", "x", 'data-subtype="NOTE"'),
        block("NodeHTMLBlock", "<div></div>"),
        block("NodeCodeBlock", '<div class="protyle-action"></div>'),
    ],
)
def test_a_block_that_lacks_what_it_needs_is_given_up_on(markup: str) -> None:
    with pytest.raises(MarkdownError):
        read_dom(markup, CONTEXT)


@pytest.mark.parametrize(
    ("inner", "read"),
    [
        ("a<br>b", [("Text", "a"), ("Text", "\n"), ("Text", "b")]),
        ('<img class="emoji" alt="x" src="/e.png">', [("Emoji", "img")]),
        ('a<img src="/e.png">', [("Text", "a")]),
        ("<em><br></em>a", [("Text", "a")]),
        ("<em></em>a", [("Text", "a")]),
        ("a\\<strong>b</strong>", [("Text", "a\\\\"), ("TextMark", "b")]),
        ("<em>\nb</em>", [("Text", "\u200b\n"), ("TextMark", "b")]),
        ('<span data-type="search-mark">a</span>', [("Text", "a")]),
        ('<span data-type="span">a</span>', [("Text", "a")]),
        ('<span data-type="inline-math"></span>a', [("Text", "a")]),
        ('<span data-type="block-ref" data-id="x"> </span>a', [("Text", "a")]),
        ('<span data-type="a" data-href="x"></span>a', [("Text", "a")]),
        ('<span data-type="backslash"></span>a', [("Text", "a")]),
        ('<span data-type="backslash"><b>x</b></span>a', [("Text", "a")]),
        ('<span data-type="backslash">#</span>', [("Backslash", "span")]),
        ('<span data-type="backslash"><span>\\</span>#</span>', [("Backslash", "span")]),
        ('<span data-type="img">x</span>a', [("Text", "a")]),
        ('a\\<span data-type="strong">b</span>', [("Text", "a\\\\"), ("TextMark", "b")]),
        ('<svg class="svg">x</svg>a', [("Text", "a")]),
    ],
)
def test_inlines_are_read_as_the_kernel_reads_them(inner: str, read: list[tuple[str, str]]) -> None:
    assert inlines(inner) == read


def test_a_heading_takes_no_line_breaks() -> None:
    assert inlines("a<br>b", "NodeHeading", 'data-subtype="h1"') == [("Text", "a"), ("Text", "b")]


def test_an_images_styles_are_its_own_and_those_around_it() -> None:
    picture = '<span data-type="img" style="OUTER"><span> </span><span style="width: 2px;"><img data-src="a.png" alt="al" title="t"STYLE></span></span>'
    for style, kept in (("", "width: 2px;"), (' style="color: red;"', "color: red;width: 2px;")):
        (node,) = read_dom(
            block("NodeParagraph", f'<div contenteditable="true">{picture.replace("STYLE", style)}</div>'), CONTEXT
        )
        image = node.children[0]
        assert image.properties == {"style": kept, "parent-style": "OUTER"}


@pytest.mark.parametrize(
    "tail", ["", "x" * REMEMBERED_DOM_CHARS_MAX, "00000000000000-0000000", "words00that00are00carried00along"]
)
def test_a_dom_that_is_remembered_reads_as_a_fresh_one(tail: str) -> None:
    def told(blocks: list[Node]) -> list[object]:
        return [
            (node.type, node.id, node.data, dict(node.properties), dict(node.fields))
            for one in blocks
            for node in one.walk()
        ]

    for inner in ("plain words", "<strong>b</strong>", ""):
        markup = block("NodeParagraph", f'<div contenteditable="true" spellcheck="false">{inner}{tail}</div>')
        for _ in range(2):
            assert told(remembered_dom(markup, CONTEXT)) == told(read_dom(markup, CONTEXT))


def test_a_lone_ordered_item_and_a_callout_say_what_their_elements_say() -> None:
    (item,) = read_dom(block("NodeListItem", "", 'data-subtype="o" data-marker="x."'), CONTEXT)
    assert (item.type, item.fields["ListData"]["Typ"], item.fields["ListData"]["Num"]) == ("NodeList", 1, 0)
    frame = '<div class="callout-info"><span class="callout-icon">ICON</span><span class="callout-title">t</span></div>'
    for icon, shown in (
        ("", {}),
        ("\u270f", {"CalloutIcon": "\u270f"}),
        ('<img src="a.png">', {"CalloutIcon": "a.png", "CalloutIconType": 1}),
    ):
        (callout,) = read_dom(block("NodeCallout", frame.replace("ICON", icon), 'data-subtype="X"'), CONTEXT)
        assert callout.fields == {"CalloutType": "X", "CalloutTitle": "t", **shown}


def test_a_table_without_a_head_is_a_paragraph_and_a_medium_without_an_element_is_empty() -> None:
    (table,) = read_dom(block("NodeTable", '<div contenteditable="true"><table></table></div>'), CONTEXT)
    assert table.type == "NodeParagraph"
    (video,) = read_dom(block("NodeVideo"), CONTEXT)
    assert video.data == ""
