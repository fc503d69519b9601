"""[core] JSON Schemas and declarations derived from the table: per action, and merged per tool as tools/list has them.

A tool's merged schema names every argument once and requires none: an action's own schema is given by its help.
No ``$ref`` anywhere. Does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kernel.safety.intent import Precondition
from kernel.tools.registry.model import Action, Tool
from kernel.tools.registry.signature import Argument, Schema

REQUEST_ID_PATTERN: Final = "^[a-f0-9]{4,64}$"
CREDENTIAL_PATTERN: Final = "^(?:sha256:v1:)?[a-fA-F0-9]{4,64}$"
OUTPUT_SCHEMA: Final[Schema] = {"type": "object", "additionalProperties": True}


def action_schema(action: Action) -> Schema:
    """The strict schema of one action."""
    properties: dict[str, Schema] = {"action": {"type": "string", "const": action.name}}
    properties.update({argument.name: argument.schema for argument in action.arguments})
    required = ["action", *(argument.name for argument in action.arguments if argument.is_required)]
    schema: Schema = {"type": "object", "properties": properties, "required": required}
    schema["additionalProperties"] = {} if action.keeps_unknown else False
    return schema


def input_schema(
    tool: Tool, actions: Iterable[Action], *, is_strict: bool, more_actions: tuple[str, ...] = ()
) -> Schema:
    """The merged schema of a tool's enabled actions. ``more_actions``: dynamic ones of ``extension``."""
    enabled = tuple(actions)
    names = [action.name for action in enabled]
    properties: dict[str, Schema] = {
        "action": {
            "type": "string",
            "enum": [*names, *more_actions, "help"],
            "description": "What to do; help explains all actions, or the one named by topic.",
        }
    }
    for argument in _merged(enabled):
        properties[argument.name] = {**_flattened(argument.schema), "description": _usage(argument.name, enabled)}
    if more_actions:
        properties["arguments"] = {"type": "object", "description": "The foreign tool's own arguments."}
    properties["topic"] = {"type": "string", "description": "The action that help shall explain."}
    if any(action.is_dangerous for action in enabled) or more_actions:
        properties["confirm"] = {
            "type": "boolean",
            "description": "true once the user has agreed to a dangerous action (clients without a form).",
        }
    if is_strict:
        properties.update(safety_properties(enabled))
    return {"type": "object", "properties": properties, "additionalProperties": True}


def safety_properties(actions: Iterable[Action]) -> dict[str, Schema]:
    """The fields of strict safe writes, as far as an action can need them (R105); empty for tools that only read."""
    mutating = [action for action in actions if action.policy.can_mutate]
    if not mutating:
        return {}
    properties: dict[str, Schema] = {
        "requestId": {
            "type": "string",
            "pattern": REQUEST_ID_PATTERN,
            "description": "The id that the preflight issued; copy it exactly.",
        },
        "validateOnly": {
            "type": "boolean",
            "description": "true: only check, and issue requestId and the credential for the real call.",
        },
    }
    needed = {field for action in mutating for field in action.policy.preconditions}
    for field in Precondition:
        if field in needed:
            properties[field.value] = {
                "type": "string",
                "pattern": CREDENTIAL_PATTERN,
                "description": "The credential that the preflight returned under this name.",
            }
    return properties


def tool_annotations(tool: Tool, actions: Iterable[Action]) -> dict[str, Any]:
    """Hints for clients. A tool mixes reading and writing, so only ``destructiveHint`` says anything."""
    return {
        "title": tool.title,
        "readOnlyHint": False,
        "destructiveHint": any(action.is_dangerous for action in actions),
        "idempotentHint": False,
        "openWorldHint": True,
    }


def description(tool: Tool, actions: Iterable[Action], *, is_strict: bool) -> str:
    """What a tool does, its actions with their required arguments, and what to mind."""
    enabled = tuple(actions)
    lines = [tool.summary, " · ".join(_call_form(action) for action in enabled)]
    if any(action.is_dangerous for action in enabled):
        lines.append("* is dangerous: ask the user first.")
    lines.append('action="help" lists the actions; with topic=<action> it explains one.')
    lines.extend(tool.guidance)
    preflighted = [action.name for action in enabled if action.policy.can_mutate]
    if is_strict and preflighted:
        lines.append(
            "Strict safe writes: call these first with validateOnly:true, then again with the requestId and the "
            "credential returned: " + ", ".join(preflighted) + "."
        )
    return "\n".join(lines)


def _call_form(action: Action) -> str:
    required = action.call_form or ", ".join(a.name for a in action.arguments if a.is_required)
    return f"{action.name}{'*' if action.is_dangerous else ''}({required})"


def _merged(actions: tuple[Action, ...]) -> list[Argument]:
    """Every shown argument once; the first action that has it decides its type, widened where others differ."""
    found: dict[str, Argument] = {}
    for action in actions:
        for argument in action.arguments:
            if argument.is_hidden:
                continue
            first = found.setdefault(argument.name, argument)
            if first.schema.get("type") != argument.schema.get("type"):
                found[argument.name] = Argument(argument.name, {})
            elif "enum" in first.schema and first.schema != argument.schema:
                options = [*first.schema["enum"], *argument.schema.get("enum", ())]
                found[argument.name] = Argument(argument.name, {"type": "string", "enum": list(dict.fromkeys(options))})
    return list(found.values())


def _flattened(schema: Schema) -> Schema:
    """Nested values are only named here; their shape is in the action's own schema."""
    kind = schema.get("type")
    if kind == "object":
        return {"type": "object"}
    if kind == "array":
        item = schema.get("items", {}).get("type")
        return {"type": "array", "items": {"type": item} if item else {}}
    if kind in ("integer", "number", "boolean", "string"):
        # Bounds differ between actions: only the choice of words is the same for all that share it.
        return {"type": kind, **({"enum": schema["enum"]} if "enum" in schema else {})}
    return {}


def _usage(name: str, actions: tuple[Action, ...]) -> str:
    required: list[str] = []
    optional: list[str] = []
    for action in actions:
        argument = action.argument(name)
        if argument is not None and not argument.is_hidden:
            (required if argument.is_required else optional).append(action.name)
    parts = []
    if required:
        parts.append("Required by: " + ", ".join(required))
    if optional:
        parts.append("Optional in: " + ", ".join(optional))
    return "[" + "; ".join(parts) + "]"


def declaration(
    tool: Tool, actions: tuple[Action, ...], foreign: tuple[Action, ...] = (), *, is_strict: bool
) -> dict[str, Any]:
    """A tool as ``tools/list`` shows it. ``foreign``: actions that others bring, which have no fields of ours."""
    shown = (*actions, *foreign)
    names = tuple(one.name for one in foreign)
    return {
        "name": tool.name,
        "title": tool.title,
        "description": description(tool, shown, is_strict=is_strict),
        "inputSchema": input_schema(tool, actions, is_strict=is_strict, more_actions=names),
        "outputSchema": OUTPUT_SCHEMA,
        "annotations": tool_annotations(tool, shown),
    }
