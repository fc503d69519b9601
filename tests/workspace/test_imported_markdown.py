"""Markdown from elsewhere is stored as it is parsed (recorded: import-inlines)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kernel.workspace.markdown.context import TAG, MarkdownContext
from kernel.workspace.markdown.imported import imported_blocks
from kernel.workspace.tree import Node


def blocks(text: str, *, is_plain: bool = False, **options: Any) -> list[Node]:
    numbers = itertools.count(1)
    context = MarkdownContext(lambda: f"20240101000000-{next(numbers):07}", **options)
    return imported_blocks(text, context, is_plain=is_plain)


def data(node: Node) -> list[tuple[str, str]]:
    return [(child.type.removeprefix("Node"), child.data) for child in node.children]


def test_code_is_kept_as_it_is_fenced() -> None:
    wave, indented, *rest = blocks("~~~~md\nx\n~~~~\n\n    a\n\n      b\n\n\ttab\n\npara\n    no code\n")
    assert data(wave)[0] == ("CodeBlockFenceOpenMarker", "~~~~")
    assert wave.fields["CodeBlockFenceChar"] == ord("~")
    assert wave.fields["CodeBlockFenceLen"] == len("~~~~")
    assert data(indented) == [("CodeBlockCode", "a\n\n  b\n\ntab\n")]
    assert "IsFencedCodeBlock" not in indented.fields
    assert [block.type for block in rest] == ["NodeParagraph"]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("<p>x</p>", "<div>\n<p>x</p>\n</div>"),
        ("<div>x</div>", "<div>x</div>"),
        ("<!-- a\n\nb -->", "<div>\n<!-- a\n\nb -->\n</div>"),
        ("<?a\n\nb?>", "<div>\n<?a\n\nb?>\n</div>"),
    ],
)
def test_html_stands_in_a_box(text: str, stored: str) -> None:
    only, after = blocks(f"{text}\n\nafter")
    assert (only.type, only.data) == ("NodeHTMLBlock", stored)
    assert data(after) == [("Text", "after")]


def test_lines_begin_without_blanks_and_inlines_are_told_as_they_were_written() -> None:
    (paragraph,) = blocks("  a &amp; \\* :smile: <br>")
    assert data(paragraph) == [
        ("Text", "a "),
        ("HTMLEntity", "&"),
        ("Text", " "),
        ("Backslash", ""),
        ("Text", " "),
        ("Emoji", ""),
        ("Text", " "),
        ("Br", ""),
    ]
    assert paragraph.children[1].fields["HtmlEntityTokens"] == "JmFtcDs="
    assert data(paragraph.children[5].children[0]) == [("EmojiAlias", ":smile:")]


def test_tags_keep_their_meaning_only_where_they_are_marked() -> None:
    (paragraph,) = blocks('a <u>b</u> <img src="c"> <br>', unmarked=frozenset({TAG}))
    assert [kind for kind, _ in data(paragraph)] == ["Text", "Image", "Text"]
    assert paragraph.children[0].data == "a <u>b</u> "


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('a\n{: memo="m"}', [("NodeParagraph", 'a\n{: memo="m"}')]),
        ('---\n{: memo="m"}\n\nb', [("NodeThematicBreak", ""), ("NodeParagraph", "b")]),
        ("> [!NOTE] x\n> y", [("NodeBlockquote", "[!NOTE] x\ny")]),
        ("{{select 1}}", [("NodeParagraph", "{{select 1}}")]),
        ("`{: a}`", [("NodeParagraph", "{: a}")]),
        ("{{{row\n\na\n\n}}}", [("NodeParagraph", text) for text in ("{{{row", "a", "}}}")]),
    ],
)
def test_plain_text_is_in_no_dialect(text: str, shown: list[tuple[str, str]]) -> None:
    def text_of(block: Node) -> str:
        return "".join(
            node.fields.get("TextMarkTextContent", "")
            or (node.data if node.type in ("NodeText", "NodeSoftBreak") else "")
            for node in block.walk()
        )

    found = blocks(text, is_plain=True)
    assert [(block.type, text_of(block)) for block in found] == shown
    assert not any("memo" in block.properties for block in found)


def test_an_address_in_angle_brackets_is_stored_as_it_is_shown_in_plain_text() -> None:
    def target(*, is_plain: bool) -> str:
        (block,) = blocks("<https://a.b/\u2013?x=%20y>", is_plain=is_plain)
        return str(block.children[0].fields["TextMarkAHref"])

    assert target(is_plain=True) == "https://a.b/\u2013?x= y"
    assert target(is_plain=False) == "https://a.b/%E2%80%93?x=%20y"


def test_recordings_are_blocks_in_plain_text_only() -> None:
    text = '<audio src="a.mp3"></audio>\n\n<iframe src="b"></iframe>'
    assert [block.type for block in blocks(text, is_plain=True)] == ["NodeAudio", "NodeHTMLBlock"]
    assert [block.type for block in blocks(text)] == ["NodeHTMLBlock", "NodeHTMLBlock"]
    assert blocks(text, is_plain=True)[0].data == '<audio src="a.mp3"></audio>'


@pytest.mark.parametrize(("head", "icon"), [("[!NOTE] Title", ""), ("[!NOTE] \U0001f600 x", "\U0001f600")])
def test_a_callout_keeps_only_an_icon_of_its_own(head: str, icon: str) -> None:
    (block,) = blocks(f"> {head}\n> y")
    assert (block.type, block.fields["CalloutIcon"]) == ("NodeCallout", icon)


def tightness(text: str) -> list[bool]:
    (block,) = blocks(text)
    return [bool(one.fields["ListData"].get("Tight")) for one in (block, *block.children)]


@pytest.mark.parametrize(
    ("text", "tight"),
    [
        ("- a\n- b", [True, True, True]),
        ("- a\n\n- b", [False, False, True]),
        ("- a\n\n  b\n- c", [False, False, True]),
        ("- [ ] a\n- [x] b", [True, True, True]),
    ],
)
def test_a_list_is_tight_without_empty_lines(text: str, tight: list[bool]) -> None:
    assert tightness(text) == tight


def test_a_marker_is_kept_with_all_it_says() -> None:
    (block,) = blocks("7) a\n8) b")
    item = block.children[1]
    assert item.data == "8."
    assert item.fields["ListData"] == {
        "Typ": 1,
        "Tight": True,
        "Start": 8,
        "Delimiter": ord(")"),
        "Padding": 3,
        "Marker": "OC4=",
        "Num": 8,
    }
