"""Attribute order as the real kernel has it: another one at every look, and nothing else changed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kernel.faults.attributes import is_attributes, shuffled

KRAMDOWN = 'Alpha {: not one}\n{: id="a" updated="1" bookmark="x" name="n" alias="&quot;b&quot;"}\n'
DOM = '<div data-node-id="a" data-type="NodeParagraph" class="p" updated="1"><div contenteditable="true">x</div></div>'
IAL = {"id": "a", "updated": "1", "name": "n", "custom-x": "y"}
SEEDS = [str(number) for number in range(20)]


def attributes(text: str) -> list[list[str]]:
    """The attributes of each place, sorted, and the text without them."""
    found = re.findall(r'[\w\-]+="[^"]*"', text)
    return [sorted(found), re.sub(r'[\w\-]+="[^"]*"', "@", text).split()]


@pytest.mark.parametrize("text", [KRAMDOWN, DOM])
def test_texts_keep_their_attributes_in_other_orders(text: str) -> None:
    orders = {shuffled(text, seed) for seed in SEEDS}
    assert len(orders) > 5
    assert all(attributes(order) == attributes(text) for order in orders)
    assert shuffled(text, "1") == shuffled(text, "1")


def test_attribute_objects_change_their_order_wherever_they_stand() -> None:
    orders = {tuple(shuffled([{"ial": IAL}], seed)[0]["ial"]) for seed in SEEDS}
    assert len(orders) > 5
    assert all(shuffled({"ial": IAL}, seed) == {"ial": IAL} for seed in SEEDS)


@pytest.mark.parametrize("value", [None, 5, True, b"bytes", "no attributes", '<b x="1">one</b>', {"z": 1, "a": 2}, []])
def test_everything_else_stays_as_it_is(value: Any) -> None:
    same = shuffled(value, "1")
    assert same == value
    if isinstance(value, dict):
        assert list(same) == list(value)


@pytest.mark.parametrize(
    ("value", "is_one"), [(IAL, True), ({"id": "a"}, False), ({"id": "a", "updated": 1}, False), ({}, False)]
)
def test_what_a_blocks_attributes_look_like(value: dict[str, Any], is_one: bool) -> None:
    assert is_attributes(value) is is_one
