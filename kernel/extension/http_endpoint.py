"""The official endpoint of a kernel over HTTP: a session of its own, dropped after any failure, never replayed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import httpx

from kernel.extension.bridge import EndpointLost
from kernel.extension.limits import ENDPOINT_REQUEST_S_MAX, LIST_PAGES_MAX
from kernel.json_text import read_json

PROTOCOL: Final = "2025-03-26"
# What the official endpoint asks of a session (S3, discovery).
NEEDS_ADMINISTRATOR: Final = "the official endpoint needs an administrator's session and a valid API token"
_ACCEPT: Final = "application/json, text/event-stream"
_INIT_ID: Final = "init"
_INTERNAL_ERROR: Final = -32603
_LINE_END: Final = re.compile("\r\n|\n|\r")


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

    @property
    def is_closed(self) -> bool:
        return self._client.is_closed

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
            response = await self._post({"jsonrpc": "2.0", "id": _INIT_ID, "method": "initialize", "params": params})
            _result(response, _INIT_ID, was_sent=False)
            if session := response.headers.get("mcp-session-id"):
                self._session = {"Mcp-Session-Id": session}
            await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except EndpointLost as error:
            self._session = None
            raise EndpointLost(str(error), was_sent=False) from error

    async def _sent(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        response = await self._post({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return _result(response, self._last_id, was_sent=True)

    async def _post(self, message: dict[str, Any]) -> httpx.Response:
        try:
            response = await self._client.post("/mcp", json=message, headers=self._session)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise EndpointLost(f"{type(error).__name__} {error}".strip(), was_sent=False) from error
        except httpx.HTTPError as error:
            raise EndpointLost(f"{type(error).__name__} {error}".strip(), was_sent=True) from error
        if response.status_code in (401, 403):
            raise EndpointLost(f"HTTP {response.status_code}: {NEEDS_ADMINISTRATOR}", was_sent=False)
        if response.status_code >= 400:
            # 4xx was refused before any tool ran; 5xx may have come from one.
            raise EndpointLost(f"HTTP {response.status_code}", was_sent=response.status_code >= 500)
        return response


def _result(response: httpx.Response, message_id: str | int, *, was_sent: bool) -> dict[str, Any]:
    """The result in a JSON or SSE answer: of several SSE messages the one with our id."""
    text = response.content.decode("utf-8", "replace").removeprefix("\ufeff")
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    for candidate in events_of(text) if is_stream else [text]:
        try:
            message = read_json(candidate)
        except ValueError:
            if is_stream:
                continue
            raise EndpointLost("the answer is not JSON", was_sent=was_sent) from None
        if not isinstance(message, dict) or (is_stream and not _answers(message, message_id)):
            continue
        if isinstance(message.get("result"), dict):
            return dict(message["result"])
        refusal = message.get("error")
        words = refusal.get("message") if isinstance(refusal, dict) else "no result"
        # An error of the protocol means that no tool ran; an internal one may have come from a tool.
        is_certain = isinstance(refusal, dict) and refusal.get("code") != _INTERNAL_ERROR
        raise EndpointLost(str(words), was_sent=was_sent and not is_certain)
    raise EndpointLost("the answer holds no result", was_sent=was_sent)


def _answers(message: dict[str, Any], message_id: str | int) -> bool:
    return message.get("id") == message_id and ("result" in message or "error" in message)


def events_of(text: str) -> list[str]:
    """The data of each whole event of a stream: lines end in CR LF, LF or CR; an event that is cut off is none."""
    events: list[str] = []
    data: list[str] = []
    for line in _LINE_END.split(text):
        if not line:
            if data:
                events.append("\n".join(data))
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
    return events
