"""The virtual files: /AGENTS.md, the agents' own memory, and /USER_RULES.md, which only the user writes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from kernel.tools.context import Arguments, ToolContext, Written
from kernel.tools.failures import refusal
from kernel.tools.fs_paths import MEMORY_PATH, RULES_PATH, VIRTUAL_PATHS
from kernel.tools.replacing import TextBlock, edits_of, plan
from kernel.tools.windows import headings, window

LISTED: Final = [
    {"name": path.removeprefix("/"), "path": path, "children": 0, "virtual": True} for path in VIRTUAL_PATHS
]


def text_of(context: ToolContext, path: str) -> str:
    """What the file holds in this call's snapshot of the settings."""
    return context.configuration.memory if path == MEMORY_PATH else context.configuration.user_rules


def read(context: ToolContext, path: str, arguments: Arguments) -> dict[str, Any]:
    text = text_of(context, path)
    blocks = [{"id": "", "type": "p", "markdown": text}] if text else []
    page = window(blocks, {**arguments, "includeBlockIds": False}, {"action": "read", "path": path})
    payload = {"path": path, **page, "outline": headings(text), "virtual": True}
    if path == MEMORY_PATH:
        payload["updatedAt"] = context.configuration.memory_updated_at
    return payload


def about(context: ToolContext, path: str) -> dict[str, Any]:
    """The keys that say a result is of a virtual file."""
    keys: dict[str, Any] = {"virtual": True}
    if path == MEMORY_PATH:
        keys["updatedAt"] = context.configuration.memory_updated_at
    return keys


async def write(context: ToolContext, path: str, text: str) -> Written:
    stamp = await _store(context, path, text)
    payload = {"success": True, "path": path, "virtual": True, "overwritten": True, "updatedAt": stamp}
    return Written(payload, changed=text != context.configuration.memory)


async def holds(context: ToolContext, path: str, text: str) -> bool:
    """Whether the file holds exactly this text now; asked of the host, not of the call's snapshot."""
    configuration = await context.files.configuration(context.host)
    return (configuration.memory if path == MEMORY_PATH else configuration.user_rules) == text


async def replace(context: ToolContext, path: str, arguments: Arguments) -> Written:
    writable(path)
    edits = edits_of(arguments)
    before = text_of(context, path)
    changes = plan("fs.replace", [TextBlock("", before)], edits)
    after = changes.changed[0].markdown if changes.changed else before
    stamp = await _store(context, path, after)
    payload = {
        "success": True,
        "path": path,
        "virtual": True,
        "changed": after != before,
        "editsApplied": len(edits),
        "replacements": changes.replacements,
        "updatedAt": stamp,
    }
    return Written(payload, changed=after != before, expectation=lambda seen: seen.state["text"] == after)


async def clear(context: ToolContext, path: str) -> Written:
    await _store(context, path, "")
    payload = {"success": True, "path": path, "virtual": True, "cleared": True, "updatedAt": None}
    return Written(payload, changed=bool(context.configuration.memory))


def writable(path: str) -> None:
    """Raises ToolError for the user's rules: they are not an agent's to change."""
    if path == RULES_PATH:
        raise refusal(f"{path} is a read-only virtual file.", "conflict", hint="Its user edits it in the settings.")


async def _store(context: ToolContext, path: str, text: str) -> str:
    writable(path)
    moment = datetime.fromtimestamp(context.clock.wall_ms() / 1000, tz=UTC)
    stamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def change(settings: dict[str, Any]) -> None:
        settings["agentSiyuanMemoryText"] = text
        settings["agentSiyuanMemoryUpdatedAt"] = stamp if text else None

    await context.files.change_settings(context.host, change)
    return stamp
