"""H05: the call that help shows for an action can be sent as it stands."""

from __future__ import annotations

import pytest

from kernel.safety.policy import READ
from kernel.tools import help as help_pages
from kernel.tools.handlers import HANDLERS
from kernel.tools.registry import ACTIONS, TOOLS
from kernel.tools.registry.examples import also_needed, example
from kernel.tools.registry.model import ToolTable
from kernel.tools.validation import ArgumentsInvalid, validated


@pytest.mark.parametrize("key", ACTIONS)
def test_the_example_of_every_action_is_a_valid_call(key: str) -> None:
    """No exceptions: types, patterns, bounds, rules over several arguments, and what the handler itself refuses."""
    action = ACTIONS[key]
    shown = help_pages.topic(TOOLS[action.tool], action, is_strict=True)["example"]
    assert shown["action"] == action.name
    business = validated(action, shown)
    assert set(shown) - {"action"} <= {*business, *action.aliases}
    handling = HANDLERS.get(key)
    if handling is not None and handling.admits is not None:
        handling.admits(business)


@pytest.mark.parametrize("key", also_needed())
def test_no_example_shows_more_than_its_call_needs(key: str) -> None:
    action = ACTIONS[key]
    for name in also_needed()[key].split():
        shorter = {field: value for field, value in example(action).items() if field != name}
        try:
            validated(action, shorter)
        except ArgumentsInvalid:
            continue
        # A value to set, a place without which only a strict write or the host refuses, or a call that says nothing
        # without it: no rules of the row.
        assert (key, name) in {
            ("av.set_cells", "text"),
            ("block.insert", "previousID"),
            ("document.heading_to_doc", "targetPath"),
            ("av.render", "avID"),
            ("file.get_image_ocr_text", "path"),
        }


def test_numbers_and_plain_words_have_examples_of_their_own() -> None:
    table = ToolTable("t", "T", "A table.", "")
    table.add("do", READ, "Do it.", "many* number; least* int 7..; spoken* text")
    (action,) = table.done().actions
    assert example(action) == {"action": "do", "many": 1, "least": 7, "spoken": "…"}
