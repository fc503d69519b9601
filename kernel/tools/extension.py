"""Tool ``extension``: foreign tools by their official names, and two diagnoses that call none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from kernel.errors import ToolError
from kernel.extension.bridge import Bridge
from kernel.extension.catalog import OWN_PREFIX, VERSION_MIN, Discovery, ForeignTool, registered_name, schema_bytes
from kernel.extension.package_check import validate_package as check_package
from kernel.safety.policy import EXTERNAL
from kernel.tools.configuration import Configuration
from kernel.tools.context import Arguments, Handling, ToolContext, Written
from kernel.tools.failures import not_found, refusal
from kernel.tools.registry.model import Action
from kernel.tools.registry.signature import Argument
from kernel.tools.results import FOREIGN_KEY

_HINT: Final = "A foreign tool is called with its name as action and its own arguments under arguments."
_UNCONTROLLED: Final = (
    "A foreign tool is an external effect: it is sent once, outside notebook permissions, preflight and read-back."
)
# What help repeats of a list answer.
_HELP_FIELDS: Final = (
    "connected",
    "supported",
    "discoveredCount",
    "discoveredBySource",
    "nativeToolsEnabled",
    "exposedCount",
    "schemaBytes",
    "detailsIncluded",
    "error",
    "tools",
)
_NO_BRIDGE: Final = "This process has no way to the official endpoint."
_LIFECYCLE: Final = {
    "supports": "Registered (or not) in this observation; a registered tool lets one infer a running kernel plugin.",
    "doesNotSupport": "Loaded user interface, usable tools, a reload, a disable or an uninstall that took effect.",
}


async def list_tools(context: ToolContext, arguments: Arguments) -> Any:
    bridge = bridge_of(context.parts)
    if bridge is None:
        return _summary(context.configuration, Discovery(is_supported=False, error=_NO_BRIDGE))
    refresh = arguments.get("refresh") is True
    found = await (bridge.refresh(context.host) if refresh else bridge.ensure(context.host))
    return _summary(context.configuration, found)


def want_discovery(configuration: Configuration, parts: Mapping[str, Any]) -> None:
    """Somebody lists the tools, and this one is switched on: look for foreign ones in the background, once (S3)."""
    bridge = bridge_of(parts)
    if bridge is not None and any(tool.name == "extension" for tool in configuration.enabled_tools()):
        bridge.want()


def bridge_of(parts: Mapping[str, Any]) -> Bridge | None:
    bridge: Bridge | None = parts.get("extension")
    return bridge


def _summary(configuration: Configuration, found: Discovery) -> dict[str, Any]:
    """Compact while native tools are off: what cannot be called shall not fill a context (S3)."""
    natives, blocked = configuration.includes_native_tools, configuration.blocked_tools
    exposed = found.catalog.exposed(natives=natives, blocked=blocked)
    payload: dict[str, Any] = {
        "connected": found.is_connected,
        "supported": found.is_supported,
        "siyuanVersion": found.version,
        "minSupportedVersion": ".".join(str(number) for number in VERSION_MIN),
        "lastSuccessfulRefreshAt": _stamp(found.succeeded_ms),
        "lastAttemptAt": _stamp(found.attempted_ms),
        "changed": found.has_changed,
        "discoveredCount": len(found.catalog.tools),
        "discoveredBySource": found.catalog.counts(),
        "nativeToolsEnabled": natives,
        "exposedCount": len(exposed),
        "schemaBytes": schema_bytes(exposed),
        "detailsIncluded": natives,
    }
    if found.error:
        payload["error"] = found.error
    if found.catalog.unusable:
        payload["unusable"] = [{"name": name, "reason": reason} for name, reason in found.catalog.unusable]
    if natives:
        payload["tools"] = [tool.as_json(blocked) for tool in found.catalog.tools]
    return {**payload, "hint": _HINT}


def _stamp(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    moment = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# --- dynamic actions ---


def exposed_tools(configuration: Configuration, parts: Mapping[str, Any]) -> Sequence[ForeignTool]:
    """The foreign tools of the last discovery that may be called now; no I/O."""
    bridge = bridge_of(parts)
    if bridge is None:
        return ()
    return bridge.discovery.catalog.exposed(
        natives=configuration.includes_native_tools, blocked=configuration.blocked_tools
    )


def dynamic_action(tool: ForeignTool) -> Action:
    """A foreign tool as a row: external, and confirmed unless it declares that it only reads."""
    arguments = (Argument("arguments", dict(tool.schema) | {"additionalProperties": True}),)
    return Action("extension", tool.name, tool.description, EXTERNAL, arguments, is_dangerous=not tool.is_read_only)


def why_not(configuration: Configuration, parts: Mapping[str, Any], name: str) -> ToolError | None:
    """Why a discovered tool may not be called; None for a name that was never discovered."""
    bridge = bridge_of(parts)
    tool = bridge.discovery.catalog.find(name) if bridge is not None else None
    if tool is None:
        return None
    if tool.conflicts:
        return ToolError("action_disabled", f"The foreign tool {name} bears the name of an action of ours.")
    if tool.source == "native" and not configuration.includes_native_tools:
        words = f'Native SiYuan MCP tool "{name}" is disabled. Enable extension.includeNativeTools in Sisyphus settings first.'
        return ToolError("action_disabled", words)
    return ToolError("action_disabled", f"The foreign tool {name} is blocked in the settings.")


async def forward(context: ToolContext, name: str, arguments: Arguments) -> Written:
    """One call of one foreign tool, sent once; its own answer comes back whole."""
    bridge = bridge_of(context.parts)
    if bridge is None:
        raise ToolError("unsupported", _NO_BRIDGE)
    result = await bridge.call(name, arguments.get("arguments") or {})
    return Written({FOREIGN_KEY: result})


# --- help ---


def help_summary(configuration: Configuration, parts: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool's help says of foreign tools: as much, or as little, as ``list`` does (S3). Looks nowhere."""
    bridge = bridge_of(parts)
    found = bridge.discovery if bridge is not None else Discovery(is_supported=False, error=_NO_BRIDGE)
    told = _summary(configuration, found)
    return {"foreignTools": {name: told[name] for name in _HELP_FIELDS if name in told}}


