"""The plugin's settings as one call sees them: switches, strict mode, memory, budgets (decision 5). Does no I/O."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from kernel.json_text import read_json
from kernel.tools.limits import UPLOAD_LARGE_MB_DEFAULT
from kernel.tools.registry import TOOLS, Action, Tool

PLUGIN_FOLDER: Final = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/"
TOOLS_FILE: Final = PLUGIN_FOLDER + "mcpToolsConfig"
PERMISSIONS_FILE: Final = PLUGIN_FOLDER + "notebookPermissions"
HTTP_FILE: Final = PLUGIN_FOLDER + "mcpHttpSettings"

UPLOAD_LARGE_MB_MIN: Final = 1
UPLOAD_LARGE_MB_MAX: Final = 1024
# kernelOptions: default, least, greatest.
_OPTIONS: Final[Mapping[str, tuple[int, int, int]]] = {
    "readMaxRequests": (128, 16, 512),
    "readMaxMiB": (8, 1, 64),
    "readTimeoutMs": (30_000, 1_000, 120_000),
    "readRetries": (3, 0, 3),
    "templateMaxMiB": (16, 1, 32),
}

ORIGINS_MAX: Final = 32
_DEFAULT_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}


class ConfigurationUnreadable(Exception):
    """The settings file is there and is not what it should be: switches are not guessed."""


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """``mcpHttpSettings.kernelOptions``, clamped."""

    read_requests_max: int = 128
    read_mib_max: int = 8
    read_timeout_ms: int = 30_000
    read_retries: int = 3
    template_mib_max: int = 16
    allowed_origins: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The options as they are in force, by the names they have in the file (/health)."""
        values = (
            self.read_requests_max,
            self.read_mib_max,
            self.read_timeout_ms,
            self.read_retries,
            self.template_mib_max,
        )
        return {**dict(zip(_OPTIONS, values, strict=True)), "allowedOrigins": list(self.allowed_origins)}


@dataclass(frozen=True, slots=True)
class Configuration:
    """What mcpToolsConfig and mcpHttpSettings say. ``raw`` is the whole file, for writing back what was not touched."""

    raw: Mapping[str, Any] = field(default_factory=dict)
    options: KernelOptions = field(default_factory=KernelOptions)
    # ``mcpHttpSettings.kernelEndpointEnabled``; only an explicit false closes the plugin's routes (decision 5).
    serves_endpoint: bool = True
    # ``mcpHttpSettings.skillsExtensionEnabled``: the skills/* methods and the skill:// files.
    serves_skills: bool = True
    # What has been derived from it; a configuration outlives its call while the files stay the same.
    memo: dict[tuple[str, str], tuple[Action, ...]] = field(default_factory=dict, compare=False, repr=False)
    # How tools are declared in lists.
    declarations: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False, repr=False)
    # Rows that are switched on, by the names of tool and action: what a call asks for first.
    rows: dict[tuple[str, str], tuple[Tool, Action]] = field(default_factory=dict, compare=False, repr=False)

    def is_enabled(self, action: Action) -> bool:
        """Whether an action is switched on; what the file does not say is as the table says."""
        section = self._section(action.tool)
        if section.get("enabled") is False:
            return False
        switch = _mapping(section.get("actions")).get(action.name)
        return switch if isinstance(switch, bool) else action.is_on

    def app_allows(self, app: str, action: str) -> bool:
        """Whether the owner lets the view ``app`` do ``action``; what ``mcpApps`` does not say is allowed."""
        section = _mapping(_mapping(self.raw.get("mcpApps")).get(app))
        return section.get("enabled") is not False and _mapping(section.get("actions")).get(action) is not False

    def enabled_actions(self, tool: Tool) -> tuple[Action, ...]:
        known = self.memo.get(("enabled", tool.name))
        if known is None:
            known = self.memo["enabled", tool.name] = tuple(one for one in tool.actions if self.is_enabled(one))
        return known

    def enabled_tools(self) -> tuple[Tool, ...]:
        """The tools with at least one action, in order."""
        return tuple(tool for tool in TOOLS.values() if self.enabled_actions(tool))

    @property
    def is_strict(self) -> bool:
        return _mapping(self.raw.get("writeSafety")).get("strictMode") is not False

    @property
    def slims_results(self) -> bool:
        return _mapping(self.raw.get("debug")).get("slimResponses") is not False

    @property
    def softens_errors(self) -> bool:
        return _mapping(self.raw.get("errorReporting")).get("softRecoverableErrors") is True

    @property
    def includes_native_tools(self) -> bool:
        return self._section("extension").get("includeNativeTools") is True

    @property
    def blocked_tools(self) -> frozenset[str]:
        names = self._section("extension").get("blockedTools")
        return frozenset(str(name) for name in names) if isinstance(names, list) else frozenset()

    @property
    def upload_large_mb(self) -> int:
        value = self._section("file").get("uploadLargeFileThresholdMB")
        return _clamped(value, UPLOAD_LARGE_MB_DEFAULT, UPLOAD_LARGE_MB_MIN, UPLOAD_LARGE_MB_MAX)

    @property
    def user_rules(self) -> str:
        return _text(self.raw.get("userRulesText"))

    @property
    def memory(self) -> str:
        return _text(self.raw.get("agentSiyuanMemoryText"))

    @property
    def memory_updated_at(self) -> str | None:
        """When the memory was last written (ISO 8601), or None."""
        return _text(self.raw.get("agentSiyuanMemoryUpdatedAt")) or None

    @property
    def memory_updated_ms(self) -> int | None:
        """The same in Unix milliseconds; None where there is none that can be read."""
        stamp = self.memory_updated_at
        try:
            return int(datetime.fromisoformat(stamp).timestamp() * 1000) if stamp else None
        except ValueError:
            return None

    def _section(self, name: str) -> Mapping[str, Any]:
        return _mapping(self.raw.get(name))


