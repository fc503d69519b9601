"""The table itself: complete, in order, and true to its totals."""

from __future__ import annotations

from collections import Counter

import pytest

from kernel.tools.handlers import HANDLERS
from kernel.tools.registry import ACTIONS, TOOLS, find_action
from kernel.tools.registry.signature import parse

DANGEROUS = set(
    (
        "fs.rm fs.mv notebook.remove notebook.set_permission document.remove document.move block.delete block.move "
        "av.set_column_options av.duplicate_rows av.set_new_item_templates av.create_from_template "
        "av.configure_two_way_relation av.configure_rollup av.set_relation file.upload_asset file.delete_template "
        "file.remove_unused_assets file.delete_asset search.find_replace tag.remove timeline.delete_node "
        "timeline.rollback_document timeline.rollback_block system.workspace_info system.perform_sync "
        "flashcard.remove_card"
    ).split()
)
OFF = set(
    (
        "notebook.remove notebook.set_permission document.remove block.delete file.delete_template "
        "timeline.delete_node timeline.rollback_document timeline.rollback_block system.workspace_info"
    ).split()
)


# Recorded of the predecessor, beside the listed ones: one mutation, one read.
KEPT = {"av.rename", "timeline.compare_recent"}
LISTED = {key: action for key, action in ACTIONS.items() if key not in KEPT}


def test_fourteen_tools_have_one_hundred_and_forty_three_actions_and_two_that_were_kept() -> None:
    counts = {name: sum(one.key in LISTED for one in tool.actions) for name, tool in TOOLS.items()}
    assert list(counts.values()) == [9, 11, 18, 21, 25, 20, 9, 3, 6, 8, 6, 3, 3, 1]
    assert len(LISTED) == 143
    assert ACTIONS.keys() - LISTED.keys() == KEPT
    assert [ACTIONS[key].policy.can_mutate for key in sorted(KEPT)] == [True, False]


def test_effects_add_up_to_the_stated_totals() -> None:
    can_mutate = sum(action.policy.can_mutate for action in LISTED.values())
    effects = Counter(action.policy.effect.value for action in LISTED.values())
    assert (can_mutate, effects["external"], 143 - can_mutate - effects["external"]) == (73, 5, 65)


def test_the_dangerous_actions_are_these() -> None:
    assert {key for key, action in ACTIONS.items() if action.is_dangerous} == DANGEROUS


def test_the_actions_that_are_off_by_default_are_these() -> None:
    assert {key for key, action in ACTIONS.items() if not action.is_on} == OFF


def test_every_handler_belongs_to_a_row() -> None:
    assert set(HANDLERS) <= set(ACTIONS)


def test_an_alias_stands_for_an_argument_that_some_rule_or_row_knows() -> None:
    for action in ACTIONS.values():
        for alias in action.aliases:
            assert action.argument(alias) is not None, (action.key, alias)


@pytest.mark.parametrize(
    ("tool", "written", "meant"),
    [
        ("fs", "list", "ls"),
        ("fs", "delete", "rm"),
        ("fs", "move", "mv"),
        ("notebook", "ls", "list"),
        ("notebook", "get-conf", "get_conf"),
        ("block", "rm", "delete"),
        ("notebook", "LIST", None),
        ("notebook", "getConf", None),
        ("mascot", "rm", None),
    ],
)
def test_other_spellings_find_the_action_that_is_meant(tool: str, written: str, meant: str | None) -> None:
    found = find_action(TOOLS[tool], written)
    assert (found.name if found else None) == meant


@pytest.mark.parametrize("bad", ["path", "path* nonsense", "* text", "a text = {"])
def test_a_line_outside_the_grammar_is_refused(bad: str) -> None:
    with pytest.raises(ValueError):
        parse(bad)


def test_a_signature_names_types_bounds_defaults_and_flags() -> None:
    name, count, words, ids, choice, hidden = parse(
        'name* text 1..5; count int 0..20 = 3; words [text+] 1..4; ids* [text]+; choice a|b = "a"; ~old any'
    )
    assert (name.is_required, name.schema) == (True, {"type": "string", "minLength": 1, "maxLength": 5})
    assert count.schema == {"type": "integer", "minimum": 0, "maximum": 20, "default": 3}
    assert words.schema == {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "minItems": 1,
        "maxItems": 4,
    }
    assert ids.schema["minItems"] == 1
    assert choice.schema == {"type": "string", "enum": ["a", "b"], "default": "a"}
    assert (hidden.is_hidden, hidden.schema) == (True, {})


def test_a_text_may_have_a_least_length_alone() -> None:
    (name,) = parse("name* text 3..")
    assert name.schema == {"type": "string", "minLength": 3}
