"""What is a change of a state and what is not (R63-R68, decision 43)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.safety.digest import normal, normal_dom, normal_kramdown, seen_part, state_digest, weight

BLOCK = (
    '<div data-node-id="20260101000000-aaaaaaa" data-node-index="1" data-type="NodeParagraph" class="p"'
    ' updated="20260101000000" custom-a="1" memo="&gt; &quot;x&quot;"><div contenteditable="true" spellcheck="false">'
    'a <span data-type="strong">b</span> <span data-type="block-ref" data-id="20260101000000-bbbbbbb" data-subtype="s">'
    'c</span><br />&lt;tag z="1" a="2"&gt;</div><div class="protyle-attr" contenteditable="false">\u200b</div></div>'
)
KRAMDOWN = 'a **b** ((20260101000000-bbbbbbb "c"))\n{: id="20260101000000-aaaaaaa" updated="20260101000000" custom-a="1" memo="&quot;x&quot; &#123;y&#125;"}'


def shuffled_tag(html: str, seed: int) -> str:
    head, _, rest = html.partition(">")
    name, *attributes = head.split(" ")
    joined = " ".join(attributes).replace('" ', '"\0').split("\0")
    random.Random(seed).shuffle(joined)
    return " ".join([name, *joined]) + ">" + rest


def shuffled_list(kramdown: str, seed: int) -> str:
    text, _, listed = kramdown.partition("\n{: ")
    attributes = listed.removesuffix("}").replace('" ', '"\0').split("\0")
    random.Random(seed).shuffle(attributes)
    return f"{text}\n{{: {' '.join(attributes)}}}"


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_attributes_is_no_change(seed: int) -> None:
    assert normal_dom(shuffled_tag(BLOCK, seed)) == normal_dom(BLOCK)
    assert normal_kramdown(shuffled_list(KRAMDOWN, seed)) == normal_kramdown(KRAMDOWN)


@pytest.mark.parametrize("name", ["updated", "created", "data-updated", "data-created", "scroll"])
def test_times_and_scroll_positions_are_no_change(name: str) -> None:
    assert (
        normal_dom(f'<div a="1" {name}="2">x</div>')
        == normal_dom(f'<div {name}="3" a="1">x</div>')
        == '<div a="1">x</div>'
    )
    assert normal_kramdown(f'x\n{{: a="1" {name}="2"}}') == 'x\n{: a="1"}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('data-subtype="s"', 'data-subtype="d"'),
        ('data-type="strong"', 'data-type="em"'),
        ('custom-a="1"', 'custom-a="2"'),
        ("a <span", "b <span"),
        ("&lt;tag z", "&lt;tag y"),
        ("<br />", ""),
        ('class="protyle-attr"', 'class="protyle-attr x"'),
    ],
)
def test_everything_else_in_the_dom_is_a_change(old: str, new: str) -> None:
    assert old in BLOCK
    assert normal_dom(BLOCK.replace(old, new)) != normal_dom(BLOCK)


@pytest.mark.parametrize(
    ("old", "new"), [("**b**", "*b*"), ('custom-a="1"', 'custom-a="2"'), ("a **", "a  **"), ('"c"', '"d"')]
)
def test_everything_else_in_kramdown_is_a_change(old: str, new: str) -> None:
    assert old in KRAMDOWN
    assert normal_kramdown(KRAMDOWN.replace(old, new)) != normal_kramdown(KRAMDOWN)


def test_escaped_text_that_looks_like_a_tag_keeps_its_order() -> None:
    assert '&lt;tag z="1" a="2"&gt;' in normal_dom(BLOCK)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<img z='1' a=\"2\" />", "<img a=\"2\" z='1' />"),
        ("<input b disabled a=1>", "<input a=1 b disabled>"),
        ('<p b="x>y" a="&quot;">t</p>', '<p a="&quot;" b="x>y">t</p>'),
        ("a < b and c > d", "a < b and c > d"),
        ("<!-- b a -->", "<!-- b a -->"),
        ("<br>", "<br>"),
        ('<svg><use xlink:href="#i"></use></svg>', '<svg><use xlink:href="#i"></use></svg>'),
        ('<a b="1" a="2"', '<a b="1" a="2"'),
        ("", ""),
    ],
)
def test_tags_in_every_spelling(html: str, expected: str) -> None:
    assert normal_dom(html) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('*x*{: style="b" a="1"} y', '*x*{: a="1" style="b"} y'),
        ('{: updated="1"}', "{:}"),
        ('{: b="1"}{: a="1"}', '{: b="1"}{: a="1"}'),
        ("{: bad}", "{: bad}"),
        ('{:b="1" a="2"}', '{:b="1" a="2"}'),
        ("{: }", "{: }"),
        ('{: b="1" a="2"', '{: b="1" a="2"'),
    ],
)
def test_attribute_lists_in_every_spelling(text: str, expected: str) -> None:
    assert normal_kramdown(text) == expected


@given(st.text(alphabet="<>ab=\"' /{}:\n", max_size=60))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normal_dom(normal_dom(text)) == normal_dom(text)
    assert normal_kramdown(normal_kramdown(text)) == normal_kramdown(text)


def test_a_long_hostile_text_takes_no_long_time() -> None:
    for hostile in ("<a " + 'b="' * 20_000, "<a" + " b" * 20_000, '{: a="1"' + " " * 20_000, "{:" + ' a="1"' * 20_000):
        assert normal_dom(hostile) == hostile
        assert normal_kramdown(hostile) == hostile


def test_keys_that_are_times_go_at_any_depth_and_texts_are_put_in_order() -> None:
    raw = {
        "b": [{"updated": 1, "created": 2, "x": 3}],
        "updated": 4,
        "dom": '<p b="1" a="2">',
        "kramdown": '{: b="1" a="2"}',
        "n": None,
    }
    assert normal(raw) == {"b": [{"x": 3}], "dom": '<p a="2" b="1">', "kramdown": '{: a="2" b="1"}', "n": None}
    assert seen_part((raw["b"], "updated")) == [[{"x": 3}], "updated"]


def test_array_order_is_a_change_and_key_order_is_none() -> None:
    assert state_digest({"a": 1, "b": [1, 2]}) == state_digest({"b": [1, 2], "a": 1})
    assert state_digest([1, 2]) != state_digest([2, 1])
    assert state_digest({"a": 1.0, "b": -0.0}) == state_digest({"a": 1, "b": 0})
    assert state_digest(None).startswith("sha256:v1:")


@pytest.mark.parametrize(
    ("value", "least"), [("x" * 100, 100), ({"k" * 10: b"y" * 50}, 60), ([["z" * 7], 1], 15), (None, 8)]
)
def test_weight_counts_texts(value: Any, least: int) -> None:
    assert weight(value) == least
