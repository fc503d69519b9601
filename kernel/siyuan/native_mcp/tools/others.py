"""The remaining tools: what the kernel says of itself, its agent's tools, the cloud, and requests to the outside.

Nothing is sent out: requests to public addresses are refused after the checks that the kernel makes (decision 55).
"""

from __future__ import annotations

import ipaddress
import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from kernel.siyuan.arguments import EmptyAnswer
from kernel.siyuan.machine import CONTAINER, KERNEL_VERSION
from kernel.siyuan.native_mcp.base import ToolCall, ToolFailed, by_action
from kernel.siyuan.native_mcp.tools.documents import parent_of, path_at
from kernel.workspace.files import portable_name

if TYPE_CHECKING:
    from kernel.siyuan.native_mcp.base import Action

TODOS: Final = "data/storage/ai/todos"
_FRONTEND: Final = "frontend actions are only available in the interactive agent chat (not via direct tool invocation)"
_QUESTION: Final = "question tool: should be intercepted by agent loop"
_PRIVATE: Final = "access to private/internal IP is prohibited"
OFFLINE: Final = "this kernel sends no requests to the outside"
_MARKS: Final = {"completed": "[x]", "in_progress": "[/]", "cancelled": "[-]", "pending": "[ ]"}


# --- the kernel itself -----------------------------------------------------------------------------------------
async def version(call: ToolCall) -> str:
    return KERNEL_VERSION


async def current_time(call: ToolCall) -> str:
    return call.kernel.clock.local().isoformat(timespec="seconds").replace("+00:00", "Z")


def _folder(call: ToolCall) -> str:
    return call.workspace.files.absolute("").rstrip("/")


async def system_workspace(call: ToolCall) -> str:
    return f"Workspace: {_folder(call)}\nVersion: {KERNEL_VERSION}\nContainer: {CONTAINER}"


async def workspace_info(call: ToolCall) -> str:
    return f"Path:    {_folder(call)}\nVersion: {KERNEL_VERSION}\nValid:   true\n"


async def workspace_list(call: ToolCall) -> str:
    found = await call.data("/api/system/getWorkspaces")
    paths = list(dict.fromkeys(one["path"] for one in found or []))
    lines = "".join(f"- {path}\n" for path in paths)
    return f"Registered workspaces ({len(paths)}):\n\n{lines}"


# --- synchronisation and the inbox -----------------------------------------------------------------------------
async def sync_status(call: ToolCall) -> str:
    sync = call.workspace.conf.section("sync")
    rows = {
        "Enabled": "true" if sync["enabled"] else "false",
        "Mode": f"{sync['mode']} (0/1=auto, 2=manual, 3=full-manual)",
        "Provider": sync["provider"],
        "Cloud": sync["cloudName"],
        "Perception": "true" if sync["perception"] else "false",
        "Interval": f"{sync['interval']}s",
        "Synced": sync["synced"],
        "Stat": sync["stat"],
    }
    lines = "".join(f"\n  {name}: {value}" for name, value in rows.items())
    return f"Sync Status:{lines}"


def _sync(done: str, **arguments: Any) -> Action:
    async def handle(call: ToolCall) -> str:
        await call.api("/api/sync/performSync", **arguments)
        return f"{done}: {call.workspace.conf.section('sync')['stat']}"

    return handle


async def inbox_list(call: ToolCall) -> str:
    """Without an account the kernel's tool breaks down."""
    raise EmptyAnswer


async def inbox_get(call: ToolCall) -> str:
    call.needed("id")
    raise EmptyAnswer


async def inbox_convert(call: ToolCall) -> str:
    box = call.needed("notebook")
    ids = call.arguments.get("ids")
    listed = ids.split(",") if isinstance(ids, str) else ids if isinstance(ids, list) else []
    if not [one for one in listed if isinstance(one, str) and one.strip()]:
        raise ToolFailed("ids is required")
    above = parent_of(call.text("path") or "/")
    if above != "/":
        path_at(call, box, above, "parent path not found")
    raise EmptyAnswer


# --- the agent's own -------------------------------------------------------------------------------------------
async def frontend(call: ToolCall) -> str:
    raise ToolFailed(_FRONTEND)


async def question(call: ToolCall) -> str:
    return _QUESTION


async def image(call: ToolCall) -> str:
    """The kernel's tool has no handler for direct calls: it breaks down whatever it is asked."""
    raise EmptyAnswer


async def todo_write(call: ToolCall) -> str:
    if "todos" not in call.arguments:
        raise ToolFailed("todo_write error: missing 'todos' parameter")
    given = call.arguments["todos"]
    if not isinstance(given, list):
        raise ToolFailed("todo_write error: 'todos' must be an array")
    rows = [row for one in given if isinstance(one, dict) and (row := _todo(one)) is not None]
    session = call.arguments.get("_sessionID")
    if not isinstance(session, str):
        raise EmptyAnswer
    path = f"{TODOS}/{portable_name(session)}.json"
    content = json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace")
    await call.run(lambda one: one.kernel.workspace.files.write(path, content))
    if not rows:
        return "Todo list is empty."
    return "Todo List\n\n" + "".join(f"- {_MARKS[row['status']]} {row['content']}\n" for row in rows)


def _todo(one: dict[str, Any]) -> dict[str, str] | None:
    content, status = one.get("content"), one.get("status")
    if not isinstance(content, str) or not content:
        return None
    return {"content": content, "status": status if isinstance(status, str) and status in _MARKS else "pending"}


# --- the outside -----------------------------------------------------------------------------------------------
def _refuse_address(call: ToolCall, tool: str) -> ToolFailed:
    """Why this address is not asked, in the kernel's order."""
    address = call.text("url")
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return ToolFailed(f"{tool} error: URL must start with http:// or https://")
    if parts.scheme not in ("http", "https"):
        return ToolFailed(f"{tool} error: URL must start with http:// or https://")
    if not host:
        return ToolFailed(f"{tool} error: URL has no host")
    return ToolFailed(f"{tool} error: {_PRIVATE if _is_private(host) else OFFLINE}")


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


async def http_request(call: ToolCall) -> str:
    raise _refuse_address(call, "http_request")


async def web_fetch(call: ToolCall) -> str:
    raise _refuse_address(call, "web_fetch")


async def web_search(call: ToolCall) -> str:
    raise ToolFailed(f"web_search error: {OFFLINE}")


TOOLS: Final[dict[str, Action]] = {
    "system": by_action({"version": version, "current_time": current_time, "workspace": system_workspace}),
    "workspace": by_action({"list": workspace_list, "info": workspace_info}),
    "sync": by_action(
        {
            "perform": _sync("sync done"),
            "upload": _sync("sync upload done", upload=True),
            "download": _sync("sync download done", upload=False),
            "status": sync_status,
        }
    ),
    "inbox": by_action({"list": inbox_list, "get": inbox_get, "convert": inbox_convert}),
    "frontend": frontend,
    "question": question,
    "image": image,
    "todo_write": todo_write,
    "http_request": http_request,
    "web_fetch": web_fetch,
    "web_search": web_search,
}
