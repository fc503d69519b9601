"""Tool ``system``: version, time, configuration, notifications, synchronisation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from kernel.tools.context import Arguments, Handling, ToolContext, Written
from kernel.tools.failures import not_found

REDACTED: Final = "[REDACTED]"
CONF_DEPTH_DEFAULT: Final = 2
CONF_ITEMS_DEFAULT: Final = 20
CONF_TEXT_CHARS_MAX: Final = 200
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
    data = await context.call("/api/system/getConf")
    whole = data.get("conf") if isinstance(data, dict) else None
    whole = whole if isinstance(whole, dict) else {}
    if arguments["mode"] == "get" or arguments.get("keyPath"):
        return _conf_value(whole, arguments)
    items_max = arguments.get("maxItems", CONF_ITEMS_DEFAULT)
    names = list(whole)
    return {
        "mode": "summary",
        "totalTopLevelKeys": len(names),
        "topLevelKeys": names[:items_max],
        "truncatedTopLevelKeys": len(names) > items_max,
        "summary": {name: _shape(name, whole[name], 0, items_max) for name in names[:items_max]},
        "hints": ['mode="get" with keyPath="editor.fontSize" reads one value.'],
    }


def _conf_value(whole: Mapping[str, Any], arguments: Arguments) -> dict[str, Any]:
    key_path = str(arguments.get("keyPath") or "")
    depth, items_max = arguments.get("maxDepth", CONF_DEPTH_DEFAULT), arguments.get("maxItems", CONF_ITEMS_DEFAULT)
    value: Any = whole
    name = ""
    for name in filter(None, key_path.split(".")):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise not_found(f"The configuration has no {key_path}.", hint='mode="summary" lists the top-level keys.')
        if _SECRET.search(name):
            value = REDACTED
            break
    return {
        "mode": "get",
        "keyPath": key_path,
        "value": _shape(name, value, depth, items_max),
        "hints": ["Secrets are not shown.", "Raise maxDepth or go deeper with keyPath to see more."],
    }


def _shape(name: str, value: Any, depth: int, items_max: int) -> dict[str, Any]:
    """A value as ``{type, value | length | keys…, truncated}``, no deeper than asked, secrets masked."""
    if _SECRET.search(name):
        return {"type": "string", "value": REDACTED, "truncated": False}
    if isinstance(value, dict):
        shape: dict[str, Any] = {"type": "object", "keys": list(value)[:items_max], "truncated": len(value) > items_max}
        if depth > 0:
            shape["value"] = {key: _shape(key, item, depth - 1, items_max) for key, item in _first(value, items_max)}
        return shape
    if isinstance(value, list):
        shape = {"type": "array", "length": len(value), "truncated": len(value) > items_max}
        if depth > 0:
            shape["value"] = [_shape(name, item, depth - 1, items_max) for item in value[:items_max]]
        return shape
    if isinstance(value, str) and len(value) > CONF_TEXT_CHARS_MAX:
        return {"type": "string", "length": len(value), "value": value[:CONF_TEXT_CHARS_MAX], "truncated": True}
    return {"type": _type_name(value), "value": value, "truncated": False}


def _first(value: Mapping[str, Any], items_max: int) -> list[tuple[str, Any]]:
    return list(value.items())[:items_max]


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "string"


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
