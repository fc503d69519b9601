"""A small MCP client for tests: NEW (one stateless 2026-07-28 POST) and OLD (a handshake session), over httpx."""

from __future__ import annotations

import json
from typing import Any

import httpx

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
ACCEPT = "application/json, text/event-stream"


def modern_message(
    identifier: Any,
    method: str,
    params: dict[str, Any] | None = None,
    *,
    capabilities: dict[str, Any] | None = None,
    **meta: Any,
) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of one stateless request."""
    params = dict(params or {})
    params["_meta"] = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": capabilities or {}, **meta}
    headers = {"Accept": ACCEPT, "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if name := params.get("name") or params.get("uri"):
        headers["Mcp-Name"] = name
    return headers, {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def messages_of(response: httpx.Response) -> list[dict[str, Any]]:
    """Every JSON-RPC message in a JSON or SSE answer."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]
    return [response.json()] if response.content else []


class McpClient:
    """Both eras against one endpoint. ``session`` is set by ``open``."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self.http = http
        self.url = url
        self.session: str | None = None
        self.last: httpx.Response | None = None
        self._next_id = 1000

    async def new(
        self, identifier: Any, method: str, params: dict[str, Any] | None = None, **options: Any
    ) -> dict[str, Any]:
        """NEW(id, method, params): the answer with that id."""
        headers, body = modern_message(identifier, method, params, **options)
        return await self._send(headers, body)

    async def open(self, version: str = "2025-11-25", capabilities: dict[str, Any] | None = None) -> None:
        """initialize and initialized."""
        params = {
            "protocolVersion": version,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        self.session = None
        await self._send({"Accept": ACCEPT}, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert self.last is not None
        self.session = self.last.headers["mcp-session-id"]
        await self.notify("notifications/initialized")

    async def old(self, identifier: Any, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """OLD(S, id, method, params) in the open session."""
        body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}}
        return await self._send(self._session_headers(), body)

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> httpx.Response:
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            body["params"] = params
        return await self.http.post(self.url, headers=self._session_headers(), json=body)

    async def cancel(self, request_id: Any) -> httpx.Response:
        """CANCEL(S, x)."""
        return await self.notify("notifications/cancelled", {"requestId": request_id})

    async def tool(
        self, name: str, action: str, /, *, era: str = "modern", identifier: Any = None, **arguments: Any
    ) -> dict[str, Any]:
        """One tools/call: the result object (content, structuredContent, isError)."""
        if identifier is None:
            self._next_id += 1
            identifier = self._next_id
        params = {"name": name, "arguments": {"action": action, **arguments}}
        call = self.new if era == "modern" else self.old
        answer = await call(identifier, "tools/call", params)
        return dict(answer["result"])

    async def safe_write(self, name: str, action: str, /, *, era: str = "modern", **arguments: Any) -> dict[str, Any]:
        """PRE and COMMIT with the same business arguments: the commit's result."""
        preflight = (await self.tool(name, action, era=era, validateOnly=True, **arguments))["structuredContent"]
        credential = {}
        if field := preflight.get("preconditionField"):
            credential[field] = preflight[field]
        return await self.tool(name, action, era=era, requestId=preflight["requestId"], **credential, **arguments)

    def _session_headers(self) -> dict[str, str]:
        headers = {"Accept": ACCEPT}
        if self.session is not None:
            headers["Mcp-Session-Id"] = self.session
        return headers

    async def _send(self, headers: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
        self.last = await self.http.post(self.url, headers=headers, json=body)
        for message in messages_of(self.last):
            if (
                message.get("id") == body["id"]
                and type(message.get("id")) is type(body["id"])
                and "method" not in message
            ):
                return message
        raise AssertionError(f"no answer to {body['id']!r}: {self.last.status_code} {self.last.text[:500]}")
