"""One table behind everything: schema, help, resource, validation, views and the command line never disagree (R159)."""

from __future__ import annotations

import json

import pytest

from kernel.tools import apps, resources, schema
from kernel.tools import help as help_pages
from kernel.tools.configuration import Configuration
from kernel.tools.registry import ACTIONS, TOOLS
from kernel.tools.registry.model import Action
from kernel.tools.validation import ArgumentsInvalid, validated


@pytest.mark.parametrize("action", ACTIONS.values(), ids=lambda action: action.key)
def test_help_resource_and_validation_say_the_same_of_an_action(action: Action) -> None:
    tool = TOOLS[action.tool]
    told = help_pages.topic(tool, action, is_strict=True)
    strict = schema.action_schema(action)
    assert told["inputSchema"] == strict
    read = resources.read(f"siyuan://help/action/{action.tool}/{action.name}", Configuration())
    assert read is not None
    assert json.loads(read[0]["text"]) == json.loads(json.dumps(told))
    required = set(strict["required"]) - {"action"}
    assert {argument.name for argument in action.arguments if argument.is_required} == required
    if required:
        with pytest.raises(ArgumentsInvalid) as caught:
            validated(action, {})
        missing = {problem.path for problem in caught.value.problems}
        # Rules that look at several arguments may say more; the required ones are all among what is said.
        assert required <= missing or action.eager_rules
    merged = schema.input_schema(tool, tool.actions, is_strict=True)["properties"]
    assert {argument.name for argument in action.arguments if not argument.is_hidden} <= set(merged)


@pytest.mark.parametrize("app", apps.APPS, ids=lambda app: app.key)
def test_a_view_has_no_rows_of_its_own(app: apps.App) -> None:
    on = Configuration(raw={app.tool: {"actions": dict.fromkeys(app.actions, True)}})
    allowed = apps.actions_of(on, app)
    assert [action.name for action in allowed] == [
        action.name for action in TOOLS[app.tool].actions if action.name in app.actions
    ]
    assert all(action is ACTIONS[action.key] for action in allowed)
    declared = next(row for row in apps.declarations(on) if row["name"] == app.action_tool)
    assert declared["inputSchema"] == schema.input_schema(TOOLS[app.tool], allowed, is_strict=True)