def help_topic(configuration: Configuration, parts: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """One foreign tool in full, whether it may be called now or not; None for a name that was never discovered."""
    bridge = bridge_of(parts)
    tool = bridge.discovery.catalog.find(name) if bridge is not None else None
    if tool is None:
        return None
    exposed = any(one.name == name for one in exposed_tools(configuration, parts))
    payload: dict[str, Any] = {
        "tool": "extension",
        "action": name,
        "hint": tool.description,
        **tool.as_json(configuration.blocked_tools),
        "exposed": exposed,
        "requiresConfirmation": not tool.is_read_only,
        "example": {"action": name, "arguments": {}},
        "guidance": [_HINT, _UNCONTROLLED],
        "writeSafetyGuaranteed": False,
    }
    reason = why_not(configuration, parts, name)
    return payload if exposed or reason is None else {**payload, "whyNotExposed": reason.message}


# --- diagnoses ---


async def validate_package(context: ToolContext, arguments: Arguments) -> Any:
    return check_package(arguments["package"], arguments.get("runtime") or {})


async def diagnose_plugin_mcp(context: ToolContext, arguments: Arguments) -> Any:
    """One fresh look at the registry. No tool is called."""
    bridge = bridge_of(context.parts)
    if bridge is None:
        raise refusal(_NO_BRIDGE, "unsupported")
    plugin = arguments["pluginName"]
    prefix = registered_name(plugin, "")
    if prefix == OWN_PREFIX:
        raise refusal("This plugin's own tools are left out of every look at the registry.", "unsupported")
    found = await bridge.refresh(context.host)
    if not found.is_connected:
        raise not_found(f"The registry could not be read: {found.error}", "host_unavailable")
    seen = [tool for tool in found.catalog.tools if tool.source == "plugin" and tool.name.startswith(prefix)]
    payload: dict[str, Any] = {
        "pluginName": plugin,
        "observedAt": _stamp(found.attempted_ms),
        "registered": bool(seen),
        "tools": [{"name": tool.name, "readOnlyHint": tool.is_read_only} for tool in seen],
        "lifecycle": dict(_LIFECYCLE),
    }
    names = {tool.name for tool in seen}
    expected = [
        name if name.startswith(prefix) else registered_name(plugin, name)
        for name in arguments.get("expectedToolNames") or []
    ]
    if expected or arguments.get("expectedState"):
        wanted = arguments.get("expectedState") or "present"
        checks = [{"name": name, "present": name in names} for name in expected]
        present = [check["present"] for check in checks] or [bool(seen)]
        met = all(present) if wanted == "present" else not any(present)
        payload["expectation"] = {"state": wanted, "met": met, "tools": checks}
    return payload


HANDLERS: Final[dict[str, Handling]] = {
    "extension.list": Handling(list_tools),
    "extension.validate_package": Handling(validate_package),
    "extension.diagnose_plugin_mcp": Handling(diagnose_plugin_mcp),
}
