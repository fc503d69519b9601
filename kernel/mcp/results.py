"""[core] Results dressed for their era: modern words on the modern wire only (mcp-requirements 4.5 and 5.1). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from kernel.mcp.classify import META_PREFIX
from kernel.mcp.jsonrpc import INVALID_PARAMS, RESOURCE_NOT_FOUND, ProtocolError
from kernel.mcp.limits import DISCOVER_TTL_MS, LIST_TTL_MS, READ_TTL_MS
from kernel.tools.service import ToolResult

META_SERVER: Final = META_PREFIX + "serverInfo"

# Which complete results carry cache hints, and for how long. All of them depend on the caller's credential.
CACHE_TTL_MS: Final[dict[str, int]] = {
    "server/discover": DISCOVER_TTL_MS,
    "tools/list": LIST_TTL_MS,
    "prompts/list": LIST_TTL_MS,
    "resources/list": LIST_TTL_MS,
    "resources/templates/list": LIST_TTL_MS,
    "resources/read": READ_TTL_MS,
}
CACHE_SCOPE: Final = "private"


class Dress(Protocol):
    """How one era writes what both eras have to say."""

    def complete(self, method: str, result: dict[str, Any]) -> dict[str, Any]: ...

    def question(self, result: dict[str, Any]) -> dict[str, Any]:
        """An ``input_required`` result."""
        ...

    def status(self, error: ProtocolError) -> int:
        """The HTTP status of a request's own error."""
        ...

    def resource_not_found(self, uri: str) -> ProtocolError: ...


def tool_result(result: ToolResult) -> dict[str, Any]:
    """A tools/call result as both eras write it; ``isError`` only where it is true."""
    wire: dict[str, Any] = {"content": result.content}
    if result.structured is not None:
        wire["structuredContent"] = result.structured
    if result.is_error:
        wire["isError"] = True
    if result.meta:
        wire["_meta"] = result.meta
    return wire


class ModernDress:
    """2026-07-28: a type, cache hints and the server's name on every result; statuses mean something."""

    def __init__(self, server_info: Mapping[str, Any]) -> None:
        self._meta = {META_SERVER: dict(server_info)}

    def complete(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        dressed: dict[str, Any] = {"resultType": "complete", **result}
        ttl_ms = CACHE_TTL_MS.get(method)
        if ttl_ms is not None:
            dressed["ttlMs"] = ttl_ms
            dressed["cacheScope"] = CACHE_SCOPE
        return self._signed(dressed)

    def question(self, result: dict[str, Any]) -> dict[str, Any]:
        return self._signed({"resultType": "input_required", **result})

    def status(self, error: ProtocolError) -> int:
        return error.status

    def resource_not_found(self, uri: str) -> ProtocolError:
        return ProtocolError(INVALID_PARAMS, "Resource not found", data={"uri": uri})

    def _signed(self, result: dict[str, Any]) -> dict[str, Any]:
        # A handler's own keys stand: who answered is only added to them.
        own = result.get("_meta")
        result["_meta"] = {**self._meta, **own} if own else self._meta
        return result


class HandshakeDress:
    """2024-11-05 … 2025-11-25: bare results, and HTTP 200 whatever a dispatched request came to."""

    def complete(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        meta = result.get("_meta")
        if meta and any(key.startswith(META_PREFIX) for key in meta):
            kept = {key: value for key, value in meta.items() if not key.startswith(META_PREFIX)}
            result = {key: value for key, value in result.items() if key != "_meta"}
            if kept:
                result["_meta"] = kept
        return result

    def question(self, result: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError("the handshake era has no input_required")

    def status(self, error: ProtocolError) -> int:
        return 200

    def resource_not_found(self, uri: str) -> ProtocolError:
        return ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", data={"uri": uri})