def read_configuration(tools: bytes | None, http: bytes | None) -> Configuration:
    """The settings in the two files; None where there is none.

    Raises:
        ConfigurationUnreadable: mcpToolsConfig is not a JSON object. A broken mcpHttpSettings leaves the defaults: it
            holds no switch that could be opened by accident.
    """
    raw = _object(tools)
    if raw is None:
        raise ConfigurationUnreadable("mcpToolsConfig is not a JSON object")
    file = _object(http) or {}
    settings = _mapping(file.get("kernelOptions"))
    requests, mib, timeout_ms, retries, template_mib = (
        _clamped(settings.get(name), *bounds) for name, bounds in _OPTIONS.items()
    )
    origins = allowed_origins(settings.get("allowedOrigins"))
    options = KernelOptions(requests, mib, timeout_ms, retries, template_mib, origins)
    return Configuration(
        raw,
        options,
        serves_endpoint=file.get("kernelEndpointEnabled") is not False,
        serves_skills=file.get("skillsExtensionEnabled") is not False,
    )


def allowed_origins(value: Any) -> tuple[str, ...]:
    """The web origins among a list's entries, each once; what is no origin in its one spelling is left out."""
    entries = value if isinstance(value, list) else []
    origins = dict.fromkeys(entry for entry in entries if isinstance(entry, str) and _is_origin(entry))
    return tuple(origins)[:ORIGINS_MAX]


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or port == _DEFAULT_PORTS[parts.scheme]:
        return False
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return text == f"{parts.scheme}://{host}" + ("" if port is None else f":{port}") and "*" not in host


def _object(content: bytes | None) -> dict[str, Any] | None:
    if content is None:
        return {}
    try:
        parsed = read_json(content)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _clamped(value: Any, default: int, least: int, greatest: int) -> int:
    # Beyond what a double holds a number is infinite to the plugin, and so no number of its own.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return default
    return min(max(math.floor(value), least), greatest)
