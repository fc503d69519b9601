"""TASKS: calls that carry a task id, and control requests about them."""

from __future__ import annotations

import uuid
from typing import Any

import httpx

from tests.support.client import modern_message
from tests.support.notes import Notes

TASK = "io.siyuan.sisyphus/taskId"


def fresh() -> str:
    """A new task id."""
    return str(uuid.uuid4())


async def call_task(
    notes: Notes,
    task_id: Any,
    tool: str,
    action: str,
    *,
    identifier: Any = 1,
    http: httpx.AsyncClient | None = None,
    capabilities: dict[str, Any] | None = None,
    more: dict[str, Any] | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """One modern tools/call under a task id: the whole JSON-RPC answer."""
    params = {"name": tool, "arguments": {"action": action, **arguments}, **(more or {})}
    headers, body = modern_message(identifier, "tools/call", params, capabilities=capabilities, **{TASK: task_id})
    answer = await (http or notes.http).post(notes.kernel.mcp, headers=headers, json=body)
    return {"http": answer.status_code, **answer.json()}


async def control(notes: Notes, task_id: Any, operation: Any, **options: Any) -> dict[str, Any]:
    """One control request that is well formed."""
    answer = await notes.http.post(tasks_url(notes), json={"taskId": task_id, "operation": operation}, **options)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def tasks_url(notes: Notes) -> str:
    return notes.kernel.mcp.removesuffix("/mcp") + "/tasks"
