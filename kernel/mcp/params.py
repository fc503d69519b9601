"""The parameters of the methods both eras share, as typed operations. Pure; unknown members are tolerated.

What is wrong here is structure (-32602); bad argument *values* of a tool are the tool's business (a result).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from kernel.mcp.jsonrpc import INVALID_PARAMS, ProtocolError

Params = dict[str, Any]


class ListTools(msgspec.Struct, frozen=True):
    """``tools/list``; no list here has a second page."""


class ListResources(msgspec.Struct, frozen=True):
    """``resources/list``."""


class ListTemplates(msgspec.Struct, frozen=True):
    """``resources/templates/list``."""


class ListSkills(msgspec.Struct, frozen=True):
    """``skills/list``."""


class GetSkill(msgspec.Struct, frozen=True):
    """``skills/get``."""

    uri: str


class ListPrompts(msgspec.Struct, frozen=True):
    """``prompts/list``."""


class CallTool(msgspec.Struct, frozen=True):
    """``tools/call``. ``input_responses``: UNSET when absent; ``request_state``: None when absent or null."""

    name: str
    arguments: Params
    input_responses: Any = UNSET
    request_state: Any = None


class ReadResource(msgspec.Struct, frozen=True):
    """``resources/read``."""

    uri: str
    input_responses: Any = UNSET
    request_state: Any = None


class GetPrompt(msgspec.Struct, frozen=True):
    """``prompts/get``."""

    name: str
    arguments: Params
    input_responses: Any = UNSET
    request_state: Any = None


class Complete(msgspec.Struct, frozen=True):
    """``completion/complete``."""

    reference: Params
    argument: Params


Operation = (
    ListTools
    | ListResources
    | ListTemplates
    | ListSkills
    | GetSkill
    | ListPrompts
    | CallTool
    | ReadResource
    | GetPrompt
    | Complete
)


def invalid(message: str, **data: Any) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, f"Invalid params: {message}", data=data or None)


def text(params: Params, key: str) -> str:
    """A required string member."""
    value = params.get(key)
    if not isinstance(value, str):
        raise invalid(f"{key} must be a string")
    return value


def mapping(params: Params, key: str) -> Params:
    """A member that is an object; absent and null count as an empty one."""
    value = params.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise invalid(f"{key} must be an object")
    return value


def _no_cursor(params: Params) -> None:
    # Every list is one page, so a cursor can only be somebody else's.
    if params.get("cursor") is not None:
        raise invalid("unknown cursor")


def _list_tools(params: Params) -> ListTools:
    _no_cursor(params)
    return ListTools()


def _list_resources(params: Params) -> ListResources:
    _no_cursor(params)
    return ListResources()


def _list_templates(params: Params) -> ListTemplates:
    _no_cursor(params)
    return ListTemplates()


def _list_skills(params: Params) -> ListSkills:
    _no_cursor(params)
    return ListSkills()


def _get_skill(params: Params) -> GetSkill:
    return GetSkill(text(params, "uri"))


def _list_prompts(params: Params) -> ListPrompts:
    _no_cursor(params)
    return ListPrompts()


def _call_tool(params: Params) -> CallTool:
    return CallTool(
        text(params, "name"),
        mapping(params, "arguments"),
        params.get("inputResponses", UNSET),
        params.get("requestState"),
    )


def _read_resource(params: Params) -> ReadResource:
    return ReadResource(text(params, "uri"), params.get("inputResponses", UNSET), params.get("requestState"))


def _get_prompt(params: Params) -> GetPrompt:
    return GetPrompt(
        text(params, "name"),
        mapping(params, "arguments"),
        params.get("inputResponses", UNSET),
        params.get("requestState"),
    )


def _complete(params: Params) -> Complete:
    reference, argument = params.get("ref"), params.get("argument")
    if not isinstance(reference, dict) or not isinstance(argument, dict):
        raise invalid("ref and argument must be objects")
    kind = reference.get("type")
    if kind == "ref/prompt":
        text(reference, "name")
    elif kind == "ref/resource":
        text(reference, "uri")
    else:
        raise invalid("ref.type must be ref/prompt or ref/resource")
    text(argument, "name")
    text(argument, "value")
    return Complete(reference, argument)


SHARED_METHODS: Final[dict[str, Callable[[Params], Operation]]] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
    "skills/list": _list_skills,
    "skills/get": _get_skill,
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
    "completion/complete": _complete,
}
