"""[core] The foreign tools the official endpoint lists: which may be offered, under what terms (S3, discovery)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kernel.extension.limits import TOOL_NAME_CHARS_MAX, UNUSABLE_NAME_CHARS_MAX, UNUSABLE_SHOWN_MAX

OWN_PREFIX: Final = "plugin__siyuan_plugins_mcp_sisyphus__"
OWN_ID: Final = "siyuan-plugins-mcp-sisyphus"
RESERVED: Final = frozenset({"help", "list", "validate_package", "diagnose_plugin_mcp"})
VERSION_MIN: Final = (3, 7, 0)
SOURCES: Final = ("plugin", "native")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_OPEN_SCHEMA: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": True}


@dataclass(frozen=True, slots=True)
class ForeignTool:
    """One tool of the official endpoint. ``conflicts``: its name is one of our own actions, so it is never offered."""

    name: str
    description: str
    source: str
    is_read_only: bool
    effect_scope: str
    schema: Mapping[str, Any]
    is_degraded: bool = False

    @property
    def conflicts(self) -> bool:
        return self.name in RESERVED

    def as_json(self, blocked: frozenset[str]) -> dict[str, Any]:
        row: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "readOnlyHint": self.is_read_only,
            "effectScope": self.effect_scope,
            "inputSchema": dict(self.schema),
            "degraded": self.is_degraded,
            "blocked": self.name in blocked,
        }
        return {**row, "conflict": "reserved_action"} if self.conflicts else row


@dataclass(frozen=True, slots=True)
class Catalog:
    """What one discovery found, sorted by name."""

    tools: tuple[ForeignTool, ...] = ()
    # Entries that can be no action, each with the reason; they take nothing away from the others.
    unusable: tuple[tuple[str, str], ...] = ()

    def exposed(self, *, natives: bool, blocked: frozenset[str]) -> tuple[ForeignTool, ...]:
        """Those that may be called now."""
        return tuple(
            tool
            for tool in self.tools
            if not tool.conflicts and tool.name not in blocked and (natives or tool.source == "plugin")
        )

    def counts(self) -> dict[str, int]:
        return {source: sum(tool.source == source for tool in self.tools) for source in SOURCES}

    def find(self, name: str) -> ForeignTool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


def read_catalog(listed: Iterable[Any]) -> Catalog:
    """The usable entries of a tools/list: foreign servers' and our own left out, broken schemas opened."""
    tools: dict[str, ForeignTool] = {}
    unusable: list[tuple[str, str]] = []
    for entry in listed:
        problem = _problem(entry)
        if problem:
            unusable.append((_shown_name(entry), problem))
            continue
        tool = _tool(entry)
        if tool.source in SOURCES and not tool.name.startswith(OWN_PREFIX) and entry.get("ownerId") != OWN_ID:
            tools[tool.name] = tool
    return Catalog(tuple(tools[name] for name in sorted(tools)), tuple(unusable[:UNUSABLE_SHOWN_MAX]))


def _problem(entry: Any) -> str:
    """Why an entry can be no action; ``""`` if it can."""
    if not isinstance(entry, dict):
        return "not_an_object"
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        return "no_name"
    if len(name) > TOOL_NAME_CHARS_MAX:
        return "name_too_long"
    # Nobody could write it, in a terminal least of all.
    return "" if name.isprintable() else "name_unprintable"


def _shown_name(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        return ""
    return "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name[:UNUSABLE_NAME_CHARS_MAX]
    )


def _tool(entry: Mapping[str, Any]) -> ForeignTool:
    capability = entry.get("capability")
    inner: Mapping[str, Any] = capability if isinstance(capability, dict) else {}
    hints = entry.get("annotations")
    read_only = hints.get("readOnlyHint") if isinstance(hints, dict) else None
    schema = entry.get("inputSchema")
    is_usable = isinstance(schema, dict) and schema.get("type") == "object" and _is_json(schema)
    # A missing source counts as native: the official rule, and the stricter one.
    source = inner.get("source") or entry.get("source") or "native"
    return ForeignTool(
        str(entry["name"]),
        _text(entry.get("description")),
        _text(source),
        (entry.get("readOnlyHint") if read_only is None else read_only) is True,
        _text(entry.get("effectScope")),
        schema if is_usable and isinstance(schema, dict) else _OPEN_SCHEMA,
        not is_usable,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def schema_bytes(tools: Sequence[ForeignTool]) -> int:
    """How much of a client's context the exposed schemas take."""
    return len(json.dumps([dict(tool.schema) for tool in tools], ensure_ascii=False, separators=(",", ":")).encode())


def version_of(text: str) -> tuple[int, ...]:
    """The numbers of a version; anything behind them does not count."""
    numbers = []
    for part in text.split("-", 1)[0].split("."):
        if _NUMBER.fullmatch(part) is None:
            break
        numbers.append(int(part))
    return tuple(numbers)


def registered_name(plugin: str, tool: str) -> str:
    """How the kernel calls a plugin's tool: every character that is no letter or digit of ASCII becomes ``_``."""
    return f"plugin__{_plain(plugin)}__{_plain(tool)}"


def _plain(name: str) -> str:
    return "".join(char if char.isascii() and char.isalnum() else "_" for char in name)


@dataclass(slots=True)
class Discovery:
    """The state of discovery: the last catalog, and when it was looked for (wall milliseconds)."""

    catalog: Catalog = field(default_factory=Catalog)
    version: str = ""
    is_connected: bool = False
    is_supported: bool = True
    error: str = ""
    attempted_ms: int | None = None
    succeeded_ms: int | None = None
    has_changed: bool = False

    def succeeded(self, catalog: Catalog, now_ms: int) -> None:
        self.has_changed = catalog != self.catalog
        self.catalog, self.is_connected, self.error = catalog, True, ""
        self.succeeded_ms = now_ms

    def failed(self, error: str) -> None:
        """Only the dynamic actions vanish; everything else goes on."""
        self.has_changed = bool(self.catalog.tools)
        self.catalog, self.is_connected, self.error = Catalog(), False, error
