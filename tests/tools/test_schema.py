"""Declarations: merged schemas, safety fields only where needed, no references."""

from __future__ import annotations

import json

import pytest

from kernel.errors import ToolError
from kernel.tools import help as help_pages
from kernel.tools import schema
from kernel.tools.registry import ACTIONS, TOOLS

SAFETY = {"requestId", "validateOnly", "expectedStateHash", "expectedStructureHash", "expectedManifestHash"}


@pytest.mark.parametrize("name", list(TOOLS))
def test_a_merged_schema_requires_nothing_and_holds_no_reference(name: str) -> None:
    tool = TOOLS[name]
    merged = schema.input_schema(tool, tool.actions, is_strict=True)
    assert "required" not in merged
    assert merged["additionalProperties"] is True
    assert merged["properties"]["action"]["enum"] == [*(action.name for action in tool.actions), "help"]
    text = json.dumps(merged)
    assert "$ref" not in text
    assert len(text) < 100_000


def test_strict_fields_stand_only_where_an_enabled_action_can_need_them() -> None:
    fs = TOOLS["fs"]
    assert schema.input_schema(fs, fs.actions, is_strict=True)["properties"].keys() >= SAFETY
    reads = [action for action in fs.actions if not action.policy.can_mutate]
    assert not schema.input_schema(fs, reads, is_strict=True)["properties"].keys() & SAFETY
    assert not schema.input_schema(fs, fs.actions, is_strict=False)["properties"].keys() & SAFETY
    for name in ("system", "feedback"):
        tool = TOOLS[name]
        assert not schema.input_schema(tool, tool.actions, is_strict=True)["properties"].keys() & SAFETY


def test_an_additive_tool_needs_an_id_and_no_credential() -> None:
    properties = schema.safety_properties([ACTIONS["timeline.create_node"]])
    assert set(properties) == {"requestId", "validateOnly"}


def test_hidden_arguments_stay_in_the_action_and_out_of_the_tool() -> None:
    assert "hPath" in schema.action_schema(ACTIONS["document.lookup"])["properties"]
    document = TOOLS["document"]
    assert "hPath" not in schema.input_schema(document, document.actions, is_strict=True)["properties"]


@pytest.mark.parametrize(("name", "expected"), [("fs", True), ("av", True), ("mascot", False), ("feedback", False)])
def test_only_tools_with_a_dangerous_action_are_destructive(name: str, expected: bool) -> None:
    tool = TOOLS[name]
    assert schema.tool_annotations(tool, tool.actions)["destructiveHint"] is expected


def test_a_description_marks_danger_and_lists_what_needs_a_preflight() -> None:
    fs = TOOLS["fs"]
    text = schema.description(fs, fs.actions, is_strict=True)
    assert "rm*(path)" in text
    assert "write, replace, rm, mv, reorder" in text
    assert "validateOnly" not in schema.description(fs, fs.actions, is_strict=False)


def test_actions_with_other_types_widen_a_shared_argument() -> None:
    system = TOOLS["system"]
    assert schema.input_schema(system, system.actions, is_strict=True)["properties"]["level"]["enum"] == [
        "info",
        "error",
    ]
    timeline = TOOLS["timeline"]
    scope = schema.input_schema(timeline, timeline.actions, is_strict=True)["properties"]["scope"]
    assert scope["enum"] == ["global", "document", "all"]


def test_help_lists_all_actions_or_explains_one() -> None:
    block = TOOLS["block"]
    overview = help_pages.overview(block, block.actions)
    assert set(overview["actions"]) == {action.name for action in block.actions}
    assert overview["requiresConfirmation"] == ["delete", "move"]
    topic = help_pages.topic(block, ACTIONS["block.update"], is_strict=True)
    assert topic["writeSafety"]["preconditionFields"] == ["expectedStateHash"]
    assert "writeSafety" not in help_pages.topic(block, ACTIONS["block.update"], is_strict=False)
    added = help_pages.topic(block, ACTIONS["block.append"], is_strict=True)
    assert added["writeSafety"]["kind"] == "additive"
    assert added["example"]["parentID"]
    assert added["cliFlags"] == ["--data-type", "--data", "--parent-id"]


def test_an_unknown_topic_names_the_valid_ones() -> None:
    error = help_pages.unknown_topic(TOOLS["mascot"], TOOLS["mascot"].actions, "nope")
    assert isinstance(error, ToolError)
    assert error.details["validTopics"] == ["get_balance", "shop", "buy"]


@pytest.mark.parametrize("key", sorted(ACTIONS))
def test_every_action_has_a_topic(key: str) -> None:
    action = ACTIONS[key]
    page = help_pages.topic(TOOLS[action.tool], action, is_strict=True)
    json.dumps(page)
    assert page["hint"]
