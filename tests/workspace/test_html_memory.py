"""DOM that is remembered reads as it would afresh, whatever ids it carries and whatever is done to what it gave."""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.workspace.html import read_dom
from kernel.workspace.html_memory import remembered_dom
from kernel.workspace.limits import REMEMBERED_DOM_CHARS_MAX
from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.render.dom import render_dom
from kernel.workspace.tree import Node

OWN, OTHER, NO_ID = "20240101000000-abcdefg", "20240101000001-hijklmn", "00000000000000-0000000"
PIECES = st.sampled_from(
    ["word", "**bold**", "`code`", "- item\n", "1. one\n", "# head\n", "> quote\n", "\n\n", "<b>html</b>", OWN, NO_ID,
     f"(({OWN} 'text'))", f'{{: id="{OWN}" name="x"}}', "| a |\n| - |\n", "```\ncode\n```\n", "- [x] done\n", "$x$", "#tag#"]
)  # fmt: skip


def fresh_context() -> MarkdownContext:
    numbers = count()
    return MarkdownContext(new_id=lambda: f"20240101000002-{next(numbers):07d}")


def shape(blocks: list[Node]) -> list[Any]:
    return [
        (
            node.type,
            node.id,
            node.data,
            list(node.properties.items()),
            list(node.fields.items()),
            node.parent is not None,
        )
        for block in blocks
        for node in block.walk()
    ]


def reading(blocks: list[Node]) -> tuple[list[Any], list[str]]:
    return shape(blocks), [block.parent.type for block in blocks if block.parent]


def readings(dom: str) -> tuple[tuple[list[Any], list[str]], tuple[list[Any], list[str]]]:
    """As it is remembered, and as it is read afresh."""
    return reading(remembered_dom(dom, fresh_context())), reading(read_dom(dom, fresh_context()))


@given(pieces=st.lists(PIECES, max_size=6))
@settings(max_examples=60, deadline=None)
def test_any_markdown_s_dom_reads_the_same_again_and_under_another_id(pieces: list[str]) -> None:
    parsed = parse_markdown(" ".join(pieces), context=fresh_context(), keep_empty=True)
    dom = render_dom(parsed, first_index=1, parsed=True)
    first_ids = [node.id for node in read_dom(dom, fresh_context())[:1] if node.id]
    for one in (dom, dom, *(dom.replace(block_id, OTHER) for block_id in first_ids), dom):
        remembered, afresh = readings(one)
        assert remembered == afresh


def paragraph(inner: str, block_id: str = OWN) -> str:
    return f'<div data-node-id="{block_id}" data-type="NodeParagraph" class="p"><div contenteditable="true">{inner}</div></div>'


@given(
    text=st.text("aZ9éßİ苹果𠀀٣ǰ한  ,._-*`#:<&\u200b\u2038", max_size=14),
    before=st.sampled_from(["", "<b>x</b>", "<br>", "y"]),
)
@settings(max_examples=150, deadline=None)
def test_any_text_is_carried_as_it_would_be_read(text: str, before: str) -> None:
    for inner in (text, before + text):
        paragraph_dom, heading_dom = rendered(inner), rendered(inner, "NodeHeading", ' data-subtype="h2"')
        for dom in (paragraph_dom, heading_dom, rendered(inner, "NodeCodeBlock" if before else "NodeMathBlock")):
            remembered, afresh = readings(dom)
            assert remembered == afresh


def rendered(inner: str, kind: str = "NodeParagraph", more: str = "") -> str:
    return (
        f'<div data-node-id="{OWN}" data-node-index="1" data-type="{kind}"{more} class="p" updated="20240101000000">'
        f'<div contenteditable="true" spellcheck="false">{inner}</div>'
        '<div class="protyle-attr" contenteditable="false">\u200b</div></div>'
    )


@pytest.mark.parametrize(
    "dom",
    [
        paragraph("plain"),
        paragraph(f"says {OWN}"),
        paragraph(f"says {NO_ID}"),
        paragraph("one") + paragraph("two", OTHER),
        paragraph("one") + paragraph("two"),
        f'<div data-node-id="{OWN}" data-type="NodeAttributeView" data-av-type="table"></div>',
        f'<div data-node-id="{OWN}" class="unknown">what is this</div>',
        f'<section><div data-node-id="{OWN}">in foreign HTML</div></section>',
        rendered("plain words, in a row"),
        rendered("words00that00are00carried00along"),
        rendered("one") + rendered("two").replace(OWN, OTHER),
        rendered("words").replace('class="p"', 'class="p" memo="words"'),
        "no block at all",
        "",
        paragraph("x" * REMEMBERED_DOM_CHARS_MAX),
    ],
)
def test_dom_of_every_making_reads_as_it_would_afresh(dom: str) -> None:
    under_another_id = dom.replace(OWN, OTHER)
    for one in (dom, under_another_id, dom, under_another_id):
        remembered, afresh = readings(one)
        assert remembered == afresh


def test_what_is_done_to_a_reading_does_not_reach_the_next() -> None:
    head = f'<div data-node-id="{OWN}" data-type="NodeListItem" data-subtype="o" data-marker="1.">'
    item = f"{head}{paragraph('a', OTHER)}</div>"
    first = remembered_dom(item, fresh_context())
    before = deepcopy(shape(first))
    for node in list(first[0].walk()):
        node.properties["spoiled"] = "1"
        for value in node.fields.values():
            if isinstance(value, dict):
                value["Num"] = 99
        node.fields["Spoiled"] = True
    assert shape(remembered_dom(item, fresh_context())) == before
