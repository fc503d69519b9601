"""The Markdown engine's own promises: ids, refs, media, what it gives up on, and that no text is too deep or too long for it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.workspace import sy
from kernel.workspace.html import read_dom
from kernel.workspace.markdown.context import MarkdownContext, MarkdownError
from kernel.workspace.markdown.parser import parse_markdown
from kernel.workspace.markdown.pipeline import dom_to_blocks, markdown_to_blocks
from kernel.workspace.nodes import BLOCK_TYPES
from kernel.workspace.render.dom import render_dom
from kernel.workspace.render.kramdown import render_kramdown
from kernel.workspace.tree import Node

_KNOWN = "20200101000000-abcdefg"


def _context(known: Callable[[str], bool] = lambda _: False) -> MarkdownContext:
    numbers = itertools.count(1)
    return MarkdownContext(lambda: f"20261130120000-{next(numbers):07d}", known)


def _blocks(text: str, known: Callable[[str], bool] = lambda _: False) -> list[Node]:
    return markdown_to_blocks(text, _context(known)).blocks


def _document(blocks: list[Node]) -> Node:
    identifier = "20261130120000-docdocd"
    return Node("NodeDocument", id=identifier, properties={"id": identifier}, children=blocks)


def _depth(node: Node) -> int:
    """How deep the tree is, following first children that have children."""
    depth = 0
    while node.children:
        node, depth = node.children[-1], depth + 1
    return depth


def test_the_same_text_gives_the_same_dom_and_ids() -> None:
    text = "# a\n\n* b\n\n  > c **d**\n\n| e |\n| - |\n"
    first, second = markdown_to_blocks(text, _context()), markdown_to_blocks(text, _context())
    assert first.dom == second.dom
    assert [node.id for block in first.blocks for node in block.walk()] == [
        node.id for block in second.blocks for node in block.walk()
    ]


@pytest.mark.parametrize("text", ["", "\n\n", " \t\n"])
def test_no_text_is_one_empty_paragraph(text: str) -> None:
    (block,) = _blocks(text)
    assert (block.type, block.children) == ("NodeParagraph", [])
    assert block.properties["id"] == block.id


def test_a_list_of_attributes_without_a_block_keeps_a_paragraph_only_where_asked() -> None:
    text = '{: custom-a="1"}'
    assert parse_markdown(text, context=_context(), keep_empty=True)[0].properties["custom-a"] == "1"
    kept = markdown_to_blocks(text, _context(), keep_empty=True).blocks
    assert [block.properties.get("custom-a") for block in kept] == ["1"]


def test_an_id_in_the_text_is_kept_and_its_second_use_gets_a_fresh_one() -> None:
    first, second = _blocks(f'a\n{{: id="{_KNOWN}"}}\n\nb\n{{: id="{_KNOWN}"}}')
    assert first.id == _KNOWN
    assert second.id != _KNOWN
    assert second.properties["id"] == second.id


def test_a_malformed_id_is_named_in_the_error() -> None:
    with pytest.raises(MarkdownError) as raised:
        _blocks('a\n{: id="x"}')
    assert raised.value.invalid_id == "x"


def test_an_image_without_a_source_is_refused() -> None:
    with pytest.raises(MarkdownError):
        _blocks('<img src="">')


@pytest.mark.parametrize(("is_known", "kept"), [(True, _KNOWN), (False, "")])
def test_a_ref_keeps_its_target_only_if_the_block_exists(is_known: bool, kept: str) -> None:
    (paragraph,) = _blocks(f"(({_KNOWN} 'x'))", lambda identifier: is_known)
    (ref,) = [node for node in paragraph.walk() if node.fields.get("TextMarkType") == "block-ref"]
    assert ref.fields["TextMarkBlockRefID"] == kept


def test_a_ref_may_point_into_its_own_text() -> None:
    (paragraph, _) = _blocks(f"(({_KNOWN} 'x'))\n\ny\n{{: id=\"{_KNOWN}\"}}")
    assert any(node.fields.get("TextMarkBlockRefID") == _KNOWN for node in paragraph.walk())


@pytest.mark.parametrize(
    ("text", "media", "plain"),
    [
        ("[a](assets/b.mp3)", "NodeAudio", "NodeParagraph"),
        ("[a](assets/b.mp4)", "NodeVideo", "NodeParagraph"),
        ("[a](assets/b.mp3) rest", "NodeAudio", "NodeParagraph"),
        ("x [a](assets/b.mp3)", "NodeParagraph", "NodeParagraph"),
        ("[a](assets/b.png)", "NodeParagraph", "NodeParagraph"),
    ],
)
def test_a_paragraph_beginning_with_a_recording_is_media_only_in_new_documents(
    text: str, media: str, plain: str
) -> None:
    assert markdown_to_blocks(text, _context(), media_links=True).blocks[0].type == media
    assert markdown_to_blocks(text, _context()).blocks[0].type == plain


def test_a_recording_inside_a_quote_is_media_too() -> None:
    (quote,) = markdown_to_blocks("> [a](assets/b.mp4)", _context(), media_links=True).blocks
    assert [child.type for child in quote.children if child.type != "NodeBlockquoteMarker"] == ["NodeVideo"]


def test_dom_without_ids_gets_them_and_duplicates_are_renamed() -> None:
    paragraph = f'<div data-node-id="{_KNOWN}" data-type="NodeParagraph" class="p"><div>a</div></div>'
    blocks = dom_to_blocks(paragraph + paragraph + "<div><b>c</b></div>", _context()).blocks
    assert blocks[0].id == _KNOWN
    assert len({block.id for block in blocks}) == len(blocks) == 3
    assert all(block.properties["id"] == block.id for block in blocks)


@pytest.mark.parametrize(
    ("text", "depth"),
    [("> " * 250 + "a", 250), ("".join("  " * level + "* a\n" for level in range(120)), 240)],
    ids=["quotes", "lists"],
)
def test_nesting_has_no_limit(text: str, depth: int) -> None:
    root = _document(_blocks(text))
    assert _depth(root) >= depth
    assert sy.encode(sy.decode(sy.encode(root))) == sy.encode(root)
    assert render_kramdown(root)
    assert render_kramdown(root, mode="textmark")


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "![",
        "*",
        "_a",
        "**a ",
        "`",
        "`` ",
        "<",
        "<a ",
        "<!--",
        "((",
        "{{",
        "{: ",
        "[a](",
        "[a](<",
        "&",
        "$",
        "$a\\",
        ":a",
        "~",
        "==",
        "^",
        "#",
        "|",
        "<<",
        "a*",
    ],
)
def test_unfinished_constructs_cost_no_more_than_their_length(unit: str) -> None:
    def seconds(count: int) -> float:
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            markdown_to_blocks(unit * count, _context())
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(100), seconds(800)
    assert large < 24 * small + 0.05  # eight times the text; sixty-four times the time would be quadratic


_PIECES = st.lists(
    st.sampled_from(
        [
            "a",
            " ",
            "\n",
            "\n\n",
            "*",
            "**",
            "_",
            "`",
            "```\n",
            "$",
            "$$\n",
            "> ",
            "* ",
            "1. ",
            "- [ ] ",
            "# ",
            "|",
            "|-|\n",
            "[",
            "](b)",
            "![",
            "<b>",
            "</b>",
            "<div>",
            "{: ",
            '{: id="20200101000000-abcdefg"}',
            'custom-a="1"',
            "}",
            "((20200101000000-abcdefg 'x'))",
            "{{{row\n",
            "}}}\n",
            "==",
            "#",
            "~~",
            "\\",
            "&amp;",
            ":smile:",
            "> [!NOTE]\n",
            "\t",
            "    ",
            "<!-- ",
            "---\n",
            "{{ select }}",
            "中",
            "\u200b",
        ]
    ),
    max_size=24,
)


@settings(max_examples=60, deadline=None)
@given(_PIECES)
def test_any_text_is_imported_and_its_stored_form_is_a_fixed_point(pieces: list[str]) -> None:
    try:
        blocks = _blocks("".join(pieces), lambda _: True)
    except MarkdownError:
        return
    root = _document(blocks)
    ids = [node.id for node in root.walk() if node.type in BLOCK_TYPES]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    stored = sy.encode(root)
    assert sy.encode(sy.decode(stored)) == stored
    assert render_kramdown(root) is not None
    assert render_kramdown(root, mode="textmark") is not None


@settings(max_examples=40, deadline=None)
@given(_PIECES)
def test_the_dom_of_stored_blocks_can_be_read_again(pieces: list[str]) -> None:
    try:
        blocks = _blocks("".join(pieces), lambda _: True)
    except MarkdownError:
        return
    again = read_dom(render_dom(blocks, first_index=1), _context())
    assert [block.id for block in again if block.id][: len(blocks)] == [block.id for block in blocks]
