"""Markdown from elsewhere is stored as it is parsed (recorded: import-inlines)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kernel.workspace.markdown.context import TAG, MarkdownContext
from kernel.workspace.markdown.imported import imported_blocks
from kernel.workspace.tree import Node


def blocks(text: str, **options: Any) -> list[Node]:
    numbers = itertools.count(1)
    return imported_blocks(text, MarkdownContext(lambda: f"20240101000000-{next(numbers):07}", **options))


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
