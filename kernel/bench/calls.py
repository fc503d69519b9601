"""Calls as bytes, and what their answers mean. [core]"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from kernel.bench.wire import Reply, request

MODERN: Final = "2026-07-28"
LEGACY: Final = "2025-11-25"
_META: Final = "io.modelcontextprotocol/"
_COMMON: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

OK: Final = "ok"
REFUSED: Final = "refused"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"
OUTCOMES: Final = (OK, REFUSED, FAILED, CANCELLED)

_IS_ERROR: Final = b'"isError":true'
_PROTOCOL_ERROR: Final = b'"error":{"code":'
# A full queue as a tool's result; the statuses are those of a full server.
_FULL: Final = b"queue_full"
_BUSY_STATUSES: Final = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go. ``session``: of the older era; None: stateless calls of the modern one."""

    host: str
    port: int
    path: str
    session: str | None = None
    token: str = ""

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def tool(self, name: str, arguments: dict[str, Any], number: int = 1) -> bytes:
        """One tools/call."""
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        if self.session is None:
            params["_meta"] = {f"{_META}protocolVersion": MODERN, f"{_META}clientCapabilities": {}}
            headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": name}
        else:
            headers = {"MCP-Protocol-Version": LEGACY}
            if self.session:
                headers["Mcp-Session-Id"] = self.session
        return self.post(self.path, message("tools/call", params, number), headers)

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> bytes:
        headers = {**_COMMON, **self._authorization(), **headers}
        return request("POST", path, self.authority, headers, body)

    def get(self, path: str, accept: str = "*/*") -> bytes:
        return request("GET", path, self.authority, {"Accept": accept, **self._authorization()})

    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Token {self.token}"} if self.token else {}


def message(method: str, params: dict[str, Any], number: int) -> bytes:
    """One JSON-RPC request."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def outcome_of(reply: Reply) -> str:
    """What an answer to a tools/call means for the bench; nothing is parsed that need not be."""
    if reply.status in _BUSY_STATUSES:
        return REFUSED
    if reply.status != 200 or _PROTOCOL_ERROR in reply.body:
        return FAILED
    if _IS_ERROR not in reply.body:
        return OK
    return REFUSED if _FULL in reply.body else FAILED


def structured(reply: Reply) -> dict[str, Any]:
    """The structured content of an answer, JSON or event stream. Raises ValueError or KeyError if there is none."""
    body = reply.body
    if body[:1] != b"{":
        lines = [line[5:] for line in body.splitlines() if line.startswith(b"data:")]
        body = lines[-1] if lines else b""
    told = json.loads(body)
    return dict(told["result"]["structuredContent"])
