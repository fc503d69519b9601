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
from kernel.workspace.files import portable_name

if TYPE_CHECKING:
    from kernel.siyuan.native_mcp.base import Action

SKILLS: Final = "data/storage/ai/skills"
SKILL_FILE: Final = "SKILL.md"
TODOS: Final = "data/storage/ai/todos"
_FRONTEND: Final = "frontend actions are only available in the interactive agent chat (not via direct tool invocation)"
_QUESTION: Final = "question tool: should be intercepted by agent loop"
_PRIVATE: Final = "access to private/internal IP is prohibited"
_OFFLINE: Final = "this kernel sends no requests to the outside"
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
    call.needed("notebook")
    ids = call.arguments.get("ids")
    listed = ids.split(",") if isinstance(ids, str) else ids if isinstance(ids, list) else []
    if not [one for one in listed if isinstance(one, str) and one.strip()]:
        raise ToolFailed("ids is required")
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


# --- skills ----------------------------------------------------------------------------------------------------
def _skill_name(call: ToolCall, argument: str = "name", problem: str = "skill name is required") -> str:
    name = call.needed(argument, problem)
    if "/" in name or "\\" in name or name in (".", "..") or "\0" in name:
        raise ToolFailed(f"invalid skill name: {name}")
    return name


async def skill_load(call: ToolCall) -> str:
    name = _skill_name(call)
    path = f"{SKILLS}/{name}/{SKILL_FILE}"
    files = call.workspace.files
    if not files.exists(path):
        raise ToolFailed(f"skill not found: {name}")
    content = files.read(path).decode("utf-8", "replace")
    return f'<skill_content name="{name}">\n\n{content}\n\n</skill_content>'


async def skill_save(call: ToolCall) -> str:
    name = _skill_name(call)
    content = call.needed("content", "skill content is required").encode("utf-8", "replace")
    await call.run(lambda one: one.kernel.workspace.files.write(f"{SKILLS}/{name}/{SKILL_FILE}", content))
    return f"skill saved: {name}"


async def skill_install(call: ToolCall) -> str:
    call.needed(
        "url",
        "url is required for install (owner/repo shorthand, GitHub URL, raw SKILL.md URL, or release zip URL)",
    )
    raise ToolFailed(f"install failed: {_OFFLINE}")


async def skill_remove(call: ToolCall) -> str:
    name = _skill_name(call)
    await _change_skill(call, name, lambda one: one.kernel.workspace.files.remove(f"{SKILLS}/{name}"))
    return f"skill removed: {name}"


async def skill_rename(call: ToolCall) -> str:
    name = _skill_name(call)
    new = _skill_name(call, "new_name", "new skill name is required")
    await _change_skill(
        call, name, lambda one: one.kernel.workspace.files.rename(f"{SKILLS}/{name}", f"{SKILLS}/{new}")
    )
    return f"skill renamed: {name} -> {new}"


async def _change_skill(call: ToolCall, name: str, change: Any) -> None:
    if not call.workspace.files.exists(f"{SKILLS}/{name}"):
        raise ToolFailed(f"skill not found: {name}")
    await call.kernel.durable.quiesce()
    await call.run(change)


async def skill_list(call: ToolCall) -> str:
    files = call.workspace.files
    names = [one.name for one in files.list(SKILLS) if one.is_dir] if files.is_dir(SKILLS) else []
    rows = [(name, _skill_text(call, name)) for name in names if files.exists(f"{SKILLS}/{name}/{SKILL_FILE}")]
    if not rows:
        return "no skills available"
    return "available skills:\n" + "".join(f"- **{name}**: {text}\n" for name, text in rows)


def _skill_text(call: ToolCall, name: str) -> str:
    """The description in the head of a skill."""
    content = call.workspace.files.read(f"{SKILLS}/{name}/{SKILL_FILE}").decode("utf-8", "replace")
    head = content.split("---")[1] if content.startswith("---") and content.count("---") > 1 else ""
    found = [line.partition(":")[2].strip() for line in head.splitlines() if line.startswith("description:")]
    return found[0] if found else ""


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
    return ToolFailed(f"{tool} error: {_PRIVATE if _is_private(host) else _OFFLINE}")


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
    raise ToolFailed(f"web_search error: {_OFFLINE}")


_SKILL: Final[dict[str, Action]] = {
    "load": skill_load,
    "save": skill_save,
    "install": skill_install,
    "remove": skill_remove,
    "rename": skill_rename,
    "list": skill_list,
}
_skill: Final = by_action(_SKILL)


async def skill(call: ToolCall) -> str:
    """Without an action a skill is loaded."""
    return await (_skill(call) if call.text("action") else skill_load(call))


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
    "skill": skill,
    "http_request": http_request,
    "web_fetch": web_fetch,
    "web_search": web_search,
}
