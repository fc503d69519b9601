"""From a tools/call to a prepared one: which tool, which action, are its arguments right, must its user agree?

The order is decision 21: arguments → enabled? → confirmation. Nothing is read but the settings; no lane is taken. No I/O.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kernel.canonical import digest
from kernel.errors import ToolError
from kernel.safety.intent import SAFETY_ARGUMENTS
from kernel.safety.policy import Policy
from kernel.safety.submission import rejected
from kernel.tools import extension, failures, results
from kernel.tools.configuration import Configuration
from kernel.tools.handlers import HANDLERS
from kernel.tools.limits import FORM_ARGUMENT_CHARS_MAX
from kernel.tools.registry import TOOLS, Action, Tool, find_action
from kernel.tools.registry.model import Problem
from kernel.tools.service import Confirmation, Refused, ToolResult
from kernel.tools.validation import ArgumentsInvalid, validated

HELP: Final = "help"
EXTENSION: Final = "extension"


class Asked(msgspec.Struct, frozen=True):
    """A call that may go on. ``submitted``: the safety fields as they came."""

    tool: Tool
    action: Action
    arguments: dict[str, Any]
    policy: Policy
    submitted: Mapping[str, Any]
    # Called by a view: it goes through the lane of sessions, and without a read budget (S1).
    is_app: bool = False

    @property
    def is_preflight(self) -> bool:
        return self.submitted.get("validateOnly") is True

    @property
    def changes_something(self) -> bool:
        return not self.policy.is_read


def offered(configuration: Configuration, tool: Tool) -> tuple[Action, ...]:
    """The actions of a tool that are switched on and that this release can do."""
    known = configuration.memo.get(("offered", tool.name))
    if known is None:
        enabled = configuration.enabled_actions(tool)
        known = configuration.memo["offered", tool.name] = tuple(one for one in enabled if one.key in HANDLERS)
    return known


def offered_tool(configuration: Configuration, name: str) -> Tool:
    """The tool of that name.

    Raises:
        Refused: there is none, or all of it is switched off.
    """
    tool = TOOLS.get(name)
    if tool is None or not offered(configuration, tool):
        error = ToolError("unknown_tool", f"Unknown tool: {name}")
        raise Refused(results.failure(failures.payload_of(error), text=error.message))
    return tool


def named_action(name: Any, tool: Tool) -> str:
    """The action's name as the caller wrote it.

    Raises:
        Refused: missing, empty, or not a text.
    """
    if isinstance(name, str) and name:
        return name
    error = ToolError(
        "validation_error",
        f"Tool {tool.name} needs an action.",
        fields=[{"path": "", "message": "action must be a non-empty text."}],
        hint=f'{tool.name}(action="help") lists the actions.',
    )
    raise Refused(results.failure(failures.payload_of(error, tool.name)))


def asked(
    configuration: Configuration, tool: Tool, name: str, arguments: Mapping[str, Any], parts: Mapping[str, Any]
) -> Asked:
    """The call, checked. ``parts`` hold the bridge to foreign tools.

    Raises:
        Refused: unknown or switched-off action, wrong arguments, a preflight that cannot be.
    """
    action = find_action(tool, name)
    if action is None and tool.name == EXTENSION:
        return _foreign(configuration, tool, name, arguments, parts)
    if action is None:
        raise Refused(results.failure(failures.payload_of(_unknown_action(configuration, tool, name), tool.name, name)))
    if action not in offered(configuration, tool):
        raise refused(configuration, action, _disabled(action), action.policy)
    if name == action.name:
        configuration.rows[tool.name, name] = tool, action
    return checked(configuration, tool, action, arguments)


def _foreign(
    configuration: Configuration, tool: Tool, name: str, arguments: Mapping[str, Any], parts: Mapping[str, Any]
) -> Asked:
    """A foreign tool by its official name."""
    for exposed in extension.exposed_tools(configuration, parts):
        if exposed.name == name:
            return checked(configuration, tool, extension.dynamic_action(exposed), arguments)
    reason = extension.why_not(configuration, parts, name)
    error = reason or _unknown_action(configuration, tool, name)
    raise Refused(results.failure(failures.payload_of(error, tool.name, name)))


def checked(configuration: Configuration, tool: Tool, action: Action, arguments: Mapping[str, Any]) -> Asked:
    """The call of an action that is switched on, its arguments checked. Raises Refused."""
    try:
        business = validated(action, arguments)
    except ArgumentsInvalid as error:
        policy = action.policy.resolve(arguments)
        raise refused(configuration, action, failures.invalid(action, error.problems), policy) from None
    call = Asked(
        tool,
        action,
        business,
        action.policy.resolve(business),
        {field: value for field, value in arguments.items() if field in SAFETY_ARGUMENTS},
    )
    handling = HANDLERS.get(action.key)
    try:
        check_preflight(configuration, call)
        if handling is not None and handling.admits is not None:
            handling.admits(business)
    except ToolError as error:
        raise refused(configuration, action, error, call.policy) from None
    return call


def confirmation(call: Asked) -> Confirmation | None:
    """What the user must agree to, or None. A preflight changes nothing and asks nobody (decision 21)."""
    action = call.action
    needs_it = action.is_dangerous or (action.key == "file.export_resources" and "outputPath" in call.arguments)
    if not needs_it or call.is_preflight:
        return None
    # Business arguments only: another request id or spelling of a hash is still the same operation, so it neither opens
    # a second way past a pending question nor needs a second answer to it (R123).
    operation = {"tool": action.tool, "action": action.name, "arguments": call.arguments}
    shown = json.dumps(call.arguments, ensure_ascii=False)
    if len(shown) > FORM_ARGUMENT_CHARS_MAX:
        shown = shown[:FORM_ARGUMENT_CHARS_MAX] + "…"
    return Confirmation(f"{action.tool}.{action.name}: {action.summary}\nArguments: {shown}", digest(operation))


def refused(configuration: Configuration, action: Action, error: ToolError, policy: Policy) -> Refused:
    """A refusal in the words of the action's kind: writes also say that nothing was written."""
    return Refused(failed(configuration, action, error, policy))


