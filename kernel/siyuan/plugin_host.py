"""Kernel plugins, declared instead of programmed: a folder with a manifest and a list of tools (siyuan-api F1, F2).

A plugin's code is not run. ``data/plugins/<name>/plugin.json`` is its manifest, ``kernel-tools.json`` beside it says
which tools it would register and what they answer::

    {"tools": [{"name": "add", "description": "Adds", "inputSchema": {"type": "object", "properties": {}},
                "title": "Add", "outputSchema": {}, "readOnly": true, "result": {"sum": "$arguments.a"}}]}

``result`` is any JSON value, in which ``$arguments`` stands for the arguments and ``$arguments.x`` for one of them;
``error`` in its place makes the tool fail. The folder is read anew every time: tools appear with it and go with it,
and with the plugin's switch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from kernel.json_text import read_json
from kernel.siyuan import packages, petals
from kernel.siyuan.limits import PLUGIN_TOOLS_BYTES_MAX, PLUGIN_TOOLS_MAX

if TYPE_CHECKING:
    from kernel.siyuan.kernel import SiyuanKernel

TOOLS_FILE: Final = "kernel-tools.json"
_OTHER: Final = re.compile(r"[^A-Za-z0-9]")
_ARGUMENTS: Final = "$arguments"
_FAILED: Final = "error invoking MCP tool handler: "


@dataclass(frozen=True, slots=True)
class PluginTool:
    """One tool of one plugin, under its registered name."""

    name: str
    description: str
    input_schema: dict[str, Any]
    title: str = ""
    output_schema: dict[str, Any] | None = None
    is_read_only: bool = False
    result: Any = None
    error: str | None = None

    def shown(self) -> dict[str, Any]:
        """The tool as tools/list shows it."""
        tool: dict[str, Any] = {"name": self.name}
        if self.title:
            tool["title"] = self.title
        tool |= {"description": self.description, "inputSchema": self.input_schema}
        if self.output_schema is not None:
            tool["outputSchema"] = self.output_schema
        tool["source"] = "plugin"
        if self.is_read_only:
            tool["readOnlyHint"] = True
        return {**tool, "effectScope": "unknown"}

    def answer(self, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """The text of one call and whether it failed. Whatever a handler returns comes back as JSON text."""
        if self.error is not None:
            return _FAILED + self.error, True
        filled = _filled(self.result, arguments)
        return json.dumps(filled, ensure_ascii=False, separators=(",", ":")), False


class PluginHost:
    """The kernel plugins of a workspace, as they are now."""

    def __init__(self, kernel: SiyuanKernel) -> None:
        self._kernel = kernel

    def tools(self) -> list[PluginTool]:
        """The tools of all plugins that run. Where two have one name, the later plugin's counts."""
        files = self._kernel.workspace.files
        folder = packages.PLUGINS.folder
        if not files.is_dir(folder):
            return []
        switched_off = self._switched_off()
        found: dict[str, PluginTool] = {}
        for entry in files.list(folder):
            if entry.is_dir and entry.name not in switched_off:
                found |= {tool.name: tool for tool in self._tools_of(entry.name)}
        return list(found.values())

    def _tools_of(self, plugin: str) -> list[PluginTool]:
        manifest = packages.manifest_of(self._kernel, packages.PLUGINS, plugin)
        if manifest is None or packages.needs_newer_kernel(manifest) or packages.is_incompatible(manifest, ""):
            return []
        path = f"{packages.PLUGINS.folder}/{plugin}/{TOOLS_FILE}"
        files = self._kernel.workspace.files
        stat = files.stat(path)
        if stat is None or stat.is_dir or stat.size > PLUGIN_TOOLS_BYTES_MAX:
            return []
        try:
            declared = read_json(files.read(path))
        except (OSError, ValueError):
            return []
        listed = declared.get("tools") if isinstance(declared, dict) else None
        rows = listed[:PLUGIN_TOOLS_MAX] if isinstance(listed, list) else []
        return [tool for row in rows if (tool := read_tool(plugin, row)) is not None]

    def _switched_off(self) -> frozenset[str]:
        """Plugins whose switch is off. One that was never switched runs: a folder is enough."""
        files = self._kernel.workspace.files
        if not files.exists(petals.PATH):
            return frozenset()
        try:
            listed = read_json(files.read(petals.PATH))
        except (OSError, ValueError):
            return frozenset()
        rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
        return frozenset(str(row.get("name")) for row in rows if row.get("enabled") is False)


def registered_name(plugin: str, tool: str) -> str:
    """The name a plugin's tool gets on the official endpoint."""
    return f"plugin__{_OTHER.sub('_', plugin)}__{_OTHER.sub('_', tool)}"


def read_tool(plugin: str, row: Any) -> PluginTool | None:
    """One declared tool; None for one that the kernel would refuse to register."""
    if not isinstance(row, dict):
        return None
    name, description, schema = row.get("name"), row.get("description"), row.get("inputSchema")
    read_only, output = row.get("readOnly"), row.get("outputSchema")
    if not isinstance(name, str) or not isinstance(description, str) or not isinstance(schema, dict):
        return None
    if not (read_only is None or isinstance(read_only, bool)) or not (output is None or isinstance(output, dict)):
        return None
    title, error = row.get("title"), row.get("error")
    return PluginTool(
        name=registered_name(plugin, name),
        description=description,
        input_schema=schema,
        title=title if isinstance(title, str) else "",
        output_schema=output,
        is_read_only=read_only is True,
        result=row.get("result"),
        error=error if isinstance(error, str) else None,
    )


def _filled(value: Any, arguments: Mapping[str, Any]) -> Any:
    """A declared result with the arguments in their places; one that was not given is null."""
    if isinstance(value, str):
        if value == _ARGUMENTS:
            return dict(arguments)
        if value.startswith(f"{_ARGUMENTS}."):
            return arguments.get(value.removeprefix(f"{_ARGUMENTS}."))
        return value
    if isinstance(value, list):
        return [_filled(item, arguments) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, arguments) for key, item in value.items()}
    return value
