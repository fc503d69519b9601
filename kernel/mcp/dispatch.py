"""The methods both eras share, but for tools/call: one service call each, never in a lane (decision 9)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from kernel.mcp.calls import Call
from kernel.mcp.channel import InputRequired
from kernel.mcp.jsonrpc import METHOD_NOT_FOUND, ProtocolError
from kernel.mcp.limits import COMPLETION_VALUES_MAX, SKILLS_TTL_MS
from kernel.mcp.params import (
    Complete,
    GetPrompt,
    GetSkill,
    ListPrompts,
    ListResources,
    ListSkills,
    ListTemplates,
    ListTools,
    ReadResource,
    invalid,
)
from kernel.tools.service import ToolService

# Skills are ours and the same for everybody: the extension says so in its own result, whatever the era.
SKILLS_CACHE: Final = {"ttlMs": SKILLS_TTL_MS, "cacheScope": "public"}
Handler = Callable[[Any, Call], Awaitable[dict[str, Any]]]


class Dispatch:
    """Runs one operation and finishes its call."""

    def __init__(self, service: ToolService) -> None:
        self._service = service
        self._handlers: dict[type, Handler] = {
            ListTools: self._list_tools,
            ListResources: self._list_resources,
            ListTemplates: self._list_templates,
            ListSkills: self._list_skills,
            GetSkill: self._get_skill,
            ListPrompts: self._list_prompts,
            ReadResource: self._read_resource,
            GetPrompt: self._get_prompt,
            Complete: self._complete,
        }

    async def run(self, call: Call, operation: object) -> None:
        """Answer the call; errors are answers too."""
        await run_handler(call, self._handlers[type(operation)], operation)

    async def _list_tools(self, _operation: ListTools, call: Call) -> dict[str, Any]:
        return {"tools": await self._service.list_tools(call.caller)}

    async def _list_resources(self, _operation: ListResources, call: Call) -> dict[str, Any]:
        return {"resources": await self._service.list_resources(call.caller)}

    async def _list_templates(self, _operation: ListTemplates, call: Call) -> dict[str, Any]:
        return {"resourceTemplates": await self._service.list_resource_templates(call.caller)}

    async def _list_skills(self, _operation: ListSkills, call: Call) -> dict[str, Any]:
        return {"skills": await self._skills("skills/list", call), **SKILLS_CACHE}

    async def _get_skill(self, operation: GetSkill, call: Call) -> dict[str, Any]:
        rows = await self._skills("skills/get", call)
        found = next((row for row in rows if row["uri"] == operation.uri), None)
        if found is None:
            raise invalid(f"unknown skill {operation.uri}")
        return {"skill": found}

    async def _skills(self, method: str, call: Call) -> list[dict[str, Any]]:
        rows = await self._service.list_skills(call.caller)
        if rows is None:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")
        return rows

    async def _list_prompts(self, _operation: ListPrompts, call: Call) -> dict[str, Any]:
        return {"prompts": await self._service.list_prompts(call.caller)}

    async def _read_resource(self, operation: ReadResource, call: Call) -> dict[str, Any]:
        contents = await self._service.read_resource(operation.uri, call.caller)
        if contents is None:
            raise call.dress.resource_not_found(operation.uri)
        return {"contents": contents}

    async def _get_prompt(self, operation: GetPrompt, call: Call) -> dict[str, Any]:
        prompt = await self._service.get_prompt(operation.name, operation.arguments, call.caller)
        if prompt is None:
            raise invalid(f"unknown prompt {operation.name}")
        return prompt

    async def _complete(self, operation: Complete, call: Call) -> dict[str, Any]:
        values = await self._service.complete(operation.reference, operation.argument, call.caller)
        shown = values[:COMPLETION_VALUES_MAX]
        return {"completion": {"values": shown, "total": len(values), "hasMore": len(values) > len(shown)}}


async def run_handler(call: Call, handler: Handler, operation: object) -> None:
    """Run ``handler`` and finish the call with what it came to."""
    try:
        result = await handler(operation, call)
    except InputRequired as question:
        call.ask(question.result())
    except ProtocolError as error:
        call.fail(error)
    except Exception as error:
        call.crash(error)
    else:
        call.complete(result)