def failed(configuration: Configuration, action: Action, error: ToolError, policy: Policy) -> ToolResult:
    """The result of a failed call."""
    payload = failures.payload_of(error, action.tool, action.name)
    payload = {**safety_frame(configuration, policy), **payload}
    result = results.failure(payload)
    if configuration.softens_errors and payload["error"]["type"] in failures.SOFT_TYPES:
        payload["error"]["softened"] = True
        result = results.failure(payload)
        result.is_error = False
    return result


def safety_frame(configuration: Configuration, policy: Policy) -> dict[str, Any]:
    """What every answer of a writing action says beside its payload, unless that says more (R110, R154, decision 25)."""
    if policy.is_external:
        return {"safety": external_safety(configuration)}
    if not policy.is_mutation:
        return {}
    if not configuration.is_strict:
        return {"safety": dict(failures.LEGACY_SAFETY)}
    return rejected()


def external_safety(configuration: Configuration) -> dict[str, Any]:
    """External effects are out of reach: never guaranteed (R110)."""
    mode = "strict" if configuration.is_strict else "legacy"
    return {"writeSafetyMode": mode, "writeSafetyGuaranteed": False, "reason": "external_uncontrolled"}


def check_preflight(configuration: Configuration, call: Asked) -> None:
    """Whether the call may go on as the preflight, or the real call, that it asks to be.

    Settings may change while a call waits in its lane: a preflight that has become impossible must not turn into a write.

    Raises:
        ToolError: it may not; nothing was executed.
    """
    if call.policy.is_read:
        return
    if not isinstance(call.submitted.get("validateOnly"), bool | None):
        # A client that says "true" or 1 means a preflight: to carry its call out would be the opposite.
        raise failures.invalid(call.action, [Problem("validateOnly", "Must be true or false.")])
    if not call.is_preflight:
        return
    if call.policy.is_external:
        raise ToolError(
            "preflight_unavailable",
            f"{call.action.key} is an external effect: it cannot be checked beforehand, and nothing was executed.",
            outer={**rejected(), "writeSafetyMode": external_safety(configuration)["writeSafetyMode"]},
            hint="Call it without validateOnly once its user has agreed.",
        )
    if not configuration.is_strict:
        raise ToolError(
            "strict_mode_disabled",
            "Strict safe writes are off: there is no preflight, and nothing was executed.",
            outer={**rejected(), "writeSafetyMode": "legacy"},
            hint="Call it without validateOnly.",
        )


def _unknown_action(configuration: Configuration, tool: Tool, name: str) -> ToolError:
    return ToolError(
        "unknown_action",
        f"Tool {tool.name} has no action {name!r}.",
        validActions=[*(action.name for action in offered(configuration, tool)), HELP],
        hint=f'{tool.name}(action="help") explains them.',
    )


def _disabled(action: Action) -> ToolError:
    return ToolError(
        "action_disabled",
        f"{action.key} is switched off.",
        hint="Its owner can switch it on in mcpToolsConfig.",
    )
