"""[core] What ``action="help"`` answers: a tool at a glance, or one action in full. Derived from the table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from kernel.errors import ToolError
from kernel.safety.intent import Precondition
from kernel.tools.registry.examples import example
from kernel.tools.registry.model import Action, Tool
from kernel.tools.schema import action_schema

RESOURCES: Final = (
    "siyuan://help/tool-overview",
    "siyuan://help/document-path-semantics",
    "siyuan://help/examples",
    "siyuan://help/write-safety",
)


def overview(tool: Tool, actions: Iterable[Action]) -> dict[str, Any]:
    """All enabled actions of a tool, one line each."""
    enabled = tuple(actions)
    dangerous = [action.name for action in enabled if action.is_dangerous]
    payload: dict[str, Any] = {
        "tool": tool.name,
        "commonActions": [action.name for action in enabled if action.tier == "basic"],
        "advancedActions": [action.name for action in enabled if action.tier == "advanced"],
        "guidance": list(tool.guidance),
        "actions": {
            action.name: {"hint": action.summary, "requiresConfirmation": action.is_dangerous} for action in enabled
        },
        "actionSummaries": {action.name: _summary(action) for action in enabled},
    }
    if dangerous:
        payload["requiresConfirmation"] = dangerous
    payload["detailsHint"] = f'Call {tool.name} with action="help" and topic=<action> for one action in full.'
    payload["helpResources"] = list(RESOURCES)
    return payload


def topic(tool: Tool, action: Action, *, is_strict: bool) -> dict[str, Any]:
    """One action: its arguments, what they need of each other, an example, and how it is written safely."""
    shown = [argument for argument in action.arguments if not argument.is_hidden]
    payload: dict[str, Any] = {
        "tool": tool.name,
        "action": action.name,
        "hint": action.summary,
        "shapes": [_summary(action)],
        "requiredFields": [argument.name for argument in shown if argument.is_required],
        "inputSchema": action_schema(action),
        "example": example(action),
        "cliFlags": [f"--{_kebab(argument.name)}" for argument in shown],
        "guidance": [*action.notes, *tool.guidance],
        "requiresConfirmation": action.is_dangerous,
        "fullDocResource": f"siyuan://help/action/{tool.name}/{action.name}",
    }
    if action.aliases:
        payload["aliases"] = dict(action.aliases)
    if is_strict and action.policy.can_mutate:
        payload["writeSafety"] = _write_safety(action)
    return payload


def unknown_topic(tool: Tool, actions: Iterable[Action], name: str) -> ToolError:
    """The error for a topic that is no enabled action."""
    return ToolError(
        "unknown_help_topic",
        f"Tool {tool.name} has no action {name!r} to explain.",
        validTopics=[action.name for action in actions],
        hint="Leave topic out for a list of all actions.",
    )


def _summary(action: Action) -> str:
    form = action.call_form or ", ".join(a.name for a in action.arguments if a.is_required)
    optional = [a.name for a in action.arguments if not a.is_required and not a.is_hidden and a.name not in form]
    return f"{action.name}({form}" + (f" [, {', '.join(optional)}]" if optional else "") + ")"


def _write_safety(action: Action) -> dict[str, Any]:
    fields = sorted(field.value for field in action.policy.preconditions)
    steps = ["Call with the business arguments and validateOnly:true."]
    if fields:
        steps.append(f"Call again without validateOnly, with requestId and {' or '.join(fields)} as returned.")
    else:
        steps.append("Call again without validateOnly, with requestId as returned.")
    kind = "additive" if action.policy.precondition is Precondition.NONE else "precondition"
    return {"kind": kind, "preconditionFields": fields, "steps": steps}


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()
