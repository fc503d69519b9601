"""What a plain single-paragraph write must show: which texts are plain, and when a state shows one (decision 40)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.safety.intent import Observation
from kernel.tools import shown_text
from kernel.workspace.markdown.context import MarkdownContext
from kernel.workspace.markdown.pipeline import markdown_to_blocks
from kernel.workspace.render.dom import render_dom

MD, DOM = "markdown", "dom"
PARAGRAPH = '<div data-node-id="20260101000000-abcdefg" data-type="NodeParagraph" class="p">'
EDITABLE = f'{PARAGRAPH}<div contenteditable="true" spellcheck="false">%s</div></div>'


@pytest.mark.parametrize(
    ("data_type", "data", "expected"),
    [
        (MD, "Plain words, twice.", "Plainwords,twice."),
        (MD, "  中文 and English\nin two lines  ", "中文andEnglishintwolines"),
        (MD, "At 10:30, 5 % of it: done (really)!", "At10:30,5%ofit:done(really)!"),
        (MD, "see https://example.org/a", "seehttps://example.org/a"),
        (MD, "a\u200bb", None),
        (MD, "", None),
        (MD, " \n ", None),
        (MD, "one\n\ntwo", None),
        (MD, "# heading", None),
        (MD, "- item", None),
        (MD, "1. item", None),
        (MD, "---", None),
        (MD, "some *em*", None),
        (MD, "a_b_c", None),
        (MD, "`code`", None),
        (MD, "#tag#", None),
        (MD, "((20260101000000-abcdefg 'x'))", None),
        (MD, "[a](b)", None),
        (MD, "<b>x</b>", None),
        (MD, "a &amp; b", None),
        (MD, "$x$", None),
        (MD, "x{: a='b'}", None),
        (MD, ":smile:", None),
        (MD, "a\tb", None),
        (DOM, EDITABLE % "say &quot;hi&quot;", 'say"hi"'),
        (DOM, EDITABLE % "<span data-type='strong'>x</span>", None),
        (DOM, EDITABLE % "a" + EDITABLE % "b", None),
        (DOM, '<div data-type="NodeHeading">x</div>', None),
        (DOM, "loose words", None),
    ],
)
def test_only_text_without_markup_is_plain(data_type: str, data: str, expected: str | None) -> None:
    assert shown_text.plain_text(data_type, data) == expected


@pytest.mark.parametrize(
    ("state", "is_shown"),
    [
        ({"dom": EDITABLE % "a  b\u200b"}, True),
        ({"dom": EDITABLE % "a <span>b</span> c"}, True),
        ({"dom": EDITABLE % "other"}, False),
        ({"dom": EDITABLE % "other", "kramdown": 'a b\n{: id="x"}'}, True),
        ({"dom": '<div title="ab"></div>'}, False),
        ({"missing": True}, False),
        (None, False),
    ],
)
def test_a_state_shows_a_text_whatever_its_spacing(state: Any, is_shown: bool) -> None:
    assert shown_text.shows(state, "ab") is is_shown


def test_an_expectation_is_about_the_blocks_that_were_given_plain_text() -> None:
    holds = shown_text.expects({"a": "one", "b": None})
    assert holds is not None
    assert holds(Observation({"a": {"kramdown": "one"}, "b": {}}, (), 0))
    assert not holds(Observation({"a": {"kramdown": "two"}, "b": {"kramdown": "one"}}, (), 0))
    assert not holds(Observation(None, (), 0))
    assert shown_text.expects({"b": None}) is None
    below = shown_text.expects_below("d", ["one", None])
    assert below is not None
    assert below(Observation({"d": {"kramdown": "zero\n\none"}}, (), 0))
    assert not below(Observation({"e": {"kramdown": "one"}}, (), 0))
    assert shown_text.expects_below("d", [None]) is None


def written(text: str) -> str:
    """The editor's DOM of the blocks that the Markdown pipeline stores."""
    numbers = itertools.count()
    context = MarkdownContext(lambda: f"20240101000000-{next(numbers):07}")
    return render_dom(markdown_to_blocks(text, context).blocks)


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "Mn"]), max_size=30))
def test_whatever_is_plain_is_shown_by_the_kernel_as_it_was_written(text: str) -> None:
    """No false alarm: the Markdown pipeline keeps every text that is compared at all."""
    wanted = shown_text.plain_text(MD, text)
    if wanted is not None:
        assert shown_text.shows({"dom": written(text)}, wanted)


LETTERS = " .,;:?!'\"-/@%()…–—，。：a1中é\n"


@given(st.text(st.sampled_from(LETTERS), max_size=14))
def test_marks_that_are_held_for_harmless_are(text: str) -> None:
    wanted = shown_text.plain_text(MD, text)
    if wanted is not None:
        assert shown_text.shows({"dom": written(text)}, wanted)
