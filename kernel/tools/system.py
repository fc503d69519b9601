"""Tool ``system``: version, time, configuration, notifications, synchronisation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from kernel.tools.context import Arguments, Handling, ToolContext, Written
from kernel.tools.failures import refusal

REDACTED: Final = "[REDACTED]"
CONF_DEPTH_DEFAULT: Final = 1
CONF_ITEMS_DEFAULT: Final = 12
_KEY_PATH_HINT: Final = 'mode="get" with keyPath="conf.editor.fontSize" or "conf.langs[0]" reads one part.'
_SECRET: Final = re.compile(
    r"token|password|passwd|secret|api_?key|accessauthcode|cookiekey|credential|userdata", re.IGNORECASE
)


async def workspace_info(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call("/api/system/getWorkspaceInfo")


async def network(context: ToolContext, arguments: Arguments) -> Any:
    return await context.call("/api/system/getNetwork")


async def get_version(context: ToolContext, arguments: Arguments) -> Any:
    return {"version": await context.call("/api/system/version")}


async def get_current_time(context: ToolContext, arguments: Arguments) -> Any:
    milliseconds = int(await context.call("/api/system/currentTime"))
    moment = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    return {"currentTime": milliseconds, "iso": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


async def conf(context: ToolContext, arguments: Arguments) -> Any:
    """What the host says of its settings, as shapes with few items; secrets are masked."""
    whole = await context.call("/api/system/getConf")
    # The host's answer is a map, which it sends sorted.
    whole = dict(sorted(whole.items())) if isinstance(whole, dict) else {}
    depth, items_max = arguments.get("maxDepth", CONF_DEPTH_DEFAULT), arguments.get("maxItems", CONF_ITEMS_DEFAULT)
    if arguments["mode"] == "get":
        key_path = str(arguments.get("keyPath") or "")
        if not key_path:
            raise refusal('keyPath is required when mode="get".', "invalid_arguments", hint=_KEY_PATH_HINT)
        name, value = _at(whole, key_path)
        return {
            "mode": "get",
            "keyPath": key_path,
            "value": _shape(name, value, depth, items_max),
            "hints": ["Secrets are not shown.", "Raise maxDepth or maxItems, or go deeper with keyPath, to see more."],
        }
    return {
        "mode": "summary",
        "totalTopLevelKeys": len(whole),
        "topLevelKeys": list(whole)[:items_max],
        "truncatedTopLevelKeys": max(0, len(whole) - items_max),
        "summary": _shape("", whole, depth, items_max),
        "hints": [_KEY_PATH_HINT],
    }


def _at(whole: Mapping[str, Any], key_path: str) -> tuple[str, Any]:
    """The value at a path like ``conf.langs[0].name``, and the last name of the path.

    Raises:
        ToolError: there is nothing.
    """
    value: Any = whole
    name = ""
    for name in filter(None, re.split(r"[.\[\]]", key_path)):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise refusal(f"The configuration has no {key_path}.", "not_found", hint=_KEY_PATH_HINT)
        if _SECRET.search(name):
            break
    return name, value


def _shape(name: str, value: Any, depth: int, items_max: int) -> dict[str, Any]:
    """A value as ``{type, value | length, items | keyCount, entries, …}``, no deeper than asked, secrets masked."""
    if _SECRET.search(name):
        return {"type": "primitive", "value": REDACTED, "truncated": False}
    if isinstance(value, dict):
        omitted = {"omittedKeys": max(0, len(value) - items_max)}
        head: dict[str, Any] = {"type": "object", "keyCount": len(value)}
        if depth <= 0:
            return {**head, "keysPreview": list(value)[:items_max], "truncated": bool(value), **omitted}
        shown = {key: _shape(key, item, depth - 1, items_max) for key, item in list(value.items())[:items_max]}
        return {**head, "entries": shown, "truncated": len(value) > items_max, **omitted}
    if isinstance(value, list):
        omitted = {"omittedItems": max(0, len(value) - items_max)}
        head = {"type": "array", "length": len(value)}
        if depth <= 0:
            kinds = [_json_type(item) for item in value[:items_max]]
            return {**head, "sampleTypes": kinds, "truncated": bool(value), **omitted}
        items = [_shape("", item, depth - 1, items_max) for item in value[:items_max]]
        return {**head, "items": items, "truncated": len(value) > items_max, **omitted}
    return {"type": "null" if value is None else "primitive", "value": value, "truncated": False}


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


async def notify(context: ToolContext, arguments: Arguments) -> Written:
    level = arguments["level"]
    path = "/api/notification/pushErrMsg" if level == "error" else "/api/notification/pushMsg"
    data = await context.call(path, msg=arguments["msg"], timeout=arguments.get("timeout"))
    return Written({"level": level, "id": (data or {}).get("id")})


async def perform_sync(context: ToolContext, arguments: Arguments) -> Written:
    result = await context.call("/api/sync/performSync")
    return Written({"ok": True, "result": result})


HANDLERS: Final[dict[str, Handling]] = {
    "system.workspace_info": Handling(workspace_info, is_immediate=True),
    "system.network": Handling(network, is_immediate=True),
    "system.conf": Handling(conf),
    "system.get_version": Handling(get_version, is_immediate=True),
    "system.get_current_time": Handling(get_current_time, is_immediate=True),
    "system.notify": Handling(notify),
    "system.perform_sync": Handling(perform_sync),
}
