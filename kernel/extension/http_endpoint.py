"""The official endpoint of a kernel over HTTP: a session of its own, dropped after any failure, never replayed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import httpx

from kernel.extension.bridge import EndpointLost
from kernel.extension.limits import ENDPOINT_REQUEST_S_MAX, LIST_PAGES_MAX

PROTOCOL: Final = "2025-03-26"
_ACCEPT: Final = "application/json, text/event-stream"


class HttpEndpoint:
    """``<url>/mcp``. Implements ``kernel.extension.bridge.OfficialEndpoint``."""

    def __init__(self, url: str, token: str = "", *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        headers = {"Accept": _ACCEPT, **({"Authorization": f"Token {token}"} if token else {})}
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers=headers,
            timeout=ENDPOINT_REQUEST_S_MAX,
            transport=transport,
            trust_env=False,
        )
        self._session: dict[str, str] | None = None
        self._last_id = 0

    async def list_tools(self) -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = []
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(LIST_PAGES_MAX):
            result = await self._request("tools/list", {"cursor": cursor} if cursor else {})
            tools += [tool for tool in result.get("tools") or [] if isinstance(tool, dict)]
            cursor = result.get("nextCursor")
            if not cursor:
                return tools
            if cursor in seen:
                raise EndpointLost("tools/list repeats a cursor", was_sent=False)
            seen.add(cursor)
        raise EndpointLost(f"tools/list has more than {LIST_PAGES_MAX} pages", was_sent=False)

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return await self._request("tools/call", {"name": name, "arguments": dict(arguments)})

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self._session is None:
            await self._open()
        try:
            return await self._sent(method, params)
        except EndpointLost:
            self._session = None
            raise

    async def _open(self) -> None:
        client = {"name": "sisyphus-kernel", "version": "1"}
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        self._session = {}
        try:
            response = await self._post({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params})
            _result(response, was_sent=False)
            if session := response.headers.get("mcp-session-id"):
                self._session = {"Mcp-Session-Id": session}
            await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except EndpointLost as error:
            self._session = None
            raise EndpointLost(str(error), was_sent=False) from error

    async def _sent(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        response = await self._post({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return _result(response, was_sent=True)

    async def _post(self, message: dict[str, Any]) -> httpx.Response:
        try:
            response = await self._client.post("/mcp", json=message, headers=self._session)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise EndpointLost(f"{type(error).__name__} {error}".strip(), was_sent=False) from error
        except httpx.HTTPError as error:
            raise EndpointLost(f"{type(error).__name__} {error}".strip(), was_sent=True) from error
        if response.status_code >= 400:
            # 4xx was refused before any tool ran; 5xx may have come from one.
            raise EndpointLost(f"HTTP {response.status_code}", was_sent=response.status_code >= 500)
        return response


def _result(response: httpx.Response, *, was_sent: bool) -> dict[str, Any]:
    """The result of a JSON or SSE answer; of several SSE messages the last one counts."""
    text = response.text
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
        text = lines[-1] if lines else ""
    try:
        message = json.loads(text)
    except ValueError as error:
        raise EndpointLost("the answer is not JSON", was_sent=was_sent) from error
    if isinstance(message, dict) and isinstance(message.get("result"), dict):
        return dict(message["result"])
    refusal = message.get("error") if isinstance(message, dict) else None
    words = refusal.get("message") if isinstance(refusal, dict) else "no result"
    raise EndpointLost(str(words), was_sent=False)
