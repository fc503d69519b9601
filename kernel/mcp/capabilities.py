"""What each side declares: the server's offer per era, and how a client's declaration is read. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kernel import __version__
from kernel.mcp.jsonrpc import MISSING_CAPABILITY, ProtocolError
from kernel.mcp.versions import MODERN_VERSIONS

TASK_CONTROL: Final = "io.siyuan.sisyphus/task-control"
APPS: Final = "io.modelcontextprotocol/ui"
TASKS: Final = "io.modelcontextprotocol/tasks"
SKILLS: Final = "io.modelcontextprotocol/skills"
APPS_TYPE: Final = "text/html;profile=mcp-app"

SERVER_INFO: Final[dict[str, Any]] = {"name": "sisyphus-kernel", "title": "Sisyphus kernel", "version": __version__}
EXTENSIONS: Final[dict[str, Any]] = {TASK_CONTROL: {"version": "2", "terminalResults": True}, APPS: {}}
NOTHING: Final[Mapping[str, Any]] = {}
# Served in the modern era only.
MODERN_EXTENSIONS: Final[dict[str, Any]] = {TASKS: {}}


@dataclass(frozen=True, slots=True)
class Offer:
    """What this endpoint declares (decisions 19 and 52). The conformance fixtures declare more than the product."""

    server_info: Mapping[str, Any] = field(default_factory=lambda: SERVER_INFO)
    extensions: Mapping[str, Any] = field(default_factory=lambda: EXTENSIONS)
    has_prompt_changes: bool = False
    has_resource_subscriptions: bool = False  # handshake era only

    def handshake(self, more: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        """``capabilities`` of an ``initialize`` result; extensions stand there too, clients of Apps look for them."""
        resources = {"subscribe": True} if self.has_resource_subscriptions else {}
        return {**self._common(), "resources": resources, "extensions": {**self.extensions, **more}}

    def modern(self, more: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        """``capabilities`` of a ``server/discover`` result."""
        extensions = {**self.extensions, **MODERN_EXTENSIONS, **more}
        return {**self._common(), "resources": {}, "extensions": extensions}

    def _common(self) -> dict[str, Any]:
        prompts = {"listChanged": True} if self.has_prompt_changes else {}
        return {"tools": {"listChanged": True}, "prompts": prompts, "completions": {}, "logging": {}}

    def initialized(self, version: str, instructions: str, more: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        """The ``initialize`` result. ``more``: extensions that are switched on just now."""
        result: dict[str, Any] = {
            "protocolVersion": version,
            "capabilities": self.handshake(more),
            "serverInfo": dict(self.server_info),
        }
        if instructions:
            result["instructions"] = instructions
        return result

    def discover(self, instructions: str, more: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        """The ``server/discover`` result before it is dressed (decision 19)."""
        result: dict[str, Any] = {"supportedVersions": list(MODERN_VERSIONS), "capabilities": self.modern(more)}
        if instructions:
            result["instructions"] = instructions
        return result


def has_form_elicitation(capabilities: Mapping[str, Any]) -> bool:
    """``elicitation:{}`` or ``{form:{}}``; only ``url``, or nothing, is no form support (R120, R121)."""
    elicitation = capabilities.get("elicitation")
    return isinstance(elicitation, dict) and (not elicitation or isinstance(elicitation.get("form"), dict))


def has_apps(capabilities: Mapping[str, Any]) -> bool:
    """Whether the client shows MCP Apps."""
    extensions = capabilities.get("extensions")
    return isinstance(extensions, dict) and isinstance(extensions.get(APPS), dict)


def takes_tasks(capabilities: Mapping[str, Any]) -> bool:
    """Whether the client declared the extension."""
    extensions = capabilities.get("extensions")
    return isinstance(extensions, dict) and isinstance(extensions.get(TASKS), dict)


def declares(capabilities: Mapping[str, Any], name: str) -> bool:
    """Whether a top-level capability is there as an object."""
    return isinstance(capabilities.get(name), dict)


def missing_capability(required: dict[str, Any]) -> ProtocolError:
    """-32021; ``required`` is shaped like client capabilities."""
    return ProtocolError(
        MISSING_CAPABILITY, "The client lacks a required capability", data={"requiredCapabilities": required}
    )
